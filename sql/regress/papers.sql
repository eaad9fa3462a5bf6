-- What the papers' methods return, and what their theorems promise (docs/papers.md).
SET client_min_messages = error; -- few iterations must do
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN format('%s %s / %s', SQLSTATE, SQLERRM, hint);
END $$;
CREATE TEMP TABLE t AS
  SELECT i AS id, i % 2 = 0 AS y, ARRAY[CASE WHEN i % 2 = 0 THEN 1 ELSE -1 END + 0.4 * sin(7 * i), cos(3 * i), sin(i)]::float8[] AS x
    FROM generate_series(1, 200) AS i;

-- sgd returns its own iterate, not w = 0, which has the smaller objective after so few steps; each epoch's value is its own.
SELECT (m).weights <> '{0,0,0}' AS moved, (m).primal > 1 AS above_zero, (m).iterations, abs((m).history[4][4] - (m).primal) <= 1e-9 * (m).primal AS its_own
  FROM (SELECT train_margin(y, x, margin_options(lambda => 1e-6, solver => 'sgd', intercept => false, max_iterations => 4, history => true) ORDER BY id) AS m FROM t) s;

-- sdca never visits more than max_iterations times the rows.
SELECT p.order, (m).iterations FROM (VALUES ('permutation'), ('random'), ('cyclic')) AS p ("order"),
       LATERAL (SELECT train_margin(y, x, margin_options(lambda => 1e-4, solver => 'sdca', "order" => p.order, tolerance => 0, max_iterations => 7) ORDER BY id) AS m FROM t) s;

-- The last iterate is not the best one, and its history may get worse.
SELECT solver, bool_or(l.lower < before) AS worse
  FROM (VALUES ('batch_perceptron')) AS s (solver),
       LATERAL (SELECT train_margin(y, x, margin_options(solver => s.solver, output => 'last', history => true, max_iterations => 60, tolerance => 0) ORDER BY id) AS m FROM t) r,
       LATERAL (SELECT h.lower, lag(h.lower) OVER (ORDER BY iteration) AS before FROM margin_history(r.m) AS h) l GROUP BY solver ORDER BY solver;

-- Points, ranges and half-lines by projections, certified; the least norm is that of the exact solver.
SELECT (d).status, abs((d).primal - (e).primal) <= 1e-3 * (e).primal AS same
  FROM (SELECT train_margin(r, x, margin_options(loss => 'interpolate', solver => 'dykstra', "order" => 'cyclic', intercept => false) ORDER BY id) AS d,
               train_margin(r, x, margin_options(loss => 'interpolate', intercept => false) ORDER BY id) AS e
          FROM (SELECT id, x, CASE id % 3 WHEN 0 THEN numrange((x[1] - x[2] - 0.1)::numeric, NULL) ELSE numrange((x[1] - x[2] - 0.2)::numeric, (x[1] - x[2] + 0.2)::numeric, '[]') END AS r FROM t) u) s;
SELECT pg_temp.error_of($$SELECT train_margin(1.5, x, margin_options(loss => 'interpolate', solver => 'dykstra')) FROM t$$);

-- A model's JSON starts a training, a weight of -0 among its weights.
SELECT (train_margin(y, x, '{"lambda": 0.01, "solver": "sdca"}'::jsonb || jsonb_build_object('initial', '{"weights": [1, "-0", 0.5], "intercept": [0]}'::jsonb))).status FROM t;

-- What a solver does not have is refused.
SELECT pg_temp.error_of(format($$SELECT train_margin(y, x, margin_options(%s)) FROM t$$, o))
  FROM (VALUES ($$solver => 'momentum', output => 'average'$$), ($$lambda => 0.1, solver => 'sgd', output => 'random'$$),
               ($$norm => 1, solver => 'boosting', output => 'average'$$), ($$solver => 'momentum', step => 'wolfe'$$), ($$norm => 1, solver => 'boosting', step => '1/sqrt(t)'$$),
               ($$solver => 'sampling', kernel => 'rbf', step => 'theory', accelerated => true$$), ($$solver => 'cutting_plane', output => 'last'$$),
               ($$lambda => 0.1, solver => 'sdca', "order" => 'proportional'$$),
               ($$norm => 1.5, solver => 'dual_ascent', accelerated => true, intercept => false, "order" => 'proportional'$$)) AS v (o);

-- Iterations that are enough.
SELECT theorem, round(margin_bound(theorem, 1000, 0.01, lambda => 0.001, smoothing => 1, margin => 0.1, failure => 0.05)::numeric, 3) AS enough
  FROM unnest('{sdca 1,sdca 1 hinge,sdca 2,sdca 4,sdca 4 hinge,momentum 3.1,sampling 4.1}'::text[]) AS theorem;
SELECT margin_bound(NULL, 10, 1) IS NULL AS unknown;
SELECT pg_temp.error_of($$SELECT margin_bound('sdca 9', 10, 1)$$);
SELECT pg_temp.error_of($$SELECT margin_bound('sdca 2', 10, 1, lambda => 1)$$);
SELECT pg_temp.error_of($$SELECT margin_bound('momentum 3.1', 10, 1, margin => 2)$$);
SELECT pg_temp.error_of($$SELECT margin_bound('sdca 1', 0, 1, lambda => 1)$$);
SELECT pg_temp.error_of($$SELECT margin_bound('sdca 1', 10, 'NaN', lambda => 1)$$);

-- The bound of Theorem 2 on 1,000 random problems: smooth losses, rows of norm 1, from 4 to 40 of them. It is one of the
-- expected gap: single runs may miss it, their mean may not.
CREATE TEMP TABLE slack AS
  SELECT g, n, lambda, epochs, (m).gap AS gap, 0.001 AS bound
    FROM (SELECT g, n, lambda, ceil(margin_bound('sdca 2', n, 0.001, lambda => lambda, smoothing => 1) / n)::int AS epochs
            FROM (SELECT g, 4 + g % 37 AS n, 10 ^ (-(g % 3)) / 2 AS lambda FROM generate_series(1, 1000) AS g) p) p,
         LATERAL (SELECT train_margin(i % 2 = 0, ARRAY[sin(g * i + i * i), cos(g * i + i * i)]::float8[],
                                      margin_options(lambda => p.lambda, loss => 'smoothed_hinge', solver => 'sdca', "order" => 'random', output => 'last',
                                                     seed => g, intercept => false, tolerance => 0, max_iterations => epochs)) AS m
                    FROM generate_series(1, n) AS i) s;
SELECT count(*), count(*) FILTER (WHERE gap <= bound) > 990 AS nearly_all, avg(gap) <= min(bound) AS mean_within FROM slack;

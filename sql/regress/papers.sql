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

-- An interval of the asked width is enough, however wide it is beside its ends; the certificate has it, too.
SELECT solver, (m).status, (m).gap <= 0.02 AS narrow, (m).gap > 0.001 * (m).primal AS wide
  FROM (VALUES ('sdca', 'hinge', NULL), ('sdca', 'logistic', true), ('sgd', 'hinge', NULL), ('auto', 'hinge', NULL)) AS s (solver, loss, accelerated),
       LATERAL (SELECT train_margin(y, x, margin_options(lambda => 0.01, solver => s.solver, loss => s.loss, accelerated => s.accelerated, tolerance => 0, gap_tolerance => 0.02) ORDER BY id) AS m FROM t) r;

-- An iteration of sgd is as many draws as are asked for: two of 100 are one of 200 rows, and its history shows the way.
SELECT (a).weights = (b).weights AS same, (a).iterations, cardinality((a).history) / 4 AS points
  FROM (SELECT train_margin(y, x, margin_options(lambda => 0.01, solver => 'sgd', tolerance => 0, draws => 100, history => true, max_iterations => 6) ORDER BY id) AS a,
               train_margin(y, x, margin_options(lambda => 0.01, solver => 'sgd', tolerance => 0, max_iterations => 3) ORDER BY id) AS b FROM t) s;

-- Telgarsky's conditions (2.1) and (2.2), from the steps of a history: L falls by enough, and its slope has fallen by enough.
-- The Wolfe search meets both in every round, AdaBoost's own steps do not.
WITH rounds AS MATERIALIZED
       (SELECT r.step AS rule, r.nu, h.iteration AS round, h.step, h.learner
          FROM (VALUES ('wolfe', 0.5), ('wolfe', 1), ('adaboost', 1)) AS r (step, nu),
               LATERAL (SELECT train_margin(y, x, margin_options(norm => 1, solver => 'boosting', step => r.step, shrinkage => nu, intercept => false, history => true,
                                                                 tolerance => 0, max_iterations => 25) ORDER BY id) AS m FROM t) s, margin_history(m) AS h),
     margins AS
       (SELECT rule, nu, r.round, id, CASE WHEN y THEN 1 ELSE -1 END * x[r.learner] * sign(r.step) AS h, abs(r.step) AS alpha, CASE WHEN y THEN 1 ELSE -1 END AS y, x,
               CASE WHEN y THEN 1 ELSE -1 END * (SELECT coalesce(sum(b.step * x[b.learner]), 0) FROM rounds AS b WHERE b.rule = r.rule AND b.nu = r.nu AND b.round < r.round) AS m
          FROM rounds AS r, t),
     sums AS
       (SELECT rule, nu, round, max(alpha) AS alpha, avg(exp(-m)) AS before, avg(exp(-m - alpha * h)) AS after, -avg(h * exp(-m - alpha * h)) AS slope, avg(h * exp(-m)) AS edge,
               greatest(abs(avg(y * x[1] * exp(-m))), abs(avg(y * x[2] * exp(-m))), abs(avg(y * x[3] * exp(-m)))) AS gradient
          FROM margins GROUP BY rule, nu, round)
SELECT rule, nu, count(*) AS rounds, bool_and(edge >= gradient * (1 - 1e-9)) AS steepest, bool_and(after <= before - alpha * (1 - nu / 2) * gradient * (1 - 1e-9)) AS "(2.1)",
       bool_and(slope >= -(1 - nu / 4) * gradient * (1 + 1e-9)) AS "(2.2)" FROM sums GROUP BY rule, nu ORDER BY rule, nu;

-- Stumps are counted as in the model, and other methods have no steps.
SELECT count(step) = count(*) AS every_round, max(learner) <= max(cardinality((m).stumps)) / 2 AS known
  FROM (SELECT train_margin(y, x, margin_options(norm => 1, solver => 'boosting', learners => 'stumps', history => true, tolerance => 0, max_iterations => 12) ORDER BY id) AS m FROM t) s, margin_history(m);
SELECT count(*) > 0 AS points, count(step) AS steps FROM (SELECT train_margin(y, x, margin_options(history => true)) AS m FROM t) s, margin_history(m);

-- What a solver does not have is refused.
SELECT pg_temp.error_of(format($$SELECT train_margin(y, x, margin_options(%s)) FROM t$$, o))
  FROM (VALUES ($$solver => 'momentum', output => 'average'$$), ($$lambda => 0.1, solver => 'sgd', output => 'random'$$),
               ($$norm => 1, solver => 'boosting', output => 'average'$$), ($$solver => 'momentum', step => 'wolfe'$$), ($$norm => 1, solver => 'boosting', step => '1/sqrt(t)'$$),
               ($$solver => 'sampling', kernel => 'rbf', step => 'theory', accelerated => true$$), ($$solver => 'cutting_plane', output => 'last'$$),
               ($$lambda => 0.1, solver => 'sdca', "order" => 'proportional'$$),
               ($$lambda => 0.1, solver => 'sdca', average_from => 3$$), ($$lambda => 0.1, solver => 'sdca', accelerated => true$$),
               ($$lambda => 0.1, loss => 'logistic', solver => 'sdca', accelerated => true, output => 'average'$$), ($$lambda => 0.1, loss => 'logistic', solver => 'sdca', accelerated => true, l1_ratio => 0.5$$),
               ($$lambda => 0.1, loss => 'logistic', solver => 'sdca', accelerated => true, intercept => 'free'$$), ($$lambda => 0.1, loss => 'logistic', solver => 'sdca', accelerated => true, "order" => 'cyclic'$$), ($$lambda => 0.1, solver => 'newton', gap_tolerance => 1$$),
               ($$lambda => 0.1, solver => 'sdca', draws => 10$$), ($$solver => 'mirror_descent', norm => 1.5, step => 'wolfe'$$), ($$solver => 'perceptron', norm => 1.5, mirror_loss => 'hinge'$$),
               ($$norm => 1.5, solver => 'dual_ascent', accelerated => true, intercept => false, "order" => 'proportional'$$)) AS v (o);

-- The hard core: weights above 0 whose combination is 0 on it; off it, margins that are gained at no cost. Two pairs of rows that
-- contradict each other in the first feature, and rows that the second and third set apart.
CREATE TEMP TABLE core AS
  SELECT id, y, x, w FROM (SELECT array_agg(id ORDER BY id) AS ids, margin_hard_core(y, x ORDER BY id) AS ws FROM
    (VALUES (1, true, '{1,0,0}'::float8[]), (2, false, '{2,0,0}'), (3, true, '{3,0,0}'), (4, true, '{5,1,0}'), (5, false, '{5,-1,2}'), (6, false, '{7,0,-1}'), (7, true, '{0,0,0}')) AS v (id, y, x)) s,
    LATERAL unnest(ids, ws) AS u (id, w) JOIN (VALUES (1, true, '{1,0,0}'::float8[]), (2, false, '{2,0,0}'), (3, true, '{3,0,0}'), (4, true, '{5,1,0}'), (5, false, '{5,-1,2}'), (6, false, '{7,0,-1}'), (7, true, '{0,0,0}')) AS v (id, y, x) USING (id);
SELECT array_agg(id ORDER BY id) FILTER (WHERE w > 0) AS hard, array_agg(id ORDER BY id) FILTER (WHERE w = 0) AS easy, abs(sum(w) - 1) < 1e-12 AS sums_to_1,
       abs(sum(CASE WHEN y THEN w ELSE -w END * x[1])) < 1e-9 AND abs(sum(CASE WHEN y THEN w ELSE -w END * x[2])) < 1e-9 AND abs(sum(CASE WHEN y THEN w ELSE -w END * x[3])) < 1e-9 AS zero FROM core;
-- Rows in the plane of the last two features, separated, and random ones with a core made for them: who is on it is known.
SELECT count(*) AS problems, bool_and(found = expected) AS right_rows
  FROM (SELECT g, array_agg(w > 0 ORDER BY i) AS found, array_agg(i % 3 = 0 ORDER BY i) AS expected
          FROM (SELECT g, array_agg(i ORDER BY i) AS ids,
                       margin_hard_core(i % 2 = 0, CASE WHEN i % 3 = 0 THEN ARRAY[sin(g * i * i), cos(g + i * i), 0] ELSE ARRAY[sin(i + g), cos(i * g), (1 + i % 5) * CASE WHEN i % 2 = 0 THEN 1 ELSE -1 END] END::float8[] ORDER BY i) AS ws
                  FROM generate_series(1, 100) AS g, generate_series(1, 60) AS i GROUP BY g) s, LATERAL unnest(ids, ws) AS u (i, w) GROUP BY g) r;
SELECT margin_hard_core(y, x) = array_fill(0::float8, ARRAY[2]) AS separated FROM (VALUES (true, '{1}'::float8[]), (false, '{-1}')) AS v (y, x);
SELECT margin_hard_core(y, x) IS NULL AS no_rows FROM t WHERE false;
SELECT pg_temp.error_of($$SELECT margin_hard_core(id % 3, x) FROM t$$);

-- Iterations that are enough.
SELECT theorem, round(margin_bound(theorem, 1000, 0.01, lambda => 0.001, smoothing => 1, margin => 0.1, failure => 0.05)::numeric, 3) AS enough
  FROM unnest('{sdca 1,sdca 1 hinge,sdca 2,sdca 4,sdca 4 hinge,momentum 3.1,sampling 4.1,boosting 3.3 quadratic,boosting 3.3 wolfe,boosting 3.3 frank_wolfe}'::text[]) AS theorem;
SELECT theorem, round(margin_bound(theorem, 4, 0.01, lambda => 0.5, distances => '{0.5,1,0.25,2}')::numeric, 3) AS enough FROM unnest('{sdca 5,sdca 6}'::text[]) AS theorem;
SELECT margin_bound('sdca 3', 1000, 0.1, lambda => 1) AS an_epoch, margin_bound('sdca 3', 1000, 0.001, lambda => 1) AS never;
SELECT margin_bound(NULL, 10, 1) IS NULL AS unknown;
SELECT pg_temp.error_of($$SELECT margin_bound('sdca 5', 3, 0.1, lambda => 1)$$);
SELECT pg_temp.error_of($$SELECT margin_bound('sdca 6', 2, 0.1, lambda => 1, distances => '{1,-1}')$$);
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

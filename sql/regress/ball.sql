-- What a certificate proves of the optimum: score intervals, and the interval at another lambda.
CREATE TEMP TABLE rows AS SELECT i AS id, ARRAY[sin(i), cos(3 * i), sin(i * i)] AS x, sin(i) + cos(3 * i) + 0.5 * sin(7 * i) > 0.2 AS y,
  i % 3 AS k, 2 * sin(i) - cos(3 * i) AS t FROM generate_series(1, 200) AS i;

-- The optimum lies where a training that was stopped early says that it does.
CREATE FUNCTION pg_temp.check(options jsonb, sought text) RETURNS TABLE (narrower boolean, held boolean, own boolean, decided bigint, right_ones boolean)
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format('WITH m AS MATERIALIZED (SELECT train_margin(%1$s, x, %2$L::jsonb || ''{"max_iterations": 2, "solver": "sdca", "tolerance": 1e-15}'') AS early,
      train_margin(%1$s, x, %2$L::jsonb || ''{"tolerance": 1e-12}'') AS model FROM rows)
    SELECT bool_and(b.upper[1] - b.lower[1] <= a.upper[1] - a.lower[1]),
      bool_and(a.lower[1] <= s[1] AND s[1] <= a.upper[1] AND a.lower[array_upper(s, 1)] <= s[array_upper(s, 1)] AND s[array_upper(s, 1)] <= a.upper[array_upper(s, 1)]),
      bool_and(b.lower[1] <= s[1] AND s[1] <= b.upper[1]), count(*) FILTER (WHERE b.certain),
      bool_and(margin_predict(early, x) = margin_predict(model, x)) FILTER (WHERE a.certain)
    FROM m, rows, margin_score_intervals(early, x) AS a, margin_score_intervals(model, x) AS b, margin_scores(model, x) AS s', sought, options);
END $$;
SET client_min_messages = error;  -- trainings that were stopped warn
SELECT * FROM pg_temp.check('{"lambda": 0.05, "loss": "logistic"}', 'y');
SELECT * FROM pg_temp.check('{"lambda": 0.05, "loss": "hinge", "intercept": false}', 'y');
SELECT * FROM pg_temp.check('{"lambda": 0.05, "loss": "squared_hinge"}', 'k');
SELECT * FROM pg_temp.check('{"lambda": 0.05, "loss": "squared", "intercept": "penalized"}', 't');

CREATE TEMP TABLE m AS SELECT train_margin(y, x, '{"lambda": 0.05, "loss": "logistic"}') AS model,
  train_margin(y, x, '{"lambda": 0.05, "loss": "logistic", "intercept": "free"}') AS free, train_margin(k, x, '{"lambda": 0.05}') AS three,
  train_margin(y, x, '{"lambda": 0.05, "standardize": true}') AS standard, train_margin(y, x, '{"lambda": 0.05, "kernel": "rbf"}') AS kernel,
  train_margin(y, x) AS hard, train_margin(t, x, '{"lambda": 0.05, "loss": "squared", "intercept": "penalized"}') AS regression,
  train_margin(y, x, '{"lambda": 0.05, "loss": "logistic", "l1_ratio": 0.5}') AS sparse FROM rows;
RESET client_min_messages;
SELECT (margin_score_interval(model, x)).certain, (margin_score_interval(regression, x)).certain IS NULL AS no_class,
  (margin_score_interval(sparse, x)).certain AS sparse FROM m, rows WHERE id = 4;
SELECT margin_score_interval(model, NULL::float8[]) IS NULL AS nothing FROM m;
-- Rows with named columns; a wide model; a model from json, and one without its ball.
SELECT i.lower <= s AND s <= i.upper AS around FROM (SELECT train_margin(y, r, '{"lambda": 0.05, "exclude": ["y", "id", "k", "t", "x"]}') AS model
  FROM (SELECT *, x[1] AS a, x[2] AS b FROM rows) AS r) AS m, (SELECT *, x[1] AS a, x[2] AS b FROM rows WHERE id = 3) AS r,
  margin_score_interval(model, r) AS i, margin_score(model, r) AS s;
SELECT i.lower <= s AND s <= i.upper AS around FROM (SELECT train_margin(y, margin_sparse(ARRAY[id % 7 + 1, 90000], ARRAY[1, x[1]], 100000), '{"lambda": 0.05}') AS model
  FROM rows) AS m, margin_score_interval(model, margin_sparse(ARRAY[3, 50, 90000], ARRAY[1, 5, 0.3], 100000)) AS i,
  margin_score(model, margin_sparse(ARRAY[3, 50, 90000], ARRAY[1, 5, 0.3], 100000)) AS s;
SELECT margin_score_interval(margin_from_json(margin_to_json(model)), x) = margin_score_interval(model, x) AS same,
  b.lower < a.lower AND a.upper < b.upper AS narrower
FROM m, rows, margin_score_interval(model, x) AS a, margin_score_interval(margin_from_json(margin_to_json(model) - 'ball'), x) AS b WHERE id = 4;
SELECT array_ndims((model).ball) AS dimensions, (model).ball[1][1] AS weight, (standard).ball IS NULL AS none FROM m;
SELECT margin_score_interval(three, x) FROM m, rows WHERE id = 1;
SELECT margin_score_interval(free, x) FROM m, rows WHERE id = 1;
SELECT margin_score_interval(standard, x) FROM m, rows WHERE id = 1;
SELECT margin_score_interval(kernel, x) FROM m, rows WHERE id = 1;
SELECT margin_score_interval(hard, x) FROM m, rows WHERE id = 1;
SELECT margin_score_interval(model, '{1,2}'::float8[]) FROM m;
SELECT margin_score_interval(margin_from_json(margin_to_json(model) || '{"ball": [[1, 2, 3]]}'), x) FROM m, rows WHERE id = 1;
SELECT margin_score_interval(margin_from_json(margin_to_json(model) || '{"ball": [[200, -1, 0, 0]]}'), x) FROM m, rows WHERE id = 1;
SELECT margin_score_interval(margin_from_json(margin_to_json(hard) || '{"ball": [[200, 1, 0, 0]]}'), x) FROM m, rows WHERE id = 1;

-- Another lambda: the interval of a training there overlaps with what the model says without one.
SELECT g.lower <= c.upper AND c.lower <= g.upper AS overlap, g.gap >= 0 AS gap, g.relative_gap < 0.2 AS narrow
FROM m, margin_gap_at(model, 0.06) AS g, margin_certificate((SELECT train_margin(y, x, '{"lambda": 0.06, "loss": "logistic"}') FROM rows)) AS c;
SELECT g.lower <= c.upper AND c.lower <= g.upper AS overlap FROM m, margin_gap_at(free, 1) AS g,
  margin_certificate((SELECT train_margin(y, x, '{"lambda": 1, "loss": "logistic", "intercept": "free"}') FROM rows)) AS c;
SELECT margin_gap_at(model, NULL) FROM m;
SELECT margin_gap_at(model, 0) FROM m;
SELECT margin_gap_at(model, 'infinity') FROM m;
SELECT margin_gap_at(sparse, 1) FROM m;
SELECT margin_gap_at(hard, 1) FROM m;
SELECT margin_gap_at(standard, 1) FROM m;

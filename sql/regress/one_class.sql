-- One-class machines, with a kernel and without, and kernel machines of losses other than the hinge.
SET margin.log_level = 'off';
SET client_min_messages = warning;

CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  message text;
  hint text;
BEGIN
  EXECUTE statement;
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || message || ' | ' || hint;
END
$$;

CREATE TABLE crowd AS
  SELECT i, ARRAY[3 + sin(i), 2 + cos(i * 1.7), (i % 7) / 7.0]::float8[] AS x, i % 5 + 1.0::float8 AS w,
         sin(i) + 0.1 * cos(i * 3) AS y
    FROM generate_series(1, 120) AS i;

-- Two rows: w is the point of their segment nearest to the origin, and the optimum minus half its square, for any nu
-- that lets neither be left outside.
SELECT (m).solver, (m).loss, (m).lambda, (m).status, (m).classes, round((m).primal::numeric, 9) AS primal,
       round((m).dual::numeric, 9) AS dual, round((m).intercept[1]::numeric, 6) AS b,
       ARRAY(SELECT round(v::numeric, 6) FROM unnest((m).weights) AS v) AS w
  FROM (SELECT train_one_class(x, margin_options(nu => nu, tolerance => 1e-9)) AS m
          FROM (VALUES (ARRAY[2.0, 0.0]), (ARRAY[0.0, 2.0])) AS v (x), (VALUES (0.5), (0.1), (1e-9)) AS n (nu) GROUP BY nu) AS t;

-- The share of rows outside is nu at most, and nearly that.
SELECT k AS kernel, nu, (m).solver, (m).status, (m).primal - (m).dual <= 1e-6 * -(m).dual AS certified,
       (SELECT count(*) FROM crowd WHERE margin_score(m, x) < -1e-5) <= nu * 120 AS few_outside,
       (SELECT count(*) FROM crowd WHERE margin_score(m, x) <= 1e-5) >= nu * 120 AS enough
  FROM (SELECT k, nu, train_one_class(x, margin_options(nu => nu, kernel => k, tolerance => 1e-6)) AS m
          FROM crowd, unnest('{linear,rbf,polynomial}'::text[]) AS k, (VALUES (0.05), (0.3), (1)) AS n (nu) GROUP BY k, nu) AS t
 ORDER BY k, nu;

-- Predictions, figures, verification.
CREATE TABLE machines AS
  SELECT k AS kernel, train_one_class(x, margin_options(nu => 0.1, kernel => k, dual_weights => true) ORDER BY i) AS m
    FROM crowd, unnest('{linear,rbf}'::text[]) AS k GROUP BY k;
SELECT kernel, margin_predict(m, x) AS predicted, count(*) FROM machines, crowd GROUP BY 1, 2 ORDER BY 1, 2;
SELECT kernel, margin_predict(m, ARRAY[-3, -2, 0.5]::float8[]) AS far FROM machines ORDER BY 1;
SELECT kernel, (v).rows, (v).errors, abs((v).primal - (m).primal) <= 1e-12 * -(m).dual AS primal, abs((v).dual - (m).dual) <= 1e-12 * -(m).dual AS dual
  FROM (SELECT kernel, m, margin_verify(m, x ORDER BY i) AS v FROM machines, crowd GROUP BY kernel, m) AS t ORDER BY 1;
-- Without dual weights, or in another order, the other bound is one that always holds.
SELECT kernel, (v).dual <= (m).dual * (1 - 1e-12) AS lower FROM (SELECT kernel, m, margin_verify(m, x ORDER BY -i) AS v FROM machines, crowd GROUP BY kernel, m) AS t ORDER BY 1;
SELECT kernel, (margin_evaluate(m, CASE WHEN x[1] < 3.9 THEN 'inlier' ELSE 'outlier' END, x)).confusion FROM machines, crowd GROUP BY kernel ORDER BY 1;
SELECT split_part(margin_summary(m), E'\n', 1) FROM machines ORDER BY kernel;
SELECT kernel, margin_from_json(margin_to_json(m)) = m AS round_trip FROM machines ORDER BY 1;

-- Row weights count as copies; sparse rows, and rows with named columns.
SELECT abs((a).primal - (b).primal) <= 2e-6 * -(a).dual AS as_copies
  FROM (SELECT train_one_class(x, w, margin_options(nu => 0.2, kernel => k, tolerance => 1e-6)) AS a FROM crowd, (VALUES ('linear'), ('rbf')) AS v (k) GROUP BY k) AS s,
       LATERAL (SELECT train_one_class(x, margin_options(nu => 0.2, kernel => coalesce((a).kernel, 'linear'), gamma => CASE WHEN (a).kernel IS NULL THEN NULL ELSE (a).kernel_parameters->>'gamma' END::float8, tolerance => 1e-6)) AS b
                  FROM crowd, generate_series(1, w::int)) AS t;
SELECT k AS kernel, abs((train_one_class(margin_sparse(x), margin_options(kernel => k, tolerance => 1e-7))).primal - (train_one_class(x, margin_options(kernel => k, tolerance => 1e-7))).primal) < 1e-5 AS sparse
  FROM crowd, unnest('{linear,rbf}'::text[]) AS k GROUP BY k ORDER BY k;
SELECT i % 2 AS part, (m).status, (m).dimensions, (m).encoder IS NOT NULL AS encoded
  FROM (SELECT i % 2 AS i, train_one_class(crowd, margin_options(kernel => 'rbf', exclude => '{i,w,y}')) AS m FROM crowd GROUP BY 1) AS t ORDER BY 1;
SELECT train_one_class(x) IS NULL AS without_rows FROM crowd WHERE false;
SELECT (train_one_class(CASE WHEN i > 10 THEN x END)).skipped FROM crowd;

-- Refused, with the reason.
SELECT pg_temp.error_of(s) FROM unnest(ARRAY[
  $$SELECT train_one_class(x, margin_options(lambda => 1)) FROM crowd$$,
  $$SELECT train_one_class(x, margin_options(loss => 'hinge')) FROM crowd$$,
  $$SELECT train_one_class(x, margin_options(nu => 0)) FROM crowd$$,
  $$SELECT train_one_class(x, margin_options(standardize => true)) FROM crowd$$,
  $$SELECT train_one_class(x, margin_options(solver => 'sdca')) FROM crowd$$,
  $$SELECT train_one_class(x, -1, '{}') FROM crowd$$,
  $$SELECT train_one_class('NaN'::float8 || x) FROM crowd$$,
  $$SELECT train_margin(y > 0, x, '{"loss": "one_class", "lambda": 1}') FROM crowd$$,
  $$SELECT train_margin(y > 0, x, margin_options(lambda => 1, nu => 0.5)) FROM crowd$$,
  $$SELECT margin_pmml(m) FROM machines WHERE kernel = 'linear'$$,
  $$SELECT margin_probability(m, x) FROM machines, crowd$$,
  $$SELECT margin_verify(train, x) FROM crowd, (SELECT train_margin(y > 0, x, '{"lambda": 1}') AS train FROM crowd) AS t$$,
  $$SELECT margin_predict(jsonb_populate_record(m, '{"lambda": 2}'), x) FROM machines, crowd$$,
  $$SELECT margin_predict(jsonb_populate_record(m, '{"classes": ["a", "b"]}'), x) FROM machines, crowd$$,
  $$SELECT margin_predict(jsonb_populate_record(m, '{"lambda": null}'), x) FROM machines, crowd$$]) AS s;

-- Rows around the origin have no machine without a kernel.
SET client_min_messages = notice;
SELECT (train_one_class(x)).status FROM (VALUES (ARRAY[1.0, 0.0]), (ARRAY[-1.0, 0.0]), (ARRAY[0.0, 1.0]), (ARRAY[0.0, -1.0])) AS v (x);
SET client_min_messages = warning;

-- Kernel machines of every loss.
SELECT l AS loss, (m).solver, (m).status, (m).classes, (m).primal - (m).dual <= 1e-5 * (m).primal AS certified,
       abs((v).primal - (m).primal) <= 1e-9 * (m).primal AND abs((v).dual - (m).dual) <= 1e-9 * (m).primal AS verified
  FROM (SELECT l, m, CASE WHEN (m).classes IS NULL THEN (SELECT margin_verify(m, y, x ORDER BY i) FROM crowd) ELSE (SELECT margin_verify(m, y > 0, x ORDER BY i) FROM crowd) END AS v
          FROM (SELECT l, CASE WHEN l IN ('hinge', 'smoothed_hinge', 'squared_hinge', 'logistic') THEN
                  (SELECT train_margin(y > 0, x, margin_options(loss => l, lambda => 0.01, kernel => 'rbf', dual_weights => true, tolerance => 1e-5) ORDER BY i) FROM crowd)
                ELSE (SELECT train_margin(y, x, margin_options(loss => l, lambda => 0.01, kernel => 'rbf', dual_weights => true, tolerance => 1e-5) ORDER BY i) FROM crowd) END AS m
                  FROM unnest('{hinge,smoothed_hinge,squared_hinge,logistic,squared,absolute,epsilon_insensitive,squared_epsilon_insensitive,huber,quantile}'::text[]) AS l) AS t) AS u;
SELECT round((e).r2::numeric, 3) AS r2 FROM (SELECT margin_evaluate(m, y, x) AS e FROM crowd, (SELECT train_margin(y, x, margin_options(loss => 'epsilon_insensitive', epsilon => 0.01, lambda => 1e-5, kernel => 'rbf')) AS m FROM crowd) AS t) AS u;
-- Probabilities of a logistic kernel machine add up.
SELECT bool_and(abs((SELECT sum(p) FROM unnest(margin_probabilities(m, x)) AS p) - 1) < 1e-12) AS add_up, max(array_length(margin_probabilities(m, x), 1)) AS classes
  FROM crowd, (SELECT train_margin(i % 3, x, margin_options(loss => 'logistic', lambda => 0.01, kernel => 'rbf')) AS m FROM crowd) AS t;
SELECT pg_temp.error_of(s) FROM unnest(ARRAY[
  $$SELECT train_margin(y, x, margin_options(loss => 'squared', lambda => 0, kernel => 'rbf')) FROM crowd$$,
  $$SELECT train_margin(y, x, margin_options(loss => 'interpolate', kernel => 'rbf')) FROM crowd$$,
  $$SELECT train_margin(y, x, margin_options(loss => 'squared', lambda => 1, kernel => 'rbf', solver => 'smo')) FROM crowd$$,
  $$SELECT train_margin(y, x, margin_options(loss => 'absolute', lambda => 1, kernel => 'rbf', solver => 'kernel_newton')) FROM crowd$$]) AS s;

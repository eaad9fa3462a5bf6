-- lambda 0: least squares, maximum likelihood, and what their coefficients are worth. Expected figures are those of statsmodels 0.13.5.
CREATE TEMP TABLE d AS SELECT i, i % 20 AS g, 1 + i % 3 AS w, ARRAY[sin(i * 1.3), cos(i * 2.7) * 3, i % 7]::float8[] AS x,
    (sin(i * 1.3) * 2 + cos(i * 5.1) * 2 > 0.2) AS y, sin(i * 1.3) * 2 + cos(i * 5.1) + 3 AS t
  FROM generate_series(1, 500) AS i;
CREATE TEMP TABLE m AS SELECT train_margin(y, x, margin_options(lambda => 0, loss => 'logistic')) AS logit,
    train_margin(t, x, margin_options(lambda => 0, loss => 'squared')) AS ols,
    train_margin(t, x, w, margin_options(lambda => 0, loss => 'squared')) AS weighted,
    train_margin(y, x, margin_options(lambda => 0, loss => 'logistic', intercept => false, standardize => true)) AS plain FROM d;
SELECT (model).solver, (model).status, (model).lambda, (model).gap < 1e-9 * (model).primal AS narrow, (model).dual <= (model).primal AS interval
  FROM m, unnest(ARRAY[logit, ols, weighted, plain]) AS model;
CREATE FUNCTION pg_temp.shown(c margin_coefficient[]) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT concat_ws(' ', coalesce(feature::text, 'intercept'), round(estimate::numeric, 6), round(std_error::numeric, 7), round(statistic::numeric, 5),
                   round(p_value::numeric, 7), round(lower::numeric, 6), round(upper::numeric, 6)) FROM unnest(c) $$;
SELECT pg_temp.shown(margin_inference(logit, y, x)) FROM d, m;
SELECT pg_temp.shown(margin_inference(ols, t, x)) FROM d, m;
SELECT pg_temp.shown(margin_inference(ols, t, x, '{"covariance": "HC1", "level": 0.9}')) FROM d, m;
SELECT pg_temp.shown(margin_inference(logit, y, x, '{"covariance": "HC0"}')) FROM d, m;
SELECT pg_temp.shown(margin_inference(logit, y, x, 1, g, '{}')) FROM d, m;
SELECT pg_temp.shown(margin_inference(ols, t, x, 1, g::text, '{"covariance": "cluster"}')) FROM d, m;
SELECT pg_temp.shown(margin_inference(plain, y, x)) FROM d, m;
-- A weight counts rows.
SELECT margin_inference(weighted, t, x, w, '{}') = margin_inference(weighted, t, x, w, NULLIF('{}', '')::jsonb) AS same FROM d, m;
SELECT bool_and(abs(a.std_error / b.std_error - 1) < 1e-9 AND abs(a.estimate - b.estimate) < 1e-9) AS counted
  FROM (SELECT margin_inference(weighted, t, x, w, '{}') AS c FROM d, m) AS one,
       (SELECT margin_inference(weighted, t, x) AS c FROM d, m, generate_series(1, w)) AS many,
       unnest(one.c) WITH ORDINALITY AS a, unnest(many.c) WITH ORDINALITY AS b WHERE a.ordinality = b.ordinality;
-- Sparse rows, a model of listed columns, NULL.
SELECT bool_and(abs(a.std_error / b.std_error - 1) < 1e-9) AS sparse
  FROM (SELECT margin_inference(ols, t, x) AS c FROM d, m) AS one, (SELECT margin_inference(ols, t, margin_sparse(x)) AS c FROM d, m) AS other,
       unnest(one.c) WITH ORDINALITY AS a, unnest(other.c) WITH ORDINALITY AS b WHERE a.ordinality = b.ordinality;
SELECT c.feature, c.std_error > 0 AS error FROM (SELECT train_margin(t, s, margin_options(lambda => 0, loss => 'squared')) AS m
    FROM d, LATERAL margin_sparse(ARRAY[5, 70000], ARRAY[x[1], x[2]], 100000) AS s) AS model,
  LATERAL (SELECT margin_inference(m, t, margin_sparse(ARRAY[5, 70000], ARRAY[x[1], x[2]], 100000)) AS list FROM d) AS i, unnest(i.list) AS c;
-- Rows with named columns: of the encoded features.
CREATE TEMP TABLE named AS SELECT x[1] AS a, x[2] AS b, x[3] > 3 AS c, y, t FROM d;
SELECT c.feature, round(c.estimate::numeric, 6) AS estimate, round(c.std_error::numeric, 6) AS std_error
  FROM (SELECT train_margin(t, r, margin_options(lambda => 0, loss => 'squared', exclude => '{y,t}')) AS model FROM named AS r) AS m,
       LATERAL (SELECT margin_inference(model, t, r) AS list FROM named AS r) AS i, unnest(i.list) AS c;
SELECT margin_inference(logit, y, x) IS NULL AS none FROM d, m WHERE false;
SELECT margin_inference(NULL, y, x) IS NULL AS none FROM d;
SELECT cardinality(margin_inference(logit, CASE WHEN i > 0 THEN y END, x)) FROM (TABLE d UNION ALL SELECT 0, 0, 0, NULL, true, 0) AS d, m;
-- The certificate again, without dual weights; of other rows there is none.
SELECT errors, margin_lower < 0 AS inside, abs(primal / (logit).primal - 1) < 1e-12 AS primal, gap < 1e-9 AS narrow, certain FROM m, LATERAL (SELECT (margin_verify(logit, y, x)).* FROM d) AS v;
SELECT dual IS NULL AS unknown FROM m, LATERAL (SELECT (margin_verify(logit, NOT y, x)).* FROM d) AS v;
SELECT (margin_verify(logit, (SELECT margin_sum(margin_term(logit, y, x)) FROM d))).primal > 0.1 AS primal FROM m;
-- In parallel: the same to rounding.
CREATE TABLE likelihood_rows AS SELECT * FROM d, generate_series(1, 4);
ALTER TABLE likelihood_rows SET (parallel_workers = 2);
CREATE TABLE likelihood_models AS SELECT train_margin(y, x, margin_options(lambda => 0, loss => 'logistic')) AS logit FROM likelihood_rows;
CREATE TABLE likelihood_one AS SELECT margin_inference((SELECT logit FROM likelihood_models), y, x, 1, g, '{}') AS clusters,
  margin_inference((SELECT logit FROM likelihood_models), y, x, '{"covariance": "HC1"}') AS robust FROM likelihood_rows;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
CREATE OR REPLACE FUNCTION plan_of(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$  -- the lines that every version words alike
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
    IF line !~ 'Params Evaluated' THEN RETURN NEXT regexp_replace(line, 'InitPlan (\d|expr_).*', 'InitPlan'); END IF;
  END LOOP;
END $$;
SELECT plan_of($$SELECT margin_inference((SELECT logit FROM likelihood_models), y, x, 1, g, '{}') FROM likelihood_rows$$) AS plan;
CREATE TABLE likelihood_many AS SELECT margin_inference((SELECT logit FROM likelihood_models), y, x, 1, g, '{}') AS clusters,
  margin_inference((SELECT logit FROM likelihood_models), y, x, '{"covariance": "HC1"}') AS robust,
  margin_verify((SELECT logit FROM likelihood_models), y, x) AS verified FROM likelihood_rows;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;
SELECT count(*), bool_and(abs(a.std_error / b.std_error - 1) < 1e-9 AND a.estimate = b.estimate) AS same, bool_and((many.verified).gap < 1e-9) AS certified
  FROM likelihood_one AS one, likelihood_many AS many,
       unnest(one.clusters || one.robust) WITH ORDINALITY AS a, unnest(many.clusters || many.robust) WITH ORDINALITY AS b WHERE a.ordinality = b.ordinality;
DROP TABLE likelihood_rows, likelihood_models, likelihood_one, likelihood_many;
-- Separated classes: the weights are the proof.
SET client_min_messages = error;
SELECT (train_margin(i > 250, ARRAY[i, x[2]], margin_options(lambda => 0, loss => 'logistic'))).status FROM d;
CREATE TEMP TABLE quasi AS SELECT train_margin(y OR i < 20, ARRAY[(i < 20)::int, x[2]], margin_options(lambda => 0, loss => 'logistic')) AS model FROM d;
SELECT (model).status, (model).weights, (model).intercept, v.margin_lower > -1e-12 AS proof FROM quasi, LATERAL (SELECT (margin_verify(model, y OR i < 20, ARRAY[(i < 20)::int, x[2]])).* FROM d) AS v;
RESET client_min_messages;
SELECT (train_margin(i > 250, ARRAY[i], margin_options(lambda => 0, loss => 'logistic'))).status FROM d;
-- Refusals.
CREATE FUNCTION pg_temp.error_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
  EXECUTE query;
  RETURN 'none';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || SQLERRM || E'\n' || hint;
END $$;
SELECT pg_temp.error_of(format('SELECT train_margin(%s, %s, %L) FROM d', label, features, options)) FROM (VALUES
  ('y', 'ARRAY[x[1], x[2], x[1] + 2 * x[2] + 1]', '{"lambda": 0, "loss": "logistic"}'),
  ('y', 'ARRAY[x[2], 4, x[1]]', '{"lambda": 0, "loss": "logistic"}'),
  ('t', 'ARRAY[0, x[1]]', '{"lambda": 0, "loss": "squared", "intercept": false}'),
  ('y', 'x', '{"lambda": 0}'), ('y', 'x', '{"lambda": 0, "loss": "hinge"}'), ('t', 'x', '{"lambda": 0, "loss": "huber"}'),
  ('y', 'x', '{"lambda": 0, "loss": "logistic", "solver": "newton"}'), ('y', 'x', '{"lambda": 0.1, "solver": "irls"}'),
  ('y', 'x', '{"lambda": 0, "loss": "logistic", "calibration": "platt"}'), ('y', 'x', '{"lambda": 0, "loss": "logistic", "l1_ratio": 0.5}'),
  ('y', 'x', '{"lambda": 0, "kernel": "rbf"}'), ('i % 3', 'x', '{"lambda": 0, "loss": "logistic"}')) AS v (label, features, options);
SELECT pg_temp.error_of('SELECT train_margin(y, x, ''{"lambda": 0, "loss": "logistic"}'') FROM d WHERE i < 4');
SELECT pg_temp.error_of('SELECT margin_path(y, x, ''{"lambda": 0, "loss": "logistic"}'') FROM d');
SELECT pg_temp.error_of(format('SELECT margin_inference(%s) FROM d, m, quasi', arguments)) FROM (VALUES
  ('logit, NOT y, x'), ('logit, y, x, 2, ''{}'' ) FILTER (WHERE i < 300'), ('ols, t, x) FILTER (WHERE i < 5'), ('model, y OR i < 20, ARRAY[(i < 20)::int, x[2]]'),
  ('logit, y, x, ''{"covariance": "HC3"}'''), ('logit, y, x, ''{"covariance": "cluster"}'''), ('logit, y, x, ''{"level": 95}'''),
  ('logit, y, x, ''{"Level": 0.9}'''), ('logit, y, x, NULL::jsonb'), ('logit, y, x, 1, g, ''{"covariance": "HC0"}'''), ('logit, y, x, 1, 7, ''{}'''),
  ('logit, y, x, 1, NULL::int, ''{}'''), ('logit, y, x, NULL, ''{}'''), ('logit, y, x, -1, ''{}'''), ('logit, y, x[1:2]'), ('logit, ''maybe'', x')) AS v (arguments);
SET client_min_messages = error;
SELECT pg_temp.error_of(format('SELECT margin_inference(a.model, y, x) FROM d, (SELECT train_margin(y, x, %L) AS model FROM d) AS a', options)) FROM (VALUES
  ('{"lambda": 0.1, "loss": "logistic"}'), ('{}'), ('{"lambda": 0, "loss": "logistic", "class_weight": "balanced"}'),
  ('{"lambda": 0, "loss": "logistic", "max_iterations": 1}'), ('{"lambda": 0.1, "kernel": "rbf"}')) AS v (options);

-- Rows with named columns: the first category is the one that the others count against, and all is in the units of the columns.
CREATE TABLE likelihood_rows AS SELECT i AS id, (i * 7) % 40 AS age, (ARRAY['basic', 'gold', 'pro'])[1 + i % 3] AS plan, i % 4 = 0 AS active,
  3.5 * ((i * 7) % 40) + 10 * (i % 3) + sin(i * 1.7) * 20 AS spent, sin(i * 1.7) + ((i * 7) % 40) / 20.0 > 1 AS paid FROM generate_series(1, 400) i;
CREATE TABLE likelihood_models AS SELECT
  train_margin(spent, r, margin_options(unknown_features => 'reference', exclude => '{id, spent, paid}', lambda => 0, loss => 'squared')) AS named,
  train_margin(spent, ARRAY[(active)::int, age, (plan = 'gold')::int, (plan = 'pro')::int], margin_options(lambda => 0, loss => 'squared')) AS numbers,
  train_margin(paid, r, margin_options(unknown_features => 'reference', exclude => '{id, spent, paid}', lambda => 0, loss => 'logistic')) AS named_logistic,
  train_margin(paid, ARRAY[(active)::int, age, (plan = 'gold')::int, (plan = 'pro')::int], margin_options(lambda => 0, loss => 'logistic')) AS numbers_logistic
  FROM likelihood_rows r;
SELECT kind, a.name, bool_and(abs(a.estimate - b.estimate) <= 1e-9 * (1 + abs(b.estimate))) AS estimate, bool_and(abs(a.std_error / b.std_error - 1) <= 1e-9) AS std_error,
       bool_and(abs(a.p_value - b.p_value) <= 1e-9) AS p_value
  FROM (SELECT 'squared' AS kind, margin_inference(named, spent, r, '{"covariance": "HC1"}') AS named, margin_inference(numbers, spent, ARRAY[(active)::int, age, (plan = 'gold')::int, (plan = 'pro')::int], '{"covariance": "HC1"}') AS numbers FROM likelihood_rows r, likelihood_models
        UNION ALL
        SELECT 'logistic', margin_inference(named_logistic, paid, r), margin_inference(numbers_logistic, paid, ARRAY[(active)::int, age, (plan = 'gold')::int, (plan = 'pro')::int]) FROM likelihood_rows r, likelihood_models) t,
       generate_series(1, 5) k, LATERAL (SELECT (named[k]).*) a, LATERAL (SELECT (numbers[k]).*) b GROUP BY kind, k, a.name ORDER BY kind, k;
SELECT w.name, round(w.weight::numeric, 3) AS weight FROM likelihood_models, margin_weights(named) w ORDER BY w.name;
-- A stored model predicts as the one of numbers does, a row of the first category and one of an unknown category among them.
SELECT bool_and(abs(margin_score(named, r) - margin_score(numbers, ARRAY[(active)::int, age, (plan = 'gold')::int, (plan = 'pro')::int])) < 1e-8) AS same
  FROM (SELECT * FROM likelihood_rows UNION ALL SELECT 0, 30, 'new', true, 0, false) r, likelihood_models;
SELECT (margin_from_json(margin_to_json(named))).encoder = (named).encoder AS same, (named).encoder -> 'columns' -> 2 AS plan FROM likelihood_models;
-- Errors call columns by their names.
SELECT pg_temp.error_of($$SELECT train_margin(spent, r, margin_options(exclude => '{id, spent, paid}', lambda => 0, loss => 'squared')) FROM (SELECT *, 2 * age AS twice FROM likelihood_rows) r$$);
DROP TABLE likelihood_rows, likelihood_models;

-- Rows of many declared features of which few are in use: models have weights for these alone.
-- What a statement raises: SQLSTATE, message, hint.
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE m text; h text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, h = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || m || CASE WHEN h <> '' THEN E'\n  HINT: ' || h ELSE '' END;
END $$;
SET client_min_messages = error;
-- Twenty features, 137 apart among 3000, and the same as the first twenty. Three of them in a row.
CREATE TEMP TABLE points AS
  SELECT i, array_agg(f ORDER BY f) AS f, array_agg(v ORDER BY f) AS v, sum(v * cos(f)) AS t
    FROM generate_series(1, 240) i, LATERAL (SELECT DISTINCT 1 + (i * k * k + 7 * k) % 20 AS f FROM generate_series(1, 3) k) c,
         LATERAL (SELECT sin(i * 1.3 + f * f) AS v) s GROUP BY i;
CREATE TEMP TABLE rows AS
  SELECT i, t, t > 0 AS y, CASE WHEN t > 0.5 THEN 'high' WHEN t < -0.5 THEN 'low' ELSE 'mid' END AS c,
         margin_sparse((SELECT array_agg(137 * e) FROM unnest(f) e), v, 3000) AS x, margin_sparse(f, v, 20) AS narrow FROM points;
CREATE TEMP TABLE choices (kind text, label text, o jsonb);
INSERT INTO choices VALUES ('hinge', 'y', '{"lambda": 0.01, "solver": "sdca"}'), ('logistic', 'y', '{"lambda": 0.001, "loss": "logistic"}'),
  ('standard', 'y', '{"lambda": 0.001, "loss": "logistic", "standardize": true}'), ('net', 'y', '{"lambda": 0.01, "l1_ratio": 0.5}'),
  ('platt', 'y', '{"lambda": 0.01, "calibration": "platt"}'), ('hard', 'y', '{}'), ('norm 1', 'y', '{"norm": 1}'), ('norm 1.5', 'y', '{"norm": 1.5}'),
  ('boosting', 'y', '{"norm": 1, "solver": "boosting", "max_iterations": 500}'),
  ('stumps', 'y', '{"norm": 1, "learners": "stumps", "max_iterations": 200}'),
  ('three', 'c', '{"lambda": 0.01, "loss": "squared_hinge"}'), ('three hard', 'c', '{}'), ('three norm 1.5', 'c', '{"norm": 1.5}'),
  ('squared', 't', '{"lambda": 0.001, "loss": "squared"}'), ('interpolate', 't', '{"loss": "interpolate"}'), ('rbf', 'y', '{"kernel": "rbf", "lambda": 0.01}'), ('ntk', 'y', '{"kernel": "ntk_finite", "width": 16, "lambda": 0.01}');
CREATE TEMP TABLE models AS
  SELECT kind, label, train_margin(y, x, o || '{"dual_weights": true}' ORDER BY i) AS m, train_margin(y, narrow, o || '{"dual_weights": true}' ORDER BY i) AS n FROM choices, rows WHERE label = 'y' GROUP BY kind, label UNION ALL
  SELECT kind, label, train_margin(c, x, o || '{"dual_weights": true}' ORDER BY i), train_margin(c, narrow, o || '{"dual_weights": true}' ORDER BY i) FROM choices, rows WHERE label = 'c' GROUP BY kind, label UNION ALL
  SELECT kind, label, train_margin(t, x, o || '{"dual_weights": true}' ORDER BY i), train_margin(t, narrow, o || '{"dual_weights": true}' ORDER BY i) FROM choices, rows WHERE label = 't' GROUP BY kind, label;
RESET client_min_messages;

-- A model of the columns in use says which they are, and is that of the narrow rows; stumps and kernels name features themselves.
SELECT kind, (m).dimensions, (m).columns = ARRAY(SELECT 137 * f FROM generate_series(1, 20) f) AS columns, (m).weights = (n).weights AS weights,
       (m).primal = (n).primal AND (m).dual = (n).dual AS interval, (n).columns IS NULL AS narrow, (m).status = (n).status AS status
  FROM models ORDER BY kind;
-- Predictions agree with those of the narrow model, for sparse and for dense rows.
SELECT kind, bool_and(margin_predict(m, x) = margin_predict(n, narrow) OR label = 't') AS predicted,
       max(abs((margin_scores(m, x))[1] - (margin_scores(n, narrow))[1])) < 1e-9 AS scores,
       max(abs((margin_scores(m, x::float8[]))[1] - (margin_scores(n, narrow))[1])) < 1e-9 AS dense
  FROM models, rows WHERE i <= 40 GROUP BY kind HAVING kind NOT IN ('rbf', 'ntk') ORDER BY kind;
SELECT kind, max(abs(margin_probability(m, x) - margin_probability(n, narrow))) < 1e-9 AS same FROM models, rows
  WHERE kind IN ('logistic', 'platt') GROUP BY kind ORDER BY kind;

-- Evaluated and verified over the rows of the training, the interval is the stored one.
SELECT kind, (margin_evaluate(m, c, x)).accuracy = (margin_evaluate(n, c, narrow)).accuracy AS same FROM models, rows WHERE label = 'c' GROUP BY kind, m, n ORDER BY kind;
CREATE TEMP TABLE verified AS
  SELECT kind, m, margin_verify(m, y, x ORDER BY i) AS v, margin_verify(n, y, narrow ORDER BY i) AS w FROM models, rows WHERE label = 'y' AND kind NOT IN ('rbf', 'ntk') GROUP BY kind, m, n UNION ALL
  SELECT kind, m, margin_verify(m, c, x ORDER BY i), margin_verify(n, c, narrow ORDER BY i) FROM models, rows WHERE label = 'c' GROUP BY kind, m, n UNION ALL
  SELECT kind, m, margin_verify(m, t, x ORDER BY i), margin_verify(n, t, narrow ORDER BY i) FROM models, rows WHERE label = 't' GROUP BY kind, m, n;
SELECT kind, v = w AS as_narrow, (v).primal = (m).primal AS primal, (v).dual <= (m).dual + 1e-9 AND (v).dual >= (m).dual - 1e-9 AS dual, (v).rows FROM verified ORDER BY kind;
-- Over other rows, with features that the model has no weights for: they count in norms, and in the dual bound.
CREATE TEMP TABLE others AS
  SELECT i, y, t, margin_sparse(array_agg(f ORDER BY f), array_agg(v ORDER BY f), 3000) AS x, (array_agg(margin_sparse(array_agg, v2, 3000)))[1] AS spread
    FROM (SELECT i, y, t, 1 + (i * k * 31) % 3000 AS f, cos(i * k) AS v, ARRAY[1 + i % 3000] AS array_agg, ARRAY[1.0::float8] AS v2 FROM rows, generate_series(1, 4) k) s
   GROUP BY i, y, t;
-- The same model with all weights written out; without the ball, which is another proof of certain predictions.
CREATE TEMP TABLE written AS
  SELECT kind, jsonb_populate_record(m, '{"ball": null}') AS m, jsonb_populate_record(m, jsonb_build_object('columns', NULL, 'ball', NULL,
           'weights', (SELECT array_agg(coalesce((m).weights[array_position((m).columns, j)], 0) ORDER BY j) FROM generate_series(1, 3000) j))) AS w
    FROM models WHERE kind IN ('hinge', 'logistic', 'hard', 'norm 1.5', 'squared');
SELECT kind, abs((a).margin_lower - (b).margin_lower) < 1e-9 AS lower, (a).errors = (b).errors AS errors, (a).certain IS NOT DISTINCT FROM (b).certain AS certain,
       coalesce(abs((a).primal - (b).primal) < 1e-9, (a).primal IS NULL AND (b).primal IS NULL) AS primal,
       coalesce(abs((a).dual - (b).dual) < 1e-9, (a).dual IS NULL AND (b).dual IS NULL) AS dual,
       coalesce(abs((a).margin_upper - (b).margin_upper) < 1e-9, (a).margin_upper IS NULL AND (b).margin_upper IS NULL) AS upper
  FROM (SELECT kind, margin_verify(m, y, x ORDER BY i) AS a, margin_verify(w, y, x ORDER BY i) AS b FROM written, others WHERE kind <> 'squared' GROUP BY kind) s ORDER BY kind;
SELECT abs((a).primal - (b).primal) < 1e-9 AS primal, abs((a).dual - (b).dual) < 1e-9 AS dual
  FROM (SELECT margin_verify(m, t, x ORDER BY i) AS a, margin_verify(w, t, x ORDER BY i) AS b FROM written, others WHERE kind = 'squared') s;
SELECT kind, bool_and(abs(margin_score(m, x) - margin_score(w, x)) < 1e-12) AS scores FROM written, others GROUP BY kind ORDER BY kind;

-- Weights, certificate, summary, JSON and PMML speak of the features as declared.
SELECT w.feature, w.class, w.weight = (m).weights[w.feature / 137] AS weight FROM models, margin_weights(m) w WHERE kind = 'hinge' ORDER BY abs(w.weight) DESC, 1 LIMIT 3;
SELECT kind, count(*), bool_and(feature % 137 = 0) AS declared FROM models, margin_weights(m) WHERE kind IN ('hard', 'three') GROUP BY kind ORDER BY kind;
SELECT kind, c.problem, (c.upper - c.lower = c.gap) AS gap FROM models, margin_certificate(m) c WHERE kind IN ('hinge', 'norm 1') ORDER BY kind;
SELECT kind, substring(margin_summary(m) FROM 'features:[^\n]*') AS features, margin_summary(m) ~ 'feature [0-9]*' AS named FROM models WHERE kind IN ('hinge', 'stumps', 'three') ORDER BY kind;
SELECT count(*), bool_and(margin_from_json(margin_to_json(m)) = m) AS json, bool_and(m::text::margin_model = m) AS text FROM models;
SELECT margin_to_json(m) -> 'columns' AS columns FROM models WHERE kind = 'hinge';
SELECT count(*) AS fields, min(f), max(f) FROM models, regexp_matches(margin_pmml(m), '<DataField name="(x[0-9]*)"', 'g') r, LATERAL (SELECT substr(r[1], 2)::int AS f) s WHERE kind = 'logistic';
SELECT count(*) AS fields, bool_and(r[1] ~ '^name 13[0-9]*|^name [0-9]*$') AS named FROM models, regexp_matches(margin_pmml(m, ARRAY(SELECT 'name ' || j FROM generate_series(1, 3000) j)), '<NumericPredictor name="([^"]*)"', 'g') r WHERE kind = 'logistic';
SELECT pg_temp.error_of($$SELECT margin_pmml(m, ARRAY(SELECT 'name ' || j FROM generate_series(1, 20) j)) FROM models WHERE kind = 'logistic'$$);

-- Rows: longer ones are refused or cut, a NaN counts even where there is no weight for it.
SELECT pg_temp.error_of($$SELECT margin_score(m, '3001:1'::margin_sparse) FROM models WHERE kind = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_score(m, '{1,2}'::real[]) FROM models WHERE kind = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_score(m, ('NaN'::float8 || array_fill(0::float8, '{2999}'))) FROM models WHERE kind = 'hinge'$$);
SELECT margin_score(m, '5000:1'::margin_sparse) = (m).intercept[1] AS ignored, margin_score(m, '{}'::margin_sparse) = (m).intercept[1] AS empty, margin_score(m, '1:7 2:8 2999:9'::margin_sparse) = (m).intercept[1] AS no_weight
  FROM (SELECT train_margin(y, x, '{"lambda": 0.01, "unseen": "ignore"}' ORDER BY i) AS m FROM rows) s;

-- A start: from a model of some columns, or of all. Paths and cross-validation are those of the narrow rows.
SELECT (train_margin(y, x, margin_options(lambda => 0.001, loss => 'logistic', initial => m) ORDER BY i)).iterations <= (m).iterations AS warm, (m).solver FROM models, rows WHERE kind = 'logistic' GROUP BY m;
SELECT margin_options(initial => m) -> 'initial' ?& '{columns,dimensions}' AS columns FROM models WHERE kind = 'hinge';
SELECT (train_margin(y, x, jsonb_build_object('lambda', 0.001, 'loss', 'logistic', 'initial', margin_to_json(w)) ORDER BY i)).status FROM written, rows WHERE kind = 'logistic' GROUP BY w;
SELECT (train_margin(y, narrow, margin_options(lambda => 0.001, loss => 'logistic', initial => n) ORDER BY i)).columns IS NULL AS none FROM models, rows WHERE kind = 'logistic' GROUP BY n;
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(lambda => 1, initial => n)) FROM models, rows WHERE kind = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, narrow, margin_options(lambda => 1, initial => m)) FROM models, rows WHERE kind = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(lambda => 1, initial => m)) FROM models, rows WHERE kind = 'three'$$);
SELECT pg_temp.error_of(format($$SELECT train_margin(y, x, '{"lambda": 1, "initial": {"weights": [1, 2], "columns": %s}}') FROM rows$$, c)) FROM unnest('{"[2, 1]","[0, 1]","[1.5, 2]","[1, 1]","\"x\"","[1, 3001]","[1, 2, 3]"}'::text[]) c;
SELECT (p).lambda, (p).columns = (q).columns OR (q).columns IS NULL AS columns, array_length((p).columns, 1) AS count, (p).weights = (q).weights AS weights
  FROM (SELECT unnest(margin_path(y, x, '{"lambdas": [0.1, 0.01], "loss": "logistic", "standardize": true}' ORDER BY i)) AS p,
               unnest(margin_path(y, narrow, '{"lambdas": [0.1, 0.01], "loss": "logistic", "standardize": true}' ORDER BY i)) AS q FROM rows) s;
SELECT (v).fold_values = (w).fold_values AS folds, (v).lambdas = (w).lambdas AS lambdas
  FROM (SELECT margin_cross_validate(y, x, '{"loss": "hinge", "standardize": true}' ORDER BY i) AS v, margin_cross_validate(y, narrow, '{"loss": "hinge", "standardize": true}' ORDER BY i) AS w FROM rows) s;

-- Columns that cannot be are refused.
CREATE FUNCTION pg_temp.try(kind text, change jsonb) RETURNS text LANGUAGE sql AS $$
  SELECT split_part(pg_temp.error_of(format('SELECT margin_score(jsonb_populate_record(m, %L), ''1:1''::margin_sparse) FROM models WHERE kind = %L', change, kind)), E'\n', 1) $$;
SELECT c, pg_temp.try('hinge', jsonb_build_object('columns', c::jsonb)) FROM unnest('{"[]","[1, 2]","[[1, 2]]","[1, null]"}'::text[]) c;
SELECT pg_temp.try('hinge', jsonb_build_object('weights', '{1,2}'::float8[], 'columns', c::jsonb)) FROM unnest('{"[1, 2]","[2, 1]","[2, 2]","[0, 1]","[-1, 1]","[1, 3001]"}'::text[]) c;
SELECT pg_temp.try('hinge', '{"columns": null}'), pg_temp.try('hinge', '{"dimensions": null}'), pg_temp.try('hinge', '{"dimensions": 20}'), pg_temp.try('hinge', '{"dimensions": 0}');
SELECT pg_temp.try('stumps', '{"columns": [1]}'), pg_temp.try('rbf', '{"columns": [1]}'), pg_temp.try('hinge', '{"support_vectors": [[1]]}');
SELECT pg_temp.error_of($$SELECT margin_from_json(margin_to_json(m) || '{"columns": [1.5]}') FROM models WHERE kind = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_from_json(margin_to_json(m) || '{"columns": 7}') FROM models WHERE kind = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_from_json(margin_to_json(m) || '{"columns": [1, 2]}') FROM models WHERE kind = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_verify(jsonb_populate_record(m, '{"columns": [1, 2]}'), y, x) FROM models, rows WHERE kind = 'hinge'$$);

-- However many features are declared.
SET client_min_messages = error;
SELECT o, (m).columns, (m).stumps, (m).status
  FROM (VALUES ('{}'), ('{"norm": 1.5}'), ('{"norm": 1}'), ('{"norm": "sparse"}'), ('{"norm": 1, "solver": "boosting"}'), ('{"norm": 1, "learners": "stumps"}'), ('{"lambda": 0.1}'),
               ('{"lambda": 0.1, "solver": "newton", "loss": "logistic"}'), ('{"lambda": 0.1, "standardize": true}')) c (o),
  LATERAL (SELECT train_margin(y, x, o::jsonb) AS m FROM (VALUES (true, '{1:1}/100000000'::margin_sparse), (false, '{100000000:1}/100000000')) v (y, x)) s;
SELECT (m).status, (m).sparse_support_vectors, abs(margin_score(m, '{1:1}/100000000'::margin_sparse) - 1) < 1e-6 AS score
  FROM (SELECT train_margin(y, x, '{"kernel": "rbf", "gamma": 1, "lambda": 1e-9}') AS m FROM (VALUES (true, '{1:1}/100000000'::margin_sparse), (false, '{100000000:1}/100000000')) v (y, x)) s;

-- Rows with named columns as features.
SET client_min_messages = warning;
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE detail text; hint text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(E'\n', sqlstate || ': ' || sqlerrm, nullif(detail, ''), nullif(hint, ''));
END $$;

CREATE TYPE row_mood AS ENUM ('sad', 'fair', 'happy');
CREATE TABLE row_customers (
  id integer, age smallint, spend numeric, plan text, active boolean, since date, seen timestamptz, held interval, "at" time,
  mood row_mood, key uuid, emb real[], tags margin_sparse, churned boolean);
INSERT INTO row_customers
SELECT i, i * 7 % 90, CASE WHEN i % 17 = 0 THEN NULL ELSE (i * 13 % 1000) / 10.0 END,
       (ARRAY['basic', 'gold', 'pro "x", y', '', 'größe 🙂'])[1 + i % 5], i % 3 = 0, date '2020-01-01' + i % 700,
       timestamptz '2020-01-01 00:00+00' + i % 50 * interval '5 hours', i % 9 * interval '1 mon 2 days', time '01:30' + i % 8 * interval '1 hour',
       CASE WHEN i % 11 = 0 THEN NULL ELSE (enum_range(NULL::row_mood))[1 + i % 3] END, md5((i % 2)::text)::uuid,
       CASE WHEN i % 5 = 0 THEN NULL ELSE ARRAY[i % 2, i % 3] END::real[], margin_sparse(ARRAY[1 + i % 40], ARRAY[1.5]::float8[], 50),
       i * 7 % 90 + i % 5 * 20 > 80
FROM generate_series(1, 600) i;

CREATE TABLE row_models AS
SELECT 'hinge' AS name, train_margin(churned, c, margin_options(exclude => '{id, churned}', lambda => 1e-3)) AS m FROM row_customers c
UNION ALL
SELECT 'logistic', train_margin(churned, c, margin_options(exclude => '{id, churned}', lambda => 1e-3, loss => 'logistic')) FROM row_customers c
UNION ALL
SELECT 'hard', train_margin(churned, c, margin_options(exclude => '{id, spend}')) FROM row_customers c
UNION ALL
SELECT 'kernel', train_margin(churned, c, margin_options(exclude => '{id, churned}', lambda => 1e-2, kernel => 'rbf')) FROM row_customers c
UNION ALL
SELECT 'three', train_margin(mood, c, margin_options(exclude => '{id, mood}', lambda => 1e-2)) FROM row_customers c
UNION ALL
SELECT 'number', train_margin(age, c, margin_options(exclude => '{id, age}', lambda => 1e-2, loss => 'squared')) FROM row_customers c
UNION ALL
SELECT 'scaled', train_margin(age, c, margin_options(exclude => '{id, age}', lambda => 1e-2, loss => 'squared', standardize => true)) FROM row_customers c
UNION ALL
SELECT 'plain', train_margin(churned, c, margin_options(exclude => '{id, churned, since, seen}', lambda => 1e-3, standardize => false)) FROM row_customers c;
SELECT name, (m).status, (m).dimensions, (m).rows, (m).skipped, (m).target_scale IS NULL AS own_units FROM row_models ORDER BY name;

-- The encoder: columns by name, categories sorted.
SELECT c ->> 'name' AS name, c ->> 'type' AS type, c ->> 'kind' AS kind, c ->> 'unit' AS unit, c ->> 'missing' AS missing, c -> 'width' AS width,
       c -> 'categories' AS categories
  FROM row_models, jsonb_array_elements((m).encoder -> 'columns') AS c WHERE row_models.name = 'hinge';
-- Its numbers are those of SQL.
WITH column_of AS (SELECT c ->> 'name' AS name, (c -> 'fill' ->> 0)::float8 AS fill, (c -> 'scale' ->> 0)::float8 AS scale
                     FROM row_models, jsonb_array_elements((m).encoder -> 'columns') AS c WHERE row_models.name = 'hinge'),
     expected (name, mean, deviation) AS (
  SELECT 'age', avg(age), stddev_pop(age) FROM row_customers
  UNION ALL SELECT 'spend', avg(spend), stddev_pop(coalesce(spend, (SELECT avg(spend) FROM row_customers))) FROM row_customers
  UNION ALL SELECT 'since', avg(extract(epoch FROM since) / 86400), stddev_pop(extract(epoch FROM since) / 86400) FROM row_customers
  UNION ALL SELECT 'seen', avg(extract(epoch FROM seen) / 86400), stddev_pop(extract(epoch FROM seen) / 86400) FROM row_customers
  UNION ALL SELECT 'held', avg(extract(epoch FROM held) / 86400), stddev_pop(extract(epoch FROM held) / 86400) FROM row_customers
  UNION ALL SELECT 'at', avg(extract(epoch FROM "at") / 3600), stddev_pop(extract(epoch FROM "at") / 3600) FROM row_customers
  UNION ALL SELECT 'active', avg(active::int), 1 FROM row_customers)
SELECT name, abs(fill - mean) <= 1e-12 * abs(mean) AS mean, abs(scale - deviation) <= 1e-12 * deviation AS deviation
  FROM expected LEFT JOIN column_of USING (name) ORDER BY name;

-- What every function says of a row agrees.
SELECT name, bool_and(margin_predict(m, c) = (m).classes[1 + (margin_score(m, c) > 0)::int]) AS decides,
       (margin_evaluate(m, c.churned, c)).accuracy > 0.9 AS good,
       abs((margin_verify(m, c.churned, c)).primal - (m).primal) <= 1e-12 * abs((m).primal) AS verified,
       abs((margin_verify(m, margin_sum(margin_term(m, c.churned, c)))).primal / (margin_verify(m, c.churned, c)).primal - 1) <= 1e-12 AS two_steps
  FROM row_models, row_customers c WHERE name IN ('hinge', 'logistic', 'hard', 'kernel', 'plain') GROUP BY name, m ORDER BY name;
SELECT bool_and(abs(margin_probability(m, c) - 1 / (1 + exp(-margin_score(m, c)))) < 1e-15) FROM row_models, row_customers c WHERE name = 'logistic';
SELECT round((margin_evaluate(m, c.mood, c)).accuracy::numeric, 1) AS accuracy, (margin_evaluate(m, c.mood, c)).skipped FROM row_models, row_customers c WHERE name = 'three';
SELECT name, (margin_evaluate(m, c.age, c)).r2 > 0.2 AS good, (margin_verify(m, c.age, c)).primal IS NULL AS own_units FROM row_models, row_customers c
 WHERE name IN ('number', 'scaled') GROUP BY name, m ORDER BY name;

-- Any row with these columns: a view, a join, JSON, other types of the same kind, other orders, additional columns.
CREATE VIEW row_view AS SELECT tags, emb, key, mood::text AS mood, "at", held, seen::timestamp AS since2, since, seen, active, plan::varchar(50), spend::real::float8 AS spend,
       age::bigint AS age, 'more' AS additional, id FROM row_customers;
SELECT bool_and(abs(margin_score(m, c) - margin_score(m, v)) < 1e-4 AND margin_predict(m, c) = margin_predict(m, v)) AS view
  FROM row_models JOIN row_customers c ON name = 'hinge' JOIN row_view v USING (id);
SELECT bool_and(margin_score(m, c) = margin_score(m, jsonb_populate_record(NULL::row_customers, to_jsonb(c) - 'tags' || jsonb_build_object('tags', c.tags::text)))) AS json
  FROM row_models JOIN row_customers c ON name = 'hinge' WHERE c.id <= 50;
-- Columns in another order, rows in another order: the same encoder, the same model where the rows are in the same order.
SELECT (n).encoder = (m).encoder AS encoder, (n).weights = (m).weights AS weights
  FROM row_models, (SELECT train_margin(churned, r, margin_options(exclude => '{id, churned}', lambda => 1e-3)) AS n
                      FROM (SELECT tags, emb, plan, key, mood, "at", held, spend, age, since, seen, active, id, churned FROM row_customers ORDER BY id) r) t WHERE name = 'hinge';
SELECT (n).encoder = (o).encoder AS encoder
  FROM (SELECT train_margin(churned, r, '{"lambda": 1}' ORDER BY md5(r.id::text)) AS n, train_margin(churned, r, '{"lambda": 1}' ORDER BY r.id DESC) AS o FROM row_customers r) t;

-- NULL and unseen values.
CREATE TABLE row_small AS SELECT i AS x, i % 2 = 0 AS y, CASE WHEN i % 4 = 0 THEN 'a' ELSE 'b' END AS c FROM generate_series(1, 20) i;
CREATE TYPE row_pair AS (x float8, c text);
CREATE TABLE row_pairs AS
SELECT o AS options, train_margin(y, t, margin_options(exclude => '{y}', lambda => 0.1) || o) AS m
  FROM row_small t, (VALUES ('{}'::jsonb), ('{"missing": "impute", "unknown_features": "reference"}'), ('{"missing": "skip", "unknown_features": "reference"}'), ('{"missing": "error", "unknown_features": "reference"}')) v (o) GROUP BY o;
SELECT options, margin_score(m, ROW(10.5, 'z')::row_pair) = (m).intercept[1] AS unseen_is_none
  FROM row_pairs WHERE options ? 'unknown_features' ORDER BY options;
SELECT options, pg_temp.error_of(format('SELECT margin_score(m, ROW(NULL, ''a'')::row_pair) FROM row_pairs WHERE options = %L', options)),
       pg_temp.error_of(format('SELECT margin_score(m, ROW(1, ''z'')::row_pair) FROM row_pairs WHERE options = %L', options)) FROM row_pairs ORDER BY options;
SELECT margin_score(m, ROW(NULL, 'a')::row_pair) IS NULL AS skips, (margin_evaluate(m, true, ROW(NULL, 'a')::row_pair)) IS NULL AS none
  FROM row_pairs WHERE options ? 'missing' AND options ->> 'missing' = 'skip' GROUP BY m;
SELECT (train_margin(y, r, '{"missing": "skip", "lambda": 1}')).skipped FROM (SELECT y, CASE WHEN x > 3 THEN x END AS x FROM row_small) r;
-- Columns of NULL alone, of one value; nothing but one column.
SELECT (m).dimensions, (m).weights[1] = 0 AS constant, margin_score(m, r) IS NOT NULL AS scored
  FROM (SELECT train_margin(r.y, r, '{"lambda": 0.1, "exclude": ["y"], "unknown_features": "reference"}') AS m FROM (SELECT y, NULL::float8 AS empty, 5 AS always, NULL::text AS silent, NULL::real[] AS nothing FROM row_small) r) t,
       (SELECT NULL::float8 AS empty, 7 AS always, 'x' AS silent, NULL::real[] AS nothing) r;
-- Anonymous rows, weights, groups.
SELECT y, (train_margin(x > 10, ROW(x, c), '{"lambda": 1}')).dimensions FROM row_small GROUP BY y ORDER BY y;
SELECT (train_margin(y, t, 0.5 + x % 3, '{"lambda": 1, "exclude": ["y"]}')).encoder -> 'columns' -> 1 -> 'fill' -> 0 AS weighted_mean,
       round(sum(x * (0.5 + x % 3)) / sum(0.5 + x % 3), 10) AS expected FROM row_small t;

-- Paths and cross-validation; initial.
SELECT (p).encoder = (m).encoder AS encoder, (p).lambda FROM row_models, unnest((SELECT margin_path(churned, c, '{"exclude": ["id", "churned"], "lambdas": [0.1, 0.01]}') FROM row_customers c)) p WHERE name = 'hinge';
SELECT (s).rows, (s).best_mean > 0.9 AS good, (train_margin(churned, c, (s).options)).status
  FROM row_customers c, (SELECT margin_cross_validate(churned, c, '{"exclude": ["id", "churned"]}') AS s FROM row_customers c) t GROUP BY s;
-- Numeric labels are trained in units of their own, and measured in the labels'.
SELECT (s).best_mean < 0.01 * variance AS in_units_of_the_label
  FROM (SELECT margin_cross_validate(1000 + 30 * age, c, '{"exclude": ["id"], "loss": "squared"}') AS s, var_pop(30 * age) AS variance FROM row_customers c) t;
SELECT (train_margin(churned, c, margin_options(exclude => '{id, churned}', lambda => 1e-3, initial => (SELECT m FROM row_models WHERE name = 'hinge')))).encoder = (SELECT (m).encoder FROM row_models WHERE name = 'hinge') AS started
  FROM row_customers c;

-- To JSON and back, compacted, stored: the same model.
SELECT name, margin_from_json(margin_to_json(m)) = m AS json, (margin_compact(m)).encoder = (m).encoder AS compact FROM row_models ORDER BY name;

-- ALTER TABLE: what it leaves is matched by name, what it takes is an error that names it.
CREATE TABLE row_altered AS TABLE row_customers;
ALTER TABLE row_altered ADD COLUMN later text, DROP COLUMN churned, ALTER COLUMN age TYPE float8;
SELECT bool_and(margin_score(m, a) = margin_score(m, c)) AS same FROM row_models JOIN row_customers c ON name = 'hinge' JOIN row_altered a USING (id);
ALTER TABLE row_altered RENAME plan TO tariff;
SELECT pg_temp.error_of($$SELECT margin_score(m, a) FROM row_models, row_altered a WHERE name = 'hinge'$$);
ALTER TABLE row_altered RENAME tariff TO plan;
ALTER TABLE row_altered ALTER COLUMN age TYPE text;
SELECT pg_temp.error_of($$SELECT margin_score(m, a) FROM row_models, row_altered a WHERE name = 'hinge'$$);
-- Within one session and one plan.
CREATE FUNCTION pg_temp.score(r row_altered) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE model margin_model := (SELECT m FROM row_models WHERE name = 'hinge');
BEGIN RETURN margin_score(model, r); END $$;
ALTER TABLE row_altered ALTER COLUMN age TYPE integer USING age::integer;
SELECT pg_temp.score(a) = margin_score(m, a) AS same FROM row_altered a, row_models WHERE name = 'hinge' AND id = 1;
ALTER TABLE row_altered DROP COLUMN age;
ALTER TABLE row_altered ADD COLUMN age integer DEFAULT 3;
SELECT pg_temp.score(a) = margin_score(m, a) AS same FROM row_altered a, row_models WHERE name = 'hinge' AND id = 1;

-- Errors name the column.
SELECT pg_temp.error_of(s) FROM unnest(ARRAY[
  $$SELECT train_margin(y, t) FROM (SELECT true AS y, '{}'::jsonb AS doc) t$$,
  $$SELECT train_margin(y, t, margin_options(exclude => '{Y}')) FROM row_small t$$,
  $$SELECT train_margin(y, t, margin_options(exclude => '{x, y, c}')) FROM row_small t$$,
  $$SELECT train_margin(y, r) FROM (SELECT y, x, x AS x FROM row_small) r$$,
  $$SELECT train_margin(y, ARRAY[x], margin_options(exclude => '{y}')) FROM row_small$$,
  $$SELECT train_margin(y, t, margin_options(max_categories => 1, lambda => 1)) FROM row_small t$$,
  $$SELECT train_margin(y, t, margin_options(missing => 'drop')) FROM row_small t$$,
  $$SELECT train_margin(y, t, margin_options(missing => 'error')) FROM (SELECT y, NULL::int AS x FROM row_small) t$$,
  $$SELECT train_margin(y, t) FROM (SELECT y, 'NaN'::numeric AS x FROM row_small) t$$,
  $$SELECT train_margin(y, t) FROM (SELECT y, 'infinity'::date AS x FROM row_small) t$$,
  $$SELECT train_margin(y, t) FROM (SELECT y, ARRAY[1, NULL] AS x FROM row_small) t$$,
  $$SELECT train_margin(y, t) FROM (SELECT y, array_fill(1, ARRAY[x]) AS x FROM row_small) t$$,
  $$SELECT margin_predict(m, ARRAY[1]) FROM row_models$$,
  $$SELECT margin_predict(m, t) FROM row_small t, (SELECT train_margin(y, ARRAY[x], '{"lambda": 1}') AS m FROM row_small) s$$,
  $$SELECT margin_evaluate(m, true, t) FROM row_small t, row_models WHERE name = 'hinge'$$,
  $$SELECT margin_fourier(t, 2, 1) FROM row_small t$$]) WITH ORDINALITY u (s, n) ORDER BY n;

-- A model whose encoder was altered is refused.
SELECT DISTINCT substr(e, 1, 60) FROM (
  SELECT pg_temp.error_of(format($$SELECT margin_score(margin_from_json(margin_to_json(m) || jsonb_build_object('encoder', %L::jsonb)), c) FROM row_models, row_customers c WHERE name = 'hinge' LIMIT 1$$, e)) AS e
    FROM row_models, LATERAL (
      SELECT (m).encoder #- path AS e FROM (VALUES ('{version}'::text[]), ('{missing}'), ('{columns}'), ('{unknown_features}'), ('{columns,0}'), ('{columns,1,kind}'), ('{columns,1,name}'),
        ('{columns,1,fill}'), ('{columns,1,scale,0}'), ('{columns,6,categories}'), ('{columns,7,categories,1}'), ('{columns,1,missing}')) v (path)
      UNION ALL
      SELECT jsonb_set((m).encoder, path, value) FROM (VALUES ('{version}'::text[], '2'::jsonb), ('{missing}', '"some"'), ('{columns}', '{}'), ('{columns,0}', '7'), ('{columns,1,scale,0}', '0'), ('{columns,1,scale,0}', '"x"'),
        ('{columns,1,center,0}', '1e400'), ('{columns,1,name}', '"zzz"'), ('{columns,1,kind}', '"dense"'), ('{columns,1,missing}', '1'), ('{columns,5,width}', '-1'), ('{columns,5,width}', '1e9'),
        ('{columns,1,more}', '1'), ('{more}', '1')) v (path, value)) c WHERE name = 'hinge') t ORDER BY 1;
-- Names: weights in both units, contributions that add up to the score, columns by importance.
SELECT w.name, round(weight::numeric, 2) AS weight, round(standardized::numeric, 2) AS standardized FROM row_models r, margin_weights(m) w
 WHERE r.name = 'hinge' AND w.name IN ('age', 'active', 'emb[2]', 'plan=gold', 'tags[3]') ORDER BY 1;
SELECT count(*), bool_and(abs(w.weight * coalesce((c -> 'scale' ->> 0)::float8, 1) - w.standardized) < 1e-12) AS units
  FROM row_models r, margin_weights(m) w LEFT JOIN LATERAL jsonb_array_elements((m).encoder -> 'columns') c ON c ->> 'name' = w.name WHERE r.name = 'hinge' AND w.name NOT LIKE 'emb%';
SELECT name, count(DISTINCT id) AS rows, bool_and(same) AS adds_up FROM (
  SELECT name, id, abs(sum(contribution) - (margin_scores(m, c))[coalesce(array_position((m).classes, class), 1) - CASE WHEN cardinality((m).classes) = 2 THEN 1 ELSE 0 END]) < 1e-9 AS same
    FROM row_models, row_customers c, margin_explain(m, c) WHERE name <> 'kernel' AND id <= 40 GROUP BY name, id, class, m, c) t GROUP BY name ORDER BY name;
SELECT feature, class, round(value::numeric, 4) AS value FROM row_models, row_customers c, margin_explain(m, c) WHERE name = 'hinge' AND id = 85 AND feature !~ '^tags' ORDER BY feature;
SELECT feature, value FROM (SELECT train_margin(x > 10, ARRAY[x, 0], '{"lambda": 1}') AS m FROM row_small) t, margin_explain(m, ARRAY[2, 0]) ORDER BY 1;
SELECT "column", norm > 0 AS weighs FROM row_models, margin_importance(m) WHERE name = 'hinge' ORDER BY 1;
SELECT name, abs(sum(share) - 1) < 1e-12 AS whole FROM row_models, margin_importance(m) WHERE name <> 'kernel' GROUP BY name ORDER BY name;
SELECT margin_summary(m) ~ 'features: +72 of 12 columns' AND margin_summary(m) ~ 'plan=' AS named FROM row_models WHERE name = 'hinge';
SELECT pg_temp.error_of(s) FROM unnest(ARRAY[
  $$SELECT margin_explain(m, c) FROM row_models, row_customers c WHERE name = 'kernel'$$, $$SELECT margin_importance(m) FROM row_models WHERE name = 'kernel'$$]) s;
SELECT margin_pmml(m) ~ '<DerivedField name="[^"]* IS NULL" optype="continuous" dataType="double"><Apply function="if"><Apply function="isMissing">' AS missing FROM row_models WHERE name = 'hinge';
SELECT margin_pmml(m) ~ '<CategoricalPredictor name="c" value="a" ' AND margin_pmml(m) ~ '<DataField name="late" optype="categorical"' AND margin_pmml(m) ~ '<NumericPredictor name="x" ' AS pmml
  FROM (SELECT train_margin(y, r, '{"lambda": 0.5, "exclude": ["y"]}') AS m FROM (SELECT y, c, x, x > 5 AS late FROM row_small) r) t;
-- A label among the columns is told.
SELECT (train_margin(x > 10, r, '{"lambda": 1}')).status FROM (SELECT x, x > 10 AS late FROM row_small) r;
SELECT (train_margin(x, r, '{"lambda": 1, "loss": "squared"}')).status FROM row_small r;

-- The encoder alone, of a profile: up to the last bits that of a training; the rows that it makes give the same model, and the scores.
CREATE FUNCTION pg_temp.near(a jsonb, b jsonb) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
  RETURN CASE jsonb_typeof(a) WHEN 'number' THEN jsonb_typeof(b) = 'number' AND abs(a::float8 - b::float8) <= 1e-12 * (1 + abs(b::float8))
    WHEN 'array' THEN jsonb_array_length(a) = jsonb_array_length(b) AND (SELECT coalesce(bool_and(pg_temp.near(x, y)), true) FROM ROWS FROM (jsonb_array_elements(a), jsonb_array_elements(b)) AS t(x, y))
    WHEN 'object' THEN (SELECT coalesce(bool_and(coalesce(pg_temp.near(x.value, y.value), false)), true) FROM jsonb_each(a) AS x FULL JOIN jsonb_each(b) AS y USING (key)) ELSE a = b END; END $$;
CREATE TABLE row_profiled AS SELECT i % 3 = 0 AS churned, 18 + i * 7 % 60 AS age, CASE WHEN i % 11 > 0 THEN (ARRAY['basic', 'gold', 'free'])[1 + i % 3] END AS plan, date '2024-01-01' + i % 50 AS since,
  CASE WHEN i % 5 > 0 THEN i % 9 END AS calls, i % 4 = 1 AS vip, CASE WHEN i % 10 > 0 THEN ARRAY[i % 7, i % 2]::real[] END AS embedding, i AS id FROM generate_series(1, 3000) i;
CREATE FUNCTION pg_temp.like_training(options jsonb) RETURNS boolean LANGUAGE sql AS $$
  SELECT pg_temp.near(margin_encoder(margin_sum(margin_profile(c)), options, 'churned'), (train_margin(churned, c, options || '{"exclude": ["churned"], "lambda": 0.5}')).encoder)
  FROM (SELECT churned, age, plan, since, calls, vip, embedding FROM row_profiled) c $$;
SELECT o, pg_temp.like_training(o::jsonb) AS same FROM unnest(ARRAY['{}', '{"standardize": false}', '{"missing": "impute"}', '{"bins": 8, "unknown_features": "reference"}', '{"reference": {"plan": "gold"}}']) o;
SELECT margin_encoder(margin_sum(margin_profile(c)), '{"loss": "squared", "lambda": 1}', 'age') -> 'label_unit' = (train_margin(age, c, '{"loss": "squared", "exclude": ["age"], "lambda": 1}')).encoder -> 'label_unit' AS unit,
  margin_encoder(margin_sum(margin_profile(c)), '{"loss": "squared", "lambda": 1}') ? 'label_unit' AS unasked, margin_encoder(margin_sum(margin_profile(c)) FILTER (WHERE false)) IS NULL AS without_rows FROM (SELECT age, calls FROM row_profiled) c;
SELECT pg_temp.error_of(s) FROM unnest(ARRAY[
  $$SELECT margin_encoder(margin_sum(margin_profile(c)), '{"missing": "skip"}') FROM row_profiled c$$, $$SELECT margin_encoder(margin_sum(margin_profile(c)), '{"missing": "error"}') FROM row_profiled c$$,
  $$SELECT margin_encoder(margin_sum(margin_profile(c)), '{"max_categories": 2}') FROM row_profiled c$$, $$SELECT margin_encoder(margin_sum(margin_profile(c)), '{"exclude": ["agee"]}') FROM row_profiled c$$,
  $$SELECT margin_encoder(margin_sum(margin_profile(c)), '{}', 'churn') FROM row_profiled c$$, $$SELECT margin_encoder(margin_sum(margin_profile(c)), '{"loss": "squared", "lambda": 1}', 'plan') FROM row_profiled c$$,
  $$SELECT margin_encoder(margin_sum(margin_profile(c)), '{"loss": "squared", "lambda": 1, "offset_feature": "id"}', 'age') FROM row_profiled c$$, $$SELECT margin_encoder(margin_sum(margin_profile(c)), '{"lambda": 0}') FROM (SELECT 'sad'::row_mood AS v) c$$,
  $$SELECT margin_encoder(margin_sum(margin_profile(c))) FROM (SELECT i::text AS v FROM generate_series(1, 1100) i) c$$, $$SELECT margin_encoder(margin_sum(margin_profile(c)), '{"max_categories": 5000}') FROM (SELECT i::text AS v FROM generate_series(1, 1100) i) c$$,
  $$SELECT margin_encoder(margin_sum(margin_profile(c))) FROM (SELECT repeat('a', 300) AS v) c$$, $$SELECT margin_encoder(margin_sum(margin_profile(c))) FROM (SELECT 'NaN'::real AS v) c$$,
  $$SELECT margin_encoder(margin_sum(margin_profile(c))) FROM (SELECT '{1:2}'::margin_sparse AS v) c$$, $$SELECT margin_encoder(margin_sum(margin_profile(c))) FROM (SELECT '1'::json AS v) c$$,
  $$SELECT margin_encoder(margin_sum(margin_profile(c)), NULL) FROM row_profiled c$$]) s;
-- As columns with their names.
SELECT bool_and(margin_encode(e, '["vip", "age", "plan", "other"]', vip, age, plan, 7) = margin_encode(e, c)) AS same, bool_and(_margin_encode_sparse(e, '["vip", "age", "plan"]', vip, age, plan)::float8[] = margin_encode(e, c)) AS sparse,
  bool_and(margin_encode(NULL, '["vip"]', vip) IS NULL) AS none FROM row_profiled c, (SELECT margin_encoder(margin_sum(margin_profile(c)), '{"include": ["vip", "age", "plan"]}') AS e FROM row_profiled c) t;
SELECT pg_temp.error_of(format(s, margin_encoder(margin_sum(margin_profile(c)), '{"include": ["age", "vip"]}'))) FROM (SELECT age, vip FROM row_profiled) c, unnest(ARRAY[
  $$SELECT margin_encode(%L, '["age", "vip"]', 7)$$, $$SELECT margin_encode(%L, '["age", 7]', 7, true)$$, $$SELECT margin_encode(%L, NULL::jsonb, 7, true)$$, $$SELECT margin_encode(%L, '["age"]', 7)$$,
  $$SELECT margin_encode(%L, '["age", "vip"]', VARIADIC ARRAY[7, 8])$$, $$SELECT margin_encode(%L, '["age", "vip"]', NULL::int, true)$$, $$SELECT margin_encode(%L, '["age", "vip"]', 'a'::text, true)$$]) s GROUP BY s ORDER BY s COLLATE "C";
SELECT (n).weights = (m).weights AS weights, bool_and(abs(margin_score(n, margin_encode((m).encoder, c)) - margin_score(m, c)) < 1e-9) AS scores, bool_and(margin_encode_sparse((m).encoder, c)::float8[] = margin_encode((m).encoder, c)) AS sparse
  FROM (SELECT (SELECT m FROM row_models WHERE name = 'plain') AS m, (SELECT train_margin(churned, margin_encode_sparse((m).encoder, c), margin_options(lambda => 1e-3)) FROM row_customers c, row_models WHERE name = 'plain') AS n OFFSET 0) t, row_customers c GROUP BY 1;
SELECT pg_temp.error_of(s) FROM unnest(ARRAY[
  $$SELECT margin_encode((m).encoder, ARRAY[1]) FROM row_models WHERE name = 'hinge'$$, $$SELECT margin_encode('{}', c) FROM row_customers c$$]) s;
-- By scans.
SELECT pg_temp.near((n).encoder, (m).encoder) AS encoder, abs((n).primal - (m).primal) <= 2e-3 * (m).primal AS objective, (n).rows, margin_score(n, c) IS NOT NULL AS scores
  FROM row_models, row_customers c, (SELECT train_margin_from('SELECT churned AS label, c AS features FROM row_customers c', margin_options(exclude => '{id, churned}', lambda => 1e-3, sample_rows => 100)) AS n OFFSET 0) t WHERE name = 'hinge' AND c.id = 1;
SELECT margin_scan_query('SELECT churned, c FROM row_customers c', '{"exclude": ["id"]}');
SELECT train_margin_from('SELECT churned, c FROM row_customers c WHERE id < 0', '{"exclude": ["id"]}') IS NULL AS no_rows;
-- The columns are asked for one by one where the query selects a whole row of a table, a view or a subquery; other rows, and with weights, are gathered.
SET client_min_messages = error;
CREATE VIEW row_profiled_view AS SELECT churned, c AS whole, c.age, c.plan FROM row_profiled c WHERE id > 10;
SELECT q, margin_scan_query(q, o::jsonb || '{"lambda": 0.1, "loss": "logistic"}') ~ 'margin_profile' AS profiled, (m).rows, (SELECT array_agg(c ->> 'name') FROM jsonb_array_elements((m).encoder -> 'columns') c) AS columns FROM (VALUES
  ('SELECT churned, r FROM row_profiled r', '{"exclude": ["churned", "id", "embedding"]}'), ('SELECT churned, v FROM row_profiled_view v', '{"include": ["plan", "age"]}'), ('SELECT churned, whole FROM row_profiled_view', '{"include": ["plan"]}'),
  ('SELECT churned, s FROM (SELECT churned, plan AS tarif, age + 1 AS next FROM row_profiled ORDER BY id LIMIT 100) s', '{"exclude": ["churned"]}'), ('SELECT churned, s FROM (SELECT churned, age, calls FROM row_profiled) s', '{"exclude": ["churned"], "missing": "skip"}'),
  ('SELECT s.churned, s FROM row_profiled s ORDER BY id + 1 LIMIT 50', '{"include": ["age"]}'), ('SELECT a.churned, b FROM row_profiled a LEFT JOIN row_profiled b ON a.id = b.id AND b.age > 40', '{"include": ["plan"]}'),
  ('SELECT a.churned, b FROM row_profiled a JOIN row_profiled b USING (id)', '{"include": ["plan"]}'), ('SELECT DISTINCT churned, s FROM (SELECT churned, plan FROM row_profiled) s', '{"exclude": ["churned"]}'),
  ('SELECT churned, r, age AS weight FROM row_profiled r', '{"include": ["plan"]}'), ('SELECT churned, s FROM (SELECT churned, age, (''{1:'' || age || ''}'')::margin_sparse AS v FROM row_profiled) s', '{"exclude": ["churned"]}'),
  ('SELECT churned, ROW(age, plan) FROM row_profiled', '{}')) t(q, o), LATERAL (SELECT train_margin_from(q, o::jsonb || '{"lambda": 0.1, "loss": "logistic"}') AS m OFFSET 0) l;
SET client_min_messages = warning;
SELECT margin_scan_query('SELECT age, r FROM row_profiled r', '{"include": ["calls", "plan"], "missing": "skip", "loss": "squared", "lambda": 1}') || E'\n' AS text;
SELECT pg_temp.error_of(s) FROM unnest(ARRAY[
  $$SELECT train_margin_from('SELECT churned, ARRAY[age] FROM row_customers c', '{"exclude": ["id"]}')$$,
  $$SELECT train_margin_from('SELECT age, c FROM row_customers c', '{"exclude": ["id"], "lambda": 1, "loss": "squared", "standardize": true}')$$,
  $$SELECT train_margin_from('SELECT churned, c FROM row_customers c', '{"exclude": ["ID"]}')$$]) s;

-- Folds: the same for a key in any type, at any time.
SELECT array_agg(margin_fold(i)) AS folds, bool_and(margin_fold(i) = margin_fold(i::bigint) AND margin_fold(i) = margin_fold(i::text)) AS same FROM generate_series(1, 12) i;
SELECT min(n) > 1900 AND max(n) < 2100 AS even, count(*) FROM (SELECT count(*) AS n FROM generate_series(1, 10000) i GROUP BY margin_fold(i, 5, 7)) t;
SELECT margin_fold('a'::text, 10, 1), margin_fold(md5('a')::uuid, 10), margin_fold(NULL::int) IS NULL AS none;
SELECT p, round(v[1]::numeric, 4) AS sine, round(v[2]::numeric, 4) AS cosine FROM unnest(ARRAY['hour', 'day', 'week', 'month', 'quarter', 'year']) p, LATERAL (SELECT margin_cyclic(timestamp '2024-02-29 18:15', p) AS v) l;
SET TimeZone = 'UTC';
SELECT margin_cyclic(timestamptz '2024-02-29 18:15+00', 'day') = margin_cyclic(timestamp '2024-02-29 18:15', 'day') AS same, margin_cyclic(date '2024-02-29', 'day') AS midnight, margin_cyclic(NULL::timestamp, 'day') IS NULL AS none;
RESET TimeZone;
SELECT left(pg_temp.error_of($$SELECT margin_cyclic(timestamp '2024-02-29', 'moon')$$), 5) AS refused;  -- in the words of the server
SELECT (train_margin(y, r, margin_options(lambda => 1e-3))).status, (margin_evaluate(m, y, r)).accuracy > 0.95 AS learnt
  FROM (SELECT extract(hour FROM at) NOT BETWEEN 6 AND 20 AS y, r FROM generate_series(timestamp '2024-01-01', '2024-01-20', '37 minutes') at, LATERAL (SELECT margin_cyclic(at, 'day') AS hour) r) t,
       (SELECT train_margin(extract(hour FROM at) NOT BETWEEN 6 AND 20, r, margin_options(lambda => 1e-3)) AS m FROM generate_series(timestamp '2024-01-01', '2024-01-20', '37 minutes') at, LATERAL (SELECT margin_cyclic(at, 'day') AS hour) r) u GROUP BY m;
SELECT pg_temp.error_of(s) FROM unnest(ARRAY[$$SELECT margin_fold(1, 0)$$, $$SELECT margin_fold(1.5)$$]) s;

-- Served: a generated column, an index, a trigger, the best k.
CREATE TABLE row_served (x integer, c text);
SELECT format('ALTER TABLE row_served ADD score float8 GENERATED ALWAYS AS (margin_score(%L::margin_model, ROW(x, c)::row_pair)) STORED', m) AS statement FROM row_pairs WHERE options = '{}' \gset
:statement;
SELECT format('CREATE INDEX row_served_score ON row_served (margin_score(%L::margin_model, ROW(x, c)::row_pair))', m) AS statement FROM row_pairs WHERE options = '{}' \gset
:statement;
CREATE FUNCTION row_verdict() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN NEW.verdict := margin_predict((SELECT m FROM row_pairs WHERE options = '{}'), NEW); RETURN NEW; END $$;
ALTER TABLE row_served ADD verdict text;
CREATE TRIGGER verdict BEFORE INSERT ON row_served FOR EACH ROW EXECUTE FUNCTION row_verdict();
INSERT INTO row_served (x, c) SELECT i, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END FROM generate_series(1, 30) i;
SELECT bool_and(score = margin_score(m, s)) AS generated, bool_and(verdict = margin_predict(m, s)) AS triggered FROM row_served s, row_pairs WHERE options = '{}';
SELECT array_agg(x) FROM (SELECT x FROM row_served s ORDER BY score DESC, x LIMIT 3) t;
DROP TABLE row_served;
DROP FUNCTION row_verdict;

DROP TABLE row_customers, row_models, row_small, row_pairs, row_altered CASCADE;

-- Statements that anyone may write to break a server. Each is an error with a name, or an answer; none ends the session.
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE m text; d text; h text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || m || CASE WHEN d <> '' THEN E'\n  DETAIL: ' || d ELSE '' END
                               || CASE WHEN h <> '' THEN E'\n  HINT: ' || h ELSE '' END;
END $$;
CREATE ROLE regress_margin_hostile;
SET ROLE regress_margin_hostile;

-- A row is no model because its fields have the names of one: a number is not an array, bytes are not vectors.
SELECT o, pg_temp.error_of(format($$SELECT margin_options(%s => s) FROM (SELECT '{1,2}'::float8[] AS weights, '{0}'::float8[] AS intercept, 2 AS dimensions,
  'rbf'::text AS kernel, 1234567::bigint AS sparse_support_vectors) s$$, o)) FROM unnest('{norm,class_weight,gamma}'::text[]) AS o;
SELECT pg_temp.error_of($$WITH b AS (SELECT decode('0200000002000000'||'01000000'||'000000000000f03f000000000000f03f'||'0000001001000000', 'hex') AS v)
  SELECT margin_options(norm => s) FROM (SELECT '{1,2}'::float8[] AS weights, '{0}'::float8[] AS intercept, 2 AS dimensions,
    'rbf'::text AS kernel, '{"gamma":1}'::jsonb AS kernel_parameters, ARRAY[v, v]::bytea[] AS sparse_support_vectors FROM b) s$$);
-- A forged header of an array.
SELECT pg_temp.error_of($$SELECT margin_options(gamma => s) FROM (SELECT '{1,2}'::float8[] AS weights, '{0}'::float8[] AS intercept, 3 AS dimensions,
  'rbf'::text AS kernel, decode('010000000000000000000000ff0f000001000000', 'hex') AS sparse_support_vectors) s$$);
SELECT pg_temp.error_of($$SELECT margin_options(norm => train_margin(y, x)) FROM (VALUES (0, '{0}'::real[]), (1, '{1}')) v (y, x)$$);
SELECT pg_temp.error_of($$SELECT margin_options(class_weight => ROW(1, 2))$$);
SELECT pg_temp.error_of($$SELECT margin_options(norm => ARRAY[1, 2])$$);

-- A model that contradicts itself: a loss for classes, and no classes.
SELECT pg_temp.error_of($$SELECT margin_probabilities(margin_from_json('{"loss":"logistic","lambda":1,"weights":[1],"intercept":[0]}'), '{1}'::float8[])$$);
SELECT f, pg_temp.error_of(format($$SELECT %s(ROW(NULL, 'logistic', 2, 1, NULL, '{}', '{1}', '{0}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::margin_model, '{1}'::float8[])$$, f)) FROM unnest('{margin_probability,margin_probabilities,margin_score}'::text[]) AS f;

-- A small model that states many dimensions, or a wide network, takes what it holds, or what margin.memory_limit leaves.
SET statement_timeout = '10s';
CREATE TEMP TABLE wide AS SELECT margin_from_json('{"kernel": "rbf", "kernel_parameters": {"gamma": 1}, "weights": [1, -1], "intercept": [0],
  "dimensions": 2147483647, "classes": ["a", "b"], "sparse_support_vectors": ["{1:1}", "{2:1,2147483647:1}"], "dual_weights": [1, 1]}') AS m;
SELECT round(margin_score(m, '{1:1}'::margin_sparse)::numeric, 6) AS score, round(margin_score(m, '{2:1,5:0.5,2147483647:1}'::margin_sparse)::numeric, 6) AS other FROM wide;
SELECT round((margin_verify(m, y, x)).margin_lower::numeric, 6) FROM wide, (VALUES ('a', '{1:1}'::margin_sparse), ('b', '{2:1}')) v (y, x);
SELECT margin_from_json(margin_to_json(m)) IS NOT DISTINCT FROM m AS same FROM wide;
SET margin.memory_limit = '100MB';
SELECT pg_temp.error_of($$SELECT margin_score(margin_from_json('{"kernel": "ntk_finite", "kernel_parameters": {"width": 1000000, "seed": 1}, "weights": [1, -1],
  "intercept": [0], "dimensions": 100, "classes": ["a", "b"], "sparse_support_vectors": ["{1:1}", "{2:1}"]}'), '{1:1}'::margin_sparse)$$);
RESET margin.memory_limit;

-- Nested jsonb is read once, not once for every level.
CREATE FUNCTION pg_temp.nested(key text) RETURNS jsonb LANGUAGE sql AS $$
  SELECT (repeat('{"' || key || '":', 3000) || (SELECT jsonb_agg(1) FROM generate_series(1, 50000))::text || repeat('}', 3000))::jsonb $$;
SELECT pg_temp.error_of($$SELECT margin_options(class_weight => pg_temp.nested('a'))$$);
SELECT left(pg_temp.error_of($$SELECT train_margin(1, '{1}'::real[], pg_temp.nested('a'))$$), 30);
SELECT pg_temp.error_of($$SELECT margin_sparse(pg_temp.nested('1'))$$);
SELECT pg_temp.error_of($$SELECT margin_from_json(pg_temp.nested('weights'))$$);
SELECT pg_temp.error_of($$SELECT margin_options(class_weight => (repeat('[', 100000) || repeat(']', 100000))::jsonb)$$) ~ '^54001: stack depth limit exceeded' AS refused;
SELECT pg_temp.error_of($$SELECT train_margin(1, '{1}'::real[], ('{"initial": {"weights": ' || repeat('[', 1000) || '1' || repeat(']', 1000) || '}}')::jsonb)$$);
-- A name of ten million letters is not compared with every option's.
SELECT left(pg_temp.error_of($$SELECT train_margin(1, '{1}'::real[], jsonb_build_object(repeat('x', 10000000), 1))$$), 30);
RESET statement_timeout;

-- Norms that overflow.
SELECT pg_temp.error_of($$SELECT train_margin(y, x) FROM (VALUES (0, '{1.7976931348623157e308,1.7976931348623157e308}'::float8[]), (1, '{1e76,0}')) v (y, x)$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x ORDER BY i) FROM (VALUES (1, 0, '{1,0}'::float8[]), (2, 1, NULL), (3, 1, '{1,2}'), (4, 1, '{-1.5e308,1.5e308}')) v (i, y, x)$$);
SELECT o, left(pg_temp.error_of(format($$SELECT train_margin(y, x, %L) FROM (VALUES (0, '{1e308,1e308}'::float8[]), (1, '{1e76,0}'), (1, '{-1e308,1e300}')) v (y, x)$$, o)), 5) <> 'XX000' AS sound
  FROM unnest('{"{}","{\"norm\": 1}","{\"norm\": 1.5}","{\"lambda\": 1}","{\"lambda\": 1, \"loss\": \"logistic\"}","{\"solver\": \"momentum\"}","{\"solver\": \"batch_perceptron\"}",
  "{\"kernel\": \"rbf\"}","{\"standardize\": true}","{\"loss\": \"interpolate\"}","{\"loss\": \"squared\", \"lambda\": 1}","{\"lambda\": 1, \"solver\": \"newton\"}","{\"norm\": 1, \"learners\": \"stumps\"}"}'::text[]) AS o;

-- JSON null is no options.
SELECT (train_margin(y, x, 'null'::jsonb)).options FROM (VALUES (0, '{0}'::real[]), (1, '{2}')) v (y, x);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '[]'::jsonb) FROM (VALUES (0, '{0}'::real[]), (1, '{2}')) v (y, x)$$);

-- Features of enums change with their labels: no index keeps them.
CREATE TYPE pg_temp.mood AS ENUM ('sad', 'glad');
CREATE TEMP TABLE moods (m pg_temp.mood);
SELECT pg_temp.error_of('CREATE INDEX ON moods (margin_features(m))');

-- A type of the name of ours.
RESET ROLE;
CREATE SCHEMA elsewhere AUTHORIZATION regress_margin_hostile;
SET ROLE regress_margin_hostile;
CREATE TYPE elsewhere.margin_sparse AS ENUM ('x');
CREATE TYPE elsewhere.margin_model AS (weights float8[]);
SELECT pg_temp.error_of($$SELECT train_margin(1, 'x'::elsewhere.margin_sparse)$$);
SELECT split_part(pg_temp.error_of($$SELECT margin_predict(ROW('{1}')::elsewhere.margin_model, '{1}'::real[])$$), E'\n', 1) AS error;

RESET ROLE;
-- Models that alternate, more of them than are kept decoded: the same answers, and memory that does not grow.
CREATE TEMP TABLE many AS SELECT g, train_margin(repeat('x', 1000) || y, x) AS m FROM generate_series(1, 20) g,
  LATERAL (VALUES (g, '{0,0}'::real[]), (-g, ARRAY[2, g]::real[])) v (y, x) GROUP BY g;
SELECT count(*) AS calls, bool_and(right(p, -1000) = CASE WHEN side THEN (-g)::text ELSE g::text END) AS right_class, bool_and(p = q) AS same,
       (SELECT sum(used_bytes) < 32e6 FROM pg_backend_memory_contexts) AS bounded
  FROM (SELECT g, side, margin_predict(m, x, NULL::text) AS p, margin_predict(m, x) AS q
          FROM generate_series(1, 2000) i, LATERAL (SELECT i % 2 = 0 AS side) s, many, LATERAL (SELECT CASE WHEN side THEN ARRAY[2, g] ELSE '{0,0}' END::real[] AS x) r OFFSET 0) t;

-- Attributes of the type that were added, or dropped and added as another type.
CREATE TABLE stored AS SELECT train_margin(y, x) AS m FROM (VALUES ('a', '{0,0}'::real[]), ('b', '{2,0}')) v (y, x);
ALTER TYPE margin_model ADD ATTRIBUTE trained_on date CASCADE, ADD ATTRIBUTE note varchar(20) CASCADE, ADD ATTRIBUTE tags text[] CASCADE,
  ADD ATTRIBUTE cost integer CASCADE, ADD ATTRIBUTE precise numeric CASCADE, ADD ATTRIBUTE extra jsonb CASCADE;
UPDATE stored SET m.trained_on = '2024-02-01', m.note = 'by "hand"', m.tags = '{a,NULL}', m.cost = -3,
  m.precise = 1.23456789012345678901234567890, m.extra = '[{"lambda": "x"}]';
SET datestyle = 'SQL, DMY';
SELECT j ->> 'trained_on' AS day, j ->> 'note' AS note, j ->> 'tags' AS tags, j ->> 'cost' AS cost, j ->> 'precise' AS precise, j ->> 'extra' AS extra
  FROM stored, margin_to_json(m) AS j;
SELECT margin_from_json(margin_to_json(m)) IS NOT DISTINCT FROM m AS same FROM stored;
RESET datestyle;
SELECT (margin_from_json(margin_to_json(m) || '{"trained_on": "2025-01-01", "cost": 5}')).trained_on FROM stored;
SELECT pg_temp.error_of($$SELECT margin_from_json(margin_to_json(m) || '{"trained_on": "never"}') FROM stored$$);
SELECT pg_temp.error_of($$SELECT margin_from_json(margin_to_json(m) || '{"tags": ["a"]}') FROM stored$$);
SELECT pg_temp.error_of($$SELECT margin_from_json(margin_to_json(m) || '{"note": "longer than twenty characters"}') FROM stored$$);
DROP TABLE stored;
ALTER TYPE margin_model DROP ATTRIBUTE trained_on, DROP ATTRIBUTE note, DROP ATTRIBUTE tags, DROP ATTRIBUTE cost, DROP ATTRIBUTE precise, DROP ATTRIBUTE extra;
BEGIN;
ALTER TYPE margin_model DROP ATTRIBUTE seconds, ADD ATTRIBUTE seconds text, DROP ATTRIBUTE sparse_support_vectors, ADD ATTRIBUTE sparse_support_vectors bigint;
SELECT pg_temp.error_of($$SELECT train_margin(y, x) FROM (VALUES ('a', '{0,0}'::real[]), ('b', '{2,0}')) v (y, x)$$);
SELECT pg_temp.error_of($$SELECT margin_predict(jsonb_populate_record(NULL::margin_model, '{"weights": [1], "intercept": [0], "dimensions": 1,
  "kernel": "linear", "sparse_support_vectors": 99}'), '{1}'::real[])$$);
ROLLBACK;

RESET ROLE;
DROP TYPE elsewhere.margin_sparse, elsewhere.margin_model;
DROP SCHEMA elsewhere;
DROP OWNED BY regress_margin_hostile;
DROP ROLE regress_margin_hostile;

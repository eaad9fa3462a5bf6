-- margin_sql: a model's score as plain SQL, of the same bits, over columns of every kind, with NULL, unknown values and hostile names.
CREATE TYPE sql_grade AS ENUM ('low', 'high', 'it''s \ "odd"');
CREATE DOMAIN sql_count AS integer;
CREATE TABLE sql_rows AS SELECT i AS id, CASE WHEN i % 7 > 0 THEN (i * 37 % 101) / 7.0 - 3 END::real AS r, (i * 91 % 1009)::smallint AS small, i * 12345678901 AS big, (i * 17 % 97 / 9.0)::numeric(9, 4) AS "n u m",
    (i * 13 % 71)::sql_count AS counted, sin(i) * 1e9 AS "; drop table sql_rows; --", CASE WHEN i % 11 > 0 THEN i % 3 = 0 END AS flag, date '1969-12-01' + i * 7 AS day, timestamp '1999-12-31 23:59:59.123457' + i * interval '1 day 3.141593 s' AS moment,
    timestamptz '2021-03-27 21:00:00.000001+01' + i * interval '1:07:11' AS zoned, (i % 5 - 2) * interval '1 year -3 mons 4 days 05:06:07.89' + i * interval '-2 s' AS span, time '00:00:01.5' + i * interval '7 min 3 s' AS "time",
    (ARRAY['a', 'b"', 'c''', 'd\', 'é', NULL])[1 + i % 6] AS "quo""ted", (ARRAY['x', 'y  ', 'z'])[1 + i % 3]::char(4) AS padded, ('v' || i % 4)::varchar(5) AS varied, ('n' || i % 3)::name AS named, chr(65 + i % 4)::"char" AS one,
    (ARRAY['low', 'high', 'it''s \ "odd"'])[1 + i % 3]::sql_grade AS grade, ('00000000-0000-0000-0000-00000000000' || i % 3)::uuid AS key, CASE WHEN i % 13 > 0 THEN ARRAY[i % 17 / 3.0, sin(i), NULLIF(i % 2, 2), 1, 2, i % 5, -i, cos(i), 0.1]::real[] END AS list,
    ARRAY[i, i % 9, i * i]::bigint[] AS whole, i * 37 % 101 + i % 6 * 4 > 55 AS y, i % 4 AS k, 10 + i % 9 + sin(i) AS amount FROM generate_series(1, 200) AS i;
SET client_min_messages = error;
CREATE TABLE sql_models (name text, m margin_model);
INSERT INTO sql_models SELECT name, train_margin(y, t, options || '{"exclude": ["id", "y", "k", "amount"]}') FROM sql_rows t, (VALUES ('plain', '{"lambda": 1e-3, "loss": "logistic"}'::jsonb), ('impute', '{"lambda": 1e-3, "missing": "impute", "unknown_features": "reference"}'),
    ('skip', '{"lambda": 1e-2, "missing": "skip", "unknown_features": "reference"}'), ('raw', '{"lambda": 1e-3, "loss": "squared_hinge", "standardize": false, "tolerance": 0.1}'), ('lasso', '{"lambda": 0.05, "loss": "logistic", "l1_ratio": 1}'), ('stumps', '{"norm": 1, "learners": "stumps", "max_iterations": 60}'),
    ('trees', '{"norm": 1, "learners": "trees", "max_iterations": 20, "missing": "impute"}'), ('margin', '{"on_error": "null"}')) o (name, options) WHERE name <> 'margin' GROUP BY name, options;
INSERT INTO sql_models SELECT 'classes', train_margin(k, t, '{"lambda": 1e-2, "multiclass": "joint", "loss": "logistic", "exclude": ["id", "y", "k", "amount"]}') FROM sql_rows t;
INSERT INTO sql_models SELECT 'reference', train_margin(y, o, '{"lambda": 0, "loss": "logistic"}') FROM sql_rows t, LATERAL (SELECT padded, varied, flag, r) o;
INSERT INTO sql_models SELECT 'counts', train_margin((amount * 3)::int, o, '{"lambda": 1e-3, "loss": "poisson", "offset_feature": "logged", "tolerance": 1e-4}') FROM sql_rows t, LATERAL (SELECT ln(1 + small) AS logged, varied, day) o;
INSERT INTO sql_models SELECT 'wide', train_margin(y, o, '{"lambda": 1e-3, "loss": "logistic", "missing": "impute"}') FROM sql_rows t, LATERAL (SELECT 'c' || id % 90 AS code, "quo""ted", list, r) o;
-- The extension's score and the expression's, as bytes; NULL where margin_score has an error.
CREATE FUNCTION sql_score(m margin_model, t anyelement) RETURNS bytea LANGUAGE plpgsql AS $$
BEGIN RETURN array_send(margin_scores(m, t)); EXCEPTION WHEN null_value_not_allowed OR data_exception OR datatype_mismatch THEN RETURN NULL; END $$;
CREATE FUNCTION sql_compare(name text, m margin_model, source text, features text, OUT model text, OUT rows bigint, OUT same bigint, OUT nulls bigint) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT count(*), count(*) FILTER (WHERE s IS NOT DISTINCT FROM e), count(*) FILTER (WHERE s IS NULL) FROM (SELECT sql_score($1, %s) AS s, (SELECT CASE WHEN v IS NOT NULL AND v[1] IS NOT NULL THEN array_send(v) END FROM (SELECT %s AS v) AS o) AS e FROM %s AS t) AS both_ways',
    features, CASE WHEN margin_sql(m) LIKE 'ARRAY[%' THEN margin_sql(m) ELSE 'ARRAY[' || margin_sql(m) || ']' END, source) USING m INTO rows, same, nulls;
  model := name;
END $$;
SELECT c.* FROM sql_models, sql_compare(name, m, CASE name WHEN 'counts' THEN '(SELECT ln(1 + small) AS logged, varied, day FROM sql_rows)' WHEN 'wide' THEN '(SELECT ''c'' || id % 90 AS code, * FROM sql_rows)' ELSE 'sql_rows' END, 't') c ORDER BY 1;
-- OFFSET 0: made once, not again for each column that an expression names. Where the training had neither: NULL in every column in turn, unknown values, an array of another length.
SELECT c.* FROM sql_models, sql_compare(name, m, '(SELECT (jsonb_populate_record(NULL::sql_rows, to_jsonb(t) || jsonb_build_object(c, NULL))).* FROM (SELECT * FROM sql_rows LIMIT 9) AS t, unnest((SELECT array_agg(attname::text) FROM pg_attribute WHERE attrelid = ''sql_rows''::regclass AND attnum > 0)) AS c OFFSET 0)', 't') c
 WHERE name NOT IN ('counts', 'wide', 'stumps', 'trees') ORDER BY 1;
SELECT c.* FROM sql_models, sql_compare(name, m, $q$(SELECT (jsonb_populate_record(NULL::sql_rows, to_jsonb(t) || v)).* FROM (SELECT * FROM sql_rows LIMIT 9) AS t, unnest(ARRAY['{"varied": "v9"}', '{"quo\"ted": ""}', '{"quo\"ted": "A"}', '{"one": "z"}', '{"key": "10000000-0000-0000-0000-000000000000"}', '{"list": [1, 2]}', '{"whole": [1, 2, 3, 4]}', '{"big": -9223372036854775808}', '{"span": "-178000000 years"}',
  '{"moment": "294276-12-31 23:59:59.999999"}', '{"zoned": "4713-01-01 BC"}', '{"day": "5874897-12-31"}', '{"time": "24:00"}']::jsonb[]) AS v OFFSET 0)$q$, 't') c WHERE name NOT IN ('counts', 'wide', 'stumps', 'trees') ORDER BY 1;
-- Models of arrays, of every length of a sum; more classes; a label without one; a name for the array and its table.
SELECT count(*) AS models, sum(rows) AS rows, sum(same) AS same FROM generate_series(1, 100, 3) d, LATERAL (SELECT train_margin(i % 3 > 0, x, '{"lambda": 1, "loss": "squared_hinge", "standardize": true, "tolerance": 0.5}') AS m FROM generate_series(1, 40) i, LATERAL (SELECT array_agg(sin(i * j + d + i % 3) * 10 ^ (j % 7)) AS x FROM generate_series(1, d) j) r) t,
    sql_compare('', m, format('(SELECT (SELECT array_agg(sin(i * j + %s) * 10 ^ (j %% 7)) FROM generate_series(1, %s) j) AS features FROM generate_series(1, 50) i OFFSET 0)', d, d), 't.features') c;
SELECT margin_sql(jsonb_populate_record(NULL::margin_model, '{"weights": [[0.5, 0, -2], [1, 1, 0], [0, 0, 0]], "intercept": [0, 0.1, -0.25], "classes": ["a", "b", "c"], "dimensions": 3, "loss": "logistic", "lambda": 1}'), 'x"y', 't') AS classes;
SELECT margin_sql(jsonb_populate_record(NULL::margin_model, '{"weights": [[1, -1e-320]], "intercept": [0], "dimensions": 300, "columns": [7, 300], "loss": "squared", "lambda": 1}')) AS listed;
SELECT margin_sql(NULL) IS NULL AS none;
-- As a generated column, and where the extension's schema is not in sight.
CREATE TABLE sql_served (LIKE sql_rows);
SELECT format('ALTER TABLE sql_served ADD score float8 GENERATED ALWAYS AS (%s) STORED', margin_sql(m)) AS statement FROM sql_models WHERE name = 'plain' \gset
:statement;
INSERT INTO sql_served SELECT * FROM sql_rows;
SELECT bool_and(score = margin_score(m, s)) AS same, count(*) FROM sql_served s, sql_models WHERE name = 'plain';
-- What is refused, and NULL.
CREATE FUNCTION sql_error(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN EXECUTE statement; RETURN 'no error'; EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT; RETURN SQLSTATE || ': ' || SQLERRM || ' | ' || hint; END $$;
SELECT sql_error(s) FROM unnest(ARRAY[
  $q$SELECT margin_sql(train_margin(y, ARRAY[small, r], '{"lambda": 1e-4, "kernel": "rbf"}')) FROM sql_rows WHERE r IS NOT NULL$q$, $q$SELECT margin_sql(m, 'x') FROM sql_models WHERE name = 'plain'$q$,
  $q$SELECT margin_sql(train_margin(y, o, '{"lambda": 1, "loss": "logistic"}')) FROM sql_rows, LATERAL (SELECT ('{1:' || small || '}')::margin_sparse AS s) o$q$]) s;
DROP TABLE sql_rows, sql_models, sql_served CASCADE;
DROP FUNCTION sql_score, sql_compare, sql_error;
DROP TYPE sql_grade;
DROP DOMAIN sql_count;

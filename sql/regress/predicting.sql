-- Predicting by models that lie in a table: how the planner sees it, and which model is used.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE TABLE scored (id int, x real[]);
INSERT INTO scored SELECT i, ARRAY[i, i % 3] FROM generate_series(1, 2000) i;
VACUUM ANALYZE scored;
CREATE TABLE predictors (k int PRIMARY KEY, model margin_model);
INSERT INTO predictors SELECT 1, train_margin(y, x) FROM (VALUES (1, '{1,0}'::real[]), (2, '{2,0}')) t(y, x);
UPDATE predictors SET model.weights = '{1,0}', model.intercept = '{1}';
-- The score of a row is now its id + k, whatever k is.
CREATE FUNCTION planned_rows(query text, relation text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN (regexp_match(plan::text, '"Relation Name": "' || relation || '".*?"Plan Rows": (\d+),'))[1];
END $$;

-- A table that was never analysed, in the first statement of a session: its models are counted, not guessed.
\c -
SELECT planned_rows('SELECT margin_score(model, x) FROM scored, predictors', 'predictors') BETWEEN 1 AND 2 AS counted;
SET client_min_messages = warning;
INSERT INTO predictors SELECT n, model FROM predictors, generate_series(2, 100) n;
UPDATE predictors SET model.intercept = ARRAY[k] WHERE k > 1;
SELECT planned_rows('SELECT margin_predict(model, x) FROM scored, predictors', 'predictors') BETWEEN 100 AND 250 AS counted,
       planned_rows('SELECT margin_score(model, x) FROM scored, predictors WHERE k = 5', 'predictors') AS by_key;
-- Other tables are left to the server's guess, and so are tables of another type of that name.
CREATE TABLE unknown_size (a int);
INSERT INTO unknown_size VALUES (1);
CREATE SCHEMA namesake;
CREATE TYPE namesake.margin_model AS (weights float8[]);
CREATE TABLE namesake.models (m namesake.margin_model);
INSERT INTO namesake.models VALUES (ROW('{1}'));
CREATE TABLE no_models (model margin_model);
SELECT planned_rows('SELECT * FROM unknown_size', 'unknown_size') > 1000 AS guessed,
       planned_rows('SELECT * FROM namesake.models', 'models') > 1000 AS guessed_too,
       planned_rows('SELECT * FROM no_models', 'no_models') > 0 AS none;
-- Partitions and temporary tables.
CREATE TABLE parted (k int, model margin_model) PARTITION BY LIST (k);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
INSERT INTO parted SELECT * FROM predictors WHERE k = 1;
CREATE TEMP TABLE passing AS SELECT model FROM predictors WHERE k = 2;
SELECT planned_rows('SELECT margin_score(model, x) FROM scored, parted', 'parted_1') AS partition,
       planned_rows('SELECT margin_score(model, x) FROM scored, passing', 'passing') AS temporary;
-- Statistics are believed.
ANALYZE predictors;
SELECT planned_rows('SELECT margin_score(model, x) FROM scored, predictors', 'predictors') AS analysed;

-- Models side by side: one, a few, and more than a call site keeps.
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT n, count(*), count(*) FILTER (WHERE margin_score(model, x) <> id + k) AS wrong
FROM (VALUES (1), (2), (20), (100)) v(n), LATERAL (SELECT * FROM scored, predictors WHERE id <= 50 AND k <= n ORDER BY id, k OFFSET 0) s
GROUP BY n ORDER BY n;
SELECT count(*) FILTER (WHERE margin_score(model, x) <> id + k) AS wrong
FROM (SELECT * FROM scored, predictors WHERE id <= 50 ORDER BY id, hashint4(id * 100 + k) OFFSET 0) s;

-- A model that changes while one transaction predicts with it, small and toasted: always the one that is there.
CREATE TABLE changing (model margin_model);
INSERT INTO changing SELECT model FROM predictors WHERE k = 1;
CREATE FUNCTION wrong_scores(x real[]) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  wrong int := 0;
  one margin_model;
BEGIN
  FOR k IN 1..30 LOOP
    UPDATE changing SET model.intercept = ARRAY[k];
    wrong := wrong + (margin_score((SELECT model FROM changing), x) <> x[1] + k)::int;
    one := (SELECT model FROM changing);
    wrong := wrong + (margin_score(one, x) <> x[1] + k)::int;
    one.intercept := ARRAY[k + 0.5];
    wrong := wrong + (margin_score(one, x) <> x[1] + k + 0.5)::int;
  END LOOP;
  RETURN wrong;
END $$;
SELECT wrong_scores('{7,0}') AS wrong;
UPDATE changing SET model.weights = (SELECT array_agg(CASE WHEN i = 1 THEN 1 ELSE sqrt(i) END ORDER BY i) FROM generate_series(1, 2000) i), model.dimensions = 2000;
SELECT pg_column_size(model) > 8000 AS toasted, wrong_scores(ARRAY[7::real] || array_fill(0::real, '{1999}')) AS wrong FROM changing;
BEGIN;
SELECT margin_score(model, ARRAY[7::real] || array_fill(0::real, '{1999}')) FROM changing;
SAVEPOINT before;
UPDATE changing SET model.intercept = '{-7}';
SELECT margin_score(model, ARRAY[7::real] || array_fill(0::real, '{1999}')) FROM changing;
ROLLBACK TO before;
SELECT margin_score(model, ARRAY[7::real] || array_fill(0::real, '{1999}')) FROM changing;
COMMIT;

DROP SCHEMA namesake CASCADE;
DROP TABLE scored, predictors, unknown_size, no_models, parted, changing;
DROP FUNCTION planned_rows, wrong_scores;

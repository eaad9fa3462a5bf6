-- Options of rows with named columns: which columns, which categories count against which, collinear ones; starts by name.
CREATE TYPE option_grade AS ENUM ('low', 'mid', 'high');
CREATE TABLE option_rows AS SELECT i AS id, 20 + i * 7 % 50 AS age, (ARRAY['25-29', '30-34', '20-24', '35+'])[1 + i % 4] AS band, (ARRAY['low', 'mid', 'high'])[1 + i * i % 7 % 3]::option_grade AS grade, CASE WHEN i % 5 > 0 THEN i % 9 END AS calls,
    i * 7 % 50 + i % 4 * 5 + sin(i * i) * 30 > 30 AS y, i * 37 % 101 + sin(i) + i % 7 AS price FROM generate_series(1, 200) AS i;
CREATE FUNCTION option_error(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN EXECUTE statement; RETURN 'no error'; EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT; RETURN SQLSTATE || ': ' || SQLERRM || ' | ' || hint; END $$;
-- include: a new column of the table is no feature.
SELECT (SELECT array_agg(c ->> 'name') FROM jsonb_array_elements((m).encoder -> 'columns') c) AS columns FROM (SELECT train_margin(y, t, margin_options(lambda => 1e-3, include => '{grade, age}')) AS m FROM option_rows t) s;
SELECT option_error(s) FROM unnest(ARRAY[
  $q$SELECT train_margin(y, t, margin_options(lambda => 1e-3, include => '{grade, agee}')) FROM option_rows t$q$, $q$SELECT train_margin(y, t, '{"lambda": 1, "include": ["age"], "exclude": ["id"]}') FROM option_rows t$q$,
  $q$SELECT train_margin(y, t, '{"lambda": 1, "include": []}') FROM option_rows t$q$, $q$SELECT train_margin(y, ARRAY[age], '{"lambda": 1, "include": ["age"]}') FROM option_rows t$q$]) s;
-- Reference levels: text by its bytes, enums in their order, or what is asked for; the model is the same function whichever it is.
CREATE TABLE option_models AS
  SELECT 'by default' AS name, train_margin(y, t, margin_options(lambda => 0, loss => 'logistic', tolerance => 1e-12, exclude => '{id, y, price}')) AS m FROM option_rows t UNION ALL
  SELECT 'asked for', train_margin(y, t, margin_options(lambda => 0, loss => 'logistic', tolerance => 1e-12, exclude => '{id, y, price}', reference => '{"band": "25-29", "grade": "high"}')) FROM option_rows t UNION ALL
  SELECT 'penalised', train_margin(y, t, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id, y, price}', reference => '{"band": "30-34"}')) FROM option_rows t;
SELECT name, (SELECT array_agg(w.name ORDER BY feature) FROM margin_weights(m) w) AS features, (SELECT jsonb_object_agg(c ->> 'name', c -> 'reference') FROM jsonb_array_elements((m).encoder -> 'columns') c WHERE c ? 'reference') AS reference FROM option_models ORDER BY name;
SELECT max(abs(margin_score(a.m, t) - margin_score(b.m, t))) < 1e-6 AS same_function FROM option_rows t, option_models a, option_models b WHERE a.name = 'by default' AND b.name = 'asked for';
SELECT bool_and(margin_score(m, t) = margin_score(margin_from_json(margin_to_json(m)), t)) AS same FROM option_rows t, option_models;
SELECT name, abs(sum(contribution) - margin_score(m, t)) < 1e-9 AS explained FROM option_rows t, option_models, margin_explain(m, t) WHERE id = 7 GROUP BY name, m, t ORDER BY name;
SELECT option_error(s) FROM unnest(ARRAY[
  $q$SELECT train_margin(y, t, margin_options(lambda => 1e-3, reference => '{"band": "25-30"}')) FROM option_rows t$q$, $q$SELECT train_margin(y, t, margin_options(lambda => 1e-3, reference => '{"bond": "25-29"}')) FROM option_rows t$q$,
  $q$SELECT train_margin(y, t, margin_options(lambda => 1e-3, reference => '{"age": "25"}')) FROM option_rows t$q$, $q$SELECT margin_options(reference => '{"age": 25}')$q$, $q$SELECT margin_options(reference => '[]')$q$]) s;
-- Altered ones are refused.
SELECT option_error(format('SELECT margin_score(margin_from_json(jsonb_set(margin_to_json(m), %L, %L)), t) FROM option_models, (SELECT * FROM option_rows LIMIT 1) t WHERE name = %L', '{encoder,' || place || '}', value, 'asked for'))
  FROM (VALUES ('columns,1,reference', '"25"'), ('columns,1,reference', '7'), ('dropped', '[0]'), ('dropped', '[99]'), ('dropped', '[1, 1]'), ('dropped', '"x"')) v (place, value);
-- Collinear features: an error that names them, or left out with a notice.
CREATE VIEW option_twice AS SELECT t.*, age * 2 + 1 AS doubled, calls IS NULL AS silent, 'g ' || grade AS again, 7 AS seven FROM option_rows t;
SELECT option_error($q$SELECT train_margin(y, t, margin_options(lambda => 0, loss => 'logistic', exclude => '{id, y, price}')) FROM option_twice t$q$);
INSERT INTO option_models SELECT 'dropped', train_margin(y, t, margin_options(lambda => 0, loss => 'logistic', tolerance => 1e-12, exclude => '{id, y, price}', collinear => 'drop')) FROM option_twice t;
SELECT (SELECT array_agg(w.name ORDER BY feature) FROM margin_weights(m) w) AS features, (m).encoder -> 'dropped' AS dropped, (m).status FROM option_models WHERE name = 'dropped';
SELECT max(abs(margin_score(a.m, t) - margin_score(b.m, t))) < 1e-6 AS same_function, bool_and(margin_score(a.m, t) = margin_score(margin_from_json(margin_to_json(a.m)), t)) AS same FROM option_twice t, option_models a, option_models b WHERE a.name = 'dropped' AND b.name = 'by default';
SELECT (SELECT abs(sum(contribution) - margin_score(m, t)) < 1e-9 FROM margin_explain(m, t)) AS explained, (SELECT count(*) FROM margin_importance(m)) AS columns, cardinality(margin_encode((m).encoder, t)) AS encoded FROM option_twice t, option_models WHERE name = 'dropped' AND id = 7;
SELECT abs((v).primal - (m).primal) < 1e-12 AS primal FROM (SELECT m, margin_verify(m, y, t) AS v FROM option_twice t, option_models WHERE name = 'dropped' GROUP BY m) s;
SELECT format('SELECT bool_and(margin_score(m, t) = s) AS same_sql FROM (SELECT t, %s AS s FROM option_twice t) q, option_models WHERE name = ''dropped''', margin_sql(m)) AS statement FROM option_models WHERE name = 'dropped' \gset
:statement;
SELECT option_error($q$SELECT margin_encoder(margin_sum(margin_profile(t)), margin_options(lambda => 0, loss => 'logistic', collinear => 'drop')) FROM option_twice t$q$);
SELECT option_error($q$SELECT train_margin(y, t, '{"lambda": 1, "collinear": "drop"}') FROM option_rows t$q$);
-- A function of the label that rises with it, or falls, tells it.
SELECT (train_margin(price, o, '{"lambda": 1e-3, "loss": "squared"}')).rows FROM option_rows t, LATERAL (SELECT age, ln(price + 20) AS logged, grade) o;
SELECT (train_margin(price, o, '{"lambda": 1e-3, "loss": "squared"}')).rows FROM option_rows t, LATERAL (SELECT age, 900 - 3 * price AS rest) o;
SELECT (train_margin(price, o, '{"lambda": 1e-3, "loss": "squared"}')).rows FROM option_rows t, LATERAL (SELECT age, CASE WHEN id = 190 THEN 0 ELSE price END AS almost, round(price) AS rounded) o;
-- A start finds its features by column and category.
SET client_min_messages = notice;
CREATE TABLE option_starts AS SELECT train_margin(y, o, margin_options(lambda => 1e-3, loss => 'logistic', solver => 'newton', tolerance => 1e-9)) AS m FROM option_rows t, LATERAL (SELECT age, band, calls, grade) o;
SELECT (n).status, (n).iterations <= 1 AS at_once FROM (SELECT train_margin(y, o, margin_options(lambda => 1e-3, loss => 'logistic', solver => 'newton', tolerance => 1e-6, initial => (SELECT m FROM option_starts))) AS n FROM option_rows t, LATERAL (SELECT grade, calls, band, age) o) s;
SELECT (n).status, (n).iterations AS steps FROM (SELECT train_margin(y, o, margin_options(lambda => 1e-3, loss => 'logistic', solver => 'newton', tolerance => 1e-6, initial => (SELECT m FROM option_starts))) AS n FROM option_rows t, LATERAL (SELECT CASE WHEN id % 41 = 1 THEN 'new' WHEN band <> '35+' THEN band ELSE '20-24' END AS band, age, grade, age * id % 3 AS extra) o) s;
SELECT (n).status FROM (SELECT train_margin(y, o, jsonb_build_object('lambda', 1e-3, 'loss', 'logistic', 'initial', margin_to_json((SELECT m FROM option_starts)))) AS n FROM option_rows t, LATERAL (SELECT age, band, calls, grade) o) s;
SELECT option_error($q$SELECT train_margin(y, t, jsonb_build_object('lambda', 1e-3, 'loss', 'logistic', 'initial', margin_to_json(m) || '{"weights": [1, 2]}')) FROM option_rows t, option_starts GROUP BY m$q$);
DROP VIEW option_twice;
DROP TABLE option_rows, option_models, option_starts;
DROP FUNCTION option_error;
DROP TYPE option_grade;

-- Columns that are sets: arrays of texts and tsvector, as an indicator for each element.
SET client_min_messages = warning;
CREATE FUNCTION pg_temp.value_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE value text;
BEGIN
  EXECUTE statement INTO value;
  RETURN value;
END $$;
CREATE TEMP TABLE posts AS
  SELECT i AS id, i % 11 AS age,
         array_remove(ARRAY[CASE WHEN i % 2 = 0 THEN 'sql' END, CASE WHEN i % 3 = 0 THEN 'c++' END, CASE WHEN i % 5 = 0 THEN '' END,
                            CASE WHEN i % 2 = 0 THEN 'sql' END, CASE WHEN i % 7 = 0 THEN 'Ünder' END], NULL) AS tags,
         (i % 2 = 0) <> (i % 3 = 0 AND i % 4 > 0) AS liked,
         sin(i) + 2 * (i % 3 = 0)::int AS score
  FROM generate_series(1, 240) AS i;
-- The same as columns of booleans, by hand.
CREATE TEMP TABLE by_hand AS
  SELECT id, age, '' = ANY (tags) AS tag1, 'c++' = ANY (tags) AS tag2, 'sql' = ANY (tags) AS tag3, 'Ünder' = ANY (tags) AS tag4, liked, score FROM posts;
CREATE TEMP TABLE models AS
  SELECT train_margin(liked, p, margin_options(exclude => '{id, liked, score}', lambda => 1e-2, loss => 'logistic', tolerance => 1e-12)) AS sets,
         (SELECT train_margin(liked, h, margin_options(exclude => '{id, liked, score}', lambda => 1e-2, loss => 'logistic', tolerance => 1e-12)) FROM by_hand h) AS hand
  FROM posts p;
SELECT w.name, round(w.weight::numeric, 3) AS weight FROM models, margin_weights(sets) w ORDER BY feature;
SELECT max(abs(a.weight - b.weight)) < 1e-12 AS same, count(*) FROM models, margin_weights(sets) a, margin_weights(hand) b WHERE a.feature = b.feature;
SELECT bool_and(abs(margin_score(sets, p) - margin_score(hand, h)) < 1e-12) AS same FROM models, posts p JOIN by_hand h USING (id);
SELECT bool_and(margin_encode((sets).encoder, p) = margin_encode((hand).encoder, h)) AS same_numbers FROM models, posts p JOIN by_hand h USING (id);
SELECT (sets).encoder -> 'version' AS version, (sets).encoder #> '{columns,1,categories}' AS elements, (sets).encoder #> '{columns,1,kind}' AS kind FROM models;
-- No order of rows, elements or repetitions matters, nor the collation.
SELECT bool_and((m).encoder = (sets).encoder) AS same FROM models,
  (SELECT train_margin(liked, p, margin_options(exclude => '{id, liked, score}', lambda => 1e-2, loss => 'logistic')) AS m
     FROM (SELECT id, age, ARRAY(SELECT unnest(tags || tags) COLLATE "C" ORDER BY 1 DESC) AS tags, liked, score FROM posts ORDER BY id DESC) p) x;
-- Everything that takes a model and rows.
SELECT abs((margin_verify(sets, liked, p)).primal - (sets).primal) < 1e-12 AS verified FROM models, posts p GROUP BY sets;
SELECT bool_and(abs(margin_score(sets, p) - margin_score(sets, to_jsonb(p))) = 0) AS as_object FROM models, posts p;
SELECT bool_and(abs(margin_score(sets, p) - (SELECT sum(contribution) FROM margin_explain(sets, p))) < 1e-12) AS adds_up FROM models, posts p WHERE id < 40;
SELECT e.feature, e.value FROM models, posts p, margin_explain(sets, p) e WHERE id = 30 ORDER BY 1;
SELECT r."column", r.value, r.contribution > 0 AS for FROM models, posts p, margin_reasons(sets, p, 2) r WHERE id = 30 ORDER BY 1, 2;
SELECT "column", round(share::numeric, 2) AS share FROM models, margin_importance(sets);
SELECT term, level, round(slope::numeric, 2) AS slope, round(share::numeric, 2) AS share FROM models, margin_shape(sets, 'tags');
SELECT (regexp_match(picture, 'text-anchor="end">([^<]*)</text>\n<text x="14"'))[1] = (SELECT level FROM margin_shape(sets, 'tags') ORDER BY slope DESC LIMIT 1) AS highest, picture::xml IS DOCUMENT AS xml
  FROM models, margin_plot(sets, 'tags') AS picture;
SELECT margin_pmml(sets) FROM models;
-- As SQL.
SELECT pg_temp.value_of(format('SELECT bool_and(%s = margin_score(sets, p)) FROM models, posts p', margin_sql(sets, alias => 'p'))) AS same_bits FROM models;
-- Missing sets, empty ones, and elements that the training had not.
CREATE TEMP TABLE gaps AS SELECT id, CASE WHEN id % 4 > 0 THEN tags END AS tags, liked FROM posts;
CREATE TEMP TABLE gap_models AS
  SELECT train_margin(liked, g, margin_options(exclude => '{id, liked}', lambda => 1e-2)) AS as_trained,
         train_margin(liked, g, margin_options(exclude => '{id, liked}', lambda => 1e-2, unknown_features => 'reference')) AS lenient,
         train_margin(liked, g, margin_options(exclude => '{id, liked}', lambda => 1e-2, missing => 'skip')) AS skips,
         (SELECT train_margin(liked, f, margin_options(exclude => '{id, liked}', lambda => 1e-2, missing => 'impute')) FROM (SELECT * FROM gaps WHERE tags IS NOT NULL) f) AS imputes
  FROM gaps g;
SELECT array_agg(name ORDER BY feature) AS names FROM gap_models, margin_weights(as_trained);
SELECT margin_encode((as_trained).encoder, '{"tags": null}'::jsonb) AS missing, margin_encode((as_trained).encoder, '{"tags": []}'::jsonb) AS empty,
       margin_encode((as_trained).encoder, '{"tags": ["sql", "", "sql"]}'::jsonb) AS two FROM gap_models;
SELECT margin_encode((skips).encoder, '{"tags": null}'::jsonb) IS NULL AS skipped, (skips).skipped = 60 AS counted FROM gap_models;
SELECT ARRAY(SELECT round(v::numeric, 2) FROM unnest(margin_encode((imputes).encoder, '{"tags": null}'::jsonb)) v) AS shares FROM gap_models;
SELECT margin_score(as_trained, '{"tags": ["sql", "perl"]}'::jsonb) FROM gap_models;
SELECT margin_encode((lenient).encoder, '{"tags": ["perl", "sql"]}'::jsonb) AS one, margin_encode((lenient).encoder, '{"tags": ["perl"]}'::jsonb) AS none FROM gap_models;
SELECT margin_score(sets, '{"age": 1, "tags": null}'::jsonb) FROM models;
SELECT pg_temp.value_of(format('SELECT bool_and(%s IS NOT DISTINCT FROM margin_score(as_trained, g)) AS same_bits FROM gap_models, gaps g', margin_sql(as_trained, alias => 'g'))) AS in_sql FROM gap_models;
SELECT pg_temp.value_of(format('SELECT %s IS NULL AS null_for_unknown FROM (SELECT ARRAY[''perl''] AS tags) g', margin_sql(as_trained, alias => 'g'))) AS in_sql FROM gap_models;
SELECT pg_temp.value_of(format('SELECT %s IS NULL AND %s IS NOT NULL FROM (SELECT ARRAY[''sql'', NULL] AS tags) g, (SELECT ARRAY[''perl''] AS tags) h', margin_sql(lenient, alias => 'g'), margin_sql(lenient, alias => 'h'))) AS in_sql FROM gap_models;
-- What is no set.
CREATE TYPE pg_temp.tagged AS (tags text[]);
SELECT margin_score(lenient, ROW(ARRAY[['sql', 'c++'], ['a', 'b']])::pg_temp.tagged) FROM gap_models;
SELECT margin_score(lenient, ROW(ARRAY['sql', NULL])::pg_temp.tagged) FROM gap_models;
SELECT margin_score(lenient, '{"tags": ["sql", null]}'::jsonb) FROM gap_models;
SELECT margin_score(lenient, '{"tags": ["sql", 3]}'::jsonb) FROM gap_models;
SELECT margin_score(lenient, '{"tags": "sql"}'::jsonb) FROM gap_models;
SELECT margin_score(lenient, t) FROM gap_models, (SELECT 'sql' AS tags) t;
SELECT train_margin(id % 2, t, margin_options(exclude => '{id}', max_categories => 10)) FROM (SELECT i AS id, ARRAY['a', 'x' || i] AS tags FROM generate_series(1, 30) i) t;
SELECT train_margin(id % 2, t, margin_options(exclude => '{id}', reference => '{"tags": "a"}')) FROM (SELECT i AS id, ARRAY['a'] AS tags FROM generate_series(1, 30) i) t;
SELECT train_margin(id % 2, t, margin_options(exclude => '{id}', bins => 4, interactions => '{age*tags}')) FROM (SELECT i AS id, i % 7 AS age, ARRAY['a'] AS tags FROM generate_series(1, 30) i) t;
-- Other types: by the texts of their elements.
CREATE TYPE pg_temp.mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN pg_temp.words AS text[];
CREATE TEMP TABLE typed AS
  SELECT id, liked, tags::varchar[] AS v, tags::pg_temp.words AS d, ARRAY[id % 3, id % 2]::text[]::char(3)[] AS b, tags::name[] AS n, ARRAY[chr(97 + id % 3)]::"char"[] AS c,
         CASE WHEN id % 3 = 0 THEN '{happy,sad}' ELSE '{ok}' END::pg_temp.mood[] AS e, ARRAY[md5((id % 3)::text)::uuid] AS u,
         to_tsvector('simple', CASE WHEN id % 3 = 0 THEN 'the cat sat on the mat' ELSE 'a dog''s cat' END) AS t
  FROM posts;
CREATE TEMP TABLE typed_model AS SELECT train_margin(liked, x, margin_options(exclude => '{id, liked}', lambda => 1e-2)) AS m FROM typed x;
SELECT c ->> 'name' AS name, c ->> 'kind' AS kind, c -> 'categories' AS elements FROM typed_model, jsonb_array_elements((m).encoder -> 'columns') c WHERE c ->> 'name' <> 'u' ORDER BY c ->> 'name' COLLATE "C";
SELECT bool_and(margin_score(m, x) = margin_score(m, to_jsonb(x))) AS as_objects FROM typed_model, typed x;
SELECT pg_temp.value_of(format('SELECT bool_and(%s = margin_score(m, x)) AS same_bits FROM typed_model, typed x', margin_sql(m, alias => 'x'))) AS in_sql FROM typed_model;
-- Lambda 0: no element is a reference; what goes together is left out.
SELECT array_agg(name ORDER BY feature) AS names FROM margin_weights((SELECT train_margin(score, p, '{"exclude": ["id", "liked", "score"], "lambda": 0, "loss": "squared"}') FROM posts p));
SET client_min_messages = notice;
SELECT array_agg(name ORDER BY feature) AS names
  FROM margin_weights((SELECT train_margin(score, p, '{"exclude": ["id", "score"], "lambda": 0, "loss": "squared", "collinear": "drop"}')
    FROM (SELECT id, CASE WHEN 'sql' = ANY (tags) THEN tags || 'db'::text ELSE tags END AS tags, score FROM posts) p));
SET client_min_messages = warning;
-- Bounds by name, a start by name, cross-validation, paths, bins beside.
SELECT bool_and(weight >= 0) AS bounded, count(*) FROM margin_weights((SELECT train_margin(liked, p, '{"exclude": ["id", "liked", "score"], "lambda": 0.01, "bounds": {"tags": [0, null]}}') FROM posts p)) WHERE name LIKE 'tags: %';
SELECT round(weight::numeric, 6) AS fixed FROM margin_weights((SELECT train_margin(liked, p, '{"exclude": ["id", "liked", "score"], "lambda": 0.01, "bounds": {"tags: sql": [0.25, 0.25]}}') FROM posts p)) WHERE name = 'tags: sql';
SET client_min_messages = notice;
SELECT (train_margin(liked, p, margin_options(exclude => '{id, liked, score}', lambda => 1e-2, loss => 'logistic', initial => (SELECT sets FROM models)))).status
  FROM (SELECT id, age, CASE WHEN id % 13 = 0 THEN array_append(array_remove(tags, ''), 'new') ELSE array_remove(tags, '') END AS tags, liked, score FROM posts) p;
SET client_min_messages = warning;
SELECT count(*) AS bins FROM margin_weights((SELECT train_margin(liked, p, '{"exclude": ["id", "liked", "score"], "lambda": 0.01, "loss": "logistic", "bins": 4}') FROM posts p)) WHERE name LIKE 'tags: %';
SELECT jsonb_typeof((margin_cross_validate(liked, p, '{"exclude": ["id", "liked", "score"], "lambdas": [0.1, 0.01], "loss": "logistic"}')).options -> 'lambda') AS validated FROM posts p;
-- Profiles: counts of elements.
SELECT name, type, count, nulls, distinct_values, top_values, top_counts FROM margin_profile_columns((SELECT margin_sum(margin_profile(g)) FROM gaps g)) WHERE name = 'tags';
SELECT margin_sum(margin_profile(p))::text = (SELECT margin_sum(s)::text FROM (SELECT margin_sum(margin_profile(p)) AS s FROM posts p GROUP BY id % 3) x) AS merged FROM posts p;
SELECT s::text::margin_profile::text = s::text AS read_back FROM (SELECT margin_sum(margin_profile(p)) AS s FROM posts p) x;
SELECT name, round(psi::numeric, 2) AS psi, round(unseen::numeric, 2) AS unseen FROM margin_drift((SELECT margin_sum(margin_profile(p)) FROM posts p WHERE id < 20), (SELECT margin_sum(margin_profile(p)) FROM posts p WHERE id >= 20)) WHERE name = 'tags';
SELECT margin_encoder(margin_sum(margin_profile(p)), margin_options(exclude => '{id, score}'), label => 'liked') #- '{columns,0}' = (sets).encoder #- '{columns,0}' AS that_of_the_rows FROM models, posts p GROUP BY sets;
SELECT margin_encoder(margin_sum(margin_profile(g)), margin_options(exclude => '{id}'), label => 'liked') = (as_trained).encoder AS that_of_the_rows FROM gap_models, gaps g GROUP BY as_trained;
SELECT margin_encoder(margin_sum(margin_profile(p)), margin_options(exclude => '{id, score, liked}', max_categories => 3)) FROM posts p;
-- By scans.
SELECT (m).encoder #- '{columns,0}' = (sets).encoder #- '{columns,0}' AS encoder, abs((m).primal - (sets).primal) < 1e-4 AS optimum
  FROM models, train_margin_from('SELECT liked AS label, p AS features FROM posts p', margin_options(exclude => '{id, liked, score}', lambda => 1e-2, loss => 'logistic', tolerance => 1e-6)) AS m;
-- Large and strange ones.
SELECT array_length((train_margin(id % 2, t, margin_options(exclude => '{id}', lambda => 0.1))).weights, 1) AS features
  FROM (SELECT i AS id, array_append(array_fill(('e' || i % 3)::text, ARRAY[100000]), repeat(chr(97 + i % 2), 1000000)) AS tags FROM generate_series(1, 4) i) t;
SELECT margin_profile(t) IS NOT NULL AS profiled FROM (SELECT array_append(array_fill('e'::text, ARRAY[100000]), repeat('ü', 500000)) AS tags) t;
SELECT train_margin(id % 2, t, margin_options(exclude => '{id}')) FROM (SELECT i AS id, ARRAY(SELECT 'x' || k FROM generate_series(1, 100000) k) AS tags FROM generate_series(1, 4) i) t;
SET client_min_messages = error; -- it is no better than a constant
SELECT array_length((train_margin(id % 2, t, margin_options(exclude => '{id}', lambda => 0.1))).weights, 1) AS of_empty_sets FROM (SELECT i AS id, i % 5 AS age, '{}'::text[] AS tags FROM generate_series(1, 40) i) t;

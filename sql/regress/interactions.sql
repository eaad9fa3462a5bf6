-- Additive models with pairs of columns: one weight for each cell of coarser levels of both.
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || SQLERRM || CASE WHEN hint <> '' THEN E'\n  HINT: ' || hint ELSE '' END;
END $$;
-- Age counts the other way round for those who smoke; weight and region do not act together with anything.
CREATE TABLE patients AS SELECT id, 20 + (id * 37) % 61 AS age, CASE WHEN id % 11 > 0 THEN round((50 + 30 * sin(id * 1.7))::numeric, 1)::float8 END AS weight,
    (ARRAY['north', 'east', 'south', 'west'])[1 + id % 4] AS region, id * 7 % 5 = 0 AS smoker,
    (20 + (id * 37) % 61 > 45) = (id * 7 % 5 = 0) AND cos(id * 7.9) < 0.9 AS ill,
    CASE WHEN (20 + (id * 37) % 61 > 45) = (id * 7 % 5 = 0) THEN 5.0 ELSE 0 END + cos(id * 7.9) AS days, 1 + id % 3 AS visits FROM generate_series(1, 1500) AS id;
CREATE TABLE pairs (name text PRIMARY KEY, m margin_model);
CREATE FUNCTION pg_temp.given(more jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql AS
  $$SELECT '{"lambda": 1e-3, "loss": "logistic", "exclude": ["id", "ill", "days", "visits"], "bins": 16, "tolerance": 1e-9}'::jsonb || more$$;
INSERT INTO pairs SELECT 'none', train_margin(ill, p, pg_temp.given('{}') ORDER BY id) FROM patients AS p;
INSERT INTO pairs SELECT 'named', train_margin(ill, p, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id,ill,days,visits}', bins => 16, tolerance => 1e-9,
  interactions => '{smoker*age, weight*region}') ORDER BY id) FROM patients AS p;
INSERT INTO pairs SELECT 'one', train_margin(ill, p, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id,ill,days,visits}', bins => 16, interactions => 1) ORDER BY id) FROM patients AS p;
INSERT INTO pairs SELECT 'auto', train_margin(ill, p, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id,ill,days,visits}', bins => 16, interactions => 'auto') ORDER BY id) FROM patients AS p;
INSERT INTO pairs SELECT 'days', train_margin(days, p, visits, pg_temp.given('{"loss": "squared", "interactions": ["age*smoker"], "intercept": "free"}') ORDER BY id) FROM patients AS p;
INSERT INTO pairs SELECT 'lines', train_margin(ill, p, pg_temp.given('{"interactions": "age*smoker", "bins": null}') ORDER BY id) FROM patients AS p;
INSERT INTO pairs SELECT 'regions', train_margin(region, p, pg_temp.given('{"interactions": "age*smoker", "exclude": ["id", "region"], "tolerance": 1e-4}') ORDER BY id) FROM patients AS p;
-- What no sum of functions of one column says is seen; the model names its pairs.
SELECT name, (m).status, round((margin_evaluate(m, ill, p)).auc::numeric, 2) AS auc FROM pairs, patients AS p WHERE name NOT IN ('days', 'regions') GROUP BY name, m ORDER BY name;
SELECT name, array_agg(term ORDER BY term) AS terms FROM (SELECT DISTINCT name, term FROM pairs, margin_shape(m) WHERE term LIKE '%*%') AS t GROUP BY name ORDER BY name;
SELECT round((margin_evaluate(m, days, p, visits)).r2::numeric, 2) AS r2 FROM pairs, patients AS p WHERE name = 'days' GROUP BY m;
SELECT margin_summary(m) ~ 'features: +[0-9]+ of 4 columns and 2 pairs' AS counted, margin_summary(m) ~ 'columns: +age\*smoker 0\.[0-9]+ \(34 cells\), ' AS columns FROM pairs WHERE name = 'named';

-- Cells: whole, centred, with the levels of both columns; what a row's explanation says.
SELECT term, count(*) AS cells, abs(sum(contribution * share)) < 1e-12 AS centred, abs(sum(share) - 1) < 1e-12 AS whole, count(*) FILTER (WHERE level = 'NULL' OR with_level = 'NULL') AS missing
  FROM pairs, margin_shape(m) WHERE name = 'named' AND term LIKE '%*%' GROUP BY term ORDER BY term;
SELECT DISTINCT level, with_level, with_above IS NULL AND with_upto IS NULL AS no_number FROM pairs, margin_shape(m, 'weight*region') WHERE name = 'named' AND with_level = 'NULL' ORDER BY level;
SELECT count(*) AS rows, max(abs(s.contribution - e.contribution)) < 1e-12 AS same FROM pairs, patients AS p, margin_explain(m, p) AS e, margin_shape(m, 'age*smoker') AS s
  WHERE name = 'named' AND e.feature = 'age*smoker' AND (s.above IS NULL OR age > s.above) AND (s.upto IS NULL OR age <= s.upto) AND s.with_level = smoker::text;
SELECT max(abs(score - added)) < 1e-9 AS adds_up FROM (SELECT margin_score(m, p) AS score, (SELECT sum(contribution) FROM margin_explain(m, p)) AS added FROM pairs, patients AS p WHERE name = 'named') AS q;
SELECT bool_and(value ~ '^[0-9.]+ < age <= [0-9.]+ and smoker=(true|false)$' OR value ~ '^age (<=|>) [0-9.]+ and smoker=(true|false)$') AS told
  FROM pairs, patients AS p, margin_reasons(m, p, 1) WHERE name = 'named' AND "column" = 'age*smoker';
SELECT abs(sum(share) - 1) < 1e-12 AS whole, (array_agg("column" ORDER BY norm DESC))[1] AS first FROM pairs, margin_importance(m) WHERE name = 'named';
SELECT term, xml_is_well_formed_document(picture) AS svg, picture LIKE '%<title>What ' || term || ' adds to the score</title>%' AS titled
  FROM pairs, unnest('{age*smoker,region*weight}'::text[]) AS term, margin_plot(m, term) AS picture WHERE name = 'named';

-- The same problem as arrays of 0 and 1, trained by itself: its interval meets the other.
CREATE TABLE cuts AS SELECT term, array_agg(above ORDER BY above) FILTER (WHERE above IS NOT NULL) AS t FROM pairs, margin_shape(m) WHERE name = 'named' AND term IN ('age', 'weight') GROUP BY term;
CREATE TABLE cells AS SELECT term, row_number() OVER (PARTITION BY term) AS number, level, above, upto, with_level, with_above, with_upto FROM pairs, margin_shape(m) WHERE name = 'named' AND term LIKE '%*%';
CREATE FUNCTION pg_temp.above(v float8, name text) RETURNS float8[] STABLE LANGUAGE sql AS 'SELECT array_agg((v > x)::int ORDER BY x) FROM cuts, unnest(t) AS x WHERE term = name';
CREATE TABLE expanded AS SELECT id, ill, pg_temp.above(age, 'age') || ARRAY[(region = 'east')::int, (region = 'north')::int, (region = 'south')::int, (region = 'west')::int, smoker::int]::float8[]
    || pg_temp.above(coalesce(weight, (SELECT avg(weight) FROM patients)), 'weight') || (weight IS NULL)::int::float8
    || (SELECT array_agg(((above IS NULL OR age > above) AND (upto IS NULL OR age <= upto) AND with_level = smoker::text)::int ORDER BY number) FROM cells WHERE term = 'age*smoker')::float8[]
    || (SELECT array_agg((level = region AND (with_level IS NOT NULL) = (weight IS NULL) AND coalesce(weight > with_above, true) AND coalesce(weight <= with_upto, true))::int ORDER BY number) FROM cells WHERE term = 'region*weight')::float8[] AS x FROM patients;
SELECT abs((b.m).primal - (a.m).primal) < 1e-9 AS objective, (b.m).dual <= (a.m).primal AND (a.m).dual <= (b.m).primal AS meet, (a.m).dimensions = (b.m).dimensions AS features
  FROM pairs AS b, (SELECT train_margin(ill, x, margin_options(lambda => 1e-3, loss => 'logistic', tolerance => 1e-9) ORDER BY id) AS m FROM expanded) AS a WHERE b.name = 'named';

-- Its products.
SELECT abs((margin_verify(m, ill, p)).primal - (m).primal) < 1e-12 AS verified, (margin_audit(m, ill, p)).dual <= (m).primal AS audited FROM pairs, patients AS p WHERE name = 'named' GROUP BY m;
SELECT lower <= (n).primal AND (n).dual <= upper AND upper - lower < 1 AS gap_at FROM pairs, margin_gap_at(m, 2e-3),
  (SELECT train_margin(ill, p, pg_temp.given('{"interactions": ["age*smoker", "region*weight"], "lambda": 2e-3}') ORDER BY id) AS n FROM patients AS p) AS q WHERE name = 'named';
SELECT (margin_leave_one_out(m, ill, p)).rows FROM pairs, patients AS p WHERE name = 'named' GROUP BY m;
SELECT (margin_update(m, ill, p, false)).rows FROM pairs, (SELECT * FROM patients ORDER BY id LIMIT 10) AS p WHERE name = 'named' GROUP BY m;
SELECT name, bool_and(margin_score(m, p) = margin_score(margin_from_json(margin_to_json(m)), p)) AS by_json, bool_and(margin_score(m, p) = margin_score(m, to_jsonb(p))) AS of_jsonb
  FROM pairs, patients AS p WHERE name IN ('named', 'days', 'auto') GROUP BY name ORDER BY name;
SELECT abs(((SELECT train_margin_from('SELECT ill, p FROM patients AS p', pg_temp.given('{"interactions": ["age*smoker", "region*weight"], "tolerance": 1e-6}')))).primal - (m).primal) < 1e-5 AS by_scans FROM pairs WHERE name = 'named';
SELECT (c).best_mean > 0.9 AS chosen, (c).options->'interactions' AS named FROM (SELECT margin_cross_validate(ill, p, pg_temp.given('{"interactions": "auto", "metric": "auc", "lambda": null, "lambdas": [0.01, 0.001], "tolerance": 1e-3}') ORDER BY id) AS c FROM patients AS p) AS q;
SELECT array_agg(DISTINCT ((m).encoder->'pairs'->0->'sides'->0->>'column') || '*' || ((m).encoder->'pairs'->0->'sides'->1->>'column')) AS pair, count(*) AS models
  FROM (SELECT unnest(margin_path(ill, p, pg_temp.given('{"interactions": 1, "lambda": null, "lambdas": [0.01, 0.001], "tolerance": 1e-3}') ORDER BY id)) AS m FROM patients AS p) AS q;
-- As a SQL expression, NULLs and all cells included.
CREATE FUNCTION pg_temp.same_bits(model margin_model) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE same boolean;
BEGIN
  EXECUTE format('SELECT bool_and(margin_score($1, p) = %s) FROM patients AS p', margin_sql(model, alias => 'p')) INTO same USING model;
  RETURN same;
END $$;
SELECT name, pg_temp.same_bits(m) FROM pairs WHERE name <> 'regions' ORDER BY name;
-- A start by name: the cells that are the same keep their weights.
SELECT ((SELECT train_margin(ill, p, pg_temp.given('{}') || '{"interactions": ["age*smoker", "region*weight"]}' || margin_options(initial => m) ORDER BY id) FROM patients AS p)).iterations < (m).iterations AS fewer FROM pairs WHERE name = 'named';
-- A pair has a penalty of its own: so large a factor leaves nothing of it.
SELECT max(abs(contribution)) < 1e-6 AS gone FROM (SELECT train_margin(ill, p, pg_temp.given('{"interactions": "age*smoker", "l1_ratio": 0.5, "tolerance": 1e-6, "penalty_factor": {"smoker*age": 1e9}}') ORDER BY id) AS m FROM patients AS p) AS q, margin_shape(m, 'age*smoker');

-- Refusals.
CREATE FUNCTION pg_temp.refused(more text) RETURNS text LANGUAGE sql AS
  $$SELECT pg_temp.error_of(format('SELECT train_margin(ill, p, pg_temp.given(%L)) FROM patients AS p', more))$$;
SELECT pg_temp.refused('{"interactions": "age"}');
SELECT pg_temp.refused('{"interactions": ["age*smokr"]}');
SELECT pg_temp.refused('{"interactions": ["age*age"]}');
SELECT pg_temp.refused('{"interactions": ["age*id"]}');
SELECT pg_temp.refused('{"interactions": 0}');
SELECT pg_temp.refused('{"interactions": []}');
SELECT pg_temp.refused('{"interactions": [1]}');
SELECT pg_temp.refused('{"interactions": 3, "lambda": null, "loss": null, "tolerance": null}');
SELECT pg_temp.error_of($$SELECT train_margin(ill, x, '{"interactions": ["a*b"], "lambda": 1}') FROM expanded$$);
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT ill, p FROM patients AS p', pg_temp.given('{"interactions": 5}'))$$);
SELECT margin_scan_query('SELECT ill, p FROM patients AS p', '{"interactions": ["age*smoker"], "lambda": 1}') ~ '_margin_encoder' AS gathered;
SELECT pg_temp.error_of($$SELECT margin_encoder(margin_sum(margin_profile(p)), '{"interactions": ["age*smoker"]}', 'ill') FROM patients AS p$$);
SELECT pg_temp.error_of($$SELECT margin_pmml(m) FROM pairs WHERE name = 'named'$$);
SELECT pg_temp.error_of($$SELECT margin_plot(m, 'age*region') FROM pairs WHERE name = 'named'$$);
SELECT pg_temp.error_of($$SELECT margin_options(interactions => '{age*smoker')$$);
SELECT margin_options(interactions => '{age*smoker, "plan a*b"}'), margin_options(interactions => 10), margin_options(interactions => ARRAY['a*b']);
-- Bounds of the cells of a pair; a pair neither rises nor falls.
SELECT count(*) > 20 AS cells, bool_and(r.value BETWEEN 0 AND 0.5) AS inside, bool_or(r.active AND r.price < 0) AS some_cost
  FROM (SELECT train_margin(ill, p, pg_temp.given('{"interactions": ["age*smoker"], "bounds": {"smoker*age": [0, 0.5]}}') ORDER BY id) AS m FROM patients AS p) AS t, margin_rules(m) AS r;
SELECT pg_temp.refused('{"interactions": ["age*smoker"], "monotone": {"age*smoker": 1}}');
SELECT pg_temp.refused('{"bounds": {"age": 0}}');
DROP TABLE patients, pairs, cuts, cells, expanded;

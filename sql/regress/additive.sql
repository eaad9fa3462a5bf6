-- Additive models: numbers cut into bins.
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || SQLERRM || CASE WHEN hint <> '' THEN E'\n  HINT: ' || hint ELSE '' END;
END $$;
CREATE TABLE patients AS SELECT id, 20 + (id * 37) % 61 AS age, CASE WHEN id % 11 > 0 THEN round((50 + 30 * sin(id * 1.7))::numeric, 1)::float8 END AS weight,
    (ARRAY['north', 'east', 'south'])[1 + id % 3] AS region, id % 5 = 0 AS smoker, date '2024-01-01' + (id * 13) % 500 AS seen,
    abs(20 + (id * 37) % 61 - 45) + 10 * sin(id * 1.7) + CASE WHEN id % 5 = 0 THEN 6 ELSE 0 END + 4 * cos(id * 7.9) > 18 AS ill,
    abs(20 + (id * 37) % 61 - 45) / 5.0 + cos(id * 7.9) AS days FROM generate_series(1, 1200) AS id;
CREATE TABLE additive (name text PRIMARY KEY, m margin_model);
INSERT INTO additive SELECT 'linear', train_margin(ill, p, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id,ill,days}') ORDER BY id) FROM patients AS p;
INSERT INTO additive SELECT 'bins', train_margin(ill, p, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id,ill,days}', bins => 16, tolerance => 1e-9) ORDER BY id) FROM patients AS p;
INSERT INTO additive SELECT 'days', train_margin(days, p, margin_options(lambda => 1e-3, loss => 'squared', exclude => '{id,ill,days}', bins => 16, intercept => 'free'::text) ORDER BY id) FROM patients AS p;
-- What is not linear is seen.
SELECT name, (m).status, (m).dimensions, round((margin_evaluate(m, ill, p)).auc::numeric, 2) AS auc FROM additive, patients AS p WHERE name <> 'days' GROUP BY name, m ORDER BY name;
SELECT round((margin_evaluate(m, days, p)).r2::numeric, 2) AS r2 FROM additive, patients AS p WHERE name = 'days' GROUP BY m;

-- The shape: pieces that touch, hold rows, and add up to 0; and what a row's explanation says.
SELECT term, count(*) AS pieces, count(*) FILTER (WHERE level = 'NULL') AS missing, abs(sum(contribution * share)) < 1e-12 AS centred, abs(sum(share) - 1) < 1e-12 AS whole
  FROM additive, margin_shape(m) WHERE name = 'bins' GROUP BY term ORDER BY term;
SELECT bool_and(above IS NOT DISTINCT FROM before) AS touch, min(share) >= 20 / 1200.0 AS full
  FROM (SELECT above, share, lag(upto) OVER (ORDER BY above NULLS FIRST) AS before FROM additive, margin_shape(m, 'age') WHERE name = 'bins') AS s;
SELECT max(abs(s.contribution - e.contribution)) < 1e-12 AS same FROM additive, patients AS p, margin_explain(m, p) AS e, margin_shape(m, 'age') AS s
  WHERE name = 'bins' AND e.feature = 'age' AND (s.above IS NULL OR age > s.above) AND (s.upto IS NULL OR age <= s.upto);
SELECT level, slope IS NULL AS cut, contribution > 0 AS more FROM additive, margin_shape(m, 'smoker') WHERE name = 'bins';
SELECT term, slope IS NOT NULL AS line FROM additive, margin_shape(m, 'age') WHERE name = 'linear';
SELECT s.term, s.slope IS NOT NULL AS line FROM additive, margin_shape(m) AS s WHERE name = 'linear' AND s.level IS NULL ORDER BY s.term;
SELECT count(*) FROM margin_shape(NULL);
-- What the certificate of a training that stopped early proves of each piece: the optimum is there, which is as good as known by another.
SELECT bool_and(s.lower <= t.contribution AND t.contribution <= s.upper) AS held, bool_and(s.lower < s.upper) AS wide, max(t.upper - t.lower) < 0.01 AS narrow
  FROM (SELECT train_margin(ill, p, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id,ill,days,seen}', bins => 16, interactions => '{age*smoker}', solver => 'sdca', tolerance => 0.03, seed => 1) ORDER BY id) AS early,
      train_margin(ill, p, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id,ill,days,seen}', bins => 16, interactions => '{age*smoker}', tolerance => 1e-9) ORDER BY id) AS late FROM patients AS p) AS fits,
    margin_shape(early) AS s JOIN margin_shape(late) AS t ON (s.term, s.level, s.above, s.with_level) IS NOT DISTINCT FROM (t.term, t.level, t.above, t.with_level);
SELECT name, count(lower) = count(*) AS all, count(*) FILTER (WHERE slope IS NOT NULL AND upper - lower < 1 AND slope BETWEEN lower AND upper) AS slopes FROM additive, margin_shape(m) GROUP BY name ORDER BY name;
SELECT count(lower) AS proven FROM (SELECT train_margin(ill, p, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id,ill,days}', bins => 16, l1_ratio => 1)) AS m FROM patients AS p) AS lasso, margin_shape(m);
SELECT margin_summary(m) ~ 'columns: +age 0\.[0-9]+ \(16 bins\), .*weight 0\.[0-9]+ \(16 bins\), ' AS columns FROM additive WHERE name = 'bins';
SELECT abs(sum(share) - 1) < 1e-12 AS whole FROM additive, margin_importance(m) WHERE name = 'bins';

SELECT name, term, xml_is_well_formed_document(picture) AS svg, picture LIKE '%<title>What ' || term || ' adds to the score</title>%' AS titled, picture LIKE '%share of the rows%' AS rows
  FROM additive, unnest('{age,seen,region,smoker}'::text[]) AS term, margin_plot(m, term) AS picture ORDER BY name, term;
SELECT name, picture LIKE '%The band around a curve%' AS told, picture LIKE '%fill-opacity="0.15"%' AS band FROM additive, margin_plot(m, 'age') AS picture ORDER BY name;
-- A bar for each category, the one that adds most at the top; names are cut between characters.
SELECT (regexp_match(picture, 'text-anchor="end">([^<]*)</text>\n<text x="14"'))[1] = (SELECT level FROM margin_shape(m, 'region') ORDER BY contribution DESC LIMIT 1) AS highest, margin_plot(NULL, 'age') IS NULL AS null_in
  FROM additive, margin_plot(m, 'region') AS picture WHERE name = 'bins';
SELECT picture LIKE '%>äöüäöüäöü..</text>%' AS clipped, picture LIKE '%>日本語日本語日本語日本</text>%' AS whole, xml_is_well_formed_document(picture) AS svg
  FROM margin_plot((SELECT train_margin(y, r, margin_options(loss => 'logistic', lambda => 0.1)) FROM (VALUES (0, 'äöüäöüäöüäöüäöü'), (1, '日本語日本語日本語日本'), (1, 'b'), (0, 'b')) AS v (y, name), LATERAL (SELECT name) AS r), 'name') AS picture;
SELECT pg_temp.error_of($$SELECT margin_plot((SELECT train_margin(y, r, margin_options(lambda => 0.1)) FROM (VALUES (0, ARRAY[1, 2]), (1, ARRAY[3, 4])) AS v (y, a), LATERAL (SELECT a) AS r), 'a')$$);

-- The same problem as arrays of 0 and 1, trained by itself: its interval meets the other.
CREATE TABLE cuts AS SELECT term, array_agg(above ORDER BY above) FILTER (WHERE above IS NOT NULL) AS t FROM additive, margin_shape(m) WHERE name = 'bins' AND term IN ('age', 'weight', 'seen') GROUP BY term;
CREATE FUNCTION pg_temp.above(v float8, name text) RETURNS float8[] STABLE LANGUAGE sql AS 'SELECT array_agg((v > x)::int ORDER BY x) FROM cuts, unnest(t) AS x WHERE term = name';
CREATE TABLE expanded AS SELECT id, ill, pg_temp.above(age, 'age') || pg_temp.above(coalesce(weight, (SELECT avg(weight) FROM patients)), 'weight') || (weight IS NULL)::int::float8
    || pg_temp.above(seen - date '1970-01-01', 'seen') || ARRAY[(region = 'north')::int, (region = 'east')::int, (region = 'south')::int, smoker::int]::float8[] AS x FROM patients;
SELECT abs((b.m).primal - (a.m).primal) < 1e-9 AS objective, (b.m).dual <= (a.m).primal AND (a.m).dual <= (b.m).primal AS meet
  FROM additive AS b, (SELECT train_margin(ill, x, margin_options(lambda => 1e-3, loss => 'logistic', tolerance => 1e-9) ORDER BY id) AS m FROM expanded) AS a WHERE b.name = 'bins';

-- Its products.
SELECT abs((margin_verify(m, ill, p)).primal - (m).primal) < 1e-12 AS verified, (margin_audit(m, ill, p)).dual <= (m).primal AS audited FROM additive, patients AS p WHERE name = 'bins' GROUP BY m;
SELECT lower <= upper AS gap_at FROM additive, margin_gap_at(m, 2e-3) WHERE name = 'bins';
SELECT (margin_leave_one_out(m, ill, p)).rows FROM additive, patients AS p WHERE name = 'bins' GROUP BY m;
SELECT (margin_update(m, ill, p, false)).rows FROM additive, (SELECT * FROM patients ORDER BY id LIMIT 10) AS p WHERE name = 'bins' GROUP BY m;
SELECT bool_and(margin_score(m, p) = margin_score(margin_from_json(margin_to_json(m)), p)) AS by_json, bool_and(margin_score(m, p) = margin_score(m, to_jsonb(p))) AS of_jsonb FROM additive, patients AS p WHERE name = 'bins';
SELECT abs(((SELECT train_margin_from('SELECT ill, p FROM patients AS p', margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id,ill,days}', bins => 16)))).primal - (m).primal) < 1e-5 AS by_scans FROM additive WHERE name = 'bins';
SELECT (margin_cross_validate(ill, p, '{"bins": 16, "loss": "logistic", "exclude": ["id", "ill", "days"], "metric": "auc"}' ORDER BY id)).best_mean > 0.9 AS chosen FROM patients AS p;
-- A category called NULL has a bar of its own beside that of NULL, above and below.
SELECT (SELECT count(*) FROM regexp_matches(picture, 'text-anchor="end">NULL</text>', 'g')) AS bars FROM margin_plot((SELECT train_margin(y, r, margin_options(loss => 'logistic', lambda => 0.1)) FROM (VALUES (0, 'NULL'), (1, NULL), (1, 'b'), (0, 'b')) AS v (y, name), LATERAL (SELECT name) AS r), 'name') AS picture;
-- Folds and paths of rows as codes (Newton's histograms), and of rows one by one (sdca).
SELECT loss, encoder, interactions, forward, (SELECT max(abs(a - b)) < 1e-5 FROM unnest((codes).means, (rows).means) AS u (a, b)) AS same_means, (SELECT count(*) = 1200 AND coalesce(max(abs(a - b)), 0) < 1e-4 FROM unnest((codes).predictions, (rows).predictions) AS u (a, b)) AS same_predictions
  FROM (SELECT loss, encoder, interactions, forward, margin_cross_validate(ill, p, o ORDER BY id) AS codes, margin_cross_validate(ill, p, o || '{"solver": "sdca"}' ORDER BY id) AS rows
          FROM unnest('{logistic,squared_hinge}'::text[]) AS loss, unnest('{fold,all}'::text[]) AS encoder, unnest(ARRAY[NULL, '["age*weight"]']::jsonb[]) AS interactions, (VALUES (false), (true)) AS v (forward),
            LATERAL jsonb_build_object('bins', 16, 'loss', loss, 'encoder', encoder, 'exclude', '["id", "ill", "days"]'::jsonb, 'interactions', interactions, 'split', CASE WHEN forward THEN 'forward' ELSE 'folds' END, 'folds', 3, 'lambdas', '[0.1, 0.01]'::jsonb, 'tolerance', 1e-9, 'predictions', true, 'metric', CASE loss WHEN 'logistic' THEN 'log_loss' ELSE 'auc' END) AS o, patients AS p
         WHERE NOT forward OR (loss = 'logistic' AND encoder = 'fold') GROUP BY loss, encoder, interactions, forward) AS q ORDER BY 1, 2, 3, 4;
SELECT count(*) AS lambdas, max(abs(codes[k].primal - rows[k].primal)) < 1e-8 AS same FROM (SELECT margin_path(days, p, o ORDER BY id) AS codes, margin_path(days, p, o || '{"solver": "sdca"}' ORDER BY id) AS rows
  FROM patients AS p, LATERAL (SELECT '{"bins": 16, "loss": "squared", "exclude": ["id", "ill", "days"], "lambdas": [1, 0.1, 0.01], "tolerance": 1e-9}'::jsonb AS o) AS l) AS q, generate_series(1, 3) AS k;
-- As a SQL expression, NULLs and all bins included.
CREATE FUNCTION pg_temp.same_bits(model margin_model) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE same boolean;
BEGIN
  EXECUTE format('SELECT bool_and(margin_score($1, p) = %s) FROM patients AS p', margin_sql(model, alias => 'p')) INTO same USING model;
  RETURN same;
END $$;
SELECT name, pg_temp.same_bits(m) FROM additive ORDER BY name;
-- A start by name: the thresholds that are the same keep their weights.
SELECT ((SELECT train_margin(ill, p, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id,ill,days}', bins => 16, initial => m) ORDER BY id) FROM patients AS p)).iterations < (m).iterations AS fewer FROM additive WHERE name = 'bins';
-- Few rows of a column of one number are not cut; NULL at prediction where the training had none is refused as ever.
SELECT count(*) AS pieces FROM (SELECT train_margin(ill, p, margin_options(lambda => 1e-3, bins => 8, exclude => '{ill}')) AS m FROM (SELECT ill, 7 AS seven, age FROM patients ORDER BY id LIMIT 30) AS p) AS q, margin_shape(m);
SELECT pg_temp.error_of($$SELECT margin_score(m, p) FROM additive, (SELECT NULL::int AS age, weight, region, smoker, seen FROM patients LIMIT 1) AS p WHERE name = 'bins'$$);
SELECT margin_options(bins => true), margin_options(bins => 'false'), margin_options(bins => NULL::boolean), margin_options(bins => 16);
-- Bins of single columns.
SELECT o, term, count(above) AS thresholds FROM (SELECT o, train_margin(ill, p, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id,ill,days}') || o) AS m
    FROM patients AS p, unnest(ARRAY[margin_options(bins => '{"age": 4, "seen": false, "*": 8}'), margin_options(bins => '{"age": 4}'::jsonb)]) AS o GROUP BY o) AS t, margin_shape(m) GROUP BY o, term ORDER BY o, term;
SELECT abs(((SELECT train_margin_from('SELECT ill, p FROM patients AS p', o))).primal - (SELECT train_margin(ill, p, o) FROM patients AS p).primal) < 1e-5 AS by_scans
  FROM margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id,ill,days}', bins => '{"age": 8, "weight": 32}') AS o;
SELECT (margin_cross_validate(ill, p, '{"bins": {"age": 8, "*": 16}, "interactions": 1, "loss": "logistic", "exclude": ["id", "ill", "days"], "metric": "auc"}' ORDER BY id)).best_mean > 0.9 AS chosen FROM patients AS p;
SELECT pg_temp.error_of($$SELECT train_margin(ill, p, margin_options(lambda => 1, exclude => '{id,ill,days}', bins => '{"agee": 8}')) FROM patients AS p$$);
SELECT pg_temp.error_of($$SELECT train_margin(ill, p, margin_options(lambda => 1, exclude => '{id,ill,days}', bins => '{"region": 8}')) FROM patients AS p$$);
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT ill, p FROM patients AS p', margin_options(lambda => 1, exclude => '{id,ill,days}', bins => '{"region": 8}'))$$);
SELECT pg_temp.error_of($$SELECT margin_options(bins => '{"age": 1}')$$);
SELECT pg_temp.error_of($$SELECT margin_options(bins => '{age}')$$);
SELECT pg_temp.error_of($$SELECT margin_options(bins => 1)$$);
SELECT pg_temp.error_of($$SELECT margin_options(bins => 2000)$$);
SELECT pg_temp.error_of($$SELECT train_margin(ill, x, '{"bins": 8, "lambda": 1}') FROM expanded$$);
SELECT pg_temp.error_of($$SELECT margin_shape(m, 'income') FROM additive WHERE name = 'bins'$$);
SELECT pg_temp.error_of($$SELECT margin_shape(train_margin(ill, x, margin_options(lambda => 1))) FROM expanded$$);
SELECT margin_pmml(m) ~ '<DerivedField name="[^"]* .bin." optype="categorical" dataType="string"><Discretize field=' AS bins FROM additive WHERE name = 'bins';
DROP TABLE patients, additive, cuts, expanded;

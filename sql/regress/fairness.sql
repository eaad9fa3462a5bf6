-- The option fairness: constraints that the rows make, by columns that may be no features; kept, verified, priced, made anew.
SET extra_float_digits = 0;
SET client_min_messages = error;
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
  EXECUTE statement; RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || SQLERRM || CASE WHEN hint <> '' THEN ' / ' || hint ELSE '' END;
END $$;
CREATE TABLE borrowers AS
  SELECT i AS id, (ARRAY['f', 'm'])[1 + i % 2] AS sex, (ARRAY['north', 'south', 'east'])[1 + i / 2 % 3] AS region, i % 7 = 0 AS member,
         30 + (i * 37) % 40 AS age, (1000 + 400 * (i % 2) + (i * 7919) % 900)::numeric AS income, sin(i * 12.9898) + (i % 2) * 0.8 + ((i * 37) % 40) / 40.0 > 0.9 AS paid
    FROM generate_series(1, 900) AS i;

-- Sex and region are no features, and predictions do without them.
CREATE TABLE fair AS
  SELECT measure, train_margin(paid, b, margin_options(loss => 'logistic', lambda => 1e-3, tolerance => 1e-8, exclude => '{id, paid, sex, region}',
           fairness => jsonb_build_array(jsonb_build_object('column', 'sex', 'measure', measure, 'bound', 0.1), jsonb_build_object('column', 'region', 'measure', measure, 'bound', 0.05))) ORDER BY id) AS m
    FROM borrowers AS b, unnest('{score_parity, true_positive_parity}'::text[]) AS measure GROUP BY measure;
SELECT measure, (m).status, f ->> 'column' AS by, f ->> 'group' AS "group", f -> 'bound' AS bound, (SELECT count(*) FROM jsonb_object_keys(f -> 'weights')) > 3 AS kept
  FROM fair, jsonb_array_elements((m).options -> 'fairness') AS f ORDER BY 1, 3, 4;
SELECT measure, round(abs(avg(s) FILTER (WHERE sex = 'm') - avg(s) FILTER (WHERE sex = 'f'))::numeric, 9) <= 0.1 AS by_sex,
       greatest(abs(avg(s) FILTER (WHERE region = 'north') - avg(s) FILTER (WHERE region <> 'north')), abs(avg(s) FILTER (WHERE region = 'south') - avg(s) FILTER (WHERE region <> 'south')),
                abs(avg(s) FILTER (WHERE region = 'east') - avg(s) FILTER (WHERE region <> 'east'))) <= 0.05 + 1e-9 AS by_region
  FROM (SELECT measure, b.*, margin_score(m, b) AS s FROM fair, borrowers AS b WHERE measure = 'score_parity' OR paid) AS t GROUP BY measure ORDER BY measure;
SELECT measure, r.name, r.relation, r.bound, r.active, r.price <> 0 AS costs FROM fair, margin_rules(m) AS r WHERE r.name LIKE '%parity%' ORDER BY 1, 2, 3;
SELECT measure, bool_and(weight = 0) AS no_weight FROM fair, margin_weights(m) AS w WHERE w.name ~ 'sex|region' GROUP BY measure ORDER BY measure;
SELECT bool_and(margin_score(m, b) = margin_score(m, c) AND margin_score(m, b) = margin_score(m, to_jsonb(c))) AS without_them
  FROM fair, borrowers AS b, LATERAL (SELECT age, income, member) AS c;
SELECT measure, abs((v).primal - (m).primal) <= 1e-11 * (m).primal AS verified FROM (SELECT measure, m, (SELECT margin_verify(m, paid, b) FROM borrowers AS b) AS v FROM fair) AS t ORDER BY measure;
-- Rows that do not tell the groups prove nothing of them, and other rows have other means.
SELECT measure, (SELECT (margin_verify(m, paid, c)).rows FROM (SELECT paid, age, income, member FROM borrowers) AS c) AS rows, (SELECT (margin_verify(m, paid, c)).primal FROM (SELECT paid, age, income, member FROM borrowers) AS c) IS NULL AS unknown
  FROM fair ORDER BY measure;
SELECT bool_and(margin_from_json(margin_to_json(m)) IS NOT DISTINCT FROM m) AS survives, bool_and(margin_summary(m) ~ 'rules:') AS summed_up FROM fair;
-- What the model keeps trains anew on other rows.
SELECT (n).status, ((n).options #>> '{fairness, 0, weights}') <> ((m).options #>> '{fairness, 0, weights}') AS anew,
       (SELECT round(abs(avg(margin_score(n, b)) FILTER (WHERE sex = 'm') - avg(margin_score(n, b)) FILTER (WHERE sex = 'f'))::numeric, 9) <= 0.1 FROM borrowers AS b WHERE id <= 600) AS holds
  FROM (SELECT m, (SELECT train_margin(paid, b, (m).options ORDER BY id) FROM borrowers AS b WHERE id <= 600) AS n FROM fair WHERE measure = 'score_parity') AS t;

-- Arrays by the number of a feature; standardised; bins; numbers; a path; folds.
SELECT (m).status, abs(avg(margin_score(m, x)) FILTER (WHERE x[1] = 1) - avg(margin_score(m, x)) FILTER (WHERE x[1] = 0)) <= 0.2 + 1e-9 AS holds
  FROM (SELECT train_margin(paid, ARRAY[id % 2, age, income]::float8[], margin_options(loss => 'hinge', lambda => 1e-2, standardize => true, fairness => '{"column": 1, "bound": 0.2}') ORDER BY id) AS m FROM borrowers) AS t,
       LATERAL (SELECT ARRAY[id % 2, age, income]::float8[] AS x FROM borrowers) AS b GROUP BY m;
SELECT (m).status, round((avg(margin_score(m, b)) FILTER (WHERE member) - avg(margin_score(m, b)) FILTER (WHERE NOT member))::numeric, 8) AS apart
  FROM (SELECT train_margin(paid, b, margin_options(loss => 'logistic', lambda => 1e-4, bins => 16, interactions => '{age*income}', exclude => '{id, paid, sex}', fairness => '{"column": "member", "bound": 0}') ORDER BY id) AS m FROM borrowers AS b) AS t, borrowers AS b GROUP BY m;
SELECT (m).status, abs(avg(margin_score(m, b)) FILTER (WHERE sex = 'm') - avg(margin_score(m, b)) FILTER (WHERE sex = 'f')) <= 50 + 1e-6 AS in_units
  FROM (SELECT train_margin(income::float8, b, margin_options(loss => 'squared', lambda => 1e-3, exclude => '{id, income, sex}', fairness => '{"column": "sex", "bound": 50}') ORDER BY id) AS m FROM borrowers AS b) AS t, borrowers AS b GROUP BY m;
SELECT round((p).lambda::numeric, 4) AS lambda, (p).options -> 'fairness' -> 0 ->> 'group' AS "group", (SELECT abs(avg(margin_score(p, b)) FILTER (WHERE sex = 'm') - avg(margin_score(p, b)) FILTER (WHERE sex = 'f')) <= 1e-9 FROM borrowers AS b) AS holds
  FROM (SELECT unnest(margin_path(paid, b, '{"loss": "logistic", "lambdas": [0.1, 0.001], "exclude": ["id", "paid", "sex"], "fairness": {"column": "sex", "bound": 0}}' ORDER BY id)) AS p FROM borrowers AS b) AS t;
SELECT (c).settings -> ((c).best - 1) #>> '{fairness, bound}' AS best, jsonb_array_length((c).settings) AS settings
  FROM (SELECT margin_cross_validate(paid, b, '{"loss": "logistic", "lambdas": [0.001], "metric": "log_loss", "exclude": ["id", "paid"], "grid": {"fairness": [{"column": "sex", "bound": 0}, {"column": "sex", "bound": 0.5}]}}' ORDER BY id) AS c FROM borrowers AS b) AS t;

-- NULL is a group, also where other columns without a value leave a row out: the same rows are trained on and verified.
SELECT (m).rows AS rows, (v).rows AS verified_rows, abs((v).primal - (m).primal) <= 1e-11 * (m).primal AS verified, (SELECT count(*) FROM jsonb_array_elements((m).options -> 'fairness')) AS groups
  FROM (SELECT m, (SELECT margin_verify(m, paid, c) FROM (SELECT paid, nullif(age, 30) AS age, income, nullif(region, 'east') AS region FROM borrowers) AS c) AS v
          FROM (SELECT train_margin(paid, c, margin_options(loss => 'logistic', lambda => 1e-3, tolerance => 1e-8, missing => 'skip', exclude => '{paid, region}', fairness => '{"column": "region", "bound": 0}')) AS m
                  FROM (SELECT paid, nullif(age, 30) AS age, income, nullif(region, 'east') AS region FROM borrowers) AS c) AS t) AS u;
-- What is refused, and why.
SELECT o, pg_temp.error_of(format('SELECT train_margin(paid, b, %L::jsonb || ''{"exclude": ["id", "paid"]}'') FROM borrowers AS b', o)) AS message FROM unnest(ARRAY[
  '{"lambda": 0.1, "fairness": 3}', '{"lambda": 0.1, "fairness": []}', '{"lambda": 0.1, "fairness": {"column": "sex"}}', '{"lambda": 0.1, "fairness": {"bound": 1}}', '{"lambda": 0.1, "fairness": {"column": "sex", "bound": -1}}',
  '{"lambda": 0.1, "fairness": {"column": "sex", "bound": 1, "measure": "luck"}}', '{"lambda": 0.1, "fairness": {"column": "sex", "bound": 1, "groups": 1}}', '{"lambda": 0.1, "fairness": {"column": "gender", "bound": 1}}',
  '{"lambda": 0.1, "fairness": {"column": "sex", "bound": 1, "group": "x"}}', '{"lambda": 0.1, "fairness": {"column": "income", "bound": 1}}', '{"lambda": 0.1, "fairness": [{"column": "sex", "bound": 1}, {"column": "sex", "bound": 2}]}',
  '{"fairness": {"column": "sex", "bound": 1}}', '{"lambda": 0, "loss": "logistic", "fairness": {"column": "sex", "bound": 1}}', '{"lambda": 0.1, "l1_ratio": 0.5, "loss": "logistic", "fairness": {"column": "sex", "bound": 1}}',
  '{"lambda": 0.1, "kernel": "rbf", "fairness": {"column": "sex", "bound": 1}}', '{"lambda": 0.1, "solver": "sdca", "fairness": {"column": "sex", "bound": 1}}']) AS o;
SELECT pg_temp.error_of($$SELECT train_margin(region, b, '{"lambda": 0.1, "exclude": ["id", "region"], "fairness": {"column": "sex", "bound": 1, "measure": "true_positive_parity"}}') FROM borrowers AS b$$);
SELECT pg_temp.error_of($$SELECT train_margin(paid, b, '{"lambda": 0.1, "exclude": ["id", "paid", "sex"], "interactions": ["age*sex"], "bins": 8, "fairness": {"column": "sex", "bound": 1}}') FROM borrowers AS b$$);
-- By scans: a column that is no feature, one that is, numbers of arrays, in one process, and rows that are all in the sample.
CREATE TABLE scanned AS
  SELECT 'by name' AS rows, train_margin_from('SELECT paid, b FROM borrowers AS b', o || '{"sample_rows": 50}') AS s, (SELECT train_margin(paid, b, o ORDER BY id) FROM borrowers AS b) AS m
    FROM margin_options(loss => 'logistic', lambda => 1e-3, tolerance => 1e-8, intercept => 'penalized', exclude => '{id, paid, sex}', bounds => '{"age": [0, null]}',
           fairness => '[{"column": "sex", "bound": 0.1}, {"column": "region", "measure": "true_positive_parity", "bound": 0.05}]') AS o
  UNION ALL
  SELECT 'gathered', train_margin_from('SELECT paid, b FROM borrowers AS b', o || '{"sample_rows": 50}'), (SELECT train_margin(paid, b, o ORDER BY id) FROM borrowers AS b)
    FROM margin_options(loss => 'squared_hinge', lambda => 1e-3, tolerance => 1e-8, intercept => 'penalized', exclude => '{id, paid, sex}', missing => 'skip', fairness => '{"column": "sex", "bound": 0.1}') AS o
  UNION ALL
  SELECT 'arrays', train_margin_from('SELECT paid, ARRAY[id % 2, age, id % 7, income / 1000]::float8[] FROM borrowers', o || '{"sample_rows": 50}'), (SELECT train_margin(paid, ARRAY[id % 2, age, id % 7, income / 1000]::float8[], o ORDER BY id) FROM borrowers)
    FROM margin_options(loss => 'hinge', lambda => 1e-3, tolerance => 1e-7, intercept => 'penalized', fairness => '[{"column": "1", "bound": 0.1}, {"column": "3", "bound": 0.3}]') AS o
  UNION ALL
  SELECT 'in memory', train_margin_from('SELECT paid, b FROM borrowers AS b', o), (SELECT train_margin(paid, b, o ORDER BY id) FROM borrowers AS b)
    FROM margin_options(loss => 'logistic', lambda => 1e-3, tolerance => 1e-8, intercept => 'penalized', exclude => '{id, paid, sex}', fairness => '{"column": "sex", "bound": 0.1}') AS o;
SELECT rows, (s).status, (s).iterations BETWEEN 4 AND 14 AS scans, (s).primal >= (m).dual AND (m).primal >= (s).dual AS same,
       (SELECT bool_and(abs((a.value #>> '{}')::float8 - (b.value #>> '{}')::float8) < 1e-9) FROM jsonb_array_elements((s).options -> 'fairness') WITH ORDINALITY AS f JOIN jsonb_array_elements((m).options -> 'fairness') WITH ORDINALITY AS g USING (ordinality),
          LATERAL jsonb_each(f.value -> 'weights') AS a JOIN LATERAL jsonb_each(g.value -> 'weights') AS b USING (key)) AS made_alike
  FROM scanned ORDER BY rows;
SELECT rows, a.name, a.active = b.active AS active, abs(a.price - b.price) <= 5e-3 * abs(b.price) AS price
  FROM scanned, margin_rules(s) WITH ORDINALITY AS a JOIN LATERAL margin_rules(m) WITH ORDINALITY AS b USING (ordinality) WHERE a.name ~ 'parity' AND b.active ORDER BY rows, ordinality;
SELECT rows, abs((v).primal - (s).primal) <= 1e-9 * (s).primal AS verified FROM (SELECT rows, s, (SELECT margin_verify(s, paid, b) FROM borrowers AS b) AS v FROM scanned WHERE rows <> 'arrays') AS t ORDER BY rows;
SELECT o, pg_temp.error_of(format('SELECT train_margin_from(%L, %L)', 'SELECT paid, b FROM borrowers AS b', o || '{"lambda": 0.1, "sample_rows": 50, "exclude": ["id", "paid"]}')) AS message
  FROM unnest('{"{\"fairness\": {\"column\": \"gender\", \"bound\": 1}}", "{\"fairness\": {\"column\": \"sex\", \"group\": \"x\", \"bound\": 1}}", "{\"fairness\": {\"column\": \"income\", \"bound\": 1}}"}'::jsonb[]) AS o;
SELECT pg_temp.error_of($$SELECT margin_update(m, paid, b, false) FROM fair, borrowers AS b WHERE measure = 'score_parity' GROUP BY m$$);
DROP TABLE borrowers, fair, scanned;

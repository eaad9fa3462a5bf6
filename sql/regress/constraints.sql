-- Constraints on several weights: proven, verified, priced, by name, in the user's units.
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
CREATE TABLE homes AS
  SELECT i, 30 + (i * 37) % 120 AS area, (i * 13) % 40 AS age, (ARRAY['north', 'south', 'east'])[1 + (i * 5) % 3] AS side,
         3 * (30 + (i * 37) % 120) - 2 * ((i * 13) % 40) + 40 * sin(i * 12.9898) + CASE (i * 5) % 3 WHEN 1 THEN 25 ELSE 0 END AS price,
         sin(i * 12.9898) + 0.02 * ((i * 37) % 120 - 60) > 0 AS sold
    FROM generate_series(1, 400) AS i;
CREATE TABLE arrays AS SELECT i, sold, price / 100.0 AS y, ARRAY[(area - 90) / 35.0, age / 12.0 - 1.7, cos(i), sin(3 * i)]::float8[] AS x FROM homes;

-- Every loss: the interval is narrow, the constraints hold, and the same rows prove it again.
CREATE TABLE ruled AS
  SELECT loss, train_margin(sold, x, margin_options(loss => loss, lambda => 0.02, tolerance => 1e-7, dual_weights => true,
           constraints => '[{"weights": {"1": 1, "2": 1}, "max": 0.2, "name": "first two"}, {"weights": {"*": 1}, "equal": 0.1, "name": "all"}, {"weights": {"3": 2, "4": -1}, "min": -0.1, "max": 0.1}]',
           bounds => '{"4": [-0.05, 1]}') ORDER BY i) AS m
    FROM arrays, unnest('{hinge,smoothed_hinge,squared_hinge,logistic}'::text[]) AS loss GROUP BY loss
  UNION ALL
  SELECT loss, train_margin(y, x, margin_options(loss => loss, lambda => 0.02, tolerance => 1e-7, dual_weights => true,
           constraints => '[{"weights": {"1": 1, "2": 1}, "max": 0.2, "name": "first two"}, {"weights": {"*": 1}, "equal": 0.1, "name": "all"}, {"weights": {"3": 2, "4": -1}, "min": -0.1, "max": 0.1}]',
           bounds => '{"4": [-0.05, 1]}') ORDER BY i) AS m
    FROM arrays, unnest('{squared,absolute,huber,quantile,epsilon_insensitive,squared_epsilon_insensitive}'::text[]) AS loss GROUP BY loss;
SELECT loss, (m).status, (m).solver, (m).gap <= 1e-7 * (m).primal AS narrow, (m).weights[1] + (m).weights[2] <= 0.2 + 1e-12 AS first_two,
       abs((SELECT sum(w) FROM unnest((m).weights) AS w) - 0.1) <= 1e-12 AS all_of_them, abs(2 * (m).weights[3] - (m).weights[4]) <= 0.1 + 1e-12 AS third,
       (m).weights[4] >= -0.05 AS bound FROM ruled ORDER BY loss;
SELECT bool_and(abs((v).primal - (m).primal) <= 1e-9 * (m).primal AND abs((v).dual - (m).dual) <= 1e-9 * (m).primal) AS verified
  FROM (SELECT m, CASE WHEN (m).classes IS NULL THEN (SELECT margin_verify(m, y, x ORDER BY i) FROM arrays) ELSE (SELECT margin_verify(m, sold, x ORDER BY i) FROM arrays) END AS v FROM ruled) AS t;
SELECT bool_and(margin_from_json(margin_to_json(m)) IS NOT DISTINCT FROM m) AS survives FROM ruled;
SELECT r.name, round(r.value::numeric, 6) AS value, r.relation, r.bound, r.active, sign(round(r.price::numeric, 9)) AS price FROM ruled, margin_rules(m) AS r WHERE loss = 'logistic';
SELECT (regexp_match(margin_summary(m), 'rules: +([^\n]*)'))[1] = (SELECT count(*) || ' on weights, ' || count(*) FILTER (WHERE active) || ' active' FROM margin_rules(m)) AS told FROM ruled WHERE loss = 'hinge';

-- The price is what the optimum loses per unit of the end.
CREATE FUNCTION pg_temp.optimum(bound float8) RETURNS float8 LANGUAGE sql AS $$
  SELECT (train_margin(sold, x, margin_options(loss => 'logistic', lambda => 0.02, tolerance => 1e-11, constraints => format('{"weights": {"1": 1, "2": 1}, "max": %s}', bound)::jsonb) ORDER BY i)).primal FROM arrays $$;
SELECT r.name, r.active, abs(r.price - (pg_temp.optimum(0.2001) - pg_temp.optimum(0.1999)) / 0.0002) < 1e-4 * abs(r.price) AS as_differences, r.price < -0.01 AS costs
  FROM (SELECT train_margin(sold, x, margin_options(loss => 'logistic', lambda => 0.02, tolerance => 1e-11, constraints => '{"weights": {"1": 1, "2": 1}, "max": 0.2}') ORDER BY i) AS m FROM arrays) AS t, margin_rules(m) AS r;

-- Rows with named columns: per unit of a column, by a column of categories the sum of their weights, by one of them.
CREATE TABLE ruled_homes AS
  SELECT train_margin(price, h, margin_options(loss => 'squared', lambda => 0.001, exclude => '{i,price,sold}', tolerance => 1e-9,
           constraints => '[{"weights": {"area": 1, "age": 1}, "min": 1.5, "name": "an old metre"}, {"weights": {"side": 1}, "equal": 0, "name": "sides"}, {"weights": {"side=north": 1, "side=south": -1}, "equal": 0, "name": "north as south"}]') ORDER BY i) AS m FROM homes AS h;
SELECT r.name, round(r.value::numeric, 6) AS value, r.relation, r.bound, r.active, sign(round(r.price::numeric, 6)) AS price FROM ruled_homes, margin_rules(m) AS r;
SELECT abs((SELECT sum(weight) FILTER (WHERE name IN ('area', 'age')) FROM margin_weights(m)) - 1.5) < 1e-9 AS in_units, abs((SELECT sum(weight) FILTER (WHERE name LIKE 'side%') FROM margin_weights(m))) < 1e-9 AS sides FROM ruled_homes;
SELECT abs((m).primal - (margin_verify(m, price, h ORDER BY i)).primal) <= 1e-12 * (m).primal AS verified FROM ruled_homes, homes AS h GROUP BY m;
SELECT count(*) = 400 AS predicted FROM ruled_homes, homes AS h WHERE margin_score(m, h) IS NOT NULL;
-- The rise of a curve that is cut into bins, over all of them.
SELECT round((max(s.contribution) - min(s.contribution))::numeric, 9) AS rise
  FROM (SELECT train_margin(sold, h, margin_options(loss => 'logistic', lambda => 0.0001, bins => 16, exclude => '{i,price,sold}', monotone => '{"area": 1}', tolerance => 1e-6,
          constraints => '{"weights": {"area": 1}, "max": 0.5}') ORDER BY i) AS m FROM homes AS h) AS t, margin_shape(m, 'area') AS s;
-- Standardised rows, several classes, a path, cross-validation, calibration, a start from another model.
SELECT (m).status, abs((m).weights[1] + 2 * (m).weights[2]) <= 1e-12 AS holds FROM (SELECT train_margin(sold, ARRAY[area, age]::float8[], margin_options(loss => 'logistic', lambda => 0.001, standardize => true, tolerance => 1e-8,
  constraints => '{"weights": {"1": 1, "2": 2}, "equal": 0}') ORDER BY i) AS m FROM homes) AS t;
SELECT r.class, r.name, abs(r.value) < 1e-12 AS holds, r.active FROM (SELECT train_margin(side, ARRAY[area / 50.0, age / 20.0]::float8[], margin_options(lambda => 0.1, constraints => '{"weights": {"*": 1}, "equal": 0, "name": "zero"}', tolerance => 1e-5) ORDER BY i) AS m FROM homes) AS t,
  margin_rules(m) AS r ORDER BY r.class;
SELECT round((p).lambda::numeric, 3) AS lambda, (p).status, abs((SELECT sum(w) FROM unnest((p).weights) AS w)) < 1e-12 AS holds
  FROM (SELECT unnest(margin_path(sold, x, '{"loss": "hinge", "lambdas": [0.1, 0.01, 0.001], "constraints": {"weights": {"*": 1}, "equal": 0}}' ORDER BY i)) AS p FROM arrays) AS t;
SELECT (c).best IS NOT NULL AS chosen FROM (SELECT margin_cross_validate(sold, h, '{"loss": "logistic", "lambdas": [0.1, 0.01], "exclude": ["i", "price", "sold"], "constraints": {"weights": {"side=north": 1, "side=south": -1}, "equal": 0}}' ORDER BY i) AS c FROM homes AS h) AS t;
SELECT (m).calibration IS NOT NULL AS calibrated, abs((SELECT sum(w) FROM unnest((m).weights) AS w)) < 1e-12 AS holds
  FROM (SELECT train_margin(sold, x, margin_options(lambda => 0.1, calibration => 'platt', constraints => '{"weights": {"*": 1}, "equal": 0}') ORDER BY i) AS m FROM arrays) AS t;
SELECT (m).status, (m).weights[1] + (m).weights[2] <= 0.2 + 1e-12 AS holds FROM (SELECT train_margin(sold, x, margin_options(loss => 'logistic', lambda => 0.02, initial => (SELECT train_margin(sold, x, '{"loss": "logistic", "lambda": 0.02}') FROM arrays),
  constraints => '{"weights": {"1": 1, "2": 1}, "max": 0.2}') ORDER BY i) AS m FROM arrays) AS t;
SELECT bool_and(s.lower <= margin_score(m, x) AND margin_score(m, x) <= s.upper) AS inside FROM ruled, arrays, margin_score_interval(m, x) AS s WHERE loss = 'hinge';

-- What is refused, and why.
SELECT pg_temp.error_of(format('SELECT train_margin(sold, x, %L::jsonb) FROM arrays', o)) AS message FROM unnest(ARRAY[
  '{"constraints": {"weights": {"1": 1}, "max": 0}}', '{"lambda": 0.1, "kernel": "rbf", "constraints": {"weights": {"1": 1}, "max": 0}}', '{"lambda": 0, "loss": "logistic", "constraints": {"weights": {"1": 1}, "max": 0}}',
  '{"lambda": 0.1, "loss": "logistic", "multiclass": "joint", "constraints": {"weights": {"1": 1}, "max": 0}}', '{"lambda": 0.1, "loss": "logistic", "l1_ratio": 0.5, "constraints": {"weights": {"1": 1}, "max": 0}}',
  '{"lambda": 0.1, "solver": "sdca", "constraints": {"weights": {"1": 1}, "max": 0}}', '{"lambda": 0.1, "constraints": 3}', '{"lambda": 0.1, "constraints": []}', '{"lambda": 0.1, "constraints": {"weights": {}, "max": 0}}',
  '{"lambda": 0.1, "constraints": {"max": 0}}', '{"lambda": 0.1, "constraints": {"weights": {"1": 1}}}', '{"lambda": 0.1, "constraints": {"weights": {"1": 1}, "equal": 0, "max": 1}}', '{"lambda": 0.1, "constraints": {"weights": {"1": 1}, "min": 1, "max": 0}}',
  '{"lambda": 0.1, "constraints": {"weights": {"1": "x"}, "max": 0}}', '{"lambda": 0.1, "constraints": {"weights": {"1": 0}, "max": 0}}', '{"lambda": 0.1, "constraints": {"weight": {"1": 1}, "max": 0}}', '{"lambda": 0.1, "constraints": {"weights": {"7": 1}, "max": 0}}',
  '{"lambda": 0.1, "constraints": {"weights": {"area": 1}, "max": 0}}', '{"lambda": 0.1, "constraints": {"weights": {"1": 1}, "max": 1e200}}', '{"lambda": 0.1, "constraints": [{"weights": {"1": 1}, "max": 0, "name": "low"}, {"weights": {"1": 2}, "min": 1, "name": "high"}]}',
  '{"lambda": 0.1, "bounds": [0, 1], "constraints": {"weights": {"1": 1, "2": 1}, "equal": -1, "name": "negative"}}']) AS o;
SELECT pg_temp.error_of(format('SELECT train_margin(sold, h, %L::jsonb) FROM homes AS h', o)) AS message
  FROM unnest(ARRAY['{"lambda": 0.1, "constraints": {"weights": {"areaa": 1}, "max": 0}}', '{"lambda": 0.1, "offset_feature": "age", "loss": "logistic", "constraints": {"weights": {"age": 1}, "max": 0}}']) AS o;
-- By scans: the same optimum, and the same prices, of arrays and of rows with names.
CREATE TABLE scanned AS
  SELECT loss, train_margin_from(format('SELECT %s, x FROM arrays', CASE loss WHEN 'squared' THEN 'y' ELSE 'sold' END), o || '{"sample_rows": 30}') AS s,
         CASE loss WHEN 'squared' THEN (SELECT train_margin(y, x, o ORDER BY i) FROM arrays) ELSE (SELECT train_margin(sold, x, o ORDER BY i) FROM arrays) END AS m
    FROM unnest('{hinge, logistic, squared}'::text[]) AS loss, margin_options(loss => loss, lambda => 0.01, tolerance => 1e-8, intercept => 'penalized', bounds => '{"4": [-0.05, 1]}',
           constraints => '[{"weights": {"1": 1, "2": 1}, "max": 0.2, "name": "first two"}, {"weights": {"*": 1}, "equal": 0.1, "name": "all"}]') AS o
  UNION ALL
  SELECT 'by name', train_margin_from('SELECT sold, h FROM homes AS h', o || '{"sample_rows": 30}'), (SELECT train_margin(sold, h, o ORDER BY i) FROM homes AS h)
    FROM margin_options(loss => 'logistic', lambda => 0.01, tolerance => 1e-8, intercept => 'penalized', exclude => '{i, sold, price}',
           constraints => '[{"weights": {"area": 10, "age": 1}, "max": 0.05}, {"weights": {"side": 1}, "equal": 0.1}]') AS o;
SELECT loss, (s).status, (s).rows, (s).iterations BETWEEN 2 AND 10 AS scans, (s).primal >= (m).dual AND (m).primal >= (s).dual AS same FROM scanned ORDER BY loss;
SELECT loss, a.name, a.relation, a.active, abs(a.price - b.price) <= 2e-3 * abs(b.price) AS price, abs(a.value - b.value) <= 1e-12 AS value
  FROM scanned, margin_rules(s) WITH ORDINALITY AS a JOIN LATERAL margin_rules(m) WITH ORDINALITY AS b USING (ordinality) WHERE a.active ORDER BY loss, ordinality;
SELECT loss, abs((v).primal - (s).primal) <= 1e-9 * (s).primal AS verified
  FROM (SELECT loss, s, (SELECT margin_verify(s, sold, x) FROM arrays) AS v FROM scanned WHERE loss IN ('hinge', 'logistic')) AS t ORDER BY loss;
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT sold, x FROM arrays', '{"lambda": 0.1, "sample_rows": 9, "constraints": [{"weights": {"1": 1}, "max": 0, "name": "low"}, {"weights": {"1": 2}, "min": 1, "name": "high"}]}')$$);
SELECT pg_temp.error_of($$SELECT margin_question(NULL, m) FROM ruled WHERE loss = 'logistic'$$);
SELECT pg_temp.error_of($$SELECT margin_gap_at(m, 0.1) FROM ruled WHERE loss = 'logistic'$$);
SELECT pg_temp.error_of($$SELECT margin_update(m, sold, x, false) FROM ruled, arrays WHERE loss = 'logistic' GROUP BY m$$);
SELECT pg_temp.error_of($$SELECT margin_audit(m, sold, x) FROM ruled, arrays WHERE loss = 'logistic' GROUP BY m$$);
-- Forged multipliers prove no more than there is.
SELECT (v).dual <= (m).primal AS sound FROM (SELECT m, (SELECT margin_verify(f, sold, x ORDER BY i) FROM arrays) AS v
  FROM (SELECT m, jsonb_populate_record(m, jsonb_build_object('prices', to_jsonb((m).prices[:4] || ARRAY[-5, 7, -9]::float8[]))) AS f FROM ruled WHERE loss = 'logistic') AS t) AS u;
SELECT pg_temp.error_of($$SELECT margin_rules(jsonb_populate_record(m, '{"prices": [1, 2]}')) FROM ruled WHERE loss = 'logistic'$$);
DROP TABLE homes, arrays, ruled, ruled_homes, scanned;

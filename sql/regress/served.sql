-- What a model of named rows says of itself and of a row, whatever its columns are coded as; what it refuses to score; and the
-- units in which lambda, epsilon and smoothing count.
SET client_min_messages = error;
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE detail text; hint text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(E'\n', sqlstate || ': ' || sqlerrm, nullif(detail, ''), nullif(hint, ''));
END $$;

-- One table under codings of its columns: a flag, a flag with NULLs, a number, three plans. At lambda 0 the optimum does not
-- depend on the coding (each spans the same functions), so that nothing but the reading of the model can.
CREATE TYPE served_flag AS ENUM ('yes', 'no');
CREATE TEMP TABLE people AS
SELECT i, (i * 7 % 10 < 3)::int AS senior, CASE WHEN i % 6 > 0 THEN (i * 11 % 5 < 2)::int END AS member, 18 + i * 37 % 60 AS age,
       (ARRAY['basic', 'gold', 'pro'])[1 + i * 13 % 7 % 3] AS plan FROM generate_series(1, 400) i;
ALTER TABLE people ADD pays float8, ADD leaves boolean;
UPDATE people SET pays = 20 + 9 * senior - 4 * coalesce(member, 3) + 0.3 * age + length(plan) * 2 + sin(i * i),
                  leaves = senior + coalesce(member, 0) + age / 40.0 + length(plan) / 5.0 + 3 * sin(i * i) > 2.5;
CREATE TEMP VIEW as_int AS SELECT i, pays, leaves, senior, member, age, plan FROM people;
CREATE TEMP VIEW as_boolean AS SELECT i, pays, leaves, senior::boolean, member::boolean, age::numeric, plan::varchar FROM people;
CREATE TEMP VIEW as_text AS SELECT i, pays, leaves, senior::text, member::text, age::float8, plan FROM people;
CREATE TEMP VIEW as_swapped AS
  SELECT i, pays, leaves, CASE senior WHEN 1 THEN 'a' ELSE 'b' END AS senior, CASE member WHEN 1 THEN 'a' WHEN 0 THEN 'b' END AS member, age::real, translate(plan, 'bgp', 'zya') AS plan FROM people;
CREATE TEMP VIEW as_enum AS
  SELECT i, pays, leaves, CASE senior WHEN 1 THEN 'yes' ELSE 'no' END::served_flag AS senior, (5 - 3 * member)::numeric AS member, -2.5 * age AS age, plan::name AS plan FROM people;
CREATE TEMP TABLE told (coding text, model text, m margin_model);
CREATE TEMP TABLE explained (coding text, model text, i int, col text, added float8, score float8);
DO $$
DECLARE c text; l text; y text;
BEGIN
  FOREACH c IN ARRAY '{int,boolean,text,swapped,enum}'::text[] LOOP
    FOREACH l IN ARRAY '{squared,logistic}'::text[] LOOP
      y := CASE l WHEN 'squared' THEN 'pays' ELSE 'leaves' END;
      EXECUTE format('INSERT INTO told SELECT %L, %L, train_margin(%I, t, margin_options(lambda => 0, loss => %L, tolerance => 1e-13, exclude => ''{i,pays,leaves}'')) FROM as_%s t', c, l, y, l, c);
      EXECUTE format('INSERT INTO explained SELECT %L, %L, i, regexp_replace(e.feature, ''=.*| IS NULL'', ''''), e.contribution, margin_score(m, t) FROM as_%s t, told, margin_explain(m, t) e WHERE coding = %L AND model = %L AND i %% 17 = 0', c, l, c, c, l);
    END LOOP;
  END LOOP;
END $$;
SELECT model, count(DISTINCT (e.coding, e.i)) AS rows, max(abs(e.score - o.score)) < 1e-9 AS same_scores, max(abs(e.added - o.added)) < 1e-9 AS same_contributions, count(*) = 5 * count(*) FILTER (WHERE e.coding = 'int') AS same_columns
  FROM explained e LEFT JOIN explained o USING (model, i, col) WHERE o.coding = 'int' GROUP BY model ORDER BY model;
SELECT model, count(*), bool_and(abs(a.share - b.share) < 1e-9) AS same_shares, bool_and(abs(a.norm - b.norm) < 1e-9 * b.norm) AS same_norms
  FROM told JOIN (SELECT model, i.* FROM told, margin_importance(m) i WHERE coding = 'int') b USING (model) JOIN LATERAL margin_importance(m) a ON a."column" = b."column" GROUP BY model ORDER BY model;
-- They add up to the score, and are 0 on average: the base is the mean score.
SELECT bool_and(abs(sum - score) < 1e-12 * greatest(1, abs(score))) AS add_up FROM (SELECT sum(added), score FROM explained GROUP BY coding, model, i, score) s;
SELECT coding, max(abs(mean)) < 1e-12 AS centred, max(abs(deviation - norm)) < 1e-9 AS deviations
  FROM (SELECT 'text' AS coding, "column", norm, avg(added) AS mean, stddev_pop(added) AS deviation
          FROM told, margin_importance(m) i, LATERAL (SELECT sum(e.contribution) AS added FROM as_text t, margin_explain(m, t) e WHERE regexp_replace(e.feature, '=.*| IS NULL', '') = i."column" GROUP BY t.i) s
         WHERE coding = 'text' AND model = 'squared' GROUP BY "column", norm) s GROUP BY coding;
SELECT feature, value, round(contribution::numeric, 4) AS contribution FROM told, as_text t, margin_explain(m, t) WHERE coding = 'text' AND model = 'squared' AND i = 17;
-- Sparse blocks and arrays.
CREATE TEMP TABLE blocks AS SELECT i, pays, ARRAY[sin(i), cos(i)] AS a, CASE WHEN i % 5 > 0 THEN margin_sparse(ARRAY[1 + i % 7], ARRAY[1.5]::float8[], 9) END AS s FROM people;
CREATE TEMP TABLE blocks_model AS SELECT train_margin(pays, b, margin_options(lambda => 0.01, loss => 'squared', exclude => '{i,pays}')) AS m FROM blocks b;
SELECT max(abs(score - sum)) < 1e-11 AS add_up FROM (SELECT i, margin_score(m, b) AS score, (SELECT sum(contribution) FROM margin_explain(m, b)) FROM blocks b, blocks_model) s;
SELECT max(abs(base - mean)) < 1e-11 AS base FROM (SELECT avg(margin_score(m, b)) AS mean, max(e.contribution) AS base FROM blocks b, blocks_model, margin_explain(m, b) e WHERE e.feature = '(base)') s;
SELECT feature, value, round(contribution::numeric, 4) AS contribution FROM blocks b, blocks_model, margin_explain(m, b) WHERE i = 4;
-- An encoder of an earlier build has no such statistics: numbers count from their mean, categories from none, as they did.
SELECT feature, value, round(contribution::numeric, 4) AS contribution
  FROM told, as_text t, margin_explain(margin_from_json(jsonb_set(margin_to_json(m), '{encoder,columns}', (SELECT jsonb_agg(c - 'spread') FROM jsonb_array_elements(margin_to_json(m) -> 'encoder' -> 'columns') c))), t)
 WHERE coding = 'text' AND model = 'squared' AND i = 17;

-- A NULL, a category or an offset that the training did not know is no average, and never the reference, unless asked for.
CREATE TEMP TABLE claims AS SELECT i, ln(0.1 + i % 9) AS log_years, (ARRAY['a', 'b', 'c'])[1 + i % 3] AS area, CASE WHEN i % 4 > 0 THEN i % 50 END AS age, i * 7 % 5 AS n FROM generate_series(1, 300) i;
CREATE TEMP TABLE claim_models AS
SELECT 'offset' AS name, train_margin(n, c, margin_options(exclude => '{i,n}', lambda => 0.001, loss => 'poisson', offset_feature => 'log_years'::text)) AS m FROM claims c
UNION ALL SELECT 'plain', train_margin(n > 2, c, margin_options(exclude => '{i,n}', lambda => 0, loss => 'logistic')) FROM claims c
UNION ALL SELECT 'lenient', train_margin(n > 2, c, margin_options(exclude => '{i,n}', lambda => 0.01, loss => 'logistic', missing => 'impute', unknown_features => 'reference')) FROM claims c
UNION ALL SELECT 'lenient offset', train_margin(n, c, margin_options(exclude => '{i,n}', lambda => 0.01, loss => 'poisson', missing => 'impute', offset_feature => 'log_years'::text)) FROM claims c;
CREATE FUNCTION pg_temp.claim(jsonb) RETURNS claims LANGUAGE sql AS $$SELECT jsonb_populate_record(NULL::claims, $1)$$;
SELECT name, r, pg_temp.error_of(format('SELECT margin_score(m, pg_temp.claim(%L)) FROM claim_models WHERE name = %L', r, name)) AS answer
  FROM claim_models, unnest(ARRAY['{"log_years": 0, "area": "a", "age": 3}', '{"log_years": null, "area": "a", "age": 3}', '{"log_years": 0, "area": "a", "age": null}',
    '{"log_years": 0, "area": null, "age": 3}', '{"log_years": 0, "area": "d", "age": 3}', '{}', '{"log_years": 0, "aera": "a", "age": 3}']::jsonb[]) r ORDER BY 1, 2;
SELECT f, left(pg_temp.error_of(format('SELECT %s FROM claim_models, (SELECT pg_temp.claim(%L) AS r) s WHERE name = ''plain''', f, '{"log_years": 0, "age": 3}')), 60) AS answer
  FROM unnest('{"margin_predict(m, r)","margin_predict(m, r, NULL::boolean)","margin_probability(m, r)","margin_probabilities(m, r)","margin_scores(m, r)","margin_explain(m, r)","margin_encode((m).encoder, r)","margin_evaluate(m, true, r)","margin_verify(m, true, r)"}'::text[]) f;
-- Imputed, an unknown NULL is as the rows of the training are on average.
SELECT abs(margin_score(m, pg_temp.claim('{"log_years": 0, "age": 3}')) - (SELECT avg(margin_score(m, pg_temp.claim(jsonb_build_object('log_years', 0, 'age', 3, 'area', area)))) FROM claims)) < 1e-12 AS average
  FROM claim_models WHERE name = 'lenient';
SELECT pg_temp.error_of($$SELECT train_margin(n, c, margin_options(exclude => '{i,n}', lambda => 0.01, loss => 'poisson', offset_feature => 'log_years'::text)) FROM (SELECT i, n, area, nullif(log_years, 0) AS log_years FROM (SELECT i, n, area, round(log_years::numeric)::float8 AS log_years FROM claims) s) c$$);

-- lambda counts in deviations of the label where rows have named columns, and so do the defaults of epsilon and smoothing:
-- prices in dollars and in millions have the same models.
CREATE TEMP TABLE homes AS SELECT i, 300000 + 900 * (i % 90) + 40000 * sin(i * i) + 10000 * (i % 7) AS price, i % 90 AS size, i % 7 AS rooms FROM generate_series(1, 600) i;
CREATE TEMP TABLE home_models AS
SELECT l, unit, train_margin(price / unit, h, jsonb_build_object('loss', l, 'lambda', 1e-3, 'exclude', '["i", "price"]'::jsonb)) AS m FROM homes h, unnest('{absolute,quantile,huber,epsilon_insensitive,squared_epsilon_insensitive,squared}'::text[]) l, unnest('{1,1e6}'::float8[]) unit GROUP BY l, unit;
SELECT l, bool_and((m).status = 'optimal') AS optimal, min((margin_evaluate).r2) > 0.2 AS good, max((margin_evaluate).r2) - min((margin_evaluate).r2) < 0.01 AS same
  FROM (SELECT l, unit, m, margin_evaluate(m, price / unit, h) FROM home_models, homes h GROUP BY l, unit, m) s GROUP BY l ORDER BY l;
-- The certificate is one of the label's units: what it says can be verified, asked at other lambdas, and updated.
SELECT l, unit, (v).margin_upper IS NOT DISTINCT FROM NULL AS soft, abs((v).primal / (m).primal - 1) < 1e-9 AS primal, (g).lower <= (m).dual * (1 + 1e-9) AS gap_at
  FROM (SELECT l, unit, m, margin_verify(m, price / unit, h) AS v, margin_gap_at(m, (m).lambda) AS g FROM home_models, homes h WHERE l IN ('absolute', 'huber', 'squared') AND (m).options ->> 'intercept' IS NULL GROUP BY l, unit, m) s ORDER BY 1, 2;
-- What explicit lengths mean: the label's units, in either.
SELECT abs((a).lambda * ((a).encoder ->> 'label_unit')::float8 - 1e-3) < 1e-15 AS lambda, (b).lambda = 1e-3 AS own_units, (a).options ->> 'lambda' AS given
  FROM (SELECT train_margin(price, h, '{"loss": "huber", "smoothing": 5000, "lambda": 1e-3, "exclude": ["i", "price"]}') AS a,
               train_margin(price, h, '{"loss": "huber", "smoothing": 5000, "lambda": 1e-3, "exclude": ["i", "price"], "standardize": false}') AS b FROM homes h) s;
-- Paths, scans and a model from its JSON mean the same problem.
SELECT (p).status, abs((p).primal / (t).primal - 1) < 1e-3 AS path, abs((f).primal / (t).primal - 1) < 1e-3 AS scans, (p).options ->> 'lambda' AS lambda, (p).lambda = (t).lambda AND (f).lambda = (t).lambda AS same_lambda,
       margin_from_json(margin_to_json(t)) = t AS json
  FROM (SELECT (margin_path(price, h, '{"lambdas": [0.001], "loss": "huber", "exclude": ["i", "price"]}'))[1] AS p, train_margin(price, h, '{"lambda": 0.001, "loss": "huber", "exclude": ["i", "price"]}') AS t FROM homes h) s,
       train_margin_from('SELECT price, h FROM homes h', '{"lambda": 0.001, "loss": "huber", "exclude": ["i", "price"], "sample_rows": 50}') f;
SELECT abs(best_mean - r2) < 0.05 AS cross_validated FROM
  (SELECT (margin_cross_validate(price, h, '{"lambdas": [0.001], "losses": ["huber", "absolute"], "metric": "r2", "exclude": ["i", "price"]}')).best_mean FROM homes h) s,
  (SELECT (margin_evaluate(m, price, h)).r2 FROM home_models, homes h WHERE l = 'huber' AND unit = 1) e;

-- A model that is not 1 % better than a constant says so.
SET client_min_messages = warning;
\set VERBOSITY terse
SELECT (train_margin(price, h, margin_options(loss => 'absolute', lambda => 1000, exclude => '{i,price}'))).status FROM homes h;
SELECT (train_margin(price, ARRAY[size], margin_options(loss => 'huber', lambda => 1e-3))).status FROM homes;
SELECT (train_margin(i % 10 = 0, ARRAY[sin(i * i)], margin_options(loss => 'logistic', lambda => 1e-3))).status FROM homes;
SELECT (train_margin(i % 10 = 0, ARRAY[sin(i * i)], margin_options(loss => 'hinge', lambda => 1e-3))).status FROM homes;
SELECT (train_margin(i % 10 = 0 OR size > 80, ARRAY[size, rooms], margin_options(loss => 'logistic', lambda => 1e-3))).status FROM homes;
SELECT count(*) FROM (SELECT (margin_cross_validate(price, h, '{"lambdas": [2000, 1000], "loss": "squared", "exclude": ["i", "price"], "folds": 3}')).best FROM homes h) s;
SELECT count(*) FROM (SELECT unnest(margin_path(price, h, '{"lambdas": [1000, 100, 1e-3], "loss": "squared", "exclude": ["i", "price"]}')) FROM homes h) s;
\set VERBOSITY default

-- Messages.
SET client_min_messages = error;
CREATE TEMP TABLE flat AS SELECT i, 1 + 2 * sin(i) - 3 * cos(3 * i) AS y, ARRAY[sin(i), cos(3 * i), sin(i * i)] AS x FROM generate_series(1, 30) i;
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"lambda": 0.1, "loss": "gamma"}') FROM (SELECT sin(i) AS y, ARRAY[cos(i)] AS x FROM generate_series(1, 4000) i) s$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"lambda": 0.1, "loss": "squared", "baseline": "a"}') FROM flat$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"lambda": 0.1, "loss": "squared", "n_jobs": 2}') FROM flat$$);
SELECT pg_temp.error_of($$SELECT margin_inference(m, y, x, 1.0, date '2020-01-01', '{}') FROM flat, (SELECT train_margin(y, x, '{"lambda": 0, "loss": "squared"}') AS m FROM flat) s$$);
SELECT pg_temp.error_of($$DO 'DECLARE m margin_model; BEGIN SELECT train_margin(y, x, ''{"lambda": 0.1, "loss": "squared"}'') INTO m FROM flat; PERFORM margin_score(m, ARRAY[1, 2, 3]); END'$$);

-- An exact fit leaves no residuals to estimate standard errors from; an optimum of 0 is found when rounding is left.
SELECT (c).feature, round((c).estimate::numeric, 9) AS estimate, (c).std_error, (c).statistic, (c).p_value
  FROM (SELECT unnest(margin_inference(m, y, x)) AS c FROM flat, (SELECT train_margin(y, x, '{"lambda": 0, "loss": "squared"}') AS m FROM flat) s GROUP BY m) t;
SELECT l, f, (train_margin(7.3 + 0.05 * sin(7 * i), x, jsonb_build_object('lambda', 0.01, 'loss', l, 'epsilon', 0.2, 'intercept', f))).status FROM flat, unnest('{epsilon_insensitive,squared_epsilon_insensitive}'::text[]) l, unnest('{free,penalized}'::text[]) f GROUP BY l, f ORDER BY l, f;
-- Weights that meet their targets up to what counts as met are not shorter than what is proven.
SELECT count(*), bool_and((m).status = 'optimal') AS optimal, bool_and((m).dual <= (m).primal) AS ordered
  FROM generate_series(12, 30, 9) s, LATERAL (SELECT train_margin(sin(g * g + 1), ARRAY(SELECT (sin(g * k + k * k) * 10 ^ (k % 9))::float8 FROM generate_series(1, 2 * s) k), '{"loss": "interpolate"}') AS m FROM generate_series(1, s) g) z;
DROP TYPE served_flag CASCADE;

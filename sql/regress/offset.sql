-- The option offset_feature: a feature whose weight is known to be 1.
\set VERBOSITY terse
CREATE FUNCTION pg_temp.error_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
  EXECUTE query;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || SQLERRM || CASE WHEN hint <> '' THEN ' HINT: ' || hint ELSE '' END;
END $$;
CREATE TABLE claims AS SELECT i, sin(i * 1.7) AS s, cos(i * 2.3) AS c, (i % 3)::float8 AS age, ln(0.5 + i * 37 % 11) AS log_years, (i * 7919 % 5) * (1 + i % 3) AS n, i % 7 AS site
  FROM generate_series(1, 200) AS i;
CREATE VIEW rows AS SELECT i, n, site, n > 3 AS high, ARRAY[s, log_years, c, age]::float8[] AS x FROM claims;

-- Rates: what statsmodels 0.13.5 has of Poisson(n, add_constant(X), exposure=years).fit(tol=1e-13, maxiter=100), cov_type nonrobust, HC0, cluster of i % 7.
CREATE TABLE rates AS SELECT train_margin(n, x, margin_options(loss => 'poisson', lambda => 0, offset_feature => 2) ORDER BY i) AS m FROM rows;
SELECT (m).status, (m).weights[2:2], (m).options FROM rates;
SELECT covariance, c.feature, round(c.estimate::numeric, 10) AS estimate, round(c.std_error::numeric, 10) AS std_error, round(c.p_value::numeric, 10) AS p
  FROM rates, LATERAL (SELECT 'classical', margin_inference(m, n, x) FROM rows
            UNION ALL SELECT 'HC0', margin_inference(m, n, x, '{"covariance": "HC0"}') FROM rows
            UNION ALL SELECT 'cluster', margin_inference(m, n, x, 1, site, '{}') FROM rows) t(covariance, list), unnest(list) WITH ORDINALITY AS c ORDER BY covariance, c.ordinality;
SELECT abs(sum(margin_predict(m, x, NULL::float8)) / sum(n) - 1) < 1e-12 AS mean FROM rates, rows GROUP BY m;
SELECT abs((v).primal / (m).primal - 1) < 1e-13 AND abs((v).dual / (m).dual - 1) < 1e-12 AS verified FROM rates, LATERAL (SELECT margin_verify(m, n, x) AS v FROM rows) t;

-- The same of GLM(y, X, family=Binomial(), offset=log_years), whose standard errors are those of its last iteration but one
-- (3e-9 off), and of OLS(n - log_years, X).
SELECT kind, c.feature, round(c.estimate::numeric, 10) AS estimate, round(c.std_error::numeric, 10) AS std_error, round(c.p_value::numeric, 10) AS p
  FROM (SELECT 'logistic' AS kind, margin_inference(m, high, x) AS list FROM rows, (SELECT train_margin(high, x, '{"loss": "logistic", "lambda": 0, "offset_feature": 2}') AS m FROM rows) t GROUP BY m
        UNION ALL SELECT 'squared', margin_inference(m, n, x) FROM rows, (SELECT train_margin(n, x, '{"loss": "squared", "lambda": 0, "offset_feature": "2"}') AS m FROM rows) t GROUP BY m) t, unnest(list) WITH ORDINALITY AS c
 ORDER BY kind, c.ordinality;

-- Rows with named columns: by name, in its own units; a column of text takes none.
CREATE TABLE named AS SELECT i, n, s, log_years, c, age FROM claims;
SELECT (m).weights[3:3] AS weight, round(c.estimate::numeric, 8) AS estimate, round(c.std_error::numeric, 8) AS std_error, c.name
  FROM (SELECT train_margin(n, r, margin_options(loss => 'poisson', lambda => 0, offset_feature => 'log_years', exclude => '{i,n}')) AS m FROM named r) f,
       LATERAL (SELECT margin_inference(m, n, r) AS list FROM named r) t, unnest(list) AS c;
SELECT abs((a).primal - (b).primal) < 1e-8 AS same, (a).status, (b).status
  FROM (SELECT train_margin(n, r, '{"loss": "poisson", "lambda": 0.01, "offset_feature": "log_years", "standardize": false, "exclude": ["i", "n"], "tolerance": 1e-9}') AS a FROM named r) t,
       (SELECT train_margin(n, ARRAY[age, log_years, s, c], '{"loss": "poisson", "lambda": 0.01, "offset_feature": 2, "tolerance": 1e-9}') AS b FROM named) u;
SELECT abs((v).primal / (a).primal - 1) < 1e-12 AS verified
  FROM (SELECT train_margin(n, r, '{"loss": "poisson", "lambda": 0.01, "offset_feature": "log_years", "standardize": false, "exclude": ["i", "n"]}') AS a FROM named r) t, LATERAL (SELECT margin_verify(a, n, r) AS v FROM named r) u;
SELECT pg_temp.error_of($$SELECT train_margin(n, r, '{"loss": "poisson", "lambda": 0.01, "offset_feature": "log_year", "exclude": ["i", "n"]}') FROM named r$$);
SELECT pg_temp.error_of($$SELECT train_margin(n, r, '{"loss": "poisson", "lambda": 0.01, "offset_feature": "kind"}') FROM (SELECT n, age, 'a' || site AS kind FROM claims) r$$);
SELECT pg_temp.error_of($$SELECT train_margin(n, r, '{"loss": "poisson", "lambda": 0.01, "offset_feature": "o"}') FROM (SELECT n, age, CASE WHEN i > 5 THEN log_years END AS o FROM claims) r$$);
SELECT (train_margin(n, r, '{"loss": "poisson", "lambda": 0.01, "offset_feature": "o", "missing": "skip"}')).rows FROM (SELECT n, age, CASE WHEN i > 5 THEN log_years END AS o FROM claims) r;

-- Every loss and both kinds of classes and targets: certified, and its weight 1. Sparse rows, groups, weights.
SELECT loss, (m).status, (m).weights[2:2] AS weight, abs((v).primal / (m).primal - 1) < 1e-9 AND (v).primal - (v).dual <= 1e-5 * (v).primal AS verified
  FROM (SELECT loss, train_margin(CASE WHEN classes THEN high::int ELSE n END, margin_sparse(x), margin_options(loss => loss, lambda => 0.02, offset_feature => 2, tolerance => 1e-6, dual_weights => true) ORDER BY i) AS m, classes
          FROM rows, (VALUES ('hinge', true), ('smoothed_hinge', true), ('squared_hinge', true), ('logistic', true), ('squared', false), ('absolute', false), ('epsilon_insensitive', false),
                             ('squared_epsilon_insensitive', false), ('huber', false), ('quantile', false), ('poisson', false)) AS l(loss, classes) GROUP BY loss, classes) t,
       LATERAL (SELECT margin_verify(m, CASE WHEN classes THEN high::int ELSE n END, margin_sparse(x) ORDER BY i) AS v FROM rows) u ORDER BY loss;
SELECT site % 2 AS g, (train_margin(n, x, 1 + site, margin_options(loss => 'poisson', lambda => 0.01, offset_feature => 2))).status FROM rows GROUP BY 1 ORDER BY 1;
SELECT (p).weights[2:2] AS weight, (p).status FROM (SELECT unnest(margin_path(n, x, '{"loss": "squared", "l1_ratio": 1, "lambdas": [1, 0.1], "offset_feature": 2, "standardize": true}')) AS p FROM rows) t;
SELECT (c).best IS NOT NULL AS chosen FROM (SELECT margin_cross_validate(n * exp(x[2]), x, '{"loss": "poisson", "lambdas": [1, 0.01], "offset_feature": 2, "folds": 3}') AS c FROM rows) t;
SELECT (margin_from_json(margin_to_json(m))).weights = (m).weights AS json FROM rates;

-- By scans: the optimum of train_margin, for arrays and for rows with named columns, and what the rows answer of the model.
CREATE VIEW many AS SELECT c.* FROM claims c, generate_series(1, 5);
CREATE TABLE beside AS SELECT loss, standardize,
    train_margin_from(format('SELECT %s, x FROM rows', CASE loss WHEN 'logistic' THEN 'high' ELSE 'n' END), options || '{"sample_rows": 20}') AS scans,
    CASE loss WHEN 'logistic' THEN (SELECT train_margin(high, x, options) FROM rows) ELSE (SELECT train_margin(n, x, options) FROM rows) END AS memory
  FROM unnest(ARRAY['poisson', 'logistic', 'squared', 'huber']) loss, unnest(ARRAY[false, true]) standardize,
       LATERAL (SELECT jsonb_build_object('loss', loss, 'standardize', standardize, 'lambda', 0.01, 'offset_feature', 2, 'tolerance', 1e-8) AS options) o;
SELECT loss, standardize, (scans).status, abs((scans).primal / (memory).primal - 1) < 1e-7 AS optimum, (scans).weights[2] AS known, (scans).iterations <= 12 AS few FROM beside ORDER BY loss, standardize;
SELECT loss, abs((v).primal / (scans).primal - 1) < 1e-12 AS verified, abs((c).upper / (scans).primal - 1) < 1e-9 AS answered
  FROM (SELECT *, margin_question(NULL, scans) AS question FROM beside WHERE NOT standardize AND loss <> 'logistic') s,
       LATERAL (SELECT margin_verify(scans, n, x) AS v, margin_sum(margin_term(question, n, x)) AS state FROM rows) t, LATERAL margin_certificate(question, state) AS c ORDER BY loss;
CREATE TABLE beside_named AS SELECT loss,
    train_margin_from('SELECT n AS label, m AS features FROM many m', options || '{"sample_rows": 20}') AS scans, (SELECT train_margin(n, m, options) FROM many m) AS memory
  FROM unnest(ARRAY['poisson', 'squared', 'huber']) loss,
       LATERAL (SELECT jsonb_build_object('loss', loss, 'lambda', 0.01, 'offset_feature', 'log_years', 'exclude', '["i", "n"]'::jsonb, 'tolerance', 1e-8) AS options) o;
SELECT loss, (scans).status, abs((scans).primal / (memory).primal - 1) < 1e-7 AS optimum, (scans).iterations <= 12 AS few,
       (SELECT max(abs(margin_score(scans, m) / margin_score(memory, m) - 1)) < 1e-3 FROM many m) AS scores FROM beside_named ORDER BY loss;
DROP TABLE beside, beside_named;
DROP VIEW many;

-- What is refused.
SELECT pg_temp.error_of($$SELECT margin_options(offset_feature => 0)$$);
SELECT pg_temp.error_of($$SELECT margin_options(offset_feature => ARRAY[1, 2])$$);
SELECT pg_temp.error_of($$SELECT train_margin(n, x, '{"loss": "poisson", "lambda": 0.1, "offset": 2}') FROM rows$$);
SELECT pg_temp.error_of($$SELECT train_margin(n, x, '{"loss": "poisson", "lambda": 0.1, "exposure": 2}') FROM rows$$);
SELECT pg_temp.error_of($$SELECT train_margin(n, x, '{"loss": "poisson", "lambda": 0.1, "offset_feature": 5}') FROM rows$$);
SELECT pg_temp.error_of($$SELECT train_margin(n, x, '{"loss": "poisson", "lambda": 0.1, "offset_feature": "age"}') FROM rows$$);
SELECT pg_temp.error_of($$SELECT train_margin(n, x, '{"loss": "poisson", "lambda": 0.1, "offset_feature": 2, "solver": "sdca"}') FROM rows$$);
SELECT (train_margin(n, x, '{"loss": "poisson", "lambda": 0.1, "offset_feature": 2, "l1_ratio": 0.5}')).status FROM rows;
SELECT pg_temp.error_of($$SELECT train_margin(high, x, '{"offset_feature": 2}') FROM rows$$);
SELECT pg_temp.error_of($$SELECT train_margin(high, x, '{"lambda": 0.1, "kernel": "rbf", "offset_feature": 2}') FROM rows$$);
SELECT pg_temp.error_of($$SELECT train_margin(site, x, '{"lambda": 0.1, "offset_feature": 2}') FROM rows$$);
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT n, x FROM rows', '{"loss": "absolute", "lambda": 0.1, "offset_feature": 2, "sample_rows": 10}')$$);
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT n, x FROM rows', '{"loss": "squared", "lambda": 0.1, "offset_feature": 5, "sample_rows": 10}')$$);
SELECT pg_temp.error_of($$SELECT margin_gap_at(m, 0.2) FROM (SELECT train_margin(n, x, '{"loss": "squared", "lambda": 0.1, "offset_feature": 2}') AS m FROM rows) t$$);
SELECT pg_temp.error_of($$SELECT margin_audit(m, n, x) FROM rows, (SELECT train_margin(n, x, '{"loss": "squared", "lambda": 0.1, "offset_feature": 2}') AS m FROM rows) t GROUP BY m$$);

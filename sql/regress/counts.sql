-- The loss poisson: counts by the logarithm of their mean.
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
CREATE TABLE visits AS SELECT i, ARRAY[sin(i * 1.7), cos(i * 2.3), i % 3]::float8[] AS x, (i * 7919 % 5) * (1 + i % 3) AS n, (1 + i % 2)::float8 AS w, i % 7 AS site
  FROM generate_series(1, 200) AS i;

-- Every solver, both forms of the intercept, elastic net, rows of other kinds: one optimum.
SELECT form, ratio, count(*), bool_and((m).status = 'optimal') AS certified,
       max((m).primal) <= min((m).primal) * (1 + 1e-6) AND max((m).dual) <= min((m).primal) * (1 + 1e-12) AS same
  FROM (SELECT form, ratio, train_margin(n, x, w, margin_options(loss => 'poisson', lambda => 0.02, solver => solver, intercept => form, l1_ratio => ratio, tolerance => 1e-7)) AS m
          FROM visits, unnest('{free,penalized}'::text[]) AS form, unnest('{auto,newton,newton_cg,sdca}'::text[]) AS solver, unnest('{0,0.5}'::float8[]) AS ratio
         WHERE ratio = 0 OR solver IN ('auto', 'sdca') GROUP BY form, solver, ratio) t GROUP BY form, ratio ORDER BY form, ratio;
SELECT count(DISTINCT round((m).primal::numeric, 9)) = 1 AS same
  FROM (SELECT train_margin(n, x, margin_options(loss => 'poisson', lambda => 0.02, tolerance => 1e-9)) AS m FROM visits
        UNION ALL SELECT train_margin(n, margin_sparse(x), margin_options(loss => 'poisson', lambda => 0.02, tolerance => 1e-9)) FROM visits) t;

-- The default intercept is a free one: means of predictions are those of the labels.
CREATE TABLE fits AS
SELECT train_margin(n, x, margin_options(loss => 'poisson', lambda => 0, dual_weights => true) ORDER BY i) AS likely,
       train_margin(n, x, margin_options(loss => 'poisson', lambda => 0.02, tolerance => 1e-9, dual_weights => true) ORDER BY i) AS soft FROM visits;
SELECT (likely).status, (likely).solver, (soft).status AS soft,
       abs(avg(margin_predict(likely, x, NULL::float8)) / avg(n) - 1) < 1e-12 AS mean, abs(avg(margin_predict(soft, x, NULL::float8)) / avg(n) - 1) < 1e-4 AS soft_mean,
       max(abs(margin_predict(likely, x, NULL::float8) - exp(margin_score(likely, x)))) < 1e-12 AS link,
       bool_and(margin_predict(likely, x)::float8 = margin_predict(likely, x, NULL::float8)) AS text
  FROM fits, visits GROUP BY likely, soft;

-- margin_verify recomputes both intervals; another label moves them, one below 0 is none.
SELECT abs((v).primal / (likely).primal - 1) < 1e-13 AND abs((v).dual / (likely).dual - 1) < 1e-13 AS likely,
       abs((s).primal / (soft).primal - 1) < 1e-13 AND abs((s).dual / (soft).dual - 1) < 1e-13 AS soft, abs((o).primal / (s).primal - 1) > 0.1 AS other
  FROM fits, LATERAL (SELECT margin_verify(likely, n, x ORDER BY i) AS v, margin_verify(soft, n, x ORDER BY i) AS s, margin_verify(soft, n + 1, x ORDER BY i) AS o FROM visits) t;
SELECT pg_temp.error_of('SELECT margin_verify(soft, n - 1, x) FROM fits, visits GROUP BY soft');
SELECT pg_temp.error_of('SELECT margin_inference(likely, n - 1, x) FROM fits, visits GROUP BY likely');

-- Standard errors (statsmodels 0.13.5: Poisson(n, add_constant(x)).fit(tol=1e-13, maxiter=100), cov_type nonrobust, HC0, cluster of i % 7).
SELECT covariance, round(c.estimate::numeric, 10) AS estimate, round(c.std_error::numeric, 10) AS std_error, round(c.p_value::numeric, 10) AS p
  FROM fits, LATERAL (SELECT 'classical', margin_inference(likely, n, x) FROM visits
            UNION ALL SELECT 'HC0', margin_inference(likely, n, x, '{"covariance": "HC0"}') FROM visits
            UNION ALL SELECT 'cluster', margin_inference(likely, n, x, 1, site, '{}') FROM visits) i(covariance, list), unnest(list) WITH ORDINALITY AS c ORDER BY covariance, c.ordinality;

-- No optimum: columns that only rows with the label 0 have, and labels that are all 0.
SELECT (m).status, (m).weights, (m).intercept FROM (SELECT train_margin(n * (x[3] < 2)::int, ARRAY[x[1], x[2], (x[3] = 2)::int], margin_options(loss => 'poisson', lambda => 0)) AS m FROM visits) t;
SELECT (m).status, (m).weights, (m).intercept FROM (SELECT train_margin(0, x, margin_options(loss => 'poisson', lambda => 0)) AS m FROM visits) t;
SELECT pg_temp.error_of($$SELECT margin_inference(m, 0, x) FROM visits, (SELECT train_margin(0, x, '{"loss": "poisson", "lambda": 0}') AS m FROM visits) t GROUP BY m$$);
SELECT pg_temp.error_of($$SELECT train_margin(0, x, '{"loss": "poisson", "lambda": 0.1}') FROM visits$$);
SELECT (train_margin(0, x, '{"loss": "poisson", "lambda": 0.1, "intercept": "penalized"}')).status FROM visits;
SELECT (train_margin(3, x, '{"loss": "poisson", "lambda": 0.1}')).status AS equal_labels FROM visits;
SELECT pg_temp.error_of($$SELECT train_margin(n - 1, x, '{"loss": "poisson", "lambda": 0.1}' ORDER BY i) FROM visits$$);
SELECT pg_temp.error_of($$SELECT train_margin(n, x, '{"loss": "poisson", "lambda": 0.1, "solver": "sgd"}') FROM visits$$);

-- Groups, paths, standardised columns, JSON, PMML, an explanation, named columns.
SELECT site % 2 AS g, (train_margin(n, x, margin_options(loss => 'poisson', lambda => 0.01))).status FROM visits GROUP BY 1 ORDER BY 1;
SELECT (m).lambda, (m).status, (m).target_center, (m).target_scale
  FROM (SELECT unnest(margin_path(n, x, '{"loss": "poisson", "lambdas": [1, 0.1, 0.01], "standardize": true}')) AS m FROM visits) t;
SELECT (s).metric, (s).losses, cardinality((s).fold_values) AS folds FROM (SELECT margin_cross_validate(n, x, '{"losses": ["poisson", "squared"], "lambdas": [0.01], "folds": 3}' ORDER BY i) AS s FROM visits) t;
-- Alone, the loss is measured by its deviance, of held-out rows: as margin_evaluate does, fold by fold.
SELECT (s).metric, abs((s).means[1] - e.deviance) < 1e-6 AS same
  FROM (SELECT margin_cross_validate(n, x, w, fold, '{"loss": "poisson", "lambdas": [0.01], "tolerance": 1e-9}' ORDER BY i) AS s
          FROM (SELECT i, n, x, 1 + i % 3 AS w, i % 4 AS fold FROM visits) v) t,
       (SELECT avg(deviance) AS deviance
          FROM (SELECT (margin_evaluate(m, n, x, 1 + i % 3)).deviance
                  FROM (SELECT f, train_margin(n, x, 1 + i % 3, margin_options(loss => 'poisson', lambda => 0.01, tolerance => 1e-9) ORDER BY i) AS m
                          FROM visits, generate_series(0, 3) AS f WHERE i % 4 <> f GROUP BY f) k, visits WHERE i % 4 = f GROUP BY f) h) e;
SELECT (margin_from_json(margin_to_json(soft))).weights = (soft).weights AS json, margin_pmml(soft) ~ 'functionName="regression" normalizationMethod="exp"' AS pmml FROM fits;
SELECT round(sum(e.contribution)::numeric, 9) = round(margin_score(soft, x)::numeric, 9) AS score FROM fits, visits, LATERAL margin_explain(soft, x) AS e WHERE i = 5 GROUP BY soft, x;
SELECT (train_margin(n, v, margin_options(loss => 'poisson', lambda => 0.01, exclude => '{i, n, w}'))).status FROM visits v;
SELECT (train_margin(n, x, '{"loss": "poisson", "lambda": 0.1, "intercept": "true"}')).intercept[1] <> 0 AS spelled, (train_margin(n, x, '{"loss": "poisson", "lambda": 0.1, "intercept": "false"}')).intercept[1] = 0 AS without FROM visits;
DROP TABLE fits, visits;

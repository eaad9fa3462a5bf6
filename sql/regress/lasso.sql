-- Sparse models: lassos and elastic nets, penalty factors, signs, their paths.
CREATE FUNCTION pg_temp.error_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text; message text; hint text;
BEGIN
  EXECUTE query;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN state || ': ' || message || CASE WHEN hint <> '' THEN ' HINT: ' || hint ELSE '' END;
END $$;
CREATE TEMP TABLE flats AS
  SELECT i, ARRAY[i % 7, (i * i) % 11, (i * 3) % 5, (i * 5) % 13]::float8[] AS x, 100 + 3 * (i % 7) - (i * i) % 11 + ((i * 37) % 101) / 25.0 AS price,
         (i % 7) * 2 + (i * 37) % 10 > 12 AS dear, CASE (i + (i * 7) % 3) % 4 WHEN 0 THEN 'north' WHEN 1 THEN 'south' ELSE 'west' END AS side,
         1 + i % 3 AS w FROM generate_series(1, 500) AS i;

-- Every smooth loss; the certificate is recomputed from rows and stored vectors, and from a model that was JSON.
CREATE TEMP TABLE fitted AS
  SELECT loss, rho, train_margin(price, x, margin_options(loss => loss, lambda => 2, l1_ratio => rho, tolerance => 1e-6, dual_weights => true) ORDER BY i) AS m
    FROM flats, unnest('{squared,squared_epsilon_insensitive,huber}'::text[]) AS loss, unnest('{0.5,1}'::float8[]) AS rho GROUP BY loss, rho
  UNION ALL
  SELECT loss, rho, train_margin(dear, x, margin_options(loss => loss, lambda => 0.05, l1_ratio => rho, tolerance => 1e-6, dual_weights => true) ORDER BY i)
    FROM flats, unnest('{smoothed_hinge,squared_hinge,logistic}'::text[]) AS loss, unnest('{0.5,1}'::float8[]) AS rho GROUP BY loss, rho;
SELECT loss, rho, (m).status, (m).solver, (SELECT count(*) FROM unnest((m).weights) AS v WHERE v = 0) AS zeros FROM fitted ORDER BY loss, rho;
SELECT loss, bool_and(abs((v).primal - (m).primal) <= 1e-9 * (m).primal AND (m).primal - (v).dual <= 1e-6 * (m).primal AND (v).dual <= (v).primal) AS verified
  FROM (SELECT loss, margin_from_json(margin_to_json(m)) AS m, margin_verify(margin_from_json(margin_to_json(m)), price, x ORDER BY i) AS v FROM fitted, flats WHERE (m).classes IS NULL GROUP BY loss, m
        UNION ALL SELECT loss, m, margin_verify(m, dear, x ORDER BY i) FROM fitted, flats WHERE (m).classes IS NOT NULL GROUP BY loss, m) AS s
 GROUP BY loss ORDER BY loss;

-- An intercept of a lasso is free; the others as ever.
SELECT (train_margin(dear, x, margin_options(lambda => 0.05, loss => 'logistic', l1_ratio => 1, intercept => true))).status FROM flats;
SELECT pg_temp.error_of($$SELECT train_margin(dear, x, margin_options(lambda => 0.05, loss => 'logistic', l1_ratio => 1, intercept => 'penalized')) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin(dear, x, margin_options(lambda => 0.05, loss => 'logistic', l1_ratio => 1, intercept_scale => 2)) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin(dear, x, margin_options(lambda => 0.05, l1_ratio => 1)) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin(dear, x, margin_options(lambda => 0.05, l1_ratio => 1, loss => 'logistic', solver => 'sdca')) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin(dear, x, margin_options(lambda => 0.05, l1_ratio => 0.5, positive => true)) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin(dear, x, margin_options(lambda => 0.05, loss => 'logistic', penalty_factor => ARRAY[1, 2, 3, 4])) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin(dear, x, margin_options(lambda => 0.05, loss => 'logistic', l1_ratio => 1, penalty_factor => ARRAY[1, 2])) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin(dear, x, margin_options(lambda => 0.05, loss => 'logistic', l1_ratio => 1, penalty_factor => '{"5": 2}')) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin(dear, x, margin_options(lambda => 0.05, loss => 'logistic', l1_ratio => 1, penalty_factor => '{"rooms": 2}')) FROM flats$$);

-- Penalty factors and signs.
CREATE TEMP TABLE held AS
  SELECT train_margin(price, x, margin_options(loss => 'squared', lambda => 1, l1_ratio => 1, tolerance => 1e-7, dual_weights => true, penalty_factor => '{"2": 1e6}') ORDER BY i) AS factor,
         train_margin(price, x, margin_options(loss => 'squared', lambda => 1, l1_ratio => 1, tolerance => 1e-7, dual_weights => true, positive => true) ORDER BY i) AS positive,
         train_margin(price, x[1:1] || x[3:4], margin_options(loss => 'squared', lambda => 1, l1_ratio => 1, tolerance => 1e-7) ORDER BY i) AS without FROM flats;
SELECT (factor).weights[2] AS second, (positive).weights[2] AS sign, abs((factor).primal - (without).primal) < 1e-6 AS as_without,
       abs((positive).primal - (without).primal) < 1e-6 AS negative_alone FROM held;
SELECT (v).gap <= 1e-7 * (v).primal AS verified FROM (SELECT margin_verify(factor, price, x ORDER BY i) AS v FROM held, flats GROUP BY factor
                                                      UNION ALL SELECT margin_verify(positive, price, x ORDER BY i) FROM held, flats GROUP BY positive) AS s;
CREATE TEMP TABLE homes AS SELECT i, price, side, w FROM flats;
SELECT (m).weights[1:3] AS sides FROM (SELECT train_margin(price, h, '{"loss": "squared", "lambda": 0.1, "l1_ratio": 1, "exclude": ["i", "price"], "penalty_factor": {"side": 1e6}}' ORDER BY i) AS m FROM homes h) AS s;
SELECT pg_temp.error_of($$SELECT train_margin(price, h, '{"loss": "squared", "lambda": 0.1, "l1_ratio": 1, "exclude": ["i", "price"], "penalty_factor": {"sides": 1e6}}') FROM homes h$$);

-- Paths: their own list, a given one, three classes; groups; sparse rows.
SELECT cardinality(p) AS models, (p[1]).weights AS first, (p[100]).lambda / (p[1]).lambda AS ratio,
       (SELECT bool_and(m.status = 'optimal' AND m.primal - m.dual <= 1e-6 * m.primal) FROM unnest(p) AS m) AS certified
  FROM (SELECT margin_path(price, x, margin_options(loss => 'squared', l1_ratio => 1, tolerance => 1e-6) ORDER BY i) AS p FROM flats) AS s;
SELECT dear, cardinality(p) AS models, (p[1]).weights = '{0,0,0,0}' AS none FROM (SELECT dear, margin_path(side = 'west', x, w, margin_options(loss => 'logistic', l1_ratio => 0.5) ORDER BY i) AS p FROM flats GROUP BY dear) AS s ORDER BY dear;
SELECT cardinality(p) AS models, array_length((p[50]).weights, 1) AS outputs, (SELECT bool_and(m.status = 'optimal') FROM unnest(p) AS m) AS certified
  FROM (SELECT margin_path(side, x, margin_options(loss => 'logistic', l1_ratio => 1, standardize => true) ORDER BY i) AS p FROM flats) AS s;
SELECT bool_and(abs((a).primal - (b).primal) <= 1e-5 * (b).primal) AS same FROM
  (SELECT unnest(margin_path(dear, x, margin_options(loss => 'logistic', l1_ratio => 1, tolerance => 1e-6) || '{"lambdas": [0.001, 0.1, 0.01]}' ORDER BY i)) AS a,
          unnest(margin_path(dear, margin_sparse(x), margin_options(loss => 'logistic', l1_ratio => 1, tolerance => 1e-6, solver => 'prox_newton') || '{"lambdas": [0.001, 0.1, 0.01]}' ORDER BY i)) AS b FROM flats) AS s;
SELECT (p[1]).dual_weights IS NOT NULL AS dual, cardinality((p[2]).history) > 0 AS history
  FROM (SELECT margin_path(dear, x, margin_options(loss => 'logistic', l1_ratio => 1, dual_weights => true, history => true) || '{"lambdas": [0.1, 0.01]}' ORDER BY i) AS p FROM flats) AS s;
-- A start; several classes; what an interval implies.
SELECT (train_margin(dear, x, margin_options(loss => 'logistic', l1_ratio => 1, lambda => 0.05, initial => (SELECT m FROM fitted WHERE loss = 'logistic' AND rho = 1)))).iterations AS steps FROM flats;
SELECT (margin_certificate(m)).distance IS NULL AS unknown FROM fitted WHERE loss = 'logistic' ORDER BY rho;

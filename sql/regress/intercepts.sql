-- The intercept of linear soft margins: penalised, free, none. Quantiles, whose intercept is free by default.
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
  SELECT i, ARRAY[i % 7, (i * i) % 11, (i * 3) % 5]::float8[] AS x, 1e6 + 3 * (i % 7) - (i * i) % 11 + ((i * 37) % 101) / 25.0 AS price,
         (i % 50 = 0) AS rare FROM generate_series(1, 1000) AS i;

SELECT margin_options(intercept => 'free') AS free, margin_options(intercept => 'penalized') AS penalized,
       margin_options(intercept => false) AS off, margin_options(intercept => NULL::boolean) AS left_out;
SELECT pg_temp.error_of($$SELECT margin_options(intercept => 'fixed')$$);
SELECT pg_temp.error_of($$SELECT margin_options(intercept => 3)$$);
SELECT pg_temp.error_of($$SELECT train_margin(rare, x, margin_options(lambda => 1, intercept => 'free', intercept_scale => 2)) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin(rare, x, margin_options(lambda => 1, intercept => false, intercept_scale => 2)) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin(rare, x, margin_options(intercept => 'penalized')) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin(rare, x, margin_options(kernel => 'rbf', lambda => 1, intercept => 'penalized')) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin(rare, x, margin_options(lambda => 1, intercept => 'free', solver => 'sgd')) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT rare AS label, x AS features FROM flats', margin_options(lambda => 1, intercept => 'free', sample_rows => 20))$$);
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT rare AS label, x AS features FROM flats', margin_options(lambda => 1, l1_ratio => 0.5, sample_rows => 20))$$);
SELECT loss, (s).status, (s).primal >= (m).dual AND (m).primal >= (s).dual AS same, abs((s).intercept[1] - (m).intercept[1]) < 1e-4 * (1 + abs((m).intercept[1])) AS intercept
  FROM (SELECT loss, train_margin_from('SELECT rare, x FROM flats', o || '{"sample_rows": 20}') AS s, (SELECT train_margin(rare, x, o ORDER BY i) FROM flats) AS m
          FROM unnest('{logistic,squared_hinge}'::text[]) AS loss, margin_options(loss => loss, lambda => 0.01, tolerance => 1e-8, intercept => 'free') AS o OFFSET 0) AS t ORDER BY loss;
SELECT (s).status, (s).iterations BETWEEN 2 AND 10 AS scans, (s).primal >= (m).dual AND (m).primal >= (s).dual AS same
  FROM (SELECT train_margin_from('SELECT exp(x[1] / 40.0) AS seen, x FROM flats', o || '{"sample_rows": 60}') AS s, (SELECT train_margin(exp(x[1] / 40.0), x, o ORDER BY i) FROM flats) AS m
          FROM margin_options(loss => 'poisson', lambda => 0.01, tolerance => 1e-8) AS o OFFSET 0) AS t;
SELECT rho, (s).status, (s).iterations <= 3 AS scans, (s).primal >= (m).dual AND (m).primal >= (s).dual AS same, (SELECT bool_and((a = 0) = (b = 0)) FROM unnest((s).weights, (m).weights) AS w(a, b)) AS zeros
  FROM (SELECT rho, train_margin_from('SELECT price, x FROM flats', o || '{"sample_rows": 20}') AS s, (SELECT train_margin(price, x, o ORDER BY i) FROM flats) AS m
          FROM unnest('{0.5,1}'::float8[]) AS rho, margin_options(loss => 'squared', lambda => 0.1, tolerance => 1e-8, l1_ratio => rho, intercept => 'free') AS o OFFSET 0) AS t ORDER BY rho;

-- Every loss, by every solver that has it: one problem, one optimum.
CREATE TEMP TABLE fitted AS
  SELECT loss, solver, train_margin(price, x, margin_options(loss => loss, lambda => 1, solver => solver, intercept => 'free', tolerance => 1e-5, dual_weights => true) ORDER BY i) AS m
    FROM flats, unnest('{squared,absolute,epsilon_insensitive,squared_epsilon_insensitive,huber,quantile}'::text[]) AS loss, unnest('{auto,sdca,newton,newton_cg}'::text[]) AS solver
   GROUP BY loss, solver
  UNION ALL
  SELECT loss, solver, train_margin(rare, x, margin_options(loss => loss, lambda => 1, solver => solver, intercept => 'free', tolerance => 1e-5, dual_weights => true) ORDER BY i)
    FROM flats, unnest('{hinge,smoothed_hinge,squared_hinge,logistic}'::text[]) AS loss, unnest('{auto,sdca,newton,newton_cg}'::text[]) AS solver
   GROUP BY loss, solver;
SELECT loss, bool_and((m).status = 'optimal') AS optimal, max((m).primal) - max((m).dual) <= 2e-5 * max((m).primal) AS agree
  FROM fitted GROUP BY loss ORDER BY loss;
SELECT loss, bool_and(abs((v).primal - (m).primal) <= 1e-9 * (m).primal AND abs((v).dual - (m).dual) <= 1e-9 * (m).primal) AS verified, bool_or((v).certain IS NOT NULL) AS certain
  FROM (SELECT loss, m, margin_verify(m, price, x ORDER BY i) AS v FROM fitted, flats WHERE (m).classes IS NULL GROUP BY loss, solver, m
        UNION ALL SELECT loss, m, margin_verify(m, rare, x ORDER BY i) FROM fitted, flats WHERE (m).classes IS NOT NULL GROUP BY loss, solver, m) AS s
 GROUP BY loss ORDER BY loss;
-- Without weights worth having, the intercept is the best constant: the log-odds of the rare class, the mean of the prices.
SELECT round((train_margin(rare, x, margin_options(loss => 'logistic', lambda => 1e6, intercept => 'free', tolerance => 1e-9))).intercept[1]::numeric, 4) AS log_odds,
       round(ln(0.02 / 0.98)::numeric, 4) AS expected FROM flats;
SELECT round((train_margin(price, x, margin_options(loss => 'squared', lambda => 1e9, intercept => 'free', tolerance => 1e-9))).intercept[1]::numeric, 3) AS constant,
       round(avg(price)::numeric, 3) AS expected FROM flats;
-- Stored, exported and read back, it is the same model in the same form.
SELECT (margin_verify(margin_from_json(margin_to_json(m)), rare, x)).primal = (margin_verify(m, rare, x)).primal AS same
  FROM fitted, flats WHERE loss = 'logistic' AND solver = 'auto' GROUP BY m;

-- Weights, groups, one against the rest, standardised rows, an elastic net, a path, a cross-validation, calibration.
SELECT (train_margin(price, x, 1 + i % 3, margin_options(loss => 'absolute', lambda => 0.1, intercept => 'free'))).status AS weighted,
       (train_margin(rare, x, margin_options(lambda => 0.1, class_weight => 'balanced', intercept => 'free'))).status AS balanced,
       (train_margin(i % 3, x, margin_options(loss => 'logistic', lambda => 0.1, intercept => 'free'))).status AS three,
       (train_margin(price, x, margin_options(loss => 'huber', lambda => 0.1, intercept => 'free', standardize => true))).status AS standardised,
       (train_margin(rare, x, margin_options(loss => 'logistic', lambda => 0.1, intercept => 'free', l1_ratio => 0.5))).status AS elastic,
       (train_margin(rare, x, margin_options(lambda => 0.1, intercept => 'free', calibration => 'platt'))).status AS calibrated FROM flats;
SELECT (m).lambda, (m).status, (m).primal - (m).dual <= 1e-3 * (m).primal AS closed
  FROM (SELECT unnest(margin_path(price, x, '{"loss": "absolute", "lambdas": [1, 0.01], "intercept": "free"}' ORDER BY i)) AS m FROM flats) AS s;
SELECT (s).losses, array(SELECT round(v::numeric, 2) FROM unnest((s).means) v) AS r2
  FROM (SELECT margin_cross_validate(price, x, '{"losses": ["squared", "quantile"], "lambdas": [0.01], "metric": "r2", "intercept": "free"}' ORDER BY i) AS s FROM flats) AS t;
SELECT (s).metric, abs((s).means[1] - e.pinball) < 1e-6 * e.pinball AS same
  FROM (SELECT margin_cross_validate(price, x, 1, i % 4, '{"loss": "quantile", "quantile": 0.8, "lambdas": [0.001], "tolerance": 1e-9}' ORDER BY i) AS s FROM flats) t,
       (SELECT avg(pinball) AS pinball
          FROM (SELECT (margin_evaluate(m, price, x)).pinball
                  FROM (SELECT f, train_margin(price, x, margin_options(loss => 'quantile', quantile => 0.8, lambda => 0.001, tolerance => 1e-9) ORDER BY i) AS m
                          FROM flats, generate_series(0, 3) AS f WHERE i % 4 <> f GROUP BY f) k, flats WHERE i % 4 = f GROUP BY f) h) e;

-- Quantiles: the share of rows below the predictions, and the mean of the loss.
SELECT tau, (m).status, round(avg((price < margin_score(m, x))::int), 2) AS below, round(((margin_evaluate(m, price, x)).pinball)::numeric, 4) AS pinball,
       round(avg(CASE WHEN price > margin_score(m, x) THEN tau * (price - margin_score(m, x)) ELSE (tau - 1) * (price - margin_score(m, x)) END)::numeric, 4) AS expected,
       round((margin_evaluate(m, margin_sum(margin_term(m, price, x)))).pinball::numeric, 4) AS in_two_steps
  FROM (SELECT tau, train_margin(price, x, margin_options(loss => 'quantile', quantile => tau, lambda => 1e-6, tolerance => 1e-6) ORDER BY i) AS m
          FROM flats, unnest('{0.1,0.5,0.9}'::float8[]) AS tau GROUP BY tau) AS models, flats GROUP BY tau, m ORDER BY tau;
SELECT (margin_evaluate(m, price, x)).pinball IS NULL AS none FROM fitted, flats WHERE loss = 'absolute' AND solver = 'auto' GROUP BY m;
SELECT pg_temp.error_of($$SELECT margin_options(quantile => 1)$$);
SELECT pg_temp.error_of($$SELECT train_margin(price, x, margin_options(loss => 'absolute', lambda => 1, quantile => 0.9)) FROM flats$$);
SELECT pg_temp.error_of($$SELECT train_margin(rare, x, margin_options(loss => 'pinball', lambda => 1)) FROM flats$$);

-- standardize: columns that are constant, to 12 digits, carry nothing; kept, one would be an intercept with another penalty.
SELECT abs((constant).primal / (without).primal - 1) < 1e-9 AND abs((own_units).primal / (without).primal - 1) < 1e-9 AS same, abs((kept).primal / (without).primal - 1) > 0.01 AS kept_is_another, (constant).weights[2] AS weight
  FROM (SELECT train_margin(y, ARRAY[a], o || '{"standardize": true}') AS without, train_margin(y, ARRAY[a, 5, 1e6 + 1e-7 * (i % 2)], o || '{"standardize": true}') AS constant,
               train_margin(y, ARRAY[s], o) AS own_units, train_margin(y, ARRAY[s, 5], o) AS kept
          FROM (SELECT *, (a - avg(a) OVER ()) / stddev_pop(a) OVER () AS s FROM (SELECT i, sin(i * i) + 0.4 * sin(i * 3) > 0.2 AS y, sin(i * 3) AS a FROM generate_series(1, 40) i) r) u,
               (VALUES ('{"lambda": 0.1, "loss": "logistic", "tolerance": 1e-10}'::jsonb)) v(o)) m;

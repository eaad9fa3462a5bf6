-- Regressions whose labels lie far from 0 are centred, and with standardize scaled; models worse than a constant say so.
-- Prices of 1.0 to 1.1 million: 2000 rows of two columns, with noise that leaves R² = 0.992.
CREATE TEMP TABLE flat AS
  SELECT i, 1e6 + 1e5 * x[1] - 5e4 * x[2] + 1e4 * (((i * 7919) % 2003) / 2003.0 - 0.5) AS price, x
    FROM (SELECT i, ARRAY[((i * 7477) % 2011) / 2011.0, ((i * 3331) % 1999) / 1999.0]::float8[] AS x FROM generate_series(1, 2000) i) t;
CREATE TEMP TABLE fitted AS
  SELECT loss, lambda, train_margin(price, x, margin_options(lambda => lambda, loss => loss, standardize => true) ORDER BY i) AS m
    FROM flat, unnest('{squared,huber,absolute,epsilon_insensitive,squared_epsilon_insensitive}'::text[]) loss, unnest('{0.1,1e-4,1e-6}'::float8[]) lambda
   GROUP BY loss, lambda;
SELECT loss, lambda, (m).status, round((margin_evaluate(m, price, x)).r2::numeric, 3) AS r2, round((m).target_center::numeric, -3) AS center,
       round((m).target_scale::numeric, -2) AS scale, abs(avg(margin_score(m, x)) - avg(price)) < 1000 AS level
  FROM fitted, flat GROUP BY loss, lambda, m ORDER BY loss, lambda DESC;
-- Without standardize the units stay, and the level of the labels is met all the same.
CREATE TEMP TABLE plain AS
  SELECT loss, lambda, train_margin(price, x, margin_options(lambda => lambda, loss => loss, dual_weights => true, tolerance => 1e-6) ORDER BY i) AS m
    FROM flat, unnest('{squared,huber,absolute,epsilon_insensitive,squared_epsilon_insensitive}'::text[]) loss, unnest('{0.1,1e-4,1e-6}'::float8[]) lambda
   GROUP BY loss, lambda;
SELECT loss, lambda, (m).status, round((margin_evaluate(m, price, x)).r2::numeric, 2) AS r2, (m).target_scale IS NULL AS unscaled
  FROM plain, flat GROUP BY loss, lambda, m ORDER BY loss, lambda DESC;
-- margin_verify certifies the same problem; a shift of the labels moves the center and nothing else.
SELECT bool_and(abs((v).primal / (m).primal - 1) < 1e-9 AND abs((v).dual / (m).dual - 1) < 1e-9) AS same, count(*)
  FROM (SELECT m, margin_verify(m, price, x ORDER BY i) AS v FROM plain, flat GROUP BY m) t;
SELECT bool_and(abs(((p.m).intercept[1] - (n.m).intercept[1]) / 1e6 - 1) < 1e-4 AND (n.m).primal BETWEEN (p.m).dual * (1 - 1e-9) AND (p.m).primal / (1 - 2e-6)) AS same, count(*)
  FROM plain p JOIN (SELECT loss, lambda, train_margin(price - 1e6, x, margin_options(lambda => lambda, loss => loss, tolerance => 1e-6) ORDER BY i) AS m
                       FROM flat, unnest('{squared,huber,absolute}'::text[]) loss, unnest('{0.1,1e-4,1e-6}'::float8[]) lambda GROUP BY loss, lambda) n USING (loss, lambda);
-- The path and cross-validation centre as well, the latter on the rows outside of each fold.
SELECT bool_and((t.m).target_center = (p.m).target_center AND abs((t.m).primal / (p.m).primal - 1) < 1e-4) AS same
  FROM (SELECT unnest(margin_path(price, x, '{"lambdas": [0.1, 1e-4, 1e-6], "loss": "huber", "tolerance": 1e-6}' ORDER BY i)) AS m FROM flat) t
  JOIN plain p ON p.loss = 'huber' AND p.lambda = (t.m).lambda;
SELECT bool_and((t.m).target_scale IS NOT NULL AND abs((t.m).primal / (f.m).primal - 1) < 2e-3) AS same
  FROM (SELECT unnest(margin_path(price, x, '{"lambdas": [0.1, 1e-4, 1e-6], "loss": "huber", "standardize": true}' ORDER BY i)) AS m FROM flat) t
  JOIN fitted f ON f.loss = 'huber' AND f.lambda = (t.m).lambda;
SELECT (s).losses, array(SELECT round(v::numeric, 2) FROM unnest((s).means) v) AS r2
  FROM (SELECT margin_cross_validate(price, x, '{"losses": ["squared", "huber", "absolute"], "lambdas": [1e-4], "metric": "r2", "standardize": true}' ORDER BY i) AS s FROM flat) t;
SELECT array(SELECT round(v::numeric, 3) FROM unnest((far).means) v) = array(SELECT round(v::numeric, 3) FROM unnest((near).means) v) AS same
  FROM (SELECT margin_cross_validate(price, x, '{"losses": ["squared", "huber"], "lambdas": [1e-4, 1e-6], "metric": "r2", "tolerance": 1e-6}' ORDER BY i) AS far,
               margin_cross_validate(price - 1e6, x, '{"losses": ["squared", "huber"], "lambdas": [1e-4, 1e-6], "metric": "r2", "tolerance": 1e-6}' ORDER BY i) AS near FROM flat) t;
-- Warm start, JSON and back, PMML: the intercept is that of the labels.
SELECT (train_margin(price, x, margin_options(lambda => 1e-4, loss => 'squared', solver => 'newton', initial => (SELECT m FROM plain WHERE loss = 'squared' AND lambda = 1e-4)))).iterations <= 1 AS warm FROM flat;
SELECT bool_and(margin_from_json(margin_to_json(m)) = m) AS same FROM fitted;
SELECT margin_pmml(m)::text LIKE '%intercept="' || (m).intercept[1] || '%' AS label_units FROM fitted WHERE loss = 'squared' AND lambda = 0.1;
-- What contradicts is refused.
CREATE FUNCTION pg_temp.refused(m jsonb) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM margin_from_json(m); RETURN 'taken'; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ': ' || SQLERRM; END $$;
SELECT pg_temp.refused(margin_to_json(m) || '{"target_center": "NaN"}') AS a, pg_temp.refused(margin_to_json(m) || '{"target_scale": 0}') AS b,
       pg_temp.refused(margin_to_json(m) || '{"classes": ["a", "b"], "loss": "hinge"}') AS c FROM fitted WHERE loss = 'squared' AND lambda = 0.1;
-- Models worse than a constant: no intercept for far labels, a separator of rows that nothing separates.
SELECT (train_margin(price, x, margin_options(lambda => 1, loss => 'squared', intercept => false) ORDER BY i)).status FROM flat;
SELECT (train_margin(i % 10 > 0, ARRAY[i % 4 - 1.5, 1], margin_options(lambda => 1e3, intercept => false, class_weight => '{"false": 9}', tolerance => 1e-6) ORDER BY i)).status FROM flat;
SELECT (train_margin(i % 10 > 0, ARRAY[i % 4 - 1.5], margin_options(lambda => 1e-3, intercept => false) ORDER BY i)).status FROM flat;
SELECT (train_margin(i % 10 > 0, ARRAY[i % 4 - 1.5], margin_options(lambda => 1e-3, tolerance => 1e-6) ORDER BY i)).status FROM flat;
SELECT array_length(margin_path(i % 10 > 0, ARRAY[i % 4 - 1.5], '{"lambdas": [1, 1e-3], "intercept": false}' ORDER BY i), 1) AS models FROM flat;

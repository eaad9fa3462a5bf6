-- Weights between bounds: bounds, positive, monotone; proven, verified, priced.
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
CREATE TABLE loans AS
  SELECT i, 20 + (i * 37) % 50 AS age, 1000 * (1 + (i * 13) % 40) AS income, (i * 7) % 11 AS debts,
         (ARRAY['rent', 'own', 'free'])[1 + (i * 5) % 3] AS home,
         sin(i * 12.9898) + 0.04 * ((i * 37) % 50 - 25) - 0.2 * ((i * 7) % 11 - 5) > 0 AS paid
    FROM generate_series(1, 400) AS i;
CREATE TABLE arrays AS SELECT i, paid, (CASE WHEN paid THEN 1 ELSE -1 END) * 2.0 + sin(i) AS y,
         ARRAY[(age - 45) / 15.0, income / 20000.0 - 1, debts / 3.0 - 1.7, cos(i)]::float8[] AS x FROM loans;

-- Every loss and penalty: the interval is narrow, no weight is outside, and the same rows prove it again.
CREATE TABLE bounded AS
  SELECT loss, rho, train_margin(paid, x, margin_options(loss => loss, lambda => 0.02, l1_ratio => rho, tolerance => 1e-6, dual_weights => true,
           bounds => '{"1": [null, 0.1], "3": [-0.05, 0.3], "*": [0, null]}') ORDER BY i) AS m
    FROM arrays, unnest('{hinge,smoothed_hinge,squared_hinge,logistic}'::text[]) AS loss, unnest('{0,0.3}'::float8[]) AS rho GROUP BY loss, rho
  UNION ALL
  SELECT loss, rho, train_margin(y, x, margin_options(loss => loss, lambda => 0.02, l1_ratio => rho, tolerance => 1e-6, dual_weights => true,
           bounds => '{"1": [null, 0.1], "3": [-0.05, 0.3], "*": [0, null]}') ORDER BY i) AS m
    FROM arrays, unnest('{squared,absolute,huber,quantile,epsilon_insensitive,squared_epsilon_insensitive}'::text[]) AS loss, unnest('{0,0.3}'::float8[]) AS rho GROUP BY loss, rho;
SELECT loss, rho, (m).status, (m).gap <= 1e-6 * (m).primal AS narrow, (m).weights[1] <= 0.1 AND (m).weights[3] BETWEEN -0.05 AND 0.3 AND least((m).weights[2], (m).weights[4]) >= 0 AS inside,
       (m).weights[1] = 0.1 AS at_the_bound FROM bounded ORDER BY loss, rho;
SELECT bool_and(abs((v).primal - (m).primal) <= 1e-9 * (m).primal AND abs((v).dual - (m).dual) <= 1e-9 * (m).primal) AS verified
  FROM (SELECT m, CASE WHEN (m).classes IS NULL THEN (SELECT margin_verify(m, y, x ORDER BY i) FROM arrays) ELSE (SELECT margin_verify(m, paid, x ORDER BY i) FROM arrays) END AS v FROM bounded) AS t;
-- All that hold: the solvers agree.
SELECT solver, (m).status, round((m).primal::numeric, 4) AS primal, round((m).weights[1]::numeric, 4) AS first
  FROM (SELECT solver, train_margin(paid, x, margin_options(loss => 'logistic', lambda => 0.02, solver => solver, tolerance => 1e-6, bounds => '[-0.2, 0.1]') ORDER BY i) AS m
          FROM arrays, unnest('{sdca,newton,newton_cg}'::text[]) AS solver GROUP BY solver) AS t ORDER BY solver;

-- The price of a bound is what the optimum loses per unit of it.
CREATE FUNCTION pg_temp.optimum(bound float8) RETURNS float8 LANGUAGE sql AS $$
  SELECT (train_margin(paid, x, margin_options(loss => 'logistic', lambda => 0.02, tolerance => 1e-10, bounds => format('{"1": [null, %s]}', bound)::jsonb) ORDER BY i)).primal FROM arrays $$;
SELECT r.name, r.relation, r.bound, r.active, abs(r.price - (pg_temp.optimum(0.1001) - pg_temp.optimum(0.0999)) / 0.0002) < 1e-4 AS as_differences, r.price < -0.01 AS costs
  FROM (SELECT train_margin(paid, x, margin_options(loss => 'logistic', lambda => 0.02, tolerance => 1e-10, bounds => '{"1": [null, 0.1]}') ORDER BY i) AS m FROM arrays) AS t, margin_rules(m) AS r;
SELECT r.name, round(r.value::numeric, 3) AS value, r.relation, r.bound, r.active, sign(round(r.price::numeric, 6)) AS price FROM bounded, margin_rules(m) AS r WHERE loss = 'logistic' AND rho = 0;
SELECT count(*) AS none FROM (SELECT train_margin(paid, x, margin_options(lambda => 0.02) ORDER BY i) AS m FROM arrays) AS t, margin_rules(m);

-- Rows with named columns: per unit of the column, by name of a column or of a feature.
CREATE TABLE bounded_loans AS
  SELECT train_margin(paid, r, margin_options(loss => 'logistic', lambda => 0.001, exclude => '{i,paid}', tolerance => 1e-8, monotone => '{"debts": -1}',
           bounds => '{"age": [0, 0.02], "income": [0, 0.00001], "home=own": [0, 0.05], "home=rent": [0, 0]}') ORDER BY i) AS m FROM loans AS r;
SELECT r.name, round(r.value::numeric, 6) AS value, r.relation, r.bound, r.active FROM bounded_loans, margin_rules(m) AS r;
SELECT (regexp_match(margin_summary(m), 'rules: +([^\n]*)'))[1] = (SELECT count(*) || ' on weights, ' || count(*) FILTER (WHERE active) || ' active' FROM margin_rules(m)) AS told FROM bounded_loans;
SELECT count(*) FILTER (WHERE r.active) > 2 AS some_active, bool_and(CASE r.relation WHEN '<=' THEN r.value <= r.bound * (1 + 1e-12) AND r.price <= 0 ELSE r.value >= r.bound * (1 - 1e-12) AND r.price >= 0 END) AS inside FROM bounded_loans, margin_rules(m) AS r;
SELECT (m).primal = (margin_verify(m, paid, r ORDER BY i)).primal AS verified FROM bounded_loans, loans AS r GROUP BY m;
SELECT margin_from_json(margin_to_json(m)) IS NOT DISTINCT FROM m AS survives FROM bounded_loans;
-- The curve of a column that is cut into bins never falls.
SELECT bool_and(rises) AS rises, count(*) > 10 AS steps FROM (SELECT s.contribution >= lag(s.contribution, 1, s.contribution) OVER (ORDER BY s.above NULLS FIRST) - 1e-12 AS rises
  FROM (SELECT train_margin(paid, r, margin_options(loss => 'logistic', lambda => 0.0001, bins => 32, exclude => '{i,paid}', monotone => '{"age": 1}') ORDER BY i) AS m FROM loans AS r) AS t,
       margin_shape(m, 'age') AS s) AS u;
-- Standardised rows, several classes, a path, cross-validation, calibration, a start from another model.
SELECT (m).status, (m).weights[1] = 0.01 AS at_the_bound FROM (SELECT train_margin(paid, ARRAY[age, income, debts]::float8[], margin_options(loss => 'logistic', lambda => 0.001, standardize => true, tolerance => 1e-8,
  bounds => '[[0, 0.01], [null, 0], [null, null]]') ORDER BY i) AS m FROM loans) AS t;
SELECT r.class, r.name, r.active FROM (SELECT train_margin(home, ARRAY[age / 10.0, debts]::float8[], margin_options(lambda => 0.1, bounds => '[-0.01, 0.01]', tolerance => 1e-5) ORDER BY i) AS m FROM loans) AS t,
  margin_rules(m) AS r WHERE r.relation = '>=' ORDER BY r.class, r.name;
SELECT round((p).lambda::numeric, 3) AS lambda, (p).status, (SELECT bool_and(w BETWEEN 0 AND 0.1) FROM unnest((p).weights) AS w) AS inside
  FROM (SELECT unnest(margin_path(paid, x, '{"loss": "logistic", "l1_ratio": 0.5, "lambdas": [0.1, 0.01, 0.001], "bounds": [0, 0.1]}' ORDER BY i)) AS p FROM arrays) AS t;
SELECT (c).best IS NOT NULL AS chosen FROM (SELECT margin_cross_validate(paid, x, '{"loss": "logistic", "lambdas": [0.1, 0.01], "bounds": [-0.1, 0.1]}' ORDER BY i) AS c FROM arrays) AS t;
SELECT (m).calibration IS NOT NULL AS calibrated, (m).weights[1] <= 0.1 AS inside FROM (SELECT train_margin(paid, x, margin_options(lambda => 0.1, calibration => 'platt', bounds => '[null, 0.1]') ORDER BY i) AS m FROM arrays) AS t;
SELECT (m).iterations <= 1 AS at_once FROM (SELECT train_margin(paid, x, margin_options(loss => 'logistic', lambda => 0.02, tolerance => 1e-3, solver => 'newton', initial => (SELECT m FROM bounded WHERE loss = 'logistic' AND rho = 0),
  bounds => '{"1": [null, 0.1], "3": [-0.05, 0.3], "*": [0, null]}') ORDER BY i) AS m FROM arrays) AS t;

-- Rows may declare any number of features, and bounds name any of them.
SELECT o, pg_temp.error_of(format($$SELECT train_margin(i %% 2 = 0, margin_sparse(ARRAY[1 + i %% 3, 1000000000], ARRAY[sin(i), cos(i)], 1000000000), %L::jsonb || '{"lambda": 0.1, "loss": "logistic"}') FROM generate_series(1, 50) AS i$$, o)) AS message
  FROM unnest(ARRAY['{"bounds": {"1000000000": [0, 1]}}', '{"bounds": {"999999999": [0.5, 1]}}', '{"bounds": [0.1, 1]}', '{"monotone": {"1000000000": 1}}', '{"positive": true}', '{"fairness": {"column": 1, "bound": 1}}']) AS o;
-- What is refused, and why.
SELECT pg_temp.error_of(format('SELECT train_margin(paid, x, %L::jsonb) FROM arrays', o)) AS message FROM unnest(ARRAY[
  '{"bounds": [0, 1]}', '{"lambda": 0.1, "kernel": "rbf", "bounds": [0, 1]}', '{"lambda": 0, "loss": "logistic", "positive": true}', '{"lambda": 0.1, "loss": "logistic", "multiclass": "joint", "bounds": [0, 1]}',
  '{"lambda": 0.1, "solver": "sgd", "bounds": [0, 1]}', '{"lambda": 0.1, "bounds": [1, 0]}', '{"lambda": 0.1, "bounds": 3}', '{"lambda": 0.1, "bounds": {"1": [0]}}', '{"lambda": 0.1, "bounds": {"1": [0, "x"]}}', '{"lambda": 0.1, "bounds": {}}',
  '{"lambda": 0.1, "bounds": [[0, 1], [0, 1]]}', '{"lambda": 0.1, "bounds": {"7": [0, 1]}}', '{"lambda": 0.1, "bounds": {"age": [0, 1]}}', '{"lambda": 0.1, "monotone": {"1": 2}}', '{"lambda": 0.1, "monotone": {"1": -1}, "bounds": {"1": [1, 2]}}',
  '{"lambda": 0.1, "bounds": [0, 1e200]}']) AS o;
SELECT pg_temp.error_of(format('SELECT train_margin(paid, r, %L::jsonb) FROM loans AS r', o)) AS message
  FROM unnest(ARRAY['{"lambda": 0.1, "bounds": {"agee": [0, 1]}}', '{"lambda": 0.1, "monotone": {"home": 1}}', '{"lambda": 0.1, "bounds": [[0, 1]]}']) AS o;
-- By scans: the same optimum, and the same prices, of arrays and of rows with names.
CREATE TABLE scanned AS
  SELECT loss, train_margin_from('SELECT paid, x FROM arrays', o || '{"sample_rows": 30}') AS s, (SELECT train_margin(paid, x, o ORDER BY i) FROM arrays) AS m
    FROM unnest('{hinge, logistic}'::text[]) AS loss, margin_options(loss => loss, lambda => 0.01, tolerance => 1e-7, intercept => 'penalized', bounds => '{"1": [0.1, 0.3], "3": [-0.2, 9], "4": [0, 0]}') AS o
  UNION ALL
  SELECT 'by name', train_margin_from('SELECT paid, r FROM loans AS r', o || '{"sample_rows": 30}'), (SELECT train_margin(paid, r, o ORDER BY i) FROM loans AS r)
    FROM margin_options(loss => 'logistic', lambda => 0.01, tolerance => 1e-7, intercept => 'penalized', exclude => '{i, paid}', monotone => '{"income": -1}', bounds => '{"home": [-0.1, 0.05], "age": [null, 0.01]}') AS o;
SELECT loss, (s).status, (s).rows, (s).iterations BETWEEN 2 AND 10 AS scans, (s).primal >= (m).dual AND (m).primal >= (s).dual AS same FROM scanned ORDER BY loss;
SELECT loss, count(*) AS bounds, bool_and(a.name = b.name AND a.active = b.active) AS alike, max(abs(a.price - b.price)) <= 1e-3 * max(abs(b.price)) AS prices,
       bool_and(CASE a.relation WHEN '<=' THEN a.value <= a.bound ELSE a.value >= a.bound END) AS kept
  FROM scanned, margin_rules(s) WITH ORDINALITY AS a JOIN LATERAL margin_rules(m) WITH ORDINALITY AS b USING (ordinality) GROUP BY loss ORDER BY loss;
SELECT loss, abs((v).primal - (s).primal) <= 1e-9 * (s).primal AS verified
  FROM (SELECT loss, s, (SELECT margin_verify(s, paid, x) FROM arrays) AS v FROM scanned WHERE loss <> 'by name') AS t ORDER BY loss;
-- What all rows say of the weights of a model, as states that add up.
SELECT loss, abs(c.upper - (m).primal) <= 1e-9 * c.upper AS upper, c.lower BETWEEN 0.99 * (m).dual AND c.upper AS lower
  FROM (SELECT loss, m, margin_question(NULL, m) AS q FROM scanned WHERE loss = 'logistic') AS t,
       LATERAL margin_certificate(q, (SELECT margin_sum(margin_term(q, paid, x)) FROM arrays)) AS c;
SELECT pg_temp.error_of($$SELECT margin_gap_at(m, 0.1) FROM bounded WHERE loss = 'logistic' AND rho = 0$$);
SELECT pg_temp.error_of($$SELECT margin_rules(train_margin(paid, x, '{"lambda": 0.1, "kernel": "rbf"}')) FROM arrays$$);
SELECT pg_temp.error_of($$SELECT margin_inference(m, paid, x) FROM bounded, arrays WHERE loss = 'logistic' AND rho = 0$$);

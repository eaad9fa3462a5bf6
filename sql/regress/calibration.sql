-- The option calibration: scores of any loss as probabilities.
-- What a statement raises: SQLSTATE, message, detail, hint.
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE m text; d text; h text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || m || CASE WHEN d <> '' THEN E'\n  DETAIL: ' || d ELSE '' END
                               || CASE WHEN h <> '' THEN E'\n  HINT: ' || h ELSE '' END;
END $$;
-- y is true with probability 1/(1 + e^(−3 x₁)); a fixed sequence of numbers in [0, 1) stands for chance.
CREATE TABLE chance AS
  SELECT i, ARRAY[4 * u - 2, 4 * v - 2]::float8[] AS x, w < 1 / (1 + exp(-3 * (4 * u - 2))) AS y, 1 / (1 + exp(-3 * (4 * u - 2))) AS p
    FROM generate_series(1, 4000) i, LATERAL (SELECT i * 0.7548776662466927 % 1 AS u, i * 0.5698402909980532 % 1 AS v, i * 0.8191725133961645 % 1 AS w) r;
CREATE TABLE calibrated AS
  SELECT loss, kind, train_margin(y, x, margin_options(lambda => 0.01, loss => loss, calibration => kind, tolerance => 1e-4) ORDER BY i) AS m
    FROM chance, unnest('{hinge,smoothed_hinge,squared_hinge,logistic}'::text[]) AS loss, unnest('{none,platt,isotonic}'::text[]) AS kind
   WHERE i <= 3000 GROUP BY loss, kind;

-- What is stored: a slope and an offset, or knots of (output, score, probability) whose scores and probabilities rise.
SELECT loss, kind, array_ndims((m).calibration) AS dimensions, array_length((m).calibration, 2) AS columns,
       CASE kind WHEN 'platt' THEN array_length((m).calibration, 1) = 1 AND (m).calibration[1][1] > 0
                 WHEN 'isotonic' THEN array_length((m).calibration, 1) BETWEEN 5 AND 1000 END AS sound
  FROM calibrated ORDER BY loss, kind;
-- The rest of the model is that of a training without calibration.
SELECT count(DISTINCT (m).weights) AS weights, count(DISTINCT (m).gap) AS gaps FROM calibrated GROUP BY loss ORDER BY loss;

-- Fresh rows: near the truth, and calibrated; the log loss is near that of the truth.
SELECT loss, kind, avg(abs(margin_probability(m, x) - p)) < 0.04 AS near_the_truth, max(abs(margin_probability(m, x) - p)) < 0.25 AS everywhere
  FROM calibrated, chance WHERE i > 3000 AND kind <> 'none' GROUP BY loss, kind ORDER BY loss, kind;
SELECT loss, kind, (e).log_loss < 1.05 * (SELECT avg(-ln(CASE WHEN y THEN p ELSE 1 - p END)) FROM chance WHERE i > 3000) AS log_loss
  FROM (SELECT loss, kind, margin_evaluate(m, y, x) AS e FROM calibrated, chance WHERE i > 3000 GROUP BY loss, kind) s ORDER BY loss, kind;
-- margin_evaluate and margin_probability tell the same.
SELECT bool_and(abs((e).log_loss - l) < 1e-12) AS same
  FROM (SELECT margin_evaluate(m, y, x) AS e, avg(-ln(CASE WHEN y THEN margin_probability(m, x) ELSE 1 - margin_probability(m, x) END)) AS l
          FROM calibrated, chance WHERE i > 3900 AND kind <> 'none' GROUP BY loss, kind) s;
-- The probability rises with the score, and the two of two classes sum to 1.
SELECT kind, bool_and(rises) AS rises, bool_and(abs(sum - 1) < 1e-15) AS sums, bool_and(least > 0) AS positive
  FROM (SELECT kind, margin_probability(m, x) >= lag(margin_probability(m, x), 1, 0::float8) OVER (PARTITION BY loss, kind ORDER BY margin_score(m, x)) AS rises,
               (margin_probabilities(m, x))[1] + (margin_probabilities(m, x))[2] AS sum, least((margin_probabilities(m, x))[1], (margin_probabilities(m, x))[2]) AS least
          FROM calibrated, chance WHERE i > 3500 AND kind <> 'none') s GROUP BY kind ORDER BY kind;
-- The same rows, order and seed: the same bits.
SELECT kind, bool_and(c = (m).calibration) AS same
  FROM (SELECT loss, kind, m, (SELECT (train_margin(y, x, margin_options(lambda => 0.01, loss => loss, calibration => kind, tolerance => 1e-4) ORDER BY i)).calibration
                                 FROM chance WHERE i <= 3000) AS c FROM calibrated WHERE loss = 'hinge' AND kind <> 'none') s GROUP BY kind ORDER BY kind;
SELECT (m).calibration <> (train_margin(y, x, margin_options(lambda => 0.01, calibration => 'platt', tolerance => 1e-4, seed => 5) ORDER BY i)).calibration AS other_folds
  FROM calibrated, chance WHERE loss = 'hinge' AND kind = 'platt' AND i <= 3000 GROUP BY m;

-- A calibration that can be followed by hand: scores are x.
CREATE TEMP TABLE hand AS SELECT jsonb_populate_record(NULL::margin_model, jsonb_build_object('classes', '{f,t}'::text[], 'weights', '{1}'::float8[],
  'intercept', '{0}'::float8[], 'lambda', 1, 'loss', 'hinge', 'options', '{}'::jsonb, 'calibration', c)) AS m, n
  FROM (VALUES (1, '[[2, -1]]'::jsonb), (2, '[[1, -1, 0.25], [1, 1, 0.75], [1, 3, 0.75], [1, 4, 0.875]]')) v (n, c);
SELECT n, x, round(margin_probability(m, ARRAY[x])::numeric, 6) AS p FROM hand, unnest('{-5,-1,0,0.5,2,3.5,9}'::float8[]) AS x ORDER BY n, x;
SELECT n, round((margin_evaluate(m, y, x)).log_loss::numeric, 6) AS log_loss, round((CASE n WHEN 1 THEN -ln(1 / (1 + exp(1.0))) ELSE -ln(0.5) END)::numeric, 6) AS expected
  FROM hand, (VALUES ('t', '{0}'::float8[])) v (y, x) GROUP BY n ORDER BY n;
-- In parallel workers.
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
SELECT abs((margin_evaluate((SELECT m FROM calibrated WHERE loss = 'hinge' AND kind = 'isotonic'), y, x)).log_loss - (
         SELECT avg(-ln(CASE WHEN y THEN margin_probability(m, x) ELSE 1 - margin_probability(m, x) END)) FROM calibrated, chance WHERE loss = 'hinge' AND kind = 'isotonic')) < 1e-12 AS same
  FROM chance;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;

-- Three classes: each against the rest, calibrated on its own, divided by the sum.
CREATE TABLE corners AS
  SELECT k, ARRAY[x[1] + CASE k WHEN 1 THEN 2 ELSE 0 END, x[2] + CASE k WHEN 2 THEN 2 ELSE 0 END] AS x FROM chance, LATERAL (SELECT i * 7 % 5 / 2 AS k) c;
CREATE TABLE calibrated_three AS
  SELECT kind, train_margin(k, x, margin_options(lambda => 0.01, loss => 'squared_hinge', calibration => kind)) AS m
    FROM corners, unnest('{platt,isotonic}'::text[]) AS kind GROUP BY kind;
SELECT kind, array_length((m).calibration, 2) AS columns, (m).calibration[1][1] > 0 AS first FROM calibrated_three ORDER BY kind;
SELECT kind, c, max(abs(total - 1)) < 1e-12 AS sums, abs(avg(q - (k = c - 1)::int)) < 0.02 AS calibrated
  FROM calibrated_three, corners, LATERAL (SELECT margin_probabilities(m, x) AS p) s, LATERAL unnest(p) WITH ORDINALITY AS q (q, c),
       LATERAL (SELECT sum(u) AS total FROM unnest(p) AS u) t GROUP BY kind, c ORDER BY kind, c;
SELECT kind, (e).log_loss BETWEEN 0.3 AND 0.8 AS log_loss
  FROM (SELECT kind, margin_evaluate(m, k, x) AS e FROM calibrated_three, corners GROUP BY kind) s ORDER BY kind;

-- Row weights count: a class of weight 4 has four times the odds. Class weights do not: probabilities are about the rows.
SELECT name, margin_probability(m, '{0,0}'::float8[]) BETWEEN low AND low + 0.1 AS odds FROM (
  SELECT 'plain' AS name, 0.45 AS low, train_margin(y, x, margin_options(lambda => 0.01, calibration => 'platt')) AS m FROM chance
  UNION ALL SELECT 'class', 0.45, train_margin(y, x, margin_options(lambda => 0.01, calibration => 'platt', class_weight => '{"true": 4}')) FROM chance
  UNION ALL SELECT 'row', 0.75, train_margin(y, x, CASE WHEN y THEN 4 ELSE 1 END, margin_options(lambda => 0.01, calibration => 'platt')) FROM chance) s;
-- A rare class, balanced for the boundary's sake: the probabilities are its true prevalence, 0.0027.
SELECT kind, loss, class_weight, abs(avg(margin_probability(m, x)) / 0.0027 - 1) < 0.2 AS prevalence, max(margin_probability(m, x)) > 0.01 AS tells_apart,
       avg((margin_score(m, x) > 0)::int) > 0.1 AS boundary_moved
  FROM (SELECT kind, loss, class_weight, train_margin(y, x, margin_options(lambda => 1e-4, loss => loss, class_weight => class_weight::text, calibration => kind) ORDER BY i) AS m
          FROM (SELECT i, i <= 54 AS y, ARRAY[sin(i * 1.7) + CASE WHEN i <= 54 THEN 1 ELSE 0 END, cos(i)] AS x FROM generate_series(1, 20000) i) r,
               unnest('{platt,isotonic}'::text[]) AS kind, (VALUES ('hinge', '{"true": 300}'), ('logistic', 'balanced')) w (loss, class_weight) GROUP BY 1, 2, 3) t,
       (SELECT ARRAY[sin(i * 1.7) + CASE WHEN i <= 54 THEN 1 ELSE 0 END, cos(i)] AS x FROM generate_series(1, 20000) i) r
 GROUP BY kind, loss, class_weight ORDER BY kind, loss;
-- With standardised columns, by sdca and newton with a start, by sgd without.
SELECT solver, abs(margin_probability(train_margin(y, ARRAY[1000 * x[1], x[2]], margin_options(lambda => 0.01, calibration => 'isotonic', solver => solver, standardize => true, tolerance => 0.1,
         initial => CASE WHEN solver <> 'sgd' THEN (SELECT m FROM calibrated WHERE loss = 'hinge' AND kind = 'none') END)), '{0,0}'::float8[]) - 0.5) < 0.06 AS half
  FROM chance, unnest('{sdca,newton,sgd}'::text[]) AS solver GROUP BY solver ORDER BY solver;
-- Two rows of a class are enough, one is not.
SELECT pg_temp.error_of($$SELECT train_margin(i = 7, x, margin_options(lambda => 0.01, calibration => 'platt')) FROM chance WHERE i <= 50$$);
SELECT pg_temp.error_of($$SELECT train_margin(i IN (7, 9), x, CASE i WHEN 9 THEN 0 ELSE 1 END, margin_options(lambda => 0.01, calibration => 'isotonic')) FROM chance WHERE i <= 50$$);
SELECT margin_probability(train_margin(i IN (7, 9), x, margin_options(lambda => 0.01, calibration => kind)), '{0,0}'::float8[]) BETWEEN 0.001 AND 0.2 AS rare
  FROM chance, unnest('{platt,isotonic}'::text[]) AS kind WHERE i <= 50 GROUP BY kind;

-- What is refused.
SELECT pg_temp.error_of($$SELECT margin_options(calibration => 'sigmoid')$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(calibration => 'platt')) FROM chance$$);
SELECT pg_temp.error_of($$SELECT train_margin(p, x, margin_options(lambda => 0.1, loss => 'squared', calibration => 'platt')) FROM chance$$);
SELECT pg_temp.error_of($$SELECT margin_probability(m, x) FROM calibrated, chance WHERE loss = 'hinge' AND kind = 'none'$$);
SELECT pg_temp.error_of($$SELECT margin_probability(m, x) FROM calibrated_three, chance$$);
SET margin.memory_limit = '350kB';
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(lambda => 0.01, solver => 'sdca', calibration => 'isotonic')) FROM chance$$) LIKE '54000: calibration needs%' AS refused;
RESET margin.memory_limit;
DROP TABLE chance, corners, calibrated, calibrated_three;

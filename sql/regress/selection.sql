-- Model selection in one scan: paths along lambda, and cross-validation.
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
CREATE TEMP TABLE points (i int, y text, t float8, x float8[]);
INSERT INTO points SELECT i, CASE WHEN sin(i * 1.3) + sin(i * 5.1) / 2 > 0 THEN 'up' ELSE 'down' END, sin(i * 1.3) - 2 * cos(i * 0.7) + sin(i * 7.7) / 4,
  ARRAY[sin(i * 1.3), cos(i * 0.7), (i % 7) / 3.0, sin(i * i)] FROM generate_series(1, 300) i;

-- A path: one model per lambda, in the order of the list, each certified by itself and each with the options that train it alone.
CREATE TEMP TABLE path AS
  SELECT margin_path(y, x, margin_options(loss => 'logistic', tolerance => 1e-6) || '{"lambdas": [0.001, 1, 0.1]}' ORDER BY i) AS models FROM points;
SELECT n, (m).lambda, (m).loss, (m).status, (m).options, (m).gap <= 1e-6 * (m).primal AS gap, (m).rows, (m).dual_weights IS NULL AS no_duals
  FROM path, generate_subscripts(models, 1) n, LATERAL (SELECT models[n] AS m) l ORDER BY n;
SELECT n, (m).dual <= (alone).primal AND (alone).dual <= (m).primal AS same_optimum,
       (SELECT max(abs(a - b)) < 0.01 FROM unnest((m).weights, (alone).weights) u (a, b)) AS same_weights
  FROM path, generate_series(1, 3) n, LATERAL (SELECT models[n] AS m) l,
       LATERAL (SELECT train_margin(y, x, (m).options ORDER BY i) AS alone FROM points) a ORDER BY n;
-- They are models like any other.
SELECT count(*) FILTER (WHERE margin_predict(models[1], x) = y) > 250 AS mostly_right FROM points, path;
-- Without a list: five powers of ten from the size of the rows. With lambda: that one.
SELECT pg_typeof(p), array_agg((m).lambda ORDER BY n) AS lambdas FROM (SELECT margin_path(y, x) AS p FROM points) s,
  generate_subscripts(p, 1) n, LATERAL (SELECT p[n] AS m) l GROUP BY 1;
SELECT cardinality(p) AS models, (p[1]).lambda FROM (SELECT margin_path(y, x, margin_options(lambda => 0.5)) AS p FROM points) s;
-- Regression, more classes, history and dual weights on request, groups.
SELECT cardinality(p) AS models, bool_and((m).status = 'optimal') AS optimal, bool_and(cardinality((m).dual_weights) = 300) AS duals, bool_and((m).history IS NOT NULL) AS histories
  FROM (SELECT margin_path(t, x, margin_options(loss => 'squared', dual_weights => true, history => true)) AS p FROM points) s,
       generate_subscripts(p, 1) n, LATERAL (SELECT p[n] AS m) l GROUP BY 1;
SELECT i3, cardinality(p) AS models, array_dims((p[1]).weights) AS weights FROM (SELECT i % 2 AS i3, margin_path((i % 3), x) AS p FROM points GROUP BY i % 2) s ORDER BY i3;
-- A row of weight 2 is the row given twice.
SELECT bool_and(abs((a[k]).primal / (b[k]).primal - 1) <= 2e-6 AND (a[k]).status = 'optimal') AS weighted
  FROM (SELECT margin_path(y, x, 1.0 + i % 2, '{"lambdas": [1, 0.1], "tolerance": 1e-6}') AS a FROM points) s,
       (SELECT margin_path(y, x, '{"lambdas": [1, 0.1], "tolerance": 1e-6}') AS b FROM points, generate_series(0, i % 2)) t,
       generate_series(1, 2) AS k;
SELECT margin_path(y, x) IS NULL AS nothing FROM points WHERE i < 0;
SELECT margin_path(NULL::text, x) IS NULL AS nothing FROM points;

-- Cross-validation: what the settings are, how they did, which was best.
CREATE TEMP TABLE selection AS
  SELECT margin_cross_validate(y, x, '{"lambdas": [10, 0.01, 0.0001], "losses": ["hinge", "logistic"], "folds": 4, "seed": 3, "tolerance": 1e-4}' ORDER BY i) AS s FROM points;
SELECT (s).metric, (s).folds, (s).rows, (s).skipped, (s).lambdas, (s).losses, array_dims((s).fold_values) AS fold_values, (s).unfinished FROM selection;
SELECT (s).best BETWEEN 2 AND 6 AS best, (s).best_mean = (SELECT max(v) FROM unnest((s).means) v) AS best_mean, (s).best_mean > 0.85 AS good,
       (s).means[(s).best] = (s).best_mean AS at_best FROM selection;
SELECT bool_and(abs(mean - (s).means[k]) < 1e-12) AS means, bool_and(abs(deviation - (s).deviations[k]) < 1e-9) AS deviations
  FROM selection, generate_series(1, 6) k, LATERAL (SELECT avg((s).fold_values[k][f]) AS mean, stddev_samp((s).fold_values[k][f]) AS deviation FROM generate_series(1, 4) f) l;
-- The best setting trains as it is.
SELECT (s).options - 'lambda' - 'loss' AS options, (s).options ->> 'lambda' = (s).lambdas[(s).best]::text AS lambda, (s).options ->> 'loss' = (s).losses[(s).best] AS loss FROM selection;
SELECT (train_margin(y, x, s.options)).status FROM points, (SELECT (s).options FROM selection) s;
-- The same rows in the same order give the same folds.
SELECT (a).fold_values = (s).fold_values AS same FROM selection,
  (SELECT margin_cross_validate(y, x, '{"lambdas": [10, 0.01, 0.0001], "losses": ["hinge", "logistic"], "folds": 4, "seed": 3, "tolerance": 1e-4}' ORDER BY i) AS a FROM points) t;
SELECT (a).metric, (a).folds, (a).lambdas, (a).losses FROM (SELECT margin_cross_validate(y, x) AS a FROM points) t;
-- Other metrics.
SELECT metric, (a).metric, CASE WHEN larger THEN (a).best_mean = (SELECT max(v) FROM unnest((a).means) v) ELSE (a).best_mean = (SELECT min(v) FROM unnest((a).means) v) END AS best,
       CASE metric WHEN 'auc' THEN (a).best_mean > 0.9 WHEN 'log_loss' THEN (a).best_mean < 0.5 WHEN 'r2' THEN (a).best_mean > 0.9 ELSE (a).best_mean < 0.2 END AS good
  FROM (VALUES ('auc', true), ('log_loss', false)) v (metric, larger),
       LATERAL (SELECT margin_cross_validate(y, x, jsonb_build_object('loss', 'logistic', 'metric', metric)) AS a FROM points) l
UNION ALL
SELECT metric, (a).metric, CASE WHEN larger THEN (a).best_mean = (SELECT max(v) FROM unnest((a).means) v) ELSE (a).best_mean = (SELECT min(v) FROM unnest((a).means) v) END,
       CASE metric WHEN 'r2' THEN (a).best_mean > 0.9 ELSE (a).best_mean < 0.2 END
  FROM (VALUES ('mse', false), ('mae', false), ('r2', true)) v (metric, larger),
       LATERAL (SELECT margin_cross_validate(t, x, jsonb_build_object('loss', 'squared', 'metric', metric, 'standardize', true)) AS a FROM points) l ORDER BY 1;
-- A fold of equal targets has no r2: NULL, and not part of the mean.
SELECT (a).fold_values[1][1] IS NULL OR (a).fold_values[1][2] IS NULL AS undefined, (a).means[1] IS NULL AS no_mean, (a).best, (a).options
  FROM (SELECT margin_cross_validate(1, x, '{"loss": "squared", "metric": "r2", "lambda": 1, "folds": 2}') AS a FROM points) t;
SELECT margin_cross_validate(y, x) IS NULL AS nothing FROM points WHERE i < 0;
SELECT g, (a).rows, (a).skipped FROM (SELECT i % 2 AS g, margin_cross_validate(CASE WHEN i > 10 THEN y END, x, '{"lambda": 0.1}') AS a FROM points GROUP BY i % 2) s ORDER BY g;

-- A grid: every combination of values with every loss and lambda. The best setting trains with its values.
CREATE TEMP TABLE grid AS SELECT margin_cross_validate(y, x, '{"lambdas": [0.1, 0.001], "losses": ["hinge", "logistic"], "grid": {"standardize": [false, true], "intercept": ["free", "penalized"]}, "seed": 3}' ORDER BY i) AS s FROM points;
SELECT jsonb_array_length((s).settings) AS settings, (s).settings -> 0 AS first, (s).settings -> 15 AS last, cardinality((s).means) AS means FROM grid;
SELECT (s).options - 'seed' = (s).settings -> ((s).best - 1) AS best, (s).one_standard_error_options - 'seed' = (s).settings -> ((s).one_standard_error - 1) AS simple,
       (s).lambdas[(s).one_standard_error] >= (s).lambdas[(s).best] AS larger,
       (s).means[(s).one_standard_error] >= (s).best_mean - (s).deviations[(s).best] / sqrt(5) AS near FROM grid;
SELECT (train_margin(y, x, s.options)).status FROM points, (SELECT (s).options FROM grid) s;
-- Kernels and what they read; C of other programs is 1/(lambda times the rows).
SELECT (s).settings FROM (SELECT margin_cross_validate(y, x, '{"Cs": [1, 10], "kernel": "rbf", "grid": {"gamma": [0.1, 1]}, "folds": 3}' ORDER BY i) AS s FROM points) t;
SELECT (s).lambdas, array_agg((m).lambda ORDER BY n) AS path FROM (SELECT margin_cross_validate(y, x, '{"Cs": [1, 10]}') AS s, margin_path(y, x, '{"Cs": [1, 10]}') AS p FROM points) t,
  generate_subscripts(p, 1) n, LATERAL (SELECT p[n] AS m) l GROUP BY 1;
-- Folds by a column: here all rows of a week.
SELECT (s).folds, cardinality((s).fold_values) AS values FROM (SELECT margin_cross_validate(y, x, 1, margin_fold(i / 7, 3), '{"lambda": 0.01}') AS s FROM points) t;
SELECT (a).fold_values = (b).fold_values AS any_numbers FROM (SELECT margin_cross_validate(y, x, 1, i % 4, '{"lambda": 0.01}' ORDER BY i) AS a,
  margin_cross_validate(y, x, 1, 10 * (i % 4) - 5, '{"lambda": 0.01}' ORDER BY i) AS b FROM points) t;
-- Forward in time: each fold from those before it, in the order of the rows or of the numbers.
SELECT (a).fold_values[1][1] IS NULL AS first, (a).fold_values = (b).fold_values AS same, (a).means[1] = (SELECT avg(v) FROM unnest((a).fold_values) v) AS mean
  FROM (SELECT margin_cross_validate(y, x, '{"lambda": 0.01, "folds": 4, "split": "forward"}' ORDER BY i) AS a,
               margin_cross_validate(y, x, 1, (i - 1) / 75, '{"lambda": 0.01, "split": "forward"}' ORDER BY i) AS b FROM points) t;
-- Row weights: what weighs nothing trains nothing.
SELECT (a).best_mean > 0.85 AS good FROM (SELECT margin_cross_validate(CASE WHEN i > 250 THEN 'up' ELSE y END, x, (i <= 250)::int, '{"lambda": 0.001}') AS a FROM points WHERE i <= 250 OR y = 'down') t;

-- A limit that is met is one warning, and counted.
SELECT (a).unfinished FROM (SELECT margin_cross_validate(y, x, '{"lambdas": [0.0001], "solver": "sdca", "max_iterations": 1, "tolerance": 0, "folds": 3}' ORDER BY i) AS a FROM points) t;

-- What is refused.
CREATE FUNCTION pg_temp.try(options text) RETURNS text LANGUAGE sql AS $$
  SELECT pg_temp.error_of(format('SELECT margin_cross_validate(y, x, %L) FROM points', options)) $$;
SELECT pg_temp.try('{"lambdas": []}');
SELECT pg_temp.try('{"lambdas": [1, -1]}');
SELECT pg_temp.try('{"lambdas": 0.1}');
SELECT pg_temp.try('{"lambdas": [1], "lambda": 1}');
SELECT pg_temp.try('{"losses": ["hinge", "squared"]}');
SELECT pg_temp.try('{"losses": ["hing"]}');
SELECT pg_temp.try('{"losses": ["hinge"], "loss": "hinge"}');
SELECT pg_temp.try('{"losses": [1]}');
SELECT pg_temp.try('{"folds": 1}');
SELECT pg_temp.try('{"folds": 301}');
SELECT pg_temp.try('{"metric": "speed"}');
SELECT pg_temp.try('{"metric": "mse"}');
SELECT pg_temp.try('{"metric": "pinball", "losses": ["squared", "quantile"]}');
SELECT pg_temp.try('{"metric": "deviance", "loss": "squared"}');
SELECT pg_temp.try('{"metric": "log_loss"}');
SELECT pg_temp.try('{"lambads": [1]}');
SELECT pg_temp.try('{"Cs": [1], "lambdas": [1]}');
SELECT pg_temp.try('{"Cs": [0]}');
SELECT pg_temp.try('{"split": "random"}');
SELECT pg_temp.try('{"grid": [1]}');
SELECT pg_temp.try('{"grid": {"gama": [1]}}');
SELECT pg_temp.try('{"grid": {"lambda": [1]}}');
SELECT pg_temp.try('{"grid": {"gamma": [1]}}');
SELECT pg_temp.try('{"grid": {"gamma": 1}, "kernel": "rbf"}');
SELECT pg_temp.try('{"grid": {"gamma": [-1]}, "kernel": "rbf"}');
SELECT pg_temp.try('{"grid": {"gamma": [1]}, "gamma": 1, "kernel": "rbf"}');
SELECT pg_temp.error_of($$SELECT margin_cross_validate(y, x, 1, 3, '{}') FROM points$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(y, x, 1, i % 3, '{"folds": 3}') FROM points$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(y, x, 1, nullif(i % 3, 2), '{}' ORDER BY i) FROM points$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(y, x, 1, (y = 'up')::int, '{}') FROM points$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(y, x, -1, 1, '{}') FROM points$$);
SELECT pg_temp.try('{"tolerance": 2}');
SELECT pg_temp.try('{"initial": {"weights": [1, 2, 3, 4]}}');
SELECT pg_temp.error_of($$SELECT margin_cross_validate(i % 3, x, '{"metric": "auc"}') FROM points$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(i = 1, x) FROM points$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(true, x) FROM points$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(y, x, jsonb_build_object('seed', i)) FROM points$$);
SELECT pg_temp.error_of($$SELECT margin_path(y, x, '{"folds": 5}') FROM points$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"lambdas": [1]}') FROM points$$);
SET margin.memory_limit = '16kB';
SELECT left(pg_temp.error_of($$SELECT margin_cross_validate(y, x) FROM points$$), 6), left(pg_temp.error_of($$SELECT margin_path(y, x, '{"standardize": true}') FROM points$$), 6);
RESET margin.memory_limit;

-- Certified: no lambda of the interval has an error much below the best one's, and the errors at any lambda respect the bounds.
CREATE TEMP TABLE certified AS SELECT margin_cross_validate(y, x, '{"loss": "logistic", "certified": 0.02, "folds": 3, "lambdas": [0.0001, 1]}' ORDER BY i) AS s FROM points;
SELECT (s).certificate ->> 'asked' AS asked, ((s).certificate ->> 'proven')::float8 <= 0.02 AS proven,
       abs(((s).certificate ->> 'error')::float8 - (1 - (s).best_mean)) < 1e-12 AS error, (s).unfinished,
       (s).lambdas[1] AS largest, (s).lambdas[cardinality((s).lambdas)] AS smallest, (s).options - 'lambda' AS options FROM certified;
SELECT count(*) = (SELECT cardinality((s).lambdas) - 1 FROM certified) AS one_between_neighbours, min("from") AS least, max("to") AS largest
  FROM certified, jsonb_to_recordset((s).certificate -> 'bounds') AS b("from" float8, "to" float8, error float8);
SELECT bool_and(1 - mean >= error - 1e-9) AS hold, count(*) >= 20 AS some
  FROM (SELECT margin_cross_validate(y, x, '{"loss": "logistic", "tolerance": 1e-10, "folds": 3, "lambdas": [0.9, 0.5, 0.3, 0.2, 0.1, 0.07, 0.05, 0.03, 0.02, 0.01, 0.007, 0.005, 0.003, 0.002, 0.001, 0.0007, 0.0005, 0.0003, 0.0002, 0.00015]}' ORDER BY i) AS g FROM points) t,
       unnest((g).lambdas, (g).means) AS m (lambda, mean), certified,
       jsonb_to_recordset((s).certificate -> 'bounds') AS b("from" float8, "to" float8, error float8) WHERE lambda BETWEEN "from" AND "to";
-- Without a curvature a few trainings prove less than was asked for, and the answer says what.
SET client_min_messages = error;  -- the figure in the warning is this machine's
SELECT cardinality((s).lambdas) AS lambdas, ((s).certificate ->> 'proven')::float8 > 0.001 AS not_proven
  FROM (SELECT margin_cross_validate(y, x, '{"certified": 0.001, "max_trainings": 15, "folds": 3}' ORDER BY i) AS s FROM points) t;
RESET client_min_messages;
SELECT (s).certificate IS NULL AS none FROM selection;
SELECT pg_temp.try('{"certified": 0}');
SELECT pg_temp.try('{"certified": 0.01, "lambda": 1}');
SELECT pg_temp.try('{"certified": 0.01, "max_trainings": 1}');
SELECT pg_temp.try('{"max_trainings": 10}');
SELECT pg_temp.try('{"certified": 0.01, "metric": "auc"}');
SELECT pg_temp.try('{"certified": 0.01, "intercept": "free"}');
SELECT pg_temp.try('{"certified": 0.01, "kernel": "rbf"}');
SELECT pg_temp.try('{"certified": 0.01, "losses": ["hinge", "logistic"]}');
SELECT pg_temp.try('{"certified": 0.01, "loss": "squared"}');
SELECT pg_temp.error_of($$SELECT margin_cross_validate(i % 3, x, '{"certified": 0.01}') FROM points$$);

-- Predictions of the folds that a model has not seen, and each metric computed from them again, fold by fold.
CREATE TABLE unseen AS SELECT id, id % 4 AS fold, ARRAY[sin(id * 1.3), cos(id * 2.7), cos(id * 0.7)] AS x, sin(id * 1.3) + cos(id * 5.1) > 0.7 AS ill,
  (ARRAY['a', 'b', 'c'])[1 + (id % 5) / 2] AS kind, 3 * sin(id * 1.3) + cos(id * 5.1) AS t FROM generate_series(1, 400) AS id;
CREATE TABLE two AS SELECT metric, margin_cross_validate(ill, x, 1, fold, jsonb_build_object('loss', 'logistic', 'metric', metric, 'lambdas', '[0.01]'::jsonb, 'solver', 'newton', 'predictions', true) ORDER BY id) AS cv
  FROM unseen, unnest('{accuracy,balanced_accuracy,f1,f1_macro,mcc,auc,average_precision,log_loss,brier}'::text[]) AS metric GROUP BY metric;
WITH seen AS (SELECT p, ill, fold FROM (SELECT (cv).predictions AS all_of FROM two WHERE metric = 'f1') AS s,
    (SELECT array_agg(ill ORDER BY id) AS ills, array_agg(fold ORDER BY id) AS folds FROM unseen) AS r, unnest(all_of, ills, folds) AS t(p, ill, fold)),
  ranked AS (SELECT a.fold, a.p, count(*) FILTER (WHERE b.ill) AS hits, count(*) AS above FROM seen AS a JOIN seen AS b ON b.fold = a.fold AND b.p >= a.p WHERE a.ill GROUP BY a.fold, a.p),
  counts AS (SELECT fold, count(*)::float8 AS n, count(*) FILTER (WHERE ill AND p > 0)::float8 AS tp, count(*) FILTER (WHERE NOT ill AND p > 0)::float8 AS fp,
      count(*) FILTER (WHERE ill AND p <= 0)::float8 AS fn, count(*) FILTER (WHERE NOT ill AND p <= 0)::float8 AS tn,
      avg((1 / (1 + exp(-p)) - ill::int) ^ 2) AS brier, avg(ln(1 + exp(CASE WHEN ill THEN -p ELSE p END))) AS log_loss FROM seen GROUP BY fold),
  again AS (SELECT avg((tp + tn) / n) AS accuracy, avg((tp / (tp + fn) + tn / (tn + fp)) / 2) AS balanced_accuracy, avg(2 * tp / (2 * tp + fp + fn)) AS f1,
      avg((2 * tp / (2 * tp + fp + fn) + 2 * tn / (2 * tn + fp + fn)) / 2) AS f1_macro, avg((tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))) AS mcc,
      avg(brier) AS brier, avg(log_loss) AS log_loss,
      (SELECT avg(area) FROM (SELECT avg((a.p > b.p)::int + (a.p = b.p)::int / 2.0) AS area FROM seen AS a JOIN seen AS b USING (fold) WHERE a.ill AND NOT b.ill GROUP BY fold) AS q) AS auc,
      (SELECT avg(area) FROM (SELECT avg(hits::float8 / above) AS area FROM ranked GROUP BY fold) AS q) AS average_precision FROM counts)
SELECT metric, abs((cv).best_mean - (to_jsonb(again) ->> metric)::float8) < 1e-9 AS same FROM two, again ORDER BY metric;
SELECT abs((s.cv).best_mean - (SELECT avg((p - t) ^ 2) FROM unnest((s.cv).predictions, s.ts) AS q(p, t))) < 1e-12 AS mse, array_length((s.cv).lambdas, 1) AS lambdas
  FROM (SELECT margin_cross_validate(t, x, 1, fold, '{"loss": "squared", "predictions": true, "standardize": true, "l1_ratio": 0.5, "lambdas": [0.1]}' ORDER BY id) AS cv, array_agg(t ORDER BY id) AS ts FROM unseen) AS s;
SELECT array_dims((cv).predictions) AS dims, (cv).predictions[1:1] AS first, (cv).predictions[400][1] IS NOT NULL AS last
  FROM (SELECT margin_cross_validate(kind, x, '{"predictions": true, "split": "forward"}' ORDER BY id) AS cv FROM unseen) AS s;
SELECT array_length((cv).predictions, 1) AS certified FROM (SELECT margin_cross_validate(ill, x, '{"loss": "logistic", "predictions": true, "certified": 0.2}' ORDER BY id) AS cv FROM unseen) AS s;
-- Without lambdas an l1 norm has the path's own list; where prox_newton is not for the loss, the short one.
SELECT array_length((margin_cross_validate(ill, x, '{"l1_ratio": 0.9, "loss": "logistic"}' ORDER BY id)).lambdas, 1) AS path,
  array_length((margin_cross_validate(ill, x, '{"grid": {"l1_ratio": [0, 0.9]}, "loss": "logistic"}' ORDER BY id)).lambdas, 1) AS grid,
  array_length((margin_cross_validate(ill, x, '{"l1_ratio": 0.9}' ORDER BY id)).lambdas, 1) AS hinge FROM unseen;
SELECT pg_temp.error_of($$SELECT margin_cross_validate(kind, x, '{"metric": "f1"}') FROM unseen$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(ill, x, '{"metric": "brier"}') FROM unseen$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(ill, x, '{"metric": "f2"}') FROM unseen$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(ill, x, '{"predictions": 1}') FROM unseen$$);
SELECT left(pg_temp.error_of($$SELECT margin_path(ill, x, '{"predictions": true}') FROM unseen$$), 35);

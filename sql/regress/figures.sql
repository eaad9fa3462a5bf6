-- The figures of margin_evaluate against scikit-learn 1.2.1, to 1e-12. The numbers were printed, with %.15f, by
-- average_precision_score(y, s), matthews_corrcoef(y, s > 0), brier_score_loss(y, 1/(1 + exp(-s))), roc_auc_score(y, s), log_loss of these
-- (first table), matthews_corrcoef(c, argmax) (second), mean_poisson_deviance, mean_squared_error, mean_absolute_error, r2_score(n, exp(u)) (third).
CREATE TABLE two AS SELECT i, s, cos(i * 2.3) + s > 0.4 AS y FROM (SELECT i, round(sin(i * 1.7) * 8) / 4 + (i % 3 = 0)::int * 0.5 AS s FROM generate_series(1, 200) AS i) t;
CREATE TABLE three AS SELECT i, x, (CASE greatest(x[1], x[2], x[3]) WHEN x[1] THEN 0 WHEN x[2] THEN 1 ELSE 2 END + (i % 5 = 0)::int) % 3 AS y
  FROM (SELECT i, ARRAY[sin(i * 1.7), cos(i * 2.3), sin(i * 0.9 + 1)]::float8[] AS x FROM generate_series(1, 200) AS i) t;
CREATE TABLE counted AS SELECT i, ARRAY[sin(i * 0.7) + 0.3]::float8[] AS x, (i * 7919 % 5) * (1 + i % 3) AS n FROM generate_series(1, 200) AS i;
CREATE TABLE known (name text, m margin_model);
INSERT INTO known SELECT 'two', jsonb_populate_record(train_margin(y, ARRAY[s], '{"loss": "logistic", "lambda": 1}'), '{"weights": [1], "intercept": [0]}') FROM two;
INSERT INTO known SELECT 'three', jsonb_populate_record(train_margin(y, x, '{"lambda": 1}'), '{"weights": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "intercept": [0, 0, 0]}') FROM three;
INSERT INTO known SELECT 'counted', jsonb_populate_record(train_margin(n, x, '{"loss": "poisson", "lambda": 1}'), '{"weights": [1], "intercept": [0]}') FROM counted;
CREATE TABLE figures AS
  SELECT name, 'one pass' AS how, margin_evaluate(m, y, ARRAY[s]) AS e FROM known, two WHERE name = 'two' GROUP BY name, m
  UNION ALL SELECT name, 'one pass', margin_evaluate(m, y, x) FROM known, three WHERE name = 'three' GROUP BY name, m
  UNION ALL SELECT name, 'one pass', margin_evaluate(m, n, x) FROM known, counted WHERE name = 'counted' GROUP BY name, m;
INSERT INTO figures
  SELECT name, 'terms', margin_evaluate(m, margin_sum(margin_term(m, y, ARRAY[s]))) FROM known, two WHERE name = 'two' GROUP BY name, m
  UNION ALL SELECT name, 'terms', margin_evaluate(m, margin_sum(margin_term(m, y, x))) FROM known, three WHERE name = 'three' GROUP BY name, m
  UNION ALL SELECT name, 'terms', margin_evaluate(m, margin_sum(margin_term(m, n, x))) FROM known, counted WHERE name = 'counted' GROUP BY name, m;
SELECT f.name, how, figure, abs(found - expected) < 1e-12 AS equal
  FROM figures AS f, LATERAL (VALUES
    ('two', 'average_precision', (e).average_precision, 0.950951566739300), ('two', 'mcc', (e).mcc, 0.753251817672458), ('two', 'brier', (e).brier, 0.102820730308807),
    ('two', 'auc', (e).auc, 0.960799114331723), ('two', 'log_loss', (e).log_loss, 0.353018356067709), ('three', 'mcc', (e).mcc, 0.698069994886729),
    ('counted', 'deviance', (e).deviance, 7.410023509481976), ('counted', 'mse', (e).mse, 18.291161602813794), ('counted', 'mae', (e).mae, 3.198879906474358),
    ('counted', 'r2', (e).r2, -0.521097682349759)) AS v(name, figure, found, expected) WHERE v.name = f.name ORDER BY 1, 2, 3;
-- What does not apply is NULL: one class only, no model of probabilities, no rows.
SELECT name, (e).average_precision IS NULL AS ap, (e).brier IS NULL AS brier, (e).deviance IS NULL AS deviance, (e).mcc IS NULL AS mcc FROM figures WHERE how = 'terms' ORDER BY 1;
SELECT (e).average_precision, (e).mcc, (e).brier > 0 AS brier, (e).rows FROM (SELECT margin_evaluate(m, y, ARRAY[s]) AS e FROM known, two WHERE name = 'two' AND y) t;
SELECT margin_evaluate(m, y, ARRAY[s]) IS NULL AS none FROM known, two WHERE false;
DROP TABLE two, three, counted, known, figures;

\set ECHO none
\echo '== 3. Breast cancer: train on three quarters, predict, verify and evaluate on the rest =========================='
CREATE TABLE measurements (id int PRIMARY KEY, diagnosis text, x float8[]);
CREATE TEMP TABLE file (line text);
\copy file FROM 'data/breast_cancer.csv' CSV DELIMITER E'\x01' HEADER
INSERT INTO measurements
  SELECT f[1]::int, f[2], f[3:]::float8[] FROM (SELECT string_to_array(line, ',') AS f FROM file) AS s;
CREATE VIEW training AS SELECT * FROM measurements WHERE id % 4 <> 0;
CREATE VIEW holdout AS SELECT * FROM measurements WHERE id % 4 = 0;
\echo
\echo '-- 569 patients, 30 measurements on very different scales: standardize. Two ways to pay for errors, one table of models.'
\echo
\set ECHO queries
CREATE TABLE models AS
  SELECT loss, train_margin(diagnosis, x, margin_options(lambda => 1e-3, loss => loss, standardize => true, tolerance => 1e-6)
                            ORDER BY id) AS model
    FROM training, (VALUES ('hinge'), ('logistic')) AS l (loss) GROUP BY loss;

SELECT loss, (model).status, (model).solver, (model).primal, (model).dual, (model).gap, round((model).seconds::numeric, 3) AS seconds
  FROM models ORDER BY loss;
\set ECHO none
\echo '-- Predictions for patients whom no model has seen:'
\echo
\set ECHO queries
SELECT id, diagnosis, margin_predict(model, x) AS predicted, round(margin_probability(model, x)::numeric, 4) AS malignant
  FROM holdout, models WHERE loss = 'logistic' ORDER BY id LIMIT 6;

SELECT loss, e.rows, round(e.accuracy::numeric, 4) AS accuracy, e.classes, e.confusion
  FROM (SELECT loss, (margin_evaluate(model, diagnosis, x)).* FROM holdout, models GROUP BY loss) AS e ORDER BY loss;
\set ECHO none
\echo '-- The certificate once more: are the raw measurements of all 569 patients separable by a plane? Barely, and proven to be.'
\echo
\set ECHO queries
SELECT (m).status, (m).margin_lower, (m).margin_upper, (m).support, round((m).seconds::numeric, 2) AS seconds
  FROM (SELECT train_margin(diagnosis, x) AS m FROM measurements) AS t;

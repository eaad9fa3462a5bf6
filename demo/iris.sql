\set ECHO none
\echo '== 2. Iris: one extension, one aggregate, one certificate =================================================='
CREATE TABLE iris (id int PRIMARY KEY, species text, sepal_length float8, sepal_width float8, petal_length float8, petal_width float8);
\copy iris FROM 'data/iris.csv' CSV HEADER
\echo
\echo '-- 150 flowers. Which hyperplane separates setosa from the others with the largest margin (in cm)?'
\echo
\set ECHO queries
CREATE TABLE setosa AS
  SELECT train_margin(species = 'setosa', ARRAY[sepal_length, sepal_width, petal_length, petal_width],
                      margin_options(tolerance => 1e-9, dual_weights => true) ORDER BY id) AS model FROM iris;

SELECT (model).status, (model).margin_lower, (model).margin_upper, (model).support, (model).iterations FROM setosa;
\set ECHO none
\echo '-- The certificate: no hyperplane at all has a margin above margin_upper, and this one has margin_lower.'
\echo '-- Do not trust it? margin_verify recomputes both bounds from the rows, without the solver ...'
\echo
\set ECHO queries
SELECT v.rows, v.errors, v.margin_lower, v.margin_upper
  FROM (SELECT (margin_verify(model, species = 'setosa', ARRAY[sepal_length, sepal_width, petal_length, petal_width] ORDER BY id)).*
          FROM iris, setosa) AS v;
\set ECHO none
\echo '-- ... and the lower bound is one line of plain SQL, without the extension: the smallest distance to the plane.'
\echo
\set ECHO queries
SELECT min(CASE species WHEN 'setosa' THEN 1 ELSE -1 END *
           (w[1] * sepal_length + w[2] * sepal_width + w[3] * petal_length + w[4] * petal_width + b)
           / |/ (w[1]^2 + w[2]^2 + w[3]^2 + w[4]^2)) AS smallest_distance
  FROM iris, (SELECT (model).weights AS w, (model).intercept[1] AS b FROM setosa) AS m;
\set ECHO none
\echo '-- All three species at once cannot be separated by planes. The answer is a proof, not a hope:'
\echo
\set ECHO queries
SELECT (m).status, (m).margin_upper AS no_margin_above
  FROM (SELECT train_margin(species, ARRAY[sepal_length, sepal_width, petal_length, petal_width]) AS m FROM iris) AS t;
\set ECHO none
\echo '-- So errors are traded for a margin (lambda). Every model still says how far it can be from the best one (gap).'
\echo
\set ECHO queries
CREATE TABLE species AS
  SELECT train_margin(species, ARRAY[sepal_length, sepal_width, petal_length, petal_width],
                      margin_options(lambda => 1e-3, loss => 'logistic', dual_weights => true) ORDER BY id) AS model FROM iris;

SELECT (model).status, (model).solver, (model).primal, (model).dual, (model).gap FROM species;

SELECT e.rows, round(e.accuracy::numeric, 3) AS accuracy, e.classes, e.confusion
  FROM (SELECT (margin_evaluate(model, species, ARRAY[sepal_length, sepal_width, petal_length, petal_width])).*
          FROM iris, species) AS e;
\set ECHO none
\echo '-- This certificate, too, can be recomputed from the rows: no model has an objective below dual, this one has primal.'
\echo
\set ECHO queries
SELECT v.rows, v.primal, v.dual, v.gap
  FROM (SELECT (margin_verify(model, species, ARRAY[sepal_length, sepal_width, petal_length, petal_width] ORDER BY id)).*
          FROM iris, species) AS v;

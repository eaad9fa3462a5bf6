CREATE EXTENSION margin;

CREATE TABLE points AS SELECT i AS id, i > 30 AS y, i % 3 AS k, ARRAY[i, i % 7, -i % 5]::float8[] AS x FROM generate_series(1, 60) AS i;

CREATE TABLE models AS SELECT 'hard' AS name, train_margin(y, x, margin_options(dual_weights => true, history => true) ORDER BY id) AS model FROM points;

INSERT INTO models SELECT 'float', train_margin(y, x::real[]) FROM points;

INSERT INTO models SELECT s.name, train_margin(y, x, margin_options(solver => s.name, max_iterations => 30)) FROM points, margin_solvers() AS s WHERE problem = 'hard margin' GROUP BY s.name;

INSERT INTO models SELECT 'three', train_margin(k, x, margin_options(max_iterations => 30)) FROM points;

INSERT INTO models SELECT l.name, train_margin(y, x, margin_options(lambda => 0.01, loss => l.name, dual_weights => true)) FROM points, margin_losses() AS l WHERE outcome = 'classes' GROUP BY l.name;

INSERT INTO models SELECT l.name, train_margin(id, x, margin_options(lambda => 0.01, loss => l.name)) FROM points, margin_losses() AS l WHERE outcome <> 'classes' GROUP BY l.name;

INSERT INTO models SELECT 'balanced', train_margin(k, x, margin_options(lambda => 0.01, class_weight => 'balanced'::text, standardize => true)) FROM points;

INSERT INTO models SELECT 'weighted', train_margin(y, x, 1.0 + id % 2, margin_options(lambda => 0.01)) FROM points;

INSERT INTO models SELECT kind, train_margin(k, x, margin_options(lambda => 0.01, calibration => kind)) FROM points, unnest('{platt,isotonic}'::text[]) AS kind GROUP BY kind;

SELECT count(margin_predict(model, x)), count(margin_score(model, x)), count(margin_scores(model, x)) FROM models, points WHERE name NOT IN ('three', 'balanced', 'platt', 'isotonic');

SELECT count(margin_predict(model, x, NULL::int)) FROM models, points WHERE name IN ('three', 'balanced');

SELECT count(margin_probability(model, x)), count(margin_probabilities(model, x)) FROM models, points WHERE name = 'logistic';

SELECT name, margin_evaluate(model, k, x), margin_verify(model, k, x), margin_probabilities(model, '{1,2,3}'::int[]) FROM models, points WHERE name IN ('platt', 'isotonic') GROUP BY name, model;

SELECT name, margin_evaluate(model, y, x), margin_verify(model, y, x ORDER BY id) FROM models, points WHERE name IN ('hard', 'float', 'hinge', 'logistic') GROUP BY name;

SELECT train_margin(y, ARRAY[1, 'NaN']::float8[]) FROM points;

SELECT train_margin(y, x, '{"toleranse": 1}') FROM points;

SELECT margin_options(tolerance => 2);

SELECT margin_predict(model, ARRAY[1.0]) FROM models;

SELECT k, train_margin(y, x) FROM points GROUP BY k;

SELECT train_margin(y, x) FROM points WHERE false;

SELECT 'yes' AS finished;


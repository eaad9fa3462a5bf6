CREATE EXTENSION margin;

CREATE TABLE points AS SELECT i AS id, i > 30 AS y, i % 3 AS k, ARRAY[i, i % 7, -i % 5]::float8[] AS x FROM generate_series(1, 60) AS i;

CREATE TABLE models AS SELECT 'hard' AS name, train_margin(y, x, margin_options(dual_weights => true, history => true) ORDER BY id) AS model FROM points;

INSERT INTO models SELECT 'float', train_margin(y, x::real[]) FROM points;

INSERT INTO models SELECT s.name, train_margin(y, x, margin_options(solver => s.name, norm => CASE s.name WHEN 'boosting' THEN 1.0 ELSE 2 END, max_iterations => 30)) FROM points, margin_solvers() AS s WHERE problem = 'hard margin' GROUP BY s.name;

INSERT INTO models SELECT 'norm ' || p, train_margin(y, x, margin_options(norm => p, dual_weights => true, history => true, max_iterations => 30) ORDER BY id) FROM points, unnest('{1,1.5}'::float8[]) AS p GROUP BY p;

INSERT INTO models SELECT 'one of ' || s, train_margin(y, x, margin_options(norm => 1.5, solver => s, max_iterations => 10)) FROM points, unnest('{dual_ascent,perceptron,mirror_descent}'::text[]) AS s GROUP BY s;

INSERT INTO models SELECT 'accelerated', train_margin(y, x::margin_sparse, margin_options(norm => 'sparse', solver => 'dual_ascent', accelerated => true, intercept => false, max_iterations => 10)) FROM points;

INSERT INTO models SELECT 'stumps', train_margin(k, x, margin_options(norm => 1, learners => 'stumps', history => true, max_iterations => 20)) FROM points;

INSERT INTO models SELECT 'trees', train_margin(y, x, margin_options(norm => 1, learners => 'trees', history => true, max_iterations => 5)) FROM points;

INSERT INTO models SELECT 'kernel ' || s, train_margin(y, x, margin_options(kernel => 'rbf', gamma => 0.01, solver => s, intercept => false, history => true, dual_weights => true, max_iterations => 50)) FROM points, unnest('{smo,sampling,kernel_batch_perceptron}'::text[]) AS s GROUP BY s;

INSERT INTO models SELECT 'kernel ' || kind, train_margin(y, x::margin_sparse, margin_options(kernel => kind, lambda => 0.1, max_iterations => 20) || own) FROM points, (VALUES ('polynomial', '{"degree": 2}'::jsonb), ('ntk', '{}'), ('ntk_finite', '{"width": 8}')) AS k (kind, own) GROUP BY kind, own;

INSERT INTO models SELECT 'kernel logistic', train_margin(y, x, margin_options(kernel => 'rbf', gamma => 0.01, lambda => 0.1, loss => 'logistic', dual_weights => true, history => true, max_iterations => 5)) FROM points;

INSERT INTO models SELECT 'curve ' || l, train_margin(id, x, margin_options(kernel => 'rbf', gamma => 0.01, lambda => 0.1, loss => l, dual_weights => true, max_iterations => 5)) FROM points, unnest('{squared,epsilon_insensitive}'::text[]) AS l GROUP BY l;

INSERT INTO models SELECT 'one class ' || kind, train_one_class(x, 1.0 + id % 2, margin_options(kernel => kind, nu => 0.2, dual_weights => true, history => true) ORDER BY id) FROM points, unnest('{linear,rbf}'::text[]) AS kind GROUP BY kind;

SELECT name, margin_verify(model, x ORDER BY id), count(margin_predict(model, x)) FROM models, points WHERE name LIKE 'one class %' GROUP BY name;

/* refused */ SELECT train_one_class(x, margin_options(lambda => 1)) FROM points;

INSERT INTO models SELECT 'three curved', train_margin(k, x, margin_options(kernel => 'rbf', lambda => 0.1, calibration => 'platt', history => true, max_iterations => 3)) FROM points WHERE id <= 30;

INSERT INTO models SELECT 'ranges ' || p, train_margin(numrange(id - 9, id + 9), x, margin_options(loss => 'interpolate', norm => p, history => true, dual_weights => true) ORDER BY id) FROM points, unnest('{2,1.5}'::float8[]) AS p GROUP BY p;

INSERT INTO models SELECT 'joint ' || loss || form, train_margin(k, x, margin_options(lambda => 0.01, loss => loss, multiclass => 'joint', intercept => form, history => true, dual_weights => true) ORDER BY id) FROM points, unnest('{logistic,hinge}'::text[]) AS loss, unnest('{free,penalized}'::text[]) AS form GROUP BY loss, form;

INSERT INTO models SELECT 'fourier', train_margin(y, margin_fourier(x, 20, 0.01), margin_options(lambda => 0.01)) FROM points;

SELECT count(margin_predict(model, x)), count(margin_plot(model)) FROM models, points WHERE (model).history IS NOT NULL AND id <= 10;

SELECT count(margin_predict(model, x::margin_sparse)), count(margin_summary(model)), count(margin_certificate(model)), count(*) FILTER (WHERE margin_from_json(margin_to_json(model)) = model) FROM models, points WHERE (name ~ '^kernel' OR name ~ '^(norm|ranges)' OR name = 'stumps') AND id <= 3;

SELECT margin_histogram(model, y, x), margin_roc(model, y, x) FROM models, points WHERE name = 'kernel smo';

SELECT margin_reliability(model, k, x), margin_evaluate(model, k, x) FROM models, points WHERE name = 'three curved';

SELECT margin_verify(model, k, x) FROM models, points WHERE name = 'stumps';

SELECT margin_verify(model, y, x ORDER BY id) FROM models, points WHERE name = 'norm 1';

SELECT name, margin_verify(model, y, x ORDER BY id) FROM models, points WHERE name LIKE 'kernel %' GROUP BY name;

SELECT margin_verify(model, numrange(id - 9, id + 9), x ORDER BY id) FROM models, points WHERE name = 'ranges 2';

SELECT margin_cross_validate(y, x, 1, id % 3, '{"lambdas": [1, 0.1], "grid": {"standardize": [false, true], "intercept": ["free", "penalized"]}}' ORDER BY id) FROM points;
SELECT margin_cross_validate(y, x, '{"lambdas": [1, 0.1], "folds": 3}' ORDER BY id), margin_path(y, x, '{"lambdas": [1, 0.1], "kernel": "rbf", "max_iterations": 5}') FROM points;

SELECT margin_pmml(model), count(w) FROM models, margin_weights(model) AS w WHERE models.name = 'norm 1' GROUP BY model;

/* refused */ SELECT margin_predict(jsonb_populate_record(model, '{"kernel_parameters": {}}'), '{1,2,3}'::int[]) FROM models WHERE name = 'kernel smo';

/* refused */ SELECT train_margin('empty'::numrange, x, margin_options(loss => 'interpolate')) FROM points;

/* refused */ SELECT margin_fourier('{1,NaN}'::real[], 4, 1);

INSERT INTO models SELECT 'three', train_margin(k, x, margin_options(max_iterations => 30)) FROM points;

INSERT INTO models SELECT l.name, train_margin(y, x, margin_options(lambda => 0.01, loss => l.name, dual_weights => true)) FROM points, margin_losses() AS l WHERE outcome = 'classes' GROUP BY l.name;

INSERT INTO models SELECT l.name, train_margin(id, x, margin_options(lambda => 0.01, loss => l.name)) FROM points, margin_losses() AS l WHERE outcome <> 'classes' GROUP BY l.name;

INSERT INTO models SELECT 'balanced', train_margin(k, x, margin_options(lambda => 0.01, class_weight => 'balanced'::text, standardize => true)) FROM points;

SELECT (margin_verify(m, y, p)).rows, count(margin_score(m, p)) FROM (SELECT train_margin(y, p, '{"lambda": 0.01, "exclude": ["y", "k"], "fairness": {"column": "k", "bound": 0.1}}') AS m FROM points AS p) AS fair, points AS p GROUP BY m;

INSERT INTO models SELECT 'weighted', train_margin(y, x, 1.0 + id % 2, margin_options(lambda => 0.01)) FROM points;

INSERT INTO models SELECT kind, train_margin(k, x, margin_options(lambda => 0.01, calibration => kind)) FROM points, unnest('{platt,isotonic}'::text[]) AS kind GROUP BY kind;

SELECT count(margin_predict(model, x)), count(margin_score(model, x)), count(margin_scores(model, x)) FROM models, points WHERE (model).dimensions = 3 AND coalesce(array_length((model).classes, 1), 0) < 3;

SELECT count(margin_predict(model, x, NULL::int)) FROM models, points WHERE name IN ('three', 'balanced');

SELECT count(margin_probability(model, x)), count(margin_probabilities(model, x)) FROM models, points WHERE name = 'logistic';

SELECT name, margin_evaluate(model, k, x), margin_verify(model, k, x), margin_probabilities(model, '{1,2,3}'::int[]) FROM models, points WHERE name IN ('platt', 'isotonic') GROUP BY name, model;

SELECT name, margin_evaluate(model, y, x), margin_verify(model, y, x ORDER BY id) FROM models, points WHERE name IN ('hard', 'float', 'hinge', 'logistic') GROUP BY name;

/* refused */ SELECT train_margin(y, ARRAY[1, 'NaN']::float8[]) FROM points;

/* refused */ SELECT train_margin(y, x, '{"toleranse": 1}') FROM points;

/* refused */ SELECT margin_options(tolerance => 2);

/* refused */ SELECT margin_predict(model, ARRAY[1.0]) FROM models;

SELECT k, train_margin(y, x) FROM points GROUP BY k;

SELECT train_margin(y, x) FROM points WHERE false;

CREATE TABLE questions AS SELECT name, margin_question(NULL, model) AS q FROM models WHERE name IN ('hard', 'norm 1.5', 'ranges 2') UNION ALL SELECT loss, margin_question(jsonb_build_object('lambda', 0.1, 'sample_rows', 9, 'loss', loss)) FROM unnest('{hinge,squared}'::text[]) AS loss;

CREATE TABLE states AS SELECT name, k, margin_sum(margin_term(q, y, x, 1 + id % 2)) AS s FROM points, questions WHERE name IN ('hard', 'hinge') GROUP BY name, k, q::text UNION ALL SELECT name, k, margin_sum(margin_term(q, id, x::margin_sparse)) FROM points, questions WHERE name IN ('ranges 2', 'squared') GROUP BY name, k, q::text;

SELECT name, margin_state_info(margin_sum(s)), margin_sum(s)::text::margin_state::text = margin_sum(s)::text FROM states GROUP BY name;

SELECT margin_certificate(q, _margin_merge(NULL, s)), q::text::margin_question IS NULL FROM questions JOIN states USING (name) WHERE name IN ('hard', 'ranges 2');

SELECT margin_sum(margin_term(q, y, x)) OVER (ORDER BY id ROWS 5 PRECEDING) IS NULL, _margin_sum_step(_margin_sum_step(NULL, margin_term(q, y, x)::text::margin_term), margin_term(q, NULL::boolean, x)) IS NULL FROM points, questions WHERE name = 'hard' AND id < 9;

SELECT (train_margin_from('SELECT y, x, k AS g FROM points', o)).rows FROM (VALUES ('{"lambda": 0.1, "loss": "logistic", "sample_rows": 10, "shard": "g"}'::jsonb), ('{"lambda": 0.1, "sample_rows": 10, "shard": "g"}'), ('{"lambda": 0.1, "shard": "g"}')) AS v (o);

SELECT (train_margin_from('SELECT id, x FROM points', '{"lambda": 0.1, "loss": "squared", "sample_rows": 10}')).rows, length(margin_scan_query('SELECT y, x FROM points'));

/* refused */ SELECT train_margin_from('SELECT y, x || ''NaN''::float8 FROM points');

/* refused */ SELECT train_margin_from('DROP TABLE points');

SELECT train_margin_from('SELECT y, x || ''NaN''::float8 FROM points', '{"on_error": "null"}');

/* refused */ SELECT _margin_merge(a.s, b.s) FROM states AS a, states AS b WHERE a.name = 'hard' AND b.name = 'hinge';

/* refused */ SELECT left(s::text, 300)::margin_state FROM states;

CREATE TABLE profiles AS SELECT k, margin_sum(margin_profile(p)) AS p FROM points AS p GROUP BY k UNION ALL SELECT k, margin_profile(p) FROM points AS p WHERE id < 9;

SELECT c.* FROM (SELECT margin_sum(p)::text::margin_profile AS p FROM profiles) AS s, margin_profile_columns(p, '{0,0.5}', 3) AS c;

SELECT margin_sum(margin_profile('["x", "k", "t"]', x, k, repeat('ä', id % 9 * 100))) OVER (ORDER BY id ROWS 5 PRECEDING) IS NULL FROM points WHERE id < 20;

/* refused */ SELECT left(p::text, 300)::margin_profile FROM profiles;

SET margin.threads = 3;

CREATE TABLE many AS SELECT i % 3 = 0 AS y, v[i : i + 39] AS x FROM generate_series(1, 12000) AS i, (SELECT array_agg(sin(j * j)::real) AS v FROM generate_series(1, 12039) AS j) AS s;

SELECT loss, (train_margin(y, x, margin_options(lambda => 0.1, loss => loss, solver => 'newton', tolerance => 0.1))).status FROM many, unnest('{logistic,hinge}'::text[]) AS loss GROUP BY loss;

SELECT (train_margin(y, ARRAY[CASE WHEN y THEN 8 ELSE -8 END::real] || x, margin_options(tolerance => 0.1))).status FROM many;

SELECT 'yes' AS finished;


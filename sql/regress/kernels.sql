-- Kernel models: training, what the model carries, prediction.
SET extra_float_digits = 0;

CREATE TABLE rings AS
SELECT i AS id, CASE WHEN i % 2 = 0 THEN 'inner' ELSE 'outer' END AS y,
       ARRAY[(1 + i % 2) * cos(i), (1 + i % 2) * sin(i)]::real[] AS x
  FROM generate_series(1, 200) i;

CREATE TABLE models (name text PRIMARY KEY, model margin_model);
INSERT INTO models SELECT 'rbf', train_margin(y, x, margin_options(kernel => 'rbf', gamma => 1, tolerance => 1e-6)) FROM rings;
INSERT INTO models SELECT 'soft', train_margin(y, x, margin_options(kernel => 'rbf', lambda => 1e-2, tolerance => 1e-6)) FROM rings;
INSERT INTO models SELECT 'polynomial', train_margin(y, x, margin_options(kernel => 'polynomial', gamma => 1, degree => 2, coef0 => 1)) FROM rings;
INSERT INTO models SELECT 'ntk', train_margin(y, x, margin_options(kernel => 'ntk')) FROM rings;
INSERT INTO models SELECT 'sparse', train_margin(y, x::margin_sparse, margin_options(kernel => 'rbf', gamma => 1, tolerance => 1e-6)) FROM rings;

SELECT name, (model).status, (model).solver, (model).kernel, (model).dimensions,
       (model).margin_lower > 0 AS separates, (model).gap <= 1e-3 * (model).primal AS closed,
       array_length((model).weights, 1) = coalesce(array_length((model).support_vectors, 1), array_length((model).sparse_support_vectors, 1)) AS weighs_vectors,
       array_length((model).support_vectors, 2) AS columns
  FROM models ORDER BY name;
SELECT name, (model).kernel_parameters FROM models WHERE name <> 'soft' ORDER BY name;
SELECT name, count(*) FILTER (WHERE margin_predict(model, x) = y) AS right FROM models, rings GROUP BY name ORDER BY name;
SELECT name, round(((margin_evaluate(model, y, x)).accuracy)::numeric, 3) AS accuracy FROM models, rings GROUP BY name ORDER BY name;
-- The same rows, dense or sparse: the same margin.
SELECT abs((a.model).margin_lower - (b.model).margin_lower) < 1e-6 AS same
  FROM models a, models b WHERE a.name = 'rbf' AND b.name = 'sparse';

-- Copies through jsonb predict the same; a summary names the kernel.
SELECT name, bool_and(margin_score(model, x) = margin_score(margin_from_json(margin_to_json(model)), x)) AS same
  FROM models, rings WHERE id <= 20 GROUP BY name ORDER BY name;
SELECT split_part(margin_summary(model), E'\nkernel', 2) LIKE '%rbf, gamma 1%support vectors%' AS named FROM models WHERE name = 'rbf';
SELECT name, (margin_certificate(model)).objective FROM models WHERE name IN ('rbf', 'soft') ORDER BY name;

-- A row fits or is refused as by any model; NaN does not hide in a kernel.
CREATE FUNCTION pg_temp.try(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text; BEGIN EXECUTE statement; RETURN 'fine';
EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT; RETURN SQLSTATE || ': ' || SQLERRM || E'\n  ' || hint; END $$;
SELECT pg_temp.try('SELECT margin_score(model, ARRAY[1]::real[]) FROM models WHERE name = ''rbf''');
SELECT pg_temp.try('SELECT margin_score(model, ARRAY[1, ''NaN'']::real[]) FROM models WHERE name = ''rbf''');
SELECT pg_temp.try('SELECT margin_weights(model) FROM models WHERE name = ''rbf''');
SELECT pg_temp.try('SELECT margin_pmml(model) FROM models WHERE name = ''rbf''');
SELECT pg_temp.try('SELECT margin_options(initial => model) FROM models WHERE name = ''rbf''');
SELECT pg_temp.try('SELECT train_margin(y, x, jsonb_build_object(''lambda'', 1, ''initial'', margin_to_json(model))) FROM models, rings WHERE name = ''rbf''');

-- What kernels do not go with.
CREATE FUNCTION pg_temp.refuse(options text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN RETURN pg_temp.try(format('SELECT train_margin(y, x, margin_options(%s)) FROM rings', options)); END $$;
SELECT pg_temp.refuse($$kernel => 'rfb'$$);
SELECT pg_temp.refuse($$kernel => 'rbf', solver => 'momentum'$$);
SELECT pg_temp.refuse($$kernel => 'rbf', norm => 1.5$$);
SELECT pg_temp.refuse($$kernel => 'rbf', standardize => true$$);
SELECT pg_temp.refuse($$kernel => 'rbf', lambda => 0.1, intercept_scale => 2$$);
SELECT pg_temp.refuse($$kernel => 'rbf', lambda => 0.1, loss => 'logistic'$$);
SELECT pg_temp.refuse($$kernel => 'rbf', lambda => 0.1, loss => 'logistics'$$);
SELECT pg_temp.refuse($$kernel => 'rbf', lambda => 0.1, l1_ratio => 0.5$$);
SELECT pg_temp.refuse($$kernel => 'gaussian'$$);
SELECT pg_temp.refuse($$kernel => 'ntk_finite', width => 64, seed => 7$$);

-- Sampling and its baseline; the linear kernel by name.
SELECT solver, (m).status, (m).margin_lower > 0 AS separates, (m).margin_upper >= (m).margin_lower AS bracketed
  FROM (VALUES ('sampling'), ('kernel_batch_perceptron')) s (solver),
       LATERAL (SELECT train_margin(y, x, margin_options(kernel => 'rbf', gamma => 1, solver => s.solver, tolerance => 0.2, max_iterations => 5000)) AS m FROM rings) t
 ORDER BY solver;
SELECT (m).kernel, (m).status, round((m).margin_lower::numeric, 4) AS margin
  FROM (SELECT train_margin(y, x, margin_options(kernel => 'linear', solver => 'smo', tolerance => 1e-6)) AS m
          FROM (VALUES (0, '{0,0}'::real[]), (0, '{-1,3}'), (1, '{2,0}'), (1, '{5,-2}')) v (y, x)) t;
-- Contradictory duplicates have no separator in any space; more than two classes, one against the rest.
SET client_min_messages = error; -- the numbers of the warning are those of weights that are all rounding
SELECT (m).status, (m).margin_lower <= 0 AS none, (m).margin_upper < 1e-6 AS proven
  FROM (SELECT train_margin(y, x, margin_options(kernel => 'rbf', gamma => 1)) AS m
          FROM (VALUES (0, '{0,1}'::real[]), (1, '{0,1}'), (1, '{2,0}')) v (y, x)) t;
RESET client_min_messages;
SELECT (m).status, array_dims((m).intercept) AS intercepts, (m).gap <= 1e-4 * (m).primal AS closed, (e).accuracy
  FROM (SELECT train_margin(id % 3, ARRAY[id % 3 + cos(id) / 3, sin(id)], margin_options(kernel => 'rbf', lambda => 1e-3, tolerance => 1e-4)) AS m FROM rings) t,
       LATERAL (SELECT margin_evaluate(m, id % 3, ARRAY[id % 3 + cos(id) / 3, sin(id)]) AS e FROM rings) f;
-- An output that rounding or its rounds stop does not keep the others from their training.
SET client_min_messages = error;
SELECT options, (m).status, (m).gap < 0.05 * (m).primal AS close, (e).accuracy
  FROM (SELECT o AS options, train_margin(id % 3, ARRAY[id % 3 + cos(id) / 3, sin(id)], margin_options(kernel => 'rbf', lambda => 1e-3) || o) AS m
          FROM rings, (VALUES ('{"tolerance": 0}'::jsonb), ('{"max_iterations": 1}')) v (o) GROUP BY o) t,
       LATERAL (SELECT margin_evaluate(m, id % 3, ARRAY[id % 3 + cos(id) / 3, sin(id)]) AS e FROM rings) f ORDER BY options;
RESET client_min_messages;
-- Calibration, class weights and row weights, selection.
SELECT (m).status, round(margin_probability(m, ARRAY[0.5, 0.5])::numeric, 1) AS p
  FROM (SELECT train_margin(y, x, (id % 2)::float8 + 1, margin_options(kernel => 'rbf', lambda => 1e-2, calibration => 'platt', class_weight => 'balanced')) AS m FROM rings) t;
SELECT array_length(margin_path(y, x, margin_options(kernel => 'rbf') || '{"lambdas": [0.1, 0.01]}'), 1) AS models FROM rings;
-- A hard margin of more than two classes: by sampling, without an intercept.
SELECT (m).solver, (m).status, (m).margin_lower > 0 AS separated
  FROM (SELECT train_margin(y, x, margin_options(kernel => 'rbf', gamma => 1, intercept => false, tolerance => 0.1) ORDER BY y) AS m
          FROM (VALUES (0, '{0,1}'::real[]), (1, '{2,1}'), (2, '{2,-2}')) v (y, x)) t;
SELECT train_margin(y, x, margin_options(kernel => 'rbf', gamma => 1)) FROM (VALUES (0, '{0,1}'::real[]), (1, '{2,1}'), (2, '{2,-2}')) v (y, x);

-- margin_verify: the certificate of the training, found again over its rows in their order.
CREATE TABLE proven (name text PRIMARY KEY, model margin_model);
INSERT INTO proven SELECT 'hard', train_margin(y, x, margin_options(kernel => 'rbf', gamma => 1, tolerance => 1e-6, dual_weights => true) ORDER BY id) FROM rings;
INSERT INTO proven SELECT 'sampled', train_margin(y, x, margin_options(kernel => 'rbf', gamma => 1, solver => 'sampling', tolerance => 0.2, dual_weights => true) ORDER BY id) FROM rings;
INSERT INTO proven SELECT 'sparse', train_margin(y, x::margin_sparse, margin_options(kernel => 'rbf', gamma => 1, tolerance => 1e-6, dual_weights => true) ORDER BY id) FROM rings;
INSERT INTO proven SELECT 'soft', train_margin(y, x, margin_options(kernel => 'polynomial', coef0 => 1, lambda => 1e-2, tolerance => 1e-6, dual_weights => true, class_weight => '{"inner": 2}') ORDER BY id) FROM rings;
INSERT INTO proven SELECT 'without duals', train_margin(y, x, margin_options(kernel => 'rbf', gamma => 1, tolerance => 1e-6) ORDER BY id) FROM rings;
CREATE FUNCTION pg_temp.near(a float8, b float8) RETURNS boolean LANGUAGE sql AS 'SELECT abs(a - b) <= 1e-10 * abs(b)';
SELECT name, (v).rows, (v).errors, (v).margin_lower > 0 AS separates, pg_temp.near((v).margin_upper, (model).margin_upper) AS upper,
       pg_temp.near((v).primal, (model).primal) AS primal, pg_temp.near((v).dual, (model).dual) AS dual, (v).gap <= 1.01 * (model).gap AS gap, (v).certain
  FROM (SELECT name, model, (SELECT margin_verify(model, y, x ORDER BY id) FROM rings) AS v FROM proven) s ORDER BY name;
-- Three classes, hard by sampling, soft one against the rest.
CREATE TABLE spirals AS SELECT id, id % 3 AS y, ARRAY[id % 3 + cos(id) / 3, id % 3 * sin(id)]::real[] AS x FROM rings WHERE id <= 60;
SELECT (m).solver, (v).errors = 0 AS right, pg_temp.near((v).primal, (m).primal) AS primal, pg_temp.near((v).dual, (m).dual) AS dual
  FROM (SELECT m, (SELECT margin_verify(m, y, x ORDER BY id) FROM spirals) AS v
          FROM (SELECT train_margin(y, x, o ORDER BY id) AS m
                  FROM spirals, (VALUES (margin_options(kernel => 'rbf', gamma => 2, intercept => false, tolerance => 0.2, dual_weights => true)),
                                        (margin_options(kernel => 'rbf', lambda => 1e-3, tolerance => 1e-4, dual_weights => true))) c (o) GROUP BY o) t) s
 ORDER BY (m).solver;
-- In another order, with forged weights or dual weights: an end is wider or gone, never on the wrong side.
CREATE TABLE forged AS
  SELECT 'weights' AS what, jsonb_populate_record(model, jsonb_build_object('weights',
           (SELECT jsonb_agg(w * (1 + i % 2) ORDER BY i) FROM unnest((model).weights) WITH ORDINALITY AS u (w, i)))) AS model FROM proven WHERE name = 'hard'
  UNION ALL SELECT 'dual weights', jsonb_populate_record(model, jsonb_build_object('dual_weights',
           (SELECT jsonb_agg(q * (1 + i % 3) ORDER BY i) FROM unnest((model).dual_weights) WITH ORDINALITY AS u (q, i)))) FROM proven WHERE name = 'hard'
  UNION ALL SELECT 'claim', jsonb_populate_record(model, '{"margin_lower": 99, "margin_upper": 99, "intercept": [7]}') FROM proven WHERE name = 'hard';
SELECT what, (v).margin_lower <= (h.model).margin_upper AND (v).margin_upper >= (h.model).margin_lower AS true_ends, (v).gap > 2 * (h.model).gap AS wider
  FROM (SELECT what, (SELECT margin_verify(model, y, x ORDER BY id) FROM rings) AS v FROM forged
        UNION ALL SELECT 'order', (SELECT margin_verify(model, y, x ORDER BY id DESC) FROM rings) FROM proven WHERE name = 'hard') s, proven h
 WHERE h.name = 'hard' ORDER BY what;
-- Parallel workers give the lower bound.
CREATE TABLE copies AS SELECT rings.* FROM rings, generate_series(1, 20);
ANALYZE copies;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
SELECT (v).rows, (v).errors, abs((v).margin_lower - (SELECT (model).margin_lower FROM proven WHERE name = 'hard')) < 1e-10 AS lower, (v).margin_upper
  FROM (SELECT margin_verify((SELECT model FROM proven WHERE name = 'hard'), y, x) AS v FROM copies) s;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;
-- Rows that do not fit, classes that the model does not know, and limits.
SELECT s AS statement, pg_temp.try(format('SELECT margin_verify(model, %s ORDER BY id) FROM rings, proven WHERE name = ''hard''', s)) AS result
  FROM (VALUES ('y, x || 1::real'), ('y, x[1:1]'), ('''third''::text, x'), ('y, ARRAY[x[1], ''NaN'']'), ('y, ARRAY[x[1]::float8, 1e80]'), ('y, ''9:1''::margin_sparse')) v (s);
SELECT pg_temp.try($$SELECT margin_verify(jsonb_populate_record(model, '{"loss": "squared"}'), y, x) FROM rings, proven WHERE name = 'soft'$$);
SET margin.memory_limit = '2kB';
SELECT pg_temp.try($$SELECT margin_verify(model, y, x ORDER BY id) FROM rings, proven WHERE name = 'sampled'$$);
SELECT (v).margin_lower > 0 AS lower, (v).margin_upper FROM (SELECT margin_verify(model, y, x ORDER BY id) AS v FROM rings, proven WHERE name = 'without duals') s;
RESET margin.memory_limit;
-- Only rows with a weight are stored.
SELECT name, bool_and(w <> 0) AS nonzero, count(*) < 200 AS fewer FROM proven, unnest((model).weights) AS w GROUP BY name ORDER BY name;

-- Random Fourier features: the kernel's value in the mean, and linear models in the kernel's stead.
CREATE FUNCTION pg_temp.inner(a real[], b real[]) RETURNS float8 LANGUAGE sql AS 'SELECT sum(u::float8 * v) FROM unnest(a, b) t (u, v)';
SELECT max(abs(pg_temp.inner(margin_fourier(a.x, 2048, 0.5, 1), margin_fourier(b.x, 2048, 0.5, 1))
               - exp(-0.5 * ((a.x[1] - b.x[1]) ^ 2 + (a.x[2] - b.x[2]) ^ 2)))) < 5 / sqrt(2048) AS approximates
  FROM rings a, rings b WHERE a.id <= 8 AND b.id <= 8;
SELECT dimensions, bool_and(array_length(margin_fourier(x, dimensions, 1), 1) = dimensions) AS long,
       bool_and(margin_fourier(x, dimensions, 1) = margin_fourier(x, dimensions, 1, 0)) AS seed_0,
       bool_and(margin_fourier(x, dimensions, 1, 0) <> margin_fourier(x, dimensions, 1, 1)) AS seeds_differ
  FROM rings, (VALUES (1), (33), (65536)) v (dimensions) WHERE id <= 3 GROUP BY dimensions ORDER BY dimensions;
-- Every type, dense and sparse, longer with zeros, dimensions stated or not: the same bits.
SELECT count(DISTINCT z) AS one FROM (VALUES (margin_fourier('{0,2,-3}'::real[], 65, 0.1, 7)), (margin_fourier('{0,2,-3}'::float8[], 65, 0.1, 7)),
  (margin_fourier('{0,2,-3}'::int2[], 65, 0.1, 7)), (margin_fourier('{0,2,-3}'::int[], 65, 0.1, 7)), (margin_fourier('{0,2,-3}'::bigint[], 65, 0.1, 7)),
  (margin_fourier('{0,2,-3}'::numeric[], 65, 0.1, 7)), (margin_fourier('{0,2,-3,0,0}'::real[], 65, 0.1, 7)),
  (margin_fourier('{2:2,3:-3}/3'::margin_sparse, 65, 0.1, 7)), (margin_fourier('2:2 3:-3'::margin_sparse, 65, 0.1, 7)),
  (margin_fourier(features => margin_sparse('{2000000000,2,3}', '{0,2,-3}'), dimensions => 65, gamma => 0.1, seed => 7))) v (z);
-- The call site follows arguments that change, under any memory limit.
CREATE TABLE fourier AS SELECT id, margin_fourier(x, 1 + id % 3, 0.5 + id % 2, id % 4) AS z FROM rings;
SET margin.memory_limit = '1kB';
SELECT bool_and(z = margin_fourier(x, 1 + id % 3, 0.5 + id % 2, id % 4)) AS same FROM rings JOIN fourier USING (id);
RESET margin.memory_limit;
SELECT (m).status, (m).kernel IS NULL AS linear, (m).dimensions, (e).accuracy
  FROM (SELECT train_margin(y, margin_fourier(x, 512, 0.5, 1)) AS m FROM rings) t,
       LATERAL (SELECT margin_evaluate(m, y, margin_fourier(x, 512, 0.5, 1)) AS e FROM rings) f;
SELECT round((margin_evaluate(m, x[1] ^ 2 * x[2], margin_fourier(x, 300, 0.3, 2))).r2::numeric, 2) AS r2
  FROM rings, (SELECT train_margin(x[1] ^ 2 * x[2], margin_fourier(x, 300, 0.3, 2), margin_options(lambda => 1e-6, loss => 'squared')) AS m FROM rings) t GROUP BY m;
SELECT margin_fourier(NULL::real[], 4, 1) IS NULL AND margin_fourier('{1}'::real[], NULL, 1) IS NULL AS strict;
SELECT s AS statement, pg_temp.try('SELECT ' || s) AS result FROM (VALUES
  ('margin_fourier(''{1}''::real[], 0, 1)'), ('margin_fourier(''{1}''::real[], 65537, 1)'), ('margin_fourier(''{1}''::real[], 4, 0)'),
  ('margin_fourier(''{1}''::real[], 4, ''NaN'')'), ('margin_fourier(''{1}''::real[], 4, ''inf'')'), ('margin_fourier(''{1}''::real[], 4, 1, -1)'),
  ('margin_fourier(''{1}''::real[], 4, 1, 9007199254740993)'), ('margin_fourier(''{1,NaN}''::real[], 4, 1)'), ('margin_fourier(''{1,-inf}''::float8[], 4, 1)'),
  ('margin_fourier(''{1e300}''::float8[], 4, 1e100)'), ('margin_fourier(''{1,NULL}''::real[], 4, 1)'), ('margin_fourier(''{}''::real[], 4, 1)'),
  ('margin_fourier(''x''::text, 4, 1)'), ('margin_fourier(''{1}'', 4, 1)')) v (s);
-- Many rows: functions of a few of them, proven for all; where these cannot be enough, the solvers in the span of all rows.
CREATE TEMP TABLE many AS SELECT id, sin(id * 7.1) * 2 AS a, cos(id * 3.3) * 2 AS b FROM generate_series(1, 20000) AS id;
SELECT (m).solver, (m).status, (m).gap <= 1e-3 * (m).primal AS closed, array_length((m).support_vectors, 1) <= 2048 AS few, (e).accuracy > 0.95 AS good
  FROM (SELECT train_margin(a * a + b > 1, ARRAY[a, b], margin_options(kernel => 'rbf', gamma => 0.5, lambda => 1e-3)) AS m FROM many) t,
       LATERAL (SELECT margin_evaluate(m, a * a + b > 1, ARRAY[a, b]) AS e FROM many) f;
SELECT (m).solver, (m).status, (m).gap <= 1e-2 * (m).primal AS closed
  FROM (SELECT train_margin(a * a + b > 1, ARRAY[a, b], margin_options(kernel => 'rbf', gamma => 0.5, lambda => 1e-1, tolerance => 1e-2, n_components => 4)) AS m FROM many) t;
SELECT (m).status, array_length((m).support_vectors, 1) AS vectors, abs((v).primal - (m).primal) < 1e-9 AS verified
  FROM (SELECT train_margin(y, x, margin_options(kernel => 'rbf', gamma => 1, lambda => 0.01, solver => 'nystrom', n_components => 3) ORDER BY id) AS m FROM rings) t,
       LATERAL (SELECT margin_verify(m, y, x ORDER BY id) AS v FROM rings) f;
SELECT pg_temp.refuse($$kernel => 'rbf', solver => 'nystrom'$$);
SELECT pg_temp.refuse($$kernel => 'rbf', lambda => 0.1, n_components => 7$$);
SELECT pg_temp.refuse($$lambda => 0.1, solver => 'nystrom', n_components => 0$$);
DROP TABLE models, rings, fourier, proven, spirals, forged, copies;

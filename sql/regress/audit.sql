-- Models of other programs, and how far from the optimum any model is: margin_model_from, margin_from_liblinear, margin_from_libsvm,
-- margin_from_pmml, margin_audit.
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; hint text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ' ' || message || coalesce(' / ' || nullif(hint, ''), '');
END $$;
CREATE TEMP TABLE d AS SELECT i, ARRAY[sin(i * 1.3), cos(i * 2.7) * 3, i % 7]::float8[] AS x, 1 + i % 3 AS w,
    CASE WHEN sin(i * 1.3) * 2 + cos(i * 5.1) * 2 > 0.2 THEN 1 ELSE -1 END AS y, i % 3 AS c, sin(i * 1.3) * 2 + cos(i * 5.1) + 3 AS t
  FROM generate_series(1, 400) AS i;
SET client_min_messages = error;
-- A model that is optimal, one that was stopped early, and one that was made up.
CREATE TEMP TABLE m AS
  SELECT loss, train_margin(y, x, margin_options(lambda => 0.01, loss => loss, tolerance => 1e-8)) AS best,
         train_margin(y, x, margin_options(lambda => 0.01, loss => loss, solver => 'sdca', max_iterations => 2, tolerance => 1e-8, log_level => 'off')) AS early
    FROM d, unnest('{hinge,smoothed_hinge,squared_hinge,logistic}'::text[]) AS loss GROUP BY loss;
CREATE TEMP TABLE audits AS SELECT loss, kind, best, margin_audit(model, y, x) AS a, margin_verify(model, y, x) AS v
  FROM m, LATERAL (VALUES ('best', best), ('early', early), ('given', margin_model_from('{1,0.1,-0.1}', '{0.2}', '{-1,1}', loss, 0.01))) AS o(kind, model), d GROUP BY loss, kind, best, model;
SELECT loss, kind, (a).rows, (a).errors = (v).errors AS errors, (a).dual <= (best).primal AND (a).primal >= (best).dual AS holds,
       abs((a).primal / (v).primal - 1) < 1e-12 AS primal, (a).gap = (a).primal - (a).dual AS gap, (a).lambda,
       CASE WHEN kind = 'best' THEN (a).relative_gap < CASE loss WHEN 'hinge' THEN 0.01 ELSE 1e-6 END WHEN kind = 'early' THEN (a).relative_gap > 1e-6 END AS width,
       (a).best_gap <= (a).gap AS best_gap FROM audits ORDER BY 1, 2;
-- The model's own lambda, where it is the best, is found again.
SELECT loss, round((a).best_lambda::numeric, 4) AS best_lambda
  FROM (SELECT loss, margin_audit(best, y, x, '{"lambda": 0.5}') AS a FROM m, d WHERE loss <> 'hinge' GROUP BY loss) AS s ORDER BY 1;
-- Several classes, numbers, weights.
SELECT (a).rows, (a).errors IS NOT NULL AS errors, (a).dual <= (model).primal AND (a).primal >= (model).dual AS holds, (a).relative_gap < 1e-5 AS tight
  FROM (SELECT model, margin_audit(model, c, x) AS a FROM (SELECT train_margin(c, x, margin_options(lambda => 0.01, loss => 'logistic', tolerance => 1e-7)) AS model FROM d) AS s, d GROUP BY model
        UNION ALL SELECT model, margin_audit(model, t, x) FROM (SELECT train_margin(t, x, margin_options(lambda => 0.01, loss => 'squared', tolerance => 1e-7)) AS model FROM d) AS s, d GROUP BY model
        UNION ALL SELECT model, margin_audit(model, y, x, w, '{}') FROM (SELECT train_margin(y, x, w, margin_options(lambda => 0.01, loss => 'squared_hinge', tolerance => 1e-7, intercept => 'free')) AS model FROM d) AS s, d GROUP BY model) AS s;
SELECT (a).skipped, (a).rows FROM (SELECT margin_audit(best, CASE WHEN i % 2 = 0 THEN y END, x) AS a FROM m, d WHERE loss = 'hinge') AS s;
SELECT margin_audit(best, y, x) IS NULL AS none, margin_audit(NULL, y, x) IS NULL AS no_model FROM m, d WHERE false;
-- In parallel workers, and of wide sparse rows.
CREATE TABLE audit_rows AS SELECT i, y, x, margin_sparse(ARRAY[1, 70000, 90000 + i], x, 100000) AS wide FROM d;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
ALTER TABLE audit_rows SET (parallel_workers = 2);
CREATE TABLE audit_models AS SELECT loss, train_margin(y, x, margin_options(lambda => 0.01, loss => loss)) AS model, train_margin(y, wide, margin_options(lambda => 0.01, loss => loss)) AS wide
  FROM d JOIN audit_rows USING (i, y, x), unnest('{hinge,logistic}'::text[]) AS loss GROUP BY loss;
CREATE FUNCTION pg_temp.workers(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP IF line ~ 'Gather' THEN RETURN true; END IF; END LOOP;
  RETURN false;
END $$;
SELECT pg_temp.workers('SELECT margin_audit((SELECT model FROM audit_models WHERE loss = ''hinge''), y, x) FROM audit_rows') AS workers;
CREATE TEMP TABLE answers AS SELECT loss, (SELECT margin_audit((SELECT model FROM audit_models AS b WHERE b.loss = a.loss), y, x) FROM audit_rows) AS dense,
    (SELECT margin_audit((SELECT wide FROM audit_models AS b WHERE b.loss = a.loss), y, wide) FROM audit_rows WHERE i % 2 = 0) AS wide FROM audit_models AS a;
CREATE TEMP TABLE in_parallel AS SELECT margin_audit((SELECT model FROM audit_models WHERE loss = 'hinge'), y, x) AS dense FROM audit_rows;
CREATE TEMP TABLE wide_in_parallel AS SELECT margin_audit((SELECT wide FROM audit_models WHERE loss = 'hinge'), y, wide) AS wide FROM audit_rows WHERE i % 2 = 0;
SET max_parallel_workers_per_gather = 0;
SELECT abs((p.dense).gap - (s).gap) < 1e-10 AS dense FROM in_parallel AS p, (SELECT margin_audit(model, y, x) AS s FROM audit_models, audit_rows WHERE loss = 'hinge') AS q;
SELECT abs((p.wide).gap - (s).gap) < 1e-10 AS wide FROM wide_in_parallel AS p, (SELECT margin_audit(a.wide, y, r.wide) AS s FROM audit_models AS a, audit_rows AS r WHERE loss = 'hinge' AND i % 2 = 0) AS q;
RESET max_parallel_workers_per_gather; RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;
DROP TABLE audit_rows, audit_models;
-- LIBLINEAR: the first label is the one of positive scores, and the bias is a feature.
CREATE TEMP TABLE files (name text, body text);
INSERT INTO files VALUES
  ('two', E'solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\nnr_feature 3\nbias 1\nw\n0.5 \n-0.25 \n1e-3 \n0.125 \n'),
  ('flipped', E'solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel -1 1\nnr_feature 3\nbias 2\nw\n0.5 \n-0.25 \n1e-3 \n0.125 \n'),
  ('three', E'solver_type L2R_LR\r\nnr_class 3\r\nlabel 2 0 1\r\nnr_feature 3\r\nbias -1\r\nw\r\n1 2 3\r\n4 5 6\r\n7 8 9\r\n'),
  ('numbers', E'solver_type L2R_L1LOSS_SVR_DUAL\nnr_class 2\nnr_feature 3\nbias -1\nw\n1\n2\n3'),
  ('sparse', E'solver_type L1R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 3\nbias -1\nw\n1\n0\n3\n');
SELECT name, (m).loss, (m).lambda, (m).status, (m).classes, (m).weights, (m).intercept, (m).primal, (m).dual, (m).options
  FROM files, LATERAL (SELECT margin_from_liblinear(body, 0.01) AS m) AS s ORDER BY name;
SELECT name, margin_predict(m, '{1,2,3}'::float8[]), margin_score(m, '{1,2,3}'::float8[]) FROM files, LATERAL (SELECT margin_from_liblinear(body, 0.01) AS m) AS s WHERE name IN ('two', 'flipped', 'numbers') ORDER BY name;
SELECT (margin_audit(margin_from_liblinear(body, 0.01), y, x)).gap > 0 AS audited FROM files, d WHERE name = 'two';
SELECT (margin_audit(margin_from_liblinear(body, 0.01, '{"epsilon": 0.5}'), t, x)).gap > 0 AS audited FROM files, d WHERE name = 'numbers';
CREATE FUNCTION pg_temp.broken(name text, was text, becomes text) RETURNS text LANGUAGE sql AS $$
  SELECT pg_temp.error_of(format('SELECT margin_from_liblinear(%L, 0.01)', replace(body, was, becomes))) FROM files AS f WHERE f.name = broken.name $$;
SELECT pg_temp.broken(name, was, becomes) FROM (VALUES ('two', 'L2R_L1LOSS_SVC_DUAL', 'MCSVM_CS'), ('two', 'L2R_L1LOSS_SVC_DUAL', 'SVM'), ('two', '0.125 ', ''),
  ('two', '0.125 ', E'0.125\n1'), ('two', '1e-3', '1e-3 2'), ('two', '1e-3', 'nan'), ('two', '1e-3', '1e999'), ('two', 'label 1 -1', 'label 1 1'), ('two', 'label 1 -1', 'label 1 0.5'),
  ('two', 'nr_class 2', 'nr_class 1e9'), ('two', 'nr_feature 3', 'nr_feature 2147483646'), ('two', 'bias 1', ''), ('two', 'bias 1', 'width 1'), ('two', E'w\n', E'w 1\n'),
  ('sparse', 'bias -1', 'bias 1'), ('numbers', 'nr_feature', E'label 1 2\nnr_feature')) AS v(name, was, becomes);
SELECT pg_temp.error_of($$SELECT margin_from_liblinear('', 1)$$);
SELECT pg_temp.error_of(format('SELECT margin_from_liblinear(%L, %s)', body, lambda)) FROM files, unnest('{0,-1,NULL,NaN}'::text[]) AS lambda WHERE name = 'two' AND lambda IS NOT NULL AND lambda <> 'NaN';
SELECT pg_temp.error_of(format('SELECT margin_from_liblinear(%L, NULL)', body)) FROM files WHERE name = 'two';
SELECT pg_temp.error_of(format('SELECT margin_from_liblinear(%L, 1, %L)', body, options)) FROM files, unnest('{"{\"loss\": \"logistic\"}","{\"intercept_scale\": 3}","{\"speed\": 1}","[1]"}'::text[]) AS options WHERE name = 'flipped';
SELECT margin_from_liblinear(NULL, 1) IS NULL AS nothing;
SELECT (margin_audit(margin_from_liblinear(body, 0.01), y, x)).gap > 0 AS lasso FROM files, d WHERE name = 'sparse';
-- LIBSVM: a linear kernel as weights, others as kernel models.
CREATE TEMP TABLE machines (name text, body text);
INSERT INTO machines VALUES
  ('linear', E'svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel 1 -1\nnr_sv 1 1\nSV\n0.5 1:1 3:2 \n-0.5 2:4 \n'),
  ('rbf', E'svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel -1 1\nprobA -1.5\nprobB 0.1\nnr_sv 1 1\nSV\n0.5 1:1 3:2 \n-0.5 2:4 \n'),
  ('polynomial', E'svm_type epsilon_svr\nkernel_type polynomial\ndegree 2\ngamma 0.5\ncoef0 1\nnr_class 2\ntotal_sv 2\nrho -3\nSV\n0.5 1:1 3:2 \n-0.5 2:4 \n');
SELECT name, (m).loss, (m).kernel, (m).classes, (m).weights, (m).intercept, (m).sparse_support_vectors, (m).options, round(margin_score(m, '{1:1,2:1}/3'::margin_sparse)::numeric, 12) AS score
  FROM machines, LATERAL (SELECT margin_from_libsvm(body, 0.01) AS m) AS s ORDER BY name;
SELECT round((-(0.5 * exp(-0.5 * 5) - 0.5 * exp(-0.5 * 10) - 0.25))::numeric, 12) AS rbf, 0.5 * 1.5 ^ 2 - 0.5 * 3 ^ 2 + 3 AS polynomial, 0.5 - 2 - 0.25 AS linear;
CREATE FUNCTION pg_temp.broken_machine(name text, was text, becomes text) RETURNS text LANGUAGE sql AS $$
  SELECT pg_temp.error_of(format('SELECT margin_from_libsvm(%L, 0.01)', replace(body, was, becomes))) FROM machines AS f WHERE f.name = broken_machine.name $$;
SELECT pg_temp.broken_machine(name, was, becomes) FROM (VALUES ('linear', 'c_svc', 'nu_svc'), ('linear', 'kernel_type linear', 'kernel_type sigmoid'), ('linear', 'nr_class 2', 'nr_class 3'),
  ('linear', '3:2', '3:x'), ('linear', '1:1 3:2', '3:1 3:2'), ('linear', 'total_sv 2', 'total_sv 3'), ('linear', 'total_sv 2', 'total_sv 1'), ('linear', 'rho 0.25', 'rho'),
  ('linear', 'label 1 -1', 'label 1'), ('rbf', 'gamma 0.5', ''), ('rbf', 'gamma 0.5', 'gamma -1'), ('polynomial', 'degree 2', 'degree 2.5'), ('linear', '-0.5 2:4', 'x 2:4')) AS v(name, was, becomes);
-- PMML: every bit comes back, of one row of weights and of several, of classes, numbers and counts, by names too.
CREATE TEMP TABLE written AS
  SELECT 'classes' AS name, train_margin(c, x, margin_options(lambda => 0.01, loss => 'logistic')) AS m FROM d
  UNION ALL SELECT 'two', train_margin(y, x, margin_options(lambda => 0.01, loss => 'hinge')) FROM d
  UNION ALL SELECT 'numbers', train_margin(t, x, margin_options(lambda => 0.01, loss => 'quantile', quantile => 0.7)) FROM d
  UNION ALL SELECT 'counts', train_margin(c, x, margin_options(lambda => 0.01, loss => 'poisson')) FROM d
  UNION ALL SELECT 'wide', train_margin(y, margin_sparse(ARRAY[2, 70, 900], x, 1000), margin_options(lambda => 0.01, loss => 'squared_hinge')) FROM d
  UNION ALL SELECT 'made', margin_model_from('{0,-0,5e-324}', '{-0}', '{no,<&>}', 'hinge', 0.5);
SELECT name, (b).weights::text = (m).weights::text AS weights, (b).intercept::text = (m).intercept::text AS intercept, (b).classes IS NOT DISTINCT FROM (m).classes AS classes,
       (b).columns IS NOT DISTINCT FROM (m).columns AS columns, coalesce((m).dimensions, 3) = (b).dimensions AS dimensions, (b).loss, (b).lambda, (b).status IS NULL AS unproven
  FROM written, LATERAL (SELECT margin_from_pmml(margin_pmml(m), (m).loss, (m).lambda, CASE WHEN name = 'wide' THEN ARRAY(SELECT 'x' || j FROM generate_series(1, 1000) AS j) END) AS b OFFSET 0) AS s ORDER BY name;
SELECT name, margin_predict(b, '{0.5,-1,3}'::float8[]) = margin_predict(m, '{0.5,-1,3}'::float8[]) AS predicts, (b).weights = (m).weights AS weights
  FROM written, LATERAL (SELECT margin_from_pmml(margin_pmml(m, '{"b <",a,"&"}'), (m).loss, (m).lambda) AS b OFFSET 0) AS s WHERE name <> 'wide' ORDER BY name;
SELECT (margin_from_pmml(margin_pmml(m, '{c,a,b}'), 'hinge', 1, '{a,b,c,d}')).columns, (margin_from_pmml(margin_pmml(m), 'hinge', 1, options => '{"intercept": "free"}')).options
  FROM (SELECT margin_model_from('{1,2,3}', '{0}', '{no,yes}', 'hinge', 0.5) AS m OFFSET 0) AS s;
SELECT (margin_audit(b, y, x)).gap = (margin_audit(m, y, x)).gap AS audited FROM written, d, LATERAL (SELECT margin_from_pmml(margin_pmml(m), 'hinge', 0.01) AS b) AS s WHERE name = 'two' GROUP BY m, b;
CREATE FUNCTION pg_temp.broken_pmml(was text, becomes text) RETURNS text LANGUAGE sql AS $$
  SELECT pg_temp.error_of(format('SELECT margin_from_pmml(%L, ''hinge'', 0.01)', replace(margin_pmml(margin_model_from('{1,2,3}', '{0}', '{no,yes}', 'hinge', 0.5)), was, becomes))) $$;
SELECT pg_temp.broken_pmml(was, becomes) FROM (VALUES ('coefficient="2"', 'coefficient="2,0"'), ('coefficient="2"', 'coefficient="1e999"'), ('coefficient="2"', ''), ('name="x2" coefficient', 'name="x3" coefficient'),
  ('name="x2" coefficient', 'name="x4" coefficient'), ('</RegressionTable>', '</Table>'), ('</RegressionTable>', '</RegressionTable>,'), ('<Header>', '<!DOCTYPE lolz><Header>'), ('<Header>', repeat('<a>', 70)),
  ('</PMML>', ''), ('</PMML>', '</PMML><PMML/>'), ('version="4.4"', 'version="5"'), ('softmax', 'probit'), ('<NumericPredictor name="x1" coefficient="1"/>', '<CategoricalPredictor name="x1" value="a" coefficient="1"/>'),
  ('intercept="0" targetCategory="no"', 'intercept="1" targetCategory="no"'), ('numberOfFields="4"', 'numberOfFields="5"'), ('no', '&no;')) AS v(was, becomes);
SELECT pg_temp.error_of(format('SELECT margin_from_pmml(%L, %s)', margin_pmml(m), arguments)) FROM (SELECT margin_model_from('{1,2,3}', '{0}', '{no,yes}', 'hinge', 0.5) AS m OFFSET 0) AS s,
  unnest(ARRAY[$$'squared', 1$$, $$'hinges', 1$$, $$NULL, 1$$, $$'hinge', 0$$, $$'hinge', NULL$$, $$'hinge', 1, '{a,b}'$$, $$'hinge', 1, '{}'$$, $$'hinge', 1, '{x1,x2,x3,x3}'$$, $$'hinge', 1, '{x1,x2,NULL}'$$,
    $$'hinge', 1, NULL, '{"loss": "logistic"}'$$, $$'one_class', 1$$, $$'poisson', 1$$]) AS arguments;
SELECT pg_temp.error_of($$SELECT margin_from_pmml('', 'hinge', 1)$$) AS nothing, margin_from_pmml(NULL, 'hinge', 1) IS NULL AS none;
-- What an audit is not of, and what a model from weights must be.
SELECT pg_temp.error_of($$SELECT margin_audit(margin_from_libsvm(body, 0.01), y, x) FROM machines, d WHERE name = 'rbf'$$);
SELECT pg_temp.error_of($$SELECT margin_audit((SELECT train_margin(y, x) FROM d WHERE i < 3), y, x) FROM d$$);
SELECT pg_temp.error_of($$SELECT margin_audit((SELECT train_margin(y, x, margin_options(lambda => 1, standardize => true)) FROM d), y, x) FROM d$$);
SELECT pg_temp.error_of($$SELECT margin_audit((SELECT train_margin(y, x, margin_options(lambda => 1, class_weight => 'balanced')) FROM d), y, x) FROM d$$);
SELECT pg_temp.error_of($$SELECT margin_audit((SELECT train_margin(y, x, margin_options(lambda => 0, loss => 'logistic')) FROM d), y, x) FROM d$$);
SELECT pg_temp.error_of($$SELECT margin_audit((SELECT train_margin(c, x, margin_options(lambda => 1, multiclass => 'joint')) FROM d), c, x) FROM d$$);
SELECT pg_temp.error_of(format('SELECT margin_audit(best, y, x, %L) FROM m, d WHERE loss = ''hinge''', o)) FROM unnest('{"{\"lambda\": 0}","{\"lambda\": \"1\"}","{\"width\": 1}"}'::text[]) AS o;
SELECT pg_temp.error_of($$SELECT margin_audit(best, y, x, NULL) FROM m, d WHERE loss = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_audit(best, y, '{1,2}'::float8[]) FROM m, d WHERE loss = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_audit(best, y, '{1,2,NaN}'::float8[]) FROM m, d WHERE loss = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_audit(best, 5, x) FROM m, d WHERE loss = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_audit(best, y, x, -1, '{}') FROM m, d WHERE loss = 'hinge'$$);
SELECT pg_temp.error_of(format('SELECT margin_model_from(%s)', arguments)) FROM unnest(ARRAY[$$'{1,2}', '{0}', '{a}', 'hinge', 1$$, $$'{1,2}', '{0,1}', '{a,b}', 'hinge', 1$$,
  $$'{1,NULL}', '{0}', '{a,b}', 'hinge', 1$$, $$'{1,2}', '{0}', '{a,b,c}', 'hinge', 1$$, $$'{1,2}', '{0}', '{a,b}', 'squared', 1$$, $$'{1,2}', '{0}', NULL, 'hinge', 1$$, $$'{1,2}', '{0}', '{a,b}', 'hinges', 1$$,
  $$'{1,2}', '{0}', '{a,b}', 'hinge', 0$$, $$'{1,2}', '{0}', '{a,b}', NULL, 1$$, $$'{1,2}', '{3}', '{a,b}', 'hinge', 1, '{"intercept": false}'$$, $$'{1,Infinity}', '{0}', '{a,b}', 'hinge', 1$$]) AS arguments;
SELECT margin_model_from(NULL, '{0}', NULL, 'squared', 1) IS NULL AS nothing, margin_predict(margin_model_from('{{1,0},{0,1},{-1,-1}}', '{0,0,0}', '{a,b,c}', 'logistic', 1), '{0,1}'::float8[]) AS several,
  margin_score(margin_model_from('{1,2}', '{3}', NULL, 'squared', 1), '{1,1}'::float8[]) AS numbers;

-- What is asked first: hints for names of other programs, lists of what there is, features that may be broken, small models.
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
CREATE TABLE flowers AS SELECT i, CASE WHEN i % 2 = 0 THEN 'rose' ELSE 'tulip' END AS y, ARRAY[i % 2 + (i * 7 % 5) / 8.0, (i % 3) / 2.0]::float8[] AS x FROM generate_series(1, 40) i;
-- Options and losses as others call them.
SELECT name, pg_temp.error_of(format($$SELECT train_margin(y, x, '{"%s": 1}') FROM flowers$$, name)) FROM unnest('{C,alpha,penalty,max_iter,tol,class_weights,n_estimators,learning_rate,random_state,lamda}'::text[]) AS name;
SELECT name, pg_temp.error_of(format($$SELECT train_margin(i, x, '{"lambda": 1, "loss": "%s"}') FROM flowers$$, name)) FROM unnest('{log_loss,mse,l2,squared_error,mae,svm,hing}'::text[]) AS name;
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"lambda": 1, "solver": "lbfgs"}') FROM flowers$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"loss": "logistic"}') FROM flowers$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(y, x, '{"norm": 1, "learners": "stumps"}') FROM flowers$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(y, x, '{"norm": 1}') FROM flowers$$);
SELECT pg_temp.error_of($$SELECT margin_path(y, x, '{"norm": "sparse"}') FROM flowers$$);
-- Options that a join did not find.
SELECT pg_temp.error_of($$SELECT train_margin(y, x, NULL) FROM flowers$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, 1, options) FROM flowers LEFT JOIN (SELECT 'lily' AS y, margin_options(lambda => 1) AS options) o USING (y)$$);
SELECT pg_temp.error_of($$SELECT margin_path(y, x, NULL) FROM flowers$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(y, x, NULL) FROM flowers$$);
-- A label of another type than in training.
CREATE TABLE garden AS SELECT train_margin(y, x, margin_options(lambda => 0.1, history => true, dual_weights => true, max_iterations => 50) ORDER BY i) AS m FROM flowers;
SELECT pg_temp.error_of($$SELECT margin_evaluate(m, y = 'rose', x) FROM flowers, garden$$);
SELECT pg_temp.error_of($$SELECT margin_evaluate(m, 'lily'::text, x) FROM flowers, garden$$);
-- Rows that cannot be scored.
SELECT pg_temp.error_of($$SELECT margin_score(m, '{1,NULL}'::float8[]) FROM garden$$);
SELECT x, margin_finite(x) AS finite, CASE WHEN margin_finite(x) THEN margin_predict(m, x) END AS says
  FROM garden, (VALUES ('{1,2}'::float8[]), ('{1,NULL}'), ('{NaN,1}'), ('{1,-Infinity}'), ('{}'), ('{{1},{2}}'), (NULL)) v (x);
SELECT margin_finite('{1,2}'::int[]) AS a;
SELECT margin_finite('{1:2,7:3}'::margin_sparse) AS a, margin_finite('{1.5,NaN}'::numeric[]) AS b, margin_finite(ARRAY[1, NULL]::real[]) AS c, margin_finite(ARRAY[1, 2]::real[]) AS d;
SELECT pg_temp.error_of($$SELECT margin_finite('a'::text)$$);
-- A model without what only its training needed; what it predicts and certifies is the same.
SELECT (m).history IS NOT NULL AND (m).dual_weights IS NOT NULL AS before, (c).history IS NULL AND (c).dual_weights IS NULL AS after,
       (c).primal = (m).primal AND (c).weights = (m).weights AND (c).options = (m).options AS same, pg_column_size(c) < pg_column_size(m) AS smaller, margin_compact(c) = c AS again
  FROM (SELECT m, margin_compact(m) AS c FROM garden) t;
SELECT count(*) AS differ FROM garden, flowers WHERE margin_score(m, x) <> margin_score(margin_compact(m), x);
SELECT margin_compact(NULL) IS NULL AS nothing;
DO $$ BEGIN
  EXECUTE (SELECT format('ALTER TABLE flowers ADD tulip boolean GENERATED ALWAYS AS (margin_score(%L::margin_model, x) > 0) STORED', margin_compact(m)) FROM garden);
END $$;
SELECT count(*) FILTER (WHERE tulip = (y = 'tulip')) > 30 AS mostly FROM flowers;
-- model IS NOT NULL is false for every model.
SELECT m IS NULL AS missing, m IS NOT NULL AS trap, NOT (m IS NULL) AS there, (m).status IS NOT NULL AS also FROM garden;
-- Stumps: a hint that fits them.
SELECT (train_margin(y, x, '{"norm": 1, "learners": "stumps", "max_iterations": 3}' ORDER BY i)).status FROM flowers;
-- What there is.
SELECT name, options FROM margin_kernels();
SELECT count(*) AS options, count(DISTINCT name) AS names, bool_and(length(meaning) > 3) AS said FROM margin_option_list();
SELECT name, type, default_value FROM margin_option_list() WHERE name IN ('lambda', 'tolerance', 'on_error') ORDER BY name;
SELECT count(*) AS bare FROM pg_attribute WHERE attrelid IN ('margin_model'::regclass, 'margin_evaluation'::regclass, 'margin_selection'::regclass, 'margin_verification'::regclass)
   AND attnum > 0 AND NOT attisdropped AND col_description(attrelid, attnum) IS NULL;
DROP TABLE flowers, garden;

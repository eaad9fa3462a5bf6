-- margin_verify: the certificate of a stored model, recomputed over a table.
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

CREATE TABLE verified AS SELECT i, i % 2 = 0 AS y, ARRAY[sin(i * 3) + CASE WHEN i % 2 = 0 THEN 3 ELSE 0 END, cos(i * i)]::real[] AS x
  FROM generate_series(1, 500) i;
ANALYZE verified;
CREATE TABLE verify_models AS
  SELECT 'hard' AS name, train_margin(y, x, margin_options(dual_weights => true, tolerance => 1e-6) ORDER BY i) AS m FROM verified
  UNION ALL SELECT 'through the origin', train_margin(y, x, margin_options(dual_weights => true, tolerance => 1e-6, intercept => false) ORDER BY i)
    FROM (SELECT i, y, CASE WHEN y THEN x ELSE ARRAY[x[1] - 4, x[2]] END AS x FROM verified) s
  UNION ALL SELECT 'without duals', train_margin(y, x ORDER BY i) FROM verified;

-- Over the training rows in their order: the certificate of the training, found again.
SELECT name, (v).rows, (v).skipped, (v).errors,
       abs((v).margin_lower - (m).margin_lower) <= 1e-12 AS lower, abs((v).margin_upper - (m).margin_upper) <= 1e-12 AS upper,
       (v).primal = (v).margin_lower AS primal, (v).dual = (v).margin_upper AS dual, (v).gap = (v).dual - (v).primal AS gap
  FROM (SELECT name, m, (SELECT margin_verify(m, y, CASE WHEN name LIKE 'through%' AND NOT y THEN ARRAY[x[1] - 4, x[2]] ELSE x END ORDER BY i) FROM verified) AS v
          FROM verify_models) s ORDER BY name;
-- In another order the upper bound is wider, never wrong.
SELECT (v).margin_lower = (SELECT (m).margin_lower FROM verify_models WHERE name = 'hard') AS lower,
       (v).margin_upper >= (SELECT (m).margin_lower FROM verify_models WHERE name = 'hard') AS sound,
       (v).margin_upper > (SELECT (m).margin_upper FROM verify_models WHERE name = 'hard') AS wider
  FROM (SELECT margin_verify((SELECT m FROM verify_models WHERE name = 'hard'), y, x ORDER BY i DESC) AS v FROM verified) s;
-- Over rows that the training did not see: how far its separation carries.
SELECT (v).rows, (v).errors, (v).margin_lower < 0 AS some_wrong FROM (SELECT margin_verify(m, NOT y, x) AS v FROM verified, verify_models WHERE name = 'hard') s;
SELECT (v).rows, (v).skipped FROM (SELECT margin_verify(m, CASE WHEN i <= 3 THEN NULL ELSE y END, CASE WHEN i = 9 THEN NULL ELSE x END) AS v
  FROM verified, verify_models WHERE name = 'hard' AND i < 20) s;
SELECT margin_verify(m, y, x) IS NULL AS nothing FROM verified, verify_models WHERE name = 'hard' AND i < 0;
-- A forged certificate does not survive.
SELECT round((v).margin_lower::numeric, 3) < 0.5 AS found_out FROM (
  SELECT margin_verify(f.m, y, x) AS v FROM verified,
    (SELECT jsonb_populate_record(m, '{"margin_lower": 99, "margin_upper": 99.01, "weights": [0, 1], "intercept": [0]}') AS m
       FROM verify_models WHERE name = 'hard') f) s;

-- Parallel workers give the lower bound; the upper bound needs all rows in one place.
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
CREATE OR REPLACE FUNCTION plan_of(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$  -- the lines that every version words alike
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
    IF line !~ 'Params Evaluated' THEN RETURN NEXT regexp_replace(line, 'InitPlan (\d|expr_).*', 'InitPlan'); END IF;
  END LOOP;
END $$;
SELECT plan_of($$SELECT margin_verify((SELECT m FROM verify_models WHERE name = 'hard'), y, x) FROM verified$$) AS plan;
SELECT (v).rows, (v).errors, (v).margin_lower = (SELECT (m).margin_lower FROM verify_models WHERE name = 'hard') AS lower, (v).margin_upper
  FROM (SELECT margin_verify((SELECT m FROM verify_models WHERE name = 'hard'), y, x) AS v FROM verified) s;
SELECT (v).rows, (v).margin_upper IS NOT NULL AS upper
  FROM (SELECT margin_verify((SELECT m FROM verify_models WHERE name = 'hard'), y, x ORDER BY i) AS v FROM verified) s;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;

-- Three classes: pairs of classes carry the dual weights.
CREATE TEMP TABLE three AS SELECT i, i % 3 AS y, ARRAY[sin(i * 3) + 4 * (i % 3), cos(i) - 4 * (CASE WHEN i % 3 = 1 THEN 1 ELSE 0 END)] AS x
  FROM generate_series(1, 90) i;
SELECT (v).errors, abs((v).margin_lower - (m).margin_lower) <= 1e-12 AS lower, abs((v).margin_upper - (m).margin_upper) <= 1e-12 AS upper,
       (m).margin_lower > 0 AS separated
  FROM (SELECT m, margin_verify(m, y, x ORDER BY i) AS v FROM three, (SELECT train_margin(y, x, margin_options(dual_weights => true) ORDER BY i) AS m FROM three) t GROUP BY m) s;

-- Soft margins: the risk, and its dual value.
CREATE TABLE soft_models AS
  SELECT loss, train_margin(i % 3 = 0, x, margin_options(loss => loss, lambda => 0.01, dual_weights => true, tolerance => 1e-4) ORDER BY i) AS m
    FROM verified, unnest('{hinge,logistic,squared_hinge,smoothed_hinge}'::text[]) AS loss GROUP BY loss
  UNION ALL
  SELECT loss, train_margin(x[2] + x[1] / 2, x, margin_options(loss => loss, lambda => 0.01, dual_weights => true, tolerance => 1e-4) ORDER BY i)
    FROM verified, unnest('{squared,absolute,epsilon_insensitive,huber}'::text[]) AS loss GROUP BY loss;
SELECT loss, (m).status, abs((v).primal - (m).primal) <= 1e-10 AS primal, abs((v).dual - (m).dual) <= 1e-10 AS dual,
       (v).gap = (v).primal - (v).dual AS gap, (v).margin_upper
  FROM (SELECT loss, m, (SELECT margin_verify(m, i % 3 = 0, x ORDER BY i) FROM verified) AS v FROM soft_models WHERE (m).classes IS NOT NULL
        UNION ALL SELECT loss, m, (SELECT margin_verify(m, x[2] + x[1] / 2, x ORDER BY i) FROM verified) FROM soft_models WHERE (m).classes IS NULL) s
 ORDER BY loss;
SELECT loss, (m).margin_lower, (m).margin_upper FROM soft_models WHERE loss = 'hinge';
-- In parallel: the risk, up to the order of its sum.
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
SELECT abs((v).primal - (SELECT (m).primal FROM soft_models WHERE loss = 'logistic')) < 1e-10 AS primal, (v).dual
  FROM (SELECT margin_verify((SELECT m FROM soft_models WHERE loss = 'logistic'), i % 3 = 0, x) AS v FROM verified) s;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;
-- Class weights belong to the objective.
SELECT abs((v).primal - (m).primal) <= 1e-10 AS primal FROM (
  SELECT m, margin_verify(m, y, x ORDER BY i) AS v FROM verified, (SELECT train_margin(y, x, margin_options(lambda => 0.1, class_weight => '{"true": 3}') ORDER BY i) AS m
    FROM verified) t GROUP BY m) s;

-- Rows with weights: the certificate of a training with them, rows of weight 0 and their dual weights included.
CREATE TABLE weighed AS SELECT i, y <> (i % 11 = 0) AS y, ARRAY[x[1] + 2, x[2] + 3] AS x, i % 3 AS w, CASE WHEN i % 13 = 0 OR x[1] > 2 THEN 'one' WHEN x[2] > 0 THEN 'two' ELSE 'three' END AS class FROM verified;
CREATE TABLE copies AS SELECT weighed.* FROM weighed, generate_series(1, w);
CREATE TABLE weighed_models AS
  SELECT loss AS name, 'y' AS label, train_margin(y, x, w, margin_options(loss => loss, lambda => 0.01, dual_weights => true, tolerance => 1e-6) ORDER BY i) AS m
    FROM weighed, unnest('{hinge,logistic,squared_hinge,smoothed_hinge}'::text[]) AS loss GROUP BY loss
  UNION ALL SELECT 'rbf', 'y', train_margin(y, x, w, margin_options(kernel => 'rbf', lambda => 0.01, dual_weights => true, tolerance => 1e-6) ORDER BY i) FROM weighed
  UNION ALL SELECT 'class weights', 'y', train_margin(y, x, w, margin_options(lambda => 0.01, class_weight => '{"true": 3}', dual_weights => true, tolerance => 1e-6) ORDER BY i) FROM weighed
  UNION ALL SELECT 'balanced', 'y', train_margin(y, x, w, margin_options(lambda => 0.01, class_weight => 'balanced', dual_weights => true) ORDER BY i) FROM weighed
  UNION ALL SELECT 'likelihood', 'y', train_margin(y, x, w, margin_options(lambda => 0, loss => 'logistic') ORDER BY i) FROM weighed
  UNION ALL SELECT multiclass, 'class', train_margin(class, x, w, margin_options(loss => 'logistic', multiclass => multiclass, lambda => 0.01, dual_weights => true, tolerance => 1e-6) ORDER BY i)
    FROM weighed, unnest('{one_vs_rest,joint}'::text[]) AS multiclass GROUP BY multiclass
  UNION ALL SELECT loss, 'number', train_margin(x[2] + x[1] / 2 + i % 4, x, w, margin_options(loss => loss, lambda => 0.01, dual_weights => true, tolerance => 1e-6) ORDER BY i)
    FROM weighed, unnest('{squared,absolute,huber}'::text[]) AS loss GROUP BY loss
  UNION ALL SELECT 'one class', 'inlier', train_one_class(x, w, margin_options(nu => 0.2, dual_weights => true, tolerance => 1e-6) ORDER BY i) FROM weighed;
CREATE TABLE weighed_figures AS
  SELECT name, m, CASE label WHEN 'y' THEN (SELECT ARRAY[margin_verify(m, y, x, w ORDER BY i), margin_verify(m, y, x, w)] FROM weighed)
                             WHEN 'class' THEN (SELECT ARRAY[margin_verify(m, class, x, w ORDER BY i), margin_verify(m, class, x, w)] FROM weighed)
                             WHEN 'number' THEN (SELECT ARRAY[margin_verify(m, x[2] + x[1] / 2 + i % 4, x, w ORDER BY i), margin_verify(m, x[2] + x[1] / 2 + i % 4, x, w)] FROM weighed)
                             ELSE (SELECT ARRAY[margin_verify(m, 'inlier'::text, x, w ORDER BY i), margin_verify(m, 'inlier'::text, x, w)] FROM weighed) END AS v,
              CASE label WHEN 'y' THEN (SELECT margin_verify(m, y, x) FROM copies) WHEN 'class' THEN (SELECT margin_verify(m, class, x) FROM copies)
                         WHEN 'number' THEN (SELECT margin_verify(m, x[2] + x[1] / 2 + i % 4, x) FROM copies) ELSE (SELECT margin_verify(m, x) FROM copies) END AS c FROM weighed_models;
SELECT name, (v[1]).rows, (c).rows AS copies, abs((v[1]).primal - (m).primal) <= 1e-10 * abs((m).primal) AS primal, abs((v[1]).dual - (m).dual) <= 1e-9 * abs((m).primal) AS dual,
       abs((v[1]).primal - (c).primal) <= 1e-12 * abs((c).primal) AS as_copies, ((v[1]).margin_lower = (c).margin_lower) AS margin
  FROM weighed_figures ORDER BY name;
-- Without the weights it is another problem's.
SELECT bool_and(abs((v).primal - (m).primal) > 1e-4 * (m).primal) AS others FROM (SELECT m, margin_verify(m, y, x) AS v FROM weighed, weighed_models WHERE label = 'y' AND name <> 'balanced' GROUP BY m) AS s;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
ANALYZE weighed;
ALTER TABLE weighed_models SET (parallel_workers = 0);
SELECT plan_of($$SELECT margin_verify((SELECT m FROM weighed_models WHERE name = 'logistic'), y, x, w) FROM weighed$$) AS plan;
SELECT (w).rows, abs((w).primal - (v[1]).primal) <= 1e-12 AS primal, (w).dual
  FROM weighed_figures, (SELECT margin_verify((SELECT m FROM weighed_models WHERE name = 'logistic'), y, x, w) AS w FROM weighed) AS s WHERE name = 'logistic';
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;
SELECT margin_verify(m, y, x, 0) IS NULL AS zeros FROM weighed, weighed_models WHERE name = 'hinge';
SELECT pg_temp.error_of(format('SELECT margin_verify(m, true, x, %s) FROM weighed, weighed_models WHERE name = ''hinge''', weight)) FROM unnest('{-1,''NaN'',''Infinity'',"NULL"}'::text[]) AS weight;
SELECT pg_temp.error_of($$SELECT margin_verify(m, y, x, 2) FROM verified, verify_models WHERE name = 'hard'$$);
SELECT (v).margin_lower = (m).margin_lower AS ones FROM (SELECT m, margin_verify(m, y, x, 1) AS v FROM verified, verify_models WHERE name = 'hard' GROUP BY m) AS s;
DROP TABLE weighed, copies, weighed_models, weighed_figures;

-- Rows that are certain to be predicted as the optimum predicts: more of them, the narrower the interval.
CREATE TABLE corners AS
  SELECT i, i % 3 AS k, ARRAY[CASE i % 3 WHEN 1 THEN 1 ELSE 0 END + sin(i * 5), CASE i % 3 WHEN 2 THEN 1 ELSE 0 END + cos(i * i)]::real[] AS x FROM verified;
ANALYZE corners;
CREATE TABLE certain_models AS
  SELECT classes, loss, t, train_margin(CASE classes WHEN 2 THEN (k > 0)::int ELSE k END, x, margin_options(lambda => 0.01, loss => loss, tolerance => t, solver => 'sdca') ORDER BY i) AS m
    FROM corners, unnest('{2,3}'::int[]) AS classes, unnest('{smoothed_hinge,logistic}'::text[]) AS loss, unnest('{0.1,1e-3,1e-10}'::float8[]) AS t
   GROUP BY classes, loss, t;
CREATE TABLE certain_counts AS
  SELECT classes, loss, t, m, (SELECT (margin_verify(m, CASE classes WHEN 2 THEN (k > 0)::int ELSE k END, x)).certain FROM corners) AS certain FROM certain_models;
SELECT classes, loss, bool_and(certain BETWEEN 0 AND 500) AS counts, bool_and(certain > 450) FILTER (WHERE t = 1e-10) AS tight,
       max(certain) FILTER (WHERE t = 0.1) < max(certain) FILTER (WHERE t = 1e-3) AS grows,
       max(certain) FILTER (WHERE t = 1e-3) < max(certain) FILTER (WHERE t = 1e-10) AS grows_on
  FROM certain_counts GROUP BY classes, loss ORDER BY classes, loss;
-- Row by row: a certain row is predicted as the model at 1e-10 predicts it, where that is itself certain.
SELECT count(*) > 200 AS many, count(*) FILTER (WHERE loose <> tight) AS wrong
  FROM (SELECT margin_predict(l.m, x) AS loose, margin_predict(o.m, x) AS tight,
               (SELECT (margin_verify(l.m, 0, y)).certain FROM (VALUES (x)) v (y)) = 1 AND (SELECT (margin_verify(o.m, 0, y)).certain FROM (VALUES (x)) v (y)) = 1 AS certain
          FROM corners, certain_models l JOIN certain_models o USING (classes, loss) WHERE l.t = 1e-3 AND o.t = 1e-10 AND i <= 200) s WHERE certain;
-- Nothing of the kind for hard margins, regressions, standardised units, or a model without a gap.
SELECT (SELECT (margin_verify(m, y, x)).certain FROM verified, verify_models WHERE name = 'hard') AS hard,
       (SELECT (margin_verify(m, 1, x)).certain FROM verified, soft_models WHERE loss = 'huber') AS regression,
       (SELECT (margin_verify(m, y, x)).certain FROM verified, (SELECT train_margin(y, x, margin_options(lambda => 0.1, standardize => true)) AS m FROM verified) t) AS standardised,
       (SELECT (margin_verify(jsonb_populate_record(m, '{"gap": null}'), i % 3 = 0, x)).certain FROM verified, soft_models WHERE loss = 'hinge') AS no_gap,
       (SELECT (margin_verify(jsonb_populate_record(m, '{"gap": "Infinity"}'), i % 3 = 0, x)).certain FROM verified, soft_models WHERE loss = 'hinge') AS no_proof;
-- Class and row weights are in the gap already.
SELECT (margin_verify(m, y, x)).certain > 400 AS balanced
  FROM verified, (SELECT train_margin(y, x, 1 + i % 2, margin_options(lambda => 0.1, class_weight => 'balanced', tolerance => 1e-8)) AS m FROM verified) t;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
SELECT (SELECT (margin_verify((SELECT m FROM certain_models WHERE t = 1e-3 AND loss = 'logistic' AND classes = 3), k, x)).certain FROM corners)
     = (SELECT certain FROM certain_counts WHERE t = 1e-3 AND loss = 'logistic' AND classes = 3) AS same_in_parallel;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;
DROP TABLE corners, certain_models, certain_counts;

-- What is refused.
SELECT pg_temp.error_of($$SELECT margin_verify(m, i, x) FROM verified, verify_models WHERE name = 'hard'$$);
SELECT pg_temp.error_of($$SELECT margin_verify(m, y, x || 1::real) FROM verified, verify_models WHERE name = 'hard'$$);
SELECT pg_temp.error_of($$SELECT margin_verify(m, y, ARRAY[x[1], 'NaN']) FROM verified, verify_models WHERE name = 'hard'$$);
SELECT pg_temp.error_of($$SELECT margin_verify(m, y, x) FROM verified, verify_models$$);
DROP TABLE verified, verify_models, soft_models;

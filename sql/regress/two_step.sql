-- margin_verify, margin_evaluate and the charts of a sum of terms: what the aggregates over rows say.
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
-- Equal to 12 digits, attribute by attribute; arrays by their text, but for the last digits of numbers.
CREATE FUNCTION pg_temp.alike(a jsonb, b jsonb) RETURNS boolean LANGUAGE sql AS $$
  SELECT bool_and(CASE WHEN jsonb_typeof(x.value) = 'number' AND jsonb_typeof(y.value) = 'number'
                       THEN abs(x.value::text::float8 - y.value::text::float8) <= 1e-12 * (1 + abs(x.value::text::float8))
                       ELSE x.value IS NOT DISTINCT FROM y.value END)
    FROM jsonb_each(a) x FULL JOIN jsonb_each(b) y USING (key) $$;

CREATE TABLE step_rows AS
  SELECT i AS id, i % 5 AS g, i % 2 = 0 AS two, i % 3 AS three, (i % 7) * 0.5 + sin(i) + 1e4 AS target,
         ARRAY[sin(i * 3) + CASE WHEN i % 2 = 0 THEN 1.5 ELSE 0 END + i % 3, cos(i * i) + i % 3, i % 7 - 3]::real[] AS x
    FROM generate_series(1, 6000) AS i;
-- Rows to be counted as skipped.
INSERT INTO step_rows VALUES (6001, 0, NULL, NULL, NULL, '{1,2,3}'), (6002, 1, true, 1, 1e4, NULL), (6003, 2, NULL, NULL, NULL, NULL);
ANALYZE step_rows;
CREATE TABLE step_models (name text, label text, m margin_model);
DO $$
DECLARE k record;
BEGIN
  FOR k IN SELECT * FROM (VALUES
      ('hinge', 'two', '{"lambda": 0.01}'), ('logistic', 'two', '{"lambda": 0.01, "loss": "logistic", "class_weight": {"true": 3}}'),
      ('platt', 'two', '{"lambda": 0.01, "calibration": "platt", "l1_ratio": 0.3}'), ('isotonic', 'three', '{"lambda": 0.01, "calibration": "isotonic"}'),
      ('three', 'three', '{"lambda": 0.01, "loss": "squared_hinge"}'), ('logistic of three', 'three', '{"lambda": 0.01, "loss": "logistic"}'),
      ('standardized', 'two', '{"lambda": 0.01, "standardize": true}'), ('squared', 'target', '{"lambda": 0.01, "loss": "squared"}'),
      ('absolute', 'target', '{"lambda": 0.01, "loss": "absolute"}'), ('hard', 'x[1] + x[2] > 1.5', '{"max_iterations": 30}'),
      ('l1', 'x[1] + x[2] > 1.5', '{"norm": 1}'), ('duals', 'x[1] + x[2] > 1.5', '{"dual_weights": true}'),
      ('stumps', 'x[1] > 1.5', '{"norm": 1, "learners": "stumps"}'), ('rbf', 'two', '{"kernel": "rbf", "gamma": 0.1, "lambda": 0.1}'),
      ('rbf of three', 'three', '{"kernel": "rbf", "gamma": 0.1, "lambda": 0.1}'),
      ('interpolate', '(2 * x[1] + x[2])::float8', '{"loss": "interpolate"}')) AS k (name, label, options) LOOP
    EXECUTE format('INSERT INTO step_models SELECT %L, %L, train_margin(%s, x, %L::jsonb) FROM step_rows WHERE id <= 120', k.name, k.label, k.label, k.options);
  END LOOP;
END $$;

-- All figures of both forms, of rows of each group and of all.
CREATE FUNCTION pg_temp.compare(which text) RETURNS TABLE (groups bigint, verify boolean, verify_bits boolean, evaluate boolean, evaluate_bits boolean, charts boolean)
LANGUAGE plpgsql AS $$
DECLARE label text; model text; regression boolean; three boolean; lost text[] := '{primal,margin_upper,dual,gap}'; sums text[] := '{log_loss,brier,mse,mae,r2,deviance}';
BEGIN
  SELECT s.label, format('(SELECT m FROM step_models WHERE name = %L)', which), (s.m).classes IS NULL, cardinality((s.m).classes) = 3 INTO label, model, regression, three
    FROM step_models s WHERE name = which;
  RETURN QUERY EXECUTE format($q$
    WITH rows AS (SELECT g, margin_verify(%1$s, %2$s, x) AS v, margin_evaluate(%1$s, %2$s, x) AS e, %3$s AS c FROM step_rows GROUP BY GROUPING SETS ((g), ())),
         sums AS (SELECT g, margin_sum(margin_term(%1$s, %2$s, x)) AS s FROM step_rows GROUP BY GROUPING SETS ((g), ())),
         pairs AS (SELECT to_jsonb(v) AS v, to_jsonb(e) AS e, c, to_jsonb(margin_verify(%1$s, s)) AS v2, to_jsonb(margin_evaluate(%1$s, s)) AS e2, %4$s AS c2
                     FROM rows JOIN sums ON rows.g IS NOT DISTINCT FROM sums.g)
    SELECT count(*), bool_and(pg_temp.alike(v - $1[2:], v2 - $1[2:])), bool_and(v - $1 = v2 - $1), bool_and(pg_temp.alike(e, e2)), bool_and(e - $2 = e2 - $2), bool_and(c = c2)
      FROM pairs $q$, model, label,
    CASE WHEN regression THEN 'NULL::text' ELSE format(CASE WHEN three THEN '' ELSE 'margin_roc(%1$s, %2$s, x) || ' END || 'margin_histogram(%1$s, %2$s, x)', model, label) END,
    CASE WHEN regression THEN 'NULL::text' ELSE format(CASE WHEN three THEN '' ELSE 'margin_roc(%1$s, s) || ' END || 'margin_histogram(%1$s, s)', model) END) USING lost, sums;
END $$;
SELECT name, c.* FROM step_models, pg_temp.compare(name) AS c ORDER BY name;
-- Charts of probabilities: sums over a bin's rows, so equal but for the last digits of a picture.
SELECT name, count(*), bool_and(regexp_replace(c, '[0-9.]+', '', 'g') = regexp_replace(c2, '[0-9.]+', '', 'g')) AS same
  FROM (SELECT name, margin_reliability(m, two, x) AS c, margin_reliability(m, margin_sum(margin_term(m, two, x))) AS c2
          FROM step_rows, step_models WHERE name IN ('logistic', 'platt') GROUP BY name, m) AS s GROUP BY name ORDER BY name;

-- Rows by their weights, one of which is 0.
SELECT name, pg_temp.alike(to_jsonb(e) - '{weighted_confusion,f1,precision,recall}'::text[], to_jsonb(margin_evaluate(m, s)) - '{weighted_confusion,f1,precision,recall}'::text[]) AS evaluate, (e).rows, (e).margin_quantiles = (margin_evaluate(m, s)).margin_quantiles AS quantiles,
       (SELECT bool_and(abs(a - b) < 1e-9) FROM unnest((e).weighted_confusion, (margin_evaluate(m, s)).weighted_confusion) AS c(a, b)) AS confusion, pg_temp.alike(to_jsonb(v), to_jsonb(margin_verify(m, s))) AS verify, h = margin_histogram(m, s) AS histogram
  FROM (SELECT name, m, margin_evaluate(m, two, x, w) AS e, margin_verify(m, two, x, w) AS v, margin_histogram(m, two, x, w) AS h, margin_sum(_margin_term(m, two, x, w)) AS s
          FROM (SELECT two, x, (id % 4) * 0.3 AS w FROM step_rows) AS r, step_models WHERE name IN ('hinge', 'platt') GROUP BY name, m) AS t ORDER BY name;
SELECT (e).rows, (e).weighted_confusion IS NOT NULL AS by_weight, (e).confusion IS NULL AS no_counts FROM (SELECT margin_evaluate(m, margin_sum(_margin_term(m, two, x, 0.5))) AS e FROM step_rows, step_models WHERE name = 'hinge' GROUP BY m) AS s;
SELECT margin_evaluate(m, margin_sum(_margin_term(m, two, x, 0))) IS NULL AS nothing_counts FROM step_rows, step_models WHERE name = 'hinge' GROUP BY m;
SELECT pg_temp.error_of($$SELECT margin_sum(CASE WHEN two THEN margin_term(m, two, x) ELSE _margin_term(m, two, x, 1) END) FROM step_rows, step_models WHERE name = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT _margin_term(m, two, x, -1) FROM step_rows, step_models WHERE name = 'hinge' LIMIT 1$$);
SELECT pg_temp.error_of($$SELECT _margin_term(m, two, x, NULL) FROM step_rows, step_models WHERE name = 'hinge' LIMIT 1$$);

-- The same in parallel workers, which send states to the leader.
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
CREATE OR REPLACE FUNCTION plan_of(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$  -- the lines that every version words alike
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
    IF line !~ 'Params Evaluated' THEN RETURN NEXT regexp_replace(line, 'InitPlan (\d|expr_).*', 'InitPlan'); END IF;
  END LOOP;
END $$;
SELECT plan_of($$SELECT margin_verify((SELECT m FROM step_models WHERE name = 'hinge'), margin_sum(margin_term((SELECT m FROM step_models WHERE name = 'hinge'), two, x))) FROM step_rows$$) AS plan;
SELECT name, c.* FROM step_models, pg_temp.compare(name) AS c WHERE name IN ('hinge', 'hard', 'squared', 'isotonic', 'interpolate') ORDER BY name;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;

-- States can be stored, as text and as binary, and rolled up in any order; the bits of counts, extremes and quantiles stay.
CREATE TABLE step_states AS SELECT name, g, margin_sum(margin_term(m, two, x)) AS s FROM step_rows, step_models WHERE label = 'two' GROUP BY name, m, g;
SELECT name, margin_evaluate(m, up) = margin_evaluate(m, down) AS evaluate, (margin_verify(m, up)).certain = (margin_verify(m, down)).certain AS certain,
       (margin_evaluate(m, up)).rows, (margin_evaluate(m, up)).skipped
  FROM step_models JOIN (SELECT name, margin_sum(s ORDER BY g) AS up, margin_sum(s::text::margin_state ORDER BY g DESC) AS down FROM step_states GROUP BY name) AS s USING (name)
 WHERE name IN ('hinge', 'standardized') ORDER BY name;
-- A term is small, whatever the row: it knows it no more.
SELECT octet_length(_margin_term_send(margin_term(m, two, x))) < 500 AS small, margin_term(m, two, x)::text::margin_term::text = margin_term(m, two, x)::text AS same
  FROM step_rows, step_models WHERE name = 'platt' AND id = 1;

-- A model is the same without what only a proof or a new training needs, and as JSON; another one is not.
SELECT (margin_verify(margin_compact(m), s)).rows AS compact, (margin_verify(margin_from_json(margin_to_json(m)), s)).rows AS json
  FROM step_models, LATERAL (SELECT margin_sum(margin_term(m, x[1] + x[2] > 1.5, x)) AS s FROM step_rows) AS t WHERE name = 'duals';
SELECT pg_temp.error_of($$SELECT margin_verify(a.m, s) FROM step_models AS a, step_states AS b WHERE a.name = 'hinge' AND b.name = 'logistic'$$);
SELECT pg_temp.error_of($$SELECT margin_evaluate(m, (SELECT margin_sum(margin_term(margin_question(NULL, m), two, x)) FROM step_rows)) FROM step_models WHERE name = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_certificate(margin_question(NULL, m), s) FROM step_models JOIN step_states USING (name) WHERE name = 'hinge' AND g = 0$$);
SELECT pg_temp.error_of($$SELECT margin_sum(margin_term(m, two, x)) FROM step_rows, step_models WHERE label = 'two'$$);
SELECT pg_temp.error_of($$SELECT margin_sum(s) FROM step_states$$);
-- What cannot be: labels and rows that the model does not know, charts of a regression, ranges as predictions.
SELECT pg_temp.error_of($$SELECT margin_term(m, 'maybe'::text, x) FROM step_rows, step_models WHERE name = 'hinge' LIMIT 1$$);
SELECT pg_temp.error_of($$SELECT margin_term(m, two, x[1:2]) FROM step_rows, step_models WHERE name = 'hinge' LIMIT 1$$);
SELECT pg_temp.error_of($$SELECT margin_term(m, two, ARRAY[1, 'NaN', 2]::float8[]) FROM step_rows, step_models WHERE name = 'hinge' LIMIT 1$$);
SELECT pg_temp.error_of($$SELECT margin_histogram(m, margin_sum(margin_term(m, target, x))) FROM step_rows, step_models WHERE name = 'squared' GROUP BY m$$);
SELECT pg_temp.error_of($$SELECT margin_roc(m, margin_sum(margin_term(m, three, x))) FROM step_rows, step_models WHERE name = 'three' GROUP BY m$$);
SELECT pg_temp.error_of($$SELECT margin_reliability(m, margin_sum(margin_term(m, two, x))) FROM step_rows, step_models WHERE name = 'hinge' GROUP BY m$$);
SELECT (v).rows, (v).errors FROM (SELECT margin_verify(m, margin_sum(margin_term(m, numrange((x[1] - 50)::numeric, (x[1] + 50)::numeric), x))) AS v FROM step_rows, step_models WHERE name = 'interpolate' GROUP BY m) AS s;
SELECT pg_temp.error_of($$SELECT margin_evaluate(m, margin_sum(margin_term(m, numrange((x[1] - 50)::numeric, (x[1] + 50)::numeric), x))) FROM step_rows, step_models WHERE name = 'interpolate' GROUP BY m$$);
-- Nothing to say: no model, no rows, none with a label.
SELECT margin_term(NULL::margin_model, two, x) IS NULL AS no_model, margin_verify(NULL, NULL::margin_state) IS NULL AS null_in FROM step_rows LIMIT 1;
SELECT margin_sum(margin_term(m, two, x)) IS NULL AS no_rows FROM step_rows, step_models WHERE name = 'hinge' AND id < 0;
SELECT margin_verify(m, s) IS NULL AS verify, margin_evaluate(m, s) IS NULL AS evaluate, margin_roc(m, s) IS NULL AS roc, margin_state_info(s)->'skipped' AS skipped
  FROM step_models, LATERAL (SELECT margin_sum(margin_term(m, NULL::boolean, x)) AS s FROM step_rows) AS t WHERE name = 'hinge';
-- Targets that are all equal have no spread, whatever their size.
SELECT (e).r2, (e).mae IS NOT NULL AS mae FROM (SELECT margin_evaluate(m, margin_sum(margin_term(m, 12345.678, x))) AS e FROM step_rows, step_models WHERE name = 'squared' GROUP BY m) AS s;
-- Wide rows: columns that the model does not have count in the rows' norms alone.
CREATE TABLE step_wide AS SELECT i, i % 2 = 0 AS y, format('{%s:1,%s:%s}/1000000', 1 + i % 50, 100 + i * 37 % 999900, CASE WHEN i % 2 = 0 THEN 2 ELSE -1 END)::margin_sparse AS x FROM generate_series(1, 2000) AS i;
SELECT abs((margin_verify(m, y, x)).primal - (margin_verify(m, margin_sum(margin_term(m, y, x)))).primal) < 1e-9 AS primal,
       (margin_verify(m, y, x)).certain = (margin_verify(m, margin_sum(margin_term(m, y, x)))).certain AS certain, margin_evaluate(m, y, x) = margin_evaluate(m, margin_sum(margin_term(m, y, x))) AS evaluate, (m).columns IS NOT NULL AS columns
  FROM step_wide, (SELECT train_margin(y, x, margin_options(lambda => 0.01)) AS m FROM step_wide WHERE i <= 300) AS t GROUP BY m;
-- Thresholds of a sum are those of the rows, bit by bit, weighted or not.
SELECT name, goal, margin_threshold(m, s, goal::jsonb) = of_rows AS same, margin_threshold(m, w, goal::jsonb) = of_weights AS weighted
  FROM step_models, unnest(ARRAY['{"maximize": "f1"}', '{"precision": 0.8}', '{"costs": {"false_negative": 3}}']) AS goal,
       LATERAL (SELECT margin_sum(margin_term(m, two, x)) AS s, margin_sum(_margin_term(m, two, x, 1 + g)) AS w, margin_threshold(m, two, x, goal::jsonb) AS of_rows,
                       margin_threshold(m, two, x, 1 + g, goal::jsonb) AS of_weights FROM step_rows) AS r
 WHERE name IN ('hinge', 'logistic', 'platt') ORDER BY 1, 2;
SELECT pg_temp.error_of($$SELECT margin_threshold(m, margin_sum(margin_term(m, three, x)), '{"maximize": "f1"}') FROM step_rows, step_models WHERE name = 'three' GROUP BY m$$);
SELECT pg_temp.error_of($$SELECT margin_threshold(m, s, '{"f1": true}') FROM step_models JOIN step_states USING (name) WHERE name = 'hinge' AND g = 0$$);
SELECT margin_threshold(m, NULL::margin_state, '{"maximize": "f1"}') IS NULL AS none FROM step_models WHERE name = 'hinge';

-- Standard errors of sums; with clusters each state is one.
CREATE TABLE likely AS
  SELECT 'logistic' AS name, train_margin(two, x, '{"lambda": 0, "loss": "logistic"}') AS m FROM step_rows
  UNION ALL SELECT 'squared', train_margin(target, x, '{"lambda": 0, "loss": "squared"}') FROM step_rows
  UNION ALL SELECT 'standardized', train_margin(target, x, '{"lambda": 0, "loss": "squared", "standardize": true}') FROM step_rows
  UNION ALL SELECT 'poisson', train_margin(three, x, '{"lambda": 0, "loss": "poisson"}') FROM step_rows;
CREATE TABLE likely_states AS
  SELECT name, g, margin_sum(margin_term(margin_question(NULL, m), two, x)) AS s FROM step_rows, likely WHERE name = 'logistic' GROUP BY name, g, m
  UNION ALL SELECT name, g, margin_sum(margin_term(margin_question(NULL, m), CASE name WHEN 'poisson' THEN three ELSE target END, x)) FROM step_rows, likely
             WHERE name <> 'logistic' GROUP BY name, g, m;
CREATE FUNCTION pg_temp.by_rows(name text, m margin_model, covariance text) RETURNS margin_coefficient[] LANGUAGE plpgsql AS $$
DECLARE found margin_coefficient[];
BEGIN
  EXECUTE format('SELECT margin_inference($1, %I, x, 1, %s $2) FROM step_rows', CASE name WHEN 'logistic' THEN 'two' WHEN 'poisson' THEN 'three' ELSE 'target' END,
                 CASE WHEN covariance = 'cluster' THEN 'g,' ELSE '' END) INTO found USING m, jsonb_build_object('covariance', covariance, 'level', 0.9);
  RETURN found;
END $$;
SELECT likely.name, covariance, count(*) AS coefficients, bool_and(a.estimate = b.estimate) AS estimates, bool_and(abs(a.std_error - b.std_error) <= 1e-6 * b.std_error) AS errors,
       bool_and(abs(a.lower - b.lower) <= 1e-6 * b.std_error) AS ends
  FROM likely, unnest(ARRAY['classical', 'HC0', 'HC1', 'cluster']) AS covariance,
       LATERAL unnest(margin_inference(m, (SELECT array_agg(s ORDER BY g) FROM likely_states AS t WHERE t.name = likely.name), jsonb_build_object('covariance', covariance, 'level', 0.9))) AS a,
       LATERAL (SELECT * FROM unnest(pg_temp.by_rows(likely.name, m, covariance)) AS c WHERE c.feature IS NOT DISTINCT FROM a.feature) AS b
 GROUP BY 1, 2 ORDER BY 1, 2;
-- The question of such a model has its certificate as well.
SELECT name, abs(c.upper - (m).primal) <= 1e-9 * (m).primal AS upper, c.lower <= (m).primal AND c.lower >= (m).dual - 1e-6 AS lower
  FROM likely, LATERAL margin_certificate(margin_question(NULL, m), (SELECT margin_sum(s) FROM likely_states AS t WHERE t.name = likely.name)) AS c ORDER BY 1;
SELECT margin_inference(m, '{}') IS NULL AS nothing, margin_inference(m, ARRAY[NULL, NULL]::margin_state[]) IS NULL AS no_row FROM likely WHERE name = 'squared';
SELECT pg_temp.error_of($$SELECT margin_inference(m, ARRAY[s], '{"covariance": "cluster"}') FROM likely, (SELECT margin_sum(s) AS s FROM likely_states WHERE name = 'squared') AS t WHERE name = 'squared'$$);
SELECT pg_temp.error_of($$SELECT margin_inference(m, ARRAY[s]) FROM likely JOIN likely_states USING (name) WHERE name = 'squared' AND g = 0$$);
SELECT pg_temp.error_of($$SELECT margin_inference(a.m, ARRAY[s]) FROM likely AS a, likely_states AS b WHERE a.name = 'squared' AND b.name = 'poisson' AND g = 0$$);
SELECT pg_temp.error_of($$SELECT margin_inference(m, ARRAY[ARRAY[s]]) FROM likely JOIN likely_states USING (name) WHERE name = 'squared' AND g = 0$$);
SELECT pg_temp.error_of($$SELECT margin_inference(m, ARRAY[s], '{"covariance": "HC9"}') FROM likely JOIN likely_states USING (name) WHERE name = 'squared' AND g = 0$$);
SELECT pg_temp.error_of($$SELECT margin_inference(a.m, ARRAY[s]) FROM step_models AS a, likely_states AS b WHERE a.name = 'hinge' AND b.name = 'poisson' AND g = 0$$);
DROP FUNCTION pg_temp.by_rows;
DROP TABLE likely, likely_states;
DROP TABLE step_rows, step_models, step_states, step_wide;

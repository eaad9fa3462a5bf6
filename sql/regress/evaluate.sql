-- margin_evaluate: figures that can be checked by hand.
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

-- The model whose score is x - 2, of the classes no and yes.
CREATE TEMP TABLE m AS SELECT ROW('hand', NULL, 2, NULL, 'optimal', '{no,yes}', '{1}', '{-2}', NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::margin_model AS m;
CREATE TEMP TABLE t (y text, x float8[]);
-- no: scores -2, -1, 1; yes: -1, 1, 2, 3, 4
INSERT INTO t VALUES ('no', '{0}'), ('no', '{1}'), ('no', '{3}'), ('yes', '{1}'), ('yes', '{3}'), ('yes', '{4}'),
                     ('yes', '{5}'), ('yes', '{6}'), (NULL, '{1}'), ('no', NULL);
-- accuracy 6/8; precision no 2/3, yes 4/5; recall no 2/3, yes 4/5. Of the 15 pairs (no, yes) the yes scores higher in
-- 12 and equal in 2: AUC 13/15.
SELECT (e).rows, (e).skipped, (e).accuracy, (e).classes, (e).confusion FROM (SELECT margin_evaluate(m, y, x) AS e FROM t, m) s;
SELECT round((e).precision[1]::numeric, 4) AS p1, round((e).precision[2]::numeric, 4) AS p2, round((e).recall[1]::numeric, 4) AS r1,
       round((e).recall[2]::numeric, 4) AS r2, round((e).f1[1]::numeric, 4) AS f1, round((e).f1[2]::numeric, 4) AS f2,
       round((e).auc::numeric, 6) AS auc, (e).margin_quantiles, (e).log_loss, (e).mse, (e).mae, (e).r2
  FROM (SELECT margin_evaluate(m, y, x) AS e FROM t, m) s;
-- Figures that would be 0/0 are NULL: nobody is "no" here, or nobody is said to be.
SELECT (e).precision, (e).recall, (e).f1, (e).auc FROM (SELECT margin_evaluate(m, y, x) AS e FROM t, m WHERE y = 'yes' AND x[1] > 2) s;
-- No rows, or none with a label.
SELECT margin_evaluate(m, y, x) IS NULL AS nothing FROM t, m WHERE false;
SELECT margin_evaluate(m, NULL::text, x) IS NULL AS nothing FROM t, m;
SELECT margin_evaluate(NULL::margin_model, y, x) IS NULL AS nothing FROM t;

-- The same in parallel workers, by groups, and as a window.
CREATE TABLE evaluated AS SELECT i, i % 4 AS g, CASE WHEN sin(i) > 0.2 THEN 'yes' ELSE 'no' END AS y,
  ARRAY[2 + sin(i) + cos(i * 7) / 2]::real[] AS x FROM generate_series(1, 10000) i;
ANALYZE evaluated;
CREATE TEMP TABLE serial AS SELECT g, margin_evaluate(m, y, x) AS e FROM evaluated, m GROUP BY GROUPING SETS ((g), ());
CREATE TABLE parallel_model AS SELECT m FROM m;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
CREATE OR REPLACE FUNCTION plan_of(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$  -- the lines that every version words alike
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
    IF line !~ 'Params Evaluated' THEN RETURN NEXT regexp_replace(line, 'InitPlan (\d|expr_).*', 'InitPlan'); END IF;
  END LOOP;
END $$;
SELECT plan_of($$SELECT margin_evaluate((SELECT m FROM parallel_model), y, x) FROM evaluated$$) AS plan;
SELECT margin_evaluate((SELECT m FROM parallel_model), y, x) = (SELECT e FROM serial WHERE g IS NULL) AS same FROM evaluated;
SELECT count(*) AS same FROM serial JOIN (SELECT g, margin_evaluate((SELECT m FROM parallel_model), y, x) AS e FROM evaluated GROUP BY g) p USING (g, e);
SELECT (e).rows FROM (SELECT margin_evaluate((SELECT m FROM parallel_model), y, x) AS e FROM evaluated WHERE i = 77) s;
SELECT margin_evaluate((SELECT m FROM parallel_model), y, x) IS NULL AS nothing FROM evaluated WHERE i < 0;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;
-- Beyond 4096 rows the quantiles and the AUC come from buckets: within 0.2 % of the exact ones.
SELECT bool_and(abs(q.a - q.e) <= abs(q.e) / 512) AS quantiles
  FROM serial, LATERAL (SELECT unnest((e).margin_quantiles) AS a, unnest(
         (SELECT percentile_disc('{0,.05,.25,.5,.75,.95,1}'::float8[]) WITHIN GROUP (ORDER BY CASE y WHEN 'yes' THEN 1 ELSE -1 END * (x[1]::float8 - 2)) FROM evaluated)) AS e) q
 WHERE g IS NULL;
SELECT abs((e).auc - (SELECT avg(CASE WHEN p.x[1] > n.x[1] THEN 1 WHEN p.x[1] = n.x[1] THEN 0.5 ELSE 0 END)
                        FROM evaluated p, evaluated n WHERE p.y = 'yes' AND n.y = 'no' AND p.i <= 1500 AND n.i <= 1500)) < 1e-9 AS exact
  FROM (SELECT margin_evaluate(m, y, x) AS e FROM evaluated, m WHERE i <= 1500) s;
SELECT i, (e).rows FROM (SELECT i, margin_evaluate(m, y, x) OVER (ORDER BY i ROWS 2 PRECEDING) AS e FROM evaluated, m WHERE i <= 5) s ORDER BY i;

-- Three classes: margins are score differences over the norm of all weights (here 2).
CREATE TEMP TABLE m3 AS SELECT ROW('hand', NULL, 2, NULL, 'optimal', '{a,b,c}', '{{1,1},{-1,0},{0,-1}}', '{0,0,0}', NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::margin_model AS m;
SELECT (e).accuracy, (e).confusion, (e).margin_quantiles, (e).auc
  FROM (SELECT margin_evaluate(m, y, x) AS e FROM m3, (VALUES ('a', '{4,4}'::real[]), ('b', '{-4,0}'), ('c', '{0,-4}'), ('c', '{2,0}')) v (y, x)) s;

-- Logistic models have a log loss, and probabilities: ln 3 odds are 3 to 1.
CREATE TEMP TABLE ml AS SELECT ROW('hand', 'logistic', 2, 0.1, 'optimal', '{f,t}', '{1}', '{0}', NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::margin_model AS m;
SELECT round(margin_probability(m, ARRAY[ln(3)::float8])::numeric, 6) AS p, margin_probabilities(m, ARRAY[0.0::float8]) AS half,
       margin_probability(m, ARRAY[1e4::float8]) AS certain, margin_probability(m, ARRAY[-1e4::float8]) AS impossible FROM ml;
SELECT round((e).log_loss::numeric, 6) = round(((-ln(0.75) - ln(0.5)) / 2)::numeric, 6) AS log_loss
  FROM (SELECT margin_evaluate(m, y, x) AS e FROM ml, (VALUES ('t', ARRAY[ln(3)::float8]), ('f', ARRAY[0::float8])) v (y, x)) s;
-- One against the rest, divided by the sum: scores ln 3, 0, 0 give 0.75, 0.5, 0.5.
CREATE TEMP TABLE ml3 AS SELECT ROW('hand', 'logistic', 2, 0.1, 'optimal', '{a,b,c}', '{{1},{0},{0}}', '{0,0,0}', NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::margin_model AS m;
SELECT array_agg(round(p::numeric, 6)) AS p FROM (SELECT unnest(margin_probabilities(m, ARRAY[ln(3)::float8])) AS p FROM ml3) s;

-- Regression: targets 1, 2, 3 predicted as 1, 2, 5. Squares 4, absolutes 2, spread 2.
CREATE TEMP TABLE mr AS SELECT ROW('hand', 'squared', 2, 0.1, 'optimal', NULL, '{1}', '{0}', NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::margin_model AS m;
SELECT (e).rows, round((e).mse::numeric, 6) AS mse, round((e).mae::numeric, 6) AS mae, (e).r2, (e).accuracy, (e).classes
  FROM (SELECT margin_evaluate(m, y, x) AS e FROM mr, (VALUES (1, '{1}'::real[]), (2, '{2}'), (3, '{5}')) v (y, x)) s;
SELECT (e).r2 FROM (SELECT margin_evaluate(m, 1, x) AS e FROM mr, (VALUES ('{1}'::real[]), ('{2}')) v (x)) s;
SELECT margin_predict(m, '{2.5}'::real[]), margin_predict(m, '{2.5}'::real[], NULL::float8), margin_predict(m, '{2.5}'::real[], NULL::numeric),
       margin_score(m, '{2.5}'::real[]) FROM mr;

-- Weights: a row of weight 2 is two rows; counts are then sums of weights. Weight 0 is no row.
SELECT (w).rows, (w).weight, (w).weighted_confusion, (w).confusion IS NULL AS no_counts,
       (w).precision = (e).precision AND (w).recall = (e).recall AND (w).auc = (e).auc AND (w).margin_quantiles = (e).margin_quantiles AS same
  FROM (SELECT margin_evaluate(m, y, x, CASE y WHEN 'no' THEN 3 ELSE 2 END) AS w FROM t, m) a,
       (SELECT margin_evaluate(m, y, x) AS e FROM t, m, generate_series(1, CASE y WHEN 'no' THEN 3 ELSE 2 END)) b;
SELECT (margin_evaluate(m, y, x, CASE y WHEN 'no' THEN 0 ELSE 0.5 END)).weighted_confusion AS confusion, margin_evaluate(m, y, x, 0) IS NULL AS nothing FROM t, m;
SELECT (e).weight, round((e).mse::numeric, 6) AS mse, round((e).mae::numeric, 6) AS mae, round((e).r2::numeric, 6) AS r2
  FROM (SELECT margin_evaluate(m, y, x, w) AS e FROM mr, (VALUES (1, '{1}'::real[], 2), (2, '{2}', 1), (3, '{5}', 0.5)) v (y, x, w)) s;
-- In parallel workers, beyond 4096 rows: weights of 2 move no share and no quantile.
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
SELECT (w).rows, (w).weight, (w).accuracy = (e).accuracy AS accuracy, (w).auc = (e).auc AS auc, (w).margin_quantiles = (e).margin_quantiles AS quantiles
  FROM (SELECT margin_evaluate((SELECT m FROM parallel_model), y, x, 2) AS w, margin_evaluate((SELECT m FROM parallel_model), y, x) AS e FROM evaluated) s;
-- Thresholds: what is claimed of one is what a count says, also beyond 4096 rows and by groups of them.
SELECT g, goal, (p).rows = n AS rows, (p).confusion[2][2] = hits AND (p).confusion[1][2] = alarms AS counted,
       round((p).precision::numeric, 4) AS precision, round((p).recall::numeric, 4) AS recall, round((p).cost::numeric, 4) AS cost
  FROM (SELECT goal, g, margin_threshold((SELECT m FROM parallel_model), y, x, goal) AS p, count(*) AS n
          FROM evaluated, (VALUES ('{"precision": 0.9}'::jsonb), ('{"recall": 0.9}'), ('{"costs": {"false_positive": 1, "false_negative": 20}}'), ('{"maximize": "f1"}')) v (goal)
         GROUP BY goal, GROUPING SETS ((g), ())) f,
       LATERAL (SELECT count(*) FILTER (WHERE e.y = 'yes') AS hits, count(*) FILTER (WHERE e.y = 'no') AS alarms
                  FROM evaluated e WHERE (e.g = f.g OR f.g IS NULL) AND margin_score((SELECT m FROM parallel_model), e.x) >= (p).threshold) c
 WHERE g IS NULL OR g = 1 ORDER BY goal, g;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;
SELECT (margin_threshold(m, y, x, '{"precision": 0.9}')).* FROM t, m;
SELECT (p).rows, (p).threshold, round((p).accuracy::numeric, 6) AS accuracy, round((p).mcc::numeric, 6) AS mcc, (p).confusion
  FROM (SELECT margin_threshold(m, y, x, CASE y WHEN 'no' THEN 10 ELSE 1 END, '{"maximize": "accuracy"}') AS p FROM t, m) s;
SELECT (margin_threshold(m, y, x, '{"maximize": "mcc"}')).threshold AS mcc, (margin_threshold(m, y, x, '{"maximize": "balanced_accuracy"}')).threshold AS balanced,
       (margin_threshold(m, y, x, '{"costs": {"true_positive": -1, "false_positive": 5}}')).cost FROM t, m;
-- Scores that know nothing reach no precision; without rows there is no threshold.
SELECT margin_threshold(m, y, '{2}'::real[], '{"precision": 0.7}') IS NULL AS unreached, margin_threshold(m, NULL::text, x, '{"recall": 1}') IS NULL AS nothing FROM t, m;
-- Ranks of three classes: of the true one among the scores.
SELECT (e).top_k, (e).accuracy = (e).top_k[1] AS first
  FROM (SELECT margin_evaluate(m, y, x) AS e FROM m3, (VALUES ('a', '{4,4}'::real[]), ('b', '{-4,0}'), ('c', '{0,-4}'), ('c', '{2,0}'), ('b', '{1,0}')) v (y, x)) s;
SELECT (margin_evaluate(m, (SELECT margin_sum(margin_term(m, y, x)) FROM m3, (VALUES ('a', '{4,4}'::real[]), ('c', '{2,0}'), ('b', '{1,0}'), ('c', '{0,-1}')) v (y, x)))).top_k FROM m3;

-- What is refused.
SELECT pg_temp.error_of($$SELECT margin_evaluate(m, 'maybe'::text, x) FROM t, m$$);
SELECT pg_temp.error_of($$SELECT margin_evaluate(m, true, x) FROM t, m$$);
SELECT pg_temp.error_of($$SELECT margin_evaluate(m, y, '{1,2}'::real[]) FROM t, m$$);
SELECT pg_temp.error_of($$SELECT margin_evaluate(m, y, '{NaN}'::real[]) FROM t, m$$);
SELECT pg_temp.error_of($$SELECT margin_evaluate(m, 'x', x) FROM t, m$$);
SELECT pg_temp.error_of($$SELECT margin_evaluate(k.m, y, x) FROM t, (SELECT m FROM m UNION ALL SELECT m FROM ml) k$$);
SELECT pg_temp.error_of($$SELECT margin_evaluate(m, 'a'::text, x) FROM t, mr$$);
SELECT pg_temp.error_of($$SELECT margin_score(m, '{1,2}'::real[]) FROM m3$$);
SELECT pg_temp.error_of($$SELECT margin_probability(m, '{1}'::real[]) FROM m$$);
SELECT pg_temp.error_of($$SELECT margin_probability(m, '{1}'::real[]) FROM ml3$$);
SELECT pg_temp.error_of($$SELECT margin_probabilities(m, '{1}'::real[]) FROM mr$$);
SELECT pg_temp.error_of(format('SELECT margin_threshold(m, y, x, %L) FROM t, m', o))
  FROM unnest('{"{}", "{\"precision\": 0}", "{\"precison\": 0.5}", "{\"costs\": {\"fp\": 1}}", "{\"costs\": {\"false_positive\": \"x\"}}", "{\"costs\": 1}", "{\"maximize\": \"auc\"}", "{\"precision\": 0.5, \"recall\": 0.5}"}'::text[]) AS o;
SELECT pg_temp.error_of($$SELECT margin_threshold(m, y, x, NULL) FROM t, m$$);
SELECT pg_temp.error_of($$SELECT margin_threshold(m, y, x, '{"recall": 1}') FROM t, m WHERE y = 'yes'$$);
SELECT pg_temp.error_of($$SELECT margin_threshold(m, y, x, jsonb_build_object('recall', x[1] / 10 + 0.1)) FROM t, m WHERE y IS NOT NULL$$);
SELECT pg_temp.error_of($$SELECT margin_threshold(m, 1, x, '{"recall": 1}') FROM t, mr$$);
SELECT pg_temp.error_of($$SELECT margin_threshold(m, 'a'::text, '{1,1}'::real[], '{"recall": 1}') FROM t, m3$$);
SELECT pg_temp.error_of($$SELECT margin_threshold(m, y, x, -1, '{"recall": 1}') FROM t, m$$);
SELECT pg_temp.error_of($$SELECT margin_evaluate(m, y, x, 'NaN') FROM t, m$$);
DROP TABLE evaluated, parallel_model;

-- train_margin wherever an aggregate may stand: grouped equals alone, to the bit, whatever the plan.
CREATE TABLE grouped (g int, y text, x float8[], i int);
INSERT INTO grouped
  SELECT g, CASE WHEN i % 3 = 0 THEN 'a' WHEN g % 4 = 0 AND i % 3 = 1 THEN 'c' ELSE 'b' END,
         ARRAY[sin(i * 1.7) + CASE WHEN i % 3 = 0 THEN 4 ELSE 0 END + CASE WHEN g % 4 = 0 AND i % 3 = 1 THEN -5 ELSE 0 END,
               cos(i * g), (i % 5) / 7.0], i
    FROM generate_series(1, 12) g, generate_series(1, 40) i;
ANALYZE grouped;
-- Everything but the time it took.
CREATE FUNCTION timeless(m margin_model) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN m.seconds := NULL; RETURN md5(m::text); END $$;

CREATE TEMP TABLE alone (g int, m text);
DO $$ BEGIN FOR g IN 1..12 LOOP
  EXECUTE format('INSERT INTO alone SELECT %s, timeless(train_margin(y, x ORDER BY i)) FROM grouped WHERE g = %s', g, g);
END LOOP; END $$;
SELECT count(DISTINCT m) AS models FROM alone;

SET enable_hashagg = off;
CREATE TEMP TABLE sorted AS SELECT g, timeless(train_margin(y, x ORDER BY i)) AS m FROM grouped GROUP BY g;
RESET enable_hashagg;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT g, train_margin(y, x) FROM grouped GROUP BY g;
CREATE TEMP TABLE hashed AS SELECT g, timeless(train_margin(y, x)) AS m FROM grouped GROUP BY g;
RESET enable_sort;
SELECT (SELECT count(*) FROM alone JOIN sorted USING (g, m)) AS sorted, (SELECT count(*) FROM alone JOIN hashed USING (g, m)) AS hashed;

-- The planner prefers to sort: a state holds all rows of its group.
EXPLAIN (COSTS OFF) SELECT g, train_margin(y, x) FROM grouped GROUP BY g;

-- Parallel: the rows travel to the leader, the state does not.
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT train_margin(y, x) FROM grouped;
SELECT count(*) AS parallel FROM alone JOIN (SELECT g, timeless(train_margin(y, x ORDER BY i)) AS m FROM grouped GROUP BY g) p USING (g, m);
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;

-- FILTER, ORDER BY inside, DISTINCT, HAVING, CTE, subquery, correlated subquery, lateral, grouping sets.
SELECT (SELECT m FROM alone WHERE g = 3) = timeless(train_margin(y, x ORDER BY i) FILTER (WHERE g = 3)) AS filtered FROM grouped;
SELECT (train_margin(y, x ORDER BY i) FILTER (WHERE g = 99)) IS NULL AS nothing FROM grouped;
WITH m AS (SELECT train_margin(y, x ORDER BY i) AS m FROM grouped WHERE g = 5)
SELECT count(*) AS right FROM grouped, m WHERE g = 5 AND margin_predict(m, x) = y;
SELECT g FROM grouped GROUP BY g HAVING (train_margin(y, x)).status = 'optimal' AND g < 4 ORDER BY g;
SELECT count(*) FILTER (WHERE margin_predict((SELECT train_margin(y, x) FROM grouped i WHERE i.g = o.g), x) = y) AS right
  FROM grouped o WHERE g IN (1, 2);
SELECT g, n FROM (SELECT DISTINCT g FROM grouped WHERE g <= 2) s,
  LATERAL (SELECT (train_margin(y, x)).rows AS n FROM grouped t WHERE t.g = s.g) l ORDER BY g;
SELECT g, (train_margin(y, x)).rows FROM grouped WHERE g < 3 GROUP BY GROUPING SETS ((g), ()) ORDER BY g NULLS LAST;
SELECT (train_margin(DISTINCT y, x)).rows FROM (SELECT y, x FROM grouped WHERE g = 1 UNION ALL SELECT y, x FROM grouped WHERE g = 1) d;

-- The same aggregate twice is computed once; (m).* gives all columns.
SELECT count(*) FROM (SELECT (train_margin(y, x)).* FROM grouped WHERE g = 1) s;

-- As a window function: one training per row, over the rows of its frame.
SELECT i, m IS NULL AS nothing FROM (SELECT i, train_margin(y, x) OVER (ORDER BY i) AS m
  FROM (VALUES (1, NULL, '{0}'::real[]), (2, NULL, '{1}')) v (i, y, x)) s;
SELECT i, (m).rows, (m).status FROM (
  SELECT i, train_margin(y, x) OVER (ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS m
    FROM grouped WHERE g = 2 AND i <= 6) s WHERE i <= 2 ORDER BY i;
SELECT i, (m).rows FROM (
  SELECT i, train_margin(y, x) OVER (ORDER BY i ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING) AS m
    FROM grouped WHERE g = 2 AND i <= 6) s ORDER BY i;

-- Prepared, again and again: the generic plan too.
PREPARE train (int) AS SELECT timeless(train_margin(y, x ORDER BY i)) = (SELECT m FROM alone WHERE g = $1) AS same FROM grouped WHERE g = $1;
EXECUTE train (1); EXECUTE train (2); EXECUTE train (4);
SET plan_cache_mode = force_generic_plan;
EXECUTE train (8);
RESET plan_cache_mode;

-- Read-only, and inside plpgsql.
BEGIN READ ONLY;
SELECT (train_margin(y, x)).status FROM grouped WHERE g = 1;
COMMIT;
DO $$ DECLARE m margin_model; hits int; BEGIN
  m := (SELECT train_margin(y, x) FROM grouped WHERE g = 1);
  SELECT count(*) INTO hits FROM grouped WHERE g = 1 AND margin_predict(m, x) = y;
  RAISE NOTICE '% right', hits;
  -- A variable is one value under one pointer: a changed model must be seen as another.
  m.weights := ARRAY[0, 0, 0]; m.intercept := ARRAY[1];
  SELECT count(*) INTO hits FROM grouped WHERE g = 1 AND margin_predict(m, x) = 'b';
  RAISE NOTICE '% are b', hits;
END $$;

-- Many models at once: every row its own.
CREATE TEMP TABLE models AS SELECT g, train_margin(y, x ORDER BY i) AS model FROM grouped GROUP BY g;
SELECT count(*) AS right FROM grouped JOIN models USING (g) WHERE margin_predict(model, x) = y;
SELECT count(*) AS same FROM models JOIN alone USING (g) WHERE timeless(model) = m;

DROP FUNCTION timeless(margin_model);
DROP TABLE grouped;

-- A statement that trains many groups gives five warnings and one that says there are more.
SELECT count(*) FILTER (WHERE (m).status = 'not_separable') AS not_separable
  FROM (SELECT train_margin(y, x) AS m FROM (SELECT g, g % 2 = i % 2 AS y, ARRAY[1.0] AS x
          FROM generate_series(1, 9) g, generate_series(1, 2) i) r GROUP BY g) s;

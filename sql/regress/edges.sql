-- Small, degenerate and extreme data: a clear answer each time. Warnings tell of targets that were not reached; their
-- figures belong to the solvers' tests.
SET client_min_messages = error;
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

-- No rows, one row, one class.
CREATE TEMP TABLE nothing (y boolean, x real[]);
SELECT train_margin(y, x) IS NULL AS no_rows FROM nothing;
SELECT pg_temp.error_of($$SELECT train_margin(true, '{1,2}'::real[])$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x) FROM (VALUES ('a', '{1}'::real[]), ('a', '{2}'), (NULL, '{3}')) v (y, x)$$);

-- Every row twice, or a hundred times: the same separator.
SELECT round((m).margin_lower::numeric, 6) AS margin, (m).rows FROM (SELECT train_margin(y, x) AS m
  FROM (VALUES (true, '{1,0}'::real[]), (false, '{-1,0}')) v (y, x), generate_series(1, 100)) s;

-- The same row with both labels: nothing separates it.
SELECT (m).status <> 'optimal' AS says_so, (m).margin_lower <= 0 AS lower, (m).margin_upper <= 1e-6 AS upper
  FROM (SELECT train_margin(y, x) AS m FROM (VALUES (true, '{1,2}'::real[]), (false, '{1,2}'), (true, '{5,5}'), (false, '{-5,-5}')) v (y, x)) s;
SELECT (m).status FROM (SELECT train_margin(y, x, '{"lambda": 0.1}') AS m
  FROM (VALUES (true, '{1,2}'::real[]), (false, '{1,2}'), (true, '{5,5}'), (false, '{-5,-5}')) v (y, x)) s;

-- All rows zero; zero rows among others; constant columns.
SELECT (m).margin_upper <= 1e-6 AS no_margin, (m).weights IS NOT NULL AS weights
  FROM (SELECT train_margin(y, x) AS m FROM (VALUES (true, '{0,0}'::real[]), (false, '{0,0}')) v (y, x)) s;
SELECT (m).status FROM (SELECT train_margin(y, x, '{"lambda": 0.1}') AS m FROM (VALUES (true, '{0,0}'::real[]), (false, '{0,0}')) v (y, x)) s;
SELECT (m).status, round((m).margin_lower::numeric, 6) AS margin, (m).weights
  FROM (SELECT train_margin(y, x) AS m FROM (VALUES (true, '{0,0,7}'::real[]), (false, '{2,0,7}'), (false, '{3,0,7}')) v (y, x)) s;

-- Values of 1e150 and 1e-150: no overflow, no underflow, results in the user's units.
SELECT (m).status, abs((m).margin_lower / 1e150 - 1) < 1e-3 AS lower, abs((m).margin_upper / 1e150 - 1) < 1e-3 AS upper
  FROM (SELECT train_margin(y, x) AS m FROM (VALUES (true, '{1e150,1e150}'::float8[]), (false, '{-1e150,1e150}')) v (y, x)) s;
SELECT (m).status, abs((m).margin_lower / 1e-150 - 1) < 1e-3 AS lower, abs((m).margin_upper / 1e-150 - 1) < 1e-3 AS upper
  FROM (SELECT train_margin(y, x) AS m FROM (VALUES (true, '{1e-150,1e-150}'::float8[]), (false, '{-1e-150,1e-150}')) v (y, x)) s;
SELECT margin_predict(m, '{1e150}'::float8[]), margin_predict(m, '{-1e150}'::float8[]), margin_predict(m, '{-1e300}'::float8[])
  FROM (SELECT train_margin(y, x) AS m FROM (VALUES (true, '{1e-150}'::float8[]), (false, '{-1e-150}')) v (y, x)) s;

-- Two rows of a hundred thousand features; a million rows of one.
SELECT (m).status, (m).dimensions, array_length((m).weights, 1), round((m).margin_lower::numeric, 3) AS margin
  FROM (SELECT train_margin(i = 1, x) AS m
          FROM (SELECT i, array_agg((CASE WHEN j % 2 = i THEN 1 ELSE 0 END)::real ORDER BY j) AS x
                  FROM generate_series(0, 1) i, generate_series(1, 100000) j GROUP BY i) r) s;
SELECT (m).status, (m).rows, round((m).margin_lower::numeric, 6) AS lower, round((m).margin_upper::numeric, 6) AS upper, (m).support
  FROM (SELECT train_margin(i > 500000, ARRAY[i + CASE WHEN i > 500000 THEN 1 ELSE 0 END]) AS m FROM generate_series(1, 1000000) i) s;

-- As many classes as rows.
SELECT (m).status, array_length((m).classes, 1) AS classes, right_ AS right
  FROM (SELECT m, (SELECT count(*) FROM generate_series(1, 30) i WHERE margin_predict(m, ARRAY[cos(i / 5.0), sin(i / 5.0)], NULL::int) = i) AS right_
          FROM (SELECT train_margin(i, ARRAY[cos(i / 5.0), sin(i / 5.0)]) AS m FROM generate_series(1, 30) i) s) r;

-- A thousand groups, many of them without an answer: each is its own.
SELECT count(*) AS models, count(*) FILTER (WHERE (m).status = 'optimal') AS optimal
  FROM (SELECT train_margin(i % 2, ARRAY[i % 2 + g, g]) AS m FROM generate_series(1, 1000) g, generate_series(1, 10) i GROUP BY g) s;

-- Groups of one class have no model, and need not end the query.
CREATE TEMP TABLE mixed AS SELECT g, (i % 2 = 0 AND g % 3 <> 0) AS y, ARRAY[i % 2 + 0.1 * i, g] AS x FROM generate_series(1, 9) g, generate_series(1, 20) i;
SELECT g, train_margin(y, x, margin_options(one_class => 'error')) FROM mixed GROUP BY g;
SELECT g, (train_margin(y, x, margin_options(one_class => 'null', lambda => 0.1))).status,
       array_length(margin_path(y, x, margin_options(one_class => 'null') || '{"lambdas": [1, 0.1]}'), 1) AS path,
       (margin_cross_validate(y, x, margin_options(one_class => 'null') || '{"lambdas": [1, 0.1], "folds": 2}')).best
  FROM mixed GROUP BY g ORDER BY g;
-- A number label has no classes.
SELECT (train_margin(1.5::float8, x, margin_options(one_class => 'null', loss => 'squared', lambda => 0.1))).status FROM mixed;
SELECT margin_options(one_class => 'skip');

-- Time is a limit, and cancelling works in the middle of a training.
CREATE TEMP TABLE long AS SELECT i % 2 = 0 AS y, ARRAY(SELECT sin(i * j) FROM generate_series(1, 50) j) AS x FROM generate_series(1, 2000) i;
SELECT (m).status, (m).seconds < 2 AS in_time FROM (SELECT train_margin(y, x, margin_options(solver => 'gradient_descent', tolerance => 0,
  max_iterations => 1000000000, max_seconds => 0.2)) AS m FROM long) s;
SET statement_timeout = '200ms';
SELECT train_margin(y, x, margin_options(solver => 'gradient_descent', tolerance => 0, max_iterations => 1000000000)) FROM long;
RESET statement_timeout;
SELECT 'the session goes on' AS then;
-- The number of iterations is a limit too.
SELECT (m).status, (m).iterations FROM (SELECT train_margin(y, x, margin_options(solver => 'gradient_descent', tolerance => 0, max_iterations => 5)) AS m FROM long) s;

-- Groups that cannot be trained on: the option on_error, and which row of which group an error is about.
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
-- Group 1 is sound. The others are each ruined in one way.
CREATE TABLE visits (g int, i int, y text, x float8[], w float8);
INSERT INTO visits SELECT g, i, CASE WHEN i % 2 = 0 THEN 'stays' ELSE 'leaves' END, ARRAY[i % 2 + (i * 7 % 5) / 4.0, (i * g % 3) / 2.0], 1
  FROM generate_series(1, 8) g, generate_series(1, 12) i;
UPDATE visits SET x[2] = 'NaN' WHERE g = 2 AND i = 7;
UPDATE visits SET x[1] = '-Infinity' WHERE g = 3 AND i = 1;
UPDATE visits SET x = x || 3.5::float8 WHERE g = 4 AND i = 12;
UPDATE visits SET y = 'stays' WHERE g = 5;
UPDATE visits SET y = 'stays' WHERE g = 6 AND i <> 4;
UPDATE visits SET y = 'leaves' WHERE g = 6 AND i = 4;
UPDATE visits SET x[1] = NULL WHERE g = 7 AND i = 2;
UPDATE visits SET w = -1 WHERE g = 8 AND i = 3;
-- As an error: the row, its label and features, and the way out.
SELECT pg_temp.error_of(format('SELECT train_margin(y, x, w, margin_options(lambda => 0.1) ORDER BY i) FROM visits WHERE g = %s', g)) FROM generate_series(2, 8) g WHERE g <> 6;
SELECT pg_temp.error_of('SELECT train_margin(y, x, margin_options(lambda => 0.1, calibration => ''platt'') ORDER BY i) FROM visits WHERE g = 6');
SELECT pg_temp.error_of('SELECT margin_cross_validate(y, x, margin_options() ORDER BY i) FROM visits WHERE g = 6');
SELECT pg_temp.error_of('SELECT margin_path(y, x ORDER BY i) FROM visits WHERE g = 2');
SELECT pg_temp.error_of($$SELECT train_margin(CASE WHEN i = 3 THEN float8 'NaN' ELSE i END, x, margin_options(lambda => 1, loss => 'squared') ORDER BY i) FROM visits WHERE g = 1$$);
SELECT pg_temp.error_of($$SELECT train_margin(CASE WHEN i = 3 THEN float8 'NaN' ELSE i END, margin_sparse(x), margin_options(lambda => 1, loss => 'squared') ORDER BY i) FROM visits WHERE g = 1$$);
-- As NULL: the other groups have their models.
SELECT g, (m).status, (m).rows FROM (SELECT g, train_margin(y, x, w, margin_options(lambda => 0.1, on_error => 'null', calibration => 'platt') ORDER BY i) AS m FROM visits GROUP BY g) t ORDER BY g;
SELECT g, array_length(p, 1) AS models FROM (SELECT g, margin_path(y, x, margin_options(on_error => 'null') || '{"lambdas": [1, 0.1]}' ORDER BY i) AS p FROM visits GROUP BY g) t ORDER BY g;
SELECT g, (s).rows FROM (SELECT g, margin_cross_validate(y, x, margin_options(on_error => 'null') || '{"lambdas": [1, 0.1], "folds": 3}' ORDER BY i) AS s FROM visits GROUP BY g) t ORDER BY g;
-- one_class stays, and is silent.
SELECT g, (train_margin(y, x, margin_options(lambda => 0.1, on_error => 'null', one_class => 'null'))).rows FROM visits WHERE g IN (1, 5) GROUP BY g ORDER BY g;
-- Many: five are told, then their number at powers of ten.
SELECT count(*) AS groups, count(m) AS models FROM (SELECT g, train_margin(i, ARRAY[CASE WHEN g % 8 = 0 THEN 1 ELSE float8 'NaN' END + i], margin_options(on_error => 'null') ORDER BY i) AS m
  FROM generate_series(1, 120) g, generate_series(1, 2) i GROUP BY g) t;
-- Warnings and errors of every aggregate name the key of their group, of sorted and of hashed ones, and of rows that are sorted inside of the call.
SELECT g, (margin_cross_validate(y, ARRAY[1], '{"lambdas": [1], "folds": 2}' ORDER BY i)).folds FROM visits WHERE g IN (1, 2) GROUP BY g ORDER BY g;
SELECT y, g % 2 AS odd, cardinality(margin_path(g > 4, ARRAY[1], '{"lambdas": [10, 1]}' ORDER BY g, i)) FROM visits GROUP BY y, odd ORDER BY y, odd;
SELECT pg_temp.error_of('SELECT g, train_margin(y, x, w, margin_options(lambda => 0.1) ORDER BY i) FROM visits GROUP BY g ORDER BY g');
SELECT pg_temp.error_of('SELECT g, margin_cross_validate(y, x) FROM visits WHERE g IN (1, 5) GROUP BY g ORDER BY g');
SELECT pg_temp.error_of('SELECT g, margin_path(y, x ORDER BY i DESC) FROM visits WHERE g IN (1, 4) GROUP BY g ORDER BY g');
SET enable_sort = off;
SELECT pg_temp.error_of('SELECT y, g, margin_sum(margin_profile(''["a", "b"]'', x[1], x[2])), margin_hard_core(y, x) FROM visits WHERE g < 2 AND y > ''m'' GROUP BY g, y');
SELECT pg_temp.error_of('SELECT g, margin_evaluate(m, y, x) FROM visits, (SELECT train_margin(y, x, margin_options(lambda => 1)) AS m FROM visits WHERE g = 1) AS t WHERE g IN (1, 3) GROUP BY g');
SELECT pg_temp.error_of('SELECT g, margin_verify(m, y, x) FROM visits, (SELECT train_margin(y, x, margin_options(lambda => 1)) AS m FROM visits WHERE g = 1) AS t WHERE g = 3 GROUP BY GROUPING SETS ((g), ())');
RESET enable_sort;
-- Mistakes in the statement are errors all the same.
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(on_error => 'skip')) FROM visits$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(on_error => 'null', lambda => 1, loss => 'exponential')) FROM visits WHERE g = 1$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(on_error => 'null', solver => 'nothing')) FROM visits WHERE g = 1$$);
SELECT pg_temp.error_of($$SELECT train_margin(i, y, margin_options(on_error => 'null')) FROM visits WHERE g = 1$$);
SET margin.memory_limit = '1kB';
SELECT left(pg_temp.error_of($$SELECT train_margin(y, x, margin_options(on_error => 'null')) FROM visits WHERE g = 1$$), 60) AS memory;
RESET margin.memory_limit;
DROP TABLE visits;

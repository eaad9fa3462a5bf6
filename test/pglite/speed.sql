-- rows
SET max_parallel_workers_per_gather = 0;
CREATE TEMP TABLE rows AS
  SELECT i, array_agg((sin(i * (j * j + 0.7)) * 2)::real ORDER BY j) AS x,
         sum(sin(i * (j * j + 0.7)) * (j % 5 - 2)) + sin(i * i * 1.3) > 0 AS y
    FROM generate_series(1, 20000) AS i, generate_series(1, 20) AS j GROUP BY i;
CREATE TEMP TABLE few AS SELECT * FROM rows WHERE i <= 2000;
ANALYZE;
-- hinge
SELECT train_margin(y, x, margin_options(lambda => 0.0001)) IS NOT NULL FROM rows;
-- logistic
SELECT train_margin(y, x, margin_options(lambda => 0.0001, loss => 'logistic')) IS NOT NULL FROM rows;
-- hard margin
SELECT train_margin(x[1] + x[2] > 0.01 * x[3], x) IS NOT NULL FROM rows WHERE abs(x[1] + x[2] - 0.01 * x[3]) > 0.01;
-- squared
SELECT train_margin(x[1] + 0.5 * x[3] + sin(i), x, margin_options(lambda => 0.001, loss => 'squared')) IS NOT NULL FROM rows;
-- lasso
SELECT train_margin(x[1] + 0.5 * x[3] + sin(i), x, margin_options(lambda => 0.01, loss => 'squared', l1_ratio => 1)) IS NOT NULL FROM rows;
-- kernel
SELECT train_margin(y, x, margin_options(lambda => 0.001, kernel => 'rbf')) IS NOT NULL FROM few;

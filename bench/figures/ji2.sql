-- Ji, Srebro, Telgarsky (2021), Figure 2: test error against iterations, MNIST 3 against 5
-- data: mnist_3v5 mnist_3v5_test
-- files: mnist-train-images-idx3-ubyte.gz mnist-train-labels-idx1-ubyte.gz mnist-t10k-images-idx3-ubyte.gz
-- files: mnist-t10k-labels-idx1-ubyte.gz
--
-- The paper: the digits 3 and 5 are not separable; the methods of the exponential loss still reach a good test error, the
-- batch perceptron suffers.
INSERT INTO panels VALUES (:'figure', 1, 'MNIST 3 against 5', 'iterations', 'test error', true, false);

-- A point of a curve is a training of so many iterations.
CREATE TABLE ji2_runs AS
  SELECT solver, t, train_margin(y, x, margin_options(solver => solver, intercept => false, max_iterations => t)) AS model
    FROM mnist_3v5, unnest('{momentum,normalized_gradient_descent,gradient_descent,batch_perceptron}'::text[]) AS solver,
         unnest('{2,5,10,20,50,100,200,500,1000}'::int[]) AS t
   GROUP BY solver, t;
CREATE TABLE ji2_errors AS
  SELECT solver, t, 1 - (e).accuracy AS error FROM ji2_runs, LATERAL (SELECT margin_evaluate(model, y, x) AS e FROM mnist_3v5_test) AS v;
INSERT INTO curves SELECT :'figure', 1, solver, t, error FROM ji2_errors;

CREATE TABLE ji2_proof AS
  SELECT (train_margin(y, x, margin_options(intercept => false))).* FROM mnist_3v5;
CREATE TABLE ji2_last AS
  SELECT solver, (array_agg(error ORDER BY t DESC))[1] AS last, avg(error) FILTER (WHERE t >= 100) AS late FROM ji2_errors GROUP BY solver;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'the rows are not separable, and that is proven', format('%s, no margin above %s', status, to_char(margin_upper, '9.9EEEE')), status = 'not_separable'
  FROM ji2_proof
UNION ALL
SELECT :'figure', 'after 1000 iterations momentum has a test error below 5 %', format('%s %%', round(100 * last::numeric, 2)), last < 0.05
  FROM ji2_last WHERE solver = 'momentum'
UNION ALL
SELECT :'figure', 'from 100 iterations on, every method of the exponential loss has a lower test error than the batch perceptron (means)',
       string_agg(format('%s %s %%', solver, round(100 * late::numeric, 1)), ', ' ORDER BY late),
       max(late) FILTER (WHERE solver <> 'batch_perceptron') < max(late) FILTER (WHERE solver = 'batch_perceptron') FROM ji2_last;

-- Ji, Srebro, Telgarsky (2021), Figure 3: sampling with a tangent kernel, ten digits
-- data: mnist_10k
-- needs: sampling
-- files: mnist-t10k-images-idx3-ubyte.gz mnist-t10k-labels-idx1-ubyte.gz
--
-- The paper: with the tangent kernel of a ReLU network of width 128 the ten digits are separable. Algorithm 2 with momentum
-- slightly beats the batch perceptron; with the parameters of Theorem 4.1 it is slower.
INSERT INTO panels VALUES (:'figure', 1, 'MNIST, 10,000 rows, ten digits', 'iterations', 'margin', true, false);
CREATE TABLE ji3_runs AS
  SELECT series, train_margin(y, x, options || margin_options(kernel => 'ntk_finite', width => 128, intercept => false, history => true,
                                                              tolerance => 0, max_iterations => limits) ORDER BY id) AS model
    FROM mnist_10k, (VALUES ('sampling with momentum', '{"solver": "sampling"}'::jsonb, 9000),
                            ('sampling, parameters of Theorem 4.1', '{"solver": "sampling", "step": "theory"}', 2000),
                            ('batch perceptron', '{"solver": "kernel_batch_perceptron"}', 9000)) AS s (series, options, limits)
   GROUP BY series, options, limits;
CREATE TABLE ji3_points AS
  SELECT DISTINCT ON (series, round(40 * log(iteration))) series, iteration, lower AS margin FROM ji3_runs, margin_history(model)
   WHERE iteration > 0 ORDER BY series, round(40 * log(iteration)), iteration DESC;
INSERT INTO curves SELECT :'figure', 1, series, iteration, margin FROM ji3_points WHERE margin > -0.5;
INSERT INTO curves SELECT :'figure', 1, 'no margin is above', v, (SELECT min((model).margin_upper) FROM ji3_runs) FROM unnest('{10,9000}'::int[]) AS v;

CREATE TABLE ji3_last AS
  SELECT max((model).margin_lower) FILTER (WHERE series LIKE '%momentum') AS momentum, max((model).margin_lower) FILTER (WHERE series LIKE 'batch%') AS perceptron,
         min((model).margin_upper) AS upper FROM ji3_runs;
CREATE TABLE ji3_early AS
  SELECT max(lower) FILTER (WHERE series LIKE '%momentum') AS momentum, max(lower) FILTER (WHERE series LIKE '%4.1') AS theory,
         max(lower) FILTER (WHERE series LIKE 'batch%') AS perceptron FROM ji3_runs, margin_history(model) WHERE iteration BETWEEN 1 AND 2000;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'after 9000 iterations the ten digits are separated, with a larger margin by sampling with momentum than by the batch perceptron',
       format('margins %s, %s; none above %s', to_char(momentum, '9.99EEEE'), to_char(perceptron, '9.99EEEE'), to_char(upper, '9.99EEEE')),
       momentum >= perceptron AND perceptron > 0 FROM ji3_last;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'after 2000 iterations the same order, and both before the theoretical parameters',
       format('margins %s, %s, %s', to_char(momentum, '9.99EEEE'), to_char(perceptron, '9.99EEEE'), to_char(theory, '9.99EEEE')),
       momentum >= perceptron AND perceptron > theory FROM ji3_early;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'sampling with momentum is the first to separate them',
       format('from iteration %s, %s', momentum, perceptron), momentum <= perceptron
  FROM (SELECT min(iteration) FILTER (WHERE series LIKE '%momentum') AS momentum, min(iteration) FILTER (WHERE series LIKE 'batch%') AS perceptron
          FROM ji3_runs, margin_history(model) WHERE lower > 0) AS first;

-- Ji, Srebro, Telgarsky (2021), Figure 1: margin against iterations, MNIST 0 against 1
-- data: mnist_0v1
-- files: mnist-train-images-idx3-ubyte.gz mnist-train-labels-idx1-ubyte.gz
--
-- The paper: on separable data the momentum method reaches the maximum margin first (its rate is 1/t^2), then the batch
-- perceptron, then normalised gradient descent (1/t), then gradient descent (1/log t).
INSERT INTO panels VALUES
  (:'figure', 1, 'margin', 'iterations', 'margin (norm of the largest row = 1)', true, false),
  (:'figure', 2, 'distance from the maximum margin', 'iterations', '(maximum - margin) / maximum', true, true);

CREATE TABLE ji1_exact AS
  SELECT (m).margin_lower AS low, (m).margin_upper AS best, radius
    FROM (SELECT train_margin(y, x, margin_options(intercept => false, tolerance => 1e-9)) AS m,
                 max((SELECT sqrt(sum(v::float8 ^ 2)) FROM unnest(x) AS v)) AS radius FROM mnist_0v1) AS t;

CREATE TABLE ji1_runs AS
  SELECT solver, train_margin(y, x, margin_options(solver => solver, intercept => false, history => true, tolerance => 0,
                                                   max_iterations => 5000)) AS model
    FROM mnist_0v1, unnest('{momentum,normalized_gradient_descent,gradient_descent,batch_perceptron}'::text[]) AS solver
   GROUP BY solver;

-- Points that are evenly spread on a logarithmic axis.
CREATE TABLE ji1_points AS
  SELECT DISTINCT ON (solver, round(40 * log(iteration))) solver, iteration, lower AS margin, upper
    FROM ji1_runs, margin_history(model) ORDER BY solver, round(40 * log(iteration)), iteration DESC;

INSERT INTO curves SELECT :'figure', 1, solver, iteration, margin / radius FROM ji1_points, ji1_exact WHERE margin > 0;
INSERT INTO curves SELECT :'figure', 1, 'maximum margin', iteration, best / radius FROM ji1_exact, (VALUES (1), (5000)) AS v (iteration);
INSERT INTO curves SELECT :'figure', 2, solver, iteration, (best - margin) / best FROM ji1_points, ji1_exact WHERE margin < best;

CREATE TABLE ji1_last AS
  SELECT solver, 1 - max(margin) / max(best) AS missing,
         regr_slope(ln((best - margin) / best), ln(iteration)) FILTER (WHERE iteration >= 1000) AS slope
    FROM ji1_points, ji1_exact GROUP BY solver;
CREATE TABLE ji1_wide AS
  SELECT max(missing) FILTER (WHERE solver = 'momentum') AS momentum, max(missing) FILTER (WHERE solver = 'batch_perceptron') AS perceptron,
         max(missing) FILTER (WHERE solver = 'normalized_gradient_descent') AS ngd, max(missing) FILTER (WHERE solver = 'gradient_descent') AS gd,
         max(slope) FILTER (WHERE solver = 'momentum') AS momentum_slope, max(slope) FILTER (WHERE solver = 'normalized_gradient_descent') AS ngd_slope
    FROM ji1_last;

INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'after 5000 iterations: momentum before batch perceptron before normalised gradient descent before gradient descent',
       format('%s, %s, %s, %s of the margin are missing', to_char(momentum, '9.9EEEE'), to_char(perceptron, '9.9EEEE'), to_char(ngd, '9.9EEEE'), to_char(gd, '9.9EEEE')),
       momentum < perceptron AND perceptron < ngd AND ngd < gd FROM ji1_wide
UNION ALL
SELECT :'figure', 'momentum: between t = 1000 and 5000 the missing margin falls at least as t^-1.5 (theory: t^-2, up to logarithms)',
       format('slope %s', round(momentum_slope::numeric, 2)), momentum_slope < -1.5 FROM ji1_wide
UNION ALL
SELECT :'figure', 'normalised gradient descent: it falls about as t^-1, slope -0.7 to -1.3', format('slope %s', round(ngd_slope::numeric, 2)),
       ngd_slope BETWEEN -1.3 AND -0.7 FROM ji1_wide
UNION ALL
SELECT :'figure', 'the margin never exceeds what cutting_plane certified as the maximum', format('certified to %s', to_char((best - low) / best, '9.9EEEE')),
       (SELECT bool_and(margin <= best * (1 + 1e-9)) FROM ji1_points) FROM ji1_exact;

-- Ji, Srebro, Telgarsky (2021), Figure 4 in small: test error of kernels taken from a network in training
-- generated: tangent_features
-- needs: sampling
-- files: digits8x8.libsvm.xz
--
-- The paper trains AlexNet on CIFAR-10. Here a network of one hidden layer, two random seeds, learns which of the digits of
-- digits8x8 are below 5; Algorithm 2 finds the largest margin of the tangent features of six epochs.
INSERT INTO panels SELECT :'figure', seed, format('seed %s', seed), 'iterations', 'test error', true, false FROM generate_series(1, 2) AS seed;
CREATE TABLE ji4 AS
  SELECT seed, epoch, iterations, (m).margin_lower, (m).margin_upper, (SELECT 1 - (margin_evaluate(m, y, x)).accuracy FROM tangent_features AS t WHERE t.seed = r.seed AND t.epoch = r.epoch AND part = 'test') AS error
    FROM (SELECT seed, epoch, iterations, train_margin(y, x, margin_options(solver => 'sampling', kernel => 'linear', intercept => false, tolerance => 0, output => 'last', max_iterations => iterations) ORDER BY id) AS m
            FROM tangent_features, unnest('{30,60,120,250,500,1000,2000,4000,8000}'::int[]) AS iterations WHERE part = 'train' GROUP BY seed, epoch, iterations) AS r;
INSERT INTO curves SELECT :'figure', seed, format('epoch %s', to_char(epoch, 'FM999')), iterations, error FROM ji4;

CREATE TABLE ji4_last AS SELECT seed, max(error) FILTER (WHERE epoch = 0) AS first, max(error) FILTER (WHERE epoch = 100) AS last,
       string_agg(round(100 * error::numeric, 1)::text, ', ' ORDER BY epoch) AS errors, min(margin_lower) AS least, min(margin_lower / margin_upper) AS share
  FROM ji4 WHERE iterations = 8000 GROUP BY seed;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'the features of every epoch separate the training rows', format('least margin %s; %s of the upper bound and more', to_char(min(least), '9.99EEEE'), round(min(share)::numeric, 2)), min(least) > 0 FROM ji4_last;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', format('seed %s: the test error at the last epoch is below that at the first', seed), format('errors in %% at epochs 0 to 100: %s', errors), last < first FROM ji4_last ORDER BY seed;

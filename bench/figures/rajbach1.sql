-- Raj, Bach (2021), Figure 1: mistakes against epochs, the perceptron (p = 2)
-- data: raj_bach_l2 raj_bach_l2_test
--
-- The paper (n = 1000, d = 2000, normal rows, separable): in mistakes on the rows of the training, accelerated coordinate
-- ascent gains over plain one, and both over the perceptron and primal SGD; test errors gain as well; training errors
-- fall exponentially.
INSERT INTO panels VALUES (:'figure', 1, 'training', 'epochs', 'mistakes of 1000', false, true), (:'figure', 2, 'test', 'epochs', 'mistakes of 1000', false, true);

-- A point of a curve is a training of so many epochs.
CREATE TABLE rajbach1_runs AS
  SELECT series, t, train_margin(y, x, options || margin_options(norm => 2, intercept => false, tolerance => 0, max_iterations => t, "order" => 'random', output => 'last')
                                 ORDER BY id) AS model
    FROM raj_bach_l2, unnest('{1,2,3,4,6,8,10,13,16,20,25,30,40}'::int[]) AS t,
       (VALUES
       ('accelerated coordinate ascent', '{"solver": "dual_ascent", "accelerated": true, "step": "quadratic"}'::jsonb),
       ('coordinate ascent', '{"solver": "dual_ascent", "accelerated": false}'),
       ('perceptron', '{"solver": "perceptron"}'), ('stochastic gradient descent', '{"solver": "mirror_descent"}')) AS s (series, options)
   GROUP BY series, options, t;
CREATE TABLE rajbach1_mistakes AS
  SELECT series, t, panel, rows - right_ones AS mistakes
    FROM rajbach1_runs, (VALUES (1), (2)) AS p (panel),
         LATERAL (SELECT count(*) AS rows, count(*) FILTER (WHERE margin_predict(model, x, NULL::int) = y) AS right_ones
                    FROM (SELECT y, x FROM raj_bach_l2 WHERE panel = 1 UNION ALL SELECT y, x FROM raj_bach_l2_test WHERE panel = 2) AS r) AS v;
INSERT INTO curves SELECT :'figure', panel, series, t, greatest(mistakes, 0.5) FROM rajbach1_mistakes;

CREATE TABLE rajbach1_means AS
  SELECT series, panel, avg(mistakes) FILTER (WHERE t BETWEEN 6 AND 40) AS mean FROM rajbach1_mistakes GROUP BY series, panel;
CREATE TABLE rajbach1_wide AS
  SELECT panel, string_agg(format('%s %s', series, round(mean, 1)), ', ' ORDER BY mean) AS measured, max(mean) FILTER (WHERE series LIKE 'acc%') AS accelerated,
         max(mean) FILTER (WHERE series LIKE 'coo%') AS plain, min(mean) FILTER (WHERE series !~ 'coordinate') AS others
    FROM rajbach1_means GROUP BY panel;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'training: mean mistakes over epochs 6 to 40: accelerated before plain coordinate ascent before the rest', measured,
       accelerated < plain AND plain < others FROM rajbach1_wide WHERE panel = 1
UNION ALL
SELECT :'figure', 'test: accelerated coordinate ascent makes the fewest mistakes (mean over epochs 6 to 40)', measured,
       accelerated < least(plain, others) FROM rajbach1_wide WHERE panel = 2
UNION ALL
SELECT :'figure', 'training mistakes fall exponentially: with acceleration none is left, or fewer than a tenth of those after one epoch, after 40',
       format('%s, then %s', max(mistakes) FILTER (WHERE t = 1), max(mistakes) FILTER (WHERE t = 40)),
       max(mistakes) FILTER (WHERE t = 40) < 0.1 * max(mistakes) FILTER (WHERE t = 1)
  FROM rajbach1_mistakes WHERE panel = 1 AND series LIKE 'acc%';

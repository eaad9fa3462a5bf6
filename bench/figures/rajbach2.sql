-- Raj, Bach (2021), Figure 2: mistakes against epochs, the sparse perceptron (p = 1 + 1/ln d)
-- data: raj_bach_sparse raj_bach_sparse_test
--
-- The paper (n = 1000, d = 2000, normal rows, separable): in mistakes on the rows of the training, accelerated coordinate
-- ascent gains over plain one, and both over stochastic mirror descent; test errors gain as well; training errors
-- fall exponentially. Its steps are those of Lemma 1 (step => 'quadratic'), a bound with the factor p - 1. Ours maximise
-- exactly along each coordinate, and are drawn beside them.
INSERT INTO panels VALUES (:'figure', 1, 'training', 'epochs', 'mistakes of 1000', false, true), (:'figure', 2, 'test', 'epochs', 'mistakes of 1000', false, true);

-- A point of a curve is a training of so many epochs.
CREATE TABLE rajbach2_runs AS
  SELECT series, t, train_margin(y, x, options || margin_options(norm => 'sparse', intercept => false, tolerance => 0, max_iterations => t)
                                 ORDER BY id) AS model
    FROM raj_bach_sparse, unnest('{1,2,3,4,6,8,10,13,16,20,25,30,40}'::int[]) AS t,
       (VALUES
       ('accelerated coordinate ascent', '{"solver": "dual_ascent", "accelerated": true, "step": "quadratic"}'::jsonb),
       ('coordinate ascent', '{"solver": "dual_ascent", "step": "quadratic"}'),
       ('exact coordinate ascent', '{"solver": "dual_ascent", "step": "optimal"}'),
       ('stochastic mirror descent', '{"solver": "mirror_descent"}')) AS s (series, options)
   GROUP BY series, options, t;
CREATE TABLE rajbach2_mistakes AS
  SELECT series, t, panel, rows - right_ones AS mistakes
    FROM rajbach2_runs, (VALUES (1), (2)) AS p (panel),
         LATERAL (SELECT count(*) AS rows, count(*) FILTER (WHERE margin_predict(model, x, NULL::int) = y) AS right_ones
                    FROM (SELECT y, x FROM raj_bach_sparse WHERE panel = 1 UNION ALL SELECT y, x FROM raj_bach_sparse_test WHERE panel = 2) AS r) AS v;
INSERT INTO curves SELECT :'figure', panel, series, t, greatest(mistakes, 0.5) FROM rajbach2_mistakes;

CREATE TABLE rajbach2_means AS
  SELECT series, panel, avg(mistakes) FILTER (WHERE t BETWEEN 6 AND 40) AS mean FROM rajbach2_mistakes GROUP BY series, panel;
CREATE TABLE rajbach2_wide AS
  SELECT panel, string_agg(format('%s %s', series, round(mean, 1)), ', ' ORDER BY mean) AS measured, max(mean) FILTER (WHERE series LIKE 'acc%') AS accelerated,
         max(mean) FILTER (WHERE series LIKE 'coo%') AS plain, max(mean) FILTER (WHERE series LIKE 'exa%') AS exact, min(mean) FILTER (WHERE series !~ 'coordinate') AS others
    FROM rajbach2_means GROUP BY panel;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'training: accelerated ascent makes fewer mistakes than plain one, and that fewer than mirror descent (means over epochs 6 to 40)', measured,
       accelerated < plain AND plain < others FROM rajbach2_wide WHERE panel = 1
UNION ALL
SELECT :'figure', 'test: the same', measured, greatest(accelerated, plain) < others FROM rajbach2_wide WHERE panel = 2
UNION ALL
SELECT :'figure', 'training: exact steps make the fewest', measured, exact < accelerated FROM rajbach2_wide WHERE panel = 1
UNION ALL
SELECT :'figure', 'training mistakes fall exponentially: with acceleration none is left, or fewer than a tenth of those after one epoch, after 40',
       format('%s, then %s', max(mistakes) FILTER (WHERE t = 1), max(mistakes) FILTER (WHERE t = 40)),
       max(mistakes) FILTER (WHERE t = 40) < 0.1 * max(mistakes) FILTER (WHERE t = 1)
  FROM rajbach2_mistakes WHERE panel = 1 AND series LIKE 'acc%';

-- What the scripts of the figures share: the tables that they fill, and the rows of the SDCA figures.
CREATE EXTENSION margin;
SET check_function_bodies = off;  -- some are about tables that make_sdca_rows creates

-- A figure has panels, a panel has curves, and the figure claims something.
CREATE TABLE panels (figure text, panel int, title text, x_label text, y_label text, x_log boolean DEFAULT false,
                     y_log boolean DEFAULT false);
CREATE TABLE curves (figure text, panel int, series text, x float8, y float8);
CREATE TABLE claims (n serial, figure text, claim text, measured text, holds boolean);

-- The rows that Shalev-Shwartz and Zhang's figures are about, norm 1, in three sets with a training and a test part.
-- Their astro-ph, CCAT and cov1 are not at hand; the stand-ins are named by what they are:
--   reuters-acq  2,000 news stories, 600 for testing      (astro-ph: 29,882 abstracts)
--   rcv1_small   1,000 documents of CCAT, 500 for testing  (CCAT: 781,265 of them)
--   covtype.20k  class 1 of the first 20,000 rows, every tenth for testing  (cov1: 522,911 rows); columns are scaled to
--                a largest value of 1 first, because elevations in metres would drown the indicators
CREATE FUNCTION make_sdca_rows() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF to_regclass('sdca_rows') IS NOT NULL THEN RETURN; END IF;
  CREATE TABLE sdca_rows AS
    SELECT 'reuters-acq' AS data, 'train' AS part, id, y = 1 AS y, x FROM reuters_acq
    UNION ALL SELECT 'reuters-acq', 'test', id, y = 1, x FROM reuters_acq_t WHERE x <> '{}'
    UNION ALL SELECT 'rcv1_small', 'train', id, y = 1, x FROM rcv1_small
    UNION ALL SELECT 'rcv1_small', 'test', id, y = 1, x FROM rcv1_small_t;
  INSERT INTO sdca_rows
    WITH entries AS (SELECT id, y, index, value FROM covtype_20k, unnest(x) WITH ORDINALITY AS e (value, index) WHERE value <> 0),
         top AS (SELECT index, max(abs(value)) AS most FROM entries GROUP BY index),
         scaled AS (SELECT id, y, index, value / most AS value, sqrt(sum((value / most) ^ 2) OVER (PARTITION BY id)) AS norm
                      FROM entries JOIN top USING (index))
    SELECT 'covtype.20k', CASE WHEN id % 10 = 0 THEN 'test' ELSE 'train' END, id, y = 1,
           margin_sparse(array_agg(index::int ORDER BY index), array_agg(value / norm ORDER BY index), 54)
      FROM scaled GROUP BY id, y;
  -- A fixed order that was drawn once, as the paper's cyclic order was.
  ALTER TABLE sdca_rows ADD place text;
  UPDATE sdca_rows SET place = md5(data || id);
  ANALYZE sdca_rows;
END $$;

CREATE TABLE lambdas AS SELECT lambda::float8 FROM unnest('{1e-3, 1e-4, 1e-5, 1e-6}'::float8[]) AS lambda;
CREATE TABLE sets AS SELECT * FROM (VALUES (1, 'reuters-acq'), (2, 'rcv1_small'), (3, 'covtype.20k')) AS s (place, data);
-- As in the paper: a row of panels per lambda, a column per data set.
CREATE FUNCTION sdca_panel(lambda float8, data text) RETURNS int LANGUAGE sql STABLE AS $$
  SELECT (round(-log(lambda))::int - 3) * 3 + place FROM sets WHERE sets.data = sdca_panel.data $$;

-- What a figure of theirs trains: every series on every set with every lambda. sdca_panels and sdca_runs fill in the rest.
CREATE TABLE series (figure text, series text, options jsonb);
CREATE FUNCTION sdca_panels(figure text, y_label text, y_log boolean) RETURNS void LANGUAGE sql AS $$
  INSERT INTO panels SELECT figure, sdca_panel(lambda, data), format('%s, lambda = %s', data, lambda), 'epochs', y_label, false, y_log
    FROM lambdas, sets $$;
-- One training per set, lambda and series; the rows come in the order that was drawn once.
CREATE FUNCTION sdca_runs(figure text, more jsonb) RETURNS TABLE (data text, lambda float8, series text, n bigint, model margin_model)
LANGUAGE sql AS $$
  SELECT data, lambda, series, count(*), train_margin(y, x, options || more || margin_options(lambda => lambda, intercept => false) ORDER BY place)
    FROM sdca_rows, lambdas, series WHERE part = 'train' AND series.figure = sdca_runs.figure
   GROUP BY data, lambda, series, options $$;
-- The error on the rows for testing after so many epochs, each number of epochs a training of its own.
CREATE FUNCTION sdca_errors(figure text, epochs int[]) RETURNS TABLE (data text, lambda float8, series text, epoch int, error float8, zero boolean)
LANGUAGE sql AS $$
  SELECT r.data, lambda, series, epoch, 1 - (e).accuracy, NOT EXISTS (SELECT FROM unnest((r.model).weights) AS w WHERE w <> 0)
    FROM unnest(epochs) AS epoch, sdca_runs(figure, margin_options(max_iterations => epoch, tolerance => 1e-5)) AS r,
         LATERAL (SELECT margin_evaluate(model, y, x) AS e FROM sdca_rows AS t WHERE t.part = 'test' AND t.data = r.data) AS v $$;
-- The least objective, to twelve digits.
CREATE FUNCTION sdca_best(loss text) RETURNS TABLE (data text, lambda float8, best float8) LANGUAGE sql AS $$
  SELECT data, lambda, (m).primal
    FROM (SELECT data, lambda, train_margin(y, x, margin_options(lambda => lambda, loss => loss, intercept => false, tolerance => 1e-12,
                                                                 max_iterations => 100000) ORDER BY place) AS m
            FROM sdca_rows, lambdas WHERE part = 'train' GROUP BY data, lambda) AS t $$;

-- The 8 x 8 matrix of Rudin, Daubechies, Schapire (2004), Theorem 7, as eight rows of two classes: label times features is
-- the matrix. Its largest l1 margin is 3/8; AdaBoost's margin tends to 1/3.
CREATE TABLE rudin AS
  SELECT id, id % 2 = 0 AS y, ARRAY(SELECT CASE WHEN id % 2 = 0 THEN m ELSE -m END FROM unnest(z) AS m)::float8[] AS x
    FROM (VALUES (1, '{-1,1,1,1,1,-1,-1,1}'::int[]), (2, '{-1,1,1,-1,-1,1,1,1}'), (3, '{1,-1,1,1,1,-1,1,1}'), (4, '{1,-1,1,1,-1,1,1,1}'),
                 (5, '{1,-1,1,-1,1,1,1,-1}'), (6, '{1,1,-1,1,1,1,1,-1}'), (7, '{1,1,-1,1,1,1,-1,1}'), (8, '{1,1,1,1,-1,-1,1,-1}')) AS m (id, z);

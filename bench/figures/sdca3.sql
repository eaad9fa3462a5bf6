-- Shalev-Shwartz, Zhang (2013), Figure 3: the effect of smoothing
-- libsvm: reuters-acq reuters-acq.t rcv1_small rcv1_small.t
-- data: covtype.20k
-- files: covtype.20k.libsvm.xz
--
-- The paper: the smoother the loss, the faster; the more so, the smaller lambda.
SELECT make_sdca_rows();
SELECT sdca_panels(:'figure', 'duality gap', true);
INSERT INTO series VALUES
  (:'figure', 'gamma = 0', '{"loss": "hinge", "solver": "sdca", "order": "random"}'),
  (:'figure', 'gamma = 0.01', '{"loss": "smoothed_hinge", "smoothing": 0.01, "solver": "sdca", "order": "random"}'),
  (:'figure', 'gamma = 0.1', '{"loss": "smoothed_hinge", "smoothing": 0.1, "solver": "sdca", "order": "random"}'),
  (:'figure', 'gamma = 1', '{"loss": "smoothed_hinge", "smoothing": 1, "solver": "sdca", "order": "random"}');
CREATE TABLE sdca3_points AS
  SELECT data, lambda, series, iteration AS epoch, upper - lower AS gap
    FROM sdca_runs(:'figure', margin_options(history => true, tolerance => 1e-8, max_iterations => 100)), margin_history(model);
INSERT INTO curves SELECT :'figure', sdca_panel(lambda, data), series, epoch, gap FROM sdca3_points WHERE gap > 1e-12;

CREATE TABLE sdca3_epochs AS
  SELECT data, lambda, series, coalesce(min(epoch) FILTER (WHERE gap < 1e-4), 101) AS epochs FROM sdca3_points GROUP BY data, lambda, series;
CREATE TABLE sdca3_wide AS
  SELECT data, lambda, array_agg(epochs ORDER BY series) AS epochs FROM sdca3_epochs GROUP BY data, lambda;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'a gap of 1e-4 takes the fewer epochs the larger gamma is, in at least 11 of 12 panels (one epoch of noise allowed)',
       format('%s panels', count(*) FILTER (WHERE sorted)), count(*) FILTER (WHERE sorted) >= 11 AND count(*) = 12
  FROM (SELECT epochs[1] >= epochs[2] - 1 AND epochs[2] >= epochs[3] - 1 AND epochs[3] >= epochs[4] - 1 AS sorted FROM sdca3_wide) AS s
UNION ALL
SELECT :'figure', 'the difference grows as lambda falls from 1e-3 to 1e-5: epochs with gamma = 0.01 less those with gamma = 1, all sets together (at 1e-6 some do not arrive within 100)',
       string_agg(format('%s at %s', more, lambda), ', ' ORDER BY lambda DESC), (array_agg(more ORDER BY lambda DESC))[3] > (array_agg(more ORDER BY lambda DESC))[2] AND (array_agg(more ORDER BY lambda DESC))[2] > (array_agg(more ORDER BY lambda DESC))[1]
  FROM (SELECT lambda, sum(epochs[2] - epochs[4]) AS more FROM sdca3_wide GROUP BY lambda) AS s;

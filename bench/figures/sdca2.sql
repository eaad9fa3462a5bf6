-- Shalev-Shwartz, Zhang (2013), Figure 2: plain hinge
-- libsvm: reuters-acq reuters-acq.t rcv1_small rcv1_small.t
-- data: covtype.20k
-- files: covtype.20k.libsvm.xz
--
-- The paper: with the plain hinge SDCA is slower than with the smoothed one; for large lambda the gap still falls
-- linearly; the bound of Theorem 1 is slower than what is seen.
SELECT make_sdca_rows();
SELECT sdca_panels(:'figure', 'sub-optimality', true);
INSERT INTO series VALUES
  (:'figure', 'hinge', '{"loss": "hinge", "solver": "sdca", "order": "random"}'),
  (:'figure', 'smoothed', '{"loss": "smoothed_hinge", "smoothing": 1, "solver": "sdca", "order": "random"}');
CREATE TABLE sdca2_points AS
  SELECT r.data, r.lambda, series, n, iteration AS epoch, upper - lower AS gap, upper - best AS primal, best - lower AS dual,
         -- Theorem 1 with Remark 2: T = max(0, n ln(lambda n / 2)) + n + 5/(lambda epsilon) iterations for a gap of epsilon.
         5 / (r.lambda * nullif(greatest(0, (iteration - 1) * n - greatest(0, n * ln(0.5 * r.lambda * n))), 0)) AS bound
    FROM sdca_runs(:'figure', margin_options(history => true, tolerance => 1e-10, max_iterations => 100)) AS r
    JOIN sdca_best('hinge') USING (data, lambda), margin_history(model);
INSERT INTO curves
  SELECT :'figure', sdca_panel(lambda, data), s.series, epoch, y
    FROM sdca2_points AS p, LATERAL (VALUES ('duality gap', gap), ('primal sub-optimality', primal), ('dual sub-optimality', dual),
                                            ('bound of Theorem 1', least(bound, 10))) AS s (series, y)
   WHERE y > 1e-12 AND p.series = 'hinge';

CREATE TABLE sdca2_lines AS
  SELECT data, lambda, coalesce(min(epoch) FILTER (WHERE series = 'hinge' AND gap < 1e-4), 101) AS hinge,
         coalesce(min(epoch) FILTER (WHERE series = 'smoothed' AND gap < 1e-4), 101) AS smoothed,
         regr_r2(ln(gap), epoch) FILTER (WHERE series = 'hinge' AND gap > 1e-4) AS r2,
         bool_and(gap <= coalesce(bound, 1e9)) FILTER (WHERE series = 'hinge') AS below
    FROM sdca2_points GROUP BY data, lambda;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'a gap of 1e-4 takes at least as many epochs as with the smoothed hinge, in every panel; in all together more than twice as many',
       format('%s and %s epochs in all', sum(hinge), sum(smoothed)), bool_and(hinge >= smoothed) AND sum(hinge) > 2 * sum(smoothed) FROM sdca2_lines
UNION ALL
SELECT :'figure', 'for lambda = 1e-3 it falls linearly down to 1e-4: R^2 above 0.9 on every set', string_agg(format('%s: %s', data, round(r2::numeric, 2)), ', '),
       min(r2) > 0.9 FROM sdca2_lines WHERE lambda = 1e-3
UNION ALL
SELECT :'figure', 'it stays below the bound of Theorem 1', format('%s of %s panels', count(*) FILTER (WHERE below), count(*)), bool_and(below) FROM sdca2_lines;

-- Shalev-Shwartz, Zhang (2013), Figure 1: smoothed hinge, linear convergence
-- libsvm: reuters-acq reuters-acq.t rcv1_small rcv1_small.t
-- data: covtype.20k
-- files: covtype.20k.libsvm.xz
--
-- The paper: with the smoothed hinge (gamma = 1) the duality gap of SDCA falls linearly, that is as a straight line on a
-- logarithmic axis, faster than the bound of Theorem 2, and faster for larger lambda.
SELECT make_sdca_rows();
SELECT sdca_panels(:'figure', 'sub-optimality', true);
INSERT INTO series VALUES (:'figure', 'SDCA', '{"loss": "smoothed_hinge", "smoothing": 1, "solver": "sdca", "order": "random"}');
CREATE TABLE sdca1_points AS
  SELECT r.data, r.lambda, iteration AS epoch, upper - lower AS gap, upper - best AS primal, best - lower AS dual,
         -- Theorem 2, for rows of norm 1: n + 1/(lambda gamma) iterations for every factor of e.
         (n + 1 / r.lambda) * exp(-iteration * n / (n + 1 / r.lambda)) AS bound
    FROM sdca_runs(:'figure', margin_options(history => true, tolerance => 1e-10, max_iterations => 100)) AS r
    JOIN sdca_best('smoothed_hinge') USING (data, lambda), margin_history(model);
INSERT INTO curves
  SELECT :'figure', sdca_panel(lambda, data), series, epoch, y
    FROM sdca1_points, LATERAL (VALUES ('duality gap', gap), ('primal sub-optimality', primal), ('dual sub-optimality', dual),
                                       ('bound of Theorem 2', least(bound, 10))) AS s (series, y)
   WHERE y > 1e-12;

-- How well epochs explain ln(gap), where the gap is above rounding.
CREATE TABLE sdca1_lines AS
  SELECT data, lambda, regr_slope(ln(gap), epoch) AS slope, regr_r2(ln(gap), epoch) AS r2, bool_and(gap <= bound) AS below
    FROM sdca1_points WHERE gap > 1e-9 GROUP BY data, lambda;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'the gap falls linearly: epochs explain ln(gap) with R^2 above 0.9, in at least 10 of the 12 panels',
       format('%s panels, the others %s', count(*) FILTER (WHERE r2 > 0.9),
              string_agg(format('%s at %s: %s', data, lambda, round(r2::numeric, 2)), ', ') FILTER (WHERE r2 <= 0.9)),
       count(*) FILTER (WHERE r2 > 0.9) >= 10 FROM sdca1_lines
UNION ALL
SELECT :'figure', 'it stays below the bound of Theorem 2 at every epoch of every panel', format('%s of %s panels', count(*) FILTER (WHERE below), count(*)),
       bool_and(below) AND count(*) = 12 FROM sdca1_lines
UNION ALL
SELECT :'figure', 'it falls slower for lambda = 1e-6 than for 1e-3, on every set', string_agg(format('%s: e^(%s) and e^(%s) per epoch', data, low, high), '; '),
       bool_and(low > high)
  FROM (SELECT data, round((max(slope) FILTER (WHERE lambda = 1e-6))::numeric, 2) AS low, round((max(slope) FILTER (WHERE lambda = 1e-3))::numeric, 2) AS high
          FROM sdca1_lines GROUP BY data) AS s;

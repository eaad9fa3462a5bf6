-- Shalev-Shwartz, Zhang (2013), Figure 5: random, permuted and cyclic order
-- libsvm: reuters-acq reuters-acq.t rcv1_small rcv1_small.t
-- data: covtype.20k
-- files: covtype.20k.libsvm.xz
--
-- The paper: a fixed cyclic order is much slower than random draws; a fresh permutation per epoch (SDCA-Perm) is sometimes
-- faster than draws with replacement. (Our permutations also leave out rows that have settled, see solvers/sdca/sdca.cpp; an epoch
-- is as many visits as there are rows.)
SELECT make_sdca_rows();
SELECT sdca_panels(:'figure', 'duality gap', true);
INSERT INTO series VALUES
  (:'figure', 'SDCA', '{"loss": "smoothed_hinge", "smoothing": 1, "solver": "sdca", "order": "random"}'),
  (:'figure', 'SDCA-Perm', '{"loss": "smoothed_hinge", "smoothing": 1, "solver": "sdca", "order": "permutation"}'),
  (:'figure', 'cyclic', '{"loss": "smoothed_hinge", "smoothing": 1, "solver": "sdca", "order": "cyclic"}');
CREATE TABLE sdca5_points AS
  SELECT data, lambda, series, iteration AS epoch, upper - lower AS gap
    FROM sdca_runs(:'figure', margin_options(history => true, tolerance => 1e-10, max_iterations => 100)), margin_history(model);
INSERT INTO curves SELECT :'figure', sdca_panel(lambda, data), series, epoch, gap FROM sdca5_points WHERE gap > 1e-12;

CREATE TABLE sdca5_epochs AS
  SELECT data, lambda, coalesce(min(epoch) FILTER (WHERE series = 'SDCA' AND gap < 1e-6), 101) AS random,
         coalesce(min(epoch) FILTER (WHERE series = 'SDCA-Perm' AND gap < 1e-6), 101) AS permuted,
         coalesce(min(epoch) FILTER (WHERE series = 'cyclic' AND gap < 1e-6), 101) AS cyclic
    FROM sdca5_points GROUP BY data, lambda;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'a gap of 1e-6 takes a cyclic order more epochs than permutations, in at least 10 of 12 panels, and in all together',
       format('%s panels; %s and %s epochs in all', count(*) FILTER (WHERE cyclic > permuted), sum(cyclic), sum(permuted)),
       count(*) FILTER (WHERE cyclic > permuted) >= 10 AND sum(cyclic) > sum(permuted) FROM sdca5_epochs
UNION ALL
SELECT :'figure', 'SDCA-Perm is sometimes faster than SDCA', format('in %s of %s panels', count(*) FILTER (WHERE permuted < random), count(*)),
       count(*) FILTER (WHERE permuted < random) > 0 FROM sdca5_epochs;

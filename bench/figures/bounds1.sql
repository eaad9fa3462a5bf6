-- Theorem bounds: iterations promised beside those needed
-- libsvm: rcv1_small ionosphere_scale
-- needs: boosting
--
-- margin_bound says how many iterations a theorem promises to be enough for a gap, a history how many were. SDCA and momentum:
-- rows of norm 1 at most. Boosting: the matrix of telgarsky3.
INSERT INTO panels SELECT :'figure', n, title, 'gap', 'iterations', true, true
  FROM (VALUES (1, 'SDCA, smoothed hinge, lambda = 1e-3: Theorem 2'), (2, 'SDCA, hinge, lambda = 1e-3: Theorem 1'),
               (3, 'momentum: Theorem 3.1 (Ji and others)'), (4, 'boosting: Section 3.3 (Telgarsky)')) AS p (n, title);
CREATE TABLE bounds1_gaps AS SELECT (10 ^ (-g / 4.0))::float8 AS gap FROM generate_series(2, 12) AS g;

-- Epochs of SDCA, as steps; the gap of Theorem 1 is that of an average, which no history has: of a training for each T0 then.
CREATE TABLE bounds1_sdca AS
  SELECT loss, count(*) AS n, train_margin(y = 1, x, margin_options(lambda => 1e-3, loss => loss, solver => 'sdca', "order" => 'random', output => 'last',
                                                                  intercept => false, tolerance => 0, history => true, max_iterations => 200) ORDER BY id) AS m
    FROM rcv1_small, unnest('{smoothed_hinge,hinge}'::text[]) AS loss GROUP BY loss;
CREATE TABLE bounds1 AS
  SELECT CASE loss WHEN 'hinge' THEN 2 ELSE 1 END AS panel, 'needed' AS series, gap,
         (SELECT min(iteration) * n FROM margin_history(m) AS h WHERE h.upper - h.lower <= gap) AS iterations
    FROM bounds1_sdca, bounds1_gaps
  UNION ALL
  SELECT CASE loss WHEN 'hinge' THEN 2 ELSE 1 END, 'promised', gap, CASE loss WHEN 'hinge' THEN margin_bound('sdca 1 hinge', n, gap, lambda => 1e-3)
                                                                    ELSE margin_bound('sdca 2', n, gap, lambda => 1e-3, smoothing => 1) END
    FROM bounds1_sdca, bounds1_gaps;

-- Rows that a plane through 0 parts: those of ionosphere_scale whose score by a soft margin is more than 0.3, of norm 1.
CREATE TABLE bounds1_parted AS
  WITH unit AS (SELECT id, y = 1 AS y, margin_sparse(array_agg(index ORDER BY index), array_agg(value / norm ORDER BY index), 34) AS x
                  FROM (SELECT id, y, index::int, value, sqrt(sum(value ^ 2) OVER (PARTITION BY id)) AS norm
                          FROM ionosphere_scale, unnest(x::float8[]) WITH ORDINALITY AS e (value, index) WHERE value <> 0) AS e GROUP BY id, y),
       soft AS MATERIALIZED (SELECT train_margin(y, x, margin_options(lambda => 1e-3, intercept => false) ORDER BY id) AS m FROM unit)
  SELECT id, margin_score(m, x) > 0 AS y, x FROM unit, soft WHERE abs(margin_score(m, x)) > 0.3;
CREATE TABLE bounds1_momentum AS
  SELECT count(*) AS n, (train_margin(y, x, margin_options(intercept => false, tolerance => 1e-9) ORDER BY id)).margin_upper AS margin,
         train_margin(y, x, margin_options(solver => 'momentum', output => 'last', intercept => false, tolerance => 0, history => true, max_iterations => 5000) ORDER BY id) AS m
    FROM bounds1_parted;
INSERT INTO bounds1
  SELECT 3, 'needed', gap, (SELECT min(iteration) FROM margin_history(m) AS h WHERE h.lower >= margin - gap) FROM bounds1_momentum, bounds1_gaps WHERE gap < margin
  UNION ALL SELECT 3, 'promised', gap, margin_bound('momentum 3.1', n, gap, margin => margin) FROM bounds1_momentum, bounds1_gaps WHERE gap < margin;

CREATE TABLE bounds1_rudin AS
  SELECT i, i % 2 = 0 AS y, ARRAY(SELECT CASE WHEN i % 2 = 0 THEN e ELSE -e END FROM unnest(string_to_array(row, ',')::float8[]) AS e) AS x
    FROM unnest('{"-1,1,1,1,1,-1,-1,1","-1,1,1,-1,-1,1,1,1","1,-1,1,1,1,-1,1,1","1,-1,1,1,-1,1,1,1","1,-1,1,-1,1,1,1,-1","1,1,-1,1,1,1,1,-1","1,1,-1,1,1,1,-1,1","1,1,1,1,-1,-1,1,-1"}'::text[])
         WITH ORDINALITY AS r (row, i);
INSERT INTO bounds1
  SELECT 4, step || ', ' || what, gap, iterations
    FROM bounds1_gaps, unnest('{quadratic,wolfe,frank_wolfe}'::text[]) AS step,
         LATERAL (SELECT train_margin(y, x, margin_options(norm => 1, solver => 'boosting', step => step, shrinkage => CASE WHEN step <> 'frank_wolfe' THEN gap / 0.375 END,
                                                           gap_tolerance => CASE step WHEN 'frank_wolfe' THEN gap ELSE 0 END, output => 'last', intercept => false, tolerance => 0, history => true,
                                                           max_iterations => 50000) ORDER BY i) AS m FROM bounds1_rudin) AS r,
         LATERAL (VALUES ('needed', (SELECT min(iteration)::float8 FROM margin_history(m) AS h WHERE h.lower >= 0.375 - gap)),
                         ('promised', margin_bound('boosting 3.3 ' || step, 8, gap))) AS v (what, iterations)
   WHERE gap < 0.3 AND gap > 0.005;
INSERT INTO curves SELECT :'figure', panel, series, gap, iterations FROM bounds1 WHERE iterations IS NOT NULL;

CREATE TABLE bounds1_pairs AS
  SELECT n.panel, n.series, n.gap, n.iterations AS needed, p.iterations AS promised
    FROM bounds1 AS n JOIN bounds1 AS p ON p.panel = n.panel AND p.gap = n.gap AND p.series = replace(n.series, 'needed', 'promised') WHERE n.series LIKE '%needed';
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', format('%s: never more than promised', title),
       format('%s of %s gaps; promised / needed from %s to %s', count(*) FILTER (WHERE needed <= promised), count(*), round(min(promised / needed)::numeric, 1), round(max(promised / needed)::numeric, 1)),
       bool_and(needed <= promised) FROM bounds1_pairs JOIN panels AS p ON p.figure = :'figure' AND p.panel = bounds1_pairs.panel GROUP BY p.panel, title;
-- Telgarsky, Section 3.3, of this matrix: "the method of Shalev-Shwartz & Singer (2008) indeed performs a tiny bit worse than the Wolfe search".
-- That is not what we see, the Wolfe search having the shrinkage of its bound.
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'on this matrix the method of Shalev-Shwartz and Singer needs fewer rounds than the Wolfe search with the shrinkage gap / margin',
       string_agg(format('%s and %s for %s', f.needed, w.needed, round(w.gap::numeric, 3)), ', ' ORDER BY w.gap DESC), bool_and(f.needed < w.needed)
  FROM bounds1_pairs AS w JOIN bounds1_pairs AS f USING (gap) WHERE w.series LIKE 'wolfe%' AND f.series LIKE 'frank_wolfe%';

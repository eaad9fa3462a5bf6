-- margin_update: a model after rows have come and gone, from these rows alone.
CREATE TEMP TABLE rows AS SELECT i AS id, ARRAY[sin(i), cos(3 * i), sin(i * i)] AS x, sin(i) + cos(3 * i) + 0.5 * sin(7 * i) > 0.2 AS y,
  i % 3 AS k, 2 * sin(i) - cos(3 * i) AS t, 1 + i % 2 AS w FROM generate_series(1, 500) AS i;
CREATE TEMP TABLE old AS SELECT * FROM rows WHERE id <= 490;
CREATE TEMP TABLE changes AS SELECT *, id <= 5 AS removed FROM rows WHERE id <= 5 OR id > 490;
CREATE TEMP TABLE now AS SELECT * FROM rows WHERE id > 5;

-- The interval holds what a training of the rows as they are now finds, and so do those of scores.
CREATE FUNCTION pg_temp.check(options jsonb, label text, weight text) RETURNS TABLE (status text, rows bigint, overlap boolean, narrow boolean,
  held boolean, certain boolean, changed boolean) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format('WITH m AS MATERIALIZED (SELECT train_margin(%1$s, x%2$s, %3$L::jsonb || ''{"tolerance": 1e-9}'' ORDER BY id) AS model FROM old),
      u AS MATERIALIZED (SELECT margin_update(model, %1$s, x, removed%2$s) AS model FROM m, changes),
      best AS MATERIALIZED (SELECT train_margin(%1$s, x%2$s, %3$L::jsonb || ''{"tolerance": 1e-9}'' ORDER BY id) AS model FROM now)
    SELECT (u.model).status, (u.model).rows, a.lower <= b.upper AND b.lower <= a.upper, a.relative_gap < 0.1,
      (SELECT bool_and(i.lower[1] <= s[1] AND s[1] <= i.upper[1]) FROM rows, margin_score_intervals(u.model, x) AS i, margin_scores(best.model, x) AS s),
      (SELECT avg(i.certain::int) > 0.8 FROM rows, margin_score_intervals(u.model, x) AS i),
      (SELECT bool_or(i.certain AND margin_predict(m.model, x) <> margin_predict(best.model, x)) FROM rows, margin_score_intervals(u.model, x) AS i)
    FROM m, u, best, margin_certificate(u.model) AS a, margin_certificate(best.model) AS b', label, weight, options);
END $$;
SELECT * FROM pg_temp.check('{"lambda": 0.05, "loss": "logistic"}', 'y', '');
SELECT * FROM pg_temp.check('{"lambda": 0.05, "loss": "hinge"}', 'y', '');
SELECT * FROM pg_temp.check('{"lambda": 0.05, "loss": "logistic"}', 'y', ', w');
SELECT * FROM pg_temp.check('{"lambda": 0.05, "loss": "squared_hinge"}', 'k', '');
SELECT * FROM pg_temp.check('{"lambda": 0.05, "loss": "squared", "intercept": false}', 't', '');

-- Nothing changed; all is gone; one update after the other; in parallel pieces; no rows.
CREATE TEMP TABLE m AS SELECT train_margin(y, x, '{"lambda": 0.05, "loss": "logistic", "history": true, "dual_weights": true}' ORDER BY id) AS model FROM old;
SELECT (u).status, (u).rows, (u).support IS NULL AND (u).history IS NULL AND (u).dual_weights IS NULL AS gone, (u).weights = (model).weights AS weights,
  abs((u).primal - (model).primal) < 1e-12 AS primal
FROM m, (SELECT margin_update(model, y, x, true, 0) AS u FROM m, old) AS a;
SELECT (u).status, (u).rows, (u).dual, (u).ball IS NULL AS ball FROM (SELECT margin_update(model, y, x, true) AS u FROM m, old) AS a;
SELECT bool_and(abs(a.lower - b.lower) < 1e-6 AND abs(a.upper - b.upper) < 1e-6) AS same
FROM (SELECT margin_update(model, y, x, removed) AS u FROM m, changes) AS once,
  (SELECT margin_update(model, y, x, false) AS u FROM (SELECT margin_update(model, y, x, true) AS model FROM m, changes WHERE removed) AS a, changes WHERE NOT removed) AS twice,
  rows, margin_score_interval(once.u, x) AS a, margin_score_interval(twice.u, x) AS b;
SELECT margin_update(model, y, x, removed) IS NULL AS nothing FROM m, changes WHERE false;
SELECT (margin_update(model, y, x, removed)).rows FROM m, (SELECT y, x, removed FROM changes UNION ALL SELECT NULL, x, false FROM changes UNION ALL SELECT y, NULL, false FROM changes) AS c;
SELECT c.status IN ('optimal', 'updated') AS status, margin_summary(margin_from_json(margin_to_json(u))) LIKE '%objective:%' AS summary
FROM (SELECT margin_update(model, y, x, removed) AS u FROM m, changes) AS a, margin_certificate(u) AS c;

-- What it does not take.
SET client_min_messages = error;
SELECT margin_update(model, y, x, NULL) FROM m, changes;
SELECT margin_update(model, 'x'::text, x, false) FROM m, changes;
SELECT margin_update(model, y, '{1}'::float8[], false) FROM m, changes;
SELECT margin_update(model, y, x, false, -1) FROM m, changes;
SELECT margin_update(train, y, x, false) FROM (SELECT train_margin(y, x) AS train FROM old WHERE id < 3) AS m, changes;
SELECT margin_update(train, y, x, false) FROM (SELECT train_margin(y, x, '{"lambda": 0.05, "intercept": "free"}') AS train FROM old) AS m, changes;
SELECT margin_update(train, y, x, false) FROM (SELECT train_margin(y, x, '{"lambda": 0.05, "class_weight": "balanced"}') AS train FROM old) AS m, changes;
SELECT margin_update(train, k, x, false) FROM (SELECT train_margin(k, x, '{"lambda": 0.05, "loss": "logistic", "multiclass": "joint"}') AS train FROM old) AS m, changes;
SELECT margin_update(margin_from_json(margin_to_json(model) - 'ball'), y, x, false) FROM m, changes;
SELECT margin_update(train, y, margin_sparse(ARRAY[7, 90000], ARRAY[1, x[1]], 100000), false) FROM changes,
  (SELECT train_margin(y, margin_sparse(ARRAY[id % 5 + 1, 90000], ARRAY[1, x[1]], 100000), '{"lambda": 0.05}') AS train FROM old) AS m;

-- The curvature of the objective: narrower intervals, of the model and of what margin_update makes of it, and they hold.
CREATE FUNCTION pg_temp.curved(options jsonb, label text, weight text, given text) RETURNS TABLE (status text, carried boolean, narrow boolean,
  held boolean, certain boolean, changed boolean, higher boolean) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format('WITH m AS MATERIALIZED (SELECT train_margin(%1$s, x%2$s, %3$L::jsonb || ''{"tolerance": 1e-9}'' ORDER BY id) AS model FROM old),
      c AS MATERIALIZED (SELECT margin_with_curvature(model, %1$s, x%4$s) AS model FROM m, old),
      u AS MATERIALIZED (SELECT margin_update(model, %1$s, x, removed%2$s) AS model FROM c, changes),
      p AS MATERIALIZED (SELECT margin_update(model, %1$s, x, removed%2$s) AS model FROM m, changes),
      best AS MATERIALIZED (SELECT train_margin(%1$s, x%2$s, %3$L::jsonb || ''{"tolerance": 1e-9}'' ORDER BY id) AS model FROM now)
    SELECT (u.model).status, (u.model).curvature IS NOT NULL,
      (SELECT avg(i.upper[1] - i.lower[1]) < 0.3 * avg(j.upper[1] - j.lower[1]) FROM rows, margin_score_intervals(u.model, x) AS i, margin_score_intervals(p.model, x) AS j),
      (SELECT bool_and(i.lower[1] <= s[1] + 1e-6 AND s[1] - 1e-6 <= i.upper[1]) FROM rows, margin_score_intervals(u.model, x) AS i, margin_scores(best.model, x) AS s),
      (SELECT avg(i.certain::int) > 0.95 FROM rows, margin_score_intervals(u.model, x) AS i),
      (SELECT bool_or(i.certain AND margin_predict(m.model, x) <> margin_predict(best.model, x)) FROM rows, margin_score_intervals(u.model, x) AS i),
      (u.model).dual > (p.model).dual
    FROM m, u, p, best', label, weight, options, given);
END $$;
SELECT * FROM pg_temp.curved('{"lambda": 0.005, "loss": "logistic"}', 'y', '', ', ''{"share": 0.05}''');
SELECT * FROM pg_temp.curved('{"lambda": 0.005, "loss": "logistic"}', 'y', ', w', ', w, ''{"share": 0.05}''');
SELECT * FROM pg_temp.curved('{"lambda": 0.005, "loss": "squared_hinge"}', 'y', '', ', ''{"share": 0.05}''');
SELECT * FROM pg_temp.curved('{"lambda": 0.005, "loss": "logistic"}', 'k', '', ', ''{"share": 0.05}''');
SELECT * FROM pg_temp.curved('{"lambda": 0.005, "loss": "squared", "intercept": false}', 't', '', ', ''{"share": 0.05}''');
CREATE TEMP TABLE c AS SELECT margin_with_curvature(model, y, x) AS model FROM m, old;
SELECT array_dims((c.model).curvature) AS dimensions, (c.model).curvature[1][1] AS weight, (c.model).primal = (m.model).primal AS same, (margin_compact(c.model)).curvature IS NULL AS compact,
  (margin_from_json(margin_to_json(c.model))).curvature = (c.model).curvature AS json
FROM c, m;
SELECT (u).curvature IS NULL AS none FROM (SELECT margin_update(model, y, x, true) AS u FROM c, old WHERE id > 250) AS a;
SELECT margin_with_curvature(model, y, x) IS NULL AS nothing FROM m, old WHERE false;
SELECT (a).curvature = (b).curvature AS same FROM (SELECT margin_with_curvature(model, y, x) AS a, margin_with_curvature(model, y, x, '{}') AS b
  FROM m, (SELECT y, x FROM old UNION ALL SELECT NULL, ARRAY[1.0, 2, 3]) AS r) AS s;
SELECT margin_with_curvature(train, y, x) FROM (SELECT train_margin(y, x, '{"lambda": 0.05}') AS train FROM old) AS m, old;
SELECT margin_with_curvature(model, y, x, '{"share": 2}') FROM m, old;
SELECT margin_with_curvature(model, y, x, NULL) FROM m, old;
SELECT margin_score_interval(margin_from_json(margin_to_json(model) || '{"curvature": [[1, 2, 3]]}'), x) FROM m, old WHERE id = 6;
SELECT margin_with_curvature(model, y, x) FROM m, (SELECT * FROM old WHERE id > 1) AS r;

-- The interval at another lambda, of an update whose lower end the curvature raised: its own lambda, next to it, others.
CREATE TEMP TABLE twelve AS SELECT i AS id, CASE WHEN i IN (2, 7, 8, 9, 12) THEN -1 ELSE 1 END AS y,
  ARRAY[(ARRAY[-0.9, -0.7, 0.8, -1.3, -1.1, 0.3, 1.8, 1, 1.1, -1.8, 0.7, 0.3]::float8[])[i]] AS x FROM generate_series(1, 12) AS i;
CREATE TEMP TABLE raised AS SELECT margin_update(m, 1, '{-0.3}'::float8[], false) AS u FROM (SELECT margin_with_curvature((SELECT train_margin(y, x,
  '{"loss": "squared_hinge", "lambda": 1e-5, "intercept": false, "tolerance": 0.1}' ORDER BY id) FROM twelve), y, x, '{"share": 0.2}') AS m FROM twelve) AS a;
SELECT (u).status, l, g.lower = (u).dual AND g.upper = (u).primal AS own, g.lower <= c.upper AND c.lower <= g.upper AS overlap, g.relative_gap < 0.01 AS narrow
FROM raised, unnest('{1e-5, 1.0000001e-5, 1e-4, 1e-6}'::float8[]) AS l, margin_gap_at(u, l) AS g, margin_certificate((SELECT train_margin(y, x,
  jsonb_build_object('loss', 'squared_hinge', 'lambda', l, 'intercept', false, 'tolerance', 1e-9)) FROM (SELECT y, x FROM twelve UNION ALL SELECT 1, '{-0.3}') AS r)) AS c;
-- The same where dual weights prove nothing any more, and the stored lower end is 0.
SELECT (u).status, g.lower <= c.upper AND c.lower <= g.upper AS overlap, g.lower <= g.upper AS ordered
FROM (SELECT margin_update(train_margin, y, x, false) AS u FROM (SELECT train_margin(y, x, '{"lambda": 1e-4, "loss": "logistic"}') FROM rows WHERE id <= 30) AS t, rows WHERE id = 31 GROUP BY train_margin) AS a,
  margin_gap_at(u, 1e-4) AS g, margin_certificate((SELECT train_margin(y, x, '{"lambda": 1e-4, "loss": "logistic"}') FROM rows WHERE id <= 31)) AS c;

-- A chain in which most of the weight goes, twice: the sums that remain carry their errors.
CREATE TEMP TABLE falling (i integer, y float8, x float8[], w float8);
INSERT INTO falling VALUES (0, 0, '{0.5}', 1e8), (5, 0, '{0.1}', 1000), (1, 1, '{0.1}', 0.3), (2, -1, '{-0.2}', 0.3), (3, 1, '{0.4}', 0.3), (4, -1, '{0.3}', 0.3);
CREATE TEMP TABLE chain AS SELECT 0 AS step, train_margin(y, x, w, '{"loss": "squared", "lambda": 1e12, "tolerance": 1e-9}' ORDER BY i) AS m FROM falling;
INSERT INTO chain SELECT 1, margin_update(m, y, x, true, w) FROM chain, falling WHERE step = 0 AND i = 0;
INSERT INTO chain SELECT 2, margin_update(m, y, x, true, w) FROM chain, falling WHERE step = 1 AND i = 5;
-- P* is 1 − 2e-14 but for less.
SELECT (m).status, (m).rows, (m).dual <= 1 - 1.9e-14 AND (m).primal >= 1 - 2.1e-14 AS held, (m).gap < 1e-9 AS narrow, (m).ball[1][1] AS weight, abs((m).ball[2][1]) < 1e-13 AS rest,
  (m).ball[2][2] < 1e-18 AS error FROM chain WHERE step = 2;

-- More goes than there is.
SELECT margin_update(m, y, x, true, w) FROM chain, falling, generate_series(1, 3) WHERE step = 0;
SELECT margin_update(m, y, x, true, 2 * w) FROM chain, falling WHERE step = 0;
-- A ball of a build that said nothing of its errors: it can be read, but goes no further.
CREATE TEMP TABLE earlier AS SELECT margin_from_json(jsonb_set(margin_to_json(m), '{ball}', jsonb_build_array(margin_to_json(m) -> 'ball' -> 0))) AS m FROM chain WHERE step = 0;
SELECT i.lower <= i.upper AS interval, g.lower <= g.upper AS another_lambda FROM earlier, margin_score_interval(m, '{0.5}'::float8[]) AS i, margin_gap_at(m, 1e11) AS g;
SELECT margin_update(m, y, x, true, w) FROM earlier, falling;
SELECT margin_with_curvature(m, y, x, w, '{}') FROM earlier, falling;
SELECT margin_influence(m, y, x) FROM earlier, falling;
SELECT margin_update(margin_from_json(jsonb_set(margin_to_json(m), '{ball,1,1}', '-1')), y, x, true, w) FROM chain, falling;

-- Models by scans have a ball, too: the same changes, of rows that were never all in memory.
SELECT loss, (u.m).status, (u.m).rows, a.lower <= b.upper AND b.lower <= a.upper AS overlap, a.relative_gap < 0.2 AS narrow,
       (SELECT bool_and(i.lower[1] <= s[1] AND s[1] <= i.upper[1]) FROM rows, margin_score_intervals(u.m, x) AS i, margin_scores(best.m, x) AS s) AS held
  FROM unnest(ARRAY['logistic', 'squared_hinge', 'hinge', 'smoothed_hinge']) AS loss,
       LATERAL (SELECT train_margin_from('SELECT y, x FROM old', jsonb_build_object('loss', loss, 'lambda', 0.05, 'sample_rows', 60, 'tolerance', 1e-6)) AS m OFFSET 0) AS s,
       LATERAL (SELECT margin_update(s.m, y, x, removed) AS m FROM changes) AS u,
       LATERAL (SELECT train_margin(y, x, jsonb_build_object('loss', loss, 'lambda', 0.05, 'tolerance', 1e-9)) AS m FROM now) AS best,
       margin_certificate(u.m) AS a, margin_certificate(best.m) AS b;

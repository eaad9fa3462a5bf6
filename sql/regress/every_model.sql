-- Models of every kind: as JSON and back to the bit; the interval at their own lambda; a question that can be read again, or none.
SET margin.log_level = 'off';
SET client_min_messages = error;
CREATE TEMP TABLE d AS SELECT i AS id, ARRAY[sin(i), cos(3 * i), sin(i * i)] AS x, sin(i) + cos(3 * i) > 0.2 AS y, i % 3 AS k, 2 * sin(i) - cos(3 * i) AS t,
  (i * 7) % 4 AS n, 1 + i % 2 AS w, margin_sparse(ARRAY[i % 5 + 1, 90000], ARRAY[1, sin(i)], 100000) AS s FROM generate_series(1, 60) AS i;
CREATE TEMP TABLE kinds (kind text, m margin_model);
CREATE FUNCTION pg_temp.make(kind text, label text, options jsonb, features text DEFAULT 'x') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('INSERT INTO kinds SELECT %L, train_margin(%s, %s, %L::jsonb ORDER BY id) FROM d', kind, label, features, options);
END $$;
SELECT count(pg_temp.make(l, 'y', jsonb_build_object('loss', l, 'lambda', 0.05, 'history', true, 'dual_weights', true)))
FROM unnest('{hinge,squared_hinge,smoothed_hinge,logistic}'::text[]) AS l;
SELECT count(pg_temp.make(l, 't', jsonb_build_object('loss', l, 'lambda', 0.05, 'intercept', 'penalized')))
FROM unnest('{squared,absolute,epsilon_insensitive,squared_epsilon_insensitive,huber,quantile}'::text[]) AS l;
SELECT count(pg_temp.make(kind, label, options::jsonb)) FROM (VALUES
  ('poisson', 'n', '{"loss": "poisson", "lambda": 0.1}'), ('three', 'k', '{"loss": "logistic", "lambda": 0.1, "dual_weights": true}'),
  ('joint', 'k', '{"loss": "logistic", "lambda": 0.1, "multiclass": "joint"}'), ('joint two', 'y', '{"loss": "logistic", "lambda": 0.1, "multiclass": "joint"}'),
  ('free', 'y', '{"loss": "logistic", "lambda": 0.1, "intercept": "free"}'), ('no intercept', 'y', '{"loss": "hinge", "lambda": 0.1, "intercept": false}'),
  ('early', 'y', '{"loss": "hinge", "lambda": 0.001, "max_iterations": 1}'), ('hard', 'y', '{}'), ('hard 1', 'y', '{"norm": 1}'), ('hard 1.5', 'k', '{"norm": 1.5}'),
  ('stumps', 'y', '{"norm": 1, "learners": "stumps"}'), ('rbf', 'y', '{"kernel": "rbf", "lambda": 0.1}'), ('rbf hard', 'y', '{"kernel": "rbf"}'),
  ('ntk', 't', '{"kernel": "ntk", "lambda": 0.1, "loss": "squared"}'), ('interpolation', 't', '{"loss": "interpolate"}'),
  ('lambda 0', 'y', '{"loss": "logistic", "lambda": 0}'), ('least squares', 't', '{"loss": "squared", "lambda": 0}'),
  ('lasso', 't', '{"loss": "squared", "lambda": 0.1, "l1_ratio": 1}'), ('logistic lasso', 'y', '{"loss": "logistic", "lambda": 0.01, "l1_ratio": 1}'),
  ('elastic net', 't', '{"loss": "squared", "lambda": 0.1, "l1_ratio": 0.5}'), ('factors', 't', '{"loss": "squared", "lambda": 0.1, "l1_ratio": 0.5, "penalty_factor": [1, 2, 0.5]}'),
  ('positive', 't', '{"loss": "squared", "lambda": 0.1, "l1_ratio": 0.5, "positive": true}'), ('standardized', 't', '{"loss": "squared", "lambda": 0.1, "standardize": true}'),
  ('calibrated', 'y', '{"loss": "hinge", "lambda": 0.1, "calibration": "platt"}'), ('isotonic', 'y', '{"loss": "hinge", "lambda": 0.1, "calibration": "isotonic"}'),
  ('offset', 't', '{"loss": "squared", "lambda": 0.1, "offset_feature": 2}'), ('balanced', 'y', '{"loss": "logistic", "lambda": 0.1, "class_weight": "balanced"}'),
  ('class weights', 'y', '{"loss": "logistic", "lambda": 0.1, "class_weight": {"true": 3}}')) AS v(kind, label, options);
SELECT count(pg_temp.make(kind, 'y', options::jsonb, 's')) FROM (VALUES ('wide', '{"lambda": 0.05}'), ('sparse rbf', '{"lambda": 0.05, "kernel": "rbf"}')) AS v(kind, options);
INSERT INTO kinds SELECT 'one class', train_one_class(x, '{"nu": 0.1}') FROM d;
INSERT INTO kinds SELECT 'one class rbf', train_one_class(x, '{"nu": 0.1, "kernel": "rbf"}') FROM d;
INSERT INTO kinds SELECT 'encoder', train_margin(y, r, '{"lambda": 0.05, "loss": "logistic"}') FROM (SELECT y, x[1] AS a, CASE WHEN id % 3 = 0 THEN 'u' WHEN id % 3 = 1 THEN 'v' END AS b FROM d) AS r;
INSERT INTO kinds SELECT 'weighted', train_margin(y, x, w, '{"lambda": 0.05, "loss": "logistic"}') FROM d;
INSERT INTO kinds SELECT 'path of ' || l || ' ' || k, p[k] FROM (SELECT l, margin_path(t, x, jsonb_build_object('loss', 'squared', 'lambdas', '[0.1, 0.01]'::jsonb, 'l1_ratio', l)) AS p
  FROM d, unnest('{0,0.5,1}'::float8[]) AS l GROUP BY l) AS a, generate_subscripts(p, 1) AS k;
INSERT INTO kinds SELECT 'chosen', train_margin(y, x, (SELECT (margin_cross_validate(y, x, '{"loss": "logistic", "lambdas": [0.1, 0.01]}')).options FROM d)) FROM d;
INSERT INTO kinds SELECT 'from rows', train_margin_from('SELECT y, x FROM d', '{"lambda": 0.05, "loss": "logistic"}');
INSERT INTO kinds SELECT 'from scans', train_margin_from('SELECT y, x FROM d', '{"lambda": 0.05, "loss": "logistic", "sample_rows": 20}');
INSERT INTO kinds SELECT 'scans between bounds', train_margin_from('SELECT y, x FROM d', '{"lambda": 0.05, "loss": "logistic", "sample_rows": 20, "bounds": {"1": [0.1, 0.2]}}');
INSERT INTO kinds SELECT 'scans beside an offset', train_margin_from('SELECT y, x FROM d', '{"lambda": 0.05, "loss": "logistic", "sample_rows": 20, "offset_feature": 2}');
INSERT INTO kinds SELECT 'scans under constraints', train_margin_from('SELECT y, x FROM d', '{"lambda": 0.05, "loss": "hinge", "sample_rows": 20, "constraints": {"weights": {"1": 1, "2": 1}, "max": 0.1}}');
INSERT INTO kinds SELECT 'updated', margin_update(m, y, x, id % 2 = 0) FROM kinds, d WHERE kind = 'logistic' AND id < 7;
INSERT INTO kinds SELECT 'updated twice', margin_update(m, y, x, true) FROM kinds, d WHERE kind = 'updated' AND id = 8;
INSERT INTO kinds SELECT 'updated three', margin_update(m, k, x, id % 2 = 0) FROM kinds, d WHERE kind = 'three' AND id < 4;
INSERT INTO kinds SELECT 'most removed', margin_update(m, y, x, true) FROM kinds, d WHERE kind = 'logistic' AND id <= 58;
INSERT INTO kinds SELECT 'all removed', margin_update(m, y, x, true) FROM kinds, d WHERE kind = 'logistic';
INSERT INTO kinds SELECT 'curvature', margin_with_curvature(m, y, x) FROM kinds, d WHERE kind = 'logistic';
INSERT INTO kinds SELECT 'updated curvature', margin_update(m, y, x, id % 2 = 0) FROM kinds, d WHERE kind = 'curvature' AND id < 4;
INSERT INTO kinds SELECT 'curvature of updated', margin_with_curvature(m, y, x) FROM kinds, (SELECT y, x FROM d WHERE id >= 7 OR id % 2 = 1 UNION ALL SELECT y, x FROM d WHERE id < 7 AND id % 2 = 1) AS r
  WHERE kind = 'updated';
INSERT INTO kinds SELECT 'compact', margin_compact(m) FROM kinds WHERE kind = 'curvature';
SELECT count(*), array_agg(DISTINCT (m).status ORDER BY (m).status) AS statuses FROM kinds;
SELECT kind FROM kinds WHERE (m).status IN ('updated', 'retrain') ORDER BY kind;

-- Nothing is lost on the way through JSON.
SELECT kind FROM kinds WHERE margin_from_json(margin_to_json(m)) IS DISTINCT FROM m OR margin_from_json(margin_to_json(m)::text::jsonb)::text <> m::text;

-- At its own lambda a model's interval is what it says itself, or narrower; next to it nearly the same.
CREATE FUNCTION pg_temp.own(m margin_model) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  g record;
  near record;
BEGIN
  g := margin_gap_at(m, (m).lambda);
  near := margin_gap_at(m, (m).lambda * (1 + 1e-9));
  RETURN CASE WHEN g.upper = (m).primal AND g.lower >= greatest(0, (m).dual) AND g.lower <= g.upper AND abs(near.upper - g.upper) < 1e-8 AND near.lower > g.lower - 1e-8
              THEN 'holds' ELSE 'contradicts' END;
EXCEPTION WHEN feature_not_supported THEN
  RETURN regexp_replace(SQLERRM, '.*: ', '');
END $$;
SELECT pg_temp.own(m) AS own, count(*), string_agg(kind, ', ' ORDER BY kind) AS kinds FROM kinds WHERE (m).lambda IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1;

-- The question about a model is a value like any other, or it is refused.
CREATE FUNCTION pg_temp.asked(m margin_model) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN CASE WHEN margin_question(NULL, m)::text::margin_question IS NOT NULL THEN 'reads' END;
EXCEPTION WHEN feature_not_supported THEN
  RETURN SQLERRM;
END $$;
SELECT pg_temp.asked(m) AS question, count(*), string_agg(kind, ', ' ORDER BY kind) AS kinds FROM kinds GROUP BY 1 ORDER BY 2 DESC, 1;

-- Never NaN, however long a row is.
CREATE FUNCTION pg_temp.of_long_row(m margin_model, x float8[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  i record;
  moved float8;
BEGIN
  i := margin_score_intervals(m, x);
  IF (m).classes IS NULL THEN
    moved := margin_influence(m, 0.5, x);
  ELSE
    moved := margin_influence(m, (m).classes[1], x);
  END IF;
  RETURN CASE WHEN 'NaN' = ANY (i.lower) OR 'NaN' = ANY (i.upper) OR moved = 'NaN' OR moved < 0 THEN 'NaN' ELSE 'none' END;
EXCEPTION WHEN feature_not_supported THEN
  RETURN 'refused';
END $$;
SELECT pg_temp.of_long_row(m, v) AS nan, count(*) > 0 AS some
FROM kinds, (VALUES ('{1.7e308,1.7e308,-1.7e308}'::float8[]), ('{1.7e308,0,0}'), ('{0,-1.7e308,1e-300}')) AS r(v) WHERE kind NOT IN ('wide', 'sparse rbf', 'encoder') GROUP BY 1 ORDER BY 1;

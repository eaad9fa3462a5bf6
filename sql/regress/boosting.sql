-- l1 margins: exact, in rounds, and of decision stumps.
SET client_min_messages = error;
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  RETURN sqlstate || ' ' || sqlerrm;
END $$;

CREATE TEMP TABLE points AS
  SELECT i, x, y, CASE WHEN 2 * x - y > 0.25 THEN 'yes' ELSE 'no' END AS side,
         CASE WHEN x > 0.5 THEN 'right' WHEN y > 0.5 THEN 'top' ELSE 'rest' END AS room
    FROM (SELECT i, (i * 37 % 101) / 50.0 - 1 AS x, (i * 61 % 103) / 51.0 - 1 AS y FROM generate_series(1, 200) i) p
   WHERE abs(2 * x - y - 0.25) > 0.2 AND abs(x - 0.5) > 0.05 AND abs(y - 0.5) > 0.05;

-- Features: certified, of norm 1, verified.
CREATE TEMP TABLE exact AS
  SELECT train_margin(side, ARRAY[x, y], margin_options(norm => 1, tolerance => 1e-9, dual_weights => true)) AS m FROM points;
SELECT (m).solver, (m).norm, (m).status, round((m).margin_lower::numeric, 8) AS lower,
       (m).margin_upper - (m).margin_lower < 1e-9 AS closed,
       round((SELECT sum(abs(w)) FROM unnest((m).weights) w)::numeric, 12) AS norm_1, (m).stumps IS NULL AS linear
  FROM exact;
SELECT v.errors, abs(v.margin_lower - (m).margin_lower) < 1e-14 AS lower, abs(v.margin_upper - (m).margin_upper) < 1e-14 AS upper
  FROM exact, LATERAL (SELECT (margin_verify(m, side, ARRAY[x, y])).* FROM points) v;
SELECT margin_summary(m) ~ 'norm 1' AS says_norm, (margin_certificate(m)).distance IS NULL AS no_distance FROM exact;
-- In rounds, with every step and loss: the same margin is enclosed.
SELECT s, l, (t.m).solver, (t.m).margin_lower <= (e.m).margin_upper AND (t.m).margin_upper >= (e.m).margin_lower AS encloses
  FROM exact e, unnest('{quadratic,wolfe,adaboost,optimal}'::text[]) s, unnest('{exponential,logistic}'::text[]) l,
       LATERAL (SELECT train_margin(side, ARRAY[x, y], margin_options(norm => 1, solver => 'boosting', step => s, loss => l,
                  shrinkage => 0.5, max_iterations => 300, tolerance => 0.05)) AS m FROM points) t
 ORDER BY s, l;

-- Stumps: three rooms, cut along the axes.
CREATE TEMP TABLE stumps AS
  SELECT train_margin(room, ARRAY[x, y], margin_options(norm => 1, learners => 'stumps', tolerance => 0.1)) AS m FROM points;
SELECT (m).solver, (m).status, (m).dimensions, array_length((m).weights, 1) AS outputs,
       array_length((m).weights, 2) = array_length((m).stumps, 1) AS one_weight_each, array_length((m).stumps, 2) AS columns,
       (m).margin_lower > 0 AS separates
  FROM stumps;
SELECT (margin_evaluate(m, room, ARRAY[x, y])).accuracy FROM stumps, points;
SELECT v.errors, abs(v.margin_lower - (m).margin_lower) < 1e-14 AS lower, v.margin_upper IS NULL AS no_upper
  FROM stumps, LATERAL (SELECT (margin_verify(m, room, ARRAY[x, y])).* FROM points) v;
-- Sparse rows: the same model.
SELECT (train_margin(room, ARRAY[x, y]::float8[]::margin_sparse, margin_options(norm => 1, learners => 'stumps', tolerance => 0.1))).stumps
       = (SELECT (m).stumps FROM stumps) AS same FROM points;
-- A model travels as jsonb.
SELECT margin_from_json(margin_to_json(m)) = m AS same,
       (SELECT bool_and(margin_predict(margin_from_json(margin_to_json(m)), ARRAY[x, y]) = margin_predict(m, ARRAY[x, y]))
          FROM points) AS predicts_alike
  FROM stumps;
SELECT margin_summary(m) ~ '\(feature [12] > ' AS shows_stumps FROM stumps;
SELECT (margin_certificate(m)).objective FROM stumps;
-- Rounds are counted for each output: those of the last are as many as those of the first.
SELECT s AS learners, (m).iterations <= 3 * 40 AS within, (m).iterations > 2 * 40 AS each
  FROM unnest('{features,stumps}'::text[]) s,
       LATERAL (SELECT train_margin(room, ARRAY[x, y], margin_options(norm => 1, learners => s, solver => 'boosting', max_iterations => 40, tolerance => 0)) AS m FROM points) t;
-- One threshold is enough where one column parts the rows: it lies in the gap.
SELECT (m).weights, (m).stumps, (m).intercept, (m).margin_lower > 0.999 AND (m).margin_upper <= 1 AS margin_1
  FROM (SELECT train_margin(x > 2, ARRAY[0, x], margin_options(norm => 1, learners => 'stumps')) AS m
          FROM unnest('{1,2,4,5}'::float8[]) x) t;

-- Trees of depth 2 tell a checkerboard apart, of which stumps say nothing: one tree does, as the certificate knows.
CREATE TEMP TABLE board AS SELECT i AS id, ARRAY[i % 4, i / 4]::float8[] AS x, (i % 4 < 2) = (i / 4 < 2) AS y FROM generate_series(0, 15) AS i;
SELECT learners, (m).status, round((m).margin_lower::numeric, 9) AS lower, round((m).margin_upper::numeric, 9) AS upper, (m).stumps
  FROM unnest('{stumps,trees}'::text[]) AS learners, LATERAL (SELECT train_margin(y, x, margin_options(norm => 1, learners => learners) ORDER BY id) AS m FROM board) AS s;
CREATE TEMP TABLE trees AS
  SELECT train_margin(room, ARRAY[x, y], margin_options(norm => 1, learners => 'trees', tolerance => 0.1)) AS m FROM points;
SELECT (m).status, array_length((m).weights, 2) = array_length((m).stumps, 1) AS one_weight_each, array_length((m).stumps, 2) AS columns, (m).margin_lower > (SELECT (m).margin_upper FROM stumps) AS better
  FROM trees;
SELECT (margin_evaluate(m, room, ARRAY[x, y])).accuracy FROM trees, points;
SELECT v.errors, abs(v.margin_lower - (m).margin_lower) < 1e-14 AS lower, v.margin_upper IS NULL AS no_upper
  FROM trees, LATERAL (SELECT (margin_verify(m, room, ARRAY[x, y])).* FROM points) v;
SELECT (train_margin(room, ARRAY[x, y]::float8[]::margin_sparse, margin_options(norm => 1, learners => 'trees', tolerance => 0.1))).stumps
       = (SELECT (m).stumps FROM trees) AS same FROM points;
SELECT margin_from_json(margin_to_json(m)) = m AS same,
       (SELECT bool_and(margin_predict(margin_from_json(margin_to_json(m)), ARRAY[x, y]) = margin_predict(m, ARRAY[x, y])) FROM points) AS predicts_alike
  FROM trees;
SELECT margin_summary(m) ~ '\(feature [12] > [-0-9.]+ \? .* : .*\)' AS shows_trees, (margin_certificate(m)).objective FROM trees;
SELECT pg_temp.error_of(format($$SELECT margin_from_json(jsonb_set(margin_to_json(m), '{stumps,0}', %L)) FROM trees$$, row))
  FROM unnest('{"[3,0,1,0,1,0]","[1,0,-3,0,1,0]","[1,0,0,0.5,1,0]","[1,0,0,1,1.5,0]","[1,0,1,0]"}'::text[]) AS row;
SELECT pg_temp.error_of($$SELECT margin_from_json(jsonb_set(margin_to_json(m), '{options,learners}', '"stumps"')) FROM trees$$);
SELECT pg_temp.error_of($$SELECT margin_weights(m) FROM trees$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(learners => 'trees')) FROM board$$);
SELECT pg_temp.error_of($$SELECT train_margin(i % 2 = 0, array_fill(i::float8, ARRAY[8000]), margin_options(norm => 1, learners => 'trees')) FROM generate_series(1, 30) AS i$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"norm": 1, "max_depth": 2}') FROM board$$);

-- Shalev-Shwartz and Singer's rounds end at an absolute gap, with an interval that holds the exact margin.
SELECT (m).solver, (m).status, (m).margin_upper - (m).margin_lower <= 0.05 AS narrow, (m).margin_lower <= (e).margin_upper AND (m).margin_upper >= (e).margin_lower AS encloses
  FROM (SELECT train_margin(side, ARRAY[x, y], margin_options(norm => 1, solver => 'boosting', step => 'frank_wolfe', gap_tolerance => 0.05, tolerance => 0)) AS m,
               (SELECT m FROM exact) AS e FROM points) AS s;
SELECT pg_temp.error_of(format($$SELECT train_margin(side, ARRAY[x, y], margin_options(norm => 1, solver => 'boosting', step => 'frank_wolfe', %s)) FROM points$$, o))
  FROM (VALUES ('tolerance => 0.1'), ('gap_tolerance => 0.1, shrinkage => 0.5'), ($$gap_tolerance => 0.1, loss => 'logistic'$$)) AS v (o);

-- What is refused.
SELECT pg_temp.error_of($$SELECT margin_weights(m) FROM stumps$$);
SELECT pg_temp.error_of($$SELECT margin_pmml(m) FROM stumps$$);
SELECT pg_temp.error_of($$SELECT margin_predict(m, ARRAY[1, 'NaN'::float8]) FROM stumps$$);
SELECT pg_temp.error_of($$SELECT margin_predict(m, ARRAY[1, 2, 3]) FROM stumps$$);
SELECT pg_temp.error_of($$SELECT margin_from_json(jsonb_set(margin_to_json(m), '{stumps,0,0}', '3')) FROM stumps$$);
SELECT pg_temp.error_of($$SELECT margin_from_json(jsonb_set(margin_to_json(m), '{stumps}', '[[1, 0.5]]')) FROM stumps$$);
SELECT pg_temp.error_of($$SELECT train_margin(room, ARRAY[x, y], margin_options(learners => 'stumps')) FROM points$$);
SELECT pg_temp.error_of($$SELECT margin_predict(jsonb_populate_record(m, '{"kernel": "rbf"}'), ARRAY[1, 2]) FROM stumps$$);
SELECT pg_temp.error_of($$SELECT train_margin(room, ARRAY[x, y], margin_options(norm => 1, learners => 'stumps', standardize => true)) FROM points$$);
SELECT pg_temp.error_of($$SELECT train_margin(room, ARRAY[x, y], margin_options(norm => 1, learners => 'stumps', working_set => true)) FROM points$$);
SELECT pg_temp.error_of($$SELECT train_margin(room, ARRAY[x, y], margin_options(norm => 1, step => 'theory')) FROM points$$);
SELECT pg_temp.error_of($$SELECT train_margin(room, ARRAY[x, y], margin_options(norm => 1, lambda => 1)) FROM points$$);
SELECT pg_temp.error_of($$SELECT train_margin(room, ARRAY[x, y], margin_options(norm => 1, solver => 'momentum')) FROM points$$);

-- margin_options: only what is given, checked at once; and the same options as plain jsonb.
-- What a statement raises: SQLSTATE, message, detail, hint.
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE m text; d text; h text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || m || CASE WHEN d <> '' THEN E'\n  DETAIL: ' || d ELSE '' END
                               || CASE WHEN h <> '' THEN E'\n  HINT: ' || h ELSE '' END;
END $$;

SELECT margin_options();
SELECT margin_options(lambda => 0.1, loss => 'logistic');
SELECT margin_options(norm => 2, tolerance => 1e-6, max_iterations => 10, max_seconds => 1.5, intercept => false,
                      intercept_scale => 2, standardize => true, seed => 7, history => true, dual_weights => false,
                      log_level => 'notice', "order" => 'cyclic', output => 'average', start => 'sgd', l1_ratio => 0.5,
                      epsilon => 0.01, smoothing => 0.5, solver => 'sdca', loss => 'hinge', lambda => 1e-4);
SELECT margin_options(norm => 'sparse'), margin_options(norm => 1.2), margin_options(norm => 1),
       margin_options(gamma => 'auto'), margin_options(gamma => 0.5);
SELECT margin_options(shrinkage => 0.5, step => 'wolfe', learners => 'stumps', accelerated => true, working_set => false,
                      kernel => 'linear', degree => 2, coef0 => 1, width => 64, n_components => 500);
-- The arguments are the options of the library, all of them.
SELECT (SELECT proargnames FROM pg_proc WHERE proname = 'margin_options') = array_agg(name) AS all_there FROM margin_option_list();
-- Numbers keep every digit.
SELECT (margin_options(lambda => 0.1::float8 + 0.2::float8)->>'lambda')::float8 = 0.1::float8 + 0.2::float8 AS exact;
-- Class weights: a word, an object, text or jsonb.
SELECT margin_options(class_weight => 'balanced');
SELECT margin_options(class_weight => '{"true": 2, "false": 0.5}');
SELECT margin_options(class_weight => '{"a": 2}'::jsonb), margin_options(class_weight => 'balanced'::text);
-- Penalty factors: an array, an object, text or jsonb.
SELECT margin_options(penalty_factor => ARRAY[1, 0.5]), margin_options(penalty_factor => '{1,0.5}'::real[]), margin_options(penalty_factor => '[1, 0.5]'),
       margin_options(penalty_factor => '{"2": 0.5}'), margin_options(penalty_factor => '{"age": 2}'::jsonb, positive => true, l1_ratio => 1);
-- Folded into the plan: a constant, checked before any row is read.
EXPLAIN (VERBOSE, COSTS OFF) SELECT margin_options(lambda => 0.5);

-- What is refused.
SELECT pg_temp.error_of($$SELECT margin_options(norm => 3)$$);
SELECT pg_temp.error_of($$SELECT margin_options(norm => 0.5)$$);
SELECT pg_temp.error_of($$SELECT margin_options(norm => 'dense')$$);
SELECT pg_temp.error_of($$SELECT margin_options(norm => now())$$);
SELECT pg_temp.error_of($$SELECT margin_options(shrinkage => 1.5)$$);
SELECT pg_temp.error_of($$SELECT margin_options(step => 'large')$$);
SELECT pg_temp.error_of($$SELECT margin_options(learners => 'forests')$$);
SELECT pg_temp.error_of($$SELECT margin_options(gamma => 'large')$$);
SELECT pg_temp.error_of($$SELECT margin_options(gamma => 0)$$);
SELECT pg_temp.error_of($$SELECT margin_options(degree => 0)$$);
SELECT pg_temp.error_of($$SELECT margin_options(coef0 => -1)$$);
SELECT pg_temp.error_of($$SELECT margin_options(width => 0)$$);
SELECT pg_temp.error_of($$SELECT margin_options(lambda => -1)$$);
SELECT pg_temp.error_of($$SELECT margin_options(lambda => 'NaN')$$);
SELECT pg_temp.error_of($$SELECT margin_options(tolerance => -1)$$);
SELECT pg_temp.error_of($$SELECT margin_options(tolerance => 1)$$);
SELECT pg_temp.error_of($$SELECT margin_options(max_iterations => 0)$$);
SELECT pg_temp.error_of($$SELECT margin_options(max_seconds => -0.5)$$);
SELECT pg_temp.error_of($$SELECT margin_options(intercept_scale => 0)$$);
SELECT pg_temp.error_of($$SELECT margin_options(class_weight => 'equal')$$);
SELECT pg_temp.error_of($$SELECT margin_options(class_weight => '{"a": -1}')$$);
SELECT pg_temp.error_of($$SELECT margin_options(class_weight => '{"a": ')$$);
SELECT pg_temp.error_of($$SELECT margin_options(class_weight => 3)$$);
SELECT pg_temp.error_of($$SELECT margin_options(seed => -1)$$);
SELECT pg_temp.error_of($$SELECT margin_options(log_level => 'loud')$$);
SELECT pg_temp.error_of($$SELECT margin_options("order" => 'sorted')$$);
SELECT pg_temp.error_of($$SELECT margin_options(output => 'best')$$);
SELECT pg_temp.error_of($$SELECT margin_options(start => 'warm')$$);
SELECT pg_temp.error_of($$SELECT margin_options(l1_ratio => 1.5)$$);
SELECT pg_temp.error_of($$SELECT margin_options(penalty_factor => ARRAY[1, 0])$$);
SELECT pg_temp.error_of($$SELECT margin_options(penalty_factor => 2)$$);
SELECT pg_temp.error_of($$SELECT margin_options(penalty_factor => ARRAY['NaN'::float8])$$);
SELECT pg_temp.error_of($$SELECT margin_options(epsilon => -0.1)$$);
SELECT pg_temp.error_of($$SELECT margin_options(smoothing => 0)$$);
SELECT pg_temp.error_of($$SELECT margin_options(calibration => 'sigmoid')$$);

-- Plain jsonb is checked by the same rules, when the first row arrives.
CREATE TEMP TABLE t (y boolean, x real[]);
INSERT INTO t VALUES (false, '{0}'), (true, '{2}');
SELECT (train_margin(y, x, '{"tolerance": 1e-6}')).status FROM t;
SELECT (train_margin(y, x, '{"tolerance": null}')).options FROM t;
SELECT pg_temp.error_of($$SELECT (train_margin(y, x, NULL)).options FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"tolerence": 1e-6}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"tolerance": "small"}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"tolerance": [1]}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '[1, 2]') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '"tolerance"') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"history": 1}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"loss": "hingee", "lambda": 1}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"solver": "momentun"}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"solver": "momentum", "lambda": 1}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"loss": "hinge"}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"loss": "hingee"}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"loss": "", "lambda": 1}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"solver": "SDCA"}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"C": 1}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"lambdas": [1]}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"lambda": 1, "class_weight": {"true": 0, "false": 0}}') FROM t$$);
-- One set of options for a group.
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(tolerance => x[1] / 10 + 0.1)) FROM t$$);
SELECT count(*) FROM (SELECT train_margin(y, x, margin_options(tolerance => e)) FROM t, unnest('{1e-3,1e-6}'::float8[]) e GROUP BY e) s;

-- Row weights: the four-argument form. They need a soft margin.
SELECT pg_temp.error_of($$SELECT train_margin(y, x, 2.0, '{}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, NULL, '{"lambda": 1}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, -1, '{"lambda": 1}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, 'NaN', '{"lambda": 1}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, 'Infinity', '{"lambda": 1}') FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, 0, '{"lambda": 1}') FROM t$$);
-- A weight of 2 is the row twice; a weight of 0 is as good as no row.
SELECT round((a).primal::numeric, 6) = round((b).primal::numeric, 6) AS twice
  FROM (SELECT train_margin(y, x, w, '{"lambda": 0.1, "tolerance": 1e-9}') AS a
          FROM (VALUES (true, '{1}'::real[], 2), (false, '{0}', 1), (false, '{5}', 1)) v (y, x, w)) s,
       (SELECT train_margin(y, x, '{"lambda": 0.1, "tolerance": 1e-9}') AS b
          FROM (VALUES (true, '{1}'::real[]), (true, '{1}'), (false, '{0}'), (false, '{5}')) v (y, x)) r;
SELECT round((a).primal::numeric, 6) = round((b).primal::numeric, 6) AS none
  FROM (SELECT train_margin(y, x, w, '{"lambda": 0.1, "tolerance": 1e-9}') AS a
          FROM (VALUES (true, '{1}'::real[], 1), (false, '{0}', 1), (true, '{-7}', 0)) v (y, x, w)) s,
       (SELECT train_margin(y, x, '{"lambda": 0.1, "tolerance": 1e-9}') AS b
          FROM (VALUES (true, '{1}'::real[]), (false, '{0}')) v (y, x)) r;

-- A warm start from a model; the model remembers the other options, not the start.
SELECT (b).status, (b).options FROM
  (SELECT train_margin(y, x, margin_options(lambda => 0.2, initial => a)) AS b FROM t,
     (SELECT train_margin(y, x, margin_options(lambda => 0.1)) AS a FROM t) s) r;

-- Settings of the session.
SHOW margin.log_level;
SHOW margin.memory_limit;
SHOW margin.threads;
SELECT pg_temp.error_of($$SET margin.log_level = 'loud'$$);
SELECT replace(pg_temp.error_of($$SET margin.memory_limit = -2$$), ' kB', '') AS error_of;
SELECT pg_temp.error_of($$SET margin.threads = -1$$);
SELECT pg_temp.error_of($$SET margin.threads = 1000$$);
-- (the prefix is reserved from 15 on)
SELECT current_setting('server_version_num')::int < 150000 OR pg_temp.error_of($$SET margin.no_such_setting = 1$$) ~ '^42602.*reserved prefix' AS refused;
-- Past the limit the features go to a temporary file; what else is kept of a row, and the solver, must fit.
SET margin.memory_limit = '1MB';
SELECT (train_margin(i % 2 = 0, ARRAY(SELECT 1 / (i + j)::real FROM generate_series(1, 1000) j), '{"lambda": 0.1}')).status FROM generate_series(1, 1000) i;
SELECT pg_temp.error_of($$SELECT train_margin(i % 2 = 0, ARRAY(SELECT 1 / (i + j)::real FROM generate_series(1, 1000) j)) FROM generate_series(1, 1000) i$$);
SELECT pg_temp.error_of($$SELECT train_margin(i % 2 = 0, ARRAY[i::real]) FROM generate_series(1, 100000) i$$);
SELECT (train_margin(y, x)).status FROM t;
RESET margin.memory_limit;
SET margin.memory_limit = '300kB';
SELECT regexp_replace(pg_temp.error_of($$SELECT train_margin(i % 2 = 0, ARRAY[i, 1 / i::real], '{"kernel": "rbf"}') FROM generate_series(1, 600) i$$), '[0-9]+ kB', '# kB', 'g');
RESET margin.memory_limit;
SET margin.log_level = notice;
SELECT (train_margin(y, x, margin_options(solver => 'momentum'))).status FROM (VALUES (false, '{0}'::real[]), (true, '{2}')) v (y, x);
RESET margin.log_level;
-- Options of each row, where numbers of 64 bits are passed by value and where they are not; and classes of such labels.
SELECT x, margin_options(nu => x) AS options FROM (VALUES (0.05::float8), (0.3), (1), (0.05)) AS v(x);
SELECT x, margin_options(seed => x) AS options FROM (VALUES (1::bigint), (2), (1)) AS v(x);
SELECT (train_margin((i % 3)::bigint, ARRAY[i % 3], margin_options(lambda => 0.1))).classes, (train_margin((i % 3)::float8, ARRAY[i % 3], margin_options(lambda => 0.1))).classes
  FROM generate_series(1, 9) AS i;

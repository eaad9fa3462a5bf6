-- Every solver, and every option that it does not read: refused with a hint at those who do. The lists are the library's own.
SET client_min_messages = error; -- few iterations must do
CREATE TEMP TABLE flowers AS
  SELECT i, i % 2 = 0 AS y, sin(i) AS t, ARRAY[sin(i) + 3 * (i % 2), cos(i), i % 3]::float8[] AS x FROM generate_series(1, 20) AS i;
-- A problem that a solver takes.
CREATE FUNCTION pg_temp.problem_of(solver text, problem text) RETURNS jsonb LANGUAGE sql AS $$
  SELECT jsonb_build_object('solver', solver, 'max_iterations', 50, 'intercept', CASE WHEN problem = 'soft margin' THEN '"penalized"' WHEN problem = 'one class' THEN 'true' ELSE 'false' END::jsonb)
         || CASE WHEN solver ~ '^(boosting|linear_program)' THEN '{"norm": 1}'
                 WHEN solver = 'kernel_newton' THEN '{"lambda": 0.1, "loss": "logistic"}'
                 WHEN problem LIKE 'soft%' THEN '{"lambda": 0.1}'
                 WHEN problem = 'classes jointly' THEN '{"lambda": 0.1, "multiclass": "joint"}'
                 WHEN problem = 'maximum likelihood' THEN '{"lambda": 0, "loss": "logistic"}'
                 WHEN problem = 'interpolation' THEN '{"loss": "interpolate"}' ELSE '{}' END::jsonb
         || CASE WHEN problem LIKE '%kernel' THEN '{"kernel": "rbf"}' ELSE '{}' END::jsonb $$;
-- The SQLSTATE of a training, and whether its hint says who reads what it refuses.
CREATE FUNCTION pg_temp.outcome(options jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text; m margin_model;
BEGIN
  IF options->>'loss' = 'interpolate' THEN
    m := train_margin(t, x, options ORDER BY i) FROM flowers;
  ELSIF options->>'multiclass' = 'joint' THEN
    IF options ? 'initial' THEN
      options := options || '{"initial": {"weights": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "intercept": [0, 0, 0]}}';
    END IF;
    m := train_margin(i % 3, x, options ORDER BY i) FROM flowers;
  ELSIF options->>'solver' = 'one_class' THEN
    m := train_one_class(x, options ORDER BY i) FROM flowers;
  ELSE
    m := train_margin(y, x, options ORDER BY i) FROM flowers;
  END IF;
  RETURN 'trains';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || CASE WHEN SQLSTATE <> '22023' OR hint = '' THEN '' ELSE ': ' || hint END;
END $$;
-- A value that each option takes. An option that is missing here, or that takes none of its, is a row below.
CREATE TEMP TABLE samples AS SELECT o.name, o.used_by, sample.value
  FROM margin_option_list() AS o LEFT JOIN jsonb_each('{"order": "cyclic", "output": "last", "start": "sgd", "shrinkage": 0.5,
    "step": "quadratic", "learners": "features", "accelerated": false, "working_set": false, "epsilon": 0.5, "smoothing": 0.5, "quantile": 0.9, "gamma": 1,
    "degree": 2, "coef0": 1, "width": 8, "n_components": 5, "intercept_scale": 2, "initial": {"weights": [1, 0, 0], "intercept": [0]}}') AS sample (name, value)
    ON sample.name = o.name;
SELECT s.name AS solver, s.problem,
       string_agg(o.name, ' ' ORDER BY o.name) FILTER (WHERE r.outcome = '22023: It is read by ' || o.used_by || '.') AS refuses,
       string_agg(o.name, ' ' ORDER BY o.name) FILTER (WHERE r.outcome = 'trains') AS reads,
       string_agg(o.name || ' ' || r.outcome, ' ' ORDER BY o.name)
         FILTER (WHERE r.outcome NOT IN ('trains', '22023: It is read by ' || o.used_by || '.')) AS other
  FROM margin_solvers() AS s, samples AS o,
       LATERAL pg_temp.outcome(pg_temp.problem_of(s.name, s.problem) || jsonb_build_object(o.name, o.value)) AS r (outcome)
 WHERE o.value IS NOT NULL GROUP BY s.name, s.problem ORDER BY s.name;
-- The same from the lists: no solver accepts what it does not name, or refuses what it does; but for what a problem refuses (0A000).
SELECT s.name AS solver, o.name AS option, r.outcome
  FROM margin_solvers() AS s, samples AS o,
       LATERAL pg_temp.outcome(pg_temp.problem_of(s.name, s.problem) || jsonb_build_object(o.name, o.value)) AS r (outcome)
 WHERE o.used_by !~ '^(loss|kernel|every|soft margins)' AND o.value IS NOT NULL
   AND r.outcome <> '0A000' AND (r.outcome = 'trains') <> (o.name = ANY (string_to_array(s.options, ', ')));
-- An option without a value here is one that every training reads.
SELECT name, used_by FROM samples WHERE value IS NULL ORDER BY name;
-- NULL is the default, and means nothing.
SELECT pg_temp.outcome('{"solver": "cutting_plane", "shrinkage": null, "gamma": null}') AS outcome;
-- Every name that a model can report is accepted by the option, and means the same method.
SELECT s.name AS solver, n AS named, pg_temp.outcome(pg_temp.problem_of(n, s.problem)) AS outcome
  FROM margin_solvers() AS s, unnest(string_to_array(s.reports, ', ')) AS n ORDER BY s.name, n COLLATE "C";
SELECT n AS named, (train_margin(y, x, margin_options(solver => n, norm => p) ORDER BY i)).solver AS what_ran
  FROM flowers, (VALUES ('linear_program', 1), ('linear_program+boosting', 1), ('dual_ascent+newton', 1.5), ('cutting_plane+newton', 2)) AS v (n, p)
 GROUP BY n, p ORDER BY n COLLATE "C";
-- A name that no model reports is none.
SELECT pg_temp.outcome('{"solver": "sgd+newton", "lambda": 1}') LIKE '22023%' AS refused;
-- The arguments of margin_options are the options of the library, of the same types.
SELECT p.name, p.type::regtype, o.name, o.type
  FROM (SELECT unnest(proargnames) AS name, unnest(proargtypes::oid[]) AS type FROM pg_proc WHERE proname = 'margin_options') AS p
  FULL JOIN margin_option_list() AS o ON o.name = p.name WHERE o.type IS DISTINCT FROM format_type(p.type, NULL);
-- A model of before, whose options hold one that its solver does not read, is read, predicts and is verified.
CREATE TEMP TABLE old AS
  SELECT jsonb_populate_record(m, jsonb_build_object('options', (m).options || '{"shrinkage": 0.5}')) AS m
    FROM (SELECT train_margin(y, x, '{"solver": "cutting_plane"}' ORDER BY i) AS m FROM flowers) AS t;
SELECT margin_predict(m, ARRAY[3, 0, 0]) AS label, (SELECT (margin_verify(m, y, x)).rows FROM flowers) AS verified,
       margin_from_json(margin_to_json(m)) IS NOT DISTINCT FROM m AS survives FROM old;

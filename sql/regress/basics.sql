-- Train, look at the certificate, score, predict: two classes and three.
SELECT margin_version() = (SELECT extversion FROM pg_extension WHERE extname = 'margin') AS versions_agree;

-- Six points; the widest gap lies between x1 = 1 and x1 = 3, so the margin is 1 and the plane is x1 = 2.
CREATE TEMP TABLE points (id int, y boolean, x real[]);
INSERT INTO points VALUES (1, false, '{0,0}'), (2, false, '{1,2}'), (3, false, '{1,-1}'),
                          (4, true, '{3,1}'), (5, true, '{4,5}'), (6, true, '{3,-2}');
CREATE TEMP TABLE model AS SELECT train_margin(y, x) AS m FROM points;

SELECT (m).solver, (m).status, (m).classes, (m).rows, (m).skipped, (m).dimensions, (m).lambda, (m).options FROM model;
SELECT round((m).margin_lower::numeric, 6) AS lower, round((m).margin_upper::numeric, 6) AS upper,
       (m).margin_lower <= 1 AND 1 <= (m).margin_upper AS holds_the_optimum,
       (m).gap <= 1e-3 * (m).margin_upper AS certified,
       (m).primal = (m).margin_lower AND (m).dual = (m).margin_upper AS ends_agree
  FROM model;
SELECT round((m).weights[1]::numeric, 3) AS w1, round((m).weights[2]::numeric, 3) AS w2,
       round((m).intercept[1]::numeric, 3) AS b FROM model;

-- A score of a hard margin is the distance from the plane, positive on the side of the second class.
SELECT id, y, round(margin_score(m, x)::numeric, 3) AS score, margin_scores(m, x) = ARRAY[margin_score(m, x)] AS same,
       margin_predict(m, x) AS predicted, margin_predict(m, x, NULL::boolean) = y AS right
  FROM points, model ORDER BY id;
SELECT pg_typeof(margin_predict(m, x, NULL::boolean)), pg_typeof(margin_predict(m, x)) FROM points, model LIMIT 1;

-- NULL in, NULL out.
SELECT margin_score(m, NULL::real[]) IS NULL AS a, margin_predict(NULL::margin_model, '{1,2}'::real[]) IS NULL AS b,
       margin_predict(m, NULL::real[], NULL::boolean) IS NULL AS c FROM model;

-- Without an intercept the plane goes through the origin, and (0, 0) lies on it: no margin. A target that is not
-- reached is a warning, never an error.
SET client_min_messages = error;
SELECT (m).status <> 'optimal' AS says_so, (m).intercept, (m).margin_lower <= 0 AS lower, (m).margin_upper BETWEEN 0 AND 1e-6 AS no_margin
  FROM (SELECT train_margin(y, x, margin_options(intercept => false)) AS m FROM points) s;
RESET client_min_messages;
SELECT (m).status, (m).intercept, round((m).margin_lower::numeric, 4) AS lower, round((m).margin_upper::numeric, 4) AS upper
  FROM (SELECT train_margin(y, x, margin_options(intercept => false)) AS m
          FROM (VALUES ('a', '{3,4}'::real[]), ('b', '{-3,-4}')) AS v (y, x)) s;

-- Three classes on a triangle: one row of weights per class.
CREATE TEMP TABLE triangle (y text, x float8[]);
INSERT INTO triangle VALUES ('north', '{0,2}'), ('north', '{0.5,3}'), ('east', '{2,-1}'), ('east', '{3,-1}'),
                            ('west', '{-2,-1}'), ('west', '{-3,-2}');
CREATE TEMP TABLE compass AS SELECT train_margin(y, x, margin_options(tolerance => 1e-6)) AS m FROM triangle;
SELECT (m).status, (m).classes, array_length((m).weights, 1) AS classes, array_length((m).weights, 2) AS features,
       array_length((m).intercept, 1) AS intercepts, (m).gap <= 1e-6 * (m).margin_upper AS certified FROM compass;
SELECT y, margin_predict(m, x) AS predicted, array_length(margin_scores(m, x), 1) AS scores FROM triangle, compass
 ORDER BY y, x;
-- Scores of a class are its weights times the row, plus its intercept.
SELECT bool_and(abs((margin_scores(m, x))[c] -
                    ((m).weights[c][1] * x[1] + (m).weights[c][2] * x[2] + (m).intercept[c])) < 1e-12) AS scores_agree
  FROM triangle, compass, generate_series(1, 3) AS c;

-- History and dual weights on request.
SELECT (m).history IS NULL AS no_history, (m).dual_weights IS NULL AS no_dual FROM model;
SELECT array_length((m).history, 2) AS columns, array_length((m).history, 1) >= 1 AS points,
       array_length((m).dual_weights, 1) AS duals, (SELECT bool_and(q >= 0) FROM unnest((m).dual_weights) q) AS all_positive,
       (SELECT count(*) FROM unnest((m).dual_weights) q WHERE q > 0) = (m).support AS support
  FROM (SELECT train_margin(y, x, margin_options(history => true, dual_weights => true)) AS m FROM points) s;

-- A model is a value.
CREATE TEMP TABLE models (name text PRIMARY KEY, model margin_model);
INSERT INTO models SELECT 'points', m FROM model;
SELECT count(*) AS right FROM points, models WHERE name = 'points' AND margin_predict(model, x, NULL::boolean) = y;
SELECT margin_predict((r).m, '{3,1}'::real[]) FROM (SELECT m.m::text::margin_model AS m FROM model m) r;
SELECT name, problem FROM margin_solvers() WHERE name IN ('cutting_plane', 'momentum', 'sdca') ORDER BY name;
SELECT name, outcome, probability FROM margin_losses() WHERE name IN ('hinge', 'logistic', 'squared') ORDER BY name;

-- Every object of the extension says what it is.
SELECT count(*) FILTER (WHERE obj_description(objid, classid::regclass::text) IS NULL) AS without_comment
  FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
   AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'margin') AND classid = 'pg_proc'::regclass;

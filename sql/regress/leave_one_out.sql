-- margin_leave_one_out: the leave-one-out error between proven bounds, against trainings without each row.
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; hint text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ' ' || message || coalesce(' / ' || nullif(hint, ''), '');
END $$;
CREATE TEMP TABLE d AS SELECT i, ARRAY[sin(i * 1.3), cos(i * 2.7), sin(i * i * 0.7)]::float8[] AS x, 1 + i % 2 AS w,
    CASE WHEN sin(i * 1.3) * 2 + cos(i * 5.1) > 0.2 THEN 'yes' ELSE 'no' END AS y, i % 3 AS c
  FROM generate_series(1, 90) AS i;
SET client_min_messages = error;
CREATE TEMP TABLE m AS SELECT loss, kind, train_margin(y, x, options) AS model, options
  FROM d, unnest('{hinge,smoothed_hinge,squared_hinge,logistic}'::text[]) AS loss,
       LATERAL (VALUES ('penalized', margin_options(lambda => 0.02, loss => loss)), ('free', margin_options(lambda => 0.02, loss => loss, intercept => 'free'))) AS o(kind, options)
  WHERE NOT (loss = 'hinge' AND kind = 'free') GROUP BY loss, kind, options;
-- Trainings without a row, at the same cost of every other: lambda 90/89.
CREATE TEMP TABLE brute AS SELECT loss, kind, count(*) FILTER (WHERE margin_predict(without, x) <> y) AS errors
  FROM (SELECT loss, kind, l.i, l.x, l.y, (SELECT train_margin(r.y, r.x, options || '{"lambda": 0.020224719101123594, "tolerance": 1e-9}') FROM d AS r WHERE r.i <> l.i) AS without
          FROM m, d AS l) AS s GROUP BY loss, kind;
SELECT loss, kind, rows, a.errors_lower <= b.errors AND b.errors <= a.errors_upper AS holds, a.undecided = a.errors_upper - a.errors_lower AS undecided, a.undecided < 45 AS mostly,
       e.errors_lower = b.errors AND e.errors_upper = b.errors AND e.undecided = 0 AS exact, e.refitted = a.undecided AS refitted, a.error_lower = a.errors_lower / 90.0::float8 AS share
  FROM brute AS b JOIN m USING (loss, kind),
       LATERAL (SELECT (margin_leave_one_out(model, y, x)).* FROM d) AS a, LATERAL (SELECT (margin_leave_one_out(model, y, x, '{"refit": true}')).* AS e FROM d) AS e(erows, eskipped, etraining, errors_lower, errors_upper, undecided, refitted, elow, eup)
  ORDER BY 1, 2;
-- Weights, NULL, several classes, groups, models of other programs.
SELECT (a).rows, (a).skipped, (a).errors_lower <= (a).errors_upper AS bounds FROM (SELECT margin_leave_one_out(model, CASE WHEN i % 9 > 0 THEN y END, x, w, '{}') AS a FROM m, d WHERE loss = 'logistic' AND kind = 'free') AS s;
SELECT (a).rows, (a).undecided < 45 AS mostly, (a).errors_upper >= (a).errors_lower AS bounds
  FROM (SELECT margin_leave_one_out(model, c, x) AS a FROM d, (SELECT train_margin(c, x, margin_options(lambda => 0.05, loss => 'logistic')) AS model FROM d) AS m) AS s;
SELECT g, (a).rows FROM (SELECT i % 2 AS g, margin_leave_one_out(model, y, x) AS a FROM m, d WHERE loss = 'hinge' GROUP BY i % 2) AS s ORDER BY 1;
SELECT (margin_leave_one_out(margin_model_from('{1,0,0}', '{0}', '{no,yes}', 'logistic', 0.02), y, x)).errors_lower = (margin_leave_one_out(model, y, x)).errors_lower AS same FROM m, d WHERE loss = 'logistic' AND kind = 'penalized' GROUP BY model;
SELECT (a).rows, (a).errors_lower <= (a).errors_upper AS bounds FROM (SELECT margin_leave_one_out(model, y, r) AS a FROM (SELECT y, x[1] AS one, x[2] AS two FROM d) AS r,
  (SELECT train_margin(y, r, margin_options(lambda => 0.02, loss => 'logistic', exclude => '{y}')) AS model FROM (SELECT y, x[1] AS one, x[2] AS two FROM d) AS r) AS m) AS s;
SELECT margin_leave_one_out(model, y, x) IS NULL AS none, margin_leave_one_out(NULL, y, x) IS NULL AS no_model FROM m, d WHERE false;
-- What it is not of.
SELECT pg_temp.error_of(format('SELECT margin_leave_one_out((SELECT train_margin(%s, x, %L) FROM d), %1$s, x) FROM d', label, options))
  FROM (VALUES ('y', '{"lambda": 1, "intercept": "free"}'), ('i', '{"lambda": 1, "loss": "squared"}'), ('y', '{"lambda": 1, "kernel": "rbf"}'), ('y', '{}'), ('y', '{"lambda": 1, "standardize": true}'),
    ('y', '{"lambda": 1, "class_weight": "balanced"}'), ('c', '{"lambda": 1, "multiclass": "joint"}'), ('y', '{"lambda": 1, "l1_ratio": 0.5}'), ('y', '{"lambda": 0, "loss": "logistic"}')) AS v(label, options);
SELECT pg_temp.error_of(format('SELECT margin_leave_one_out(model, y, x, %L) FROM m, d WHERE loss = ''hinge''', o)) FROM unnest('{"{\"refit\": 1}","{\"refits\": true}","[]"}'::text[]) AS o;
SELECT pg_temp.error_of($$SELECT margin_leave_one_out(model, y, x, NULL) FROM m, d WHERE loss = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_leave_one_out(model, 'maybe'::text, x) FROM m, d WHERE loss = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_leave_one_out(model, y, '{1,2}'::float8[]) FROM m, d WHERE loss = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_leave_one_out(model, y, '{1,2,NaN}'::float8[]) FROM m, d WHERE loss = 'hinge'$$);
-- Which rows carry a model.
SELECT loss, count(*) FILTER (WHERE influence = 0) > 0 AS some_none, min(influence) >= 0 AS bound, max(influence) > 0 AS some
  FROM (SELECT loss, model, margin_influence(model, y, x) AS influence FROM m, d WHERE kind = 'penalized') AS certain GROUP BY loss ORDER BY loss;
SELECT bool_and(abs(a - 2 * b) < 1e-12) AS class_weight FROM (SELECT margin_influence(jsonb_populate_record(model, '{"options": {"lambda": 0.02, "loss": "hinge", "class_weight": {"yes": 2}}}'), y, x) AS a,
  margin_influence(model, y, x) AS b FROM m, d WHERE kind = 'penalized' AND loss = 'hinge' AND y = 'yes') AS s;
SELECT count(*) AS several FROM d, (SELECT train_margin(c, x, margin_options(lambda => 0.05, loss => 'logistic')) AS model FROM d) AS k WHERE margin_influence(model, c, x) > 0;
SELECT max(margin_influence(model, i, x)) > 0 AS numbers FROM d, (SELECT train_margin(i, x, margin_options(lambda => 0.05, loss => 'absolute', intercept => 'penalized')) AS model FROM d) AS k;
SELECT margin_influence(model, NULL::text, x) IS NULL AS nothing FROM m, d WHERE i = 1 AND loss = 'hinge';
SELECT pg_temp.error_of($$SELECT margin_influence(model, y, x) FROM m, d WHERE kind = 'free' AND loss = 'logistic'$$);
SELECT pg_temp.error_of($$SELECT margin_influence(margin_model_from('{1,0,0}', '{0}', '{no,yes}', 'logistic', 0.02), y, x) FROM d$$);
SELECT pg_temp.error_of($$SELECT margin_influence(model, 'maybe'::text, x) FROM m, d WHERE kind = 'penalized'$$);
-- Options that say something else than the model: the model counts.
SELECT margin_leave_one_out(jsonb_populate_record(model, '{"options": {"gamma": 100}}'), y, x) = margin_leave_one_out(jsonb_populate_record(model, '{"options": {"loss": "hinge", "lambda": 0.02}}'), y, x) AS same
  FROM m, d WHERE kind = 'penalized' AND loss = 'hinge';

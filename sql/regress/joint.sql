-- Classes trained jointly: softmax regression and Crammer and Singer's machine.
-- What a statement raises: SQLSTATE, message, hint.
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE m text; h text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, h = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || m || CASE WHEN h <> '' THEN E'\n  HINT: ' || h ELSE '' END;
END $$;
-- Three classes around three points, some rows nearer to another; a fixed sequence of numbers in [0, 1) stands for chance.
CREATE TABLE spots AS
  SELECT i, (ARRAY['north', 'east', 'west'])[1 + i % 3] AS y,
         ARRAY[(ARRAY[0, 2, -2])[1 + i % 3] + 4 * u - 2, (ARRAY[2, -1, -1])[1 + i % 3] + 4 * v - 2]::float8[] AS x, 1 + i % 2 AS c
    FROM generate_series(1, 900) i, LATERAL (SELECT i * 0.7548776662466927 % 1 AS u, i * 0.5698402909980532 % 1 AS v) r;
CREATE TABLE joined AS
  SELECT loss, form, train_margin(y, x, margin_options(lambda => 0.01, loss => loss, multiclass => 'joint', tolerance => 1e-6,
                                                       dual_weights => true, history => true)
                                  || jsonb_build_object('intercept', CASE form WHEN 'none' THEN 'false' ELSE to_jsonb(form) END) ORDER BY i) AS m
    FROM spots, unnest('{logistic,hinge}'::text[]) AS loss, unnest('{free,none,penalized}'::text[]) AS form WHERE i <= 600 GROUP BY loss, form;
SELECT loss, form, (m).solver, (m).status, (m).gap <= 1e-6 * (m).primal AS narrow, array_dims((m).weights) AS weights, array_dims((m).dual_weights) AS dual,
       round((m).primal::numeric, 4) AS primal, array_length((m).history, 1) > 1 AS history
  FROM joined ORDER BY loss DESC, form;
-- Verified from the rows, with the dual weights and without: of a softmax the scores prove a bound.
SELECT loss, form, (v).primal = (m).primal AS primal, (v).dual = (m).dual AS dual, (v).certain > 500 AS certain
  FROM (SELECT loss, form, m, margin_verify(m, y, x ORDER BY i) AS v FROM joined, spots WHERE i <= 600 GROUP BY loss, form, m) s ORDER BY loss DESC, form;
SELECT loss, form, (v).dual IS NOT NULL AS dual, (v).gap < 2e-6 * (v).primal AS narrow
  FROM (SELECT loss, form, margin_verify(jsonb_populate_record(m, '{"dual_weights": null}'), y, x) AS v
          FROM joined, spots WHERE i <= 600 GROUP BY loss, form, m) s ORDER BY loss DESC, form;
-- Probabilities are the softmax of the scores, and the log loss is theirs.
SELECT form, bool_and(abs(p - e) < 1e-14) AS softmax, bool_and(margin_predict(m, x) = (m).classes[(SELECT o FROM unnest(s) WITH ORDINALITY AS u (v, o) ORDER BY v DESC LIMIT 1)]) AS predicts
  FROM (SELECT form, m, x, margin_scores(m, x) AS s, (margin_probabilities(m, x))[2] AS p,
               exp((margin_scores(m, x))[2]) / (SELECT sum(exp(v)) FROM unnest(margin_scores(m, x)) v) AS e
          FROM joined, spots WHERE loss = 'logistic') t GROUP BY form ORDER BY form;
SELECT form, abs((e).log_loss - l) < 1e-12 AS log_loss, (e).accuracy > 0.85 AS accurate
  FROM (SELECT form, margin_evaluate(m, y, x) AS e, avg(-ln((margin_probabilities(m, x))[array_position((m).classes, y)])) AS l
          FROM joined, spots WHERE loss = 'logistic' AND i > 600 GROUP BY form) t ORDER BY form;
SELECT form, margin_pmml(m) ~ 'normalizationMethod="softmax"' AS pmml, margin_reliability(m, y, x) ~ '^<svg' AS chart
  FROM joined, spots WHERE loss = 'logistic' AND i > 600 GROUP BY form, m ORDER BY form;
SELECT pg_temp.error_of($$SELECT margin_probabilities(m, ARRAY[1, 2]) FROM joined WHERE loss = 'hinge' AND form = 'free'$$);
-- The log loss of unseen rows is no worse than one against the rest's.
SELECT (margin_evaluate(j.m, y, x)).log_loss <= (margin_evaluate(o.m, y, x)).log_loss AS better
  FROM spots, (SELECT m FROM joined WHERE loss = 'logistic' AND form = 'penalized') AS j,
       (SELECT train_margin(y, x, margin_options(lambda => 0.01, loss => 'logistic') ORDER BY i) AS m FROM spots WHERE i <= 600) AS o
 WHERE i > 600 GROUP BY j.m, o.m;
-- Sparse rows, row and class weights, units; a previous model; calibration; groups; JSON and back.
SELECT (train_margin(y, x::margin_sparse, c, margin_options(lambda => 0.01, loss => loss, multiclass => 'joint', class_weight => '{"east": 2}',
                                                            standardize => true, tolerance => 1e-5) ORDER BY i)).status
  FROM spots, unnest('{logistic,hinge}'::text[]) AS loss GROUP BY loss ORDER BY loss DESC;
SELECT loss, (again).iterations < (m).iterations AS sooner, (again).status
  FROM (SELECT loss, m, train_margin(y, x, margin_options(lambda => 0.01, loss => loss, multiclass => 'joint', intercept => 'free', tolerance => 1e-6, initial => m)
                                     ORDER BY i) AS again
          FROM joined, spots WHERE form = 'free' AND i <= 600 GROUP BY loss, m) s ORDER BY loss DESC;
SELECT calibrated, (margin_evaluate(m, y, x)).log_loss < 0.6 AS calibrated_log_loss
  FROM spots, (SELECT k AS calibrated, train_margin(y, x, margin_options(lambda => 0.01, multiclass => 'joint', calibration => k) ORDER BY i) AS m
                 FROM spots, unnest('{platt,isotonic}'::text[]) AS k WHERE i <= 600 GROUP BY k) t
 WHERE i > 600 GROUP BY calibrated, m ORDER BY calibrated;
SELECT bool_and(jsonb_populate_record(NULL::margin_model, to_jsonb(m)) = m) AS same FROM joined;
-- Two classes: the ordinary problem at half of lambda.
SELECT abs((j).primal - (o).primal) < 1e-9 AS same, array_dims((j).weights)
  FROM (SELECT train_margin(y, x, margin_options(lambda => 0.02, loss => 'logistic', multiclass => 'joint', tolerance => 1e-9) ORDER BY i) AS j,
               train_margin(y, x, margin_options(lambda => 0.01, loss => 'logistic', tolerance => 1e-9) ORDER BY i) AS o
          FROM spots WHERE y <> 'west') s;
-- Selection.
SELECT (s).metric, (s).options->>'multiclass' AS multiclass, (s).best_mean < 0.6 AS good
  FROM (SELECT margin_cross_validate(y, x, '{"lambdas": [0.001, 0.01], "loss": "logistic", "multiclass": "joint", "metric": "log_loss", "folds": 3}' ORDER BY i) AS s
          FROM spots) t;
-- What it does not do.
SELECT pg_temp.error_of($$SELECT margin_options(multiclass => 'all')$$);
SELECT pg_temp.error_of(format($$SELECT train_margin(y, x, %s) FROM spots$$, o)) FROM (VALUES
  ('margin_options(multiclass => ''joint'')'),
  ('margin_options(multiclass => ''joint'', lambda => 0.1, loss => ''squared_hinge'')'),
  ('margin_options(multiclass => ''joint'', lambda => 0, loss => ''logistic'')'),
  ('margin_options(multiclass => ''joint'', lambda => 0.1, l1_ratio => 0.5)'),
  ('margin_options(multiclass => ''joint'', lambda => 0.1, kernel => ''rbf'')'),
  ('margin_options(multiclass => ''joint'', lambda => 0.1, solver => ''sdca'')'),
  ('margin_options(solver => ''joint'', lambda => 0.1)')) AS v (o);
SELECT pg_temp.error_of($$SELECT train_margin(i, x, margin_options(multiclass => 'joint', lambda => 0.1, loss => 'squared')) FROM spots$$);
DROP TABLE spots, joined;

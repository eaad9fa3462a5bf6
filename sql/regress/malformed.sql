-- A model is a value that anyone can write: whatever is wrong with it is an error that names the field.
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
CREATE TEMP TABLE good AS
  SELECT 'binary' AS kind, train_margin(y, x, margin_options(dual_weights => true)) AS m FROM (VALUES ('a', '{0,0}'::real[]), ('b', '{2,0}')) v (y, x)
  UNION ALL
  SELECT 'three', train_margin(y, x, margin_options(dual_weights => true)) FROM (VALUES ('a', '{0,0}'::real[]), ('b', '{2,0}'), ('c', '{0,2}')) v (y, x);
-- What becomes of a model when some fields are replaced.
CREATE FUNCTION pg_temp.try(which text, change jsonb) RETURNS text LANGUAGE sql AS $$
  SELECT pg_temp.error_of(format('SELECT margin_predict(jsonb_populate_record(m, %L), ''{1,1}''::real[]) FROM good WHERE kind = %L', change, which)) $$;

SELECT pg_temp.try('binary', '{}'), pg_temp.try('three', '{}');
SELECT pg_temp.try('binary', '{"weights": null}');
SELECT pg_temp.try('binary', '{"weights": []}');
SELECT pg_temp.try('binary', '{"weights": [1, null]}');
SELECT pg_temp.try('binary', '{"weights": [1, "NaN"]}');
SELECT pg_temp.try('binary', '{"weights": [1, "-Infinity"]}');
SELECT pg_temp.try('binary', '{"weights": [[1, 2], [3, 4]]}');
SELECT pg_temp.try('binary', '{"weights": [[[1, 2]]]}');
SELECT pg_temp.try('binary', '{"weights": [1, 2, 3]}');
SELECT pg_temp.try('binary', '{"weights": [1, 2, 3], "dimensions": null}');
SELECT pg_temp.try('binary', '{"weights": [[1, 2]]}');
SELECT pg_temp.try('binary', '{"intercept": null}');
SELECT pg_temp.try('binary', '{"intercept": []}');
SELECT pg_temp.try('binary', '{"intercept": [1, 2]}');
SELECT pg_temp.try('binary', '{"intercept": ["NaN"]}');
SELECT pg_temp.try('binary', '{"classes": ["a"]}');
SELECT pg_temp.try('binary', '{"classes": ["a", "a"]}');
SELECT pg_temp.try('binary', '{"classes": ["a", null]}');
SELECT pg_temp.try('binary', '{"classes": [["a", "b"], ["c", "d"]]}');
SELECT pg_temp.try('binary', '{"classes": ["a", "b", "c"]}');
SELECT pg_temp.try('binary', '{"dimensions": -2}');
SELECT pg_temp.try('binary', '{"lambda": -1}');
SELECT pg_temp.try('binary', '{"lambda": "NaN"}');
SELECT pg_temp.try('binary', '{"lambda": 1}');
SELECT pg_temp.try('binary', '{"loss": "hinge"}');
SELECT pg_temp.try('binary', '{"loss": "squared"}');
SELECT pg_temp.try('binary', '{"loss": "interpolate"}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "huber"}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "no such loss"}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "norm": 1}');
SELECT pg_temp.try('binary', '{"classes": null}');
SELECT pg_temp.try('binary', '{"classes": [], "loss": "logistic", "lambda": 1}');
SELECT pg_temp.try('binary', '{"classes": null, "loss": "squared"}');
SELECT pg_temp.try('binary', '{"classes": null, "loss": "interpolate", "lambda": 1}');
SELECT pg_temp.try('binary', '{"classes": null, "loss": "interpolate"}');
SELECT pg_temp.try('binary', '{"classes": null, "loss": "huber", "lambda": 1}');
SELECT pg_temp.try('binary', '{"classes": null, "lambda": 1, "loss": "huber", "calibration": [[1, 0]]}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "stumps": [[1, 0], [2, 0]]}');
SELECT pg_temp.try('binary', '{"lambda": 0, "loss": "logistic", "kernel": "linear", "support_vectors": [[1, 0], [2, 0]]}');
SELECT pg_temp.try('binary', '{"dual_weights": [[1, 2], [3, 4]]}');
SELECT pg_temp.try('binary', '{"dual_weights": ["NaN"]}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "gap": -1}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "gap": "NaN"}');
SELECT pg_temp.try('binary', '{"options": [1]}');
SELECT pg_temp.try('binary', '{"calibration": [[1, 0]]}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "calibration": [[1, 0]]}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "calibration": [1, 0]}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "calibration": []}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "calibration": [[-1, 0]]}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "calibration": [[1, "NaN"]]}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "calibration": [[1, 0], [1, 0]]}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "calibration": [[1, -1, 0.2], [1, 1, 0.1]]}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "calibration": [[1, -1, 0.1], [1, -1, 0.2]]}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "calibration": [[1, -1, 0]]}');
SELECT pg_temp.try('binary', '{"lambda": 1, "loss": "hinge", "calibration": [[2, -1, 0.5]]}');
SELECT pg_temp.try('three', '{"weights": [1, 2]}');
SELECT pg_temp.try('three', '{"weights": [[1, 2], [3, 4]]}');
SELECT pg_temp.try('three', '{"intercept": [[1], [2], [3]]}');
SELECT pg_temp.try('three', '{"dual_weights": [1, 2, 3]}');
SELECT pg_temp.try('three', '{"dual_weights": [[1, 2], [3, 4]]}');
SELECT pg_temp.try('three', '{"classes": ["a", "b"]}');
SELECT pg_temp.try('three', '{"lambda": 1, "loss": "hinge", "calibration": [[1, 0]]}');
SELECT pg_temp.try('three', '{"lambda": 1, "loss": "hinge", "calibration": [[1, 0, 0.5], [3, 0, 0.5]]}');
SELECT pg_temp.error_of($$SELECT margin_predict(ROW(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::margin_model, '{1}'::real[])$$);

-- The same checks guard evaluation, verification, and warm starts.
SELECT pg_temp.error_of($$SELECT margin_evaluate(jsonb_populate_record(m, '{"weights": [1, "Infinity"]}'), 'a'::text, '{1,1}'::real[]) FROM good WHERE kind = 'binary'$$);
SELECT pg_temp.error_of($$SELECT margin_verify(jsonb_populate_record(m, '{"intercept": [1, 2]}'), 'a'::text, '{1,1}'::real[]) FROM good WHERE kind = 'binary'$$);
SELECT pg_temp.error_of($$SELECT margin_verify(jsonb_populate_record(m, '{"options": {"intercept": 3}}'), 'a'::text, '{1,1}'::real[]) FROM good WHERE kind = 'binary'$$);
SELECT pg_temp.error_of($$SELECT margin_verify(jsonb_populate_record(m, '{"classes": null}'), 1, '{1,1}'::real[]) FROM good WHERE kind = 'binary'$$);
SELECT pg_temp.error_of($$SELECT margin_verify(jsonb_populate_record(m, '{"lambda": 1, "loss": "no such loss"}'), 'a'::text, '{1,1}'::real[]) FROM good WHERE kind = 'binary'$$);
SELECT pg_temp.error_of($$SELECT margin_options(initial => jsonb_populate_record(m, '{"weights": null}')) FROM good WHERE kind = 'binary'$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(lambda => 1, initial => m)) FROM good, (VALUES ('a', '{0}'::real[]), ('b', '{2}')) v (y, x) WHERE kind = 'binary'$$);
-- What its options say a model is must be what its attributes hold: a certificate is about one problem.
SELECT pg_temp.error_of($$SELECT margin_verify(ROW(NULL, 'hinge', 2, 0.001, NULL, '{-1,1}', '{-0.5419014154554396}', '{0.42209393386703986}', NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"lambda":0.001,"loss":"hinge","intercept":false}', NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::margin_model, y, x) FROM (VALUES (-1, '{2}'::float8[]), (1, '{0}')) v (y, x)$$);
SELECT o, pg_temp.error_of(format($$SELECT margin_verify(jsonb_populate_record(m, %L), y, x) FROM good, (VALUES ('a', '{0,0}'::real[]), ('b', '{2,0}')) v (y, x)
  WHERE kind = 'binary'$$, o)) FROM unnest('{"{\"options\": {\"intercept\": false}}","{\"options\": {\"lambda\": 1}}","{\"options\": {\"loss\": \"logistic\"}}",
  "{\"options\": {\"norm\": 1}}","{\"options\": {\"kernel\": \"rbf\"}}","{\"options\": {\"learners\": \"stumps\"}}","{\"options\": {\"lambda\": 2}, \"lambda\": 1, \"loss\": \"hinge\"}"}'::text[]) AS o;
SELECT pg_temp.error_of($$SELECT margin_summary(jsonb_populate_record(m, '{"options": {"intercept": false}}')) FROM good WHERE kind = 'binary'$$);
SELECT pg_temp.error_of($$SELECT margin_from_json(margin_to_json(m) || '{"options": {"lambda": 1}}') FROM good WHERE kind = 'binary'$$);
-- Dual weights that are negative, too few or too many still give a true bound, or none.
SELECT d, (v).margin_upper IS NULL OR (v).margin_upper >= (v).margin_lower AS sound
  FROM unnest('{"{1,1}","{-1,-1}","{1}","{1,1,1}","{0,0}","{1e300,1e300}","{5e-324,5e-324}","{5e-324,1e-310}","{5e-324,-1e-310}","{1e-300,1e-320}"}'::text[]) AS d,
       LATERAL (SELECT margin_verify(jsonb_populate_record(m, jsonb_build_object('dual_weights', d::float8[])), y, x ORDER BY y) AS v
                  FROM good, (VALUES ('a', '{0,0}'::real[]), ('b', '{2,0}')) t (y, x) WHERE kind = 'binary') s;

-- Texts among the bytes of a scan are texts of this database, whoever wrote them.
CREATE FUNCTION pg_temp.in_no_encoding(v text) RETURNS text LANGUAGE sql AS $$
  SELECT replace(encode(decode(replace(encode(decode(v, 'base64'), 'hex'), encode('yesyes', 'hex'), 'ffffffffffff'), 'hex'), 'base64'), E'\n', '') $$;
SELECT kind, pg_temp.error_of(format('SELECT %L::%s IS NULL', v, kind)) AS sound, pg_temp.error_of(format('SELECT %L::%s IS NULL', pg_temp.in_no_encoding(v), kind)) AS forged
  FROM (SELECT 'margin_state' AS kind, margin_sum(margin_term(margin_question('{}'::jsonb), y, x))::text AS v FROM (VALUES ('yesyes', '{0}'::real[]), ('no', '{2}')) t (y, x)
        UNION ALL SELECT 'margin_term', margin_term(margin_question('{}'::jsonb), 'yesyes'::text, '{0}'::real[])::text
        UNION ALL SELECT 'margin_question', margin_question(NULL, m)::text FROM (SELECT train_margin(y, x) AS m FROM (VALUES ('yesyes', '{0}'::real[]), ('no', '{2}')) t (y, x)) AS s) AS t ORDER BY kind;
CREATE TABLE told AS SELECT margin_sum(margin_profile(t))::text AS v FROM (VALUES ('yesyes', 1), ('no', 2)) t (answer, n);
SELECT pg_temp.error_of($$SELECT margin_encoder(v::margin_profile, '{}') IS NULL FROM told$$) AS sound, pg_temp.error_of($$SELECT margin_encoder(pg_temp.in_no_encoding(v)::margin_profile, '{}') FROM told$$) AS forged,
       pg_temp.error_of($$SELECT margin_profile_columns(pg_temp.in_no_encoding(v)::margin_profile) FROM told$$) AS columns;
DROP TABLE told;

-- A model stored under an older definition of the type stays valid.
CREATE TABLE stored AS SELECT m FROM good WHERE kind = 'binary';
ALTER TYPE margin_model ADD ATTRIBUTE later float8;
SELECT margin_predict(m, '{2,1}'::real[]), (m).later IS NULL AS absent FROM stored;
SELECT (train_margin(y, x)).later IS NULL AS not_filled FROM (VALUES ('a', '{0,0}'::real[]), ('b', '{2,0}')) v (y, x);
ALTER TYPE margin_model DROP ATTRIBUTE later;
SELECT margin_predict(m, '{2,1}'::real[]) FROM stored;
DROP TABLE stored;

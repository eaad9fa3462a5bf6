-- Looking at a model: weights, certificate, history, summary; as jsonb and back; as PMML.
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
CREATE TEMP TABLE points (i int, y text, t float8, x float8[]);
INSERT INTO points SELECT i, CASE i % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'b & "c" <d>' ELSE 'e''s' END, sin(i) + i / 10.0,
  ARRAY[sin(i * 1.3) + 3 * (i % 3), cos(i * 0.7) - 3 * ((i + 1) % 3), (i % 7) / 3.0] FROM generate_series(1, 60) i;
CREATE TEMP TABLE models AS
  SELECT 'hard' AS kind, train_margin(y, x, margin_options(history => true, dual_weights => true) ORDER BY i) AS m FROM points WHERE i % 3 < 2 UNION ALL
  SELECT 'three', train_margin(y, x, margin_options(history => true, dual_weights => true) ORDER BY i) FROM points UNION ALL
  SELECT 'hinge', train_margin(y, x, margin_options(lambda => 0.01, tolerance => 1e-6) ORDER BY i) FROM points WHERE i % 3 < 2 UNION ALL
  SELECT 'logistic', train_margin(y, x, margin_options(lambda => 0.01, loss => 'logistic', history => true, solver => 'sdca') ORDER BY i) FROM points WHERE i % 3 < 2 UNION ALL
  SELECT 'multi', train_margin(y, x, margin_options(lambda => 0.01, loss => 'logistic', standardize => true) ORDER BY i) FROM points UNION ALL
  SELECT 'net', train_margin(y, x, margin_options(lambda => 0.01, l1_ratio => 0.5) ORDER BY i) FROM points WHERE i % 3 < 2 UNION ALL
  SELECT 'regression', train_margin(t, x, margin_options(lambda => 0.001, loss => 'squared', dual_weights => true) ORDER BY i) FROM points;
-- A model whose figures are written by hand: 0.9 and 1 are the ends of its margin.
CREATE TEMP TABLE hand AS SELECT ROW('by hand', NULL, 2, NULL, 'iteration_limit', '{f,t}', '{0.6,0,-0.8}', '{0.5}', 0.9, 1, 0.9, 1, 0.1,
  7, 10, 2, 3, 4, 0.25, '{"tolerance": 0.01}', '{{0,0.1,-Infinity,Infinity},{7,0.25,0.9,1}}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::margin_model AS m;

-- Weights, the largest first; a positive weight speaks for the class beside it.
SELECT w.* FROM hand, margin_weights(m) w;
SELECT kind, count(*), count(DISTINCT feature) AS features, count(DISTINCT class) AS classes,
       bool_and(weight = CASE WHEN array_ndims((m).weights) = 2 THEN (m).weights[array_position((m).classes, class)][feature] ELSE (m).weights[feature] END) AS same,
       array_agg(abs(weight) ORDER BY ordinality) = array_agg(abs(weight) ORDER BY abs(weight) DESC) AS sorted
  FROM models, margin_weights(m) WITH ORDINALITY GROUP BY kind ORDER BY kind;
SELECT count(*) FROM margin_weights(NULL);

-- The certificate. Directions: 2 sin(θ/2) where cos(θ/2) is (1 + 0.9)/2.
SELECT c.*, abs(c.distance - 2 * sqrt(1 - 0.95 * 0.95)) < 1e-12 AS as_derived FROM hand, margin_certificate(m) c;
SELECT kind, problem, objective, c.status, lower <= upper AS interval, gap = upper - lower AS gap, relative_gap <= coalesce(((m).options ->> 'tolerance')::float8, 1e-3) AS reached,
       distance / sqrt(2 * gap / ((m).lambda * CASE kind WHEN 'net' THEN 0.5 ELSE 1 END)) BETWEEN 0.6 AND 1 + 1e-12 AS soft_distance
  FROM models, margin_certificate(m) c ORDER BY kind;
-- The optimum, far better known, lies within that distance: in direction for a hard margin, in w and b for a soft one.
WITH loose AS MATERIALIZED (SELECT train_margin(y, x, margin_options(solver => 'momentum', tolerance => 0.2) ORDER BY i) AS m FROM points WHERE i % 3 < 2),
     soft AS MATERIALIZED (SELECT train_margin(y, x, margin_options(lambda => 0.01, tolerance => 0.2) ORDER BY i) AS m FROM points WHERE i % 3 < 2)
SELECT (SELECT sqrt(sum((a - b) ^ 2)) <= (margin_certificate(loose.m)).distance FROM unnest((loose.m).weights, (h.m).weights) u (a, b)) AS direction,
       (SELECT sqrt(sum((a - b) ^ 2)) <= (margin_certificate(soft.m)).distance + (margin_certificate(s.m)).distance
          FROM unnest((soft.m).weights || (soft.m).intercept, (s.m).weights || (s.m).intercept) u (a, b)) AS weights
  FROM loose, soft, models h, models s WHERE h.kind = 'hard' AND s.kind = 'hinge';
SELECT lower, upper, gap, distance FROM hand, margin_certificate(jsonb_populate_record(m, '{"margin_upper": null}')) c;
SELECT lower, relative_gap, distance FROM hand, margin_certificate(jsonb_populate_record(m, '{"margin_lower": -0.5}')) c;

-- The history as rows.
SELECT h.* FROM hand, margin_history(m) h;
SELECT kind, count(iteration) > 0 AS some, count(*) = coalesce(max(array_length((m).history, 1)), 0) AS all_points, bool_and(lower <= upper) AS ordered
  FROM models LEFT JOIN LATERAL margin_history(m) h ON (m).history IS NOT NULL WHERE kind IN ('hard', 'three', 'logistic') GROUP BY kind ORDER BY kind;
SELECT count(*) FROM models, margin_history(m) WHERE kind = 'hinge';
SELECT pg_temp.error_of($$SELECT margin_history(jsonb_populate_record(m, '{"history": [1, 2, 3, 4]}')) FROM hand$$);
SELECT pg_temp.error_of($$SELECT margin_history(jsonb_populate_record(m, '{"history": [[1, 2, "NaN", 4]]}')) FROM hand$$);
SELECT pg_temp.error_of($$SELECT margin_history(jsonb_populate_record(m, '{"history": [[-1, 2, 3, 4]]}')) FROM hand$$);

-- A page for a person.
SELECT margin_summary(m) FROM hand;
SELECT margin_summary(ROW(NULL, 'logistic', 2, 0.5, NULL, '{a,b,c}', '{{1,0},{2,-3},{0,0.5}}', '{0,0,0}', NULL, NULL, 0.7, 0.6, 0.1,
  NULL, NULL, NULL, NULL, NULL, NULL, '{"standardize": true, "l1_ratio": 0.25}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::margin_model);
SELECT kind, margin_summary(m) LIKE 'model: %' || (m).status || '%' AS summary FROM models ORDER BY kind;

-- To jsonb and back: the same model to the bit, whatever the session's precision of output.
SET extra_float_digits = 0;
SELECT kind, margin_from_json(margin_to_json(m)) IS NOT DISTINCT FROM m AS same, record_image_eq(margin_from_json(margin_to_json(m)), m) AS same_bits
  FROM models ORDER BY kind;
RESET extra_float_digits;
SELECT record_image_eq(margin_from_json(margin_to_json(m)), m) AS same_bits FROM (SELECT jsonb_populate_record(m,
  '{"weights": [4.9e-324, -0.0, 1.7976931348623157e308], "lambda": 0.1, "primal": 0.30000000000000004, "loss": "hinge"}') AS m FROM hand) s;
SELECT record_image_eq(margin_from_json(margin_to_json(m)), m) AS same_bits FROM (SELECT jsonb_populate_record(m, '{"weights": ["-0", 1, -1]}') AS m FROM hand) s;
SELECT jsonb_pretty(margin_to_json(m)) FROM hand;
-- What to_jsonb writes is read as well.
SELECT kind, record_image_eq(margin_from_json(to_jsonb(m)), m) AS same_bits FROM models ORDER BY kind;
SELECT margin_from_json(NULL) IS NULL AS nothing, margin_to_json(NULL) IS NULL AS nothing_either;
-- What is wrong is named.
CREATE FUNCTION pg_temp.try(change jsonb) RETURNS text LANGUAGE sql AS $$
  SELECT pg_temp.error_of(format('SELECT margin_from_json(margin_to_json(m) || %L) FROM hand', change)) $$;
SELECT pg_temp.try('{}');
SELECT pg_temp.try('{"weigths": [1]}');
SELECT pg_temp.try('{"weights": null}');
SELECT pg_temp.try('{"weights": "many"}');
SELECT pg_temp.try('{"weights": [1, "2", 3]}');
SELECT pg_temp.try('{"weights": [1, "Infinity", 3]}');
SELECT pg_temp.try('{"weights": [[1, 2, 3], [1, 2]]}');
SELECT pg_temp.try('{"weights": [[1, 2, 3], 4]}');
SELECT pg_temp.try('{"weights": [1, 2]}');
SELECT pg_temp.try('{"intercept": [1, 2]}');
SELECT pg_temp.try('{"classes": ["f", 1]}');
SELECT pg_temp.try('{"classes": ["f", "f"]}');
SELECT pg_temp.try('{"classes": null}');
SELECT pg_temp.try('{"classes": {"f": "t"}}');
SELECT pg_temp.try('{"solver": 1}');
SELECT pg_temp.try('{"lambda": "small"}');
SELECT pg_temp.try('{"lambda": 0}');
SELECT pg_temp.try('{"rows": 1.5}');
SELECT pg_temp.try('{"iterations": -1}');
SELECT pg_temp.try('{"dimensions": 3000000000}');
SELECT pg_temp.try('{"status": "perfect"}');
SELECT pg_temp.try('{"options": [1]}');
SELECT pg_temp.try('{"options": {"lambda": -1}}');
SELECT pg_temp.try('{"history": [[1, 2, 3]]}');
SELECT pg_temp.try('{"dual_weights": [[1, 2]]}');
SELECT pg_temp.error_of($$SELECT margin_from_json('[1]')$$);
SELECT pg_temp.error_of($$SELECT margin_from_json('{}')$$);

-- PMML: the document, and that a program which follows it gets the model's scores.
CREATE FUNCTION pg_temp.any_version(document text) RETURNS text LANGUAGE sql AS $$
  SELECT replace(document, format('version="%s"', margin_version()), 'version="..."') $$;
SELECT pg_temp.any_version(margin_pmml(jsonb_populate_record(m, '{"classes": ["<no>", "a & \"b\""]}'), ARRAY['length', 'width, in "cm"', 'target'])) FROM hand;
SELECT pg_temp.any_version(margin_pmml(ROW(NULL, 'squared', 2, 0.5, NULL, NULL, '{0.1,-2e-20}', '{3}', NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::margin_model));
SELECT pg_temp.any_version(margin_pmml(ROW(NULL, 'logistic', 2, 0.5, NULL, '{no,yes}', '{2}', '{-1}', NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::margin_model, '{"probability(yes)"}'));
CREATE FUNCTION pg_temp.values(document xml, path text) RETURNS text[] LANGUAGE sql AS $$
  SELECT array_agg(v::text) FROM unnest(xpath(path, document, '{{p,http://www.dmg.org/PMML-4_4}}')) v $$;
WITH documents AS (SELECT kind, m, margin_pmml(m, ARRAY['a<b', 'c"d', E'e\tf'])::xml AS d FROM models)
SELECT kind, (xpath('name(/*)', d))[1]::text AS root, cardinality(pg_temp.values(d, '//p:RegressionTable')) AS tables,
       (SELECT max(abs(s - (SELECT sum(c::float8 * v) FROM unnest(pg_temp.values(d, format('//p:RegressionTable[%s]/p:NumericPredictor/@coefficient', n)), ARRAY[0.5, -1.25, 3]) u (c, v))
                         - (pg_temp.values(d, format('//p:RegressionTable[%s]/@intercept', n)))[1]::float8))
          FROM unnest(margin_scores(m, ARRAY[0.5, -1.25, 3])) WITH ORDINALITY AS o (s, n)) < 1e-12 AS same_scores,
       pg_temp.values(d, '//p:Value/@value') IS NOT DISTINCT FROM (SELECT array_agg(replace(replace(replace(c, '&', '&amp;'), '<', '&lt;'), '>', '&gt;')) FROM unnest((m).classes) c) AS classes,
       pg_temp.values(d, '//p:OutputField/@feature') AS outputs
  FROM documents ORDER BY kind;
SELECT margin_pmml(NULL) IS NULL AS nothing;
SELECT pg_temp.error_of($$SELECT margin_pmml(m, '{a,b}') FROM hand$$);
SELECT pg_temp.error_of($$SELECT margin_pmml(m, '{a,b,a}') FROM hand$$);
SELECT pg_temp.error_of($$SELECT margin_pmml(m, '{a,b,""}') FROM hand$$);
SELECT pg_temp.error_of($$SELECT margin_pmml(m, '{a,b,NULL}') FROM hand$$);
SELECT pg_temp.error_of($$SELECT margin_pmml(m, '{}') FROM hand$$);
SELECT pg_temp.error_of($$SELECT margin_pmml(m, '{{a,b,c}}') FROM hand$$);
SELECT pg_temp.error_of($$SELECT margin_pmml(m, ARRAY['a', 'b', E'c\x01']) FROM hand$$);

-- Models that contradict themselves are refused by all of them.
SELECT f, pg_temp.error_of(format($$SELECT %s(jsonb_populate_record(m, '{"intercept": [1, 2]}')) FROM hand$$, f)) AS error
  FROM unnest('{margin_weights,margin_certificate,margin_history,margin_summary,margin_to_json,margin_pmml}'::text[]) f;

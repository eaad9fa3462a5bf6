-- jsonb objects as rows of a model with named columns: every column by its key.
SET client_min_messages = error;
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE detail text; hint text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(E'\n', sqlstate || ': ' || sqlerrm, nullif(detail, ''), nullif(hint, ''));
END $$;
CREATE TYPE object_mood AS ENUM ('sad', 'fair', 'happy');
CREATE TEMP TABLE people AS
SELECT i AS id, (i * 7 % 90)::smallint AS age, CASE WHEN i % 17 > 0 THEN (i * 13 % 1000) / 10.0 END AS spend, (ARRAY['basic', 'gold', 'pro "x", y', '', 'größe 🙂'])[1 + i % 5] AS plan,
       (ARRAY['ab', 'abc'])[1 + i % 2]::character(5) AS code, i % 3 = 0 AS active, date '2020-01-01' + i % 700 AS since, timestamp '2020-01-01 00:00' + i % 40 * interval '7 hours' AS met,
       timestamptz '2020-01-01 00:00+00' + i % 50 * interval '5 hours' AS seen, i % 9 * interval '1 mon 2 days' AS held, time '01:30' + i % 8 * interval '1 hour' AS "at",
       CASE WHEN i % 11 > 0 THEN (enum_range(NULL::object_mood))[1 + i % 3] END AS mood, md5((i % 2)::text)::uuid AS key,
       CASE WHEN i % 5 > 0 THEN ARRAY[i % 2, i % 3]::float8[] END AS emb, margin_sparse(ARRAY[1 + i % 40], ARRAY[1.5]::float8[], 50) AS tags,
       i * 7 % 90 + i % 5 * 20 > 80 AS churned
FROM generate_series(1, 300) i;
CREATE TEMP TABLE models AS
SELECT 'logistic' AS name, train_margin(churned, p, margin_options(exclude => '{id, churned}', lambda => 1e-3, loss => 'logistic')) AS m FROM people p
UNION ALL SELECT 'hard', train_margin(churned, p, margin_options(exclude => '{id, spend}')) FROM people p
UNION ALL SELECT 'kernel', train_margin(churned, p, margin_options(exclude => '{id, churned}', lambda => 1e-2, kernel => 'rbf')) FROM people p
UNION ALL SELECT 'three', train_margin(mood, p, margin_options(exclude => '{id, mood}', lambda => 1e-2)) FROM people p
UNION ALL SELECT 'number', train_margin(age, p, margin_options(exclude => '{id, age}', lambda => 1e-2, loss => 'squared')) FROM people p
UNION ALL SELECT 'skip', train_margin(churned, p, margin_options(exclude => '{id, churned}', lambda => 1e-2, missing => 'skip')) FROM people p;

-- What to_jsonb writes of a row scores as the row, by every function, in any session.
SET TimeZone = 'Asia/Kolkata';
SELECT name, count(*), bool_and(margin_scores(m, to_jsonb(p)) IS NOT DISTINCT FROM margin_scores(m, p)) AS scores, bool_and(margin_predict(m, to_jsonb(p)) IS NOT DISTINCT FROM margin_predict(m, p)) AS classes,
       bool_and(margin_encode((m).encoder, to_jsonb(p)) IS NOT DISTINCT FROM margin_encode((m).encoder, p)) AS encoded
  FROM models, people p GROUP BY name ORDER BY name;
RESET TimeZone;
SELECT bool_and(margin_probability(m, to_jsonb(p)) = margin_probability(m, p) AND margin_probabilities(m, to_jsonb(p)) = margin_probabilities(m, p) AND margin_score_interval(m, to_jsonb(p)) = margin_score_interval(m, p)
         AND margin_predict(m, to_jsonb(p), NULL::boolean) = margin_predict(m, p, NULL::boolean) AND margin_influence(m, churned, to_jsonb(p)) = margin_influence(m, churned, p)
         AND margin_encode_sparse((m).encoder, to_jsonb(p)) = margin_encode_sparse((m).encoder, p)) AS one_row,
       bool_and((SELECT jsonb_agg(e) FROM margin_explain(m, to_jsonb(p)) e) = (SELECT jsonb_agg(e) FROM margin_explain(m, p) e)) AS explained
  FROM models, people p WHERE name = 'logistic';
SELECT name, margin_evaluate(m, churned, to_jsonb(p)) = margin_evaluate(m, churned, p) AS evaluated, margin_verify(m, churned, to_jsonb(p)) = margin_verify(m, churned, p) AS verified,
       (margin_verify(m, margin_sum(margin_term(m, churned, to_jsonb(p))))).rows AS two_steps, margin_audit(m, churned, to_jsonb(p)) = margin_audit(m, churned, p) AS audited,
       margin_threshold(m, churned, to_jsonb(p), '{"precision": 0.7}') = margin_threshold(m, churned, p, '{"precision": 0.7}') AS threshold
  FROM models, people p WHERE name = 'logistic' GROUP BY name, m;
SELECT (margin_update(m, churned, to_jsonb(p), true)).rows FROM models, people p WHERE name = 'logistic' AND id = 1;
-- Keys come in any order, among others; null is NULL. Arrays stand for sparse columns, too.
SELECT margin_score(m, to_jsonb(p) || '{"other": {"a": [1]}, "churned": "yes", "id": null}') = margin_score(m, p) AS others, margin_score(m, jsonb_strip_nulls(to_jsonb(p)) || '{"emb": null, "spend": null}') = margin_score(m, q) AS nulls,
       margin_score(m, to_jsonb(p) || jsonb_build_object('tags', p.tags::jsonb)) = margin_score(m, p) AS object, margin_score(m, to_jsonb(p) || jsonb_build_object('tags', p.tags::float8[])) = margin_score(m, p) AS dense,
       margin_score(m, to_jsonb(p) || '{"emb": "[1, 1]"}') = margin_score(m, p) AS text
  FROM models, people p, LATERAL (SELECT (r).* FROM (SELECT jsonb_populate_record(p, '{"emb": null, "spend": null}') AS r) s) q WHERE name = 'logistic' AND p.id = 1;
CREATE DOMAIN document AS jsonb;
SELECT margin_score(m, to_jsonb(p)::document) = margin_score(m, p) AS domain, margin_score(m, NULL::jsonb) IS NULL AS none FROM models, people p WHERE name = 'hard' AND id = 1;
-- A row that the model skips.
SELECT margin_predict(m, to_jsonb(p)) IS NULL AS skipped, (SELECT count(*) FROM margin_explain(m, to_jsonb(p))) AS lines FROM models, people p WHERE name = 'skip' AND id = 17;
SELECT (margin_evaluate(m, churned, to_jsonb(p))).skipped = count(*) FILTER (WHERE spend IS NULL OR mood IS NULL OR emb IS NULL) AS skipped FROM models, people p WHERE name = 'skip' GROUP BY m;

-- A key that is not there is no NULL.
CREATE TEMP TABLE claims AS SELECT i, ln(0.1 + i % 9) AS log_years, (ARRAY['a', 'b', 'c'])[1 + i % 3] AS area, CASE WHEN i % 4 > 0 THEN i % 50 END AS age, i * 7 % 5 AS n FROM generate_series(1, 300) i;
CREATE TEMP TABLE claim_models AS
SELECT 'offset' AS name, train_margin(n, c, margin_options(exclude => '{i,n}', lambda => 0.001, loss => 'poisson', offset_feature => 'log_years'::text)) AS m FROM claims c
UNION ALL SELECT 'lenient', train_margin(n > 2, c, margin_options(exclude => '{i,n}', lambda => 0.01, loss => 'logistic', missing => 'impute', unknown_features => 'reference')) FROM claims c;
SELECT name, r, pg_temp.error_of(format('SELECT margin_score(m, %L::jsonb) FROM claim_models WHERE name = %L', r, name)) AS answer
  FROM claim_models, unnest(ARRAY['{"log_years": 0, "area": "a", "age": 3}', '{"log_years": 0, "area": "a", "age": null}', '{"log_years": null, "area": "a", "age": 3}', '{"log_years": 0, "area": null, "age": 3}',
    '{"log_years": 0, "area": "d", "age": 3}', '{}', '{"log_years": 0, "aera": "a", "age": 3}', '{"LOG_YEARS": 0, "area": "a", "age": 3}', '{"log_years": 0, "area": "a", "years": 3}']::jsonb[]) r ORDER BY 1, 2;
SELECT f, pg_temp.error_of(format('SELECT %s FROM claim_models, (SELECT %L::jsonb AS r) s WHERE name = ''lenient''', f, '{"log_years": 0, "aera": "a", "age": 3}')) ~ 'the object has no key "area".*Did you mean "aera"' AS names_it
  FROM unnest('{"margin_predict(m, r)","margin_predict(m, r, NULL::boolean)","margin_probability(m, r)","margin_probabilities(m, r)","margin_scores(m, r)","margin_explain(m, r)","margin_score_interval(m, r)","margin_score_intervals(m, r)","margin_influence(m, true, r)",
    "margin_encode((m).encoder, r)","margin_encode_sparse((m).encoder, r)","margin_evaluate(m, true, r)","margin_verify(m, true, r)","margin_audit(m, true, r)","margin_threshold(m, true, r, jsonb_build_object(''recall'', 1))","margin_term(m, true, r)","margin_update(m, true, r, false)","margin_leave_one_out(m, true, r)",
    "margin_with_curvature(m, true, r)","margin_roc(m, true, r)"}'::text[]) f;
-- Values of another kind.
SELECT change, pg_temp.error_of(format('SELECT margin_score(m, to_jsonb(p) || %L::jsonb) FROM models, people p WHERE name = ''logistic'' AND id = 1', change)) AS answer
  FROM unnest(ARRAY['{"age": "41"}', '{"age": true}', '{"age": [41]}', '{"age": 1e400}', '{"plan": 5}', '{"active": 1}', '{"active": "true"}', '{"since": 20200101}', '{"since": "soon"}', '{"since": "infinity"}', '{"seen": {}}', '{"held": 3}', '{"held": "long"}',
    '{"at": "25:61"}', '{"emb": 1}', '{"emb": {"1": 2}}', '{"emb": [1, null]}', '{"emb": [1, "x"]}', '{"emb": [1, 2, 3]}', '{"emb": []}', '{"emb": "{}"}', '{"emb": "x"}', '{"tags": 1}', '{"tags": {"0": 1}}', '{"tags": {"60": 1}}', '{"tags": "7:x"}', '{"tags": [[1]]}', '{"key": "x"}']) WITH ORDINALITY u (change, n) ORDER BY n;
SELECT d, pg_temp.error_of(format('SELECT margin_score(m, %L::jsonb) FROM models WHERE name = ''logistic''', d)) AS answer FROM unnest(ARRAY['null', '[1, 2]', '7', '"x"']) d;

-- Where objects are no rows: a training, models of arrays, functions of arrays alone.
SELECT pg_temp.error_of(s) AS answer FROM unnest(ARRAY[
  $$SELECT train_margin(churned, to_jsonb(p)) FROM people p$$,
  $$SELECT train_margin(churned, to_jsonb(p), '{"lambda": 1, "exclude": ["id"]}') FROM people p$$,
  $$SELECT train_one_class(to_jsonb(p)) FROM people p$$,
  $$SELECT margin_path(churned, to_jsonb(p)) FROM people p$$,
  $$SELECT margin_cross_validate(churned, to_jsonb(p)) FROM people p$$,
  $$SELECT train_margin_from('SELECT churned AS label, to_jsonb(p) AS features FROM people p', '{"lambda": 1}')$$,
  $$SELECT margin_predict(m, '{"1": 2}'::jsonb) FROM (SELECT train_margin(i > 2, ARRAY[i], '{"lambda": 1}') AS m FROM generate_series(1, 4) i) s$$,
  $$SELECT margin_predict(m, '{"age": 41}') FROM models WHERE name = 'logistic'$$,
  $$SELECT margin_predict(m, to_json(p)) FROM models, people p WHERE name = 'logistic'$$,
  $$SELECT margin_finite('{"1": 2}'::jsonb)$$,
  $$SELECT margin_fourier('{"1": 2}'::jsonb, 2, 1)$$]) WITH ORDINALITY u (s, n) ORDER BY n;
SELECT margin_predict(m, '{"1": 2}'::jsonb::margin_sparse) AS sparse FROM (SELECT train_margin(i > 2, ARRAY[i], '{"lambda": 1}') AS m FROM generate_series(1, 4) i) s;
DROP DOMAIN document;
DROP TYPE object_mood CASCADE;

-- margin_reasons: the columns that speak most against a row's score, and most for it.
CREATE TABLE reason_rows AS SELECT i AS id, 20 + i * 7 % 50 AS age, (ARRAY['basic', 'gold', 'trial'])[1 + i % 3] AS plan, i % 4 = 0 AS vip, CASE WHEN i % 5 > 0 THEN i % 9 END AS calls, date '2024-01-01' + i AS since, ARRAY[i % 3, i % 7]::real[] AS emb,
    ('{' || 1 + i % 3 || ':1}/3')::margin_sparse AS words, i * 7 % 50 + i % 3 * 9 - CASE WHEN i % 4 = 0 THEN 8 ELSE 0 END > 30 AS y FROM generate_series(1, 120) AS i;
CREATE TABLE reason_models AS SELECT 'two' AS name, train_margin(y, t, '{"lambda": 1e-3, "loss": "logistic", "exclude": ["id", "y"]}') AS m FROM reason_rows t
  UNION ALL SELECT 'three', train_margin(plan, t, '{"lambda": 1e-2, "exclude": ["id", "plan", "words", "emb"]}') FROM reason_rows t
  UNION ALL SELECT 'amount', train_margin(age + id % 7, t, '{"lambda": 1e-3, "loss": "squared", "exclude": ["id", "words", "emb"], "tolerance": 1e-6}') FROM reason_rows t;
SELECT class, side, rank, "column", value, sign(contribution) AS sign FROM reason_models, reason_rows t, margin_reasons(m, t) WHERE name = 'two' AND id = 11;
-- Missing, a moment, a value that the training did not have, an interval.
SELECT side, rank, "column", value FROM reason_models, margin_reasons(m, '{"age": 64.5, "plan": "gold", "vip": false, "calls": null, "since": "1900-02-28 12:30:01", "emb": [1, 2], "words": {"3": 1}}'::jsonb, 9) WHERE name = 'two' ORDER BY "column", value;
SELECT class, side, "column" FROM reason_models, reason_rows t, margin_reasons(m, t, 1) WHERE name = 'three' AND id = 11;
-- Of a regression: what lowers and what raises the prediction. The parts of all columns and the base are the score.
SELECT class, side, rank, "column", value FROM reason_models, reason_rows t, margin_reasons(m, t, 2) WHERE name = 'amount' AND id = 11;
SELECT name, bool_and(abs(explained - margin_score(m, t)) < 1e-9) AS whole, bool_and(ordered) AS ordered, bool_and(halves) AS halves FROM (
  SELECT name, id, m, t, (SELECT sum(contribution) FROM margin_reasons(m, t, 100)) + (SELECT contribution FROM margin_explain(m, t) WHERE feature = '(base)') AS explained,
         (SELECT bool_and(abs(contribution) <= coalesce(before, 'Infinity')) FROM (SELECT contribution, lag(abs(contribution)) OVER (PARTITION BY side ORDER BY rank) AS before FROM margin_reasons(m, t, 100)) r) AS ordered,
         (SELECT bool_and((side = 'for') = (contribution > 0)) FROM margin_reasons(m, t)) AS halves
    FROM reason_models, reason_rows t WHERE name <> 'three') s GROUP BY name ORDER BY name;
-- Leap years, the first days of eras: as the server writes them.
SELECT count(*) AS days, count(*) FILTER (WHERE value = to_char(o.d, 'YYYY-MM-DD')) AS same FROM (SELECT train_margin(i > 5, o, '{"lambda": 1e-3}') AS m FROM generate_series(1, 10) i, LATERAL (SELECT date '2000-01-01' + i AS d) o) s,
  generate_series(timestamp '0001-01-01', '2400-12-31', '71 days') AS day, LATERAL (SELECT day::date AS d) o, margin_reasons(m, o);
-- Arrays count from 0.
SELECT side, rank, "column", value, contribution FROM margin_reasons(jsonb_populate_record(NULL::margin_model, '{"weights": [[0.5, 0, -2]], "intercept": [1], "classes": ["a", "b"], "dimensions": 3, "loss": "hinge", "lambda": 1}'), '{3,4,1}'::real[], 1);
CREATE FUNCTION reason_error(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN EXECUTE statement; RETURN 'no error'; EXCEPTION WHEN OTHERS THEN GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT; RETURN SQLSTATE || ': ' || SQLERRM || ' | ' || hint; END $$;
SELECT reason_error(s) FROM unnest(ARRAY[$q$SELECT margin_reasons(m, t, 0) FROM reason_models, reason_rows t$q$, $q$SELECT margin_reasons(m, '{"age": 1}'::jsonb) FROM reason_models$q$,
  $q$SELECT margin_reasons(train_margin(y, t, '{"lambda": 1e-3, "kernel": "rbf", "exclude": ["id", "y"]}'), (SELECT t FROM reason_rows t LIMIT 1)) FROM reason_rows t$q$]) s;
SELECT count(*) FROM reason_models, margin_reasons(m, NULL::reason_rows);
DROP TABLE reason_rows, reason_models;
DROP FUNCTION reason_error;

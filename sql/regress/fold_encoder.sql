-- Cross-validation of rows with named columns: each fold has the encoder of the rows that train for it, as trainings by hand have.
SET client_min_messages = error;
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(E'\n', sqlstate || ': ' || sqlerrm, nullif(hint, ''));
END $$;
-- NULLs in every fold and in one alone, categories of one row, a column that is constant but for one row.
CREATE TABLE fold_rows AS
SELECT i AS id, i % 4 AS fold, 20 + i * 37 % 50 AS age, CASE WHEN i % 7 > 0 THEN exp(sin(i * 1.3)) END AS spend, CASE WHEN i <> 8 THEN cos(i * 2.1) END AS once,
       (i = 5)::int AS still, CASE WHEN i % 29 = 0 THEN 'rare ' || i WHEN i % 11 = 0 THEN NULL ELSE (ARRAY['a', 'b', 'c'])[1 + i % 3] END AS plan,
       CASE WHEN i <> 12 THEN (ARRAY['x', 'y'])[1 + i % 2] END AS kind, ARRAY[sin(i * 0.7), i % 5]::real[] AS emb,
       CASE WHEN i % 13 > 0 THEN ARRAY['m' || i % 3, 'n' || i % 5] || CASE WHEN i % 31 = 0 THEN ARRAY['a rare ' || i] ELSE '{}' END END AS tags, array_to_tsvector(ARRAY['u' || i % 4, 'v' || i % 7, 'w' || i / 100]) AS words,
       sin(i * 1.3) + (i % 3 = 0)::int + 0.3 * cos(i * 4.7) > 0.5 AS ill, 10 + 3 * sin(i * 1.3) + i % 3 + cos(i * 4.7) AS cost
  FROM generate_series(1, 240) AS i;
CREATE FUNCTION fold_options(more jsonb) RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$ SELECT '{"lambda": 1e-3, "solver": "newton", "tolerance": 1e-6, "exclude": ["id", "fold", "ill", "cost"]}'::jsonb || more $$;
CREATE FUNCTION by_hand(more jsonb) RETURNS TABLE (fold int, id int, score float8) STABLE LANGUAGE sql AS $$
  SELECT f, t.id, CASE WHEN more ->> 'loss' = 'squared' THEN margin_predict(m, t)::float8 ELSE margin_score(m, t) END
    FROM generate_series(0, 3) AS f,
         LATERAL (SELECT CASE WHEN more ->> 'loss' = 'squared' THEN (SELECT train_margin(r.cost, r, fold_options(more) || '{"missing": "impute", "unknown_features": "reference"}' ORDER BY r.id) FROM fold_rows r WHERE r.fold <> f)
                              ELSE (SELECT train_margin(r.ill, r, fold_options(more) || '{"missing": "impute", "unknown_features": "reference"}' ORDER BY r.id) FROM fold_rows r WHERE r.fold <> f) END AS m OFFSET 0) AS trained,
         fold_rows AS t WHERE t.fold = f $$;

-- Scores of rows not seen, and the losses of the folds.
CREATE FUNCTION agrees(more jsonb, OUT scores boolean, OUT losses boolean, OUT otherwise_for_all boolean) STABLE LANGUAGE plpgsql AS $$
DECLARE cv margin_selection; whole margin_selection; hand float8[]; values float8[];
BEGIN
  IF more ->> 'loss' = 'squared' THEN
    cv := (SELECT margin_cross_validate(cost, r, 1, fold, fold_options(more) || '{"predictions": true, "metric": "mse"}' ORDER BY id) FROM fold_rows r);
    whole := (SELECT margin_cross_validate(cost, r, 1, fold, fold_options(more) || '{"encoder": "all", "metric": "mse"}' ORDER BY id) FROM fold_rows r);
    SELECT array_agg(score ORDER BY id) INTO hand FROM by_hand(more);
    SELECT array_agg(l ORDER BY fold) INTO values FROM (SELECT fold, avg((score - cost) ^ 2) AS l FROM by_hand(more) JOIN fold_rows USING (id, fold) GROUP BY fold) q;
  ELSE
    cv := (SELECT margin_cross_validate(ill, r, 1, fold, fold_options(more) || '{"predictions": true, "metric": "log_loss"}' ORDER BY id) FROM fold_rows r);
    whole := (SELECT margin_cross_validate(ill, r, 1, fold, fold_options(more) || '{"encoder": "all", "metric": "log_loss"}' ORDER BY id) FROM fold_rows r);
    SELECT array_agg(score ORDER BY id) INTO hand FROM by_hand(more);
    SELECT array_agg(l ORDER BY fold) INTO values FROM (SELECT fold, avg(ln(1 + exp(CASE WHEN ill THEN -score ELSE score END))) AS l FROM by_hand(more) JOIN fold_rows USING (id, fold) GROUP BY fold) q;
  END IF;
  scores := (SELECT bool_and(abs(a - b) <= 1e-12 * (1 + abs(a))) FROM unnest(cv.predictions, hand) AS t(a, b));
  -- A path of sparse models is followed by a solver of its own.
  losses := (SELECT bool_and(abs(a - b) <= CASE WHEN more ? 'l1_ratio' THEN 1e-4 ELSE 1e-12 END * (1 + abs(a))) FROM unnest(cv.fold_values, values) AS t(a, b));
  otherwise_for_all := (SELECT bool_and(abs(a - b) > 1e-9) FROM unnest(whole.fold_values, values) AS t(a, b));
END $$;
SELECT o, a.* FROM unnest(ARRAY['{"loss": "logistic"}', '{"loss": "squared"}', '{"loss": "squared", "standardize": true}', '{"loss": "logistic", "bins": 8}',
  '{"loss": "logistic", "bins": 8, "interactions": ["age*plan", "spend*kind"]}', '{"loss": "logistic", "standardize": false}',
  '{"loss": "logistic", "l1_ratio": 0.5, "penalty_factor": {"age": 0.1}, "solver": "prox_newton"}', '{"loss": "logistic", "bounds": {"tags: n1": [0.3, 0.3], "words: v6": [-0.2, -0.2]}}', '{"loss": "logistic", "monotone": {"spend": 1}, "solver": "auto"}']::jsonb[]) AS o, agrees(o) AS a;

-- Forward: the encoder is that of the rows before. The first fold has no prediction.
SELECT count(*) AS rows, count(p) AS predicted FROM unnest((SELECT (margin_cross_validate(ill, r, fold_options('{"loss": "logistic", "split": "forward", "folds": 3, "predictions": true}') ORDER BY id)).predictions FROM fold_rows r)) AS p;
-- Several settings; a reference that a fold does not have; features by number, which are other ones in a fold.
SELECT cardinality((cv).lambdas) AS settings, (cv).unfinished, (cv).options - 'lambda' - 'loss' - 'bounds' AS options
  FROM (SELECT margin_cross_validate(ill, r, 1, fold, fold_options('{"lambda": null, "lambdas": [0.1, 0.01], "losses": ["logistic", "squared_hinge"], "grid": {"bounds": [{"3": [0, null]}, {"3": [null, 0], "plan=rare 58": [-1, 1]}]}, "reference": {"plan": "rare 29"}, "metric": "auc", "tolerance": 0.01}') ORDER BY id) AS cv FROM fold_rows r) q;
SELECT pg_temp.error_of($$SELECT margin_cross_validate(ill, r, fold_options('{"loss": "logistic", "encoder": "both"}')) FROM fold_rows r$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(ill, r.emb, '{"loss": "logistic", "encoder": "fold"}') FROM fold_rows r$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(ill, r, fold_options('{"loss": "logistic", "certified": 0.01, "encoder": "fold"}')) FROM fold_rows r$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(ill, r, fold_options('{"loss": "logistic", "bins": 8, "bounds": {"1": [0, null]}}')) FROM fold_rows r$$);
DROP FUNCTION agrees, by_hand, fold_options;
DROP TABLE fold_rows;

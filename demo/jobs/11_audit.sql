-- Job 11: a decision is questioned. What did the model say, is it the best one, and would another one have said otherwise?
CREATE TABLE decided AS SELECT 'v1' AS version, train_margin(defaulted, a, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id, defaulted}', dual_weights => true) ORDER BY id) AS model FROM applications a;

-- The model, and the proof that no other of its kind has an objective much lower, from the rows and without its solver.
SELECT (v).rows, (v).primal - (v).dual <= 1e-3 * (v).primal AS proven FROM (SELECT margin_verify(model, defaulted, a ORDER BY id) AS v FROM applications a, decided) AS s;

-- It is about the rows that it is given: whether these are all of the training is for you to see.
SELECT (v).rows = (model).rows AS all_of_them FROM decided, (SELECT margin_verify(model, defaulted, a ORDER BY id) AS v FROM applications a, decided WHERE id < 3000) AS s;

-- The case: its score, its reasons, and whether the exact optimum could decide otherwise.
CREATE TABLE appeal AS SELECT * FROM applications ORDER BY late DESC, id LIMIT 1;
SELECT margin_predict(model, a) AS predicted, i.certain FROM appeal a, decided, margin_score_interval(model, a) AS i;
SELECT side, rank, "column", value FROM appeal a, decided, margin_reasons(model, a, 2) ORDER BY side DESC, rank;

-- Would it have been otherwise with fewer late payments? Ask the model.
SELECT n AS late, margin_predict(model, r) AS predicted FROM decided, appeal a, generate_series(0, 4, 2) AS n, LATERAL (SELECT a.income, a.employed, a.purpose, a.home, a.debt, n AS late) AS r ORDER BY n;

-- A model is compared with its stored copy, to the bit; edited, it is found out.
SELECT margin_from_json(margin_to_json(model)) = model AS same FROM decided;
SELECT margin_from_json(jsonb_set(margin_to_json(model), '{weights,0}', '"large"')) IS NULL FROM decided;
SELECT margin_from_json(margin_to_json(model) - 'intercept') IS NULL FROM decided;

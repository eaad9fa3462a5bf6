-- Job 12: which desk answers a message? Texts of free words.

-- Such a text is no category: everyone has another.
SELECT (train_margin(desk, m, '{"lambda": 1e-3, "exclude": ["id", "desk"]}')).status FROM messages m;

-- Words are: each is a category of its own, hashed into as many features as there may be.
CREATE VIEW words AS SELECT id, desk, (SELECT margin_sparse(array_agg(i ORDER BY i), array_agg(1.0::float8), 65536) FROM (SELECT DISTINCT 1 + (hashtext(word) & 65535) AS i FROM regexp_split_to_table(body, ' ') AS word WHERE word !~ '[0-9]') AS w) AS x FROM messages;
CREATE TABLE desks AS SELECT train_margin(desk, x, margin_options(lambda => 1e-3, loss => 'logistic', unseen => 'ignore')) AS model FROM words WHERE margin_fold(id) > 1;
SELECT (model).status, (model).classes FROM desks;
SELECT (e).accuracy > 0.9 AS accuracy FROM (SELECT margin_evaluate(model, desk, x) AS e FROM words, desks WHERE margin_fold(id) = 1) AS s;
SELECT (e).confusion[1][1] > 0 AS first FROM (SELECT margin_evaluate(model, desk, x) AS e FROM words, desks WHERE margin_fold(id) = 1) AS s;

-- A string is not a vector, and a score of three classes is not one number.
SELECT margin_predict(model, 'where is my parcel') FROM desks;
SELECT margin_score(model, x) FROM words, desks LIMIT 1;

-- Those that the model is least sure of go to a person.
SELECT count(*) BETWEEN 20 AND 400 AS unsure FROM (SELECT (SELECT max(p) FROM unnest(margin_probabilities(model, x)) AS p) AS p FROM words, desks WHERE margin_fold(id) = 1) AS s WHERE p < 0.9;

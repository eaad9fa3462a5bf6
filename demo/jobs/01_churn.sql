-- Job 1: which customers are about to leave? A score from the table as it is: texts, dates, booleans and NULLs are features.

-- First try: the label is the wrong column, and it is one of the row, too. It is told.
SELECT (train_margin(calls, c)).status FROM customers c;

-- A row is called by its table's name, not by a column of it.
SELECT (train_margin(churned, plan, '{"lambda": 1e-3, "loss": "logistic"}')).status FROM customers;

-- The right label is a column of the row as well, and such a model is worth nothing.
SELECT (train_margin(churned, c, '{"lambda": 1e-3, "loss": "logistic"}')).rows FROM customers c;

-- So the label is excluded, and the key, which says nothing. Rows whose label is NULL are skipped: nobody knows yet.
CREATE TABLE churn AS
  SELECT train_margin(churned, c, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id, churned}')) AS model FROM customers c WHERE margin_fold(id) > 1;
SELECT (model).status, (model).rows, (model).skipped > 0 AS skipped FROM churn;

-- How good it is on a fifth of the customers that it has not seen.
SELECT (e).rows, (e).auc > 0.8 AS auc, (e).accuracy > 0.75 AS accuracy
  FROM (SELECT margin_evaluate(model, churned, c) AS e FROM customers c, churn WHERE margin_fold(id) = 1) AS s;

-- Whom to call today.
SELECT count(*), min(p) > 0.5 AS likely FROM (SELECT margin_probability(model, c) AS p FROM customers c, churn WHERE churned IS NULL ORDER BY p DESC LIMIT 20) AS s;

-- A customer from a form, as jsonb. A key that is misspelt is an error, not a guess.
SELECT margin_predict(model, '{"plan": "gold", "region": "north", "since": "2024-02-01", "age": null, "calls": 4, "bill": 55, "paperles": true}'::jsonb) FROM churn;
SELECT margin_predict(model, '{"plan": "golden", "region": "north", "since": "2024-02-01", "age": null, "calls": 4, "bill": 55, "paperless": true}'::jsonb) FROM churn;
SELECT margin_predict(model, '{"plan": "gold", "region": "north", "since": "2024-02-01", "age": null, "calls": 4, "bill": 55, "paperless": true}'::jsonb) FROM churn;

-- A subquery that lacks a column is told which.
SELECT margin_score(model, r) FROM (SELECT plan, region, since, age, calls FROM customers) AS r, churn LIMIT 1;

-- Job 8: the score in a database that does not have the extension.
CREATE TABLE churn AS
  SELECT train_margin(churned, c, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{id, churned}', unknown_features => 'reference')) AS model FROM customers c;
SELECT margin_sql(model) LIKE '%"calls"%' AS plain FROM churn;

-- As a generated column. The names are those of the columns.
SELECT format('ALTER TABLE customers ADD score float8 GENERATED ALWAYS AS (%s) STORED', margin_sql(model)) AS statement FROM churn
\gset
:statement;
SELECT bool_and(score = margin_score(model, c)) AS same_bits, count(score) = count(*) AS all_rows FROM customers c, churn;

-- A table whose column has another name: the expression says which it misses.
SELECT format('SELECT %s FROM (SELECT plan AS tariff, region, since, age, calls, bill, paperless FROM customers) AS c', margin_sql(model)) AS statement FROM churn
\gset
:statement;
-- Several tables in one query: with the name of the one that is meant.
SELECT format('SELECT count(%s) > 0 AS scored FROM customers AS c JOIN customers AS other USING (id)', margin_sql(model, alias => 'c')) AS statement FROM churn
\gset
:statement;

-- Models of kernels, and of hashed words, are no expression.
SELECT margin_sql(m) FROM (SELECT train_margin(churned, ARRAY[calls, bill], '{"lambda": 0.01, "kernel": "rbf"}') AS m FROM customers WHERE id <= 200) AS s;
SELECT margin_sql(m) FROM (SELECT train_margin(churned, r, '{"lambda": 0.01}') AS m FROM (SELECT churned, (SELECT f FROM (SELECT margin_features(plan) AS words, calls) AS f) AS r FROM customers) AS s) AS t;

-- Job 3: every night a new model, while categories come and go.
CREATE TABLE nights (night integer, model margin_model);
INSERT INTO nights SELECT 1, train_margin(churned, c, margin_options(lambda => 1e-4, loss => 'logistic', exclude => '{id, churned}')) FROM customers c WHERE id <= 1500 AND region <> 'west';

-- Next day the first customers of the west are there. The old model does not know them ...
SELECT margin_score(model, c) IS NULL AS scored FROM nights, (SELECT * FROM customers WHERE region = 'west' ORDER BY id LIMIT 1) AS c;

-- ... unless it was told to take such values for none of those it knows.
SELECT bool_and(margin_score(model, c) IS NOT NULL) AS scored
  FROM (SELECT train_margin(churned, c, margin_options(lambda => 1e-4, loss => 'logistic', exclude => '{id, churned}', unknown_features => 'reference')) AS model FROM customers c WHERE region <> 'west') AS m, customers c;

-- Start from last night's model: what both know goes on from its weights, by the names of columns and categories.
INSERT INTO nights SELECT 2, train_margin(churned, c, margin_options(lambda => 1e-4, loss => 'logistic', exclude => '{id, churned}', initial => (SELECT model FROM nights WHERE night = 1))) FROM customers c WHERE region <> 'south';
SELECT night, (model).status FROM nights ORDER BY night;

-- From scratch it is the same model, to the tolerance.
SELECT abs((cold).primal - (model).primal) < 2e-3 * (model).primal AS same
  FROM nights, (SELECT train_margin(churned, c, margin_options(lambda => 1e-4, loss => 'logistic', exclude => '{id, churned}')) AS cold FROM customers c WHERE region <> 'south') AS s WHERE night = 2;

-- A column that the table gains becomes a feature in silence. A job that runs by itself names its columns.
ALTER TABLE customers ADD note text DEFAULT 'none';
SELECT jsonb_path_query_array((m).encoder, '$.columns[*].name') AS columns
  FROM (SELECT train_margin(churned, c, margin_options(lambda => 1e-4, loss => 'logistic', include => '{plan, region, since, age, calls, bill}')) AS m FROM customers c) AS s;
SELECT (train_margin(churned, c, margin_options(lambda => 1e-4, loss => 'logistic', include => '{plan, regoin}'))).status FROM customers c;

-- A job that must not fail on a bad night: no model in place of an error, and the old one stays.
SELECT train_margin(churned, c, margin_options(lambda => 1e-4, loss => 'logistic', exclude => '{id, churned}', on_error => 'null')) IS NULL AS no_model FROM customers c WHERE NOT churned;

-- Customers that leave, by a model whose curves do not contradict what a manager expects and whose groups score alike: the figures of
-- docs/reference/losses.md. In the folder ../shared/data/tables: psql -f load.sql, then psql -f bench/telco_rules.sql.
\pset pager off
CREATE TEMPORARY TABLE customers AS SELECT (row_number() OVER (ORDER BY customer_id))::int AS id, t.*, CASE senior_citizen WHEN 1 THEN 'senior' ELSE 'other' END AS "group" FROM telco AS t;
CREATE TEMPORARY TABLE rules (n int, rules text, o jsonb);
INSERT INTO rules VALUES (1, 'none', '{}'),
  (2, 'monotone', '{"monotone": {"tenure": -1, "monthly_charges": 1}}'),
  (3, 'monotone, parity 0.4', '{"monotone": {"tenure": -1, "monthly_charges": 1}, "fairness": {"column": "group", "group": "senior", "bound": 0.4}}'),
  (4, 'monotone, parity 0.2', '{"monotone": {"tenure": -1, "monthly_charges": 1}, "fairness": {"column": "group", "group": "senior", "bound": 0.2}}'),
  (5, 'monotone, parity 0', '{"monotone": {"tenure": -1, "monthly_charges": 1}, "fairness": {"column": "group", "group": "senior", "bound": 0}}');
CREATE TEMPORARY TABLE models AS
  SELECT n, rules, train_margin(churn = 'Yes', c, o || '{"loss": "logistic", "lambda": 1e-4, "tolerance": 1e-8, "bins": 64, "missing": "impute", "exclude": ["id", "customer_id", "churn", "senior_citizen", "group"]}' ORDER BY id) AS m
    FROM rules, customers AS c WHERE id % 5 <> 0 GROUP BY n, rules;
-- How far the curve of a column rises where it should fall, or falls where it should rise: a violation of what the rule says.
SELECT rules, (m).status, round((m).dual::numeric, 5) AS at_least, round((m).primal::numeric, 5) AS objective,
       (SELECT round((margin_evaluate(m, churn = 'Yes', c)).auc::numeric, 4) FROM customers AS c WHERE id % 5 = 0) AS auc,
       (SELECT round((avg(margin_score(m, c)) FILTER (WHERE "group" = 'senior') - avg(margin_score(m, c)) FILTER (WHERE "group" <> 'senior'))::numeric, 4) FROM customers AS c WHERE id % 5 <> 0) AS apart,
       (SELECT round((avg(margin_score(m, c)) FILTER (WHERE "group" = 'senior') - avg(margin_score(m, c)) FILTER (WHERE "group" <> 'senior'))::numeric, 4) FROM customers AS c WHERE id % 5 = 0) AS apart_held_out,
       (SELECT count(*) FROM margin_rules(m) WHERE active) AS active,
       (SELECT round(sum(price)::numeric, 4) FROM margin_rules(m) WHERE name ~ 'parity' AND active) AS price,
       (SELECT max(greatest(CASE relation WHEN '>=' THEN bound - value ELSE value - bound END, 0)) FROM margin_rules(m)) AS violation,
       (SELECT count(*) FROM margin_weights(m) WHERE name LIKE 'tenure > %' AND weight > 0) AS tenure_up, (SELECT count(*) FROM margin_weights(m) WHERE name LIKE 'monthly_charges > %' AND weight < 0) AS charges_down
  FROM models ORDER BY n;

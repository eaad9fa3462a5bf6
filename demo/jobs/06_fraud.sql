-- Job 6: fraud is rare. Whom to ask is a matter of what a mistake costs.
CREATE TABLE guards AS
  SELECT train_margin(fraud, p, margin_options(lambda => 1e-4, loss => 'logistic', exclude => '{id, fraud, at}')) AS model
    FROM (SELECT id, fraud, at, ln(amount) AS amount, country, shop, card_days, extract(hour FROM at) < 5 AS night FROM payments) AS p WHERE margin_fold(id) > 1;

-- One in fifty is fraud, and a rule that never says so is right nearly always. That is what the WARNING says.
SELECT (model).status FROM guards;
CREATE VIEW asked AS SELECT id, fraud, ln(amount) AS amount, country, shop, card_days, extract(hour FROM at) < 5 AS night FROM payments WHERE margin_fold(id) = 1;
SELECT (e).accuracy > 0.97 AS accuracy, (e).auc > 0.7 AS auc FROM (SELECT margin_evaluate(model, fraud, a) AS e FROM asked a, guards) AS s;

-- A missed fraud costs 40 times what asking an honest customer does.
SELECT (margin_threshold(model, fraud, a, '{"cost": [1, 40]}')).threshold FROM asked a, guards;
SELECT (margin_threshold(model, fraud, a, '{"costs": {"false_negatives": 40}}')).threshold FROM asked a, guards;
CREATE TABLE rule AS SELECT (margin_threshold(model, fraud, a, '{"costs": {"false_positive": 1, "false_negative": 40}}')).* FROM asked a, guards;
SELECT precision < 0.5 AS many_are_asked, recall > 0.3 AS found FROM rule;
SELECT count(*) BETWEEN 20 AND 800 AS to_ask FROM asked a, guards, rule WHERE margin_score(model, a) >= threshold;

-- Weights of the classes are another way: the model is then about balanced classes, and its probabilities, too.
SELECT (e).recall[2] > 0.3 AS found
  FROM (SELECT margin_evaluate(model, fraud, a) AS e FROM asked a,
        (SELECT train_margin(fraud, p, margin_options(lambda => 1e-4, loss => 'logistic', class_weight => 'balanced', exclude => '{id, fraud}')) AS model
           FROM (SELECT id, fraud, ln(amount) AS amount, country, shop, card_days, extract(hour FROM at) < 5 AS night FROM payments) AS p WHERE margin_fold(id) > 1) AS m) AS s;

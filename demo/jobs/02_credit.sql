-- Job 2: a credit scorecard: points for each value, and reasons for every decision.
CREATE TABLE cards AS
  SELECT train_margin(defaulted, a, margin_options(lambda => 1e-3, loss => 'logistic', bins => 8, exclude => '{id, defaulted}')) AS model FROM applications a WHERE margin_fold(id) > 1;

-- The card: 20 points halve the odds of a default. Of numbers a line for each bin.
SELECT term AS column, level, above, upto, round(-20 / ln(2) * contribution) AS points FROM cards, margin_shape(model, 'home');
SELECT term AS column, count(*) > 3 AS bins, max(-contribution) > 0 AND min(-contribution) < 0 AS both_signs FROM cards, margin_shape(model) WHERE above IS NOT NULL OR upto IS NOT NULL GROUP BY term ORDER BY term;

-- A column that is not there.
SELECT * FROM cards, margin_shape(model, 'salary');

-- Why was this one refused? The class is "defaulted", so the reasons against the applicant are those in favour of it.
SELECT rank, "column", value FROM cards, (SELECT * FROM applications WHERE late = 4 ORDER BY id LIMIT 1) AS a, margin_reasons(model, a, 2) WHERE side = 'for' ORDER BY rank;

-- Points and contributions add up to the score.
SELECT bool_and(abs(s.sum - margin_score(model, a)) < 1e-9) AS add_up
  FROM cards, applications a, LATERAL (SELECT sum(contribution) FROM margin_explain(model, a)) AS s WHERE id <= 100;

-- Ask why of a model and a row, not of a score.
SELECT * FROM cards, margin_reasons(model, 3);

-- Is the probability right? Of those with a risk of 20 to 40 % so many defaulted.
SELECT abs(avg(p) - avg(defaulted::integer)) < 0.08 AS calibrated
  FROM (SELECT margin_probability(model, a) AS p, defaulted FROM applications a, cards WHERE margin_fold(id) = 1) AS s WHERE p BETWEEN 0.2 AND 0.4;

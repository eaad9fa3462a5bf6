-- What parity costs: credit cards, men and women
-- stdin: tables/default_credit_card_clients.csv.xz
--
-- 30,000 credit cards in Taiwan, a fifth held out. Sex is no feature; its mean scores may differ by a bound. The least objective is
-- convex in the bound, and its slope is the price that the constraint's multiplier says.
INSERT INTO panels SELECT :'figure', n, title, 'bound on the difference of mean scores', y, false, false
  FROM (VALUES (1, 'least objective', 'mean logistic loss and penalty'), (2, 'price', 'objective per unit of the bound'),
               (3, 'rows held out', 'area under the ROC curve'), (4, 'rows held out', 'mean score of men less that of women')) AS p (n, title, y);
CREATE TABLE parity1_cards (limit_bal int, sex text, education text, marriage text, age int, pay_0 int, pay_2 int, pay_3 int, pay_4 int, pay_5 int, pay_6 int,
  bill_amt1 float8, bill_amt2 float8, bill_amt3 float8, bill_amt4 float8, bill_amt5 float8, bill_amt6 float8,
  pay_amt1 float8, pay_amt2 float8, pay_amt3 float8, pay_amt4 float8, pay_amt5 float8, pay_amt6 float8, defaulted int);
\copy parity1_cards FROM pstdin CSV HEADER
ALTER TABLE parity1_cards ADD id int GENERATED ALWAYS AS IDENTITY;
CREATE TABLE parity1 AS
  SELECT measure, bound, train_margin(defaulted = 1, c, margin_options(loss => 'logistic', lambda => 1e-4, tolerance => 1e-8, exclude => '{id, defaulted, sex}',
           fairness => jsonb_build_object('column', 'sex', 'measure', measure, 'bound', bound)) ORDER BY id) AS m
    FROM parity1_cards AS c, unnest('{score_parity,true_positive_parity}'::text[]) AS measure, unnest('{0,0.01,0.02,0.03,0.05,0.07,0.1,0.12,0.15,0.2}'::float8[]) AS bound
   WHERE id % 5 <> 0 GROUP BY measure, bound;
CREATE TABLE parity1_prices AS
  SELECT measure, bound, (m).status, (m).primal AS objective, coalesce((SELECT sum(abs(price)) FROM margin_rules(m) WHERE name LIKE '%parity of sex%'), 0) AS price FROM parity1;
CREATE TABLE parity1_held_out AS
  SELECT measure, bound, (margin_evaluate(m, defaulted = 1, c)).auc AS auc,
         avg(margin_score(m, c)) FILTER (WHERE sex = 'male' AND (measure = 'score_parity' OR defaulted = 1)) - avg(margin_score(m, c)) FILTER (WHERE sex <> 'male' AND (measure = 'score_parity' OR defaulted = 1)) AS apart
    FROM parity1, parity1_cards AS c WHERE id % 5 = 0 GROUP BY m, measure, bound;
INSERT INTO curves
  SELECT :'figure', 1, measure, bound, objective FROM parity1_prices UNION ALL SELECT :'figure', 2, measure, bound, price FROM parity1_prices
  UNION ALL SELECT :'figure', 3, measure, bound, auc FROM parity1_held_out UNION ALL SELECT :'figure', 4, measure, bound, apart FROM parity1_held_out;
INSERT INTO claims (figure, claim, measured, holds)
  SELECT :'figure', 'every optimum is certified', count(*) || ' models', bool_and(status = 'optimal') FROM parity1_prices;
INSERT INTO claims (figure, claim, measured, holds)
  SELECT :'figure', 'between two bounds the objective falls by no less than the price at the larger one and no more than that at the smaller one',
         count(*) || ' intervals', bool_and(fall <= width * price + 1e-7 AND fall >= width * next_price - 1e-7)
    FROM (SELECT price, lead(price) OVER w AS next_price, objective - lead(objective) OVER w AS fall, lead(bound) OVER w - bound AS width FROM parity1_prices WINDOW w AS (PARTITION BY measure ORDER BY bound)) AS t
   WHERE width IS NOT NULL;
\echo
SELECT measure, bound, round(objective::numeric, 4) AS objective, round(price::numeric, 3) AS price, round(auc::numeric, 4) AS auc, round(apart::numeric, 3) AS apart
  FROM parity1_prices JOIN parity1_held_out USING (measure, bound) ORDER BY 1, 2;

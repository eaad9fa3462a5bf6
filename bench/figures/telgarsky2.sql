-- Telgarsky (2013), Figure 2: shrinkage leads to margin maximisation
--
-- The paper, on the 8 x 8 matrix of Rudin et al. (2004): AdaBoost, whose step is optimal without shrinkage, does not reach the
-- maximum margin; with shrinkage 1/2 and smaller it does, and the threshold lies at roughly 0.92.
INSERT INTO panels VALUES (:'figure', 1, 'AdaBoost steps times nu', 'rounds', 'margin', true, false);
CREATE TABLE telgarsky2_runs AS
  SELECT nu, train_margin(y, x, margin_options(norm => 1, solver => 'boosting', step => 'adaboost', shrinkage => nu, working_set => false,
                                               intercept => false, history => true, tolerance => 0, max_iterations => 10000) ORDER BY id) AS model
    FROM rudin, unnest('{1,0.95,0.9,0.5,0.25,0.1}'::float8[]) AS nu GROUP BY nu;
CREATE TABLE telgarsky2_points AS
  SELECT DISTINCT ON (nu, round(30 * log(iteration))) nu, iteration, lower AS margin FROM telgarsky2_runs, margin_history(model)
   WHERE iteration > 0 ORDER BY nu, round(30 * log(iteration)), iteration DESC;
INSERT INTO curves SELECT :'figure', 1, 'nu = ' || nu, iteration, margin FROM telgarsky2_points WHERE margin > -1;
INSERT INTO curves SELECT :'figure', 1, 'maximum margin 3/8', v, 0.375 FROM unnest('{1,10000}'::int[]) AS v;

CREATE TABLE telgarsky2_last AS SELECT nu, (model).margin_lower AS margin FROM telgarsky2_runs;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'without shrinkage AdaBoost ends at a margin of about 1/3', round(margin::numeric, 4)::text, margin BETWEEN 0.33 AND 0.335
  FROM telgarsky2_last WHERE nu = 1
UNION ALL
SELECT :'figure', 'with shrinkage 1/2 and smaller it reaches 3/8 up to 1 %', string_agg(format('%s: %s', nu, round(margin::numeric, 4)), ', ' ORDER BY nu DESC),
       min(margin) > 0.99 * 0.375 FROM telgarsky2_last WHERE nu <= 0.5
UNION ALL
SELECT :'figure', 'the threshold lies between 0.9 and 0.95', string_agg(format('%s: %s', nu, round(margin::numeric, 4)), ', ' ORDER BY nu DESC),
       max(margin) FILTER (WHERE nu = 0.9) > 0.37 AND max(margin) FILTER (WHERE nu = 0.95) < 0.34 FROM telgarsky2_last WHERE nu IN (0.9, 0.95)
UNION ALL
SELECT :'figure', 'no certificate contradicts the maximum', 'upper bounds from ' || round(min((model).margin_upper)::numeric, 4), min((model).margin_upper) >= 0.375 - 1e-12
  FROM telgarsky2_runs;

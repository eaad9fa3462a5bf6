-- Telgarsky (2013), Figure 3: the Wolfe search maximises margins
--
-- The paper, on the same matrix: the Wolfe search is effective, but demanding higher accuracy (smaller nu) comes at a price in
-- rounds.
INSERT INTO panels VALUES (:'figure', 1, 'Wolfe steps', 'rounds', 'margin', true, false);
CREATE TABLE telgarsky3_runs AS
  SELECT nu, train_margin(y, x, margin_options(norm => 1, solver => 'boosting', step => 'wolfe', shrinkage => nu, working_set => false,
                                               intercept => false, history => true, tolerance => 0, max_iterations => 10000) ORDER BY id) AS model
    FROM rudin, unnest('{1,0.5,0.25,0.125,0.0625}'::float8[]) AS nu GROUP BY nu;
CREATE TABLE telgarsky3_points AS
  SELECT nu, iteration, lower AS margin FROM telgarsky3_runs, margin_history(model) WHERE iteration > 0;
INSERT INTO curves
  SELECT DISTINCT ON (nu, round(30 * log(iteration))) :'figure', 1, 'nu = ' || nu, iteration, margin FROM telgarsky3_points
   WHERE margin > -1 ORDER BY nu, round(30 * log(iteration)), iteration DESC;
INSERT INTO curves SELECT :'figure', 1, 'maximum margin 3/8', v, 0.375 FROM unnest('{1,10000}'::int[]) AS v;

CREATE TABLE telgarsky3_last AS
  SELECT nu, max(margin) AS last, min(iteration) FILTER (WHERE margin >= 0.5 * 0.375) AS half FROM telgarsky3_points GROUP BY nu;
INSERT INTO claims (figure, claim, measured, holds)
SELECT :'figure', 'every nu reaches the margin that its accuracy promises, (1 - nu) of the maximum, and all nu up to 1/2 reach 99 %',
       string_agg(format('%s: %s', nu, round(last::numeric, 4)), ', ' ORDER BY nu DESC),
       bool_and(last >= 0.375 * (1 - nu)) AND min(last) FILTER (WHERE nu <= 0.5) > 0.99 * 0.375 FROM telgarsky3_last
UNION ALL
SELECT :'figure', 'the price: the smaller nu, the more rounds to half of the maximum', string_agg(format('%s: %s', nu, half), ', ' ORDER BY nu DESC),
       array_agg(half ORDER BY nu DESC) = array_agg(half ORDER BY half) FROM telgarsky3_last;

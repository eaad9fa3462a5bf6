-- Job 7: which model? Settings compared on rows that were held out.
CREATE TABLE choices AS
  SELECT margin_cross_validate(defaulted, a, margin_options(exclude => '{id, defaulted}') || '{"lambdas": [1e-1, 1e-2, 1e-3, 1e-4], "losses": ["logistic", "squared_hinge"], "metric": "auc", "folds": 5}') AS choice FROM applications a;
SELECT (choice).metric, (choice).best_mean > 0.75 AS good, (choice).options ? 'lambda' AS ready FROM choices;

-- All settings, and the simplest that is not clearly worse than the best.
SELECT (choice).losses[i] AS loss, (choice).lambdas[i] AS lambda, (choice).means[i] > 0.7 AS good FROM choices, generate_series(1, 8) AS i;
SELECT (choice).lambdas[(choice).one_standard_error] >= (choice).lambdas[(choice).best] AS simpler FROM choices;

-- The answer's options train the model. They are a jsonb of their own: a record has no options.
SELECT (train_margin(defaulted, a, choice)).status FROM applications a, choices;
SELECT (train_margin(defaulted, a, (SELECT (choice).options FROM choices))).status FROM applications a;

-- What a metric needs, and names that are nearly right.
SELECT margin_cross_validate(defaulted, a, margin_options(exclude => '{id, defaulted}') || '{"losses": ["hinge"], "metric": "log_loss"}') IS NULL FROM applications a;
SELECT margin_cross_validate(defaulted, a, margin_options(exclude => '{id, defaulted}') || '{"metric": "roc_auc"}') IS NULL FROM applications a;
SELECT margin_cross_validate(defaulted, a, margin_options(exclude => '{id, defaulted}') || '{"lambda": 0.1, "lambdas": [0.1]}') IS NULL FROM applications a;
SELECT margin_cross_validate(defaulted, a, '{"n_folds": 5}') IS NULL FROM applications a;

-- Job 5: a fair price, and between which prices four of five houses go.

-- A price is a number: without a loss it is taken for the name of a class.
SELECT (train_margin(price, h, '{"exclude": ["id", "price"]}')).status FROM houses h;

-- The logarithm is what district and area add up to. ln(price) is the label, price a column: one tells the other.
SELECT (train_margin(ln(price), h, margin_options(lambda => 1e-3, loss => 'squared', exclude => '{id}'))).rows FROM houses h WHERE id <= 500;

CREATE TABLE prices AS
  SELECT q, train_margin(ln(price), h, margin_options(lambda => 1e-4, loss => 'quantile', quantile => q, exclude => '{id, price}')) AS model
    FROM houses h, unnest('{0.1, 0.5, 0.9}'::float8[]) AS q WHERE margin_fold(id) > 1 GROUP BY q;
SELECT q, (model).status FROM prices ORDER BY q;

-- Forgetting GROUP BY is an error of the server.
SELECT q, train_margin(ln(price), h, margin_options(lambda => 1e-4, loss => 'quantile', quantile => q, exclude => '{id, price}')) FROM houses h, unnest('{0.1, 0.9}'::float8[]) AS q;

-- On houses not seen: about one in ten is below the first, nine in ten below the last.
SELECT q, abs(avg((ln(price) <= margin_score(model, h))::integer) - q) < 0.05 AS as_promised FROM houses h, prices WHERE margin_fold(id) = 1 GROUP BY q ORDER BY q;
SELECT (e).r2 > 0.8 AS r2 FROM (SELECT margin_evaluate(model, ln(price), h) AS e FROM houses h, prices WHERE q = 0.5 AND margin_fold(id) = 1) AS s;

-- One house, as jsonb; dates and numbers are checked.
SELECT q, round(exp(margin_score(model, '{"district": "hill", "area": 95, "rooms": 4, "built": 1974, "garden": true, "sold": "2026-01-15"}'::jsonb))::numeric / 1000) BETWEEN 100 AND 500 AS thousands FROM prices ORDER BY q;
SELECT margin_score(model, '{"district": "hill", "area": "95", "rooms": 4, "built": 1974, "garden": true, "sold": "2026-01-15"}'::jsonb) FROM prices WHERE q = 0.5;
SELECT margin_score(model, '{"district": "hill", "area": 95, "rooms": 4, "built": 1974, "garden": true, "sold": "15 of January"}'::jsonb) FROM prices WHERE q = 0.5;

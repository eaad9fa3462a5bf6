-- Job 10: a model for each shop, in one statement.

-- Without GROUP BY the server asks for it.
SELECT shop, train_margin(sold, s, '{"lambda": 1e-3, "loss": "poisson", "exclude": ["sold", "shop"]}') FROM sales s;

-- With it, one model each. The weekday is a text of a subquery, and so a category.
CREATE TABLE forecasts AS
  SELECT shop, train_margin(sold, r, margin_options(lambda => 1e-3, loss => 'poisson', exclude => '{sold, shop}')) AS model
    FROM (SELECT shop, sold, promotion, to_char(day, 'Dy') AS weekday FROM sales) AS r GROUP BY shop;
SELECT shop, (model).status, (model).rows FROM forecasts ORDER BY shop;

-- What a promotion does, shop by shop.
SELECT shop, exp(w.weight) BETWEEN 1.1 AND 1.9 AS lifts FROM forecasts, margin_weights(model) AS w WHERE w.name = 'promotion' AND shop < 6 ORDER BY shop;

-- Each row to the model of its shop: a join. A new shop has no model, and a weekday that a small one never saw is unknown to it.
SELECT r.shop, margin_predict(model, r)::float8 > 0 AS forecast
  FROM (SELECT shop, true AS promotion, 'Sun' AS weekday FROM generate_series(1, 7) AS shop WHERE shop <> 6) AS r LEFT JOIN forecasts USING (shop) ORDER BY 1;
SELECT margin_predict(model, r) FROM (SELECT 6 AS shop, true AS promotion, 'Sun' AS weekday) AS r JOIN forecasts USING (shop);

-- One group that cannot be trained on need not end the statement.
SELECT shop, train_margin(promotion, r, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{shop, promotion}')) IS NULL AS no_model FROM (SELECT shop, promotion, ln(sold) AS sold, to_char(day, 'Dy') AS weekday FROM sales WHERE shop < 6 OR promotion) AS r GROUP BY shop ORDER BY shop;
SELECT shop, train_margin(promotion, r, margin_options(lambda => 1e-3, loss => 'logistic', exclude => '{shop, promotion}', one_class => 'null')) IS NULL AS no_model FROM (SELECT shop, promotion, ln(sold) AS sold, to_char(day, 'Dy') AS weekday FROM sales WHERE shop < 6 OR promotion) AS r GROUP BY shop ORDER BY shop;

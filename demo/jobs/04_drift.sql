-- Job 4: an alarm when the rows are no longer those of the training.
CREATE TABLE days AS SELECT at::date AS day, margin_sum(margin_profile(p)) AS profile FROM (SELECT at::date AS at, amount, country, shop, card_days FROM payments) AS p GROUP BY at::date;

-- Profiles of days add up to that of the training's month, without reading its rows again.
SELECT name, type, count, nulls FROM margin_profile_columns((SELECT margin_sum(profile) FROM days WHERE day < date '2025-10-21')) ORDER BY name;

-- A usual day: nothing moved but the date, which always does.
SELECT name, psi > 0.25 AS alarm, outside > 0.5 AS outside
  FROM margin_drift((SELECT margin_sum(profile) FROM days WHERE day < date '2025-10-21'), (SELECT margin_sum(profile) FROM days WHERE day >= date '2025-10-21')) ORDER BY name;

-- A day on which somebody changed the currency, and a shop is spelt otherwise.
CREATE VIEW strange AS SELECT at::date AS at, amount * 100 AS amount, country, upper(shop) AS shop, card_days FROM payments WHERE id <= 500;
SELECT name, psi > 0.25 AS alarm, unseen = 1 AS unseen
  FROM margin_drift((SELECT margin_sum(profile) FROM days), (SELECT margin_sum(margin_profile(s)) FROM strange AS s)) WHERE name <> 'at' ORDER BY name;

-- Profiles of other columns do not add up.
SELECT margin_sum(p) IS NULL FROM (SELECT profile FROM days UNION ALL SELECT margin_sum(margin_profile(s)) FROM (SELECT amount, shop FROM payments) AS s) AS u(p);

-- The order of the arguments is before, after; a row is no profile.
SELECT * FROM margin_drift((SELECT margin_sum(profile) FROM days), (SELECT s FROM strange AS s LIMIT 1));

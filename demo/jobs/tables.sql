-- The tables of the jobs: made up, the same rows everywhere. u(i, k): a number from 0 to 1 that looks random.
CREATE EXTENSION margin;
CREATE FUNCTION u(i bigint, k integer) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$SELECT ('x' || substr(md5(i || '.' || k), 1, 7))::bit(28)::integer / 268435456.0$$;
CREATE FUNCTION normal(i bigint, k integer) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$SELECT u(i, k) + u(i, k + 1) + u(i, k + 2) + u(i, k + 3) + u(i, k + 4) + u(i, k + 5) - 3$$;

-- Customers of a telephone company. Of those since 2025-11 nobody knows yet whether they stay.
CREATE TABLE customers AS
  SELECT id, plan, region, since, age, calls, round(bill::numeric, 2) AS bill, paperless,
         CASE WHEN id <= 2000 THEN u(id, 30) < 1 / (1 + exp(1.5 - calls + (plan = 'gold')::integer * 2 + (since - date '2024-01-01') / 300.0 - (bill - 40) / 15)) END AS churned
    FROM (SELECT i AS id, (ARRAY['basic', 'silver', 'gold'])[1 + floor(u(i, 1) * 3)::integer] AS plan, (ARRAY['north', 'south', 'east', 'west'])[1 + floor(u(i, 2) * 4)::integer] AS region,
                 date '2022-01-01' + floor(u(i, 3) * 1400)::integer AS since, CASE WHEN u(i, 4) < 0.9 THEN 18 + floor(u(i, 5) * 60)::integer END AS age, floor(u(i, 6) ^ 3 * 7)::integer AS calls,
                 40 + 10 * normal(i, 10) AS bill, u(i, 7) < 0.6 AS paperless FROM generate_series(1, 2400) AS i) AS c;

-- Applications for credit, some paid back.
CREATE TABLE applications AS
  SELECT id, income, employed, purpose, home, debt, late,
         u(id, 30) < 1 / (1 + exp(2.2 + least(income, 60) / 20.0 - debt / 12.0 - late * 1.1 + (home = 'own')::integer * 0.7 + least(employed, 8) * 0.15)) AS defaulted
    FROM (SELECT i AS id, 15 + floor(u(i, 1) ^ 2 * 100)::integer AS income, CASE WHEN u(i, 2) < 0.93 THEN floor(u(i, 3) * 25)::integer END AS employed,
                 (ARRAY['car', 'education', 'furniture', 'repairs'])[1 + floor(u(i, 4) * 4)::integer] AS purpose, (ARRAY['own', 'rent', 'free'])[1 + floor(u(i, 5) * 3)::integer] AS home,
                 floor(u(i, 6) * 40)::integer AS debt, floor(u(i, 7) ^ 4 * 5)::integer AS late FROM generate_series(1, 3000) AS i) AS a;

-- Houses that were sold.
CREATE TABLE houses AS
  SELECT id, district, area, rooms, built, garden, sold,
         round((exp(11.2 + 0.006 * area + 0.05 * rooms + CASE district WHEN 'harbour' THEN 0.4 WHEN 'centre' THEN 0.3 WHEN 'hill' THEN 0.1 ELSE 0 END + garden::integer * 0.08
                    + (0.1 + area / 1500.0) * normal(id, 20)))::numeric, -2) AS price
    FROM (SELECT i AS id, (ARRAY['centre', 'harbour', 'hill', 'meadow'])[1 + floor(u(i, 1) * 4)::integer] AS district, 40 + floor(u(i, 2) * 160)::integer AS area, 1 + floor(u(i, 3) * 6)::integer AS rooms,
                 1900 + floor(u(i, 4) * 124)::integer AS built, u(i, 5) < 0.5 AS garden, date '2024-01-01' + floor(u(i, 6) * 700)::integer AS sold FROM generate_series(1, 2500) AS i) AS h;

-- Card payments; one in fifty was fraud.
CREATE TABLE payments AS
  SELECT id, at, amount, country, shop, card_days, u(id, 30) < 1 / (1 + exp(6.3 - ln(amount) * 0.6 - (country <> 'home')::integer * 1.7 - (shop = 'games')::integer * 1.2 - (extract(hour FROM at) < 5)::integer * 1.5 + card_days / 600.0)) AS fraud
    FROM (SELECT i AS id, timestamp '2025-10-01' + floor(u(i, 1) * 86400 * 30) * interval '1 s' AS at, round(exp(2 + 1.2 * normal(i, 10))::numeric, 2) AS amount,
                 (ARRAY['home', 'home', 'home', 'near', 'far'])[1 + floor(u(i, 2) * 5)::integer] AS country, (ARRAY['food', 'clothes', 'games', 'travel'])[1 + floor(u(i, 3) * 4)::integer] AS shop,
                 floor(u(i, 4) * 2000)::integer AS card_days FROM generate_series(1, 8000) AS i) AS p;

-- Messages of customers, and the desk that answered them.
CREATE FUNCTION filler(i bigint, k integer) RETURNS text IMMUTABLE LANGUAGE sql AS $$SELECT (ARRAY['hello', 'please', 'my', 'order', 'the', 'is', 'still', 'not', 'account', 'thanks'])[1 + floor(u(i, k) * 10)::integer]$$;
CREATE TABLE messages AS
  SELECT i AS id, desk, concat_ws(' ', filler(i, 20), filler(i, 21), CASE WHEN u(i, 9) < 0.85 THEN words[1 + floor(u(i, 10) * 4)::integer] END, filler(i, 22),
                                  CASE WHEN u(i, 11) < 0.5 THEN words[1 + floor(u(i, 12) * 4)::integer] END, 'nr', i) AS body
    FROM generate_series(1, 1200) AS i
    JOIN (VALUES (0, 'billing', ARRAY['invoice', 'refund', 'charged', 'payment']), (1, 'delivery', ARRAY['parcel', 'late', 'address', 'courier']),
                 (2, 'technical', ARRAY['error', 'crash', 'login', 'password'])) AS d(k, desk, words) ON k = floor(u(i, 1) * 3);

-- What shops sold a day.
CREATE TABLE sales AS
  SELECT shop, day, promotion, round(exp(3 + shop * 0.1 + promotion::integer * (0.2 + shop * 0.05) + (extract(isodow FROM day) > 5)::integer * 0.5 + 0.1 * normal(shop * 1000 + (day - date '2025-01-01'), 1))) AS sold
    FROM (SELECT shop, date '2025-01-01' + d AS day, u(shop * 1000 + d, 40) < 0.3 AS promotion FROM generate_series(1, 6) AS shop, generate_series(0, 299) AS d WHERE shop < 6 OR d < 4) AS s;

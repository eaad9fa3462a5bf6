-- margin_profile: what the columns of rows are, as one state.
-- What a statement raises: SQLSTATE, message, detail, hint.
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE m text; d text; h text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || m || CASE WHEN d <> '' THEN E'\n  DETAIL: ' || d ELSE '' END
                               || CASE WHEN h <> '' THEN E'\n  HINT: ' || h ELSE '' END;
END $$;

CREATE TYPE profile_mood AS ENUM ('sad', 'fine');
CREATE DOMAIN profile_age AS integer;
CREATE TEMP TABLE r AS
  SELECT i AS id, (18 + i * 7 % 60)::profile_age AS age, (ARRAY['basic', 'gold', NULL])[1 + i % 3] AS plan,
         date '2024-01-01' + i % 4 AS since, CASE WHEN i % 5 > 0 THEN i % 9 END AS calls, i % 3 = 0 AS churned,
         (ARRAY['sad', 'fine'])[1 + i % 2]::profile_mood AS mood, ARRAY[i, 0.5, -i]::real[] AS x, i::numeric / 4 AS paid,
         timestamptz '2026-03-01 12:00+00' + i % 2 * interval '6 hours' AS at, time '06:00' + i % 2 * interval '1 hour' AS daily,
         i * interval '12 hours' AS waited, '{1:1}/3'::margin_sparse AS s, '{}'::jsonb AS doc, repeat('ab', i * 40) AS long
    FROM generate_series(1, 12) AS i;

-- Every kind of column.
CREATE TEMP TABLE p AS SELECT margin_sum(margin_profile(r)) AS p FROM r;
SELECT name, type, count, nulls, mean, round(stddev::numeric, 12) AS stddev, min, max, distinct_values AS values FROM p, margin_profile_columns(p);
SELECT name, quantiles, top_values, top_counts, count_error FROM p, margin_profile_columns(p, at => '{0, 0.5, 1}', top => 2) WHERE top_values IS NOT NULL AND name <> 'long';
SELECT max(octet_length(v)) <= 256 AS bounded, count(DISTINCT v) FROM p, margin_profile_columns(p, top => 20), unnest(top_values) AS v WHERE name = 'long';

-- The figures of the server's own aggregates.
SELECT c.name, c.mean = avg(r.calls)::float8 AS mean, abs(c.stddev / stddev(r.calls)::float8 - 1) < 1e-15 AS stddev
  FROM p, margin_profile_columns(p) AS c, r WHERE c.name = 'calls' GROUP BY 1, c.mean, c.stddev;

-- Columns with their names are the row; text, binary and stored parts are the same bits, in any order.
CREATE TEMP TABLE plain AS SELECT margin_sum(margin_profile('["plan", "age", "x"]', plan, age, x)) AS p FROM r;
SELECT margin_sum(margin_profile(v))::text = (SELECT p::text FROM plain) AS same_as_rows FROM (SELECT age, plan, x FROM r) AS v;
SELECT margin_sum(margin_profile(r) ORDER BY id DESC)::text = (SELECT p::text FROM p) AS same_in_another_order FROM r;
CREATE TEMP TABLE parts AS SELECT id % 5 AS part, margin_sum(margin_profile(r)) AS p FROM r GROUP BY 1;
SELECT margin_sum(p)::text = (SELECT p::text FROM p) AS same_of_parts FROM parts;
SELECT p::text::margin_profile::text = p::text AS same_text FROM p;
SELECT margin_profile(r)::text::margin_profile::text = margin_profile(r)::text AS same_text FROM r WHERE id < 3;
SELECT margin_sum(p)::text = (SELECT p::text FROM p) AS same_of_one FROM p;
SELECT margin_sum(margin_profile('["v"]', v)) OVER (ORDER BY v) IS NULL FROM generate_series(1, 2) AS v;

-- Numbers that are none are counted, and sums neither overflow nor lose anything.
SELECT * FROM margin_profile_columns((SELECT margin_sum(margin_profile('["v"]', v))
  FROM unnest('{1e308, 1e308, NaN, 3, -1e308, Infinity, -1e308, -Infinity, 1e-300, NULL, -0}'::float8[]) AS v), '{0.5}') \gx
SELECT name, count, nulls, infinite, top_values FROM margin_profile_columns((SELECT margin_sum(margin_profile('["d", "n"]', d, n))
  FROM (VALUES (date 'infinity', 'NaN'::numeric), ('2024-02-29', 1), (NULL, NULL)) AS v (d, n)));

-- Many values: ranks within the bound that is told, frequent values found.
CREATE TEMP TABLE many AS SELECT CASE WHEN i % 10 = 0 THEN 7 ELSE sin(i) END AS v, CASE WHEN i % 4 = 0 THEN 'often' ELSE 'n' || i END AS t
  FROM generate_series(1, 50000) AS i;
CREATE TEMP TABLE q AS SELECT c.* FROM margin_profile_columns((SELECT margin_sum(margin_profile(many)) FROM many), '{0.1, 0.25, 0.5, 0.75, 0.89}') AS c;
SELECT name, count, rank_error < 0.01 AS within, distinct_values, top_values, top_counts[1] BETWEEN count / 10 - count_error AND count / 4 AS frequent,
  count_error <= count / 1025 AS bounded FROM q;
SELECT bool_and(below - rank_error <= share AND upto + rank_error >= share) FROM
  (SELECT share, rank_error, (SELECT avg((v < at)::int) FROM many) AS below, (SELECT avg((v <= at)::int) FROM many) AS upto
     FROM q, unnest(quantiles, '{0.1, 0.25, 0.5, 0.75, 0.89}'::float8[]) AS u (at, share) WHERE name = 'v') AS checked;

-- No rows, NULL rows, and what is refused.
SELECT margin_sum(margin_profile(r)) FROM r WHERE false;
SELECT margin_sum(margin_profile(NULL::r)) FROM r;
SELECT * FROM margin_profile_columns(NULL);
SELECT pg_temp.error_of(statement) FROM (VALUES
  ('SELECT margin_profile(plan) FROM r'),
  ('SELECT margin_profile(age) FROM r'),
  ('SELECT margin_profile(to_jsonb(r)) FROM r'),
  ('SELECT margin_profile(ROW(1, 2))'),
  ('SELECT margin_profile(v) FROM (SELECT 1 AS a, 2 AS a) AS v'),
  ('SELECT margin_profile(''["a", "b"]'', 1)'),
  ('SELECT margin_profile(''["a", "a"]'', 1, 2)'),
  ('SELECT margin_profile(''["a", 1]'', 1, 2)'),
  ('SELECT margin_profile(''{"a": 1}'', 1)'),
  ('SELECT margin_profile(NULL, 1)'),
  ('SELECT margin_profile(''["a"]'', VARIADIC ARRAY[1])'),
  ('SELECT margin_profile(''["a"]'', ARRAY[1, NULL])'),
  ('SELECT margin_sum(margin_profile(''["a"]'', v)) FROM (VALUES (ARRAY[1]), (ARRAY[1, 2])) AS v (v)'),
  ('SELECT margin_sum(p) FROM (SELECT margin_profile(''["a"]'', 1) AS p UNION ALL SELECT margin_profile(''["a"]'', 1.5)) AS v'),
  ('SELECT margin_sum(p) FROM (SELECT margin_profile(''["a"]'', 1) AS p UNION ALL SELECT margin_profile(''["b"]'', 1)) AS v'),
  ('SELECT margin_profile_columns(p, ''{0.5, 2}'') FROM p'),
  ('SELECT margin_profile_columns(p, ''{0.5, NULL}'') FROM p'),
  ('SELECT margin_profile_columns(p, top => -1) FROM p'),
  ('SELECT left(p::text, 200)::margin_profile FROM p'),
  ('SELECT ''''::margin_profile'),
  ('SELECT replace(encode(decode(p::text, ''base64'') || ''\x00'', ''base64''), chr(10), '''')::margin_profile FROM p')) AS v (statement);

-- Drift between parts of the rows: none of the same, and what a query says of two.
SELECT count(*) > 3 AS columns, bool_and(coalesce(psi, 0) = 0 AND coalesce(kolmogorov_smirnov, 0) = 0 AND coalesce(unseen, 0) = 0) AS none FROM p, margin_drift(p, p);
CREATE TABLE drifting AS SELECT id, id > 600 AS late, (id * 37) % 50 + CASE WHEN id > 600 THEN 10 ELSE 0 END AS age, CASE WHEN id % 5 > 0 OR id > 600 THEN 'p' || (id * 7) % CASE WHEN id > 600 THEN 5 ELSE 3 END END AS plan FROM generate_series(1, 1000) AS id;
SELECT d.name, round(psi::numeric, 6) AS psi, round(jensen_shannon::numeric, 6) AS js, round(kolmogorov_smirnov::numeric, 6) AS ks, rank_error, round(mean_shift::numeric, 6) AS shift, nulls_before, nulls_after, round(outside::numeric, 4) AS outside, round(unseen::numeric, 4) AS unseen
  FROM margin_drift((SELECT margin_sum(margin_profile(r)) FROM (SELECT age, plan FROM drifting WHERE NOT late) AS r), (SELECT margin_sum(margin_profile(r)) FROM (SELECT age, plan FROM drifting WHERE late) AS r)) AS d;
SELECT round(max(abs(b.share - a.share))::numeric, 6) AS ks FROM (SELECT v, avg((age <= v)::int) AS share FROM drifting, generate_series(0, 60) AS v WHERE NOT late GROUP BY v) AS b
  JOIN (SELECT v, avg((age <= v)::int) AS share FROM drifting, generate_series(0, 60) AS v WHERE late GROUP BY v) AS a USING (v);
SELECT round(avg((plan NOT IN (SELECT plan FROM drifting WHERE NOT late AND plan IS NOT NULL))::int), 4) AS unseen FROM drifting WHERE late;
SELECT margin_drift(NULL, p) IS NULL AS null_in FROM p;
DROP TABLE drifting;

-- The memory that it takes counts.
SET margin.memory_limit = '100kB';
SELECT pg_temp.error_of('SELECT margin_sum(margin_profile(many)) FROM many') ~ '^54000: the profile of 2 columns takes about .* and margin.memory_limit leaves';
RESET margin.memory_limit;
DROP TABLE r;
DROP DOMAIN profile_age;
DROP TYPE profile_mood;

-- Every label type, and every way a label can be wrong.
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

-- Two classes; the second one, in the order of the type, is the positive one.
CREATE TEMP TABLE t (i int, x real[]);
INSERT INTO t VALUES (1, '{1}'), (2, '{3}');
CREATE TYPE pg_temp.colour AS ENUM ('red', 'green', 'blue');
ALTER TYPE pg_temp.colour ADD VALUE 'amber' BEFORE 'red';
CREATE DOMAIN pg_temp.grade AS integer CHECK (VALUE > 0);

SELECT 'boolean' AS type, (train_margin(i = 2, x)).classes FROM t UNION ALL
SELECT 'smallint', (train_margin((i * 10)::smallint, x)).classes FROM t UNION ALL
SELECT 'integer', (train_margin(i * 9 - 8, x)).classes FROM t UNION ALL
SELECT 'bigint', (train_margin(i::bigint + 9007199254740992, x)).classes FROM t UNION ALL
SELECT 'bigint below zero', (train_margin(-i::bigint - 9007199254740992, x)).classes FROM t UNION ALL
SELECT 'real', (train_margin((i * 0.1)::real, x)).classes FROM t UNION ALL
SELECT 'double precision', (train_margin(i::float8 * 1e20, x)).classes FROM t UNION ALL
SELECT 'numeric', (train_margin((i * 1.50)::numeric, x)).classes FROM t UNION ALL
SELECT 'text', (train_margin(i::text || 'ä', x)).classes FROM t UNION ALL
SELECT 'varchar', (train_margin(i::varchar, x)).classes FROM t UNION ALL
SELECT 'character', (train_margin((i::text)::character(5), x)).classes FROM t UNION ALL
SELECT 'name', (train_margin(i::text::name, x)).classes FROM t UNION ALL
SELECT '"char"', (train_margin(i::text::"char", x)).classes FROM t UNION ALL
SELECT 'enum', (train_margin((ARRAY['red', 'amber'])[i]::pg_temp.colour, x)).classes FROM t UNION ALL
SELECT 'domain', (train_margin(i::pg_temp.grade, x)).classes FROM t;

-- Numbers are ordered as numbers, text as text; one class however it is written; the order of rows does not matter.
SELECT (train_margin(y, x)).classes FROM (VALUES (10, '{1}'::real[]), (9, '{2}'), (100, '{3}')) v (y, x);
SELECT (train_margin(y, x)).classes FROM (VALUES ('10', '{1}'::real[]), ('9', '{2}'), ('100', '{3}')) v (y, x);
SELECT (train_margin(y, x)).classes FROM (VALUES (1.0, '{1}'::real[]), (1.00, '{2}'), (2.50, '{5}'), (0.0, '{-3}')) v (y, x);
SELECT (train_margin(y, x)).classes FROM (VALUES ('-0'::float8, '{1}'::real[]), (0, '{1}'), (-1, '{5}')) v (y, x);
SELECT (train_margin(y, x)).classes FROM (VALUES ('', '{1}'::real[]), ('a label of more than twenty-four bytes', '{5}'),
  ('a label of more than twenty-four bytes', '{6}')) v (y, x);
SELECT (SELECT (train_margin(y, x ORDER BY y)).weights FROM (VALUES ('a', '{1}'::real[]), ('b', '{2}')) v (y, x)) =
       (SELECT (train_margin(y, x ORDER BY y DESC)).weights FROM (VALUES ('a', '{1}'::real[]), ('b', '{2}')) v (y, x)) AS same;

-- Typed predictions.
SELECT pg_typeof(p), p FROM (SELECT margin_predict(m, '{3}'::real[], NULL::pg_temp.colour) AS p
  FROM (SELECT train_margin((ARRAY['red', 'amber'])[i]::pg_temp.colour, x) AS m FROM t) s) r;
SELECT pg_typeof(p), p FROM (SELECT margin_predict(m, '{3}'::real[], NULL::bigint) AS p
  FROM (SELECT train_margin(i, x) AS m FROM t) s) r;
SELECT pg_typeof(p), p FROM (SELECT margin_predict(m, '{3}'::real[], NULL::numeric) AS p
  FROM (SELECT train_margin(i * 1.5, x) AS m FROM t) s) r;
SELECT pg_temp.error_of($$SELECT margin_predict(m, '{3}'::real[], NULL::integer)
  FROM (SELECT train_margin('class ' || i, x) AS m FROM t) s$$);

-- Rows without a label or without features are counted, not used.
SELECT (m).rows, (m).skipped, (m).classes FROM (SELECT train_margin(y, x) AS m
  FROM (VALUES (true, '{1}'::real[]), (NULL, '{2}'), (false, NULL), (NULL, NULL), (false, '{0}')) v (y, x)) s;
SELECT train_margin(NULL::boolean, x) IS NULL AS nothing_to_learn FROM t;

-- What cannot be a label.
SELECT pg_temp.error_of($$SELECT train_margin('a', x) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(x, x) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(now(), x) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin('NaN'::float8, x) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin('-Infinity'::real, x) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin('NaN'::numeric, x) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(7, x) FROM t$$);

-- Regression losses read the label as a number.
SELECT 'smallint' AS type, (train_margin(i::smallint, x, margin_options(loss => 'squared', lambda => 0.1))).classes IS NULL AS no_classes FROM t UNION ALL
SELECT 'bigint', (train_margin(i::bigint, x, margin_options(loss => 'squared', lambda => 0.1))).classes IS NULL FROM t UNION ALL
SELECT 'real', (train_margin(i::real, x, margin_options(loss => 'squared', lambda => 0.1))).classes IS NULL FROM t UNION ALL
SELECT 'numeric', (train_margin(i::numeric, x, margin_options(loss => 'squared', lambda => 0.1))).classes IS NULL FROM t;
SELECT pg_temp.error_of($$SELECT train_margin(i = 1, x, margin_options(loss => 'squared', lambda => 0.1)) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(i::text, x, margin_options(loss => 'squared', lambda => 0.1)) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin('Infinity'::float8, x, margin_options(loss => 'squared', lambda => 0.1)) FROM t$$);

-- Many distinct numbers on few rows each are targets of a regression, unless they are cast to text.
CREATE TEMP TABLE prices AS SELECT i AS price, ARRAY[sin(i), cos(3 * i), i % 7]::float8[] AS x FROM generate_series(1, 900) AS i;
SELECT pg_temp.error_of($$SELECT train_margin(price, x) FROM prices$$);
SELECT pg_temp.error_of($$SELECT train_margin(price::float8, x, margin_options(lambda => 1e-3)) FROM prices$$);
SELECT pg_temp.error_of($$SELECT train_margin(price::numeric, x, margin_options(solver => 'momentum')) FROM prices$$);
SELECT pg_temp.error_of($$SELECT train_margin(price, x, margin_options(kernel => 'rbf')) FROM prices$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate(price, x) FROM prices$$);
SELECT pg_temp.error_of($$SELECT margin_path(price, x) FROM prices$$);
SELECT pg_temp.error_of($$SELECT train_margin(price::text, x) FROM prices$$);
SELECT cardinality((train_margin(price::text, x, margin_options(lambda => 1e-2))).classes) FROM prices;
SELECT (train_margin(price, x, margin_options(loss => 'squared', lambda => 1e-2))).classes IS NULL AS regression FROM prices;
-- Numbers that are classes: 256 of them, or ten rows of each.
SELECT cardinality((train_margin(price % 256, x, margin_options(lambda => 1e-2))).classes) FROM prices;
SELECT cardinality((train_margin(price % 300, x, margin_options(lambda => 1e-2, tolerance => 1e-6))).classes) FROM prices, generate_series(1, 4);
SELECT pg_temp.error_of($$SELECT train_margin(price % 301, x, margin_options(lambda => 1e-2)) FROM prices, generate_series(1, 3)$$);

-- Every feature type, and every way features can be wrong.
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

-- The same two points in every accepted type: the same model.
CREATE TEMP TABLE t (y boolean, x float8[]);
INSERT INTO t VALUES (false, '{1,2}'), (true, '{3,5}');
CREATE TEMP TABLE m AS
  SELECT 'double precision[]' AS type, train_margin(y, x) AS m FROM t UNION ALL
  SELECT 'real[]', train_margin(y, x::real[]) FROM t UNION ALL
  SELECT 'smallint[]', train_margin(y, x::smallint[]) FROM t UNION ALL
  SELECT 'integer[]', train_margin(y, x::integer[]) FROM t UNION ALL
  SELECT 'bigint[]', train_margin(y, x::bigint[]) FROM t UNION ALL
  SELECT 'numeric[]', train_margin(y, x::numeric[]) FROM t;
SELECT type, (m).weights = (SELECT (m).weights FROM m WHERE type = 'real[]') AS same,
       round((m).margin_lower::numeric, 6) AS margin FROM m ORDER BY type;

-- Scoring takes them all too.
SELECT round(margin_score(m, '{1,2}'::real[])::numeric, 4) AS r, round(margin_score(m, '{1,2}'::float8[])::numeric, 4) AS d,
       round(margin_score(m, '{1,2}'::smallint[])::numeric, 4) AS s, round(margin_score(m, '{1,2}'::int[])::numeric, 4) AS i,
       round(margin_score(m, '{1,2}'::bigint[])::numeric, 4) AS b, round(margin_score(m, ARRAY[1.0, 2.0])::numeric, 4) AS n
  FROM m WHERE type = 'real[]';

-- A domain is read as what it is over, and array bounds mean nothing.
CREATE DOMAIN pg_temp.features AS real[] CHECK (cardinality(VALUE) = 2);
SELECT (train_margin(y, x::pg_temp.features)).weights = (SELECT (m).weights FROM m WHERE type = 'real[]') AS same FROM t;
SELECT (m).dimensions FROM (SELECT train_margin(y, x) AS m
  FROM (VALUES (false, '[0:1]={1,2}'::real[]), (true, '{3,5}')) v (y, x)) s;

-- Whole numbers keep every digit up to 2^53.
SELECT round((m).margin_lower::numeric, 9) AS margin FROM (SELECT train_margin(y, x) AS m
  FROM (VALUES (false, '{16777216}'::int[]), (true, '{16777217}')) v (y, x)) s;
SELECT margin_score(m, ARRAY[9007199254740991, 1]) - margin_score(m, ARRAY[9007199254740990, 1]) AS one
  FROM (SELECT train_margin(y, x) AS m FROM (VALUES (false, '{-1,0}'::int[]), (true, '{1,0}')) v (y, x)) s;
SELECT pg_temp.error_of($$SELECT train_margin(true, '{0,9007199254740993}'::bigint[])$$);
SELECT pg_temp.error_of($$SELECT margin_score(m, '{-9007199254740993,1}'::bigint[]) FROM m WHERE type = 'real[]'$$);

-- Toasted, compressed and short arrays are the same arrays.
CREATE TEMP TABLE wide (y boolean, x real[]);
INSERT INTO wide SELECT i % 2 = 0, ARRAY(SELECT CASE WHEN j = 1 THEN i % 2 ELSE (j * i) % 7 END::real
  FROM generate_series(1, 1000) j) FROM generate_series(1, 20) i;
SELECT count(*) = 20 AS right FROM wide, (SELECT train_margin(y, x) AS m FROM wide) s
 WHERE margin_predict(m, x, NULL::boolean) = y;

-- What is refused: a NULL element, NaN, infinity, another shape, another number of features, other types.
SELECT pg_temp.error_of($$SELECT train_margin(true, '{1,NULL}'::real[])$$);
SELECT pg_temp.error_of($$SELECT train_margin(true, '{1,NULL}'::numeric[])$$);
SELECT pg_temp.error_of($$SELECT train_margin(true, '{1,2,NaN}'::real[])$$);
SELECT pg_temp.error_of($$SELECT train_margin(true, '{1,Infinity}'::float8[])$$);
SELECT pg_temp.error_of($$SELECT train_margin(true, '{-Infinity}'::numeric[])$$);
SELECT pg_temp.error_of($$SELECT train_margin(true, '{{1,2},{3,4}}'::real[])$$);
SELECT pg_temp.error_of($$SELECT train_margin(true, '{}'::real[])$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x) FROM (VALUES (true, '{1,2}'::real[]), (false, '{1,2,3}')) v (y, x)$$);
SELECT pg_temp.error_of($$SELECT train_margin(true, '{1,2}')$$);
SELECT pg_temp.error_of($$SELECT train_margin(true, '{a,b}'::text[])$$);
SELECT pg_temp.error_of($$SELECT train_margin(true, 1.5)$$);
SELECT left(pg_temp.error_of($$SELECT train_margin(true, '{1e400}'::numeric[])$$), 12),
       right(pg_temp.error_of($$SELECT train_margin(true, '{1e400}'::numeric[])$$), 42);

-- The same for scoring.
SELECT pg_temp.error_of($$SELECT margin_score(m, '{1,NULL}'::real[]) FROM m WHERE type = 'real[]'$$);
SELECT pg_temp.error_of($$SELECT margin_score(m, '{1,NaN}'::real[]) FROM m WHERE type = 'real[]'$$);
SELECT pg_temp.error_of($$SELECT margin_predict(m, '{Infinity,1}'::float8[]) FROM m WHERE type = 'real[]'$$);
SELECT pg_temp.error_of($$SELECT margin_predict(m, '{1,2,3}'::real[]) FROM m WHERE type = 'real[]'$$);
SELECT pg_temp.error_of($$SELECT margin_predict(m, '{}'::real[]) FROM m WHERE type = 'real[]'$$);
SELECT pg_temp.error_of($$SELECT margin_predict(m, '{{1,2}}'::real[]) FROM m WHERE type = 'real[]'$$);
SELECT pg_temp.error_of($$SELECT margin_predict(m, '{1,2}') FROM m WHERE type = 'real[]'$$);
SELECT pg_temp.error_of($$SELECT margin_predict(m, '2024-01-01'::date) FROM m WHERE type = 'real[]'$$);

-- A parameter of a declared type.
PREPARE q (real[]) AS SELECT margin_predict(m, $1) FROM m WHERE type = 'real[]';
EXECUTE q ('{3,5}');

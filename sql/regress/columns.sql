-- margin_features: columns of several types as one sparse row.
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

-- Numbers and booleans alone have no hashed features.
SELECT margin_features(1::smallint, 2, 3::bigint, 0.5::real, 0.1::float8, 0.25, true, false, 0);
-- The feature of a category is the same everywhere and always: from its column and its bytes.
SELECT margin_features('red'::text), margin_features(7, 'red'::text), margin_features('red'::text, 7), margin_features('red'::text, 'red'::text);
SELECT margin_hashed_features(16, 7, 'red'::text), margin_hashed_features(1, 'red'::text, 'blue'::text, true);
CREATE TYPE pg_temp.colour AS ENUM ('red', 'blue');
CREATE DOMAIN pg_temp.word AS text;
SELECT bool_and(x = margin_features(7, 'red'::text)) AS one FROM (VALUES (margin_features(7, 'red'::varchar)), (margin_features(7, 'red'::character(9))),
  (margin_features(7, 'red'::name)), (margin_features(7, 'red'::pg_temp.colour)), (margin_features(7::float8, 'red'::pg_temp.word))) v (x);
SELECT margin_features('r'::"char") = margin_features('r'::text) AS same, margin_features(''::text) = margin_features(NULL::text) AS empty_is_null;
-- NULL: no category; not a number.
SELECT margin_features(1, NULL::text), pg_temp.error_of('SELECT margin_features(1, NULL::int)'), pg_temp.error_of('SELECT margin_features(NULL::boolean)');
SELECT s, pg_temp.error_of('SELECT ' || s) FROM (VALUES ('margin_features(1, ''NaN''::float8)'), ('margin_features(''Infinity''::numeric)'),
  ('margin_features(1, now())'), ('margin_features(1, ''red'')'), ('margin_features(ARRAY[1])'), ('margin_features(VARIADIC ARRAY[1])'),
  ('margin_features(NULL)'), ('margin_hashed_features(0, ''red''::text)'), ('margin_hashed_features(NULL, ''red''::text)'),
  ('margin_hashed_features(2147483647, 1, ''red''::text)')) v (s);
-- A thousand categories spread over the width.
SELECT count(DISTINCT margin_features(i::text)) > 990 AS few_collisions, count(DISTINCT margin_hashed_features(64, i::text)) AS all_used FROM generate_series(1, 1000) i;
-- What text alone decides can be learnt, row by row of changing arguments.
SELECT (m).status, (m).dimensions, (SELECT bool_and(margin_predict(m, margin_features(i, 'c' || i % 5), NULL::boolean) = (i % 5 = 2)) FROM generate_series(1, 40) i) AS right
  FROM (SELECT train_margin(i % 5 = 2, margin_features(i, 'c' || i % 5)) AS m FROM generate_series(1, 40) i) s;

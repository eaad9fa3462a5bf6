-- The type margin_sparse: text, binary, casts, order, and sparse rows wherever features are.
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
CREATE FUNCTION pg_temp.refusal(input text) RETURNS text LANGUAGE sql AS $$
  SELECT split_part(pg_temp.error_of(format('SELECT %L::margin_sparse', input)), E'\n', 1) $$;

-- Both texts, in any order; zeros are not kept; dimensions only where they were stated.
SELECT t, t::margin_sparse FROM (VALUES ('{1:0.5,7:2}/50000'), ('1:0.5 7:2'), (' { 7 : 2 , 1:+.5 } / 9 '), ('7:2  1:5e-1 3:0'),
  (''), ('{}'), ('{}/3'), ('1:0.1 2:1e300 3:-5e-324 2147483647:0.30000000000000004')) AS v (t);
SELECT pg_column_size('1:0.5 7:2 9:16777217'::margin_sparse::text::margin_sparse) - pg_column_size('1:0.5 7:2'::margin_sparse) AS wide,
       pg_column_size('1:0.5 7:2 9:3'::margin_sparse) - pg_column_size('1:0.5 7:2'::margin_sparse) AS narrow;
SELECT t, pg_temp.refusal(t) FROM (VALUES ('0:1'), ('-1:1'), ('1:0.5 7'), ('1:0.5 x'), ('1:nan'), ('1:Infinity'), ('1:1e400'), ('1:'), ('1:2:3'),
  ('3:1 5:1 3:2'), ('2147483648:1'), ('{1:1}/0'), ('{1:1,9:1}/8'), ('{1:1}/-8'), ('{1:1'), ('{1:1} x'), ('{1:1,}'), ('/5'), ('{1:1}/5000000000')) AS v (t);
SELECT pg_temp.error_of($$SELECT '1:1 1:2'::margin_sparse$$);

-- Binary: what is sent is what comes back; bytes are checked. COPY writes a file and reads it.
SELECT _margin_sparse_send('{1:0.5,7:2}/9'), _margin_sparse_send('1:0.1');
CREATE TEMP TABLE rows (id int, x margin_sparse);
INSERT INTO rows VALUES (1, '{1:0.5,7:2}/9'), (2, '1:0.1 2147483647:1e300'), (3, '{}'), (4, NULL),
  (5, (SELECT string_agg(i || ':' || 1 / i::float8, ' ') FROM generate_series(1, 5000) i)::margin_sparse);
\set file `mktemp`
COPY rows TO :'file' (FORMAT binary);
CREATE TEMP TABLE again (LIKE rows);
COPY again FROM :'file' (FORMAT binary);
SELECT count(*) AS rows, count(*) FILTER (WHERE r.x IS NOT DISTINCT FROM a.x AND r.x::text IS NOT DISTINCT FROM a.x::text) AS same
  FROM rows r JOIN again a USING (id);
COPY rows TO :'file';
TRUNCATE again;
COPY again FROM :'file';
SELECT count(*) AS same FROM rows r JOIN again a ON r.id = a.id AND r.x = a.x;
-- A message whose third number, the kind of its values, is wrong.
\setenv MARGIN_FILE :file
\! printf 'PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\2\0\0\0\4\0\0\0\1\0\0\0\24\0\0\0\11\0\0\0\1\0\0\0\7\0\0\0\0\77\0\0\0\377\377' > "$MARGIN_FILE"
SELECT pg_temp.error_of(format('COPY again FROM %L (FORMAT binary)', :'file'));
-- As pgvector sends its sparsevec.
\! printf 'PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\2\0\0\0\4\0\0\0\1\0\0\0\24\0\0\0\11\0\0\0\1\0\0\0\0\0\0\0\0\77\0\0\0\377\377' > "$MARGIN_FILE"
TRUNCATE again;
COPY again FROM :'file' (FORMAT binary);
SELECT * FROM again;

-- A LIBSVM file: the label goes into a column of its own with the first blank as delimiter.
\! printf '+1 1:0.5 7:2\n-1 2:1 7:-1.5\n-1 3:1\n+1 1:1\n' > "$MARGIN_FILE"
CREATE TEMP TABLE lines (line text);
COPY lines FROM :'file';
CREATE TEMP TABLE libsvm AS
  SELECT split_part(line, ' ', 1)::int AS y, substr(line, strpos(line, ' '))::margin_sparse AS x FROM lines;
SELECT * FROM libsvm;
\! sed 's/ /\t/' "$MARGIN_FILE" > "$MARGIN_FILE.tab"
\set tab :file .tab
TRUNCATE libsvm;
COPY libsvm FROM :'tab';
SELECT * FROM libsvm;
\! rm "$MARGIN_FILE" "$MARGIN_FILE.tab"

-- Constructor and casts.
SELECT margin_sparse('{7,1}', '{2,0.5}'), margin_sparse('{7,1}', '{2,0.5}', 9), margin_sparse('{7,1}', '{2,0.5}', NULL),
       margin_sparse('{}', '{}'), margin_sparse(NULL, '{1}') IS NULL AS nothing;
SELECT '{0.5,0,0,2}'::real[]::margin_sparse AS r, '{0.1,0,1e300}'::float8[]::margin_sparse AS d, '{"7": 2, "1": 0.5, "3": 0}'::jsonb::margin_sparse AS j;
SELECT '{1:0.5,4:2}/5'::margin_sparse::real[] AS r, '1:0.1 3:1e300'::margin_sparse::float8[] AS d, '7:2 1:0.5'::margin_sparse::jsonb AS j,
       '{}'::margin_sparse::real[] AS nothing, array_dims('{}/3'::margin_sparse::real[]);
SELECT s, pg_temp.error_of('SELECT ' || s) FROM (VALUES
  ('margin_sparse(''{1,2}'', ''{1}'')'), ('margin_sparse(''{1,0}'', ''{1,1}'')'), ('margin_sparse(''{1,1}'', ''{1,1}'')'),
  ('margin_sparse(''{1,9}'', ''{1,1}'', 8)'), ('margin_sparse(''{1}'', ''{NaN}'')'), ('margin_sparse(''{1}'', ''{1}'', 0)'),
  ('margin_sparse(''{NULL}'', ''{1}'')'), ('margin_sparse(''{{1}}'', ''{1}'')'),
  ('''{1,Infinity}''::real[]::margin_sparse'), ('''{1,NULL}''::real[]::margin_sparse'), ('''{}''::float8[]::margin_sparse'),
  ('''{"0": 1}''::jsonb::margin_sparse'), ('''{"a": 1}''::jsonb::margin_sparse'), ('''{"1": "x"}''::jsonb::margin_sparse'),
  ('''{"1": 1, "01": 1}''::jsonb::margin_sparse'), ('''[1]''::jsonb::margin_sparse'), ('''{"99999999999": 1}''::jsonb::margin_sparse'),
  ('''1:1e300''::margin_sparse::real[]'), ('''{}/2147483647''::margin_sparse::real[]')) AS v (s);

-- Equality, order, hashing.
SELECT count(*) AS all, count(DISTINCT x) AS distinct FROM (SELECT t::margin_sparse AS x FROM unnest(ARRAY['1:1 2:2', '2:2 1:1', '{1:1,2:2}/2', '1:1 2:2 3:0', '1:1', '{}']) t) s;
SET enable_sort = off;
SELECT x, count(*) FROM (SELECT t::margin_sparse AS x FROM unnest(ARRAY['1:1 2:2', '2:2 1:1', '{1:1,2:2}/2', '{}']) t) s GROUP BY x ORDER BY 2, x;
RESET enable_sort;
SELECT array_agg(x ORDER BY x) FROM (SELECT t::margin_sparse AS x FROM unnest(ARRAY['{}/3', '2:1', '1:2', '1:1 2:-1', '1:1', '{}']) t) s;
SELECT a = b AS eq, a <> b AS ne, a < b AS lt, a <= b AS le, a > b AS gt, a >= b AS ge,
       hash_record(ROW(a)) = hash_record(ROW(b)) AS hash FROM (VALUES ('1:1'::margin_sparse, '1:1'::margin_sparse), ('1:1', '1:2'), ('1:2', '1:1')) v (a, b);

-- Training: dimensions grow to the largest index; the certificate is that of dense rows.
CREATE TEMP TABLE points AS
  SELECT i AS id, i % 3 = 0 AS y, i % 4 AS k, i / 10.0 AS target,
         margin_sparse(ARRAY[1 + i % 3, 10 + i % 7, 40 + i % 11], ARRAY[2, sin(i), cos(i * i)], 60) AS x FROM generate_series(1, 200) i;
CREATE TEMP TABLE options (o jsonb);
INSERT INTO options VALUES ('{}'), ('{"lambda": 0.01}'), ('{"lambda": 0.01, "loss": "logistic"}'), ('{"lambda": 0.01, "standardize": true, "intercept": false}'),
  ('{"lambda": 0.01, "loss": "squared"}'), ('{"lambda": 0.01, "loss": "squared_hinge", "solver": "sdca"}'),
  ('{"lambda": 0.01, "loss": "squared_hinge", "solver": "newton"}');
CREATE TEMP TABLE fits AS
  SELECT o, train_margin(CASE WHEN o->>'loss' = 'squared' THEN target WHEN y THEN 1 ELSE 0 END, x, o || '{"tolerance": 1e-8, "dual_weights": true}' ORDER BY id) AS s,
         train_margin(CASE WHEN o->>'loss' = 'squared' THEN target WHEN y THEN 1 ELSE 0 END, x::float8[], o || '{"tolerance": 1e-8, "dual_weights": true}' ORDER BY id) AS d
    FROM options, points GROUP BY o;
SELECT o, (s).status, (s).dimensions, abs((s).primal / (d).primal - 1) < 1e-6 AS primal, abs((s).dual / (d).dual - 1) < 1e-6 AS dual FROM fits ORDER BY o::text;
SELECT o, bool_and(abs(margin_score(s, x) - margin_score(s, x::float8[])) < 1e-12) AS scores, bool_and((margin_score(s, x) > 0) = (margin_score(s, x::real[]) > 0)) AS signs
  FROM fits, points GROUP BY o ORDER BY o::text;
SELECT o, abs((margin_verify(s, CASE WHEN y THEN 1 ELSE 0 END, x ORDER BY id)).primal / (s).primal - 1) < 1e-9 AS verified,
       (margin_evaluate(s, CASE WHEN y THEN 1 ELSE 0 END, x)).accuracy FROM fits, points WHERE NOT (s).options ? 'loss' AND NOT (s).options ? 'standardize' GROUP BY o, s ORDER BY o::text;
SELECT (m).dimensions, (m).status FROM (SELECT train_margin(y, x::jsonb::margin_sparse) AS m FROM points) s;

-- Predicting rows of other dimensions: what is missing is 0, what is unknown an error or ignored.
CREATE TEMP TABLE model AS SELECT train_margin(y, x) AS strict, train_margin(y, x, margin_options(unseen => 'ignore', lambda => 0.1, loss => 'logistic')) AS lenient
  FROM (VALUES (false, '1:1'::margin_sparse), (true, '2:1 3:1'), (false, '1:2')) v (y, x);
SELECT (strict).dimensions, (lenient).options FROM model;
SELECT x, margin_predict(strict, x), margin_score(strict, x) = margin_score(strict, left_) AS same FROM model,
  (VALUES ('2:1'::margin_sparse, '{0,1,0}'::real[]), ('{}', '{0,0,0}'), ('{1:1}/1', '{1,0,0}'), ('{3:2}/50000', '{0,0,2}')) v (x, left_);
SELECT pg_temp.error_of($$SELECT margin_predict(strict, '1:1 4:0.5') FROM model$$);
SELECT pg_temp.error_of($$SELECT margin_predict(strict, '1:1 4:0.5'::margin_sparse) FROM model$$);
SELECT pg_temp.error_of($$SELECT margin_evaluate(strict, true, '1:1 4:0.5'::margin_sparse) FROM model$$);
SELECT pg_temp.error_of($$SELECT margin_verify(strict, true, '1:1 4:0.5'::margin_sparse) FROM model$$);
SELECT margin_score(lenient, '1:1 4:0.5'::margin_sparse) = margin_score(lenient, '1:1'::margin_sparse) AS score,
       margin_probabilities(lenient, '4:1 5:1'::margin_sparse) = margin_probabilities(lenient, '{}'::margin_sparse) AS probabilities,
       margin_verify(lenient, true, '1:1 4:0.5'::margin_sparse) = margin_verify(lenient, true, '1:1'::margin_sparse) AS verification,
       margin_evaluate(lenient, true, '1:1 4:0.5'::margin_sparse) = margin_evaluate(lenient, true, '1:1'::margin_sparse) AS evaluation
  FROM model GROUP BY lenient;
SELECT pg_temp.error_of($$SELECT margin_predict(lenient, '{1,2,3,4}'::real[]) FROM model$$);
SELECT pg_temp.error_of($$SELECT margin_options(unseen => 'keep')$$);

-- Stated dimensions must agree; rows without features alone are no training.
SELECT pg_temp.error_of($$SELECT train_margin(y, x) FROM (VALUES (false, '{1:1}/3'::margin_sparse), (true, '{1:2}/4')) v (y, x)$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x) FROM (VALUES (false, '5:1'::margin_sparse), (true, '{1:2}/4')) v (y, x)$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x) FROM (VALUES (false, '{1:2}/4'::margin_sparse), (true, '5:1')) v (y, x)$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x) FROM (VALUES (false, '{}'::margin_sparse), (true, '{}')) v (y, x)$$);
SELECT (m).dimensions, (m).columns, (m).status FROM (SELECT train_margin(y, x) AS m FROM (VALUES (false, '1:1'::margin_sparse), (true, '2000000000:1')) v (y, x)) s;
SELECT pg_temp.error_of($$SELECT train_margin('c' || i, CASE i WHEN 1 THEN (SELECT margin_sparse(array_agg(j * 7), array_agg(1.0::float8)) FROM generate_series(1, 300000) j) ELSE '1:1'::margin_sparse END, '{"lambda": 1}')
  FROM generate_series(1, 500) i$$);
SELECT (train_margin(y, x)).skipped FROM (VALUES (false, '{1:2}/4'::margin_sparse), (true, '2:1'), (true, NULL)) v (y, x);

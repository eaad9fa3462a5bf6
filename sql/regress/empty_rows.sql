-- Rows without a value in every product of a model: the same table as arrays, as short sparse rows and as wide ones, of which
-- the model lists the columns, gives the same answers, also where the only row or all rows are empty.
SET client_min_messages = error;
SET extra_float_digits = 0;
CREATE TABLE er AS
  SELECT set, i, CASE WHEN i % 2 = 0 THEN 1 ELSE -1 END AS side, round(sin(i)::numeric, 2)::float8 AS target, (i % 3)::text AS kind, 1 + i % 3 AS w,
         CASE WHEN set = 'all' OR set = 'some' AND i % 4 = 1 THEN '{0,0,0,0,0}'::float8[]
              ELSE ARRAY[CASE WHEN i % 5 = 0 THEN 2 ELSE 0 END, round(sin(7 * i)::numeric, 2), CASE WHEN i % 7 = 3 THEN -1 ELSE 0 END, round(cos(5 * i)::numeric, 2), i % 3] END AS x
    FROM unnest('{some,none,all}'::text[]) AS set, generate_series(1, 24) AS i;
CREATE TABLE rows_of AS
  SELECT er.*, layout, CASE layout WHEN 'arrays' THEN 1 WHEN 'short' THEN 1 ELSE 1700 END AS apart FROM er, unnest('{arrays,short,wide}'::text[]) AS layout;
ALTER TABLE rows_of ADD s margin_sparse;
UPDATE rows_of SET s = (SELECT ('{' || coalesce(string_agg(j * apart || ':' || v, ',' ORDER BY j) FILTER (WHERE v <> 0), '') || '}/' || 5 * apart + CASE layout WHEN 'wide' THEN 100000 ELSE 0 END)
                          FROM unnest(x) WITH ORDINALITY AS t(v, j))::margin_sparse;
CREATE VIEW settings AS SELECT * FROM (VALUES
  ('side', '{"loss": "squared_hinge", "lambda": 0.1}'), ('side', '{"loss": "logistic", "lambda": 0.1, "intercept": false}'),
  ('side', '{"loss": "hinge", "lambda": 0.1}'), ('kind', '{"loss": "logistic", "lambda": 0.1}'), ('kind', '{"loss": "logistic", "lambda": 0.1, "multiclass": "joint"}'),
  ('target', '{"loss": "squared", "lambda": 0.1}'), ('target', '{"loss": "absolute", "lambda": 0.1}'),
  ('side', '{"loss": "logistic", "lambda": 0}'), ('target', '{"loss": "squared", "lambda": 0}')) AS t(label, options);

-- f(model, rows): a query of t, with L and X, whose answer is an array of numbers; an error is its SQLSTATE.
CREATE FUNCTION answer(query text, m margin_model, layout text, set text) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
  found float8[];
BEGIN
  EXECUTE query INTO found USING m, layout, set;
  RETURN found;
EXCEPTION WHEN OTHERS THEN
  RETURN ARRAY[-12345, ascii(substr(SQLSTATE, 1, 1)), ascii(substr(SQLSTATE, 2, 1)), ascii(substr(SQLSTATE, 5, 1))];
END$$;
CREATE FUNCTION near(a float8[], b float8[]) RETURNS boolean LANGUAGE sql AS $$
  SELECT a IS NOT DISTINCT FROM b OR coalesce(cardinality(a) = cardinality(b) AND bool_and(p IS NOT DISTINCT FROM q OR abs(p - q) <= 1e-6 * (1 + abs(p))), false)
    FROM unnest(a, b) AS t(p, q)$$;

CREATE TABLE products(name text, query text);
INSERT INTO products VALUES
  ('update', 'SELECT ARRAY[(u).primal, (u).dual] FROM (SELECT margin_update($1, L, X, gone) u FROM t WHERE i IN (1, 4)) AS q'),
  ('update by an empty row', 'SELECT ARRAY[(u).primal, (u).dual] FROM (SELECT margin_update($1, L, X, gone) u FROM t WHERE i = 1) AS q'),
  ('intervals', 'SELECT array_agg(e ORDER BY i, n) FROM t, unnest(margin_scores($1, X)) WITH ORDINALITY AS s(e, n)'),
  ('interval', 'SELECT array_agg(e ORDER BY i, e) FROM t, LATERAL (SELECT (margin_score_interval($1, X)).*) AS s, unnest(ARRAY[s.lower, s.upper]) AS e'),
  ('audit', 'SELECT ARRAY[(a).primal, (a).rows, (a).errors, ((a).dual <= (a).primal)::int] FROM (SELECT margin_audit($1, L, X) a FROM t) AS q'),
  ('audit of an empty row', 'SELECT ARRAY[(a).primal, (a).rows, (a).errors, ((a).dual <= (a).primal)::int] FROM (SELECT margin_audit($1, L, X) a FROM t WHERE i = 1) AS q'),
  ('leave one out', 'SELECT ARRAY[(a).errors_lower, (a).errors_upper, (a).rows] FROM (SELECT margin_leave_one_out($1, L, X) a FROM t) AS q'),
  ('influence', 'SELECT array_agg(margin_influence($1, L, X) ORDER BY i) FROM t'),
  ('verify', 'SELECT ARRAY[(a).primal, (a).dual, (a).rows, (a).errors] FROM (SELECT margin_verify($1, L, X) a FROM t) AS q'),
  ('verify an empty row', 'SELECT ARRAY[(a).primal, (a).dual, (a).rows, (a).errors] FROM (SELECT margin_verify($1, L, X) a FROM t WHERE i = 1) AS q'),
  ('terms', 'SELECT ARRAY[(c).lower, (c).upper] FROM (SELECT margin_certificate(margin_question(NULL, $1), margin_sum(margin_term(margin_question(NULL, $1), L, X))) c FROM t) AS q'),
  ('terms of the model', 'SELECT ARRAY[(c).primal, (c).errors] FROM (SELECT margin_verify($1, margin_sum(margin_term($1, L, X))) c FROM t) AS q'),
  ('inference', 'SELECT array_agg(std_error ORDER BY feature NULLS FIRST) FROM (SELECT (unnest(margin_inference($1, L, X, ''{"covariance": "classical"}''))).* FROM t) AS q'),
  ('evaluate', 'SELECT ARRAY[(a).accuracy, (a).r2, (a).rows] FROM (SELECT margin_evaluate($1, L, X) a FROM t) AS q'),
  ('explain', 'SELECT array_agg(contribution ORDER BY i, abs(contribution) DESC) FROM t, LATERAL margin_explain($1, X) AS e');


-- One model in three forms, with its curvature where it has one.
CREATE FUNCTION model_of(label text, options text, layout text, set text, curved boolean) RETURNS margin_model LANGUAGE plpgsql AS $$
DECLARE
  found margin_model;
BEGIN
  EXECUTE format('SELECT (m).* FROM (SELECT train_margin(%I, x, $1 ORDER BY i) AS m FROM er WHERE set = $2) AS t', label) INTO found USING options::jsonb, set;
  IF layout = 'wide' THEN
    found := margin_from_json(margin_to_json(found) || '{"columns": [1700, 3400, 5100, 6800, 8500], "dimensions": 108500}');
  END IF;
  IF curved THEN
    EXECUTE format('SELECT (m).* FROM (SELECT margin_with_curvature($1, %I, %I) AS m FROM rows_of WHERE layout = $2 AND set = $3) AS t', label, CASE layout WHEN 'arrays' THEN 'x' ELSE 's' END)
      INTO found USING found, layout, set;
  END IF;
  RETURN found;
END$$;
CREATE TABLE models_of AS
  SELECT label, options, curved, layout, trained, model_of(label, options, layout, trained, curved) AS m
    FROM settings, unnest('{arrays,short,wide}'::text[]) AS layout, unnest('{some,none,all}'::text[]) AS trained, unnest('{f,t}'::boolean[]) AS curved
   WHERE (NOT curved OR options ~ 'squared|logistic' AND options !~ 'joint|: 0}') AND NOT (trained = 'all' AND options ~ ': 0}');
SELECT layout, curved, count(*) AS models, count((m).columns) AS with_columns, count((m).curvature) AS with_curvature, max((m).dimensions) AS dimensions
  FROM models_of GROUP BY layout, curved ORDER BY layout, curved;
CREATE TABLE answers AS
  SELECT p.name, label, options, curved, layout, trained, asked, gone,
         answer(format('WITH t AS (SELECT * FROM rows_of WHERE layout = $2 AND set = $3) %s',
                       regexp_replace(regexp_replace(replace(p.query, 'gone', gone::text), '\mL\M', label, 'g'), '\mX\M', CASE layout WHEN 'arrays' THEN 'x' ELSE 's' END, 'g')), m, layout, asked) AS found
    FROM models_of, products AS p, unnest('{some,all}'::text[]) AS asked, unnest('{f,t}'::boolean[]) AS gone WHERE p.query LIKE '%gone%' OR NOT gone;
-- Of each product: how many answers were compared, how many are no error, and whether all forms agree.
SELECT a.name, count(*) AS compared, count(*) FILTER (WHERE a.found[1] <> -12345) AS answered, bool_and(near(a.found, b.found)) AS the_same
  FROM answers AS a JOIN answers AS b USING (name, label, options, curved, trained, asked, gone)
 WHERE a.layout = 'arrays' AND b.layout <> 'arrays' GROUP BY a.name ORDER BY a.name;
SELECT DISTINCT name, chr(found[2]::int) || chr(found[3]::int) || '..' || chr(found[4]::int) AS error FROM answers WHERE found[1] = -12345 ORDER BY 1, 2;

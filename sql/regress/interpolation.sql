-- lp margins, and loss => 'interpolate': numbers as points, ranges as intervals.
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE m text; h text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, h = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || m || CASE WHEN h <> '' THEN E'\n  HINT: ' || h ELSE '' END;
END $$;

-- The margin of ±(3, 4) in the norm p is its dual norm: 5 for p = 2, 4.4979 for p = 3/2 (r = 3).
CREATE TEMP TABLE pair (y boolean, x real[]);
INSERT INTO pair VALUES (true, '{3,4}'), (false, '{-3,-4}');
SELECT p, (m).solver, (m).status, (m).norm, round((m).margin_lower::numeric, 4) AS lower,
       round((m).margin_upper::numeric, 4) AS upper
  FROM (SELECT p, train_margin(y, x, margin_options(norm => p)) AS m FROM pair, (VALUES (2.0), (1.5)) v (p) GROUP BY p) s
 ORDER BY p;
SELECT s AS solver, (m).status, round((m).margin_lower::numeric, 2) AS lower
  FROM (SELECT s, train_margin(y, x, margin_options(norm => 1.5, solver => s)) AS m
          FROM pair, unnest(ARRAY['dual_ascent', 'perceptron', 'mirror_descent']) s GROUP BY s) t ORDER BY s;
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(norm => 1.5, solver => 'dual_ascent', accelerated => true)) FROM pair$$);

-- Numbers: the least weights with x·w + b = y.
CREATE TEMP TABLE t (y float8, x float8[]);
INSERT INTO t VALUES (1, '{1,0,0,2}'), (2, '{0,1,0,1}'), (-1, '{0,0,2,0}');
CREATE TEMP TABLE m AS
SELECT p, train_margin(y, x, margin_options(norm => p, loss => 'interpolate', intercept => false, dual_weights => true)) AS model
  FROM t, (VALUES (2.0), (1.2)) v (p) GROUP BY p;
SELECT p, (model).solver, (model).loss, (model).status, (model).classes, (model).margin_upper,
       (model).margin_lower > -1e-9 AS met, abs((model).gap) < 1e-6 AS tight FROM m ORDER BY p;
SELECT p, array_agg(round(w::numeric, 4) ORDER BY i) AS weights FROM m, unnest((model).weights) WITH ORDINALITY u (w, i)
 GROUP BY p ORDER BY p;
SELECT p, round(margin_score(model, x)::numeric, 6) AS score, round(margin_predict(model, x, NULL::float8)::numeric, 6) AS predicted
  FROM m, t ORDER BY p, y;
SELECT p, (v).rows, (v).errors, (v).margin_lower > -1e-9 AS met, (v).margin_upper,
       abs((v).primal - (model).primal) < 1e-9 AS primal, abs((v).dual - (model).dual) < 1e-9 AS dual
  FROM (SELECT p, model, margin_verify(model, y, x) AS v FROM m, t GROUP BY p, model) s ORDER BY p;
SELECT p, round(((margin_evaluate(model, y, x)).mse)::numeric, 9) AS mse FROM m, t GROUP BY p ORDER BY p;
SELECT model = margin_from_json(margin_to_json(model)) AS same FROM m WHERE p = 2;
SELECT margin_summary(model) LIKE '%interpolation%' AS says_so, (margin_certificate(model)).problem FROM m WHERE p = 2;
-- The certificate is about the norm, not about a margin, and has an upper bound once the targets are met.
SELECT p, c.objective, c.lower = (model).dual AS lower, c.upper = (model).primal AS upper, c.gap < 1e-6 AS gap,
       c.relative_gap < 1e-6 AS relative_gap, c.distance FROM m, margin_certificate(model) c ORDER BY p;
SELECT l FROM m, regexp_split_to_table(margin_summary(model), E'\n') l WHERE p = 2 AND l ~ '^certifies';
SET client_min_messages = error;
CREATE TEMP TABLE halfway AS
SELECT train_margin(id, ARRAY[id, id % 7, id % 5], margin_options(loss => 'interpolate', max_iterations => 1, history => true, standardize => true)) AS model
  FROM generate_series(1, 30) id;
RESET client_min_messages;
SELECT (model).status, c.objective, c.lower = (model).dual AS lower, c.upper, c.gap FROM halfway, margin_certificate(model) c;
SELECT regexp_replace(l, '[0-9.e+-]+$', '#') AS line FROM halfway, regexp_split_to_table(margin_summary(model), E'\n') l WHERE l ~ '^(targets|objective|certifies)';
SELECT p LIKE '%half the squared norm%' AS about, p LIKE '%>dual<%' AS lower, p LIKE '%>primal<%' AS upper, p LIKE '%margin%' AS margin
  FROM halfway, margin_plot(model) p;

-- Ranges: closed intervals; whole numbers in integer ranges; open ends.
CREATE TEMP TABLE r (y numrange, x float8[]);
INSERT INTO r VALUES ('[1,3]', '{1,0}'), ('(,-2]', '{0,1}'), ('[0.5,)', '{1,1}'), ('(,)', '{9,9}');
SELECT (m).status, array_agg(round(w::numeric, 6) ORDER BY i) AS weights
  FROM (SELECT train_margin(y, x, margin_options(loss => 'interpolate', intercept => false)) AS m FROM r) s,
       unnest((m).weights) WITH ORDINALITY u (w, i) GROUP BY (m).status;
SELECT round((train_margin(y, x, margin_options(loss => 'interpolate', intercept => false))).weights[1]::numeric, 6) AS least
  FROM (VALUES ('[2,5)'::int4range, '{1}'::float8[]), ('(,4)', '{1}')) v (y, x);
SELECT round((train_margin(y, x, margin_options(loss => 'interpolate', intercept => false))).weights[1]::numeric, 6) AS most
  FROM (VALUES ('(-9,-3)'::int8range, '{1}'::float8[])) v (y, x);

-- Targets that contradict each other, and labels that mean nothing here.
SET client_min_messages = error;
SELECT (train_margin(y, x, margin_options(loss => 'interpolate'))).status
  FROM (VALUES (1, '{1,2}'::real[]), (2, '{1,2}')) v (y, x);
SELECT (train_margin(y, x, margin_options(loss => 'interpolate'))).status
  FROM (VALUES (0, '{0,0}'::real[]), (1, '{0,0}')) v (y, x);
SELECT (train_margin(y, x, margin_options(loss => 'interpolate'))).status
  FROM (VALUES (1, '{0,0}'::real[]), (1, '{0,0}')) v (y, x);
RESET client_min_messages;
SELECT pg_temp.error_of($$SELECT train_margin('empty'::numrange, x, margin_options(loss => 'interpolate')) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin('[NaN,)'::numrange, x, margin_options(loss => 'interpolate')) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin('a'::text, x, margin_options(loss => 'interpolate')) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin('[1,2]'::numrange, x) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(loss => 'interpolate', lambda => 1)) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(loss => 'interpolate', norm => 1)) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, margin_options(loss => 'interpolate', solver => 'momentum')) FROM t$$);
SELECT pg_temp.error_of($$SELECT train_margin(y > 0, x, margin_options(loss => 'interpolate')) FROM t$$);
SELECT pg_temp.error_of($$SELECT margin_evaluate(model, '[1,2]'::numrange, x) FROM m, t WHERE p = 2$$);
SELECT pg_temp.error_of($$SELECT margin_path(y, x, '{"loss": "interpolate"}') FROM t$$);

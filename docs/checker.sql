-- A certificate checked in plain SQL: numeric arithmetic only, nothing of margin's library but the model's type.
--   \i docs/checker.sql
--   SELECT * FROM margin_checker.interval('SELECT label, features, 1 FROM t ORDER BY id', model);
--
-- gives an interval that contains the optimum of the model's problem over these rows, computed from the weights, the dual
-- weights (option dual_weights, in the order of the rows) and the rows: docs/checker.md has the proof, and what is refused.
CREATE SCHEMA margin_checker;
-- A row of the query: the type and the text of its label; without x it is one that a training skips.
CREATE TYPE margin_checker.given AS (kind text, label text, x numeric[], c numeric);
-- The same as the model sees it: label -1 or 1, or the target less its center; its weight; that times its dual weight.
CREATE TYPE margin_checker.example AS (y numeric, x numeric[], c numeric, a numeric);
CREATE TABLE margin_checker.half AS  -- 2^-k, in decimals as long as it takes
  WITH RECURSIVE h(k, power) AS (SELECT 0, 1::numeric UNION ALL SELECT k + 1, power * 0.5 FROM h WHERE k < 1074) SELECT * FROM h;
ALTER TABLE margin_checker.half ADD PRIMARY KEY (k);
-- The number that a double stands for, not one near it; NULL for an array with a NULL in it.
CREATE FUNCTION margin_checker.exact(v float8) RETURNS numeric LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  bits bigint := ('x' || encode(float8send(v), 'hex'))::bit(64)::bigint;
  exponent int := (bits >> 52) & 2047;
  mantissa numeric := bits & ((1::bigint << 52) - 1);
BEGIN
  IF exponent = 2047 THEN RAISE 'a number is not finite'; END IF;
  IF exponent = 0 THEN exponent := 1; ELSE mantissa := mantissa + (1::bigint << 52); END IF;
  mantissa := CASE WHEN bits < 0 THEN -mantissa ELSE mantissa END;
  RETURN CASE WHEN exponent < 1075 THEN trim_scale(mantissa * (SELECT power FROM margin_checker.half WHERE k = 1075 - exponent))
              ELSE trunc(mantissa / (SELECT power FROM margin_checker.half WHERE k = exponent - 1075)) END;
END $$;
CREATE FUNCTION margin_checker.exact(v float8[]) RETURNS numeric[] LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT CASE WHEN count(e) = count(*) THEN array_agg(margin_checker.exact(e) ORDER BY k) END FROM unnest(v) WITH ORDINALITY u(e, k) $$;
-- Sums, differences and products of numeric have all their digits. What has not is here. The k with 10^(k-1) <= |v| < 10^k:
CREATE FUNCTION margin_checker.magnitude(v numeric) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT CASE
  WHEN abs(v) >= 1 THEN length(trunc(abs(v))::text) ELSE length(ltrim(substr(abs(v)::text, 3), '0')) - greatest(0, length(abs(v)::text) - 2) END $$;
-- Never below a/b, b > 0, and above it by 1e-49 of it at most; the same of e^u; of ln v, by 1e-49.
CREATE FUNCTION margin_checker.quotient(a numeric, b numeric) RETURNS numeric LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE k int := 50 - margin_checker.magnitude(a) + margin_checker.magnitude(b);
BEGIN RETURN (div(a * ('1e' || k)::numeric, b) + abs(sign(a))) * ('1e' || -k)::numeric; END $$;
CREATE FUNCTION margin_checker.exp_up(u numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT CASE WHEN u < -1000 THEN 1e-434 ELSE exp(round(u, 60 + greatest(0, -u / 2)::int)) * (1 + 1e-50) END $$;
CREATE FUNCTION margin_checker.ln_up(v numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT ln(round(v, 60 + greatest(0, -margin_checker.magnitude(v)))) + 1e-50 $$;
-- Above the root for slack 2, below it for -2.
CREATE FUNCTION margin_checker.root(v numeric, slack int) RETURNS numeric LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE k int := 50 - margin_checker.magnitude(v) / 2;
BEGIN RETURN greatest(0, sqrt(trunc(v * ('1e' || 2 * k)::numeric)) + slack * sign(v)) * ('1e' || -k)::numeric; END $$;
CREATE FUNCTION margin_checker.dot(a numeric[], b numeric[]) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT sum(p * q) FROM unnest(a, b) u(p, q) $$;
-- p a + q b
CREATE FUNCTION margin_checker.mix(p numeric, a numeric[], q numeric, b numeric[]) RETURNS numeric[] LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT array_agg(p * e + q * f ORDER BY k) FROM unnest(a, b) WITH ORDINALITY u(e, f, k) $$;
-- Never below the loss of a score u for a label y (-1 or 1, or a target). `smoothing` is the quantile of that loss.
CREATE FUNCTION margin_checker.loss(name text, u numeric, y numeric, epsilon numeric, smoothing numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT CASE name WHEN 'hinge' THEN miss WHEN 'squared_hinge' THEN miss * miss WHEN 'squared' THEN off * off WHEN 'absolute' THEN off
    WHEN 'epsilon_insensitive' THEN beyond WHEN 'squared_epsilon_insensitive' THEN beyond * beyond
    WHEN 'smoothed_hinge' THEN CASE WHEN miss < smoothing THEN margin_checker.quotient(miss * miss, 2 * smoothing) ELSE miss - smoothing * 0.5 END
    WHEN 'logistic' THEN CASE WHEN y * u > 40 THEN margin_checker.exp_up(-y * u)
                              ELSE greatest(0, -y * u) + margin_checker.ln_up(1 + margin_checker.exp_up(-abs(u))) END
    WHEN 'quantile' THEN greatest(smoothing * (y - u), (smoothing - 1) * (y - u))
    WHEN 'poisson' THEN margin_checker.exp_up(u) - y + CASE WHEN y > 0 THEN y * (margin_checker.ln_up(y) - u) ELSE 0 END
    WHEN 'huber' THEN CASE WHEN off < smoothing THEN margin_checker.quotient(off * off, 2 * smoothing) ELSE off - smoothing * 0.5 END
  END FROM (SELECT greatest(0, 1 - y * u) AS miss, abs(u - y) AS off, greatest(0, abs(u - y) - epsilon) AS beyond) r $$;
-- Any a, brought to where c phi*(-a/c) is finite.
CREATE FUNCTION margin_checker.feasible(name text, a numeric, y numeric, c numeric, smoothing numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT CASE WHEN name IN ('hinge', 'smoothed_hinge', 'logistic') THEN y * least(c, greatest(0, a * y)) WHEN name = 'squared_hinge' THEN y * greatest(0, a * y)
    WHEN name = 'quantile' THEN least(smoothing * c, greatest((smoothing - 1) * c, a)) WHEN name = 'poisson' THEN least(a, c * y)
    WHEN name IN ('absolute', 'epsilon_insensitive', 'huber') THEN least(c, greatest(-c, a))
    WHEN name IN ('squared', 'squared_epsilon_insensitive') THEN a END $$;
-- Never below c phi*(-a/c), a feasible: u a + c phi(u) is never less than -c phi*(-a/c).
CREATE FUNCTION margin_checker.conjugate(name text, a numeric, y numeric, c numeric, epsilon numeric, smoothing numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT CASE WHEN a = 0 THEN 0 ELSE CASE name
    WHEN 'logistic' THEN CASE WHEN a * y = c THEN 0 ELSE a * y * margin_checker.ln_up(margin_checker.quotient(a * y, c))
      + CASE WHEN a * y < c * 1e-20 THEN margin_checker.quotient(a * a, c) - a * y ELSE (c - a * y) * margin_checker.ln_up(margin_checker.quotient(c - a * y, c)) END END
    WHEN 'poisson' THEN a + CASE WHEN c * y > a THEN (c * y - a) * margin_checker.ln_up(margin_checker.quotient(c * y - a, c)) ELSE 0 END
      - CASE WHEN y > 0 THEN c * y * (margin_checker.ln_up(y) - 2e-50) ELSE 0 END
    ELSE -a * y + CASE WHEN name IN ('squared', 'squared_hinge', 'squared_epsilon_insensitive') THEN margin_checker.quotient(a * a, 4 * c) ELSE 0 END
      + CASE WHEN name IN ('smoothed_hinge', 'huber') THEN margin_checker.quotient(smoothing * a * a, 2 * c) ELSE 0 END
      + CASE WHEN name IN ('epsilon_insensitive', 'squared_epsilon_insensitive') THEN epsilon * abs(a) ELSE 0 END END END $$;
-- A row as a training reads it; what that refuses is refused.
CREATE FUNCTION margin_checker.read(label anyelement, features anycompatiblearray, weight float8) RETURNS margin_checker.given LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
BEGIN
  IF label IS NULL OR features IS NULL THEN RETURN ROW(pg_typeof(label)::text, NULL, NULL, NULL)::margin_checker.given; END IF;
  IF (pg_typeof(features)::text IN ('smallint[]', 'integer[]', 'bigint[]', 'real[]', 'double precision[]', 'numeric[]') AND array_ndims(features) = 1 AND weight >= 0
      AND array_position(features, NULL) IS NULL AND (pg_typeof(features)::text <> 'bigint[]' OR 2 ^ 53 > ALL (SELECT abs(e::float8) FROM unnest(features) e))
      AND (pg_typeof(label)::text NOT IN ('real', 'double precision', 'numeric') OR margin_checker.exact(format('%s', label)::float8) IS NOT NULL)) IS NOT TRUE
  THEN RAISE 'a row that no training takes'; END IF;
  RETURN ROW(pg_typeof(label)::text, format('%s', label), margin_checker.exact(features::float8[]), margin_checker.exact(weight));
END $$;
-- The rows of the query, which runs once, in the path of who asks: here all names are whole; what comes after has a path of its
-- own. It is opened first: so it is a statement by itself, and not one that ends the parentheses.
CREATE FUNCTION margin_checker.rows_of(query text) RETURNS margin_checker.given[] LANGUAGE plpgsql AS $$
DECLARE statement pg_catalog.refcursor; found margin_checker.given[];
BEGIN
  OPEN statement FOR EXECUTE query; CLOSE statement;
  EXECUTE pg_catalog.concat('SELECT pg_catalog.array_agg(margin_checker.read(r.l, r.f, r.w)) FROM (', query, pg_catalog.chr(10), ') AS r(l, f, w)') INTO found;
  RETURN found;
END $$;
-- The intercept's form: free, penalized or false.
CREATE FUNCTION margin_checker.form(m margin_model) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE coalesce(m.options->>'intercept', 'true') WHEN 'true' THEN CASE WHEN m.lambda IS NULL OR m.loss IN ('quantile', 'poisson') THEN 'free' ELSE 'penalized' END
    WHEN 'free' THEN 'free' WHEN 'false' THEN 'false' WHEN 'penalized' THEN CASE WHEN m.lambda IS NOT NULL THEN 'penalized' END END $$;
CREATE FUNCTION margin_checker.option(m margin_model, key text, fallback float8) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$ SELECT margin_checker.exact(coalesce((m.options->>key)::float8, fallback)) $$;
-- v cut to the bounds of the weight of feature j, times `unit`: NULL is no end; 0 the lower one, 1 the upper.
CREATE FUNCTION margin_checker.between(o jsonb, v numeric, j int, unit numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$ SELECT least(greatest(v, unit * CASE WHEN o->'positive' = 'true' OR o->'monotone'->>j::text = '1' THEN greatest(e[1], 0) ELSE e[1] END), unit * CASE WHEN o->'monotone'->>j::text = '-1' THEN least(e[2], 0) ELSE e[2] END)
  FROM (SELECT ARRAY[margin_checker.exact((p->>0)::float8), margin_checker.exact((p->>1)::float8)] FROM (SELECT CASE jsonb_typeof(b) WHEN 'object' THEN coalesce(b->j::text, b->'*') WHEN 'array' THEN CASE jsonb_typeof(b->0) WHEN 'array' THEN b->(j - 1) ELSE b END END FROM (SELECT o->'bounds') t(b)) q(p)) r(e) $$;
-- All that the checker knows of models. One of which any line is not true is refused.
CREATE FUNCTION margin_checker.known(m margin_model) RETURNS TABLE (what text, holds boolean) LANGUAGE sql AS $$
  SELECT v.* FROM (SELECT jsonb_strip_nulls(m.options) AS o, m.lambda IS NULL AS hard, margin_checker.form(m) AS form, m.lambda IS NOT NULL
      AND m.loss IN ('squared', 'absolute', 'quantile', 'poisson', 'epsilon_insensitive', 'squared_epsilon_insensitive', 'huber') AS regression) k, LATERAL (VALUES
    ('attributes', jsonb_strip_nulls(to_jsonb(m)) - '{solver,loss,norm,lambda,status,classes,weights,intercept,margin_lower,margin_upper,primal,dual,gap,iterations,rows,skipped,dimensions,support,seconds,options,dual_weights,target_center,ball,prices}'::text[] = '{}'),
    ('options', '{"standardize": false, "l1_ratio": 0, "kernel": "linear", "multiclass": "one_vs_rest", "calibration": "none", "learners": "features", "history": false}'
       @> o - '{lambda,loss,norm,tolerance,intercept,intercept_scale,epsilon,smoothing,quantile,dual_weights,solver,max_iterations,max_seconds,seed,order,output,start,log_level,shrinkage,step,accelerated,working_set,on_error,one_class}'::text[] - CASE WHEN hard THEN '{}' ELSE '{bounds,positive,monotone}' END::text[]),
    ('numbers', coalesce(jsonb_typeof(o->'bounds'), 'array') IN ('array', 'object') AND NOT EXISTS (SELECT FROM jsonb_each(o) WHERE key IN ('lambda', 'norm', 'tolerance', 'intercept_scale', 'epsilon', 'smoothing', 'quantile') AND jsonb_typeof(value) <> 'number')),
    ('ranges', coalesce((o->>'tolerance')::float8, 0) >= 0 AND coalesce((o->>'tolerance')::float8, 0) < 1 AND coalesce((o->>'epsilon')::float8, 0) BETWEEN 0 AND 1e150
       AND coalesce((o->>'smoothing')::float8, 1) BETWEEN 1e-150 AND 1e150 AND coalesce((o->>'intercept_scale')::float8, 1) BETWEEN 1e-150 AND 1e150
       AND coalesce((o->>'quantile')::float8, 0.5) > 0 AND coalesce((o->>'quantile')::float8, 0.5) < 1),
    ('lambda', CASE WHEN hard THEN NOT o ? 'lambda' ELSE (o->>'lambda')::float8 = m.lambda AND m.lambda BETWEEN 1e-300 AND 1e300 END),
    ('norm', m.norm = coalesce((o->>'norm')::float8, 2) AND (m.norm = 2 OR m.norm = 1 AND hard)),
    ('loss', CASE WHEN hard THEN coalesce(m.loss, 'none') IN ('none', 'exponential', 'logistic') AND coalesce(o->>'loss', m.loss, 'none') = coalesce(m.loss, 'none')
                  ELSE (regression OR m.loss IN ('hinge', 'squared_hinge', 'smoothed_hinge', 'logistic')) AND m.loss = coalesce(o->>'loss', 'hinge') END),
    ('weights', array_dims(m.weights) = '[1:' || m.dimensions || ']' AND array_dims(m.intercept) = '[1:1]' AND array_dims(m.dual_weights) = '[1:' || m.rows || ']'
       AND num_nulls(margin_checker.exact(m.weights), margin_checker.exact(m.intercept), margin_checker.exact(m.dual_weights)) = 0),
    ('intercept', (SELECT bool_and(margin_checker.between(o, margin_checker.exact(v), j::int, 1) = margin_checker.exact(v)) FROM unnest(m.weights) WITH ORDINALITY u(v, j)) AND form IS NOT NULL AND (form <> 'false' OR m.intercept[1] = 0)),
    ('classes', CASE WHEN regression THEN m.classes IS NULL ELSE array_dims(m.classes) = '[1:2]' END),
    ('center', CASE WHEN regression AND form <> 'false' THEN m.target_center IS NOT NULL ELSE m.target_center IS NULL END)) v(what, holds) $$;
-- The class of a label, as margin writes it.
CREATE FUNCTION margin_checker.class(kind text, label text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE kind WHEN 'boolean' THEN CASE label WHEN 't' THEN 'true' ELSE 'false' END WHEN 'character' THEN rtrim(label, ' ') WHEN 'numeric' THEN trim_scale(label::numeric)::text
    ELSE CASE WHEN kind IN ('real', 'double precision') AND (abs(label::float8) >= 1e-4 AND abs(label::float8) < 1e15 OR label::float8 = 0) THEN trim_scale(label::numeric)::text ELSE label END END $$;
-- The rows as the model sees them, with as many dual weights.
CREATE FUNCTION margin_checker.examples(g margin_checker.given[], m margin_model) RETURNS margin_checker.example[] LANGUAGE plpgsql AS $$
DECLARE
  kind text := (SELECT min(u.kind) FROM unnest(g) u);  -- a query has one
  number boolean := kind IN ('smallint', 'integer', 'bigint', 'real', 'double precision', 'numeric');
  enum oid := (SELECT oid FROM pg_type WHERE oid = kind::regtype AND typtype = 'e');
  found margin_checker.example[];
  reason text := (SELECT string_agg(what, ', ') FROM margin_checker.known(m) WHERE holds IS NOT TRUE);
BEGIN
  IF reason IS NOT NULL THEN RAISE 'the checker does not take this model: %', reason; END IF;
  IF (CASE WHEN m.classes IS NULL THEN number WHEN number THEN m.classes[1]::numeric < m.classes[2]::numeric
       WHEN kind IN ('boolean', 'text', 'character varying', 'character', 'name', '"char"') THEN m.classes[1] < m.classes[2] COLLATE "C"
       ELSE (SELECT l.enumsortorder < h.enumsortorder FROM pg_enum l, pg_enum h WHERE l.enumtypid = enum AND h.enumtypid = enum AND l.enumlabel = m.classes[1] AND h.enumlabel = m.classes[2]) END) IS NOT TRUE
  THEN RAISE 'the classes are not those of the labels'; END IF;
  SELECT array_agg(ROW(CASE WHEN m.classes IS NULL THEN margin_checker.exact(CASE t.kind WHEN 'real' THEN t.label::float4::float8 ELSE t.label::float8 END - coalesce(m.target_center, 0))
                            WHEN margin_checker.class(t.kind, t.label) = m.classes[1] COLLATE "C" THEN -1 WHEN margin_checker.class(t.kind, t.label) = m.classes[2] COLLATE "C" THEN 1 END,
                       t.x, t.c, t.c * margin_checker.exact(m.dual_weights[t.i]))::margin_checker.example ORDER BY t.i) INTO found
    FROM (SELECT *, row_number() OVER (ORDER BY u.n) AS i FROM unnest(g) WITH ORDINALITY u(kind, label, x, c, n) WHERE u.x IS NOT NULL) t;
  IF (SELECT count(*) = m.rows AND (m.classes IS NULL OR count(DISTINCT e.y) = 2) AND bool_and((cardinality(e.x) = m.dimensions AND num_nulls(e.y, e.a) = 0
        AND (m.lambda IS NOT NULL OR e.c = 1 AND e.a >= 0) AND (e.y >= 0 OR m.loss IS DISTINCT FROM 'poisson')) IS TRUE) FROM unnest(found) e) IS NOT TRUE
  THEN RAISE 'the rows are not those of the model'; END IF;
  RETURN found;
END $$;
-- Numbers a on a grid of 10^-k whose sum is 0: the heavier sign is scaled down, and what the grid leaves of the sum is taken
-- from the largest number of the other sign; where that has not as much, all are 0.
CREATE FUNCTION margin_checker.balanced(a numeric[], k int) RETURNS numeric[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  excess numeric := (SELECT sum(e) FROM unnest(a) e);
  heavy numeric := (SELECT sum(abs(e)) FROM unnest(a) e WHERE e * excess > 0);
  at bigint;
BEGIN
  a := ARRAY(SELECT trunc(CASE WHEN e * excess > 0 THEN -e * margin_checker.quotient(abs(excess) - heavy, heavy) ELSE e END, k) FROM unnest(a) WITH ORDINALITY u(e, i) ORDER BY i);
  excess := (SELECT sum(e) FROM unnest(a) e);
  at := (SELECT i FROM unnest(a) WITH ORDINALITY u(e, i) ORDER BY e * sign(excess) DESC, i LIMIT 1);
  IF a[at] * sign(excess) < abs(excess) THEN RETURN array_fill(0::numeric, ARRAY[cardinality(a)]); END IF;
  a[at] := a[at] - excess; RETURN a;
END $$;
-- Of a soft margin. Upper: P at the weights. Lower: D at the dual weights, cut to 60 digits of the largest. And whether what
-- the ball says is true. A penalised intercept b is the weight b/scale of a feature of the value `scale`; z = scale (w, b/scale),
-- s = sum a (x, scale); h is s cut to lambda total times the bounds: penalty - <s, w>/total is least at w = h/(lambda total), (|h - s|^2 - |s|^2)/(2 lambda total^2).
CREATE FUNCTION margin_checker.risk(e margin_checker.example[], m margin_model, OUT lower numeric, OUT upper numeric, OUT ball boolean) LANGUAGE plpgsql AS $$
DECLARE
  form text := margin_checker.form(m);
  scale numeric := CASE form WHEN 'penalized' THEN margin_checker.option(m, 'intercept_scale', 1) ELSE 1 END;
  epsilon numeric := margin_checker.option(m, 'epsilon', 0.1); lambda numeric := margin_checker.exact(m.lambda);
  smoothing numeric := CASE m.loss WHEN 'quantile' THEN margin_checker.option(m, 'quantile', 0.5) ELSE margin_checker.option(m, 'smoothing', 1) END;
  w numeric[] := margin_checker.exact(m.weights); b numeric := margin_checker.exact(m.intercept[1] - coalesce(m.target_center, 0));
  z numeric[] := ARRAY(SELECT scale * v FROM unnest(w) WITH ORDINALITY u(v, j) ORDER BY j) || CASE form WHEN 'penalized' THEN ARRAY[b] END;
  k int := 60 - margin_checker.magnitude((SELECT max(abs(r.a)) FROM unnest(e) r));
  alpha numeric[] := ARRAY(SELECT trunc(margin_checker.feasible(m.loss, r.a, r.y, r.c, smoothing), k) FROM unnest(e) WITH ORDINALITY r(y, x, c, a, i) ORDER BY r.i);
  stored numeric[] := margin_checker.exact(ARRAY(SELECT unnest(m.ball)));
  total numeric; losses numeric; conjugates numeric; whole boolean; s numeric[]; h numeric[]; apart numeric[]; last int := array_length(m.ball, 2);
BEGIN
  IF form = 'free' THEN alpha := margin_checker.balanced(alpha, k); END IF;
  SELECT sum(t.c), sum(t.c * t.l), sum(t.k), count(t.l * t.k) = count(*) INTO total, losses, conjugates, whole FROM (
    SELECT r.c, margin_checker.loss(m.loss, margin_checker.dot(r.x, w) + b, r.y, epsilon, smoothing) AS l, margin_checker.conjugate(m.loss, alpha[r.i], r.y, r.c, epsilon, smoothing) AS k
      FROM unnest(e) WITH ORDINALITY r(y, x, c, a, i)) t;
  IF whole IS NOT TRUE THEN RAISE 'a loss is NULL'; END IF;
  s := ARRAY(SELECT sum(alpha[r.i] * v) FROM unnest(e) WITH ORDINALITY r(y, x, c, a, i), unnest(r.x || CASE form WHEN 'penalized' THEN ARRAY[scale] END) WITH ORDINALITY u(v, j) GROUP BY j ORDER BY j);
  h := ARRAY(SELECT CASE WHEN j <= m.dimensions THEN margin_checker.between(m.options, v, j::int, lambda * total) ELSE v END FROM unnest(s) WITH ORDINALITY u(v, j) ORDER BY j);
  upper := margin_checker.quotient(lambda * total * margin_checker.dot(z, z) + 2 * scale * scale * losses, 2 * total * scale * scale);
  lower := -margin_checker.quotient(2 * lambda * total * conjugates + margin_checker.dot(s, s) - (SELECT sum((p - q) * (p - q)) FROM unnest(s, h) u(p, q)), 2 * lambda * total * total);
  IF lower < 0 OR m.dual = 0 THEN lower := 0; h := array_fill(0::numeric, ARRAY[cardinality(z)]); END IF;  -- D(0) is 0, or more
  apart := margin_checker.mix(scale, h, -lambda * total, z);  -- scale lambda total (v - w)
  ball := m.ball IS NULL OR array_length(m.ball, 1) = 2 AND (last = 4 OR last = 4 + m.dimensions) AND (form = 'penalized' OR stored[4] = 0)
    AND stored[1] > 0 AND abs(stored[1] + stored[last + 1] - total) <= stored[last + 2] AND 0 = ALL (stored[last + 3:]) AND stored[2] >= 0 AND stored[3] >= 0
    AND upper - lower + margin_checker.quotient(-margin_checker.dot(apart, apart), 2 * lambda * total * total * scale * scale) <= stored[2];
  IF last > 4 THEN apart := margin_checker.mix(1, apart, -lambda * total * scale, stored[5:last] || CASE form WHEN 'penalized' THEN ARRAY[0]::numeric[] END); END IF;
  IF form = 'penalized' THEN apart[m.dimensions + 1] := apart[m.dimensions + 1] - lambda * total * stored[4]; END IF;
  ball := ball AND (m.ball IS NULL OR margin_checker.quotient(margin_checker.dot(apart, apart), lambda * lambda * total * total * scale * scale) <= stored[3] * stored[3]);
END $$;
-- Of a hard one. Lower: the model has it. Upper: half the distance of a point of one class's hull from one of the other's, or
-- without intercept the length of a point of the hull of y x. In the norm, and its dual. And the longest row.
CREATE FUNCTION margin_checker.margin(e margin_checker.example[], m margin_model, OUT lower numeric, OUT upper numeric, OUT longest numeric) LANGUAGE plpgsql AS $$
DECLARE
  w numeric[] := margin_checker.exact(m.weights);
  least numeric := (SELECT min(r.y * (margin_checker.dot(r.x, w) + margin_checker.exact(m.intercept[1]))) FROM unnest(e) r);
  size numeric := CASE m.norm WHEN 1 THEN (SELECT sum(abs(v)) FROM unnest(w) v) ELSE margin_checker.root(margin_checker.dot(w, w), CASE WHEN least < 0 THEN -2 ELSE 2 END) END;
  free boolean := margin_checker.form(m) = 'free';
  mass numeric[] := (SELECT ARRAY[sum(r.a), sum(r.a) FILTER (WHERE r.y > 0), sum(r.a) FILTER (WHERE r.y < 0)] FROM unnest(e) r);
  v numeric[] := ARRAY(SELECT sum(r.a * r.y * u.v * CASE WHEN NOT free THEN 1 WHEN r.y > 0 THEN mass[3] ELSE mass[2] END) FROM unnest(e) r, unnest(r.x) WITH ORDINALITY u(v, j) GROUP BY j ORDER BY j);
BEGIN
  lower := -margin_checker.quotient(-least, nullif(size, 0));
  upper := margin_checker.quotient(CASE m.norm WHEN 1 THEN (SELECT max(abs(t)) FROM unnest(v) t) ELSE margin_checker.root(margin_checker.dot(v, v), 2) END,
                                   nullif(CASE WHEN free THEN 2 * mass[2] * mass[3] ELSE mass[1] END, 0));
  longest := (SELECT CASE m.norm WHEN 1 THEN max((SELECT max(abs(t)) FROM unnest(r.x) t)) ELSE margin_checker.root(max(margin_checker.dot(r.x, r.x)), 2) END FROM unnest(e) r);
END $$;
-- Whether the target's center is the mean, or the quantile, of the targets, as far as sums in double precision tell.
CREATE FUNCTION margin_checker.centered(e margin_checker.example[], m margin_model) RETURNS boolean LANGUAGE sql AS $$
  SELECT CASE WHEN m.target_center IS NULL THEN true WHEN m.loss = 'poisson' THEN m.target_center = 0
    WHEN m.loss IN ('squared', 'squared_epsilon_insensitive') THEN abs(sum(r.c * r.y)) <= 1e-12 * sum(r.c * abs(r.y)) + 1e-15 * sum(r.c) * abs(margin_checker.exact(m.target_center))
    WHEN bool_or(r.y = 0 AND r.c > 0) THEN sum(r.c) FILTER (WHERE r.y <= 0) > (tau + 1e-12) * sum(r.c) AND coalesce(sum(r.c) FILTER (WHERE r.y < 0), 0) < (tau + 1e-12) * sum(r.c)
    ELSE abs(sum(r.c) FILTER (WHERE r.y < 0) - tau * sum(r.c)) <= 1e-12 * sum(r.c)
      AND abs(max(r.y) FILTER (WHERE r.y < 0 AND r.c > 0) + min(r.y) FILTER (WHERE r.y > 0)) <= 1e-15 * (max(abs(r.y)) + abs(margin_checker.exact(m.target_center))) END
    FROM unnest(e) r, margin_checker.option(m, CASE m.loss WHEN 'quantile' THEN 'quantile' ELSE 'none' END, 0.5) tau GROUP BY tau $$;
-- The interval that contains the optimum, and what the model says of itself: whether these rows prove it.
CREATE FUNCTION margin_checker.judged(g margin_checker.given[], m margin_model, OUT lower numeric, OUT upper numeric, OUT claims jsonb, OUT proven boolean) LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  e margin_checker.example[] := margin_checker.examples(g, m);
  low float8 := CASE WHEN m.lambda IS NULL THEN m.margin_lower ELSE m.dual END;
  high float8 := CASE WHEN m.lambda IS NULL THEN m.margin_upper ELSE m.primal END;
  tolerance float8 := coalesce((m.options->>'tolerance')::float8, 0.001);
  width float8 := CASE WHEN high > 0 THEN (high - low) / high ELSE 0 END;
  longest numeric; ball boolean; inseparable boolean := false; fits numeric := 0;  -- a primal value that is the rounding of the labels
BEGIN
  IF m.lambda IS NULL THEN
    SELECT r.*, m.ball IS NULL INTO lower, upper, longest, ball FROM margin_checker.margin(e, m) r;
    inseparable := low <= 0 AND margin_checker.exact(high) <= (1e-9 + 1e-20) * longest;
  ELSE SELECT r.* INTO lower, upper, ball FROM margin_checker.risk(e, m) r;
    SELECT CASE WHEN m.classes IS NOT NULL THEN 0 WHEN m.loss = 'poisson' THEN 1e-20 * avg(r.y) ELSE (2.0 ^ -48 * max(abs(r.y))) ^ CASE WHEN m.loss ~ 'squared' THEN 2 ELSE 1 END END INTO fits FROM unnest(e) r; END IF;
  claims := jsonb_build_object('lower', lower >= margin_checker.exact(low), 'upper', upper <= margin_checker.exact(high), 'gap', m.gap = high - low,
    'ends', CASE WHEN m.lambda IS NULL THEN m.primal = low AND m.dual = high ELSE num_nulls(m.margin_lower, m.margin_upper) = 2 END,
    'status', CASE WHEN m.status = 'not_separable' THEN inseparable WHEN m.status = 'optimal' THEN (width <= tolerance * (1 + 1e-12) OR margin_checker.exact(high) <= fits) AND NOT inseparable
      WHEN m.status = 'iteration_limit' OR m.status = 'time_limit' AND m.options ? 'max_seconds' THEN width >= tolerance * (1 - 1e-12) AND NOT inseparable END,
    'counts', m.skipped = (SELECT count(*) FROM unnest(g) u WHERE u.x IS NULL) AND m.support = (SELECT count(*) FROM unnest(e) r WHERE r.a <> 0)
      AND m.iterations >= 0 AND m.seconds >= 0 AND m.seconds < 'Infinity', 'center', margin_checker.centered(e, m), 'ball', ball,
    'solver', m.solver ~ '^(cutting_plane|momentum|gradient_descent|normalized_gradient_descent|batch_perceptron|boosting|dual_ascent|accelerated|perceptron|mirror_descent|linear_program|sdca|sgd|newton|newton_cg|[+])+$');
  proven := NOT EXISTS (SELECT FROM jsonb_each(claims) WHERE value <> 'true');
END $$;
CREATE FUNCTION margin_checker.interval(query text, m margin_model, OUT lower numeric, OUT upper numeric) LANGUAGE sql AS $$ SELECT j.lower, j.upper FROM margin_checker.judged(margin_checker.rows_of(query), m) j $$;
CREATE FUNCTION margin_checker.claims(query text, m margin_model) RETURNS jsonb LANGUAGE sql AS
  $$ SELECT j.claims FROM margin_checker.judged(margin_checker.rows_of(query), m) j $$;
CREATE FUNCTION margin_checker.proven(query text, m margin_model) RETURNS boolean LANGUAGE sql AS
  $$ SELECT j.proven FROM margin_checker.judged(margin_checker.rows_of(query), m) j $$;

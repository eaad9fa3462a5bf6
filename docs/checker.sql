-- A certificate checked in plain SQL: numeric arithmetic only, nothing of margin's library but the model's type.
--
--   \i docs/checker.sql
--   SELECT * FROM margin_checker.interval('SELECT label, features, 1 FROM t ORDER BY id', model);
--
-- gives an interval that contains the optimum of the model's problem over these rows, computed from the weights, the dual
-- weights (option dual_weights, in the order of the rows) and the rows: docs/checker.md has the proof. Rows are
-- (label, features, weight) by position; features float8[] or what casts to it. It takes linear models of two classes or of a
-- regression: hard margins (norm 2 or 1) and soft ones, without l1_ratio, standardize and class_weight.
CREATE SCHEMA margin_checker;

-- 2^-k, in decimals as long as it takes.
CREATE TABLE margin_checker.half AS
  WITH RECURSIVE h(k, power) AS (SELECT 0, 1::numeric UNION ALL SELECT k + 1, power * 0.5 FROM h WHERE k < 1074) SELECT * FROM h;
ALTER TABLE margin_checker.half ADD PRIMARY KEY (k);

-- The number that a double stands for, not one near it.
CREATE FUNCTION margin_checker.exact(v float8) RETURNS numeric LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
  bits bigint := ('x' || encode(float8send(v), 'hex'))::bit(64)::bigint;
  exponent int := (bits >> 52) & 2047;
  mantissa numeric := bits & ((1::bigint << 52) - 1);
BEGIN
  IF exponent = 2047 THEN RAISE 'a number is not finite'; END IF;
  IF exponent = 0 THEN exponent := 1; ELSE mantissa := mantissa + (1::bigint << 52); END IF;
  IF bits < 0 THEN mantissa := -mantissa; END IF;
  IF exponent < 1075 THEN RETURN trim_scale(mantissa * (SELECT power FROM margin_checker.half WHERE k = 1075 - exponent)); END IF;
  RETURN trunc(mantissa / (SELECT power FROM margin_checker.half WHERE k = exponent - 1075));
END $$;

CREATE FUNCTION margin_checker.exact(v float8[]) RETURNS numeric[] LANGUAGE sql IMMUTABLE STRICT AS
  $$ SELECT array_agg(margin_checker.exact(e) ORDER BY k) FROM unnest(v) WITH ORDINALITY u(e, k) $$;
CREATE FUNCTION margin_checker.dot(a numeric[], b numeric[]) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT AS
  $$ SELECT sum(p * q) FROM unnest(a, b) u(p, q) $$;

-- The loss of a score u for a label y (-1 or 1, or a target). `smoothing` is the quantile of that loss.
CREATE FUNCTION margin_checker.loss(name text, u numeric, y numeric, epsilon numeric, smoothing numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE name
    WHEN 'hinge' THEN greatest(0, 1 - y * u)
    WHEN 'squared_hinge' THEN greatest(0, 1 - y * u) ^ 2
    WHEN 'smoothed_hinge' THEN CASE WHEN y * u >= 1 THEN 0 WHEN 1 - y * u < smoothing THEN (1 - y * u) ^ 2 / (2 * smoothing) ELSE 1 - y * u - smoothing / 2 END
    WHEN 'logistic' THEN greatest(0, -y * u) + ln(1 + exp(round(-abs(u), 40)))
    WHEN 'squared' THEN (u - y) ^ 2
    WHEN 'absolute' THEN abs(u - y)
    WHEN 'quantile' THEN greatest(smoothing * (y - u), (smoothing - 1) * (y - u))
    WHEN 'poisson' THEN exp(round(u, 60)) - y + CASE WHEN y > 0 THEN y * (ln(y) - u) ELSE 0 END
    WHEN 'epsilon_insensitive' THEN greatest(0, abs(u - y) - epsilon)
    WHEN 'squared_epsilon_insensitive' THEN greatest(0, abs(u - y) - epsilon) ^ 2
    WHEN 'huber' THEN CASE WHEN abs(u - y) < smoothing THEN (u - y) ^ 2 / (2 * smoothing) ELSE abs(u - y) - smoothing / 2 END
  END $$;

-- Any number, brought to where the conjugate of the loss is finite.
CREATE FUNCTION margin_checker.feasible(name text, a numeric, y numeric, smoothing numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN name IN ('hinge', 'smoothed_hinge', 'logistic') THEN y * least(1, greatest(0, a * y))
    WHEN name = 'squared_hinge' THEN y * greatest(0, a * y)
    WHEN name = 'quantile' THEN least(smoothing, greatest(smoothing - 1, a))
    WHEN name = 'poisson' THEN least(a, y)
    WHEN name IN ('absolute', 'epsilon_insensitive', 'huber') THEN least(1, greatest(-1, a))
    ELSE a END $$;

-- phi*(-a), a feasible: u a + phi(u) is never less than -phi*(-a).
CREATE FUNCTION margin_checker.conjugate(name text, a numeric, y numeric, epsilon numeric, smoothing numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE name
    WHEN 'hinge' THEN -a * y
    WHEN 'squared_hinge' THEN -a * y + a ^ 2 / 4
    WHEN 'smoothed_hinge' THEN -a * y + smoothing * a ^ 2 / 2
    WHEN 'logistic' THEN CASE WHEN a * y IN (0, 1) THEN 0 ELSE a * y * ln(a * y) + (1 - a * y) * ln(1 - a * y) END
    WHEN 'squared' THEN -a * y + a ^ 2 / 4
    WHEN 'absolute' THEN -a * y
    WHEN 'quantile' THEN -a * y
    WHEN 'poisson' THEN a + CASE WHEN y - a > 0 THEN (y - a) * ln(y - a) ELSE 0 END - CASE WHEN y > 0 THEN y * ln(y) ELSE 0 END
    WHEN 'epsilon_insensitive' THEN -a * y + epsilon * abs(a)
    WHEN 'squared_epsilon_insensitive' THEN -a * y + epsilon * abs(a) + a ^ 2 / 4
    WHEN 'huber' THEN -a * y + smoothing * a ^ 2 / 2
  END $$;

-- The rows as the model sees them: label -1 or 1, or the target less its center; a dual value for each, in their order.
CREATE FUNCTION margin_checker.rows_of(query text, m margin_model) RETURNS TABLE (i bigint, y numeric, x numeric[], c numeric, a numeric) LANGUAGE plpgsql AS $$
BEGIN
  IF (m.options->>'l1_ratio')::numeric > 0 OR (m.options->>'standardize')::boolean OR m.options ? 'class_weight' OR m.kernel IS NOT NULL
     OR m.stumps IS NOT NULL OR m.norm NOT IN (1, 2) OR cardinality(m.classes) > 2 OR m.options->>'multiclass' = 'joint' OR m.encoder IS NOT NULL OR m.columns IS NOT NULL THEN
    RAISE 'the checker does not take this model';
  END IF;
  RETURN QUERY EXECUTE format($q$
    SELECT i, CASE WHEN $1 IS NULL THEN margin_checker.exact(label::text::float8) - margin_checker.exact($3) WHEN label::text = $1[1] THEN -1 WHEN label::text = $1[2] THEN 1 END,
           margin_checker.exact(features::float8[]), margin_checker.exact(weight::float8), margin_checker.exact($2[i])
      FROM (SELECT *, row_number() OVER () AS i FROM (%s) r(label, features, weight)) r$q$, query)
    USING m.classes, m.dual_weights, coalesce(m.target_center, 0);
END $$;

-- Of a hard margin. Lower: the weights have it. Upper: half the distance of a point of one class's hull from one of the
-- other's.
CREATE FUNCTION margin_checker.margin(query text, m margin_model, free boolean, OUT lower numeric, OUT upper numeric) LANGUAGE plpgsql AS $$
DECLARE
  w numeric[] := margin_checker.exact(m.weights);
  size numeric := CASE m.norm WHEN 1 THEN (SELECT sum(abs(e)) FROM unnest(w) e) ELSE sqrt(round(margin_checker.dot(w, w), 80)) END;
  least numeric[];  -- y <x, w>, of all rows and of each class
  mass numeric[];
  v numeric[];
BEGIN
  SELECT ARRAY[min(s), min(s) FILTER (WHERE y > 0), min(s) FILTER (WHERE y < 0)], ARRAY[sum(abs(a)), sum(abs(a)) FILTER (WHERE y > 0), sum(abs(a)) FILTER (WHERE y < 0)]
    INTO least, mass FROM (SELECT y, a, y * margin_checker.dot(x, w) AS s FROM margin_checker.rows_of(query, m)) r;
  lower := CASE WHEN free THEN (least[2] + least[3]) / 2 ELSE least[1] END / size;
  SELECT array_agg(e ORDER BY j) INTO v FROM (
    SELECT j, sum(round(abs(a) * y * e / nullif(CASE WHEN NOT free THEN mass[1] WHEN y > 0 THEN 2 * mass[2] ELSE 2 * mass[3] END, 0), 80)) AS e
      FROM margin_checker.rows_of(query, m), unnest(x) WITH ORDINALITY u(e, j) GROUP BY j) c;
  upper := CASE m.norm WHEN 1 THEN (SELECT max(abs(e)) FROM unnest(v) e) ELSE sqrt(margin_checker.dot(v, v)) END;
END $$;

-- Of a soft one. Upper: P at the weights. Lower: the dual value at the dual weights, of which a free intercept (`scale` NULL)
-- takes as much from either sign: the heavier one is scaled down.
CREATE FUNCTION margin_checker.risk(query text, m margin_model, scale numeric, OUT lower numeric, OUT upper numeric) LANGUAGE plpgsql AS $$
DECLARE
  w numeric[] := margin_checker.exact(m.weights);
  b numeric := margin_checker.exact(m.intercept[1]) - margin_checker.exact(coalesce(m.target_center, 0));
  lambda numeric := margin_checker.exact(m.lambda);
  epsilon numeric := margin_checker.exact(coalesce((m.options->>'epsilon')::float8, 0.1));
  smoothing numeric := margin_checker.exact(coalesce((m.options->>CASE m.loss WHEN 'quantile' THEN 'quantile' ELSE 'smoothing' END)::float8,
                                                     CASE m.loss WHEN 'quantile' THEN 0.5 ELSE 1 END));
  mass numeric[];
  share numeric[] := '{1, 1}';
  total numeric;
  losses numeric;
  conjugates numeric;
  v numeric[];
BEGIN
  SELECT ARRAY[coalesce(sum(c * a) FILTER (WHERE a > 0), 0), coalesce(-sum(c * a) FILTER (WHERE a < 0), 0)] INTO mass
    FROM (SELECT c, margin_checker.feasible(m.loss, a, y, smoothing) AS a FROM margin_checker.rows_of(query, m)) r;
  IF scale IS NULL AND greatest(mass[1], mass[2]) > 0 THEN
    share := ARRAY[least(1, round(mass[2], 80) / nullif(mass[1], 0)), least(1, round(mass[1], 80) / nullif(mass[2], 0))];
  END IF;
  WITH r AS MATERIALIZED (
    SELECT y, x, c, a * CASE WHEN a > 0 THEN share[1] ELSE share[2] END AS a
      FROM (SELECT y, x, c, margin_checker.feasible(m.loss, a, y, smoothing) AS a FROM margin_checker.rows_of(query, m)) r)
  SELECT (SELECT sum(c) FROM r), (SELECT sum(c * margin_checker.loss(m.loss, margin_checker.dot(x, w) + b, y, epsilon, smoothing)) FROM r),
         (SELECT sum(c * margin_checker.conjugate(m.loss, a, y, epsilon, smoothing)) FROM r),
         (SELECT array_agg(e ORDER BY j) FROM (SELECT j, sum(c * a * e) AS e FROM r, unnest(x || coalesce(scale, 0)) WITH ORDINALITY u(e, j) GROUP BY j) s)
    INTO total, losses, conjugates, v;
  SELECT array_agg(round(e, 80) / (lambda * total) ORDER BY j) INTO v FROM unnest(v) WITH ORDINALITY u(e, j);
  upper := lambda / 2 * (margin_checker.dot(w, w) + CASE WHEN scale > 0 THEN b ^ 2 / scale ^ 2 ELSE 0 END) + round(losses, 80) / total;
  lower := -round(conjugates, 80) / total - lambda / 2 * margin_checker.dot(v, v);
END $$;

-- The interval that contains the optimum; an end is NULL where the model does not say enough. 1e-30 is more than what is lost
-- where a division or a logarithm ends after some 40 to 80 decimals.
CREATE FUNCTION margin_checker.interval(query text, m margin_model, OUT lower numeric, OUT upper numeric) LANGUAGE plpgsql AS $$
DECLARE
  form text := coalesce(m.options->>'intercept', CASE WHEN m.loss IN ('quantile', 'poisson') THEN 'free' ELSE 'penalized' END);
BEGIN
  IF m.lambda IS NULL THEN
    SELECT i.lower, i.upper INTO lower, upper FROM margin_checker.margin(query, m, form <> 'false') i;
  ELSE
    SELECT i.lower, i.upper INTO lower, upper FROM margin_checker.risk(query, m,
      CASE form WHEN 'free' THEN NULL WHEN 'false' THEN 0 ELSE margin_checker.exact(coalesce((m.options->>'intercept_scale')::float8, 1)) END) i;
  END IF;
  lower := round(lower, 40) - 1e-30;
  upper := round(upper, 40) + 1e-30;
END $$;

-- Whether the rows prove what the model says of itself.
CREATE FUNCTION margin_checker.proven(query text, m margin_model) RETURNS boolean LANGUAGE sql AS $$
  SELECT coalesce(CASE WHEN m.lambda IS NULL THEN i.lower >= margin_checker.exact(m.margin_lower) AND i.upper <= margin_checker.exact(m.margin_upper)
                       ELSE i.lower >= margin_checker.exact(m.dual) AND i.upper <= margin_checker.exact(m.primal) END, false)
    FROM margin_checker.interval(query, m) i;
$$;

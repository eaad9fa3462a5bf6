-- Lies about an honest model whose interval is narrow: one attribute, option or number changed, so that what it says is false,
-- or no model at all.
CREATE FUNCTION lies(m margin_model) RETURNS TABLE (kind text, lie jsonb) LANGUAGE sql AS $$
WITH k AS (SELECT CASE WHEN m.lambda IS NULL THEN m.margin_lower ELSE m.dual END AS low, CASE WHEN m.lambda IS NULL THEN m.margin_upper ELSE m.primal END AS high,
             (SELECT max(abs(w)) FROM unnest(m.weights) w) AS size, margin_checker.form(m) AS form),
f AS (SELECT key, value AS v, jsonb_typeof(value) AS type FROM jsonb_each(to_jsonb(m))),
forged(kind, lie) AS (
  SELECT 'no ' || key, jsonb_build_object(key, NULL) FROM f WHERE type <> 'null' AND key <> 'ball' AND (key <> 'loss' OR m.lambda IS NOT NULL)
  UNION ALL  -- no numbers, no elements, one too many or too few, another shape
  SELECT value || ' as ' || key, jsonb_build_object(key, value) FROM f, unnest('{NaN,Infinity,-Infinity}'::text[]) value
   WHERE type = 'number' AND key NOT IN ('rows', 'skipped', 'dimensions', 'support', 'iterations')
  UNION ALL
  SELECT value::text || ' in ' || key, jsonb_build_object(key, jsonb_set(v, '{0}', value)) FROM f, unnest('{"\"NaN\"","\"Infinity\"","\"-Infinity\"",null}'::jsonb[]) value
   WHERE type = 'array' AND (key IN ('weights', 'intercept', 'dual_weights') OR key = 'classes' AND value = 'null')
  UNION ALL
  SELECT what || key, jsonb_build_object(key, changed) FROM f, LATERAL (VALUES ('empty ', '[]'), ('longer ', v || (v->0)), ('shorter ', v - 0), ('nested ', jsonb_build_array(v))) c(what, changed)
   WHERE key IN ('weights', 'intercept', 'dual_weights', 'classes') AND type = 'array'
  UNION ALL  -- ends a little too good, other numbers
  SELECT 'tightened ' || what, jsonb_build_object('gap', e[2] - e[1]) || CASE WHEN m.lambda IS NULL THEN jsonb_build_object('primal', e[1], 'dual', e[2], 'margin_lower', e[1], 'margin_upper', e[2]) ELSE jsonb_build_object('primal', e[2], 'dual', e[1]) END
    FROM k, LATERAL (VALUES ('lower end', ARRAY[low + 1e-6 * abs(high), high]), ('upper end', ARRAY[low, high - 1e-6 * abs(high)]), ('interval', ARRAY[(low + high) / 2, (low + high) / 2])) v(what, e)
  UNION ALL
  SELECT what || key, jsonb_build_object(key, changed) FROM f, LATERAL (SELECT CASE WHEN type = 'number' THEN v::numeric END) n(number),
         LATERAL (VALUES ('next ', number + 1), ('opposite ', -number), ('near ', number * 1.000001 + 1e-9)) c(what, changed)
   WHERE key IN ('norm', 'lambda', 'margin_lower', 'margin_upper', 'primal', 'dual', 'gap', 'rows', 'skipped', 'dimensions', 'support', 'target_center') AND changed <> number
     AND (what <> 'near ' OR key NOT IN ('rows', 'skipped', 'dimensions', 'support'))
  UNION ALL
  SELECT 'ball of another ' || what, jsonb_build_object('ball', jsonb_set(to_jsonb(m.ball), ARRAY['0', at], to_jsonb(changed)))
    FROM (VALUES ('W', '0', m.ball[1][1] * 1.000001), ('slack', '1', m.ball[1][2] / 2 - m.gap), ('error', '2', -1), ('place', '3', m.ball[1][4] + m.ball[1][3] * 3 + 1)) v(what, at, changed) WHERE m.ball IS NOT NULL
  UNION ALL SELECT 'ball ' || b::text, jsonb_build_object('ball', b) FROM unnest('{"[[]]","[]","[[1]]","[[30,1,1]]","[1,1,1,1]","[[1e9,1e9,1e9,0],[1,1,1,1]]","[[null,1e9,1e9,0]]","[[30,null,1e9,0]]","[[30,1e9,null,0]]","[[30,1e9,1e9,null]]"}'::jsonb[]) b
  UNION ALL  -- other weights, classes, words
  SELECT 'weights ' || what, jsonb_build_object('weights', changed) FROM (SELECT array_agg(-w ORDER BY j) AS turned, array_agg(w + 0.02 * size ORDER BY j) AS longer, array_agg(w ORDER BY j DESC) AS reversed, array_agg(0) AS gone
    FROM k, unnest(m.weights) WITH ORDINALITY u(w, j)) w, LATERAL (VALUES ('turned', turned), ('longer', longer), ('reversed', reversed), ('gone', gone)) v(what, changed)
  UNION ALL SELECT 'intercept moved by ' || by, jsonb_build_object('intercept', ARRAY[m.intercept[1] + by * size]) FROM k, unnest('{1,-1,3,-3}'::float8[]) by
  UNION ALL
  SELECT 'dual weights ' || what, jsonb_build_object('dual_weights', changed) FROM (SELECT array_agg(-a ORDER BY j) AS turned, array_agg(CASE WHEN j <= m.rows / 2 THEN 0 ELSE a END ORDER BY j) AS halved, array_agg(0) AS gone
    FROM unnest(m.dual_weights) WITH ORDINALITY u(a, j)) w, LATERAL (VALUES ('turned', turned), ('halved', halved), ('gone', gone), ('shifted', m.dual_weights[2:] || m.dual_weights[1])) v(what, changed)
  UNION ALL SELECT 'classes ' || c::text, jsonb_build_object('classes', c)
    FROM (VALUES (ARRAY[m.classes[2], m.classes[1]]), (ARRAY[m.classes[1], m.classes[1]]), (ARRAY[m.classes[2], m.classes[2]]), (ARRAY[m.classes[1], 'other']), ('{a,b}'), ('{false,true}'), ('{FALSE,TRUE}'), ('{t}'), ('{}')) v(c)
  UNION ALL SELECT 'status ' || s, jsonb_build_object('status', s) FROM unnest('{optimal,iteration_limit,time_limit,not_separable,separable,updated,retrain,Optimal,""}'::text[]) s
  UNION ALL SELECT 'loss ' || l, jsonb_build_object('loss', l) || given
    FROM unnest('{hinge,squared_hinge,smoothed_hinge,logistic,squared,absolute,quantile,poisson,epsilon_insensitive,squared_epsilon_insensitive,huber,exponential,interpolate,one_class,Hinge}'::text[]) l,
         LATERAL (VALUES ('{}'), (jsonb_build_object('options', m.options || jsonb_build_object('loss', l)))) g(given) WHERE l IS DISTINCT FROM m.loss AND (m.lambda IS NOT NULL OR l NOT IN ('exponential', 'logistic'))
  UNION ALL SELECT 'lambda ' || l || ' in the options, too', jsonb_build_object('lambda', l, 'options', m.options || jsonb_build_object('lambda', l)) FROM unnest(ARRAY[0, -1, 1, -m.lambda, m.lambda * 1.01, m.lambda * 0.99, 1e-310]) l WHERE l IS NOT NULL
  UNION ALL SELECT 'lambda gone from the options', jsonb_build_object('options', m.options - 'lambda') WHERE m.lambda IS NOT NULL
  UNION ALL SELECT 'a ' || key, jsonb_build_object(key, value) FROM jsonb_each('{"history": [[1, 0, 0, 1]], "calibration": [[-1, 0]], "stumps": [1, 0], "kernel": "rbf", "kernel_parameters": {}, "support_vectors": [1], "sparse_support_vectors": ["{1:1}"],
    "columns": [1, 2, 3], "target_center": 0.125, "target_scale": 2, "encoder": {}, "curvature": [[1]], "solver": "oracle", "seconds": -1, "iterations": -1, "margin_lower": 0, "margin_upper": 0}')
  UNION ALL  -- options that say something else, and such as nobody knows
  SELECT 'option ' || o::text, jsonb_build_object('options', m.options || o) FROM k, unnest(ARRAY['{"l1_ratio": 0.5}', '{"l1_ratio": "0"}', '{"standardize": true}', '{"standardize": "false"}', '{"class_weight": "balanced"}', '{"class_weight": {"true": 2}}',
    '{"penalty_factor": [1, 2, 3]}', '{"offset_feature": 1}', '{"offset_feature": "x"}', '{"kernel": "rbf"}', '{"multiclass": "joint"}', '{"calibration": "platt"}', '{"learners": "stumps"}', '{"nu": 0.5}', '{"exclude": ["a"]}', '{"missing": "skip"}',
    '{"unseen": "ignore"}', '{"unknown_features": "error"}', '{"max_categories": 3}', '{"gamma": 1}', '{"degree": 2}', '{"coef0": 1}', '{"width": 8}', '{"shard": "a"}', '{"sample_rows": 5}', '{"initial": {}}', '{"history": true}', '{"C": 1}', '{"Lambda": 1}', '{"": 1}',
    '{"norm": 1.5}', '{"norm": "sparse"}', '{"norm": 3}', '{"tolerance": -1}', '{"tolerance": 1}', '{"tolerance": "wide"}', '{"tolerance": 1e-40}', '{"intercept": "no"}', '{"intercept": 1}', '{"intercept": []}', '{"intercept": "FREE"}', '{"intercept_scale": -1}', '{"intercept_scale": 0}',
    '{"intercept_scale": "1"}', '{"epsilon": -1}', '{"epsilon": "0.1"}', '{"smoothing": 0}', '{"smoothing": -1}', '{"quantile": 0}', '{"quantile": 1}', '{"quantile": -0.5}', '{"lambda": "0.01"}', '{"lambda": [0.01]}', '{"lambda": true}', '{"lambda": 0.05}', '{"norm": 1, "lambda": 1}',
    CASE WHEN form = 'penalized' THEN '{"intercept_scale": 30}' END, CASE WHEN m.loss ~ 'epsilon' THEN '{"epsilon": 0.6}' END, CASE WHEN m.loss IN ('huber', 'smoothed_hinge') THEN '{"smoothing": 2}' END, CASE WHEN m.loss = 'quantile' THEN '{"quantile": 0.6}' END,
    CASE WHEN m.lambda IS NULL OR m.weights[1] < 0 THEN '{"positive": true}' ELSE '{"monotone": {"1": -1}}' END, CASE WHEN m.lambda IS NULL OR m.weights[1] > 0 THEN '{"bounds": [null, 0]}' ELSE '{"bounds": {"1": [0, null]}}' END]::jsonb[]) o WHERE o IS NOT NULL
  UNION ALL SELECT 'intercept ' || i, jsonb_build_object('options', m.options || jsonb_build_object('intercept', i)) FROM k, unnest('{free,penalized,false}'::text[]) i WHERE i <> form
  UNION ALL SELECT 'options ' || o::text, jsonb_build_object('options', o) FROM unnest(ARRAY['[]', '1', 'null', '"lambda"', '[{"lambda": 1}]']::jsonb[]) o)
SELECT * FROM forged WHERE lie IS NOT NULL AND to_jsonb(m) || lie <> to_jsonb(m) $$;

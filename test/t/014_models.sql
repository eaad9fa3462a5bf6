-- What 014_checker.pl checks: rows of many kinds, and a model of every case.
SET client_min_messages = error;
CREATE TABLE plain AS SELECT i, sin(i * 1.7) + cos(i * 2.3) * 0.5 > 0.6 * sin(i * i) AS class, sin(i * 0.37) * 3 + cos(i * 2.3) + sin(i * i) AS target, i * i % 7 AS count,
  ARRAY[sin(i * 1.7), cos(i * 2.3), sin(i * 0.37) * 3]::float8[] AS x, (1 + i % 3)::float8 AS weight FROM generate_series(1, 30) i;
-- Duplicated rows, labels and scores that tie; rows and labels that are skipped, weights of 0, labels far from 0, other types.
CREATE TABLE ties AS SELECT i, (i % 3 = 0)::text AS class, (i % 5)::real / 10 AS target, i % 3 AS count, ARRAY[i % 2, i % 4 - 1, 1] AS x, (i % 3)::float8 AS weight FROM generate_series(1, 30) i;
CREATE TABLE holes AS SELECT i, CASE WHEN i % 7 <> 0 THEN CASE WHEN class THEN 1.50 ELSE -2 END END AS class, CASE WHEN i % 7 <> 0 THEN 1e6 + target END AS target,
  CASE WHEN i % 7 <> 0 THEN count::numeric END AS count, CASE WHEN i % 5 <> 1 THEN x::float4[] END AS x, 10.0 ^ (i % 7 - 3) AS weight FROM plain;
CREATE TABLE small AS SELECT i, class, target * 1e-60 AS target, count, ARRAY[x[1] * 1e-60, x[2] * 1e-58, 0] AS x, weight * 1e-20 AS weight FROM plain;
CREATE TABLE large AS SELECT i, CASE WHEN class THEN 2e20 ELSE -1e-7 END::float8 AS class, target * 1e40 AS target, count * 1000 AS count, ARRAY[x[1] * 1e40, x[2] * 1e38] AS x, weight * 1e10 AS weight FROM plain;
-- What a line tells apart, in three scales and twice with rows on the edge.
CREATE TABLE apart AS SELECT i, x[1] + x[2] * 0.5 > 0.1 AS class, x FROM plain WHERE abs(x[1] + x[2] * 0.5) > 0.15;
CREATE TABLE apart_small AS SELECT i, class::int AS class, ARRAY[x[1] * 1e-70, x[2] * 1e-70] AS x FROM apart;
CREATE TABLE apart_large AS SELECT i, class, ARRAY[x[1] * 1e70, x[2] * 1e71] AS x FROM apart;
CREATE TABLE apart_ties AS SELECT i, i % 4 < 2 AS class, ARRAY[CASE WHEN i % 4 < 2 THEN 1 ELSE -2 END, i % 4 - 1.0] AS x FROM generate_series(1, 24) i;

CREATE TABLE models (name text, query text, m margin_model, weighted boolean);
CREATE PROCEDURE trained(name text, source text, label text, weighted boolean, options jsonb) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('INSERT INTO models SELECT $1, $2, m, $4 FROM (SELECT train_margin(%s, x, %s $3 ORDER BY i) AS m FROM %s) t WHERE NOT (m IS NULL)', label, CASE WHEN weighted THEN 'weight,' ELSE '' END, source)
    USING name, format('SELECT %s, x, %s FROM %s ORDER BY i', label, CASE WHEN weighted THEN 'weight' ELSE '1' END, source), options || '{"dual_weights": true}', weighted;
EXCEPTION WHEN feature_not_supported OR data_exception THEN  -- rows that the loss has no optimum for
  NULL;
END $$;

-- Every loss with every form of the intercept and lambda from 1e-8 to 1e4; rows, weights, widths, tolerances and solvers by turns.
DO $$
DECLARE
  loss text; form text; lambda float8; turn int := 0; source text; own jsonb; label text; size float8;
BEGIN
  FOREACH loss IN ARRAY '{hinge,squared_hinge,smoothed_hinge,logistic,squared,absolute,quantile,poisson,epsilon_insensitive,squared_epsilon_insensitive,huber}'::text[] LOOP
    label := CASE WHEN loss IN ('hinge', 'squared_hinge', 'smoothed_hinge', 'logistic') THEN 'class' WHEN loss = 'poisson' THEN 'count' ELSE 'target' END;
    FOREACH form IN ARRAY '{true,penalized,free,false}'::text[] LOOP
      FOREACH lambda IN ARRAY '{1e-8,1e-6,1e-4,1e-2,0.1,1,100,1e4}'::float8[] LOOP
        turn := turn + 1;
        source := (ARRAY['plain', 'ties', 'plain', 'holes', 'small', 'ties', 'large'])[turn % 7 + 1];
        size := CASE source WHEN 'small' THEN 1e-60 WHEN 'large' THEN 1e40 ELSE 1 END;
        own := jsonb_build_object('loss', loss, 'lambda', lambda * CASE WHEN loss IN ('absolute', 'quantile', 'epsilon_insensitive', 'huber') THEN size ELSE size * size END, 'tolerance', (ARRAY[0.001, 1e-6, 0.1, 1e-9, 0.01])[turn % 5 + 1])
          || CASE turn % 11 WHEN 0 THEN '{"bounds": {"1": [null, 0.05], "*": [-0.1, null]}}' WHEN 1 THEN '{"positive": true}' WHEN 2 THEN '{"bounds": [-0.2, 0.3], "monotone": {"2": -1}}' ELSE '{}' END::jsonb
          || CASE WHEN form <> 'true' THEN jsonb_build_object('intercept', CASE form WHEN 'false' THEN to_jsonb(false) ELSE to_jsonb(form) END) ELSE '{}' END
          || CASE WHEN form = 'penalized' THEN jsonb_build_object('intercept_scale', (ARRAY[1, 3, 0.1, 1000])[turn % 4 + 1]) ELSE '{}' END
          || CASE WHEN loss ~ 'epsilon' THEN jsonb_build_object('epsilon', (ARRAY[0.1, 0.5, 0])[turn % 3 + 1] * size) WHEN loss IN ('huber', 'smoothed_hinge') THEN jsonb_build_object('smoothing', (ARRAY[1, 0.3])[turn % 2 + 1] * CASE loss WHEN 'huber' THEN size ELSE 1 END)
                  WHEN loss = 'quantile' THEN jsonb_build_object('quantile', (ARRAY[0.5, 0.8, 0.05])[turn % 3 + 1]) ELSE '{}' END
          || CASE turn % 6 WHEN 0 THEN '{"solver": "sdca"}' WHEN 1 THEN '{"max_iterations": 3}' WHEN 2 THEN '{"standardize": false, "seed": 7}' ELSE '{}' END::jsonb;
        CALL trained(format('%s, %s, %s, %s', loss, source, form, lambda), source, label, turn % 3 = 0, own);
      END LOOP;
    END LOOP;
  END LOOP;
  FOREACH source IN ARRAY '{apart,apart_small,apart_large,apart_ties,plain}'::text[] LOOP
    FOREACH form IN ARRAY '{true,false}'::text[] LOOP
      FOREACH own IN ARRAY ARRAY['{}', '{"norm": 1}', '{"tolerance": 1e-9}', '{"solver": "momentum"}', '{"norm": 1, "solver": "boosting", "max_iterations": 50}', '{"solver": "batch_perceptron", "max_iterations": 20}']::jsonb[] LOOP
        CALL trained(format('hard, %s, %s, %s', source, form, own), source, 'class', false, own || CASE form WHEN 'false' THEN '{"intercept": false}' ELSE '{}' END::jsonb);
      END LOOP;
    END LOOP;
  END LOOP;
END $$;

-- proven, not proven, or why it was refused.
CREATE FUNCTION verdict(query text, m margin_model) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN CASE WHEN margin_checker.proven(query, m) THEN 'proven' ELSE 'not proven' END;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END $$;

-- False claims that the first docs/checker.sql proved, by kind. `said` is laid over an honest model of plain.
CREATE TABLE kinds (kind text, query text, m margin_model);
CREATE PROCEDURE said(kind text, model text, said jsonb, query text DEFAULT NULL) LANGUAGE sql AS $$
  INSERT INTO kinds SELECT kind, coalesce(said.query, h.query), jsonb_populate_record(h.m, said - 'with' || jsonb_build_object('gap', coalesce((said->>'primal')::float8, (h.m).primal) - coalesce((said->>'dual')::float8, (h.m).dual),
      'options', ((h.m).options || coalesce(said->'with', '{}')))) FROM honest h WHERE h.name = model $$;
-- Weights of 0 have a loss of 1 for every row, dual weights of 0 prove nothing.
CREATE FUNCTION nothing(said jsonb) RETURNS jsonb LANGUAGE sql AS $$
  SELECT jsonb_build_object('weights', array_fill(0, ARRAY[3]), 'intercept', ARRAY[0], 'dual_weights', array_fill(0, ARRAY[30]), 'support', 0, 'status', 'iteration_limit', 'ball', NULL) || said $$;
DO $$
DECLARE
  signs jsonb := (SELECT jsonb_build_object('dual_weights', array_agg(CASE WHEN class THEN 1 ELSE -1 END ORDER BY i), 'support', 30) FROM plain);
  large jsonb := '{"lambda": 100, "with": {"lambda": 100}}';
BEGIN
  CALL said('a: no intercept, and one', 'logistic free', '{"with": {"intercept": false}}');
  CALL said('b: an intercept that is NULL', 'hinge free', nothing('{"intercept": null, "primal": 1e-9, "dual": -1e-9}'));
  CALL said('b: an intercept that is empty', 'hinge free', nothing('{"intercept": [], "primal": 1e-9, "dual": -1e-9}'));
  CALL said('b: an intercept of NULL', 'hinge free', nothing('{"intercept": [null], "primal": 1e-9, "dual": -1e-9}'));
  CALL said('c: an offset', 'squared true', '{"with": {"offset_feature": 3}}');
  CALL said('e: a penalized intercept of counts', 'poisson penalized', '{"with": {"intercept": true}}');
  CALL said('e: a penalized intercept of a quantile', 'quantile penalized', '{"with": {"intercept": true}}');
  CALL said('f: labels that are NULL', 'hinge true', nothing('{"primal": 0.51, "dual": -1e-9}' || large), 'SELECT CASE WHEN i <= 15 THEN class END, x, 1 FROM plain ORDER BY i');
  CALL said('f: labels in other words', 'hinge true', nothing('{"primal": 0.9, "dual": -1e-9, "classes": ["-2", "1.5"]}' || large), 'SELECT CASE WHEN class THEN 1.50 ELSE -2 END, x, 1 FROM plain ORDER BY i');
  CALL said('g: features of 1e-85', 'hinge false', nothing('{"primal": 1.000001, "dual": 0.999999, "lambda": 5e-172, "status": "optimal", "with": {"lambda": 5e-172}}' || signs), 'SELECT class, ARRAY[x[1] * 1e-85, x[2] * 1e-85, 0], 1 FROM plain ORDER BY i');
  CALL said('g: lambda 1e-200', 'hinge false', nothing('{"primal": 1.000001, "dual": 0.999999, "lambda": 1e-200, "status": "optimal", "with": {"lambda": 1e-200}}' || signs), 'SELECT class, ARRAY[x[1] * 1e-99, x[2] * 1e-99, 0], 1 FROM plain ORDER BY i');
  CALL said('h: lambda below 0', 'hinge false', nothing('{"primal": 1.1, "dual": -1e-9, "lambda": -0.05, "with": {"lambda": -0.05}}'));
  CALL said('h: a constant feature below 0', 'logistic free', '{"with": {"intercept": "penalized", "intercept_scale": -1}}');
  CALL said('h: a tube of less than nothing', 'epsilon_insensitive false', nothing('{"primal": 1000, "dual": -1e-9, "with": {"epsilon": -1}}'));
  CALL said('h: classes without classes', 'hinge false', nothing('{"primal": 1.1, "dual": -1e-9, "classes": null}'), 'SELECT target, x, 1 FROM plain ORDER BY i');
  CALL said('i: the intercept of a hard margin', 'hard', '{"intercept": [5]}');
  CALL said('i: the intercept of a hard margin in norm 1', 'hard 1', '{"intercept": [-5]}');
END $$;
-- The optimum is 0.00189301269865408566: a logarithm of 16 digits puts it at 0.00189301269865404992.
INSERT INTO kinds SELECT 'd: logarithms', 'SELECT 7, ARRAY[1.0], 1', jsonb_populate_record(m, jsonb_build_object('primal', 0.00189301269865406, 'dual', 0.00189301269865404, 'gap', 0.00189301269865406::float8 - 0.00189301269865404::float8, 'ball', NULL))
  FROM (SELECT train_margin(7, ARRAY[1.0], '{"loss": "poisson", "lambda": 0.001, "intercept": false, "tolerance": 1e-13, "dual_weights": true}') AS m) t;

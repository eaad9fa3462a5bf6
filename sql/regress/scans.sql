-- The parts of a scan, by hand: question, term, state. Whatever the way of a state, text or binary, it has the same bits.
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
CREATE TABLE scan_rows AS
  SELECT i AS id, i % 4 AS day, CASE WHEN i % 3 = 0 THEN 'no' ELSE 'yes' END AS y, 1 + i % 2 AS w,
         ARRAY[i % 7 - 3, i % 5 + CASE WHEN i % 3 = 0 THEN 2 ELSE 0 END]::float8[] AS x
    FROM generate_series(1, 400) AS i;
CREATE TABLE scan_models AS
  SELECT 'logistic' AS name, train_margin(y, x, margin_options(lambda => 0.01, loss => 'logistic', tolerance => 1e-9)) AS m FROM scan_rows
  UNION ALL SELECT 'hinge', train_margin(y, x, margin_options(lambda => 0.01, tolerance => 1e-3)) FROM scan_rows
  UNION ALL SELECT 'squared', train_margin(id, x, margin_options(lambda => 0.01, loss => 'squared')) FROM scan_rows
  UNION ALL SELECT 'interpolate', train_margin(x[1] + 2 * x[2], x, margin_options(loss => 'interpolate')) FROM scan_rows
  UNION ALL SELECT 'margin', train_margin(x[1] + x[2] > 1.5, x) FROM scan_rows
  UNION ALL SELECT 'three', train_margin(id % 3, ARRAY[(id % 3 = 0)::int, (id % 3 = 1)::int, x[1]], margin_options(lambda => 0.1)) FROM scan_rows;
CREATE TABLE questions AS SELECT name, margin_question(NULL, m) AS q FROM scan_models;

-- What the rows say of a model is what its training certified, and what margin_verify finds.
SELECT c.problem, c.objective, c.status, round(c.lower::numeric, 6) AS lower, round(c.upper::numeric, 6) AS upper, c.lower <= (m).primal AND c.upper >= (m).dual AS holds
  FROM scan_models, LATERAL margin_certificate((SELECT q FROM questions WHERE name = 'logistic'),
    (SELECT margin_sum(margin_term((SELECT q FROM questions WHERE name = 'logistic'), y, x)) FROM scan_rows)) AS c
 WHERE name = 'logistic';
SELECT c.problem, c.objective, c.upper BETWEEN (m).primal * (1 - 1e-12) AND (m).primal * (1 + 1e-12) AS same
  FROM scan_models JOIN questions USING (name), LATERAL margin_certificate(q, (SELECT margin_sum(margin_term(q, y, x)) FROM scan_rows)) AS c
 WHERE name = 'hinge';
SELECT c.problem, c.objective, c.upper BETWEEN (m).primal * (1 - 1e-9) AND (m).primal * (1 + 1e-9) AS same
  FROM scan_models JOIN questions USING (name), LATERAL margin_certificate(q, (SELECT margin_sum(margin_term(q, id, x)) FROM scan_rows)) AS c
 WHERE name = 'squared';
SELECT c.problem, c.objective, c.lower IS NOT NULL AS lower, round(c.upper::numeric, 6) AS upper, c.gap = c.upper - c.lower AS gap
  FROM questions, LATERAL margin_certificate(q, (SELECT margin_sum(margin_term(q, x[1] + 2 * x[2], x)) FROM scan_rows)) AS c
 WHERE name = 'interpolate';
SELECT c.problem, c.objective, c.lower BETWEEN (m).margin_lower * (1 - 1e-12) AND (m).margin_lower * (1 + 1e-12) AS same, c.upper
  FROM scan_models JOIN questions USING (name), LATERAL margin_certificate(q, (SELECT margin_sum(margin_term(q, x[1] + x[2] > 1.5, x)) FROM scan_rows)) AS c
 WHERE name = 'margin';
SELECT c.problem, c.objective, c.upper BETWEEN (m).primal * (1 - 1e-12) AND (m).primal * (1 + 1e-12) AS same
  FROM scan_models JOIN questions USING (name), LATERAL margin_certificate(q, (SELECT margin_sum(margin_term(q, id % 3, ARRAY[(id % 3 = 0)::int, (id % 3 = 1)::int, x[1]])) FROM scan_rows)) AS c
 WHERE name = 'three';
-- In the columns of a model's own, and with the distance from the optimum that the gap leaves: the model at 1e-9 is within it.
SELECT (SELECT array_agg(a) FROM jsonb_object_keys(to_jsonb(c)) a) = (SELECT array_agg(a) FROM jsonb_object_keys(to_jsonb(d)) a) AS same_columns,
       c.problem = d.problem AND c.objective = d.objective AS same_words, abs(c.relative_gap - c.gap / c.upper) < 1e-12 AS relative,
       (SELECT sqrt(sum((v - w) ^ 2)) FROM unnest((m).weights || (m).intercept, (best).weights || (best).intercept) AS u (v, w)) <= c.distance AS distance,
       c.distance BETWEEN sqrt(2 * c.gap / 0.01) AND sqrt(2 * c.gap / 0.01) * (1 + 1e-6) AS of_the_gap
  FROM (SELECT train_margin(y, x, margin_options(lambda => 0.01, loss => 'logistic', tolerance => 0.02, solver => 'sdca', seed => 1)) AS m FROM scan_rows) AS t,
       (SELECT m AS best FROM scan_models WHERE name = 'logistic') AS b, LATERAL margin_question(NULL, m) AS q,
       LATERAL margin_certificate(q, (SELECT margin_sum(margin_term(q, y, x)) FROM scan_rows)) AS c, LATERAL margin_certificate(m) AS d;
-- Targets that are missed have no upper bound; a hard margin's rows say nothing of the largest one without dual weights.
SELECT c.lower IS NOT NULL AS lower, c.upper, c.gap, c.relative_gap, c.distance
  FROM questions, LATERAL margin_certificate(q, (SELECT margin_sum(margin_term(q, x[1] + 2 * x[2] + 0.01, x)) FROM scan_rows)) AS c
 WHERE name = 'interpolate';

-- Text and binary I/O: round trips have the same bits.
CREATE TABLE terms AS SELECT id, day, margin_term(q, y, x, w) AS t FROM scan_rows, questions WHERE name = 'logistic' ORDER BY id;
CREATE TABLE states AS SELECT day, margin_sum(t) AS s FROM (SELECT * FROM terms ORDER BY id) AS o GROUP BY day ORDER BY day;
SELECT bool_and(q::text = q::text::margin_question::text), bool_and(q::text = replace(encode(_margin_question_send(q), 'base64'), E'\n', '')) FROM questions;
SELECT bool_and(t::text = t::text::margin_term::text), bool_and(t::text = replace(encode(_margin_term_send(t), 'base64'), E'\n', '')) FROM terms;
SELECT bool_and(s::text = s::text::margin_state::text), bool_and(s::text = replace(encode(_margin_state_send(s), 'base64'), E'\n', '')) FROM states;
-- Through a file in binary form; what it holds is checked.
\set file `mktemp`
CREATE TABLE copies (LIKE states);
COPY states TO :'file' (FORMAT binary);
COPY copies FROM :'file' (FORMAT binary);
SELECT count(*), bool_and(a.s::text = b.s::text) FROM states a JOIN copies b USING (day);
COPY (SELECT day, _margin_state_send(s) FROM states) TO :'file' (FORMAT binary);
COPY copies FROM :'file' (FORMAT binary);
SELECT count(*) FROM copies;
COPY (SELECT day, substr(_margin_state_send(s), 1, 100) FROM states) TO :'file' (FORMAT binary);
SELECT pg_temp.error_of(format('COPY copies FROM %L (FORMAT binary)', :'file'));
CREATE TABLE term_copies (t margin_term);
COPY (SELECT _margin_term_send(t) FROM terms) TO :'file' (FORMAT binary);
COPY term_copies FROM :'file' (FORMAT binary);
SELECT count(*), count(DISTINCT t::text) = (SELECT count(DISTINCT t::text) FROM terms) AS same FROM term_copies;
COPY (SELECT substr(_margin_term_send(t), 2) FROM terms LIMIT 1) TO :'file' (FORMAT binary);
SELECT pg_temp.error_of(format('COPY term_copies FROM %L (FORMAT binary)', :'file'));
CREATE TABLE question_copies (q margin_question);
COPY (SELECT _margin_question_send(q) || '\x00' FROM questions LIMIT 1) TO :'file' (FORMAT binary);
SELECT pg_temp.error_of(format('COPY question_copies FROM %L (FORMAT binary)', :'file'));

-- Step and merge called by hand give the bits of the aggregate.
CREATE FUNCTION pg_temp.by_hand(for_day int, through_text boolean) RETURNS margin_state LANGUAGE plpgsql AS $$
DECLARE s margin_state; one margin_term;
BEGIN
  FOR one IN SELECT t FROM terms WHERE day = for_day ORDER BY id LOOP
    s := _margin_sum_step(s, one);
    IF through_text THEN s := s::text::margin_state; END IF;
  END LOOP;
  RETURN s;
END $$;
-- The sums of one block differ from sums of many by their rounding; counts and exact sums do not.
SELECT day, pg_temp.by_hand(day, true)::text = pg_temp.by_hand(day, false)::text AS same,
       margin_state_info(pg_temp.by_hand(day, false))->'rows' = margin_state_info(s)->'rows' AS rows,
       margin_state_info(pg_temp.by_hand(day, false))->'numbers' = margin_state_info(s)->'numbers' AS numbers FROM states ORDER BY day;
SELECT _margin_merge(_margin_merge(_margin_merge(a.s, b.s), c.s), d.s)::text = (SELECT margin_sum(s)::text FROM (SELECT s FROM states ORDER BY day) AS o) AS same,
       _margin_merge(_margin_merge(_margin_merge(a.s, b.s), c.s), d.s)::text
         = _margin_merge(_margin_merge(_margin_merge(a.s::text::margin_state, b.s)::text::margin_state, c.s)::text::margin_state, d.s)::text AS through_text
  FROM states a, states b, states c, states d WHERE a.day = 0 AND b.day = 1 AND c.day = 2 AND d.day = 3;

-- States of days roll up to the state of all rows.
SELECT (c).objective, (c).upper = (d).upper AS upper, abs((c).lower - (d).lower) < 1e-12 AS lower FROM
  (SELECT margin_certificate(q, (SELECT margin_sum(margin_term(q, y, x, w)) FROM scan_rows)) AS c,
          margin_certificate(q, (SELECT margin_sum(s) FROM states)) AS d FROM questions WHERE name = 'logistic') AS o;

-- NULLs: no question, no term; a row without label or features is counted; no rows, no state.
SELECT margin_term(NULL::margin_question, y, x) IS NULL AS "null" FROM scan_rows LIMIT 1;
SELECT margin_sum(t) IS NULL AS terms, margin_sum(s) IS NULL AS states FROM terms LEFT JOIN states USING (day) WHERE false;
SELECT margin_state_info(margin_sum(margin_term(q, CASE WHEN id % 2 = 0 THEN y END, CASE WHEN id % 5 <> 0 THEN x END))) - 'numbers' AS info
  FROM scan_rows, questions WHERE name = 'hinge';
SELECT margin_state_info(margin_sum(margin_term(q, NULL::text, x)))->'skipped' AS skipped FROM scan_rows, questions WHERE name = 'hinge';
SELECT _margin_merge(NULL, NULL) IS NULL AS "null", _margin_merge(s, NULL)::text = s::text AS left, _margin_merge(NULL, s)::text = s::text AS right FROM states WHERE day = 1;
SELECT _margin_sum_step(NULL, NULL) IS NULL AS "null", _margin_sum_step(s, NULL)::text = s::text AS left FROM states WHERE day = 1;
SELECT margin_state_info(margin_sum(s))->'rows' AS rows FROM (SELECT s FROM states UNION ALL SELECT NULL) AS v;
SELECT margin_question(NULL, NULL) IS NULL AS question, margin_state_info(NULL) IS NULL AS info;

-- Other places an aggregate can stand in.
SELECT id, margin_state_info(margin_sum(t) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW))->'rows' AS rows FROM terms ORDER BY id LIMIT 4;
SELECT day, id, margin_state_info(margin_sum(t))->'rows' AS rows FROM terms WHERE id < 5 GROUP BY GROUPING SETS ((day), (id), ()) ORDER BY day, id;
SELECT margin_state_info(margin_sum(t) FILTER (WHERE day = 1))->'rows' AS filtered, margin_state_info(margin_sum(t ORDER BY id DESC))->'rows' AS ordered FROM terms;
CREATE AGGREGATE pg_temp.own_sum(margin_term) (SFUNC = _margin_sum_step, STYPE = margin_state);
SELECT pg_temp.own_sum(t)::text = margin_sum(t)::text AS same FROM terms;

-- What cannot be.
SELECT pg_temp.error_of(format('SELECT %L::%s', v, type)) FROM
  (VALUES ('', 'margin_state'), ('AA', 'margin_state'), ('AA-A', 'margin_state'), ('AA==AAAA', 'margin_state'), ('AB==', 'margin_state'), ('AAAAAA==', 'margin_state'), ('foo', 'margin_term'),
          ('', 'margin_term'), ('{"lambda": 1}', 'margin_question'), ('{"lambda":1}', 'margin_question'), ('', 'margin_question')) AS o (v, type);
SELECT pg_temp.error_of(format('SELECT margin_certificate((SELECT q FROM questions WHERE name = ''hinge''), %L)', s)) FROM states WHERE day = 1;
SELECT pg_temp.error_of(format('SELECT _margin_merge(%L, (SELECT margin_sum(margin_term(q, y, x)) FROM scan_rows, questions WHERE name = ''hinge''))', s)) FROM states WHERE day = 1;
SELECT pg_temp.error_of(format('SELECT margin_term(q, %s) FROM scan_rows, questions WHERE name = ''logistic'' AND id = 1', arguments)) FROM
  (VALUES ($$'maybe'::text, x$$), ('y, x || 1'), ($$y, ARRAY[1, 'NaN']::real[]$$), ('y, ARRAY[1, NULL]::real[]'), ('y, x, NULL'), ('y, x, -1'),
          ($$y, x, 'infinity'$$), ('y, y'), ('x, x'), ('1.5, x')) AS o (arguments);
SELECT pg_temp.error_of('SELECT margin_sum(margin_term(q, y, x)) FROM scan_rows, questions WHERE name IN (''logistic'', ''hinge'')');
SELECT pg_temp.error_of($$SELECT margin_question('{"lambda": 5}'::jsonb, m) FROM scan_models WHERE name = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_question(margin_options(standardize => true), m) FROM scan_models WHERE name = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_question(margin_options(class_weight => 'balanced'), m) FROM scan_models WHERE name = 'hinge'$$);
SELECT pg_temp.error_of($$SELECT margin_question(NULL, train_margin(y, x, margin_options(kernel => 'rbf', lambda => 0.1))) FROM scan_rows$$);

-- train_margin_from: the rows of a query. All of these fit into what the first scan brings along, so that the model is that
-- of train_margin.
CREATE FUNCTION pg_temp.same(a margin_model, b margin_model) RETURNS boolean LANGUAGE sql AS $$
  SELECT row(a.status, a.loss, a.lambda, a.classes, a.rows, a.skipped, a.dimensions, a.options - 'shard') = row(b.status, b.loss, b.lambda, b.classes, b.rows, b.skipped, b.dimensions, b.options)
     AND a.dual <= b.primal AND b.dual <= a.primal $$;
SELECT query, options, pg_temp.same(train_margin_from(query, options), (SELECT train_margin(y, x, options - 'shard') FROM scan_rows)) AS same FROM
  (VALUES ('SELECT y, x FROM scan_rows', '{"lambda": 0.01}'::jsonb),
          ('SELECT id, x AS features, w, y AS label FROM scan_rows -- by name', '{"lambda": 0.01, "loss": "logistic"}'),
          ('/* a comment */ SELECT x AS features, y FROM scan_rows; -- another', '{"lambda": 0.1}'),
          ('WITH r AS (SELECT * FROM scan_rows) SELECT y, x FROM r', '{"lambda": 0.01, "class_weight": "balanced"}'),
          (E'SELECT y, x FROM scan_rows WHERE day < 2\nUNION ALL (SELECT y, x FROM scan_rows WHERE day >= 2 ORDER BY id)', '{"lambda": 0.01, "standardize": true}'),
          ('SELECT y, x, day FROM scan_rows', '{"lambda": 0.01, "shard": "day"}')) AS v (query, options);
SELECT pg_temp.same(train_margin_from('SELECT id % 3 AS label, w AS weight, ARRAY[id % 3, x[1]] FROM scan_rows', o),
                    (SELECT train_margin(id % 3, ARRAY[id % 3, x[1]], w, o) FROM scan_rows)) AS weighted FROM margin_options(lambda => 0.01) AS o;
SELECT (m).classes, (m).weights, (m).rows, (m).skipped FROM
  train_margin_from($$VALUES ('b', '{1:1}'::margin_sparse), ('a', '{1:-1,3:1}'), (NULL, '{1:5}'), ('a', NULL)$$) AS m;
CREATE TYPE size AS ENUM ('small', 'large', 'huge');
SELECT (train_margin_from($$SELECT s::size, ARRAY[f] FROM (VALUES ('huge', 9), ('small', 1), ('large', 5)) AS v (s, f)$$)).classes;
SELECT train_margin_from('SELECT y, x FROM scan_rows WHERE false') IS NULL AS no_rows, train_margin_from('SELECT y, NULL::real[] FROM scan_rows') IS NULL AS no_features,
       train_margin_from('SELECT 1, x FROM scan_rows', '{"one_class": "null"}') IS NULL AS one_class,
       train_margin_from('SELECT y, x || ''NaN''::float8 FROM scan_rows WHERE id = 1', '{"on_error": "null"}') IS NULL AS on_error,
       train_margin_from('SELECT y, x, day FROM scan_rows WHERE false', '{"shard": "day"}') IS NULL AS no_shards;

-- Queries that are none.
SELECT pg_temp.error_of(format('SELECT train_margin_from(%L)', query)) FROM
  (VALUES (''), (' -- nothing'), ('SELECT y, x FROM scan_rows; SELECT 1'), ('SELECT y, x FROM scan_rows; DROP TABLE scan_rows'), ('DROP TABLE scan_rows'),
          ('INSERT INTO scan_rows (y, x) VALUES (1, ''{1}'') RETURNING y, x'), ('WITH gone AS (DELETE FROM scan_rows RETURNING y, x) SELECT * FROM gone'),
          ('SELECT y, x FROM scan_rows FOR UPDATE'), ('SELECT y, x FROM (SELECT * FROM scan_rows FOR SHARE) AS s'), ('SELECT y, x INTO other FROM scan_rows'), ('EXPLAIN SELECT 1'),
          ('SELECT FROM scan_rows'), ('SELECT y FROM scan_rows'), ('SELECT y AS label FROM scan_rows'), ('SELECT * FROM scan_rows'), ('SELECT y, x, y FROM scan_rows'),
          ('SELECT y AS label, y AS label, x FROM scan_rows'), ('SELECT x, y FROM scan_rows'), ('SELECT y, x FROM missing'), ('SELECT y, x FRM scan_rows'), ('SELECT $1, $2'),
          ('SELECT y, x FROM scan_rows) AS r, (SELECT 1'), ('SELECT 1, x FROM scan_rows')) AS v (query);
SELECT pg_temp.error_of(statement) FROM
  (VALUES ('SELECT train_margin_from(NULL)'), ('SELECT train_margin_from(''SELECT y, x FROM scan_rows'', NULL)'), ('SELECT margin_scan_query(NULL)'),
          ($$SELECT train_margin_from('SELECT y, x FROM scan_rows', margin_options(shard => 'days'))$$),
          ($$SELECT train_margin_from('SELECT y, x FROM scan_rows', margin_options(dual_weights => true))$$),
          ($$SELECT train_margin_from('SELECT y, x FROM scan_rows', margin_options(kernel => 'rbf'))$$),
          ($$SELECT train_margin(y, x, margin_options(shard => 'day')) FROM scan_rows$$),
          ($$SELECT margin_path(y, x, margin_options(lambda => 0.1, sample_rows => 9) - 'lambda') FROM scan_rows$$),
          ($$SELECT margin_options(sample_rows => 0)$$), ($$SELECT margin_options(shard => '')$$)) AS v (statement);

-- With the caller's rights, reading only, without leaving anything behind.
CREATE FUNCTION pg_temp.writes() RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN DELETE FROM scan_rows; RETURN 1; END $$;
SELECT pg_temp.error_of('SELECT train_margin_from(''SELECT y, x FROM scan_rows WHERE pg_temp.writes() = 1'')');
CREATE ROLE margin_reader;
GRANT SELECT ON scan_models TO margin_reader;
SET ROLE margin_reader;
SELECT train_margin_from('SELECT y, x FROM scan_rows');
RESET ROLE;
DROP OWNED BY margin_reader;
DROP ROLE margin_reader;
BEGIN READ ONLY;
SELECT (train_margin_from('SELECT y, x FROM scan_rows', margin_options(lambda => 0.1))).rows;
COMMIT;
DO $$ BEGIN
  PERFORM train_margin_from('SELECT y, x || ''NaN''::float8 FROM scan_rows');
EXCEPTION WHEN data_exception THEN RAISE NOTICE 'caught, and the block goes on with % rows', (train_margin_from('SELECT y, x FROM scan_rows', margin_options(lambda => 0.1))).rows;
END $$;

-- The statement, for EXPLAIN.
SELECT regexp_replace(margin_scan_query('SELECT y, x, day FROM scan_rows;', margin_options(lambda => 1, shard => 'day', sample_rows => 10)), '[A-Za-z0-9+/=]{20,}', 'TVRR...');
SELECT format('EXPLAIN (COSTS OFF) %s', margin_scan_query('SELECT id, label, features FROM (SELECT id, y AS label, x AS features FROM scan_rows) AS s')) AS explain \gset
:explain;
SELECT margin_state_info(margin_sum(margin_term(margin_question(margin_options(lambda => 1, sample_rows => 10)), y, x))) - 'numbers' AS summary FROM scan_rows;
-- A term may be anybody's: the sums that one of a few hundred bytes asks for count against margin.memory_limit.
SET client_min_messages = error;  -- the digits of intervals so narrow are the processor's
SET margin.memory_limit = '50MB';
SELECT pg_temp.error_of($$SELECT margin_sum(replace(encode(set_byte(decode(margin_term(margin_question('{"lambda": 1, "loss": "logistic"}', m), 1, '{1:1,2:2}/2'::margin_sparse)::text, 'base64'), 30, 128), 'base64'), E'\n', '')::margin_term)
  FROM (SELECT train_margin(i % 2, ARRAY[sin(i), cos(i)], '{"lambda": 1, "loss": "logistic"}') AS m FROM generate_series(1, 9) AS i) AS s$$);
RESET margin.memory_limit;

-- A status claims what the interval proves, in memory and by scans, of rows that are next to each other: not separable is no positive
-- margin, optimal is one.
SELECT norm, way, count(*), bool_and(CASE (m).status WHEN 'not_separable' THEN (m).margin_lower <= 0 WHEN 'optimal' THEN (m).margin_lower > 0 ELSE (m).margin_lower <= (m).margin_upper END) AS borne_out
  FROM unnest('{1,1.5,2}'::float8[]) AS norm, unnest('{1e-9,1e-12,1e-13,1e-14,3e-15}'::float8[]) AS e,
       LATERAL (SELECT 'scans' AS way, train_margin_from(format('SELECT y, x FROM (VALUES (1, ARRAY[1.0::float8, 0.5]), (-1, ARRAY[1.0::float8 + %1$s, 0.5]), (-1, ARRAY[1.0::float8 + 3 * %1$s, 0.25])) t(y, x)', e),
                                                         jsonb_build_object('norm', norm, 'sample_rows', 1)) AS m
                UNION ALL SELECT 'memory', train_margin(y, x, jsonb_build_object('norm', norm))
                  FROM (VALUES (1, ARRAY[1.0::float8, 0.5]), (-1, ARRAY[1.0 + e, 0.5]), (-1, ARRAY[1.0 + 3 * e, 0.25])) t(y, x)) AS s
 GROUP BY norm, way ORDER BY norm, way;
RESET client_min_messages;

-- Whoever asks for two columns of a model trains it once; in read-only transactions as well.
CREATE FUNCTION pg_temp.trainings_of(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE line text; n int := 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
    n := n + (length(line) - length(replace(line, 'train_margin_from(', ''))) / length('train_margin_from(');
  END LOOP;
  RETURN n;
END $$;
BEGIN READ ONLY;
SELECT pg_temp.trainings_of($$SELECT (m).status, (m).primal, (m).dual FROM (SELECT train_margin_from('SELECT y, x FROM scan_rows', '{"lambda": 0.1}') AS m) AS s$$) AS trainings;
SELECT (m).status, round((m).primal::numeric, 4) AS primal FROM (SELECT train_margin_from('SELECT y, x FROM scan_rows', '{"lambda": 0.1, "loss": "logistic", "sample_rows": 20}') AS m) AS s;
COMMIT;

DROP TABLE scan_rows, scan_models, questions, terms, states, copies, term_copies, question_copies;
DROP TYPE size;

-- Several lambdas in the same scans.
CREATE TABLE path_rows AS SELECT i AS id, i % 3 AS day, 1 + i % 2 AS w, 2 * sin(i) + cos(i * 1.7) + sin(i * i) > 0 AS y, 2 * sin(i) + cos(i * 1.7) + sin(i * i) AS z,
    (ARRAY['a', 'b', 'c'])[1 + i % 3] AS kind, sin(i) AS s, ARRAY[sin(i), cos(i * 1.7), cos(i * 0.3)]::real[] AS x FROM generate_series(1, 3000) AS i;
CREATE FUNCTION pg_temp.compared(query text, options jsonb) RETURNS TABLE (lambda numeric, same boolean, status text, own_lambda boolean) LANGUAGE plpgsql AS $$
DECLARE path margin_model[] := margin_path_from(query, options || '{"sample_rows": 300, "tolerance": 1e-7}');
DECLARE alone margin_model;
BEGIN
  FOR k IN 1 .. cardinality(path) LOOP
    lambda := (options -> 'lambdas' -> (k - 1))::numeric;
    alone := train_margin_from(query, options - 'lambdas' || jsonb_build_object('lambda', lambda, 'sample_rows', 300, 'tolerance', 1e-7));
    same := abs((path[k]).primal - (alone).primal) <= 1e-6 * (alone).primal AND (path[k]).dual <= (alone).primal AND (alone).dual <= (path[k]).primal;
    status := (path[k]).status;
    own_lambda := (path[k]).lambda = lambda::float8 AND ((path[k]).options ->> 'lambda')::numeric = lambda;
    RETURN NEXT;
  END LOOP;
END $$;
SELECT * FROM pg_temp.compared('SELECT y, x FROM path_rows', '{"loss": "logistic", "lambdas": [0.001, 0.1, 0.01]}');
SELECT * FROM pg_temp.compared('SELECT y, x FROM path_rows', '{"loss": "logistic", "l1_ratio": 1, "lambdas": [0.1, 0.01]}');
SELECT * FROM pg_temp.compared('SELECT y, x, w FROM path_rows', '{"lambdas": [0.1, 0.001], "standardize": true}');
SELECT * FROM pg_temp.compared('SELECT z, x, day FROM path_rows', '{"loss": "squared", "lambdas": [1, 0.1], "shard": "day"}');
SELECT * FROM pg_temp.compared('SELECT y AS label, p AS features FROM path_rows AS p', '{"loss": "squared_hinge", "lambdas": [0.1, 0.01], "exclude": ["id", "day", "w", "y", "z", "x"]}');
-- The scans are those of the longest of them.
SELECT max((m).iterations) <= 5 AS few, bool_and((m).rows = 3000) AS rows FROM unnest(margin_path_from('SELECT y, x FROM path_rows', '{"loss": "logistic", "lambdas": [0.1, 0.01, 0.001], "sample_rows": 300}')) AS m;
SELECT margin_path_from('SELECT y, x FROM path_rows WHERE false', '{"lambdas": [0.1]}') IS NULL AS no_rows, margin_path_from('SELECT y, x FROM path_rows WHERE y', '{"lambdas": [0.1], "on_error": "null"}') IS NULL AS one_class;
SELECT pg_temp.error_of($$SELECT margin_path_from('SELECT y, x FROM path_rows WHERE y', '{"lambdas": [0.1]}')$$);
SELECT pg_temp.error_of($$SELECT margin_path_from('SELECT y, x FROM path_rows', '{"loss": "hinge"}')$$);
SELECT pg_temp.error_of($$SELECT margin_path_from('SELECT y, x FROM path_rows', '{"lambdas": [0.1], "lambda": 1}')$$);
SELECT pg_temp.error_of($$SELECT margin_path_from('SELECT y, x FROM path_rows', '{"lambdas": [0.1, -1]}')$$);
SELECT pg_temp.error_of($$SELECT margin_path_from('SELECT y, x FROM path_rows', '{"lambdas": [0.1], "kernel": "rbf"}')$$);
SELECT pg_temp.error_of($$SELECT margin_path_from('SELECT y, x FROM path_rows', NULL)$$);
SELECT pg_temp.error_of($$SELECT margin_path_from('DELETE FROM path_rows RETURNING y, x', '{"lambdas": [0.1]}')$$);

-- Cross-validation in shared scans, beside the aggregate that holds the rows.
CREATE FUNCTION pg_temp.folds_of(label text, features text, options jsonb, more text DEFAULT '', weight text DEFAULT '1') RETURNS TABLE (metric text, folds integer, rows bigint, settings integer, close boolean, best integer, same_options boolean) LANGUAGE plpgsql AS $$
DECLARE scanned margin_selection := margin_cross_validate_from(format('SELECT %s AS label, %s AS features, margin_fold(id, 4) AS fold%s FROM path_rows AS p', label, features, more), options || '{"sample_rows": 300, "tolerance": 1e-6}');
DECLARE held margin_selection;
BEGIN
  EXECUTE format('SELECT (v).* FROM (SELECT margin_cross_validate(%s, %s, %s, margin_fold(id, 4), $1) AS v FROM path_rows AS p OFFSET 0) AS s', label, features, weight) INTO held USING (options - 'shard') || '{"tolerance": 1e-6}';
  metric := (scanned).metric; folds := (scanned).folds; rows := (scanned).rows; settings := cardinality((scanned).means);
  SELECT bool_and(abs(a - b) <= 0.002 * greatest(1, abs(b))) INTO close FROM unnest((scanned).fold_values, (held).fold_values) AS t(a, b);
  best := (scanned).best;
  same_options := (scanned).options - 'sample_rows' - 'shard' = (held).options;
  RETURN NEXT;
END $$;
SELECT * FROM pg_temp.folds_of('y', 'x', '{"loss": "logistic", "metric": "log_loss", "lambdas": [1, 0.1, 0.001]}');
SELECT * FROM pg_temp.folds_of('y', 'x', '{"losses": ["hinge", "squared_hinge"], "lambdas": [1, 0.001]}');
SELECT * FROM pg_temp.folds_of('z', 'x', '{"loss": "squared", "grid": {"standardize": [true, false]}, "lambdas": [1, 0.001], "shard": "day"}', ', day');
SELECT * FROM pg_temp.folds_of('y', 'p', '{"loss": "logistic", "metric": "auc", "encoder": "all", "lambdas": [0.1, 0.001], "exclude": ["id", "day", "w", "y", "z", "x"]}');
-- Losses count by weights, some of which are 0.
SELECT v.* FROM (VALUES ('y', 'x', '{"loss": "logistic", "metric": "log_loss", "lambdas": [1, 0.001]}'), ('y', 'x', '{"loss": "hinge", "metric": "average_precision", "lambdas": [1, 0.001]}'),
  ('y::int + (z > 1)::int', 'x', '{"loss": "logistic", "metric": "f1_macro", "lambdas": [0.001]}'), ('z', 'x', '{"loss": "squared", "metric": "r2", "lambdas": [1, 0.001], "shard": "day"}'), ('z + 1e6', 'x', '{"loss": "absolute", "lambdas": [0.1]}'),
  ('y', 'p', '{"loss": "logistic", "encoder": "all", "lambdas": [0.001], "exclude": ["id", "day", "w", "y", "z", "x"]}')) AS o (label, features, options),
  LATERAL pg_temp.folds_of(label, features, options::jsonb, ', 0.37 * w * (id % 7)::float8 AS weight, day', '0.37 * w * (id % 7)::float8') AS v;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
SELECT * FROM pg_temp.folds_of('y', 'x', '{"loss": "logistic", "metric": "brier", "lambdas": [1, 0.001]}', ', w AS weight', 'w');
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;
SELECT (c).folds, (c).rows, (c).fold_values[1:1][2:2] AS second_fold FROM (SELECT margin_cross_validate_from('SELECT y AS label, x AS features, (day <> 1)::int AS weight, day AS fold FROM path_rows', '{"lambdas": [0.1], "sample_rows": 300}') AS c OFFSET 0) AS s;
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, nullif(w, 2) AS weight, day AS fold FROM path_rows', '{"lambdas": [0.1]}')$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, w - 2 AS weight, day AS fold FROM path_rows WHERE id = 1 OR id % 2 = 0', '{"lambdas": [0.1]}')$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, 0 AS weight, day AS fold FROM path_rows', '{"lambdas": [0.1], "sample_rows": 300}')$$);
SELECT (c).means IS NOT NULL AS measured, (c).fold_values[1:1][1:1] AS first_fold FROM (SELECT margin_cross_validate_from('SELECT y AS label, x AS features, day AS fold FROM path_rows', '{"lambdas": [0.1], "split": "forward"}') AS c OFFSET 0) AS s;
SELECT (c).rows, (c).skipped FROM (SELECT margin_cross_validate_from('SELECT CASE WHEN id > 8 THEN y END AS label, x AS features, day AS fold FROM path_rows', '{"lambdas": [0.1], "sample_rows": 300}') AS c OFFSET 0) AS s;
SELECT margin_cross_validate_from('SELECT y AS label, x AS features, day AS fold FROM path_rows WHERE false', '{"lambdas": [0.1]}') IS NULL AS no_rows;
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features FROM path_rows', '{"lambdas": [0.1]}')$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, id::bigint AS fold FROM path_rows', '{"lambdas": [0.1]}')$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, nullif(day, 1) AS fold FROM path_rows', '{"lambdas": [0.1]}')$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, 1 AS fold FROM path_rows', '{"lambdas": [0.1]}')$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, id AS fold FROM path_rows', '{"lambdas": [0.1]}')$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, day AS fold FROM path_rows', '{"lambdas": [0.1], "shard": "fold"}')$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, y::integer AS fold FROM path_rows', '{"lambdas": [0.1], "sample_rows": 300}')$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, day AS fold FROM path_rows', '{"loss": "hinge"}')$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, day AS fold FROM path_rows', '{"lambdas": [0.1], "predictions": true}')$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, day AS fold FROM path_rows', '{"lambdas": [0.1], "folds": 3}')$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, day AS fold FROM path_rows', NULL)$$);

-- Calibration: the weights of a training without, and probabilities that agree with what was seen, as those of rows in memory.
CREATE TEMP TABLE calibrated AS SELECT kind, label, loss, o, train_margin_from(format('SELECT %s AS label, x AS features, w AS weight, margin_fold(id, 4) AS fold FROM path_rows', label), o || '{"sample_rows": 300}') AS m
  FROM (VALUES ('platt', 'y', 'squared_hinge'), ('isotonic', 'y', 'hinge'), ('platt', 'y::int + (z > 1)::int', 'logistic'), ('isotonic', 'y::int + (z > 1)::int', 'squared_hinge')) AS v (kind, label, loss),
       LATERAL (SELECT margin_options(lambda => 0.01, loss => loss, calibration => kind, tolerance => 1e-6) AS o) AS s;
CREATE FUNCTION pg_temp.beside_held(label text, o jsonb, m margin_model) RETURNS TABLE (status text, few_scans boolean, same_weights boolean, same_map_size boolean, near boolean) LANGUAGE plpgsql AS $$
DECLARE held margin_model; plain margin_model; a margin_evaluation; b margin_evaluation;
BEGIN
  EXECUTE format('SELECT (v).* FROM (SELECT train_margin(%s, x, w, $1) AS v FROM path_rows OFFSET 0) AS s', label) INTO held USING o;
  plain := train_margin_from(format('SELECT %s AS label, x AS features, w AS weight FROM path_rows', label), o - 'calibration' || '{"sample_rows": 300}');
  EXECUTE format('SELECT (v).* FROM (SELECT margin_evaluate($1, %s, x, w) AS v FROM path_rows OFFSET 0) AS s', label) INTO a USING m;
  EXECUTE format('SELECT (v).* FROM (SELECT margin_evaluate($1, %s, x, w) AS v FROM path_rows OFFSET 0) AS s', label) INTO b USING held;
  status := m.status; few_scans := m.iterations <= 9; same_weights := m.weights = plain.weights AND m.iterations = plain.iterations;
  same_map_size := o->>'calibration' = 'isotonic' OR array_dims(m.calibration) = array_dims(held.calibration);
  near := abs(a.log_loss - b.log_loss) < 0.01;
  RETURN NEXT;
END $$;
SELECT kind, loss, (m).classes, (b).* FROM calibrated, LATERAL pg_temp.beside_held(label, o, m) AS b ORDER BY kind, loss;
SELECT (p).lambda, abs((p).calibration[1][1] / (one.m).calibration[1][1] - 1) < 1e-4 AS same_as_of_one_hundredth FROM unnest(margin_path_from('SELECT y AS label, x AS features, w AS weight, margin_fold(id, 4) AS fold FROM path_rows',
    '{"lambdas": [0.1, 0.01], "loss": "squared_hinge", "calibration": "platt", "tolerance": 1e-6, "sample_rows": 300}')) AS p, (SELECT m FROM calibrated WHERE kind = 'platt' AND label = 'y') AS one;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
SELECT bool_and(abs(a - b) < 1e-6) AS same_in_parallel FROM (SELECT (train_margin_from('SELECT y AS label, x AS features, w AS weight, margin_fold(id, 4) AS fold FROM path_rows', o || '{"sample_rows": 300}')).calibration AS c, (m).calibration AS d
  FROM calibrated WHERE kind = 'platt' AND label = 'y' OFFSET 0) AS s, LATERAL unnest(c, d) AS t(a, b);
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;
SELECT array_dims((m).calibration), margin_probability(m, '{"s": 1}'::jsonb) > 0.9 AS probable FROM (SELECT train_margin_from('SELECT y AS label, p AS features, margin_fold(id, 4) AS fold FROM path_rows AS p', '{"lambda": 0.01, "calibration": "platt", "include": ["s"], "sample_rows": 300}') AS m OFFSET 0) AS s;
SELECT margin_scan_query('SELECT y, x, day AS fold FROM path_rows', '{"lambda": 0.01, "calibration": "platt"}') LIKE '%r.weight%' AS takes_the_fold_for_a_weight;
SELECT (a).weights = (b).weights AS is_no_weight FROM (SELECT train_margin_from('SELECT y, x, day AS fold FROM path_rows', '{"lambda": 0.01}') AS a, train_margin_from('SELECT y, x FROM path_rows', '{"lambda": 0.01}') AS b OFFSET 0) AS s;
SELECT train_margin_from('SELECT y AS label, x AS features, day AS fold FROM path_rows WHERE false', '{"lambda": 0.01, "calibration": "platt"}') IS NULL AS no_rows;
SELECT pg_temp.error_of(format('SELECT train_margin_from(%L, %L)', 'SELECT y AS label, x AS features' || more || ' FROM path_rows', '{"lambda": 0.01, "calibration": "platt", "sample_rows": 300}'::jsonb || o))
  FROM (VALUES ('', '{}'), (', day', '{}'), (', id::bigint AS fold', '{}'), (', nullif(day, 1) AS fold', '{}'), (', 1 AS fold', '{}'), (', id AS fold', '{}'), (', y::int AS fold', '{}'), (', day AS fold', '{"shard": "fold"}'),
               (', -w AS weight, day AS fold', '{}'), (', nullif(w, 2) AS weight, day AS fold', '{}'), (', day AS fold', '{"calibration": "sigmoid"}'), (', day AS fold', '{"lambda": null}'), (', day AS fold', '{"lambda": 0, "loss": "logistic"}')) AS v (more, options),
       LATERAL (SELECT options::jsonb AS o) AS s;
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT z AS label, x AS features, day AS fold FROM path_rows', '{"lambda": 0.01, "loss": "squared", "calibration": "platt"}')$$);
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT CASE WHEN day = 0 AND z > 1 THEN ''rare'' ELSE y::text END AS label, x AS features, day AS fold FROM path_rows', '{"lambda": 0.01, "calibration": "platt", "sample_rows": 300}')$$);
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT id % 40 AS label, x AS features, id / 40 % 2 AS fold FROM path_rows', '{"lambda": 0.1, "loss": "squared_hinge", "tolerance": 0.1, "calibration": "platt"}')$$);
DROP TABLE calibrated;

-- Least squares and maximum likelihood: the optimum of rows in memory, its regression table.
CREATE TEMP TABLE likelihoods AS SELECT loss, label, train_margin_from(format('SELECT %s AS label, x AS features, w AS weight FROM path_rows', label),
    jsonb_build_object('lambda', 0, 'loss', loss, 'sample_rows', 300)) AS m FROM (VALUES ('squared', 'z'), ('logistic', 'y'), ('poisson', '(id % 4)')) AS v (loss, label);
CREATE FUNCTION pg_temp.beside_memory(loss text, label text, m margin_model) RETURNS TABLE (status text, solver text, few_scans boolean, same_optimum boolean, same_table boolean) LANGUAGE plpgsql AS $$
DECLARE held margin_model; ours margin_coefficient[]; theirs margin_coefficient[];
BEGIN
  EXECUTE format('SELECT (v).* FROM (SELECT train_margin(%s, x, w, jsonb_build_object(''lambda'', 0, ''loss'', $1)) AS v FROM path_rows OFFSET 0) AS s', label) INTO held USING loss;
  EXECUTE format('SELECT margin_inference($1, %s, x, w, ''{}''), margin_inference($2, %1$s, x, w, ''{}'') FROM path_rows', label) INTO ours, theirs USING m, held;
  status := m.status; solver := m.solver; few_scans := m.iterations <= 8; same_optimum := abs(m.primal - held.primal) <= 1e-9 * held.primal;
  SELECT bool_and(abs(a.estimate - b.estimate) <= 1e-5 * b.std_error AND abs(a.p_value - b.p_value) <= 1e-5) INTO same_table FROM unnest(ours) WITH ORDINALITY AS a, unnest(theirs) WITH ORDINALITY AS b WHERE a.ordinality = b.ordinality;
  RETURN NEXT;
END $$;
SELECT loss, (b).* FROM likelihoods, LATERAL pg_temp.beside_memory(loss, label, m) AS b ORDER BY loss;
SELECT (m).status, (m).weights FROM (SELECT train_margin_from('SELECT id % 5 = 0 OR y AS label, ARRAY[(id % 5 = 0)::int, x[1]]::float8[] AS features FROM path_rows', '{"lambda": 0, "loss": "logistic", "sample_rows": 300}') AS m OFFSET 0) AS s;
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT y AS label, ARRAY[x[1], x[2], 2 * x[1] - x[2]] AS features FROM path_rows', '{"lambda": 0, "loss": "logistic", "sample_rows": 300}')$$);
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT y AS label, x AS features FROM path_rows', '{"lambda": 0, "loss": "logistic", "bounds": {"1": [0, 1]}, "sample_rows": 300}')$$);
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT y AS label, x AS features FROM path_rows', '{"lambda": 0, "loss": "hinge", "sample_rows": 300}')$$);
-- Piecewise linear losses with a free intercept, which a quantile has by itself, and beside an offset.
SELECT loss, more, (s.m).status, (s.m).iterations <= 9 AS few_scans, (s.m).dual <= (h.m).primal AND (h.m).dual <= (s.m).primal AS same_optimum
  FROM (VALUES ('hinge', 'y', '{"intercept": "free"}'), ('absolute', 'z', '{"intercept": "free"}'), ('epsilon_insensitive', 'z', '{"intercept": "free"}'), ('quantile', 'z', '{}'),
               ('quantile', 'z', '{"offset_feature": 2}'), ('hinge', 'y', '{"offset_feature": 2}')) AS v (loss, label, more),
       LATERAL (SELECT jsonb_build_object('lambda', 0.01, 'loss', loss, 'tolerance', 1e-6) || more::jsonb AS o) AS o,
       LATERAL (SELECT train_margin_from(format('SELECT %s AS label, x AS features, w AS weight FROM path_rows', label), o || '{"sample_rows": 300}') AS m OFFSET 0) AS s,
       LATERAL (SELECT CASE label WHEN 'y' THEN (SELECT train_margin(y, x, w, o) FROM path_rows) ELSE (SELECT train_margin(z, x, w, o) FROM path_rows) END AS m OFFSET 0) AS h;
-- One-class machines: no label, the optimum of rows in memory.
SELECT columns, nu, (s.m).solver, (s.m).status, (s.m).classes, (s.m).lambda, (s.m).iterations <= 8 AS few_scans, (s.m).rows,
       (s.m).dual <= (h.m).primal AND (h.m).dual <= (s.m).primal AS same_optimum, abs((s.m).primal - (h.m).primal) <= 1e-6 * -(h.m).primal AS same_value,
       columns ~ 'w' OR (SELECT abs((v).primal - (s.m).primal) <= 1e-9 FROM (SELECT margin_verify(s.m, ARRAY[3 + x[1], x[2]]) AS v FROM path_rows OFFSET 0) AS c) AS verified
  FROM (VALUES ('ARRAY[3 + x[1], x[2]]', 0.1), ('w AS weight, ARRAY[3 + x[1], x[2]]', 0.5), ('ARRAY[3 + x[1], x[2]] AS features, w AS weight, y AS label', 0.01), ('ARRAY[3 + x[1], x[2]]', 1e-9)) AS v (columns, nu),
       LATERAL (SELECT jsonb_build_object('nu', nu, 'tolerance', 1e-6) AS o) AS o,
       LATERAL (SELECT train_one_class_from(format('SELECT %s FROM path_rows', columns), o || '{"sample_rows": 300}') AS m OFFSET 0) AS s,
       LATERAL (SELECT train_one_class(ARRAY[3 + x[1], x[2]], CASE WHEN columns ~ 'w' THEN w ELSE 1 END, o) AS m FROM path_rows OFFSET 0) AS h;
SELECT (m).status, ARRAY(SELECT round(w::numeric, 6) FROM unnest((m).weights) AS w) AS weights, (m).iterations FROM (SELECT train_one_class_from('SELECT s AS features FROM (SELECT id % 3 = 0 AS third, y FROM path_rows) AS s', '{"nu": 0.9, "sample_rows": 300}') AS m OFFSET 0) AS s;
SELECT train_one_class_from('SELECT x FROM path_rows WHERE false') IS NULL AS no_rows, train_one_class_from('SELECT NULL::real[] FROM path_rows') IS NULL AS no_features,
       (train_one_class_from('SELECT ARRAY[3 + x[1], x[2]], day FROM path_rows', '{"shard": "day"}')).rows AS in_shards, (train_one_class_from('VALUES (ARRAY[1, 0]), (NULL), (ARRAY[0, 1])', '{"intercept": "free"}')).skipped;
SELECT pg_temp.error_of(statement) FROM
  (VALUES ('SELECT train_one_class_from(NULL)'), ($$SELECT train_one_class_from('SELECT x FROM path_rows', NULL)$$), ($$SELECT train_one_class_from('SELECT x, w, id FROM path_rows')$$),
          ($$SELECT train_one_class_from('SELECT w AS weight FROM path_rows')$$), ($$SELECT train_one_class_from('SELECT x, y FROM path_rows')$$),
          ($$SELECT train_one_class_from('SELECT x FROM path_rows', '{"kernel": "rbf"}')$$), ($$SELECT train_one_class_from('SELECT x FROM path_rows', '{"dual_weights": true}')$$),
          ($$SELECT train_one_class_from('SELECT x FROM path_rows', '{"lambda": 1}')$$), ($$SELECT train_margin_from('SELECT y, x FROM path_rows', '{"loss": "one_class", "lambda": 1}')$$),
          ($$SELECT train_margin_from('SELECT y, x FROM path_rows', '{"nu": 0.1, "lambda": 1, "sample_rows": 300}')$$)) AS v (statement);
-- A training has no folds.
SELECT (m).rows FROM (SELECT train_margin_from('SELECT y AS label, x AS features, id AS fold FROM path_rows', '{"lambda": 0.1}') AS m OFFSET 0) AS s;
-- From the model of the rows of before: fewer scans to the same optimum, also where a column has a new category. A wrong model costs none.
CREATE TEMP VIEW started AS SELECT y, z, w, id, (z > -1)::int + (z > 1)::int AS part, x, x[2] AS c, s, CASE WHEN id > 2940 AND id % 3 = 0 THEN 'new' ELSE kind END AS kind FROM path_rows;
CREATE FUNCTION pg_temp.started(label text, features text, options jsonb) RETURNS TABLE (same_optimum boolean, saved boolean, saved_by_wrong integer) LANGUAGE plpgsql AS $$
DECLARE query text := format('SELECT %s AS label, %s, w AS weight FROM started AS t', label, features); before margin_model; cold margin_model; warm margin_model; wrong margin_model;
BEGIN
  options := options || '{"sample_rows": 300, "tolerance": 1e-6}';
  before := train_margin_from(query || ' WHERE id <= 2940', options);
  cold := train_margin_from(query, options);
  warm := train_margin_from(query, options || margin_options(initial => before));
  before.intercept := ARRAY(SELECT v - 9 FROM unnest(before.intercept) AS v);
  wrong := train_margin_from(query, options || margin_options(initial => before));
  same_optimum := cold.status = 'optimal' AND warm.status = 'optimal' AND wrong.status = 'optimal' AND greatest(cold.dual, warm.dual, wrong.dual) <= least(cold.primal, warm.primal, wrong.primal) AND NOT warm.options ? 'initial';
  saved := warm.iterations < cold.iterations; saved_by_wrong := cold.iterations - wrong.iterations;
  RETURN NEXT;
END $$;
SELECT loss, o, (v).* FROM (VALUES ('y', 'logistic', '{}'), ('y', 'hinge', '{}'), ('part', 'squared_hinge', '{}'), ('y', 'logistic', '{"l1_ratio": 0.5}'), ('z', 'huber', '{"standardize": true}'),
    ('z', 'quantile', '{"bounds": {"1": [0, 1]}}'), ('y', 'logistic', '{"offset_feature": 3, "intercept": "free"}'), ('y', 'logistic', '{"lambda": 0}')) AS t (label, loss, o),
  LATERAL pg_temp.started(label, 'x AS features', jsonb_build_object('lambda', 0.001, 'loss', loss) || o::jsonb) AS v;
SELECT (v).* FROM pg_temp.started('y', '(SELECT r FROM (SELECT t.s, t.c, t.kind) AS r) AS features', '{"lambda": 0.001, "loss": "logistic"}') AS v;
SELECT (m).lambda, (m).status, (m).options ? 'initial' AS kept FROM unnest(margin_path_from('SELECT y, x FROM path_rows', '{"lambdas": [0.1, 0.001], "loss": "logistic", "sample_rows": 300}' ||
  margin_options(initial => train_margin_from('SELECT y, x FROM path_rows WHERE id < 2900', '{"lambda": 0.001, "loss": "logistic"}')))) AS m;
SELECT pg_temp.error_of(format($$SELECT train_margin_from('SELECT y AS label, x AS features FROM path_rows', '%s')$$, o || '{"sample_rows": 300}')) FROM (VALUES
  (1, '{"lambda": 0.1, "initial": {"weights": [1, 2], "intercept": [0]}}'::jsonb), (2, '{"lambda": 0.1, "initial": {"weights": [1, 2, 3], "intercept": [0, 1]}}'), (3, '{"lambda": 0.1, "initial": {"weights": [1, 2, 3], "columns": [1, 2, 4]}}')) AS v (n, o) ORDER BY n;
SELECT (m).status FROM (SELECT train_margin_from('SELECT s > 0 AS label, x AS features FROM path_rows', '{"sample_rows": 300}' ||
  margin_options(initial => train_margin_from('SELECT s > 0 AS label, x AS features FROM path_rows WHERE id < 2900'))) AS m OFFSET 0) AS s;
SELECT (m).status FROM (SELECT train_margin_from('SELECT s > 0 AS label, x AS features FROM path_rows', '{"initial": {"weights": [1, 2, 3]}}') AS m OFFSET 0) AS s;
SELECT pg_temp.error_of($$SELECT train_margin_from('SELECT z AS label, x AS features FROM path_rows', '{"loss": "interpolate", "sample_rows": 300, "initial": {"weights": [1, 2, 3]}}')$$);
SELECT pg_temp.error_of($$SELECT train_margin(y, x, '{"lambda": 0, "loss": "logistic", "initial": {"weights": [1, 2, 3]}}') FROM path_rows$$);
SELECT pg_temp.error_of($$SELECT margin_cross_validate_from('SELECT y AS label, x AS features, day AS fold FROM path_rows', '{"lambdas": [0.1], "initial": {"weights": [1, 2, 3]}}')$$);
DROP VIEW started;
DROP TABLE path_rows;

-- Classes trained jointly: the optimum of rows in memory, its question, its path, its folds, and a start.
CREATE TABLE scan_kinds AS
  SELECT i AS id, (CASE WHEN i % 11 = 0 THEN i / 11 ELSE i END) % 3 AS y, ARRAY[(i % 3 = 0)::int + sin(i), (i % 3 = 1)::int + cos(i * 1.7), sin(i * 2.3)]::float8[] AS x
    FROM generate_series(1, 3000) AS i;
CREATE TABLE scan_joint AS
  SELECT loss, intercept, o, (SELECT train_margin(y, x, o) FROM scan_kinds) AS known, train_margin_from('SELECT y AS label, x AS features FROM scan_kinds', o || '{"sample_rows": 300}') AS found
    FROM (VALUES ('logistic'), ('hinge')) AS l (loss), (VALUES ('free'), ('penalized')) AS i (intercept),
         LATERAL (SELECT margin_options(lambda => 1e-3, loss => loss, multiclass => 'joint', intercept => intercept, tolerance => 1e-6)) AS s (o);
SELECT loss, intercept, (found).solver, (found).status, abs((found).primal / (known).primal - 1) < 1e-6 AS same, (found).dual <= (known).primal AND (known).dual <= (found).primal AS holds,
       (found).iterations <= 14 AS few
  FROM scan_joint ORDER BY 1, 2;
SELECT loss, intercept, c.problem, c.upper BETWEEN (found).primal * (1 - 1e-9) AND (found).primal * (1 + 1e-9) AS same, c.lower > 0.9 * c.upper AS proven
  FROM scan_joint, LATERAL (SELECT margin_question(o, found) AS q) AS asked, LATERAL margin_certificate(q, (SELECT margin_sum(margin_term(q, y, x)) FROM scan_kinds)) AS c ORDER BY 1, 2;
SELECT loss, (SELECT bool_and((m).status = 'optimal') AND max((m).iterations) <= 12 FROM unnest(margin_path_from('SELECT y, x FROM scan_kinds', (o - 'lambda') || '{"sample_rows": 300, "tolerance": 1e-3, "lambdas": [0.1, 0.01, 0.001]}')) AS m) AS path,
       (SELECT abs((s).means[2] - 0.55) < 0.02 FROM margin_cross_validate_from('SELECT y AS label, x AS features, id % 4 AS fold FROM scan_kinds', (o - 'lambda') || '{"sample_rows": 300, "tolerance": 1e-3, "lambdas": [1, 0.01]}') AS s) AS mean
  FROM scan_joint WHERE intercept = 'penalized' ORDER BY 1;
SELECT loss, (train_margin_from('SELECT y AS label, x AS features FROM scan_kinds', o || '{"sample_rows": 300}' || jsonb_build_object('initial', known))).iterations <= (found).iterations + 1 AS no_later
  FROM scan_joint WHERE intercept = 'penalized' ORDER BY 1;
DROP TABLE scan_joint, scan_kinds;

#!/usr/bin/env bash
# Training by scans on Citus: test/citus.sh. Prints TAP. MARGIN_CITUS_SOURCE is an unpacked source tree of Citus 13 (PostgreSQL 15 to 17),
# in which it is built. A coordinator and two workers on unix sockets, one installation.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

find_postgres
[ -f "${MARGIN_CITUS_SOURCE:-}/configure" ] || { say 'not ok 1 - MARGIN_CITUS_SOURCE names an unpacked source tree of Citus'; exit 1; }
make_scratch
need_packages flex liblz4-dev libzstd-dev libkrb5-dev libssl-dev libpq-dev
build_extension
(cd "$MARGIN_CITUS_SOURCE" &&
  { [ -f Makefile.global ] || ./configure --without-libcurl PG_CONFIG="$pg_config" >"$scratch/configure.log" 2>&1; } &&
  make -s -j "$jobs" with_llvm=no >"$scratch/make.log" 2>&1 && make -s install with_llvm=no DESTDIR="$scratch/install" >>"$scratch/make.log" 2>&1) ||
  { tail -n 20 "$scratch"/*.log; die 'Citus does not build'; }
install_privately

nodes=(coordinator first second)
declare -A sockets directories
for node in "${nodes[@]}"; do
  place=$scratch/$node
  start_cluster "shared_preload_libraries = 'citus'" "citus.node_conninfo = 'sslmode=prefer'" "citus.local_hostname = '$scratch/$node/socket'" \
    'max_prepared_transactions = 50' 'citus.shard_count = 8' 'citus.max_background_task_executors = 1' 'autovacuum = off'
  sockets[$node]=$socket
  directories[$node]=$data
done
# on NODE ARGUMENT...: psql there
on() {
  local node=$1
  shift
  "$bin/psql" -X -q -A -t -h "${sockets[$node]}" -U postgres "$@"
}
for node in "${nodes[@]}"; do on "$node" -v ON_ERROR_STOP=1 -c 'CREATE EXTENSION citus'; done
on coordinator -v ON_ERROR_STOP=1 >/dev/null <<SQL
SELECT citus_set_coordinator_host('${sockets[coordinator]}', 5432);
SELECT citus_add_node('${sockets[first]}', 5432), citus_add_node('${sockets[second]}', 5432);
CREATE EXTENSION margin; CREATE EXTENSION IF NOT EXISTS citus_columnar;
CREATE TABLE held AS SELECT i AS id, 1 + i % 2 AS w, CASE WHEN 2 * sin(i) + cos(i * 1.7) + sin(i * i) > 0 THEN 'b' ELSE 'a' END AS y, (2 + sin(i) > 1.5)::integer + (cos(i * 1.7) > 0)::integer AS k,
    2 * sin(i) + cos(i * 1.7) + sin(i * i) AS z, sin(i) > 0 AS s, (sin(i) > 0)::integer + sin(i) AS m, ARRAY[sin(i), cos(i * 1.7), cos(i * 0.3)]::real[] AS x FROM generate_series(1, 20000) AS i;
CREATE TABLE spread (LIKE held); SELECT create_distributed_table('spread', 'id');
CREATE TABLE columns (LIKE held) USING columnar; SELECT create_distributed_table('columns', 'id');
CREATE TABLE everywhere (LIKE held); SELECT create_reference_table('everywhere');
INSERT INTO spread SELECT * FROM held; INSERT INTO columns SELECT * FROM held; INSERT INTO everywhere SELECT * FROM held;
SQL

report "$([ "$(on coordinator -c "SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = 'spread'::regclass")" = 8 ] && echo yes || echo no)" \
  "eight shards on two workers, $(on coordinator -c "SELECT split_part(citus_version(), ' on', 1)")"
plan=$(on coordinator 2>&1 <<'SQL'
SELECT margin_scan_query('SELECT y, x FROM spread', '{"loss": "logistic", "lambda": 0.01}') AS statement \gset
EXPLAIN (VERBOSE) :statement;
SQL
)
report "$([[ $plan == *worker_partial_agg* && $plan == *coord_combine_agg* ]] && echo yes || echo no)" 'a scan is aggregated by the workers'

# A shard keeps twice its eighth of the sample, all of them together the sample.
found=$(on coordinator 2>&1 <<'SQL'
SELECT margin_scan_query('SELECT y, x FROM spread', '{"loss": "logistic", "lambda": 0.01, "sample_rows": 800}') AS statement \gset
SELECT substring(:'statement' FROM '[A-Za-z0-9+/=]{20,}') AS question \gset
SELECT max((margin_state_info(result::margin_state) -> 'kept' ->> 0)::int) AS most FROM run_command_on_shards('spread', format('SELECT margin_sum(margin_term(%L::margin_question, y, x)) FROM %%s', :'question')) \gset
SELECT :most = 200 AND (margin_state_info(margin_sum) -> 'kept' ->> 0)::int = 800, :most, margin_state_info(margin_sum) -> 'kept' ->> 0 FROM (:statement) AS s;
SQL
)
report "$([[ $found == t* ]] && echo yes || echo no)" "kept rows, at most of a shard and of all: ${found#t|}"

# Every kind of problem on every kind of table, against the rows in memory.
problem() { # problem NAME LABEL OPTIONS
  local kind found
  for kind in spread columns everywhere; do
    found=$(on coordinator 2>&1 <<SQL
SET client_min_messages = error;
SELECT (abs((s).primal - (m).primal) <= 1e-6 * greatest(abs((m).primal), 1e-3) AND (s).status = (m).status AND (s).rows = 20000) || ' ' || (s).iterations
FROM (SELECT train_margin_from('SELECT $2 AS label, x AS features FROM $kind', '$3'::jsonb || '{"sample_rows": 500, "tolerance": 1e-7}') AS s OFFSET 0) AS a,
     (SELECT train_margin($2, x, '$3'::jsonb || '{"tolerance": 1e-8}') AS m FROM held OFFSET 0) AS b;
SQL
    )
    report "$([[ $found == true\ * ]] && echo yes || echo no)" "$1, $kind: ${found#true } scans"
  done
}
problem 'hinge' y '{"loss": "hinge", "lambda": 0.01}'
problem 'logistic' y '{"loss": "logistic", "lambda": 0.001}'
problem 'squared hinge, free intercept' y '{"loss": "squared_hinge", "lambda": 0.01, "intercept": "free"}'
problem 'logistic, lasso' y '{"loss": "logistic", "lambda": 0.01, "l1_ratio": 1}'
problem 'logistic, three classes, balanced' k '{"loss": "logistic", "lambda": 0.01, "class_weight": "balanced"}'
problem 'logistic, standardised' y '{"loss": "logistic", "lambda": 0.01, "standardize": true}'
problem 'logistic between bounds' y '{"loss": "logistic", "lambda": 0.01, "bounds": {"1": [0, 0.5]}}'
problem 'squared' z '{"loss": "squared", "lambda": 0.01}'
problem 'huber' z '{"loss": "huber", "lambda": 0.01}'
problem 'absolute' z '{"loss": "absolute", "lambda": 0.01}'
problem 'poisson' k '{"loss": "poisson", "lambda": 0.01}'
problem 'softmax, three classes' k '{"loss": "logistic", "lambda": 0.01, "multiclass": "joint"}'
problem 'Crammer and Singer, three classes, free intercepts' k '{"loss": "hinge", "lambda": 0.01, "multiclass": "joint", "intercept": "free"}'

check_sql() { # check_sql NAME SQL: that it returns t
  local found
  found=$(on coordinator -c 'SET client_min_messages = error' -c "$2" 2>&1) || true
  report "$([ "$found" = t ] && echo yes || echo no)" "$1"
  [ "$found" = t ] || say "# $found"
}
check_sql 'weights' "SELECT abs((s).primal - (m).primal) <= 1e-6 FROM (SELECT train_margin_from('SELECT y, x, w FROM spread', '{\"loss\": \"logistic\", \"lambda\": 0.01, \"sample_rows\": 500, \"tolerance\": 1e-7}') AS s OFFSET 0) AS a, (SELECT train_margin(y, x, w, '{\"loss\": \"logistic\", \"lambda\": 0.01, \"tolerance\": 1e-8}') AS m FROM held OFFSET 0) AS b"
check_sql 'rows with named columns' "SELECT abs((s).primal - (m).primal) <= 1e-6 FROM (SELECT train_margin_from('SELECT t.y AS label, t AS features FROM spread AS t', '{\"loss\": \"logistic\", \"lambda\": 0.01, \"sample_rows\": 500, \"tolerance\": 1e-7, \"include\": [\"z\", \"k\", \"w\", \"s\"]}') AS s OFFSET 0) AS a, (SELECT train_margin(t.y, t, '{\"loss\": \"logistic\", \"lambda\": 0.01, \"tolerance\": 1e-8, \"include\": [\"z\", \"k\", \"w\", \"s\"]}') AS m FROM held AS t OFFSET 0) AS b"
check_sql 'a path in shared scans' "SELECT bool_and(abs((p).primal - (m).primal) <= 1e-6) AND max((p).iterations) <= 8 FROM unnest(margin_path_from('SELECT y, x FROM spread', '{\"loss\": \"logistic\", \"lambdas\": [0.1, 0.01, 0.001], \"sample_rows\": 500, \"tolerance\": 1e-7}')) AS p, LATERAL (SELECT train_margin(y, x, jsonb_build_object('loss', 'logistic', 'lambda', (p).lambda, 'tolerance', 1e-8)) AS m FROM held OFFSET 0) AS b"
check_sql 'cross-validation in shared scans' "SELECT bool_and(abs(t.a - t.b) <= 1e-3) FROM (SELECT (margin_cross_validate_from('SELECT y AS label, x AS features, margin_fold(id, 4) AS fold FROM spread', '{\"loss\": \"logistic\", \"metric\": \"log_loss\", \"lambdas\": [0.1, 0.001], \"sample_rows\": 500, \"tolerance\": 1e-6}')).fold_values AS a OFFSET 0) AS c, (SELECT (margin_cross_validate(y, x, 1, margin_fold(id, 4), '{\"loss\": \"logistic\", \"metric\": \"log_loss\", \"lambdas\": [0.1, 0.001], \"tolerance\": 1e-6}')).fold_values AS b FROM held OFFSET 0) AS d, LATERAL unnest(c.a, d.b) AS t(a, b)"
check_sql 'cross-validation with weights' "SELECT bool_and(abs(t.a - t.b) <= 1e-3) FROM (SELECT (margin_cross_validate_from('SELECT y AS label, x AS features, w AS weight, margin_fold(id, 4) AS fold FROM spread', '{\"loss\": \"logistic\", \"metric\": \"log_loss\", \"lambdas\": [0.1, 0.001], \"sample_rows\": 500, \"tolerance\": 1e-6}')).fold_values AS a OFFSET 0) AS c, (SELECT (margin_cross_validate(y, x, w, margin_fold(id, 4), '{\"loss\": \"logistic\", \"metric\": \"log_loss\", \"lambdas\": [0.1, 0.001], \"tolerance\": 1e-6}')).fold_values AS b FROM held OFFSET 0) AS d, LATERAL unnest(c.a, d.b) AS t(a, b)"
check_sql 'calibration, as of a local table' "SELECT bool_and(abs(t.a - t.b) <= 1e-4) AND count(*) = 2 FROM (SELECT (train_margin_from('SELECT y AS label, x AS features, margin_fold(id, 4) AS fold FROM spread', '{\"loss\": \"squared_hinge\", \"lambda\": 0.01, \"calibration\": \"platt\", \"sample_rows\": 500, \"tolerance\": 1e-7}')).calibration AS a OFFSET 0) AS c, (SELECT (train_margin_from('SELECT y AS label, x AS features, margin_fold(id, 4) AS fold FROM held', '{\"loss\": \"squared_hinge\", \"lambda\": 0.01, \"calibration\": \"platt\", \"sample_rows\": 500, \"tolerance\": 1e-7}')).calibration AS b OFFSET 0) AS d, LATERAL unnest(c.a, d.b) AS t(a, b)"
check_sql 'one class' "SELECT abs((s).primal - (m).primal) <= 1e-6 AND (s).rows = 20000 FROM (SELECT train_one_class_from('SELECT x FROM spread', '{\"nu\": 0.1, \"sample_rows\": 500, \"tolerance\": 1e-7}') AS s OFFSET 0) AS a, (SELECT train_one_class(x, '{\"nu\": 0.1, \"tolerance\": 1e-8}') AS m FROM held OFFSET 0) AS b"
check_sql 'a former model as the start' "SELECT abs((s).primal - (m).primal) <= 1e-6 FROM (SELECT train_margin(y, x, '{\"loss\": \"logistic\", \"lambda\": 0.01, \"tolerance\": 1e-8}') AS m FROM held OFFSET 0) AS b, LATERAL (SELECT train_margin_from('SELECT y, x FROM spread', jsonb_build_object('loss', 'logistic', 'lambda', 0.01, 'sample_rows', 500, 'tolerance', 1e-7, 'initial', to_jsonb(m))) AS s OFFSET 0) AS a"
# What follows from a model, of sums that the workers make: a question is a constant, so that the aggregate is theirs.
found=$(on coordinator 2>&1 <<'SQL'
SET client_min_messages = error;
CREATE TABLE models AS SELECT train_margin_from('SELECT y, x FROM spread', '{"loss": "logistic", "lambda": 0, "sample_rows": 500}') AS likely,
  train_margin_from('SELECT y, x FROM spread', '{"loss": "logistic", "lambda": 0.01, "sample_rows": 500, "tolerance": 1e-6}') AS soft;
SELECT margin_question(NULL, likely) AS likelihood, margin_question(NULL, soft) AS risk, soft AS model FROM models \gset
CREATE TABLE sums AS SELECT 0 AS g, margin_sum(margin_term(:'likelihood'::margin_question, y, x)) AS s FROM spread;
CREATE TABLE by_cluster AS SELECT id % 40 AS g, margin_sum(margin_term(:'likelihood'::margin_question, y, x)) AS s FROM spread GROUP BY id % 40;
CREATE TABLE figures AS SELECT margin_sum(margin_term(:'model'::margin_model, y, x)) AS s FROM spread;
CREATE TABLE answers AS SELECT margin_sum(margin_term(:'risk'::margin_question, y, x)) AS s FROM spread;
CREATE FUNCTION same(a margin_coefficient[], b margin_coefficient[]) RETURNS boolean LANGUAGE sql AS
  'SELECT count(*) = 4 AND bool_and(abs(p.std_error - q.std_error) <= 1e-6 * q.std_error AND p.estimate = q.estimate) FROM unnest(a) WITH ORDINALITY AS p JOIN unnest(b) WITH ORDINALITY AS q USING (ordinality)';
SELECT same(margin_inference(likely, (SELECT array_agg(s) FROM sums)), (SELECT margin_inference(likely, y, x) FROM held))
   AND same(margin_inference(likely, (SELECT array_agg(s) FROM sums), '{"covariance": "HC1"}'), (SELECT margin_inference(likely, y, x, '{"covariance": "HC1"}') FROM held))
   AND same(margin_inference(likely, (SELECT array_agg(s) FROM by_cluster), '{"covariance": "cluster"}'), (SELECT margin_inference(likely, y, x, 1, id % 40, '{}') FROM held)) AS errors,
   margin_threshold(soft, (SELECT s FROM figures), '{"maximize": "f1"}') = (SELECT margin_threshold(soft, y, x, '{"maximize": "f1"}') FROM held) AS thresholds,
   (SELECT c.lower >= (soft).dual - 1e-9 AND abs(c.upper - (soft).primal) <= 1e-9 FROM margin_certificate(margin_question(NULL, soft), (SELECT s FROM answers)) AS c) AS certificates,
   (SELECT a.lower <= b.upper AND b.lower <= a.upper AND a.relative_gap < 0.01 FROM margin_certificate((SELECT margin_update(soft, y, x, true) FROM held WHERE id <= 20)) AS a,
     margin_certificate((SELECT train_margin(y, x, '{"loss": "logistic", "lambda": 0.01, "tolerance": 1e-9}') FROM held WHERE id > 20)) AS b) AS updates
  FROM models;
SQL
)
report "$([ "$found" = 't|t|t|t' ] && echo yes || echo no)" 'standard errors, thresholds, certificates of sums, an update'
[ "$found" = 't|t|t|t' ] || say "# $found"
check_sql 'a join, a filter' "SELECT (s).rows = 10000 FROM (SELECT train_margin_from('SELECT a.y, a.x FROM spread AS a JOIN everywhere AS b USING (id) WHERE b.w = 1', '{\"loss\": \"logistic\", \"lambda\": 0.01, \"sample_rows\": 500}') AS s OFFSET 0) AS a"
check_sql 'no row, a part in order, two tables on end' "SELECT train_margin_from('SELECT y, x FROM spread WHERE false', '{\"loss\": \"hinge\", \"lambda\": 0.01}') IS NULL AND (SELECT (s).rows = 1000 FROM (SELECT train_margin_from('SELECT y, x FROM (SELECT * FROM spread ORDER BY id LIMIT 1000) AS q', '{\"loss\": \"hinge\", \"lambda\": 0.01, \"sample_rows\": 100}') AS s OFFSET 0) AS a) AND (SELECT (s).rows = 40000 FROM (SELECT train_margin_from('SELECT y, x FROM spread UNION ALL SELECT y, x FROM everywhere', '{\"loss\": \"hinge\", \"lambda\": 0.01, \"sample_rows\": 500}') AS s OFFSET 0) AS b)"
on coordinator -c 'CREATE ROLE reader LOGIN' -c 'GRANT SELECT ON spread TO reader'
check_sql 'an ordinary role' "SET ROLE reader; SELECT (s).rows = 20000 FROM (SELECT train_margin_from('SELECT y, x FROM spread', '{\"loss\": \"hinge\", \"lambda\": 0.01, \"sample_rows\": 500}') AS s OFFSET 0) AS a"

# Rows that change between scans: a model that is right about some rows, or an error that says so; in REPEATABLE READ no error.
training="train_margin_from('SELECT y, x FROM spread', '{\"loss\": \"logistic\", \"lambda\": 0.0001, \"sample_rows\": 200, \"tolerance\": 1e-8}')"
while :; do on coordinator -c "UPDATE spread SET y = CASE y WHEN 'a' THEN 'b' ELSE 'a' END WHERE id % 10 < 3" >/dev/null 2>&1 || break; sleep 0.3; done &
writer=$!
honest=0 noticed=0 wrong=0
for _ in $(seq 1 "${MARGIN_CITUS_RUNS:-40}"); do
  found=$(on coordinator -c "SELECT (m).dual <= (m).primal AND (m).status = 'optimal' FROM (SELECT $training AS m OFFSET 0) AS s" 2>&1) || true
  case $found in
    t) honest=$((honest + 1)) ;;
    *'the rows of scan'* | *'found other rows'* | *' rows, the first one '*) noticed=$((noticed + 1)) ;;
    *) wrong=$((wrong + 1)) && say "# $found" ;;
  esac
done
report "$([ "$wrong" -eq 0 ] && [ "$noticed" -gt 0 ] && echo yes || echo no)" "READ COMMITTED beside a writer: $honest models, $noticed times other rows were noticed, $wrong times neither"
honest=0
for _ in $(seq 1 10); do
  found=$(on coordinator -c 'BEGIN ISOLATION LEVEL REPEATABLE READ' -c "SELECT (m).dual <= (m).primal AND (m).status = 'optimal' FROM (SELECT $training AS m OFFSET 0) AS s" -c COMMIT 2>&1) || true
  if [ "$found" = t ]; then honest=$((honest + 1)); else say "# $found"; fi
done
report "$([ "$honest" -eq 10 ] && echo yes || echo no)" "REPEATABLE READ beside a writer: $honest of 10 models"
kill "$writer" 2>/dev/null || true
wait "$writer" 2>/dev/null || true

as_server "$bin/pg_ctl" -D "${directories[second]}" -m immediate stop >/dev/null
found=$(on coordinator -c "SELECT ($training).rows" 2>&1) || true
report "$([[ $found == *ERROR*"scan 1 of train_margin_from"* ]] && echo yes || echo no)" 'a worker that is gone: an error that names the scan'
as_server "$bin/pg_ctl" -D "${directories[second]}" -l "$scratch/second/server/log" -w start >/dev/null
sleep 2
check_sql 'and when it is back, a model' "SELECT (m).rows = 20000 FROM (SELECT $training AS m OFFSET 0) AS s"

say "1..$checks"
say "checks: $((checks - bad)) of $checks hold"
[ "$bad" -eq 0 ]

# Training by scans of a query: in parallel workers, over foreign servers, in one snapshot whoever writes meanwhile, read-only
# and on a standby; a cancel and a lost server end it at once, and leave nothing behind.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('scans', 'max_worker_processes = 8', 'max_prepared_transactions = 0', 'wal_level = replica', 'max_wal_senders = 4');
gaussian_table($node, 'rows', 20000, 8, 'x[1] + 0.5 * x[2] + (random() - 0.5) > 0.1');
$node->safe_psql('postgres', 'VACUUM ANALYZE rows');

my $parallel = q{
	SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0;
	SET max_parallel_workers_per_gather = 2;
	SET parallel_leader_participation = off;};
my $serial = 'SET max_parallel_workers_per_gather = 0;';
# A sample of a few rows, so that it takes more than one scan.
my $options = "margin_options(lambda => 1e-3, loss => 'logistic', tolerance => 1e-6, sample_rows => 500)";

# The plan of a statement that is text itself.
sub plan_of
{
	my ($node, $setup, $query, $options) = @_;
	my $statement = $node->safe_psql('postgres', "SELECT margin_scan_query(\$q\$$query\$q\$, $options)");
	return $node->safe_psql('postgres', "$setup EXPLAIN (VERBOSE, COSTS OFF) $statement");
}

# Parallel workers.
my $query = 'SELECT y, x FROM rows';
my $plan = plan_of($node, $parallel, $query, $options);
like($plan, qr/Finalize Aggregate.*Gather.*Workers Planned: 2.*Partial Aggregate.*Parallel Seq Scan/s, 'workers sum up their own rows');
my $training = "SELECT (m).rows, round((m).primal::numeric, 9), round((m).weights[1]::numeric, 4) FROM train_margin_from('$query', $options) AS m";
my $expected = $node->safe_psql('postgres', "$serial $training");
like($expected, qr/^20000\|0\.\d+\|/, 'a training by scans');
is($node->safe_psql('postgres', "$parallel $training"), $expected, 'the same with two workers');
is($node->safe_psql('postgres', qq{
	SELECT (m).rows = (s).rows AND (s).dual <= (m).primal AND (m).dual <= (s).primal AND abs((s).primal / (m).primal - 1) <= 1e-6
	  FROM train_margin_from('$query', $options) AS s, (SELECT train_margin(y, x, $options - 'sample_rows') AS m FROM rows) AS t}), 't',
	'... and with all rows in memory, as far as the tolerance says');
# Rows near a kink come with each scan; of a row that was in the sample, too, there is one. Many rows here are equal.
$node->safe_psql('postgres', 'CREATE TABLE coarse AS SELECT y, ARRAY(SELECT round(v::numeric, 1) FROM unnest(x) AS v)::real[] AS x FROM rows');
foreach my $loss ('hinge', 'smoothed_hinge')
{
	my $of_loss = "margin_options(lambda => 1e-3, loss => '$loss', tolerance => 1e-6, sample_rows => 2000)";
	is($node->safe_psql('postgres', qq{
		SELECT (s).rows = 20000 AND (s).status = 'optimal' AND (s).iterations > 2 AND (s).dual <= (m).primal AND (m).dual <= (s).primal
		  FROM train_margin_from('SELECT y, x FROM coarse', $of_loss) AS s,
		       (SELECT train_margin(y, x, $of_loss - 'sample_rows') AS m FROM coarse) AS t}), 't', "$loss: the interval overlaps that of all rows in memory");
}
my ($out, $err) = ('', '');
$node->psql('postgres', "$parallel SET margin.log_level = notice; $training", stdout => \$out, stderr => \$err);
my @scans = $err =~ /^.*NOTICE:  margin: scan \d+: 20000 rows in [0-9.]+ s$/mg;
cmp_ok(scalar @scans, '>=', 2, 'each scan has a line: ' . scalar @scans);

# Rows that are others at the next scan: as many, but not the same.
$node->safe_psql('postgres', 'CREATE SEQUENCE drift; CREATE FUNCTION drifting(v real[]) RETURNS real[] LANGUAGE sql VOLATILE AS $$ SELECT array_append(v[2:], (v[1] + nextval(\'drift\') / 1000)::real) $$;');
($out, $err) = ('', '');
$node->psql('postgres', "\\set VERBOSITY verbose\nSELECT train_margin_from('SELECT y, drifting(x) AS x FROM rows', $options)", stdout => \$out, stderr => \$err);
like($err, qr/ERROR:  22000: .*scan 2 found other rows than the first one, 20000 of them.*HINT:.*REPEATABLE READ/s, 'other rows, as many of them: an error that says what to do');

# The problem is that of train_margin, and certified: also where the features say nothing, so that most rows are tied at a kink, and
# where the center is a median.
$node->safe_psql('postgres', q{CREATE TABLE tied AS SELECT (hashint4(i) & 7) = 0 AS y, (hashint4(i + 3) & 3) AS stars,
	array[(hashint4(i + 1) & 1023) / 1024.0, (hashint4(i + 2) & 1023) / 1024.0]::real[] AS x FROM generate_series(1, 100000) AS i});
foreach my $case (['y', 'hinge'], ['stars', 'absolute'], ['stars', 'epsilon_insensitive'], ['stars', 'quantile'], ['stars', 'huber'])
{
	my ($label, $loss) = @$case;
	my $of_loss = "margin_options(lambda => 1e-3, loss => '$loss', intercept => 'penalized')"; # which is free by itself for quantiles
	is($node->safe_psql('postgres', qq{
		SELECT (s).status = 'optimal' AND (s).dual <= (m).primal * (1 + 1e-12) AND (m).dual <= (s).primal * (1 + 1e-12)
		       AND (s).target_center IS NOT DISTINCT FROM (m).target_center
		  FROM train_margin_from('SELECT $label, x FROM tied', $of_loss) AS s,
		       (SELECT train_margin($label, x, $of_loss) AS m FROM tied) AS t}), 't', "$loss: rows tied at a kink, and the center of train_margin");
}

# One snapshot, whoever writes between the scans: each scan takes a while, and another session inserts contradictions.
$node->safe_psql('postgres', q{
	CREATE FUNCTION slowly(seconds float8) RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM pg_sleep(seconds); RETURN true; END $$;
	CREATE TABLE busy AS SELECT * FROM rows;});
my $session = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $session->query_safe('SELECT pg_backend_pid()');

# Starts a statement in the session, and waits until it runs.
sub start
{
	my ($statement) = @_;
	$session->query_until(qr/started/, "\\echo started\n$statement;\n");
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $pid AND state = 'active'")
	  or die 'the statement does not run';
	return;
}

start(qq{CREATE TABLE outcome AS
	WITH t AS MATERIALIZED (SELECT train_margin_from('SELECT y, x FROM busy WHERE slowly(0.2)', $options) AS m)
	SELECT m, (SELECT count(*) FROM busy) AS n, (SELECT margin_verify(m, y, x) FROM busy) AS v FROM t});
my $inserted = 0;
while ($node->safe_psql('postgres', "SELECT state = 'active' FROM pg_stat_activity WHERE pid = $pid") eq 't')
{
	$node->safe_psql('postgres', 'INSERT INTO busy SELECT id, NOT y, x FROM rows LIMIT 2000');
	++$inserted;
}
cmp_ok($inserted, '>=', 3, "another session wrote $inserted times meanwhile");
is($node->safe_psql('postgres', 'SELECT (m).rows, n, (v).rows, abs((v).primal - (m).primal) < 1e-9 FROM outcome'),
	'20000|20000|20000|t', '... and the model is of the snapshot of its statement');

# Reading only.
is($node->safe_psql('postgres', "BEGIN READ ONLY; $training; COMMIT"), $expected, 'in a read-only transaction');
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', "$parallel $training"), $expected, 'on a standby');
$standby->stop;

# Partitions on foreign servers, each of which sums up its own rows.
my $host = $node->host;
my $port = $node->port;
foreach my $name ('one', 'two')
{
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, "CREATE EXTENSION margin; CREATE TABLE part (shard text, id int, y boolean, x real[])");
	my $file = $node->basedir . "/$name";
	my $remainder = $name eq 'one' ? 0 : 1;
	$node->safe_psql('postgres', "COPY (SELECT '$name', id, y, x FROM rows WHERE id % 2 = $remainder) TO '$file' (FORMAT binary)");
	$node->safe_psql($name, "COPY part FROM '$file' (FORMAT binary)");
	$node->safe_psql($name, q{ANALYZE part;
		CREATE FUNCTION slowly(id int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.001); RETURN true; END $$;
		CREATE VIEW slow_part AS SELECT * FROM part WHERE slowly(id);});
}
$node->safe_psql('postgres', qq{
	CREATE EXTENSION postgres_fdw;
	CREATE TABLE shards (shard text, id int, y boolean, x real[]) PARTITION BY LIST (shard);
	CREATE TABLE slow_shards (shard text, id int, y boolean, x real[]) PARTITION BY LIST (shard);});
foreach my $name ('one', 'two')
{
	$node->safe_psql('postgres', qq{
		CREATE SERVER server_$name FOREIGN DATA WRAPPER postgres_fdw
		  OPTIONS (host '$host', port '$port', dbname '$name', extensions 'margin', async_capable 'true');
		CREATE USER MAPPING FOR CURRENT_USER SERVER server_$name;
		CREATE FOREIGN TABLE shard_$name PARTITION OF shards FOR VALUES IN ('$name') SERVER server_$name OPTIONS (table_name 'part');
		CREATE FOREIGN TABLE slow_$name PARTITION OF slow_shards FOR VALUES IN ('$name') SERVER server_$name OPTIONS (table_name 'slow_part');});
}
my $by_shard = $options =~ s/\)$/, shard => 'shard')/r;
$plan = plan_of($node, 'SET enable_partitionwise_aggregate = on;', 'SELECT y, x, shard FROM shards', $by_shard);
like($plan, qr/Append\s+->  Async Foreign Scan.*Relations: Aggregate on \(public\.shard_one.*Async Foreign Scan.*Relations: Aggregate on \(public\.shard_two/s,
	'foreign partitions aggregate their own rows, at the same time') or diag($plan);
like($plan, qr/Remote SQL: SELECT public\.margin_sum\(public\.margin_term\(/, '... by the aggregate') or diag($plan);
my $sharded = $training =~ s/\Q'$query', $options\E/'SELECT y, x, shard FROM shards', $by_shard/r;
is($node->safe_psql('postgres', "SET enable_partitionwise_aggregate = off; $sharded; SHOW enable_partitionwise_aggregate"), "$expected\noff",
	'the same model from two servers, and the setting is the session\'s again');
my $path = q('{"loss": "logistic", "lambdas": [0.1, 0.001], "shard": "shard", "sample_rows": 500, "tolerance": 1e-6}');
is($node->safe_psql('postgres', qq{
	SELECT bool_and((m).status = 'optimal' AND (m).rows = 20000 AND (m).primal - one < 2e-6 * one), max((m).iterations) < 6
	FROM unnest(margin_path_from('SELECT y, x, shard FROM shards', $path)) AS m,
		LATERAL (SELECT (train_margin_from('SELECT y, x FROM rows', ($path)::jsonb - 'lambdas' - 'shard' || jsonb_build_object('lambda', (m).lambda))).primal AS one) AS own}),
	't|t', 'two lambdas in the same scans of two servers');
my $folds = q({"loss": "logistic", "metric": "log_loss", "lambdas": [0.1, 0.001], "tolerance": 1e-6});
my (undef, $validated, $pulled) = $node->psql('postgres', qq{
	SELECT (c).rows, (SELECT bool_and(abs(a - b) < 1e-4) FROM unnest((c).fold_values, (held).fold_values) AS t(a, b))
	FROM margin_cross_validate_from('SELECT y AS label, x AS features, 0.3 * (id % 4) AS weight, margin_fold(id, 3) AS fold, shard FROM shards', '$folds'::jsonb || '{"shard": "shard", "sample_rows": 500}') AS c,
		(SELECT margin_cross_validate(y, x, 0.3 * (id % 4), margin_fold(id, 3), '$folds') AS held FROM rows) AS h});
is($validated, '20000|t', 'folds of weighted rows in scans of two servers');
unlike($pulled, qr/fetches/, '... which add up their rows');
my $map = q({"loss": "squared_hinge", "lambda": 0.01, "calibration": "isotonic", "tolerance": 1e-6, "sample_rows": 500});
my (undef, $mapped, $sent) = $node->psql('postgres', qq{
	SELECT (m).status, (m).rows, (SELECT max(abs(margin_probability(m, x) - margin_probability(one, x))) < 0.02 FROM rows)
	FROM train_margin_from('SELECT y AS label, x AS features, margin_fold(id, 3) AS fold, shard FROM shards', '$map'::jsonb || '{"shard": "shard"}') AS m,
		train_margin_from('SELECT y AS label, x AS features, margin_fold(id, 3) AS fold FROM rows', '$map') AS one});
is($mapped, 'optimal|20000|t', 'a calibration in scans of two servers');
unlike($sent, qr/fetches/, '... which add up their rows');
is($node->safe_psql('postgres', "SELECT (m).rows FROM train_margin_from('SELECT y, x FROM shards', $options) AS m"), '20000', 'rows can travel, too');
my $one_class = q({"nu": 0.1, "sample_rows": 500, "tolerance": 1e-6});
my (undef, $machine, $fetches) = $node->psql('postgres', qq{
	SELECT (m).rows, (m).status, (m).iterations <= 8, (m).dual <= (one).primal AND (one).dual <= (m).primal
	FROM train_one_class_from('SELECT ARRAY[3 + x[1], x[2]], shard FROM shards', '$one_class'::jsonb || '{"shard": "shard"}') AS m, train_one_class_from('SELECT ARRAY[3 + x[1], x[2]] FROM rows', '$one_class') AS one});
is($machine, '20000|optimal|t|t', 'a one-class machine from two servers');
unlike($fetches, qr/fetches/, '... which add up their rows');
my (undef, undef, $quiet) = $node->psql('postgres', "SELECT (m).rows FROM train_margin_from('SELECT y, x, shard FROM shards', $by_shard) AS m");
unlike($quiet, qr/fetches/, 'no warning where servers add up');
$node->safe_psql('postgres', "ALTER SERVER server_two OPTIONS (DROP extensions)");
my (undef, undef, $told) = $node->psql('postgres', "SELECT (m).rows FROM train_margin_from('SELECT y, x, shard FROM shards', $by_shard) AS m");
like($told, qr/WARNING:  each scan fetches the rows of the foreign table "shard_two"/, 'a server that sends its rows is told of');
$node->safe_psql('postgres', "ALTER SERVER server_two OPTIONS (ADD extensions 'margin')");
$node->safe_psql('two', 'CREATE TABLE spare AS TABLE part; TRUNCATE part');
is($node->safe_psql('postgres', "SELECT (m).rows FROM train_margin_from('SELECT y, x, shard FROM shards', $by_shard) AS m"), '10000', 'a shard without rows');
$node->safe_psql('two', 'INSERT INTO part SELECT * FROM spare WHERE y');
is($node->safe_psql('postgres', "SELECT (m).rows = 10000 + (SELECT count(*) FROM shard_two), (m).classes FROM train_margin_from('SELECT y, x, shard FROM shards', $by_shard) AS m"),
	't|{false,true}', 'a shard of one class');
is($node->safe_psql('postgres', qq{SELECT (m).classes FROM train_margin_from('SELECT CASE WHEN shard = ''two'' THEN ''only'' ELSE y::text END, x, shard FROM shards', $by_shard) AS m}),
	'{false,only,true}', 'a label that one shard alone has');

# Text labels whose columns sort otherwise on every server: classes are sorted by bytes.
my %collation = (one => '"C"', two => $node->safe_psql('postgres', q{SELECT quote_ident(max(collname)) FROM pg_collation WHERE collname IN ('POSIX', 'und-x-icu')}));
$node->safe_psql('postgres', 'CREATE TABLE named (shard text, label text, x real[]) PARTITION BY LIST (shard)');
foreach my $name ('one', 'two')
{
	$node->safe_psql($name, "CREATE TABLE named AS SELECT '$name'::text AS shard, (ARRAY['b', 'A', U&'\\00e4', 'Z'])[1 + id % 4]::text COLLATE $collation{$name} AS label, x FROM part");
	$node->safe_psql('postgres', "CREATE FOREIGN TABLE named_$name PARTITION OF named FOR VALUES IN ('$name') SERVER server_$name OPTIONS (table_name 'named')");
}
is($node->safe_psql('postgres', qq{
	SELECT (m).classes = ARRAY['A', 'Z', 'b', U&'\\00e4'], (m).rows = (SELECT count(*) FROM named), (SELECT round((m).primal::numeric, 5) = round((t).primal::numeric, 5) FROM (SELECT train_margin(label, x, $options - 'sample_rows') AS t FROM named) s)
	  FROM train_margin_from('SELECT label, x, shard FROM named', $by_shard) AS m}), 't|t|t', 'labels of different collations');
$node->safe_psql('two', 'UPDATE part SET x = x || 1::real WHERE id = (SELECT min(id) FROM part)');
($out, $err) = ('', '');
$node->psql('postgres', "SELECT train_margin_from('SELECT y, x, shard FROM shards', $by_shard)", stdout => \$out, stderr => \$err);
like($err, qr/ERROR:  .*features/, 'a row of another shape on one of them') or diag($err);
$node->safe_psql('two', 'TRUNCATE part; INSERT INTO part TABLE spare');

# A cancel, here and on the servers. The best of three, as a busy machine makes every wait longer.
my $active_remotely = q{SELECT count(*) FROM pg_stat_activity WHERE datname IN ('one', 'two') AND state = 'active'};
foreach my $case ([ 'a local scan', 'SELECT y, x FROM busy WHERE slowly(0.001 + 0 * id)' ], [ 'scans of two servers', 'SELECT y, x, shard FROM slow_shards' ])
{
	my ($name, $slow) = @$case;
	my $best;
	foreach my $attempt (1 .. 3)
	{
		my $how = $slow =~ /shard/ ? $by_shard : $options;
		start("SELECT train_margin_from('$slow', $how)");
		$node->poll_query_until('postgres', "SELECT ($active_remotely) = 2") or die 'the shards do not scan' if $slow =~ /shard/;
		my $waits = $node->safe_psql('postgres', qq{
			DO \$\$ DECLARE start timestamptz := clock_timestamp(); BEGIN
			  PERFORM pg_cancel_backend($pid);
			  LOOP
			    PERFORM pg_stat_clear_snapshot();
			    EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $pid AND state = 'active') AND ($active_remotely) = 0;
			    PERFORM pg_sleep(0.001);
			  END LOOP;
			  PERFORM set_config('test.took', (1000 * extract(epoch FROM clock_timestamp() - start))::text, false);
			END \$\$;
			SELECT round(current_setting('test.took')::numeric, 1);});
		$best = $waits if !defined $best || $waits < $best;
		last if $best <= 300;
	}
	cmp_ok($best, '<=', 300, "a cancel ends $name within 300 ms ($best ms)");
	is($session->query('SELECT 1'), '1', '... and the session goes on');
}

# A server that goes away in the middle.
my $far = new_node('far');
$far->safe_psql('postgres', q{CREATE TABLE part (y boolean, x real[]);
	INSERT INTO part SELECT i % 2 = 0, ARRAY[i, 1] FROM generate_series(1, 20000) AS i;
	CREATE FUNCTION slowly(x real[]) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.001); RETURN true; END $$;
	CREATE VIEW slow_part AS SELECT * FROM part WHERE slowly(x);});
my ($far_host, $far_port) = ($far->host, $far->port);
$node->safe_psql('postgres', qq{
	CREATE SERVER far_away FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$far_host', port '$far_port', dbname 'postgres', extensions 'margin');
	CREATE USER MAPPING FOR CURRENT_USER SERVER far_away;
	CREATE FOREIGN TABLE far_rows (y boolean, x real[]) SERVER far_away OPTIONS (table_name 'slow_part');});
$session->{stderr} = '';
start("SELECT train_margin_from('SELECT y, x FROM far_rows', $options)");
$far->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'postgres_fdw' AND state = 'active'});
$far->stop('immediate');
is($session->query("SELECT 'alive'"), 'alive', 'the session survives the end of a server');
like($session->{stderr}, qr/ERROR:  .*far_away/s, '... with an error that names the server') or diag($session->{stderr});
is($session->query("SELECT count(*) FROM pg_stat_activity WHERE datname IN ('one', 'two') AND state <> 'idle'"), '0', '... and leaves nothing behind on the others');

$session->quit;
$node->stop;
done_testing();

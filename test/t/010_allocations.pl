# Memory that runs out: whichever allocation of a statement fails, of ours or of the server's, one or a hundred in turn, the
# statement ends with 53200, and the session goes on as if nothing had been, and ends as it should. The core alone, under the
# address sanitizer, meets the same in
# test/fuzz/allocations.cpp.
use strict;
use warnings;
use IPC::Run;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

# How many failures in all; some statements take part in every run.
my $failures = $ENV{MARGIN_ALLOCATION_FAILURES} // 6000;

my $runs = $ENV{MARGIN_ALLOCATION_RUNS} // 400;  # and how many times several in turn

my $library = PostgreSQL::Test::Utils::tempdir() . '/fail_malloc.so';
my $source = "$ENV{TESTDIR}/t/fail_malloc.c";
system('cc', '-shared', '-fPIC', '-O1', "-I$ENV{PG_SERVER_INCLUDE}", '-o', $library, $source) == 0
  or die "$source cannot be compiled";

my $node = PostgreSQL::Test::Cluster->new('allocations');
$node->init;
$node->append_conf('postgresql.conf', "$_\n") foreach ('fsync = off', 'autovacuum = off', 'jit = off', 'client_min_messages = error', "max_parallel_workers = 0", 'margin.threads = 4');
{
	local $ENV{LD_PRELOAD} = $library;
	$node->start;
}
$node->safe_psql('postgres', qq{
	CREATE EXTENSION margin;
	CREATE FUNCTION fail_malloc(bigint) RETURNS bigint LANGUAGE c STRICT AS '$library', 'fail_malloc';
	CREATE FUNCTION fail_malloc(bigint, bigint) RETURNS bigint LANGUAGE c STRICT AS '$library', 'fail_malloc';
	CREATE TABLE points AS SELECT i AS id, i > 15 AS y, i % 3 AS k, i / 7.0::float8 AS t, ARRAY[i - 15.5, i % 3, -i % 4, 1 + i % 2]::float8[] AS x,
	  ('{1:' || i - 15.5 || ',' || 2 + i % 3 || ':1}/4')::margin_sparse AS s FROM generate_series(1, 30) AS i;
	CREATE TABLE many AS SELECT i % 3 = 0 AS y, ARRAY(SELECT sin(i * j)::real FROM generate_series(1, 40) AS j) AS x FROM generate_series(1, 12000) AS i;
	CREATE TABLE models AS SELECT 1 AS id, train_margin(y, x, '{"dual_weights": true, "history": true}') AS m FROM points
	  UNION ALL SELECT 2, train_margin(k, x, '{"lambda": 0.01, "loss": "logistic", "dual_weights": true}') FROM points
	  UNION ALL SELECT 3, train_margin(y, s, '{"kernel": "rbf", "gamma": 0.1, "lambda": 0.1, "dual_weights": true}') FROM points
	  UNION ALL SELECT 4, train_margin(y, x, '{"norm": 1, "learners": "stumps", "max_iterations": 30}') FROM points
	  UNION ALL SELECT 5, train_margin(k, x, '{"lambda": 0.1, "calibration": "isotonic"}') FROM points;
	-- how many allocations the statement makes when none fails
	CREATE FUNCTION allocations(statement text) RETURNS bigint LANGUAGE plpgsql AS \$\$
	BEGIN
	  EXECUTE statement;  -- once for the caches
	  PERFORM fail_malloc(0);
	  EXECUTE statement;
	  RETURN fail_malloc(0);
	END \$\$;
	-- the SQLSTATEs of the statement with one of its allocations failing, and how often each came; `steps` failures spread evenly
	CREATE FUNCTION attempt(statement text, all_of_them bigint, steps int) RETURNS TABLE (state text, times bigint) LANGUAGE plpgsql AS \$\$
	DECLARE states text[] := '{}'; state text; step int;
	BEGIN
	  FOR step IN 1 .. steps LOOP
	    state := '00000';
	    BEGIN
	      PERFORM fail_malloc(greatest(all_of_them * (2 * step - 1) / (2 * steps), 1));
	      EXECUTE statement;
	      PERFORM fail_malloc(0);
	    EXCEPTION WHEN OTHERS THEN
	      state := SQLSTATE;
	      PERFORM fail_malloc(0);
	    END;
	    states := states || state;
	  END LOOP;
	  RETURN QUERY SELECT s, count(*) FROM unnest(states) AS s GROUP BY s ORDER BY s;
	END \$\$;});

my @trainings = map { "SELECT train_margin($_) FROM points" } (
	'y, x', 'k, x', q(y, s, '{"norm": 1.5}'), q(y, x, '{"norm": 1}'), q(k, x, '{"norm": 1}'), q(y, x, '{"norm": 1, "learners": "stumps"}'),
	q(t, x, '{"loss": "interpolate"}'), q(y, x, '{"kernel": "rbf", "gamma": 0.1}'), q(k, s, '{"kernel": "polynomial", "lambda": 0.1}'),
	q(k, x, '{"lambda": 0.01, "loss": "logistic", "history": true, "dual_weights": true}'), q(t, x, '{"lambda": 0.01, "loss": "absolute", "solver": "newton"}'),
	q(y, x, '{"lambda": 0.1, "calibration": "platt"}'), q(y, x, '{"lambda": 0.1, "standardize": true, "solver": "sdca"}'),
	q(y, x, margin_options(lambda => 0.1, initial => (SELECT m FROM models WHERE id = 1))));
my @others = (
	# several threads
	q(SELECT train_margin(y, x, '{"lambda": 0.1, "loss": "logistic", "solver": "newton", "tolerance": 0.1}') FROM many),
	q(SELECT margin_path(y, x) FROM points), 'SELECT margin_cross_validate(y, x) FROM points',
	'SELECT margin_score(m, x) FROM models, points WHERE models.id IN (1, 3)',
	map({ "SELECT $_(m, x) FROM models, points WHERE models.id IN (2, 3)" } qw(margin_scores margin_predict)),
	'SELECT margin_probabilities(m, x) FROM models, points WHERE models.id IN (2, 5)',
	map({ "SELECT $_(m, y, x) FROM models, points WHERE models.id IN (1, 3) GROUP BY models.id" } qw(margin_evaluate margin_verify margin_roc margin_histogram)),
	map({ "SELECT $_(m)::text FROM models" } qw(margin_to_json margin_summary)),
	'SELECT margin_plot(m) FROM models WHERE id = 1', 
	'SELECT margin_from_json(margin_to_json(m)) FROM models', 'SELECT margin_pmml(m) FROM models WHERE id IN (1, 2)',
	'SELECT margin_weights(m) FROM models WHERE id < 3', 'SELECT margin_certificate(m), margin_history(m) FROM models',
	q(SELECT s::jsonb::margin_sparse::text::margin_sparse, s::float8[], s < '{1:1}' FROM points), 'SELECT margin_hashed_features(64, id, k::text, y) FROM points',
	'SELECT margin_fourier(x, 40, 0.1) FROM points');
my @statements = (@trainings, @others);
my $steps = int($failures / @statements) + 1;

my $bits = 'SELECT md5(string_agg(' . bits_of('m') . ", '' ORDER BY n)) FROM (SELECT 1, train_margin(y, x) FROM points UNION ALL "
  . q(SELECT 2, train_margin(k, x, '{"lambda": 0.01}') FROM points) . ') AS s(n, m)';
my $session = $node->background_psql('postgres');
my $pid = $session->query_safe('SELECT pg_backend_pid()');
my $expected = $session->query_safe($bits);
my ($met, $made, $first, @bad) = (0, 0);
foreach my $statement (@statements)
{
	my $all = $session->query_safe("SELECT allocations(\$statement\$$statement\$statement\$)");
	$made += $steps;
	foreach (split /\n/, $session->query_safe("SELECT * FROM attempt(\$statement\$$statement\$statement\$, $all, $steps)"))
	{
		my ($state, $times) = split /\|/;
		$met += $times if $state eq '53200';
		push @bad, "$state $times times: $statement" if $state !~ /^(53200|00000)$/;
	}
	$first //= resident($pid, 'VmRSS');
}
is(join("\n", @bad), '', 'whichever allocation fails, the statement ends with 53200');
cmp_ok($met, '>', $made * 0.8, "... as $met of $made statements did, " . @statements . ' different ones');
is($session->query_safe($bits), $expected, 'the session then trains the same models, bit for bit');
is($session->query_safe('SELECT pg_backend_pid()'), $pid, '... and has lived through it all');
my $growth = resident($pid, 'VmRSS') - $first;
cmp_ok($growth, '<=', 16384, "... without leaking ($growth kB)");
$session->quit;

# Several in turn: what is done about the first failure meets the next. Outside of PL/pgSQL, so that the transaction is
# aborted in between, too; threads, a spill, scans and updates are among the statements.
$node->safe_psql('postgres', q{
	CREATE TABLE curved AS SELECT margin_with_curvature((SELECT train_margin(y, x, '{"lambda": 0.1, "loss": "squared_hinge"}') FROM points), y, x) AS m FROM points;
	CREATE TABLE labelled AS SELECT y, p FROM points AS p;
	CREATE FUNCTION fail(rows bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53200', MESSAGE = repeat('long ', 40000); END $$;});
my $reproducer = q(SELECT train_margin(y, x, '{"lambda": 0.1, "loss": "logistic", "history": true, "log_level": "notice"}') FROM points);
# An error too long to be copied into memory that is there already.
my $long = q(SELECT train_margin_from('SELECT y, x FROM points WHERE fail(id)', '{"lambda": 0.1, "loss": "logistic"}'));
my @in_turn = (@trainings, $reproducer, $long,
	q(SELECT train_margin(y, x, '{"lambda": 0.1, "loss": "logistic", "solver": "newton", "tolerance": 0.1}') FROM many WHERE ctid < '(400,1)'),
	q(SET margin.memory_limit = '8MB' \; SELECT train_margin(y, x, '{"lambda": 0.1, "loss": "logistic", "tolerance": 0.2}') FROM (SELECT y, x FROM many UNION ALL SELECT y, x FROM many UNION ALL SELECT y, x FROM many) AS s \; RESET margin.memory_limit),
	q(SELECT train_margin_from('SELECT y, x FROM points', '{"lambda": 0.1, "loss": "logistic", "sample_rows": 10}')),
	q(SELECT train_margin_from('SELECT y, x, k FROM points', '{"lambda": 0.1, "loss": "logistic", "shard": "k", "sample_rows": 10, "on_error": "null"}')),
	q(SELECT train_one_class_from('SELECT x, k FROM points', '{"nu": 0.3, "shard": "k", "sample_rows": 10}')),
	q(SELECT margin_path_from('SELECT y, x, k FROM points', '{"lambdas": [0.1, 0.01], "loss": "logistic", "shard": "k", "sample_rows": 10}')),
	q(SELECT margin_cross_validate_from('SELECT y AS label, x AS features, k AS fold FROM points', '{"lambdas": [0.1, 0.01], "loss": "logistic", "sample_rows": 10}')),
	q(SELECT train_margin_from('SELECT y AS label, x AS features, k AS fold FROM points', '{"lambda": 0.1, "calibration": "isotonic", "sample_rows": 10}')),
	q(SELECT train_margin_from('SELECT y, p FROM labelled', '{"lambda": 0.1, "loss": "hinge"}')),
	q(SELECT margin_update(m, true, ARRAY[1, 2, 3, 4]::float8[], false) FROM curved), q(SELECT margin_path(y, x) FROM points), 'SELECT margin_cross_validate(y, x) FROM points',
	'SELECT margin_fourier(x, 400, 0.1) FROM points', 'SELECT margin_predict(m, x) FROM models, points WHERE models.id IN (2, 3)');
# Each single place of a statement that ends with that error: one of them is the copy that is made of it. What a jump over
# frames leaves behind shows when the stack has been written over, at the end of the session at the latest.
my $script = PostgreSQL::Test::Utils::tempdir() . '/places.sql';
my $statements = "\\set VERBOSITY sqlstate\n$long;\nSELECT fail_malloc(0, 0);\n$long;\nSELECT fail_malloc(0, 0) AS places \\gset\n\\echo places :places\n";
$statements .= "SELECT fail_malloc($_, 1) \\; $long;\nSELECT fail_malloc(0, 0);\n" foreach 1 .. 150;
append_to_file($script, $statements . 'SELECT ' . join(' + ', map { "length('$_')" } 1 .. 2000) . " AS deep \\gset\n\\echo alive\n");
my ($said, $told) = ('', '');
IPC::Run::run([ 'psql', '-X', '-q', '-h', $node->host, '-p', $node->port, '-d', 'postgres', '-f', $script ], '>', \$said, '2>', \$told);
my ($places) = $said =~ /places (\d+)/;
cmp_ok($places, '<', 150, "a long error at each of its $places allocations");
like($said, qr/alive/, '... the session goes on');
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
is(join(' ', sort map { /ERROR:  (\S+)/ ? $1 : () } grep { !/ERROR:  53200/ } split /\n/, $told), '', '... with 53200');
unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC|TRAP/, '... and ends');
# The library itself: what allocates while it is loaded, in sessions of their own. The next call then loads it.
my ($loads, @unloaded) = (0);
for (my $seen = 0; $loads < 100 && !$seen; ++$loads)
{
	my ($out, $err) = ('', '');
	$node->psql('postgres', "\\set VERBOSITY sqlstate\nSELECT fail_malloc(0, 0) IS NULL AS warm \\gset\nSELECT fail_malloc($loads + 1, 1) \\; LOAD 'margin';\n"
		  . "SELECT 'seen ' || fail_malloc(0, 0);\nSELECT margin_finite('{1}'::real[]), current_setting('margin.threads');\n", stdout => \$out, stderr => \$err, on_error_stop => 0);
	push @unloaded, $loads + 1 . ": $err" if $out !~ /^t\|4$/m;
	$seen = $err eq '' && $out =~ /seen (\d+)/ && $1 < $loads;
}
is(join("\n", @unloaded), '', "a session survives whichever of $loads allocations of loading the library fails");
cmp_ok($loads, '>', 10, '... and there are some');
srand($ENV{MARGIN_ALLOCATION_SEED} // 3);
my ($injected, $refused, %wrong) = (0, 0);
while ($injected < $runs)
{
	# PL/pgSQL is loaded first: where memory is short while it is, the server ends the session itself. Its settings are strings,
	# and what a new setting of that kind cannot allocate is FATAL (guc.c), in sessions without this extension, too. Ours has none.
	my $script = "\\set VERBOSITY sqlstate\n\\set ON_ERROR_STOP 0\nLOAD 'plpgsql';\nSET client_min_messages = notice;\n";
	my @session;
	foreach my $n (1 .. 20)
	{
		# First at every place behind an error.
		my $swept = $injected + $n <= 100;
		push @session, $swept ? $long : $in_turn[ ($injected + $n) % @in_turn ];
		my $threads = (1, 2, 4, 16)[ rand 4 ];
		# the first look counts the allocations, which are then drawn from; few of them more often
		my ($at, $length) = $swept ? (0, 30) : (rand() ** 2, rand() < 0.3 ? 30 : 1 + int(rand 100));
		$script .= "SET margin.threads = $threads;\n$session[-1];\nSELECT fail_malloc(0, 0);\n$session[-1];\nSELECT greatest(1, " . ($swept ? "fail_malloc(0, 0) - $injected - $n" : "ceil($at * fail_malloc(0, 0))") . ")::bigint AS at \\gset\n"
		  . "\\echo at :at $length $n\n\\warn at :at $length $n\nSELECT fail_malloc(:at, $length) \\; $session[-1];\n" . "SELECT fail_malloc(0, 0);\n" x 3 . "RESET margin.memory_limit;\n";
	}
	# The rest of the last run is used up by statements that fail.
	$script .= "SELECT fail_malloc(0, 0);\n" x 100 . "SELECT 'alive';\n";
	my ($out, $err) = ('', '');
	$node->psql('postgres', $script, stdout => \$out, stderr => \$err);
	$injected += @session;
	++$refused while $err =~ /53200/g;
	my $where = '';
	foreach (split /\n/, $err)
	{
		$where = "$1: $session[$2 - 1]" if /^at (.*) (\d+)$/;
		++$wrong{"$_ at $where"} if !/^at / && !/ERROR:\s+53200/ && /ERROR|FATAL|PANIC|server closed|lost/;
	}
	++$wrong{"not alive after $where"} if $out !~ /alive/;
}
is(join("\n", map { "$_ ($wrong{$_})" } sort keys %wrong), '', "$injected times 1 to 100 in turn: only 53200");
cmp_ok($refused, '>', $injected / 4, "... as $refused statements said");
is($node->safe_psql('postgres', $bits), $expected, 'models are then as before');
unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC|TRAP|FATAL:(?!\s+the database system is)/, 'no crash in the log, and no session that the server ended');

$node->stop;
done_testing();

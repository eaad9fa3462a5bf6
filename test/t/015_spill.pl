# Rows beyond margin.memory_limit: in a temporary file of the server. The models are those of rows in memory, memory
# stays bounded, and nothing remains of the file however the training ends.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $slow = $ENV{MARGIN_SLOW_FACTOR} // 1;
my $node = new_node('spill', 'shared_buffers = 8MB', 'jit = off', 'autovacuum = off', 'max_parallel_workers_per_gather = 0',
	'restart_after_crash = on', 'enable_material = off');

# 160 MB of rows, 1.6 kB each: windows of random sequences behind a first feature that separates the classes.
my ($rows, $features) = (100000, 400);
$node->safe_psql('postgres', qq{
	SELECT setseed(0.25);
	CREATE TABLE noise AS SELECT k, array_agg((sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))::real) AS v
	  FROM generate_series(0, 1999) AS k, generate_series(1, 480) GROUP BY k;
	CREATE VIEW wide AS SELECT id, id % 2 = 1 AS y, ARRAY[(id % 2 * 2 - 1) * 8::real] || v[1 + id / 2000 : $features - 1 + id / 2000] AS x
	  FROM noise, generate_series(1, $rows) AS id WHERE k = id % 2000;
	CREATE TABLE rows (id int, y boolean, x real[]);
	ALTER TABLE rows ALTER x SET STORAGE PLAIN;    -- no attempts to compress random numbers
	INSERT INTO rows SELECT id, y, x FROM wide;
	CREATE VIEW coin AS SELECT id, hashint4(id) > 0 AS y, x FROM rows;});

sub temporary_files
{
	my $directory = $node->data_dir . '/base/pgsql_tmp';
	return -d $directory ? scalar(grep { !/^\./ } slurp_dir($directory)) : 0;
}

# A statement in a session of its own, with a limit that the rows exceed five times.
my $limit = "SET margin.memory_limit = '32MB';";
sub psql_of
{
	my ($statements) = @_;
	my ($out, $err) = ('', '');
	$node->psql('postgres', "\\set VERBOSITY verbose\n$statements", stdout => \$out, stderr => \$err, on_error_stop => 0);
	return ($out, $err);
}

# The same models, in bounded memory.
my %statement = (
	cutting_plane => q{train_margin(y, x, margin_options(tolerance => 0.05)) AS m FROM rows},
	newton => q{train_margin(y, x, margin_options(lambda => 1e-2, loss => 'logistic', solver => 'newton')) AS m FROM coin},
	standardized => q{train_margin(y, x, margin_options(lambda => 1e-2, loss => 'squared', solver => 'newton', standardize => true)) AS m
	  FROM (SELECT id % 7 AS y, x FROM rows) AS s},
	path => q{(margin_path(y, x, '{"loss": "squared_hinge", "solver": "newton", "lambdas": [1, 0.1]}'))[2] AS m FROM coin},
	sdca => q{train_margin(y, x, margin_options(lambda => 1e-2, solver => 'sdca', tolerance => 1e-4)) AS m FROM coin});
my $bits = bits_of('m');
foreach my $name (sort keys %statement)
{
	my $query = "SELECT $bits, (m).status, (m).dual::text, (m).primal::text FROM (SELECT $statement{$name}) AS s;";
	my ($in_memory) = psql_of($query);
	my ($out, $err) = psql_of("$limit\nSELECT pg_backend_pid() AS pid \\gset\n\\setenv PID :pid\n$query\n\\! grep VmHWM /proc/\$PID/status");
	my @lines = split /\n/, $out;
	like($err, qr/NOTICE: .* 15\d MB of rows are in a temporary file, as margin\.memory_limit is 32 MB$/m, "$name: rows go to a file");
	is(scalar(() = $err =~ /NOTICE/g), 1, '... which one line says');
	if ($name eq 'sdca')    # visits rows in another order
	{
		my (undef, $status, $lower, $upper) = split /\|/, $lines[0];
		my (undef, undef, $below, $above) = split /\|/, $in_memory;
		is($status, 'optimal', '... the tolerance is reached');
		ok($lower <= $above && $below <= $upper, '... the intervals of both models hold the optimum');
	}
	else
	{
		is($lines[0], $in_memory, '... the model is the same to the bit');
		like($in_memory, qr/\|optimal\|/, '... and optimal');
	}
	my ($peak) = $out =~ /VmHWM:\s+(\d+) kB/;
	# Beside the limit: what the process has anyway, its buffers, and the part of the file that is mapped.
	cmp_ok($peak, '<=', 32 * 1024 + 40 * 1024, "... in bounded memory ($peak kB at the peak)");
	is(temporary_files(), 0, '... and nothing is left of the file');
}

# Several groups at a time (a hash), each with a file of its own; a group that is small has none.
my $groups = "SELECT g, $bits FROM (SELECT CASE WHEN id % 100 = 0 THEN 3 ELSE id % 2 END AS g, train_margin(id % 3 = 0, x, margin_options(lambda => 1e-2, loss => 'squared_hinge', solver => 'newton')) AS m FROM rows GROUP BY 1) AS s ORDER BY g;";
my ($in_memory) = psql_of("SET enable_sort = off; SET hash_mem_multiplier = 1000;\n$groups");
my ($out, $err) = psql_of("SET enable_sort = off; SET hash_mem_multiplier = 1000;\n$limit\n$groups");
is($out, $in_memory, 'groups in memory at the same time have the same models');
is(scalar(() = $err =~ /NOTICE/g), 2, '... two in files, one in memory');
is(temporary_files(), 0, '... which are gone');

# The file ends with the statement, not with the transaction; a block that catches an error goes on.
my $sdca = "train_margin(y, x, margin_options(lambda => 1e-7, solver => 'sdca', tolerance => 0, max_iterations => 1000000))";
($out) = psql_of(qq{$limit
	BEGIN;
	SELECT (train_margin(y, x, margin_options(lambda => 1, loss => 'squared'))).rows FROM (SELECT 1.0 AS y, x FROM rows) AS s;
	SELECT 'after success', count(*) FROM pg_ls_tmpdir();
	SAVEPOINT s;
	SELECT train_margin(y, CASE id WHEN $rows THEN '{NaN}' ELSE x END) FROM rows;
	ROLLBACK TO s;
	SELECT 'after an error', count(*) FROM pg_ls_tmpdir();
	SET statement_timeout = '1s';
	DO \$\$ BEGIN
	  PERFORM $sdca FROM coin;
	EXCEPTION WHEN query_canceled THEN PERFORM set_config('test.caught', (SELECT count(*) FROM pg_ls_tmpdir())::text, false);
	END \$\$;
	SELECT 'after a timeout', current_setting('test.caught');
	RESET statement_timeout;
	DECLARE c CURSOR FOR SELECT (train_margin(y, x, margin_options(lambda => 1, loss => 'squared'))).rows FROM (SELECT 1.0 AS y, x FROM rows) AS s;
	FETCH c;
	COMMIT;
	SELECT 'after the end', count(*) FROM pg_ls_tmpdir();});
is($out, "$rows\nafter success|0\nafter an error|0\nafter a timeout|0\n$rows\nafter the end|0", 'a file goes with its statement, whatever becomes of it');
$node->poll_query_until('postgres', "SELECT temp_files > 0 AND temp_bytes > 150e6 FROM pg_stat_database WHERE datname = 'postgres'");
ok($node->safe_psql('postgres', "SELECT temp_files > 0 AND temp_bytes > 150e6 FROM pg_stat_database WHERE datname = 'postgres'") eq 't', 'files and bytes are counted in pg_stat_database');

# Limits of the server.
($out, $err) = psql_of("$limit SET temp_file_limit = '50MB';\nSELECT train_margin(y, x) FROM rows;\nSELECT 'the session goes on', count(*) FROM pg_ls_tmpdir();");
like($err, qr/ERROR:  53400: temporary file size exceeds "?temp_file_limit"? \(51200kB\)/, 'temp_file_limit ends a training');
is($out, 'the session goes on|0', '... and not its session');
($out, $err) = psql_of("$limit\nSELECT train_margin(i % 2 = 0, ARRAY[i::real]) FROM generate_series(1, 2000000) AS i;");
like($err, qr/ERROR:  54000: training needs more memory than margin\.memory_limit allows.*HINT:.*margin\.memory_limit/s,
	'what else is kept of a row must fit into the memory');

# Signals: while rows are collected, and in the solver.
sub signalled
{
	my ($phase, $statement) = @_;
	my $best;
	foreach my $attempt (1 .. 3)
	{
		my $victim = $node->background_psql('postgres', on_error_stop => 0);
		my $pid = $victim->query_safe('SELECT pg_backend_pid()');
		$victim->query_safe($limit);
		$victim->query_until(qr/started/, "\\echo started\n$statement;\n");
		$node->poll_query_until('postgres', 'SELECT count(*) = 1 FROM pg_ls_tmpdir()');
		sleep(($phase eq 'solver' ? 1.5 : 0.1) * $slow);
		my ($until_end, $cpu) = (until_idle($pid), cpu_of($pid));
		my ($files, $milliseconds) = split /\|/, $node->safe_psql('postgres', qq{
			SELECT set_config('test.files', count(*)::text, false) FROM pg_ls_tmpdir() \\g /dev/null
			DO \$\$ DECLARE before numeric := $cpu; last numeric; BEGIN
			  PERFORM pg_cancel_backend($pid);
			  $until_end
			END \$\$;
			SELECT current_setting('test.files'), round(current_setting('test.took')::numeric, 1);});
		is($files, 1, "a cancel meets an open file ($phase)");
		is(temporary_files(), 0, '... which it ends');
		is($victim->query("SELECT 'alive'"), 'alive', '... and not the session');
		$victim->quit;
		$best = $milliseconds if !defined $best || $milliseconds < $best;
		last if $best <= 100;
	}
	cmp_ok($best, '<=', 100, "... within 100 ms ($best ms)");
	return;
}
signalled('collecting', "SELECT train_margin(y, x) FROM (SELECT a.* FROM rows AS a, generate_series(1, 20)) AS s");
signalled('solver', "SELECT $sdca FROM coin");

# A backend that is killed takes all others with it; the server that comes back has removed the file.
my $victim = $node->background_psql('postgres', on_error_stop => 0, on_error_die => 0);
my $pid = $victim->query_safe('SELECT pg_backend_pid()');
$victim->query_safe($limit);
$victim->query_until(qr/started/, "\\echo started\nSELECT $sdca FROM coin;\n");
$node->poll_query_until('postgres', 'SELECT count(*) = 1 FROM pg_ls_tmpdir()');
is(temporary_files(), 1, 'a killed backend leaves its file');
kill 'KILL', $pid;
eval { $victim->quit };
$node->poll_query_until('postgres', 'SELECT true');
is(temporary_files(), 0, '... which the server removes when it starts again');

$node->stop;
done_testing();

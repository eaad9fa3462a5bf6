# Trainings on several threads: the models of one, to the bit; a cancel, a terminated or killed session, a lack of memory end
# them all; and nothing is left of thousands.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $slow = $ENV{MARGIN_SLOW_FACTOR} // 1;
my $node = new_node('threads', 'autovacuum = off', 'jit = off', 'restart_after_crash = on', 'max_parallel_workers_per_gather = 4',
	'min_parallel_table_scan_size = 0', 'parallel_setup_cost = 0');
gaussian_table($node, 'coin', 20000, 40);
gaussian_table($node, 'few', 2500, 20);
$node->safe_psql('postgres', q{
	CREATE VIEW gap AS SELECT id, y, ARRAY[CASE WHEN y THEN 8 ELSE -8 END::real] || x AS x FROM coin;
	CREATE VIEW pairs AS SELECT id, y, ('{' || id % 997 + 1 || ':' || x[1] || ',' || id % 991 + 1000 || ':' || x[2] || '}/2000')::margin_sparse AS x FROM coin;
	CREATE VIEW classes AS SELECT id, id % 3 AS y, x FROM coin;});

# Milliseconds of CPU of all threads of a session, those that have ended too, and of its first one.
sub cpu_of_all
{
	my ($pid) = @_;
	my @fields = split / /, (slurp_file("/proc/$pid/stat") =~ s/^.*\) //r);
	return 10 * ($fields[11] + $fields[12]);
}

sub threads_of
{
	my ($pid) = @_;
	my $number;
	foreach (1 .. 100)    # the kernel buries a thread a little after it has ended
	{
		($number) = slurp_file("/proc/$pid/status") =~ /^Threads:\s+(\d+)/m;
		last if $number == 1;
		sleep 0.01;
	}
	return $number;
}

# The same bits, and more CPU than the first thread's.
my %training = (
	'newton, logistic' => q{coin|lambda => 1e-3, loss => 'logistic', solver => 'newton', tolerance => 1e-9},
	'newton, hinge' => q{coin|lambda => 1e-3, solver => 'newton'},
	'newton_cg, sparse' => q{pairs|lambda => 1e-3, loss => 'logistic', solver => 'newton_cg'},
	'newton, three classes' => q{classes|lambda => 1e-3, loss => 'squared_hinge', solver => 'newton'},
	'sdca+accelerated' => q{coin|lambda => 1e-3, loss => 'logistic', solver => 'sdca', accelerated => true, tolerance => 1e-6},
	'sdca' => q{coin|lambda => 1e-3, solver => 'sdca', tolerance => 0.1},
	'hard margin' => q{gap|tolerance => 0.05});
my $session = $node->background_psql('postgres');
my $pid = $session->query_safe('SELECT pg_backend_pid()');
foreach my $name (sort keys %training)
{
	my ($table, $options) = split /\|/, $training{$name};
	my $statement = 'SELECT ' . bits_of('m') . " FROM (SELECT train_margin(y, x, margin_options($options)) AS m FROM $table OFFSET 0) AS s";
	$session->query_safe('SET margin.threads = 1');
	my $expected = $session->query_safe($statement);
	foreach my $threads (2, 4, 0)
	{
		$session->query_safe("SET margin.threads = $threads");
		is($session->query_safe($statement), $expected, "$name: the same bits with margin.threads = $threads");
	}
	is(threads_of($pid), 1, '... and no thread is left');
}
my $long = "SELECT count(p) FROM (SELECT margin_path(y, x, '{\"loss\": \"logistic\", \"solver\": \"newton\", \"tolerance\": 1e-9, \"lambdas\": ["
  . join(', ', map { sprintf '%.6g', 0.9**$_ } 1 .. 200) . ']}\') AS p FROM coin, generate_series(1, 10) OFFSET 0) AS s';
$session->query_safe("SET margin.threads = 4; SET statement_timeout = 0");
# The best of some: of a quarter of a second the kernel's clock tells little.
my ($all, $others) = (0, 0);
foreach (1 .. 5)
{
	my ($before, $first) = (cpu_of_all($pid), 1000 * cpu_seconds($pid));
	$session->query_safe($long =~ s/, 0\.8[0-9]*, .*\]/]/r);
	$all = cpu_of_all($pid) - $before;
	$others = $all - (1000 * cpu_seconds($pid) - $first);
	last if $others > 0.2 * $all;
}
cmp_ok($others, '>', 0.2 * $all, sprintf('threads do a good part of the work (%.0f of %.0f ms of CPU)', $others, $all));

# A cancel, in seconds as the session sees it: the caller hears it at once, and its threads soon after. The best of some,
# as other work on the machine makes any of them longer.
sub cancelled
{
	my ($setup, $signal) = @_;
	my @took;
	foreach (1 .. 5)
	{
		my $victim = $node->background_psql('postgres', on_error_stop => 0);
		my $id = $victim->query_safe('SELECT pg_backend_pid()');
		$victim->query_until(qr/started/, "\\echo started\n SET margin.threads = 4; $setup\n$long;\n");
		$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $id AND state = 'active' AND query LIKE '%margin_path%'");
		foreach (1 .. 500) { last if slurp_file("/proc/$id/status") =~ /^Threads:\s+4/m; sleep 0.01; }
		sleep(rand(0.1));
		my $milliseconds = $node->safe_psql('postgres', qq{
			DO \$\$ DECLARE begun timestamptz := clock_timestamp(); BEGIN
			  PERFORM $signal($id);
			  LOOP
			    PERFORM pg_stat_clear_snapshot();
			    EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $id AND state = 'active');
			    PERFORM pg_sleep(0.001);
			  END LOOP;
			  PERFORM set_config('test.took', (1000 * extract(epoch FROM clock_timestamp() - begun))::text, false);
			END \$\$;
			SELECT round(current_setting('test.took')::numeric, 1);});
		push @took, $milliseconds;
		if ($signal eq 'pg_cancel_backend')
		{
			is(threads_of($id), 1, 'no thread outlives a cancel');
			$victim->quit;
		}
		last if $milliseconds <= 100;
	}
	return (sort { $a <=> $b } @took)[0];
}

my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my $took = cancelled('', 'pg_cancel_backend');
cmp_ok($took, '<=', 100 * $slow, "pg_cancel_backend ends a training on threads within 100 ms ($took ms)");
$took = cancelled('', 'pg_terminate_backend');
cmp_ok($took, '<=', 100 * $slow, "pg_terminate_backend, too ($took ms)");
# A terminated session exits while its threads read the rows: they have to end first.
foreach (1 .. 10)
{
	my $victim = $node->background_psql('postgres', on_error_stop => 0);
	my $id = $victim->query_safe('SELECT pg_backend_pid()');
	$victim->query_until(qr/started/, "\\echo started\n SET margin.threads = 8;\n$long;\n");
	sleep(0.2 + rand(0.2));
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($id)");
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $id");
}
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, '... and the server stays up');
unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC/, '... without a crash in its log');

my ($milliseconds, $state, $alive) = timed($node, "SET margin.threads = 4; SET statement_timeout = '200ms';", "$long;");
is($state, '57014', 'statement_timeout cancels a training on threads');
ok($alive, '... and the session goes on');

# Thousands of trainings leave no thread and no memory. Each makes three threads, for its certificate.
my $tiny = q{SELECT count(m) FROM generate_series(1, %d) AS g, LATERAL
	(SELECT train_margin(y, x, margin_options(lambda => 1e-2, solver => 'sdca', tolerance => 0.9, max_iterations => 1)) AS m FROM few WHERE g > 0) AS s};
my $trainings = $ENV{MARGIN_THREAD_TRAININGS} // 2000;
$session->query_safe('SET margin.threads = 4; SET max_parallel_workers_per_gather = 0; SET client_min_messages = error');
$session->query_safe(sprintf $tiny, 200);
my $before = resident($pid, 'RssAnon');
$session->query_safe(sprintf $tiny, $trainings);
my $growth = resident($pid, 'RssAnon') - $before;
cmp_ok($growth, '<=', 4096, "$trainings trainings leave no memory ($growth kB)");
is(threads_of($pid), 1, '... and no thread');

# What is beyond the limit is refused before a thread is made.
my ($out, $err) = ('', '');
$node->psql('postgres', "\\set VERBOSITY sqlstate\nSET margin.threads = 4; SET margin.memory_limit = '2MB';\n$long;", stdout => \$out, stderr => \$err);
like($err, qr/54000/, 'margin.memory_limit holds with threads');
$session->quit;

# A process that is killed takes its threads with it.
my $victim = $node->background_psql('postgres', on_error_stop => 0);
my $id = $victim->query_safe('SELECT pg_backend_pid()');
$victim->query_until(qr/started/, "\\echo started\n SET margin.threads = 4;\n$long;\n");
foreach (1 .. 500) { last if slurp_file("/proc/$id/status") =~ /^Threads:\s+4/m; sleep 0.01; }
like(slurp_file("/proc/$id/status"), qr/^Threads:\s+4/m, 'a training on four threads');
kill 'KILL', $id;
foreach (1 .. 500) { last unless -d "/proc/$id"; sleep 0.01; }
ok(!-d "/proc/$id", '... is gone with its process');
$node->poll_query_until('postgres', 'SELECT true');
is($node->safe_psql('postgres', "SELECT count(*) FROM few"), '2500', '... and the server comes back');

$node->stop;
done_testing();

# A training never keeps its session: statement_timeout, pg_cancel_backend and pg_terminate_backend take effect within
# 100 ms of CPU, whatever the solver, and the server lives on. CPU, because a busy machine makes every wait longer.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

# Slow machines (valgrind, emulation) may set this; it stretches only what the test waits for before it signals.
my $slow = $ENV{MARGIN_SLOW_FACTOR} // 1;

my $node = new_node('interrupts', 'autovacuum = off');    # no process ends but those that are ended here
gaussian_table($node, 'coin', 3000, 200);

# The best of three: a busy machine can only make an attempt longer.
sub best_of_three
{
	my ($setup, $statement) = @_;
	my @best;
	foreach my $attempt (1 .. 3)
	{
		my @seen = timed($node, $setup, $statement);
		@best = @seen if !@best || $seen[0] < $best[0];
		last if $best[0] <= 300;
	}
	return @best;
}

sub training
{
	my ($solver, $soft) = @_;
	my $more = $soft ? "lambda => 1e-9, tolerance => 0" : "tolerance => 0";
	$more .= ", norm => 1" if $solver eq 'boosting';    # the only norm it knows
	$more .= ", l1_ratio => 0.5, loss => 'logistic'" if $solver eq 'prox_newton';
	$more .= ", kernel => 'rbf', loss => 'logistic'" if $solver eq 'kernel_newton';
	return "SELECT (train_margin(y, x, margin_options(solver => '$solver', max_iterations => 1000000000, $more))).status FROM coin;";
}

my ($time, $state, $alive) = best_of_three("SET statement_timeout = '200ms';", training('momentum', 0));
is($state, '57014', 'statement_timeout cancels a long training');
cmp_ok($time, '<=', 300, "... within 300 ms ($time ms)");
ok($alive, '... and the session goes on');

# A solver may finish earlier; it may not overstay.
foreach my $problem ('hard margin', 'soft margin')
{
	foreach my $solver (solvers($node, $problem))
	{
		($time, $state, $alive) = best_of_three("SET statement_timeout = '200ms';", training($solver, $problem eq 'soft margin'));
		ok(($state eq '57014' || $state eq '') && $time <= 300 && $alive,
			"$problem, $solver: over after $time ms" . ($state ? ' (cancelled)' : ' (finished)'))
		  or diag("SQLSTATE '$state'");
	}
}

# The timeout inside a block that catches it: the transaction goes on too.
my $caught = $node->safe_psql('postgres', q{
	SET statement_timeout = '300ms';
	DO $$ BEGIN
	  PERFORM train_margin(y, x, margin_options(solver => 'momentum', tolerance => 0, max_iterations => 1000000000)) FROM coin;
	EXCEPTION WHEN query_canceled THEN PERFORM set_config('test.caught', SQLSTATE, false);
	END $$;
	SELECT current_setting('test.caught');});
is($caught, '57014', 'a block can catch the cancellation');

# SQL expression: milliseconds of CPU that the server's ended processes have used, in steps of 10: cutime and cstime in
# the postmaster's /proc/PID/stat, the 14th and 15th after the name in parentheses.
my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
sub fields_of { return "string_to_array(regexp_replace(pg_read_file('/proc/$_[0]/stat', 0, 1000), '^.*\\) ', ''), ' ')::text[]"; }
my $fields = fields_of($postmaster);
my $cpu_of_the_dead = "(SELECT 10 * (f[14]::numeric + f[15]::numeric) FROM (SELECT $fields AS f) AS s)";

# As until_idle(), for a session that does not come back: what it has used is known once the server has buried it.
sub until_gone
{
	my ($pid) = @_;
	my $cpu = cpu_of($pid);
	return qq{LOOP
		    EXIT WHEN $cpu IS NULL;
		    PERFORM pg_sleep(0.001);
		  END LOOP;
		  last := $cpu_of_the_dead - dead;
		  PERFORM set_config('test.took', (last - before)::text, false);};
}

# Signals from a second session, timed inside the server by the session that sends them.
sub signalled
{
	my ($signal) = @_;
	my $victim = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $victim->query_safe('SELECT pg_backend_pid()');
	$victim->query_until(qr/started/, "\\echo started\n" . training('momentum', 0) . "\n");
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $pid AND state = 'active' AND query LIKE '%train_margin%'");
	sleep(0.3 * $slow);    # past the reading of the rows, inside the solver
	my ($until_end, $cpu) = (until_idle($pid), cpu_of($pid));
	if ($signal eq 'pg_terminate_backend')
	{    # what is counted of the dead is that of all their threads
		$until_end = until_gone($pid);
		$cpu = "(SELECT 10 * (f[12]::numeric + f[13]::numeric) FROM (SELECT " . fields_of($pid) . " AS f) AS s)";
	}
	my $milliseconds = $node->safe_psql('postgres', qq{
		DO \$\$ DECLARE before numeric := $cpu; last numeric; dead numeric := $cpu_of_the_dead; BEGIN
		  PERFORM $signal($pid);
		  $until_end
		END \$\$;
		SELECT round(current_setting('test.took')::numeric, 1);});
	cmp_ok($milliseconds, '>', -20, '... and the end of the session is counted') if $signal eq 'pg_terminate_backend';
	return ($milliseconds, $victim, $pid);
}

sub best_signal
{
	my ($signal) = @_;
	my ($best, $victim, $pid);
	foreach my $attempt (1 .. 3)
	{
		my ($took, $session, $id) = signalled($signal);
		($best, $victim, $pid) = ($took, $session, $id) if !defined $best || $took < $best;
		last if $best <= 100;
	}
	return ($best, $victim, $pid);
}

my ($took, $victim) = best_signal('pg_cancel_backend');
cmp_ok($took, '<=', 100, "pg_cancel_backend ends a training within 100 ms ($took ms)");
is($victim->query("SELECT 'alive'"), 'alive', '... and its session goes on');
$victim->quit;

my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
($took) = best_signal('pg_terminate_backend');
cmp_ok($took, '<=', 100, "pg_terminate_backend ends a training within 100 ms ($took ms)");
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, '... and the server stays up');
unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC/, '... without a crash in its log');

# Progress under margin.log_level: an interval in every line, at most one line a second.
my ($out, $err) = ('', '');
$node->psql('postgres', q{
	SET margin.log_level = notice;
	SELECT (train_margin(y, x, margin_options(solver => 'momentum', tolerance => 0, max_iterations => 1000000000, max_seconds => 3.5))).rows
	  FROM coin;}, stdout => \$out, stderr => \$err);
my @lines = $err =~ /^.*NOTICE:.*momentum.*\[.*,.*\].*$/mg;
ok(@lines >= 2 && @lines <= 4, 'progress comes at most once a second (' . scalar(@lines) . ' lines in 3.5 s)') or diag($err);
($out, $err) = ('', '');
$node->psql('postgres', q{SELECT (train_margin(y, x, margin_options(solver => 'momentum', tolerance => 0, max_iterations => 1000000000,
	max_seconds => 1.5, log_level => 'off'))).rows FROM coin;}, stdout => \$out, stderr => \$err);
unlike($err, qr/NOTICE/, '... and not at all when it is off');

# max_seconds is the polite form: a model comes back, with the status that says so.
my $limited = $node->safe_psql('postgres', q{
	SET client_min_messages = error;
	SELECT (m).status, (m).seconds < 0.5, (m).weights IS NOT NULL FROM (SELECT train_margin(y, x, margin_options(
	  solver => 'momentum', tolerance => 0, max_iterations => 1000000000, max_seconds => 0.2)) AS m FROM coin) AS s;});
is($limited, 'time_limit|t|t', 'max_seconds returns a model with status time_limit');

$node->stop;
done_testing();

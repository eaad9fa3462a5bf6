# Memory: flat over ten thousand trainings and ten thousand errors, one group at a time under GROUP BY, refused beyond
# margin.memory_limit, and no wall at 1 GB.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = new_node('memory', 'jit = off', 'max_parallel_workers_per_gather = 0');
gaussian_table($node, 'small', 20, 3, 'x[1] + x[2] > 0');

# One session repeats each statement on its own and tells its resident memory after a tenth of them and at the end.
my @cases = (
	[ 10000, 'trainings', 'SELECT train_margin(y, x) FROM small' ],
	[ 3000, 'soft-margin trainings', 'SELECT train_margin(y, x, margin_options(lambda => 0.1)) FROM small' ],
	[ 3000, 'standardised trainings', 'SELECT train_margin(y, x, margin_options(lambda => 0.1, standardize => true)) FROM small' ],
	[ 10000, 'errors in training', "SELECT train_margin(y, CASE id WHEN 20 THEN '{NaN,1,1}' ELSE x END) FROM small" ],
	[ 3000, 'errors in options', 'SELECT margin_options(solver => $$momentum$$, tolerance => -1)' ]);
my $script = "SET client_min_messages = error;\nSELECT pg_backend_pid() AS pid \\gset\n\\setenv PID :pid\n";
foreach my $case (@cases)
{
	my ($times, undef, $statement) = @$case;
	foreach my $part ($times / 10, $times - $times / 10)
	{
		$script .= "\\o /dev/null\nSELECT \$statement\$$statement\$statement\$ FROM generate_series(1, $part) \\gexec\n\\o\n"
		  . "\\! grep VmRSS /proc/\$PID/status\n";
	}
}
my ($out, $err) = ('', '');
$node->psql('postgres', $script, stdout => \$out, stderr => \$err, on_error_stop => 0);
my @resident = $out =~ /^VmRSS:\s+(\d+) kB/mg;
my @errors = $err =~ /ERROR:  (feature 1 is NaN|option "tolerance" must be)/g;
is(scalar @errors, 13000, 'the statements that should fail did');
foreach my $case (@cases)
{
	my $before = shift @resident;
	my $growth = (shift @resident) - $before;
	cmp_ok($growth, '<=', 1024, "$case->[0] $case->[1] leave memory flat ($growth kB)");
}

my $session = $node->background_psql('postgres');
$session->query_safe('SET client_min_messages = error');    # models of ten rows may well be worse than a constant
my $pid = $session->query_safe('SELECT pg_backend_pid()');

# 1,000 groups of 100 rows of 20 features.
gaussian_table($node, 'grouped', 100000, 20, 'x[1] - x[2] + x[3] > 0');
$node->safe_psql('postgres', 'ALTER TABLE grouped ADD g int; UPDATE grouped SET g = id % 1000; VACUUM ANALYZE grouped');
my $by_group = 'SELECT g, train_margin(y, x, margin_options(tolerance => 1e-4)) AS model FROM grouped GROUP BY g';
my $plan = $node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $by_group");
like($plan, qr/GroupAggregate.*Sort/s, 'GROUP BY sorts, so that it holds one group at a time');
unlike($plan, qr/HashAggregate/, '... and does not hash');
my $before = resident($pid, 'VmHWM');
foreach my $case ([ 'hard', $by_group ], [ 'soft', $by_group =~ s/tolerance/lambda => 0.01, tolerance/r ])
{
	my ($kind, $statement) = @$case;
	my $best;
	foreach (1 .. 3)
	{
		my $start = cpu_seconds($pid);
		my $trained = $session->query_safe(
			"SELECT count(*), bool_and((model).status = 'optimal'), sum((model).rows) FROM ($statement) AS s");
		my $seconds = cpu_seconds($pid) - $start;
		$best = $seconds if !defined $best || $seconds < $best;
		is($trained, '1000|t|100000', "1,000 groups of 100 rows are trained, $kind margins") if $_ == 1;
	}
	cmp_ok($best, '<=', 1, sprintf('... to 1e-4 within a second of CPU time (%.2f s, the best of three)', $best));
}
my $growth = resident($pid, 'VmHWM') - $before;
cmp_ok($growth, '<=', 65536, "... in bounded memory ($growth kB more at the peak)");

# 100,000 groups of 10 rows: after 10,000 groups, whose sort fills work_mem as well, there is nothing left to grow.
my $many = q{SELECT count(*), bool_and((model).status = 'optimal') FROM (
	SELECT i / 10 AS g, train_margin(i % 2 = 0, ARRAY[i % 2 + hashint4(i) / 3e9, hashint4(-i) / 2e9, i % 7], '{"lambda": 0.1}') AS model
	  FROM generate_series(0, %d) AS i GROUP BY 1) AS s};
is($session->query_safe(sprintf $many, 99999), '10000|t', '10,000 groups of 10 rows are trained');
$before = resident($pid, 'VmHWM');
my $start = time;
is($session->query_safe(sprintf $many, 999999), '100000|t', '... and 100,000');
$growth = resident($pid, 'VmHWM') - $before;
cmp_ok($growth, '<=', 2048, sprintf('... in no more memory (%d kB at the peak, %.1f s)', $growth, time - $start));

# The memory limit.
my ($time, $state, $alive) = timed($node, "SET margin.memory_limit = '1MB';", 'SELECT train_margin(y, x) FROM grouped;');
is($state, '54000', 'margin.memory_limit refuses more rows');
$err = '';
$node->psql('postgres', "SET margin.memory_limit = '1MB'; SELECT train_margin(y, x) FROM grouped;", stderr => \$err);
like($err, qr/HINT:.*margin\.memory_limit/s, '... and says which setting to raise');
is($node->safe_psql('postgres', "SET margin.memory_limit = '64MB'; SELECT (train_margin(y, x)).rows FROM grouped"),
	'100000', '... which then suffices');

# More than 1 GB of rows: 150,000 rows of 1,000 doubles that no float holds, made on the fly. Row i is a constant
# vector, and one number separates the classes.
$start = time;
my $large = $session->query_safe(q{
	SELECT (m).rows, (m).dimensions, (m).status FROM (
	  SELECT train_margin(i > 25000, array_fill((i + 50000 * (i > 25000)::int) / 3.0::float8 + 0.1, ARRAY[1000]), margin_options(tolerance => 1e-3)) AS m
	    FROM generate_series(1, 150000) AS i) AS s});
is($large, '150000|1000|optimal', 'rows of 1.2 GB are trained on');
cmp_ok(resident($pid, 'VmHWM'), '>=', 1150000, '... all of them in memory');
my $seconds = sprintf('%.1f', time - $start);
cmp_ok($seconds, '<=', 60, "... within a minute ($seconds s)");

$session->quit;
$node->stop;
done_testing();

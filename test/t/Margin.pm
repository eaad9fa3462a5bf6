# What the TAP tests share: a cluster with the extension, generated tables, real data sets.
package Margin;

use strict;
use warnings;
use Exporter 'import';
use PostgreSQL::Test::BackgroundPsql;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(new_node gaussian_table timed load_set shared_sets resident cpu_seconds bits_of solvers until_idle cpu_of);

# new_node(NAME, SETTING...): a started cluster with the extension in database postgres.
sub new_node
{
	my ($name, @settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init;
	$node->append_conf('postgresql.conf', "$_\n") foreach ('fsync = off', @settings);
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION margin');
	return $node;
}

# gaussian_table(NODE, TABLE, ROWS, FEATURES, LABEL, TYPE): rows of standard normal values from a fixed seed; LABEL is
# an SQL expression of id and x, by default a fair coin, so that nothing separates the classes.
sub gaussian_table
{
	my ($node, $table, $rows, $features, $label, $type) = @_;
	$label //= 'random() < 0.5';
	$type //= 'real';
	$node->safe_psql('postgres', qq{
		SELECT setseed(0.25);
		CREATE TABLE $table AS
		  SELECT id, $label AS y, x FROM (
		    SELECT id, array_agg((sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))::$type ORDER BY j) AS x
		      FROM generate_series(1, $rows) AS id, generate_series(1, $features) AS j GROUP BY id) AS rows;
		ANALYZE $table;});
	return;
}

# timed(NODE, SETUP, STATEMENT): (milliseconds of the backend's CPU, SQLSTATE or '', what a later statement answers).
sub timed
{
	my ($node, $setup, $statement) = @_;
	my ($out, $err) = ('', '');
	my $cpu = q{SELECT 'cpu ' || split_part(pg_read_file('/proc/self/schedstat', 0, 100), ' ', 1);};
	$node->psql('postgres',
		"\\set VERBOSITY sqlstate\n$setup\n$cpu\n$statement\n$cpu\nSELECT 'the session goes on';\n",
		stdout => \$out, stderr => \$err, on_error_stop => 0);
	my @nanoseconds = $out =~ /^cpu (\d+)$/mg;
	my $milliseconds = sprintf '%.1f', ($nanoseconds[1] - $nanoseconds[0]) / 1e6;
	my ($state) = $err =~ /ERROR:\s+([0-9A-Z]{5})/;
	return ($milliseconds, $state // '', $out =~ /the session goes on/ ? 1 : 0);
}

# PL/pgSQL expression: milliseconds of CPU that a backend has used, NULL when it is gone. What other processes do on the
# machine does not count.
sub cpu_of
{
	my ($pid) = @_;
	return qq{split_part(pg_read_file('/proc/$pid/schedstat', 0, 100, true), ' ', 1)::numeric / 1e6};
}

# until_idle(PID): PL/pgSQL that waits for the end of what a session is doing, and leaves in test.took how many milliseconds
# of CPU that took since `before` (which cpu_of() told). A session that is gone counts up to the last look at it.
sub until_idle
{
	my ($pid) = @_;
	my $cpu = cpu_of($pid);
	return qq{last := before;
		  LOOP
		    PERFORM pg_stat_clear_snapshot();
		    last := coalesce($cpu, last);
		    EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $pid AND state = 'active');
		    PERFORM pg_sleep(0.001);
		  END LOOP;
		  last := coalesce($cpu, last);
		  PERFORM set_config('test.took', (last - before)::text, false);};
}

# The directory of the shared data sets, or '' where there is none.
sub shared_sets { return $ENV{MARGIN_SHARED} // ''; }

# The first releases of 16 leave the end of the line in what a session answers.
{
	no warnings 'redefine';
	my $query = \&PostgreSQL::Test::BackgroundPsql::query;
	*PostgreSQL::Test::BackgroundPsql::query = sub {
		my @answer = wantarray ? $query->(@_) : (scalar $query->(@_));
		$answer[0] =~ s/\n\z//;
		return wantarray ? @answer : $answer[0];
	};
}

# load_set(NODE, TABLE, SET, TYPE): a data set by its name in bench/datasets.py as (id, y, x real[] or double precision[]).
sub load_set
{
	my ($node, $table, $set, $type) = @_;
	$type //= 'real';
	my $element = $type eq 'real' ? 'real' : 'double precision';
	$node->safe_psql('postgres', "CREATE TABLE $table (id int, y int, x $element\[])");
	$node->safe_psql('postgres',
		"COPY $table FROM PROGRAM '/usr/bin/python3 $ENV{MARGIN_DATASETS} copy $set $type' (FORMAT binary)");
	$node->safe_psql('postgres', "VACUUM (ANALYZE) $table");
	return;
}

# Resident memory of a process in kB: VmRSS (now) or VmHWM (its peak).
sub resident
{
	my ($pid, $field) = @_;
	my ($kilobytes) = slurp_file("/proc/$pid/status") =~ /^\Q$field\E:\s+(\d+) kB/m;
	return $kilobytes;
}

# CPU seconds of a process so far; other load on the machine does not count.
sub cpu_seconds
{
	my ($pid) = @_;
	my ($nanoseconds) = slurp_file("/proc/$pid/schedstat") =~ /^(\d+)/;
	return $nanoseconds / 1e9;
}

# An SQL expression that shows every bit of a model that a training must repeat (all but the seconds).
sub bits_of
{
	my ($model) = @_;
	return "md5(concat_ws('|', ($model).status, ($model).solver, ($model).classes::text, ($model).weights::text, "
	  . "($model).intercept::text, ($model).primal::text, ($model).dual::text, ($model).iterations::text, ($model).rows::text, "
	  . "($model).support::text))";
}

# The names of all solvers of one kind: solvers(NODE, 'hard margin' or 'soft margin').
sub solvers
{
	my ($node, $problem) = @_;
	return split /\n/, $node->safe_psql('postgres', "SELECT name FROM margin_solvers() WHERE problem LIKE '%$problem%'");
}

1;

# demo/jobs: the twelve jobs of an analyst print what is written beside them, errors and all.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('jobs');
my $place = "$ENV{TESTDIR}/jobs";
my $out = PostgreSQL::Test::Utils::tempdir() . '/out';
my @jobs = sort glob "$place/[0-9]*.sql";
is(scalar(@jobs), 12, 'twelve jobs');
$node->safe_psql('postgres', 'CREATE DATABASE jobs');
my $tables = $node->connstr('jobs');
is(system("psql -X -q -v ON_ERROR_STOP=1 -d '$tables' < '$place/tables.sql' > '$out' 2>&1"), 0, 'their tables') or diag(slurp_file($out));
# Figures of a warning may differ with the compiler, the server's own advice with its version.
sub comparable
{
	my ($text) = @_;
	$text =~ s/^(HINT|DETAIL):  (No function|You might need).*\n//gm;
	return $text =~ s/^(WARNING:.*)$/my $w = $1; $w =~ s{-?[0-9][0-9.e+-]*}{#}g; $w/gemr;
}
foreach my $job (@jobs)
{
	my ($name) = $job =~ m{([^/]+)\.sql$};
	$node->safe_psql('postgres', "CREATE DATABASE job_$name TEMPLATE jobs");
	my $connection = $node->connstr("job_$name");
	# Not with -f: messages would have the path of the script.
	system("psql -X -q -a -d '$connection' < '$job' > '$out' 2>&1");
	is(comparable(slurp_file($out)), comparable(slurp_file($job =~ s/sql$/out/r)), $name);
}
$node->stop;
done_testing();

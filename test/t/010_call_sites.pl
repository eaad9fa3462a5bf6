# What a call site keeps from row to row: options that were made of a model, and decoded models. Times are the best of
# five in turns; when nothing was kept, the ratios were 14 and 13.
use strict;
use warnings;
use List::Util qw(min);
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('call_sites', 'max_parallel_workers_per_gather = 0', 'client_min_messages = error', 'jit = off');
gaussian_table($node, 'rows', 20000, 50, 'x[1] + x[2] + random() > 0.5');
$node->safe_psql('postgres', q{
	CREATE TABLE models AS SELECT k, train_margin(y, x, margin_options(lambda => k, loss => 'logistic')) AS m
	  FROM rows, unnest('{1e-4,1e-3}'::float8[]) AS k GROUP BY k;
	ANALYZE models;});

# best(STATEMENT, STATEMENT): the shortest time of each, in milliseconds.
sub best
{
	my @statements = @_;
	my @times = map { [] } @statements;
	foreach my $turn (1 .. 5)
	{
		foreach my $i (0 .. $#statements)
		{
			my ($took, $state) = timed($node, '', $statements[$i]);
			die "$statements[$i]: $state" if $state ne '';
			push @{ $times[$i] }, $took;
		}
	}
	return map { min(@$_) } @times;
}

my ($cold, $warm) = best(
	q{SELECT (train_margin(y, x, margin_options(lambda => 1e-4, loss => 'logistic'))).status FROM rows;},
	q{SELECT (train_margin(y, x, margin_options(lambda => 1e-4, loss => 'logistic', initial => m))).status FROM rows, models WHERE k = 1e-4;});
cmp_ok($warm, '<', $cold, sprintf('a warm start from a joined table takes no longer than a cold one (%.0f and %.0f ms)', $warm, $cold));

my ($one, $two) = best(
	q{SELECT sum(margin_probability(m, x)) FROM rows, models WHERE k = 1e-4;},
	q{SELECT sum(margin_probability(m, x)) FROM rows, models;});
cmp_ok($two, '<', 6 * $one, sprintf('twice the calls with two models in turns take little more than twice the time (%.0f and %.0f ms)', $one, $two));

is( $node->safe_psql('postgres', q{
	SELECT bool_and(p = q) FROM (SELECT k, avg(margin_probability(m, x)) AS p FROM rows, models GROUP BY k) AS both
	  JOIN (SELECT k, avg(margin_probability(m, x)) AS q FROM models, rows WHERE k = 1e-3 GROUP BY k
	        UNION ALL SELECT k, avg(margin_probability(m, x)) FROM models, rows WHERE k = 1e-4 GROUP BY k) AS each USING (k);}),
	't', 'the answers are those of each model alone');

done_testing();

# Whatever the plan: parallel or serial, hashed or sorted, grouped or alone, the same rows in the same order give the
# same bits; and what can run as a partial aggregate does.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('plans');
gaussian_table($node, 'rows', 20000, 8, 'x[1] + 0.5 * x[2] > 0.1');
$node->safe_psql('postgres', q{
	ALTER TABLE rows ADD g int;
	UPDATE rows SET g = id % 7;
	VACUUM ANALYZE rows;
	CREATE TABLE models AS SELECT 1 AS id, train_margin(y, x) AS model FROM rows;});

my $parallel = q{
	SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0;
	SET max_parallel_workers_per_gather = 2;
	SET parallel_leader_participation = off;};
my $serial = 'SET max_parallel_workers_per_gather = 0;';

sub explain_of { return $node->safe_psql('postgres', "$_[0] EXPLAIN (COSTS OFF) $_[1]"); }

# Training: the rows travel to the leader, the state never does.
foreach my $how ('', ", margin_options(lambda => 1e-3)", ", margin_options(solver => 'momentum', max_iterations => 50)")
{
	my $bits = bits_of('m');
	my $query = "SELECT $bits FROM (SELECT train_margin(y, x$how ORDER BY id) AS m FROM rows) AS s";
	my $name = $how eq '' ? 'hard margin' : $how =~ /lambda/ ? 'soft margin' : 'momentum';
	my $quiet = 'SET client_min_messages = error;';
	is($node->safe_psql('postgres', "$quiet $parallel $query"),
		$node->safe_psql('postgres', "$quiet $serial $query"), "$name: a parallel scan gives the same bits");
	is($node->safe_psql('postgres', "$quiet $serial $query"),
		$node->safe_psql('postgres', "$quiet $serial $query"), "$name: a repeated training gives the same bits");

	# Each group alone, and grouped under a sort and under a hash.
	my $alone = $node->safe_psql('postgres', "$quiet $serial " . join ' UNION ALL ',
		map { "SELECT $_, $bits FROM (SELECT train_margin(y, x$how ORDER BY id) AS m FROM rows WHERE g = $_) AS s" } 0 .. 6);
	my $grouped = "SELECT g, $bits FROM (SELECT g, train_margin(y, x$how ORDER BY id) AS m FROM rows GROUP BY g) AS s ORDER BY g";
	my %plans = (sort => 'SET enable_hashagg = off;', 'no sort' => 'SET enable_sort = off;', parallel => $parallel);
	foreach my $kind (sort keys %plans)
	{
		is($node->safe_psql('postgres', "$quiet $plans{$kind} $grouped"), $alone, "$name, $kind: grouped equals trained alone");
	}
}
my $unordered = 'SELECT train_margin(y, x) FROM rows';
like(explain_of($parallel, $unordered), qr/Aggregate.*Gather.*Parallel Seq Scan/s, 'train_margin reads from a parallel scan');
unlike(explain_of($parallel, $unordered), qr/Partial Aggregate/, '... but collects in the leader');

# A hash plan feeds each group in the order of the scan (a sort by g alone would not: it is not stable).
my $bits = bits_of('m');
my $hashed = "WITH s AS MATERIALIZED (SELECT g, train_margin(y, x) AS m FROM rows GROUP BY g) SELECT g, $bits FROM s ORDER BY g";
my $sorted = "SELECT g, $bits FROM (SELECT g, train_margin(y, x ORDER BY ctid) AS m FROM rows GROUP BY g) AS s ORDER BY g";
like(explain_of("$serial SET enable_sort = off;", $hashed), qr/HashAggregate/, 'a hash plan can be had');
is($node->safe_psql('postgres', "$serial SET enable_sort = off; $hashed"),
	$node->safe_psql('postgres', "$serial $sorted"), '... and gives the bits of a sorted one');

# The passes: O(d) state, partial aggregation.
foreach my $aggregate ('margin_verify', 'margin_evaluate')
{
	my $query = "SELECT $aggregate((SELECT model FROM models), y, x) FROM rows";
	like(explain_of($parallel, $query), qr/Finalize Aggregate.*Gather.*Partial Aggregate/s, "$aggregate runs as a partial aggregate");
	is($node->safe_psql('postgres', "$parallel $query"), $node->safe_psql('postgres', "$serial $query"),
		"... with the answer of a serial plan");
}

# Other places an aggregate can stand in.
is($node->safe_psql('postgres', "SELECT count(DISTINCT $bits) FROM (SELECT train_margin(y, x ORDER BY id) AS m FROM rows
	UNION ALL SELECT train_margin(y, x ORDER BY id) FILTER (WHERE id > 0) FROM rows
	UNION ALL (WITH t AS MATERIALIZED (SELECT * FROM rows) SELECT train_margin(y, x ORDER BY id) FROM t)
	UNION ALL (SELECT train_margin(y, x) OVER () FROM (SELECT * FROM rows ORDER BY id) AS t LIMIT 1)) AS s"),
	'1', 'FILTER, a CTE and a window give the same bits');
is($node->safe_psql('postgres', "PREPARE p(float8) AS SELECT $bits FROM (SELECT train_margin(y, x,
	margin_options(tolerance => \$1) ORDER BY id) AS m FROM rows) AS s; EXECUTE p(1e-3)"),
	$node->safe_psql('postgres', "SELECT $bits FROM (SELECT train_margin(y, x ORDER BY id) AS m FROM rows) AS s"),
	'a prepared statement gives the same bits');

$node->stop;
done_testing();

# Profiles over parallel workers and foreign servers, stored and in parts: the same counts and sums to the bit, and one state a shard.
use strict;
use warnings;
use Margin;
use Test::More;

my $node = new_node('profiles', 'client_min_messages = warning', 'jit = off', 'min_parallel_table_scan_size = 0', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0');
my ($host, $port) = ($node->host, $node->port);
my $columns = q{'["i", "v", "t"]', i, v, t};
$node->safe_psql('postgres', q{CREATE TABLE whole AS SELECT i % 2 AS site, i, (hashint4(i) * 1.0e298::float8) * CASE WHEN i % 3 = 0 THEN 1e-305 ELSE 1e-2 END AS v, 'name ' || i % 700 AS t
	FROM generate_series(1, 60000) AS i; ANALYZE whole});
foreach my $site (0, 1)
{
	$node->safe_psql('postgres', "CREATE DATABASE site_$site");
	$node->safe_psql("site_$site", qq{CREATE EXTENSION margin; CREATE TABLE part AS SELECT i % 2 AS site, i, (hashint4(i) * 1.0e298::float8) * CASE WHEN i % 3 = 0 THEN 1e-305 ELSE 1e-2 END AS v, 'name ' || i % 700 AS t
		FROM generate_series(1, 60000) AS i WHERE i % 2 = $site; ANALYZE part});
}
$node->safe_psql('postgres', 'CREATE EXTENSION postgres_fdw; CREATE TABLE apart (site int, i int, v float8, t text) PARTITION BY LIST (site)');
$node->safe_psql('postgres', qq{
	CREATE SERVER site_$_ FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'site_$_', extensions 'margin', async_capable 'true');
	CREATE USER MAPPING FOR CURRENT_USER SERVER site_$_;
	CREATE FOREIGN TABLE apart_$_ PARTITION OF apart FOR VALUES IN ($_) SERVER site_$_ OPTIONS (table_name 'part');
	ANALYZE apart_$_;}) foreach (0, 1);

# What has the same bits whatever the order and the parts, and what is within a bound.
my $exact = q{SELECT string_agg(concat_ws(' ', name, count, nulls, mean, stddev, min, max, distinct_values, CASE WHEN count_error = 0 THEN top_values::text END), E'\n'), bool_and(coalesce(rank_error, 0) <= 0.01)
	FROM margin_profile_columns((%s))};
my $expected = $node->safe_psql('postgres', sprintf("SET max_parallel_workers_per_gather = 0; $exact", "SELECT margin_sum(margin_profile($columns) ORDER BY i) FROM whole"));
like($expected, qr/\|t\z/, 'ranks are within 1 %');
like($expected, qr/^v 60000 0 \S+e\+\d+ \S+e\+\d+ /m, 'large numbers') or diag($expected);

my $parallel = 'SET max_parallel_workers_per_gather = 4';
like($node->safe_psql('postgres', "$parallel; EXPLAIN SELECT margin_sum(margin_profile($columns)) FROM whole"), qr/Finalize Aggregate\s.*Gather.*Partial Aggregate/s, 'workers sum up their own rows');
is($node->safe_psql('postgres', "$parallel; " . sprintf($exact, "SELECT margin_sum(margin_profile($columns)) FROM whole")), $expected, '... to the same bits');
is($node->safe_psql('postgres', sprintf($exact, "SELECT margin_sum(margin_profile(w)) FROM (SELECT t, v, i FROM whole ORDER BY v) AS w")), $expected, 'so do rows in another order');
is($node->safe_psql('postgres', sprintf($exact, "SELECT margin_sum(p) FROM (SELECT margin_sum(margin_profile($columns)) AS p FROM whole GROUP BY i % 97) AS parts")), $expected, '... and parts');

my $by_site = "SELECT site, margin_sum(margin_profile($columns)) AS p FROM apart GROUP BY site";
my $here = 'SET enable_partitionwise_aggregate = on';
my $plan = $node->safe_psql('postgres', "$here; EXPLAIN (VERBOSE, COSTS OFF) SELECT margin_sum(p) FROM ($by_site) AS s");
is(scalar(() = $plan =~ /Async Foreign Scan\s+Output: [^\n]*\s+Relations: Aggregate on/g), 2, 'every server sums up its own rows, at the same time') or diag($plan);
is(scalar(() = $plan =~ /Remote SQL: SELECT site, public\.margin_sum\(public\.margin_profile\([^\n]* GROUP BY 1/g), 2, '... and sends one state') or diag($plan);
is($node->safe_psql('postgres', "$here; " . sprintf($exact, "SELECT margin_sum(p) FROM ($by_site) AS s")), $expected, '... to the same bits');
# Without a column of text there is nothing that gives the call a collation but its names.
$plan = $node->safe_psql('postgres', qq{$here; EXPLAIN (VERBOSE, COSTS OFF) SELECT site, margin_sum(margin_profile('["i", "v"]', i, v)) FROM apart GROUP BY site});
is(scalar(() = $plan =~ /Remote SQL: SELECT site, public\.margin_sum\(/g), 2, 'numbers alone go there, too') or diag($plan);
$node->safe_psql('site_1', 'TRUNCATE part');
is($node->safe_psql('postgres', "$here; SELECT max(count) FROM margin_profile_columns((SELECT margin_sum(p) FROM ($by_site) AS s))"), '30000', 'a shard without rows');

# Through a dump and the binary format: the same value.
$node->safe_psql('postgres', "CREATE TABLE kept AS SELECT margin_sum(margin_profile($columns) ORDER BY i) AS p FROM whole; CREATE TABLE again (p margin_profile)");
my $file = $node->data_dir . '/profile.copy';
$node->safe_psql('postgres', "COPY kept TO '$file' (FORMAT binary); COPY again FROM '$file' (FORMAT binary)");
is($node->safe_psql('postgres', 'SELECT kept.p::text = again.p::text FROM kept, again'), 't', 'binary there and back');

# A cancel in the middle of one wide row, and of many profiles.
foreach my $statement (q{SELECT margin_sum(margin_profile('["x"]', x)) FROM (SELECT array_agg(i::float8) AS x FROM generate_series(1, 500000) AS i) AS r, generate_series(1, 1000)},
	'SELECT margin_sum(p) FROM kept, generate_series(1, 1000000)', "SELECT margin_sum(margin_profile($columns)) FROM whole, generate_series(1, 1000)")
{
	my ($code, $out, $err) = $node->psql('postgres', "SET statement_timeout = 400; $statement");
	like($err, qr/canceling statement due to statement timeout/, "cancelled: $statement");
}
$node->stop;
done_testing();

# Profiles over parallel workers and foreign servers, stored and in parts: the same counts and sums to the bit, and one state a shard.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
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

# Training on rows with named columns whose parts are on these servers: each sends one profile and then one state a scan, and no row.
my $people = q{SELECT i % 2 AS site, i, 18 + i * 7 % 60 AS age, (ARRAY['basic', 'gold', 'free'])[1 + i % 3] AS plan, date '2024-01-01' + i % 300 AS since,
	CASE WHEN i % 5 > 0 THEN (i % 9)::numeric / 4 END AS calls, ARRAY[i % 4, i % 7]::real[] AS x, NULLIF(hashint4(i) % 100 + i * 7 % 60 > 40, i % 50 = 1) AS y FROM generate_series(1, 50000) AS i};
$node->safe_psql('postgres', "CREATE TABLE people AS $people; CREATE TABLE shards (LIKE people) PARTITION BY LIST (site)");
foreach my $site (0, 1)
{
	$node->safe_psql("site_$site", "CREATE TABLE people AS SELECT * FROM ($people) AS p WHERE site = $site; ANALYZE people; ALTER DATABASE site_$site SET log_statement = 'all'");
	$node->safe_psql('postgres', "CREATE FOREIGN TABLE shards_$site PARTITION OF shards FOR VALUES IN ($site) SERVER site_$site OPTIONS (table_name 'people')");
}
$node->safe_psql('postgres', q{
	CREATE FUNCTION near(a jsonb, b jsonb) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
	  RETURN CASE jsonb_typeof(a) WHEN 'number' THEN jsonb_typeof(b) = 'number' AND abs(a::float8 - b::float8) <= 1e-12 * (1 + abs(b::float8))
	    WHEN 'array' THEN jsonb_array_length(a) = jsonb_array_length(b) AND (SELECT coalesce(bool_and(near(x, y)), true) FROM ROWS FROM (jsonb_array_elements(a), jsonb_array_elements(b)) AS t(x, y))
	    WHEN 'object' THEN (SELECT coalesce(bool_and(coalesce(near(x.value, y.value), false)), true) FROM jsonb_each(a) AS x FULL JOIN jsonb_each(b) AS y USING (key)) ELSE a = b END; END $$});
foreach my $case ([ 'classes', '', 'y AS label' ], [ 'rows that are skipped', ", missing => 'skip'", 'y AS label' ], [ 'a regression', ", loss => 'squared'", 'age AS label' ],
	[ 'bins', ', bins => 8', 'y AS label' ], [ 'columns by name', q{, include => '{age, plan, calls}'}, 'y AS label' ])
{
	my ($name, $options, $label) = @$case;
	$options = q{margin_options(lambda => 1e-2} . ($options =~ /loss/ ? '' : q{, loss => 'logistic'}) . ($options =~ /include/ ? '' : q{, exclude => '{site, i, y, age}'}) . "$options, sample_rows => 1000, tolerance => 1e-4";
	my $offset = -s $node->logfile;
	my $found = $node->safe_psql('postgres', qq{CREATE TABLE found AS SELECT train_margin_from('SELECT $label, s AS features, site FROM shards AS s', $options, shard => 'site')) AS m;
		SELECT near((f.m).encoder, (l.m).encoder), abs((f.m).primal - (l.m).primal) <= 2e-4 * (l.m).primal, (f.m).rows = (l.m).rows FROM found AS f,
		(SELECT train_margin_from('SELECT $label, s AS features FROM people AS s', $options)) AS m OFFSET 0) AS l; DROP TABLE found});
	is($found, 't|t|t', "$name: the model of the rows at hand");
	my @asked = slurp_file($node->logfile, $offset) =~ /DECLARE c\d+ CURSOR FOR\s+([^\n]*)/g;
	cmp_ok(scalar(grep { /^SELECT (?:site, )?public\.margin_sum\(public\.margin_profile\(/ } @asked), '==', 2, '... of one profile a server') or diag("@asked[0 .. 3]");
	cmp_ok(scalar(grep { /^SELECT (?:site, )?public\.margin_sum\(public\.margin_term\(/ } @asked), '>=', 4, '... and states');
	is(scalar(grep { !/margin_sum/ } @asked), 0, '... and no rows') or diag(grep { !/margin_sum/ } @asked);
}
my $scan = $node->safe_psql('postgres', q{SELECT margin_scan_query('SELECT y AS label, s AS features, site FROM shards AS s', margin_options(lambda => 1, exclude => '{site, y}', shard => 'site'))});
$plan = $node->safe_psql('postgres', "$here; EXPLAIN (VERBOSE, COSTS OFF) $scan");
is(scalar(() = $plan =~ /Remote SQL: SELECT public\.margin_sum\(public\.margin_profile\([^\n]* GROUP BY/g), 2, 'the statement to look at is sent as well') or diag($plan);
is($node->safe_psql('postgres', q{SELECT (train_margin_from('SELECT y AS label, s AS features, i % 2 + 1.5 AS weight, site FROM shards AS s', margin_options(lambda => 1e-2, loss => 'logistic', exclude => '{site, i, y}', shard => 'site'))).rows}),
	$node->safe_psql('postgres', 'SELECT count(y) FROM people'), 'weights have the rows fetched once');

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

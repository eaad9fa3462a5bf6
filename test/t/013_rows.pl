# Rows with named columns: for random schemas and rows, the score is that of an encoding in plain SQL; dump and restore;
# ten thousand categories, 1,600 columns, memory.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('rows', 'max_parallel_workers_per_gather = 0', 'client_min_messages = error');
srand 20;
sub pick { return $_[int rand @_]; }

# What a column of each type is filled with, and how plain SQL makes numbers of it.
my %types = (
	integer => ['(random() * 100)::int', '%s'], bigint => ['(random() * 1e6)::bigint', '%s'], real => ['random()::real', '%s::float8'],
	'double precision' => ['random() * 1e3 - 500', '%s'], numeric => ['round((random() * 50)::numeric, 3)', '%s::float8'],
	date => [q{date '2020-01-01' + (random() * 999)::int}, 'extract(epoch FROM %s)::float8 / 86400'],
	timestamptz => [q{timestamptz '2021-06-01 12:00+00' + random() * interval '90 days'}, 'extract(epoch FROM %s)::float8 / 86400'],
	interval => [q{random() * interval '30 days'}, 'extract(epoch FROM %s)::float8 / 86400'],
	boolean => ['random() < 0.4', '%s::int::float8'], text => [q{(ARRAY['a', 'b', '', 'it''s, "so"', 'ä🙂'])[1 + (random() * 4.99)::int]}, undef],
	uuid => [q{md5((random() * 3)::int::text)::uuid}, undef]);

$node->safe_psql('postgres', q{
	CREATE FUNCTION near(a jsonb, b jsonb) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
	  RETURN CASE jsonb_typeof(a) WHEN 'number' THEN jsonb_typeof(b) = 'number' AND abs(a::float8 - b::float8) <= 1e-12 * (1 + abs(b::float8))
	    WHEN 'array' THEN jsonb_array_length(a) = jsonb_array_length(b) AND (SELECT coalesce(bool_and(near(x, y)), true) FROM ROWS FROM (jsonb_array_elements(a), jsonb_array_elements(b)) AS t(x, y))
	    WHEN 'object' THEN (SELECT coalesce(bool_and(coalesce(near(x.value, y.value), false)), true) FROM jsonb_each(a) AS x FULL JOIN jsonb_each(b) AS y USING (key)) ELSE a = b END; END $$});
foreach my $round (1 .. 12)
{
	my @columns = map { my $type = pick(sort keys %types); ["c_" . pick('x', 'B', 'é', 'a b', '"') . "_$_", $type, rand() < 0.4] } 1 .. 1 + int rand 12;
	my $quoted = sub { my $name = shift; $name =~ s/"/""/g; return "\"$name\"" };
	my $standardize = rand() < 0.8;
	my $select = join ', ', map { ($_->[2] ? "CASE WHEN random() < 0.1 THEN NULL ELSE $types{$_->[1]}[0] END" : $types{$_->[1]}[0]) . ' AS ' . $quoted->($_->[0]) } @columns;
	$node->safe_psql('postgres', qq{DROP TABLE IF EXISTS t, model; SELECT setseed(0.$round);
		CREATE TABLE t AS SELECT i AS id, random() < 0.5 AS y, $select FROM generate_series(1, 300) AS i;
		CREATE TABLE model AS SELECT train_margin(y, t, margin_options(exclude => '{id, y}', lambda => 0.01, loss => 'squared_hinge', standardize => } . ($standardize ? 'true' : 'false') . q{)) AS m FROM t;});
	# The features in the order of the columns' names, by bytes.
	my (@features, @with);
	foreach my $c (sort { $a->[0] cmp $b->[0] } @columns)
	{
		my $name = $quoted->($c->[0]);
		my $nulls = $node->safe_psql('postgres', "SELECT count(*) - count($name) FROM t");
		if (defined $types{$c->[1]}[1])
		{
			my $number = sprintf $types{$c->[1]}[1], $name;
			my $mean = "(SELECT avg($number) FROM t)";
			my $scale = $standardize && $c->[1] ne 'boolean' ? "(SELECT coalesce(nullif(stddev_pop(coalesce($number, $mean)), 0), 1) FROM t)" : '1';
			push @features, '(' . "coalesce($number, $mean)" . ($scale eq '1' ? '' : " - $mean") . ") / $scale";
		}
		else
		{
			my @values = split /\n/, $node->safe_psql('postgres', qq{SELECT DISTINCT quote_literal($name) FROM t WHERE $name IS NOT NULL});
			my %text = map { $_ => $node->safe_psql('postgres', "SELECT encode(convert_to($_, 'UTF8'), 'hex')") } @values;
			push @features, map { "CASE WHEN $name\::text = $_ THEN 1 ELSE 0 END" } sort { $text{$a} cmp $text{$b} } @values;
		}
		push @features, "CASE WHEN $name IS NULL THEN 1 ELSE 0 END" if $nulls > 0;
	}
	my $score = '(m).intercept[1]' . join '', map { " + (m).weights[$_] * ($features[$_ - 1])" } 1 .. @features;
	is($node->safe_psql('postgres', "SELECT (m).dimensions FROM model"), scalar @features, "schema $round: " . @features . ' features of ' . @columns . ' columns');
	is($node->safe_psql('postgres', "SELECT coalesce(max(abs(margin_score(m, t) - ($score))), 1) < 1e-9 FROM t, model"), 't', "schema $round: the score is that of plain SQL");
	is($node->safe_psql('postgres', "SELECT abs((margin_verify(m, y, t)).primal - (m).primal) <= 1e-12 * (m).primal FROM t, model GROUP BY m"), 't', "schema $round: verified");
	is($node->safe_psql('postgres', "SELECT near(margin_encoder(margin_sum(margin_profile(t)), margin_options(exclude => '{id}', standardize => " . ($standardize ? 'true' : 'false') . "), 'y'), (SELECT (m).encoder FROM model)) FROM t"), 't', "schema $round: a profile has this encoder");
	is($node->safe_psql('postgres', "SELECT near((train_margin_from('SELECT y AS label, t AS features FROM t', margin_options(exclude => '{id, y}', lambda => 0.01, loss => 'squared_hinge', standardize => " . ($standardize ? 'true' : 'false') . "))).encoder, (m).encoder) FROM model"), 't', "schema $round: so has a training by scans");
}

# A dump holds the encoder, bit by bit.
my $dump = $node->basedir . '/model.sql';
$node->command_ok(['pg_dump', '-f', $dump, '-t', 'model', '-t', 't', $node->connstr('postgres')], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION margin');
$node->command_ok(['psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('other'), '-f', $dump], 'restored');
is($node->safe_psql('other', 'SELECT md5(string_agg(margin_score(m, t)::text, \',\' ORDER BY id)) FROM t, model'),
	$node->safe_psql('postgres', 'SELECT md5(string_agg(margin_score(m, t)::text, \',\' ORDER BY id)) FROM t, model'), 'a restored model has the same scores');

# Many categories, many columns.
is($node->safe_psql('postgres', q{SELECT (m).dimensions, (m).status FROM (SELECT train_margin(i % 3 = 0, r, margin_options(lambda => 0.01, max_categories => 10000)) AS m
	FROM (SELECT i, 'category ' || i % 10000 AS c FROM generate_series(1, 30000) AS i) AS s, LATERAL (SELECT c) AS r) AS t}), '10000|optimal', 'ten thousand categories');
my ($code, $out, $err) = $node->psql('postgres', q{SELECT train_margin(i % 3 = 0, r, '{"lambda": 1}') FROM (SELECT i, i::text AS name FROM generate_series(1, 3000) AS i) AS s, LATERAL (SELECT name) AS r});
like($err, qr/column "name" has more than 1000 categories/, 'a name is no category');
my $wide = join ', ', map { "c$_ real" } 1 .. 1598;
$node->safe_psql('postgres', "CREATE TABLE wide (id int, y boolean, $wide)");
$node->safe_psql('postgres', 'INSERT INTO wide SELECT i, i % 2 = 0, ' . join(', ', map { "CASE WHEN i % 7 = " . ($_ % 9) . " THEN NULL ELSE sin(i * $_) END" } 1 .. 1598) . ' FROM generate_series(1, 100) AS i');
is($node->safe_psql('postgres', q{SELECT (m).rows, (m).dimensions > 1598, margin_score(m, w) IS NOT NULL FROM (SELECT train_margin(y, w, margin_options(lambda => 1, exclude => '{id, y}')) AS m FROM wide AS w) AS t, wide AS w WHERE id = 7}),
	'100|t|t', '1,600 columns');

# The cells count against margin.memory_limit, and go to a file past a share of it.
$node->safe_psql('postgres', 'CREATE TABLE many AS SELECT i % 2 = 0 AS y, random() AS a, random() AS b, random() AS c, i % 7 AS d FROM generate_series(1, 60000) AS i');
is($node->safe_psql('postgres', q{SET margin.memory_limit = '12MB'; SELECT (train_margin(y, t, margin_options(lambda => 0.1, exclude => '{y}', loss => 'squared_hinge', solver => 'newton'))).rows FROM many AS t}), '60000', 'rows in a file');
($code, $out, $err) = $node->psql('postgres', q{SET margin.memory_limit = '1MB'; SELECT train_margin(y, t, margin_options(lambda => 0.1, exclude => '{y}')) FROM many AS t});
like($err, qr/margin\.memory_limit/, 'too little memory is told');

done_testing();

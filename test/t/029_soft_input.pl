# Soft errors of the input functions (from PostgreSQL 16 on): pg_input_is_valid, COPY ... (ON_ERROR ignore), and what stays an error.
use strict;
use warnings;
use Margin;
use Test::More;

my $node = new_node('soft_input');
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
plan skip_all => 'soft errors came with PostgreSQL 16' if $version < 160000;

$node->safe_psql('postgres', q{
	SET client_min_messages = error;
	CREATE TABLE points AS SELECT i > 5 AS y, ARRAY[i, i % 3]::real[] AS x FROM generate_series(1, 10) AS i;
	CREATE TABLE samples AS
	WITH q AS (SELECT margin_question('{"lambda": 0.1}'::jsonb) AS q),
	     terms AS (SELECT q, margin_term(q, y, x) AS t FROM q, points)
	SELECT (SELECT '{1:1,3:2.5}/4'::margin_sparse)::text AS margin_sparse, (SELECT q::text FROM q) AS margin_question,
	       (SELECT t::text FROM terms LIMIT 1) AS margin_term, (SELECT margin_sum(t)::text FROM terms) AS margin_state,
	       (SELECT margin_sum(margin_profile(p))::text FROM points AS p) AS margin_profile;});

foreach my $type (qw(margin_sparse margin_question margin_term margin_state margin_profile))
{
	my $good = $node->safe_psql('postgres', "SELECT $type FROM samples");
	is($node->safe_psql('postgres', "SELECT pg_input_is_valid('$good', '$type')"), 't', "$type: its own text is valid");
	my @bad = ('x', substr($good, 0, length($good) - 3), $good . '}', scalar reverse $good);
	foreach my $text (@bad)
	{
		my $shown = length $text > 20 ? substr($text, 0, 20) . '...' : $text;
		my ($code, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT '$text'::$type", on_error_stop => 0);
		my ($state, $message) = $err =~ /ERROR:  (\w{5}): (.*)/;
		$node->safe_psql('postgres', 'SELECT 1');
		is($node->safe_psql('postgres', "SELECT pg_input_is_valid('$text', '$type')"), 'f', "$type: '$shown' is not");
		# The message of the soft error is that of the hard one, with its SQLSTATE.
		is($node->safe_psql('postgres', "SELECT sql_error_code || ' ' || message FROM pg_input_error_info('$text', '$type')"),
			($state // '') . ' ' . ($message // ''), "... for the reason that the cast gives: " . ($message // 'none'));
	}
	next if $version < 170000;
	$node->safe_psql('postgres', "CREATE TABLE of_$type (id int, v $type)");
	my $lines = join "\n", (map { "$_\t$good" } 1 .. 3), (map { 10 + $_ . "\t$bad[$_]" } 0 .. $#bad), "99\t$good";
	$lines =~ s/\\/\\\\/g; # COPY reads backslashes
	my ($code, $out, $err) = $node->psql('postgres', "COPY of_$type FROM STDIN (ON_ERROR ignore);\n$lines\n\\.\n");
	is($code, 0, "$type: COPY ... (ON_ERROR ignore) ends well: $err");
	is($node->safe_psql('postgres', "SELECT string_agg(id::text, ',' ORDER BY id), bool_and(v::text = '$good') FROM of_$type"),
		'1,2,3,99|t', '... and keeps the rows that are valid');
	next if $version < 190000;
	$node->safe_psql('postgres', "TRUNCATE of_$type");
	($code, $out, $err) = $node->psql('postgres', "COPY of_$type FROM STDIN (ON_ERROR set_null);\n$lines\n\\.\n");
	is($code, 0, "$type: COPY ... (ON_ERROR set_null) ends well: $err");
	is($node->safe_psql('postgres', "SELECT count(*), count(v) FROM of_$type"), '8|4', '... and has NULL for those that are not');
}

# Thousands of them in one statement leave nothing behind, and the session goes on.
is($node->safe_psql('postgres', q{SELECT count(*) FILTER (WHERE pg_input_is_valid(i || ':x', 'margin_sparse')) FROM generate_series(1, 20000) AS i; SELECT '{1:1}/1'::margin_sparse}),
	"0\n{1:1}/1", '20,000 invalid texts, then a valid one');
# A limit is no matter of the text: it stays an error.
my ($code, $out, $err) = $node->psql('postgres', q{SET statement_timeout = '20ms'; SELECT pg_input_is_valid('{' || string_agg(i || ':1', ',') || '}/9000000', 'margin_sparse') FROM generate_series(1, 8000000) AS i});
like($err, qr/statement timeout/, 'a timeout ends the statement');
done_testing();

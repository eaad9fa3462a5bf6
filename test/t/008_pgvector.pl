# pgvector's types as features. Where pgvector is installed, through its own input functions; everywhere, through
# stand-ins: types of the same names in an extension of the same name, whose bytes are written by hand.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('pgvector', 'client_min_messages = error');
$node->safe_psql('postgres', q{CREATE TABLE model AS
	SELECT train_margin(y, x) AS m FROM (VALUES (false, '{1,2,0}'::real[]), (true, '{3,5,0.5}')) AS v (y, x);});

if ($node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'}) > 0)
{
	$node->safe_psql('postgres', 'CREATE DATABASE genuine');
	is($node->safe_psql('genuine', q{
		CREATE EXTENSION vector; CREATE EXTENSION margin;
		CREATE TABLE points AS SELECT y, x, x::real[]::vector AS v FROM (VALUES (false, '{1,2,0}'::real[]), (true, '{3,5,0.5}')) AS p (y, x);
		SELECT (train_margin(y, x)).weights = (train_margin(y, v)).weights, (train_margin(y, x)).weights = (train_margin(y, v::halfvec)).weights,
		  (train_margin(y, x)).weights = (train_margin(y, v::sparsevec)).weights FROM points;}),
		't|t|t', 'vector, halfvec and sparsevec of the installed pgvector train the model of real[]');
}
else
{
	diag('pgvector is not installed here: its own input functions were not run, only stand-ins with its layout');
}

# Stand-ins: bytea's own functions make values of any bytes behind the length.
$node->safe_psql('postgres', q{
	INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
	  VALUES (70001, 'vector', 10, 'public'::regnamespace, true, '0.0');} . join '', map { qq{
	CREATE TYPE $_;
	CREATE FUNCTION ${_}_in(cstring) RETURNS $_ LANGUAGE internal IMMUTABLE STRICT AS 'byteain';
	CREATE FUNCTION ${_}_out($_) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'byteaout';
	CREATE TYPE $_ (INPUT = ${_}_in, OUTPUT = ${_}_out, INTERNALLENGTH = VARIABLE, STORAGE = external);} }
	  qw(vector halfvec sparsevec));

# The bytes of {3,5,0.5} in each, on a machine whose low byte comes first.
my %bytes = (
	vector => '0300' . '0000' . '00004040' . '0000a040' . '0000003f',
	halfvec => '0300' . '0000' . '0042' . '0045' . '0038',
	sparsevec => '03000000' . '03000000' . '00000000' . '00000000' . '01000000' . '02000000' . '00004040' . '0000a040' . '0000003f');
foreach my $type (sort keys %bytes)
{
	my ($code, $out, $err) = $node->psql('postgres', "SELECT margin_score(m, '\\x$bytes{$type}'::$type) FROM model");
	like($err, qr/features cannot be of type $type/, "a type named $type that is not pgvector's is refused");
}
$node->safe_psql('postgres', "ALTER EXTENSION vector ADD TYPE $_") foreach (sort keys %bytes);
foreach my $type (sort keys %bytes)
{
	is($node->safe_psql('postgres', qq{
		SELECT margin_score(m, '\\x$bytes{$type}'::$type) = margin_score(m, '{3,5,0.5}'::real[]) AND margin_predict(m, '\\x$bytes{$type}'::$type) = 'true',
		  (margin_evaluate(m, true, '\\x$bytes{$type}'::$type)).accuracy, (margin_verify(m, true, '\\x$bytes{$type}'::$type)).errors
		  FROM model GROUP BY m}), 't|1|0', "$type: scored, evaluated and verified as real[]");
	my $other = $type eq 'vector' ? '0300' . '0000' . '0000803f' . '00000040' . '00000000'
	  : $type eq 'halfvec' ? '0300' . '0000' . '003c' . '0040' . '0000'
	  : '03000000' . '02000000' . '00000000' . '00000000' . '01000000' . '0000803f' . '00000040';
	is($node->safe_psql('postgres', qq{
		CREATE TEMP TABLE stored (y boolean, x $type);
		INSERT INTO stored VALUES (false, '\\x$other'), (true, '\\x$bytes{$type}');
		SELECT (train_margin(y, x)).weights = (SELECT (m).weights FROM model) FROM stored}), 't', "$type: trained on as real[], from a table");
	foreach my $wrong ('', '03', substr($bytes{$type}, 0, -2), $bytes{$type} . '00', ($type eq 'sparsevec' ? 'ffffffff' : 'ffff0000') . substr($bytes{$type}, 8))
	{
		my ($code, $out, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate\nSELECT margin_score(m, '\\x$wrong'::$type) FROM model");
		like($err, qr/22P03/, "$type: the bytes \"$wrong\" are refused");
	}
}
my ($code, $out, $err) = $node->psql('postgres', "SELECT margin_score(m, '\\x03000000010000000000000003000000" . "0000803f'::sparsevec) FROM model");
like($err, qr/malformed sparsevec: entry 1 has the index 3/, 'sparsevec: an index beyond its dimensions is refused');

$node->stop;
done_testing();

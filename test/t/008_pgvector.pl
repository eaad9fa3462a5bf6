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
	# Both extensions in schemas of their own, neither on the search_path.
	$node->safe_psql('postgres', 'CREATE DATABASE genuine');
	$node->safe_psql('genuine', q{CREATE SCHEMA vecs; CREATE SCHEMA learning; CREATE EXTENSION vector SCHEMA vecs; CREATE EXTENSION margin SCHEMA learning;
		SELECT setseed(0.5);
		CREATE TABLE points AS SELECT id, y, (id % 3)::text AS class, x, x::vecs.vector(20) AS v FROM (
		  SELECT id, id % 2 = 0 AS y, array_agg(CASE WHEN j % 3 = 0 THEN 0 ELSE random() + (id % 2) * (j % 2) + id % 3 * (j % 5) END::real ORDER BY j) AS x
		    FROM generate_series(1, 120) AS id, generate_series(1, 20) AS j GROUP BY id) AS rows;
		ALTER TABLE points ALTER v TYPE vecs.vector(20);});
	note 'pgvector ' . $node->safe_psql('genuine', q{SELECT extversion FROM pg_extension WHERE extname = 'vector'});
	my @types = ([ 'vector', 'v', 'x' ]);
	if ($node->safe_psql('genuine', q{SELECT to_regtype('vecs.sparsevec') IS NOT NULL}) eq 't')
	{
		$node->safe_psql('genuine', q{ALTER TABLE points ADD h vecs.halfvec(20), ADD hx real[], ADD s vecs.sparsevec(20), ADD sx learning.margin_sparse;
			UPDATE points SET h = v::vecs.halfvec(20), s = v::vecs.sparsevec(20), sx = x::learning.margin_sparse;
			UPDATE points SET hx = h::real[];});
		push @types, [ 'halfvec', 'h', 'hx' ], [ 'sparsevec', 's', 'sx' ];
	}
	my %problems = (
		'hard' => [ 'y', '{}' ],
		'hard, 3 classes' => [ 'class', '{"max_iterations": 50}' ],
		'hinge, standardized' => [ 'y', '{"lambda": 0.01, "standardize": true}' ],
		'logistic, 3 classes, calibrated' => [ 'class', '{"lambda": 0.1, "loss": "logistic", "calibration": "platt"}' ],
		'l1' => [ 'y', '{"norm": 1, "max_iterations": 50}' ],
		'rbf' => [ 'y', '{"lambda": 0.1, "kernel": "rbf", "gamma": 0.1}' ],
		'ridge' => [ 'id', '{"lambda": 0.1, "loss": "squared"}' ]);
	foreach my $type (@types)
	{
		my ($name, $column, $same) = @$type;
		my @differ = grep {
			my ($label, $options) = @{ $problems{$_} };
			my $model = q{md5((to_jsonb(learning.train_margin(} . "$label, %s, '$options'::jsonb" . q{ ORDER BY id)) - 'seconds')::text)};
			$node->safe_psql('genuine', sprintf("SELECT $model = $model FROM points", $column, $same)) ne 't'
		} sort keys %problems;
		is("@differ", '', "$name($name of 20 dimensions, in a schema of its own): the models are those of the same numbers in "
			. ($name eq 'sparsevec' ? 'margin_sparse' : 'real[]') . ', to the bit');
		is($node->safe_psql('genuine', qq{CREATE TABLE model_$column AS SELECT learning.train_margin(y, $column, '{"lambda": 0.01}'::jsonb ORDER BY id) AS m FROM points;
			SELECT bool_and(learning.margin_score(m, $column) = learning.margin_score(m, $same)), (learning.margin_evaluate(m, y, $column)) = (learning.margin_evaluate(m, y, $same)),
			  (learning.margin_verify(m, y, $column)) = (learning.margin_verify(m, y, $same)) FROM points, model_$column GROUP BY m}),
			't|t|t', "$name: scored, evaluated and verified as these");
		is($node->safe_psql('genuine', qq{SELECT (t.m).rows, (t.m).skipped FROM (SELECT learning.train_margin(y, CASE WHEN id > 5 THEN $column END, '{"lambda": 1}'::jsonb) AS m FROM points) AS t;
			SELECT learning.margin_predict(m, NULL::vecs.$name) IS NULL, (SELECT learning.train_margin(y, NULL::vecs.$name) IS NULL FROM points) FROM model_$column}),
			"115|5\nt|t", "$name: NULLs are skipped and counted");
		my $wrong = $name eq 'sparsevec' ? "'{21:1}/30'" : "'[1,2,3]'";
		my ($code, $out, $err) = $node->psql('genuine', "SELECT learning.margin_score(m, $wrong\::vecs.$name) FROM model_$column");
		like($err, $name eq 'sparsevec' ? qr/ERROR:  feature 21 is unknown to the model/ : qr/ERROR:  the model expects 20 features, not 3/, "$name: wrong dimensions are told");
		($code, $out, $err) = $node->psql('genuine', "SELECT learning.train_margin(y, CASE WHEN id = 60 THEN $wrong\::vecs.$name ELSE $column END, '{\"lambda\": 1}'::jsonb ORDER BY id) FROM points");
		like($err, $name eq 'sparsevec' ? qr/ERROR:  .*(dimensions|features)/ : qr/ERROR:  .*expected 20 features, not 3/, "$name: ... in a training, too");
		my $file = $node->basedir . "/$column.copy";
		is($node->safe_psql('genuine', qq{COPY (SELECT id, y, $column FROM points) TO '$file' (FORMAT binary);
			CREATE TABLE copied_$column (id integer, y boolean, c vecs.$name(20)); COPY copied_$column FROM '$file' (FORMAT binary);
			SELECT (learning.train_margin(y, c, '{"lambda": 0.01}'::jsonb ORDER BY id)).weights = (SELECT (m).weights FROM model_$column) FROM copied_$column}), 't', "$name: binary COPY");
	}
	is($node->safe_psql('genuine', q{SELECT max(abs(learning.margin_score(m, v) - (SELECT sum(w * f) FROM unnest((m).weights, v::real[]) AS u (w, f)) - (m).intercept[1])) < 1e-9 FROM points, model_v}),
		't', 'vector: the score is that of the sum in SQL');
	if (@types > 1)
	{
		is($node->safe_psql('genuine', q{SELECT max(abs(learning.margin_score(m, h) - learning.margin_score(m, x)) / (SELECT sum(abs(w * f)) FROM unnest((m).weights, x) AS u (w, f))) < 2.0 ^ -11 FROM points, model_v GROUP BY m}),
			't', 'halfvec: a score is within half a unit in the last of 11 bits of that of real[]');
		is($node->safe_psql('genuine', q{SELECT bool_and(s::text::learning.margin_sparse::real[] = sx::real[] AND sx::text::vecs.sparsevec::text = s::text AND vecs.sparsevec_send(s) = learning._margin_sparse_send(sx)) FROM points}),
			't', 'sparsevec and margin_sparse read each other, as text and in binary form');
	}
	$node->safe_psql('genuine', 'CREATE SCHEMA moved; ALTER EXTENSION vector SET SCHEMA moved');
	is($node->safe_psql('genuine', q{SELECT count(learning.margin_score(m, v)) FROM points, model_v}), '120', 'pgvector moved to another schema');
}
else
{
	ok(!$ENV{MARGIN_REQUIRE_PGVECTOR}, 'pgvector is installed where it must be');
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

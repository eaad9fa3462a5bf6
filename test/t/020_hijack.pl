# SQL that the extension makes calls what it means: overloads that fit better, next to it and on the caller's path, are
# not called. The owner of a database who installed the trusted extension may make them.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('hijack');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nclient_min_messages = error\n");
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE dbo LOGIN; CREATE DATABASE theirs OWNER dbo');

# as(ROLE, SQL): what the statements answer, and the error.
sub as
{
	my ($role, $sql) = @_;
	my ($code, $out, $err) = $node->psql('theirs', $sql, extra_params => [ '-U', $role ], on_error_stop => 0);
	return $out . ($err =~ /(ERROR:.*)/ ? $1 : '');
}
my $superuser = $node->safe_psql('postgres', 'SELECT rolname FROM pg_roles WHERE oid = 10');

is(as('dbo', q{CREATE SCHEMA ext; CREATE SCHEMA path; CREATE EXTENSION margin SCHEMA ext;
	CREATE TYPE ext.mood AS ENUM ('no', 'yes');
	CREATE DOMAIN ext.heavy AS float8 CHECK (value > 0);
	CREATE TABLE ext.t AS SELECT i AS id, i % 3 = 0 AS y, ARRAY[sin(i), i % 2]::real[] AS x, (1 + i % 2)::float8 AS w, (1 + i % 2)::numeric AS n, i % 2 AS day, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS name,
	  sin(i)::float8 AS a, CASE WHEN i % 5 < 2 THEN 'red' ELSE 'blue' END AS colour FROM generate_series(1, 60) AS i;
	CREATE TABLE ext.witness (who text)}), '', 'the owner of the database installs it');

# Every kind of statement that is made.
my %scans = (
	'arrays' => q{'select y, x from ext.t'},
	'text labels' => q{'select name, x from ext.t'},
	'weights' => q{'select y, x, w from ext.t', '{"lambda": 0.1, "loss": "logistic"}'},
	'weights that are cast' => q{'select y, x, n from ext.t', '{"lambda": 0.1, "loss": "logistic", "on_error": "null"}'},
	'a domain' => q{'select y, x, w::ext.heavy from ext.t', '{"lambda": 0.1, "loss": "logistic"}'},
	'shards' => q{'select y, x, w, day from ext.t', '{"lambda": 0.1, "loss": "logistic", "shard": "day"}'},
	'rows' => q{'select y as label, r as features from ext.t, lateral (select a, w, colour) as r', '{"lambda": 0.1, "loss": "logistic"}'},
	'rows with weights' => q{'select y as label, r as features, w as weight from ext.t, lateral (select a, colour) as r', '{"lambda": 0.1, "loss": "logistic"}'},
	'a regression on rows' => q{'select w as label, r as features from ext.t, lateral (select a, colour) as r', '{"lambda": 0.1, "loss": "absolute"}'},
	'sparse rows' => q{'select y as label, r as features from ext.t, lateral (select a, id::text as colour) as r', '{"lambda": 0.1, "loss": "logistic"}'},
	'one class' => q{'select true, x from ext.t'});
my $result = join ' UNION ALL ', map { "SELECT (ext.train_margin_from($scans{$_})).rows" } sort grep { $_ ne 'one class' } keys %scans;
$result .= q{ UNION ALL SELECT (ext.train_one_class_from('select x, w from ext.t')).rows UNION ALL SELECT (ext.train_one_class_from('select r as features from ext.t, lateral (select a, colour) as r')).rows};
my $honest = as($superuser, $result);
like($honest, qr/^60(\n60){11}$/, 'honest statements');

# Which functions the source names: an overload of each for every type of argument that a scan has, and operators and
# casts around its own types. A plain name in generated SQL is a lower-case call.
my %called = map { $_ => 1 } split /\n/, $node->safe_psql('theirs', q{SELECT DISTINCT p.proname FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.objid
	WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
	  AND p.proname IN ('margin_sum', 'margin_term', 'margin_profile', '_margin_profile_merge', '_margin_encoder', 'margin_encode', 'margin_encode_sparse', '_margin_encode_sparse', '_margin_merge', '_margin_sum_step', 'margin_question', '_margin_encoder_final')});
is(scalar keys %called, 12, 'the functions of a scan: ' . join(', ', sort keys %called));

my @labels = ('boolean', 'text');
my @features = ('real[]', 'record', 'anyarray', 'float8[]', 'ext.margin_sparse');
my @weights = ('', 'float8', 'numeric', 'ext.heavy');
my (@plants, $planted);
foreach my $schema ('ext', 'path')
{
	my $trap = sub {
		my ($name, $arguments, $returns) = @_;
		push @plants, qq{CREATE FUNCTION $schema.$name($arguments) RETURNS $returns LANGUAGE plpgsql AS \$\$ BEGIN INSERT INTO ext.witness VALUES ('$schema.$name($arguments)');
			EXECUTE 'alter role dbo superuser'; RETURN null; END \$\$};
	};
	foreach my $label (@labels)
	{
		foreach my $features (@features)
		{
			foreach my $weight (@weights)
			{
				my $w = $weight eq '' ? '' : ", $weight";
				$trap->('margin_term', "ext.margin_question, $label, $features$w", 'ext.margin_term');
				$trap->('_margin_encoder', "$label, $features$w, jsonb", 'jsonb');
			}
		}
	}
	foreach my $features (@features)
	{
		$trap->($_, "jsonb, $features", 'real[]') foreach ('margin_encode', 'margin_encode_sparse');
	}
	$trap->($_, 'jsonb, jsonb, float8, text', 'real[]') foreach ('margin_encode', '_margin_encode_sparse');
	$trap->('margin_profile', 'jsonb, float8, text', 'ext.margin_profile');
	$trap->('_margin_profile_merge', 'ext.margin_profile, ext.margin_profile', 'ext.margin_profile');
	$trap->('margin_sum', 'ext.margin_profile', 'ext.margin_profile');
	foreach my $type ('ext.margin_term', 'ext.margin_state', 'jsonb', 'anyelement')
	{
		$trap->('margin_sum', $type, 'ext.margin_state');
		$trap->('margin_question', $type, 'ext.margin_question');
	}
	$trap->('_margin_merge', 'ext.margin_state, ext.margin_state', 'ext.margin_state');
	$trap->('_margin_sum_step', 'ext.margin_state, ext.margin_term', 'ext.margin_state');
	$trap->('_margin_encoder_final', 'jsonb', 'jsonb');
	# what the server itself might look up by name
	$trap->('float8', $_, 'float8') foreach ('numeric', 'ext.heavy', 'double precision');
	$trap->('jsonb', $_, 'jsonb') foreach ('text', 'cstring');
	$trap->('equal_to', 'integer, integer', 'boolean');
	push @plants, "CREATE OPERATOR $schema.= (LEFTARG = integer, RIGHTARG = integer, FUNCTION = $schema.equal_to)",
	  "CREATE DOMAIN $schema.jsonb AS pg_catalog.jsonb CHECK (ext.jsonb('x'::text) IS NULL)", "CREATE DOMAIN $schema.float8 AS pg_catalog.float8";
	push @plants, "CREATE FUNCTION $schema.cast_heavy(ext.mood) RETURNS float8 LANGUAGE plpgsql AS \$\$ BEGIN INSERT INTO ext.witness VALUES ('cast'); RETURN 1; END \$\$";
}
push @plants, 'CREATE CAST (ext.mood AS float8) WITH FUNCTION ext.cast_heavy(ext.mood) AS IMPLICIT';
foreach my $plant (@plants)
{
	my ($code) = $node->psql('theirs', $plant, extra_params => [ '-U', 'dbo' ]);
	++$planted if $code == 0;
}
cmp_ok($planted, '>', 150, "$planted overloads, operators, casts and types lie in wait");

foreach my $path ('pg_catalog', 'path, ext, pg_catalog', 'ext, path, pg_catalog', '"$user", public')
{
	is(as($superuser, "SET search_path = $path; $result"), $honest, "path $path: the same models");
	is($node->safe_psql('theirs', q{SELECT count(*), string_agg(who, '; '), (SELECT rolsuper FROM pg_roles WHERE rolname = 'dbo') FROM ext.witness}), '0||f', '... and nothing in wait was called');
	as($superuser, "SET search_path = $path; SELECT ext.train_margin_from($scans{$_})") foreach sort keys %scans;
	is($node->safe_psql('theirs', q{SELECT count(*), string_agg(who, '; '), (SELECT rolsuper FROM pg_roles WHERE rolname = 'dbo') FROM ext.witness}), '0||f', '... one by one');
}
like(as($superuser, q{SELECT ext.train_margin_from('select y, x, ''yes''::ext.mood as weight from ext.t')}), qr/weight.*expected a number/, 'a weight whose cast is somebody\'s own is none');
is($node->safe_psql('theirs', 'SELECT count(*) FROM ext.witness'), '0', '... and is not cast');

# A newer library on the functions of an older version: what is not there is not taken from somebody else.
as('dbo', q{DROP EXTENSION margin CASCADE; DROP SCHEMA ext CASCADE; CREATE SCHEMA ext; CREATE EXTENSION margin SCHEMA ext});
is($node->safe_psql('theirs', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'dbo'}), 'f', 'the owner of the database is no superuser');
$node->stop;
done_testing();

# Trusted: who may create objects in a database may install the extension, with no more rights than that. docs/security.md says why.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('trusted');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nclient_min_messages = error\n");
$node->start;
$node->safe_psql('postgres', q{CREATE ROLE owner LOGIN; CREATE ROLE stranger LOGIN; CREATE ROLE reader LOGIN; CREATE DATABASE theirs OWNER owner; ALTER DATABASE theirs SET search_path = public});
$node->safe_psql('theirs', 'REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT CREATE, USAGE ON SCHEMA public TO owner, stranger; GRANT USAGE ON SCHEMA public TO reader; REVOKE TEMP ON DATABASE theirs FROM PUBLIC');
my $superuser = $node->safe_psql('postgres', 'SELECT rolname FROM pg_roles WHERE oid = 10');

# as(ROLE, SQL): what the statements answer, or the error.
sub as
{
	my ($role, $sql) = @_;
	my ($code, $out, $err) = $node->psql('theirs', $sql, extra_params => [ '-U', $role ]);
	return $code == 0 ? $out : $err;
}

like(as('stranger', 'CREATE EXTENSION margin'), qr/permission denied to create extension "margin"/, 'a role without CREATE on the database cannot install it');

# What a stranger puts into the schema beforehand: operators and functions that fit better than those of pg_catalog.
as('stranger', q{
	CREATE FUNCTION public.trap(integer, float8) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
	CREATE OPERATOR public.* (LEFTARG = integer, RIGHTARG = float8, FUNCTION = public.trap);
	CREATE FUNCTION public.date_trunc(varchar, timestamp) RETURNS timestamp LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
	CREATE FUNCTION public.trap(varchar, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
	CREATE OPERATOR public.= (LEFTARG = varchar, RIGHTARG = text, FUNCTION = public.trap);
	CREATE FUNCTION public.eqsel(internal, oid, internal, bigint) RETURNS float8 LANGUAGE internal AS 'eqsel';});
is(as('stranger', 'SELECT 2 * pi()') =~ /trapped/ ? 1 : 0, 1, 'the trap works where names are looked up');

# In the order of a life: an old version, filled, updated.
is(as('owner', q{CREATE EXTENSION margin VERSION '0.1.0'}), '', 'the owner of the database installs it');
is(as('owner', q{CREATE TABLE points AS SELECT i > 5 AS y, ARRAY[i, i % 3]::real[] AS x FROM generate_series(1, 10) AS i;
	CREATE TABLE models AS SELECT train_margin(y, x, margin_options(lambda => 0.1)) AS model FROM points; GRANT SELECT ON points, models TO reader}), '', '... trains');
is(as('owner', 'ALTER EXTENSION margin UPDATE'), '', '... and updates it');
is(as('owner', q{SELECT (margin_cyclic('2020-01-01 06:00'::timestamp, 'day'))[1]}), '1', 'functions in SQL do not fall into the trap');
is($node->safe_psql('theirs', q{SELECT (SELECT extowner::regrole FROM pg_extension WHERE extname = 'margin'), string_agg(DISTINCT p.proowner::regrole::text, ',')
	FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.objid WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND d.classid = 'pg_proc'::regclass AND p.proname ~ 'margin'}),
	"owner|$superuser", 'the extension is theirs, its functions are those of the cluster');
like(as('owner', 'ALTER FUNCTION margin_version() OWNER TO owner'), qr/must be (owner|member|able)/, '... and stay so');
like(as('owner', q{CREATE OR REPLACE FUNCTION margin_version() RETURNS text LANGUAGE sql AS 'SELECT 1::text'}), qr/must be owner/, '... and cannot be replaced');
like(as('owner', 'ALTER EXTENSION margin DROP FUNCTION margin_version()'), qr/must be owner/, '... nor taken out');
# So does the server have it, in every version: the objects of a trusted extension are the superuser's, and a move asks who owns each.
like(as('owner', 'CREATE SCHEMA learning; ALTER EXTENSION margin SET SCHEMA learning'), qr/must be owner of/, '... nor moved to another schema');
like(as('owner', q{CREATE FUNCTION mine() RETURNS text LANGUAGE c AS '$libdir/margin', 'margin_version'}), qr/permission denied for language c/, 'it opens no way to C');

# What a user can do: compute, with limits that the superuser sets.
is(as('reader', 'SELECT (train_margin(y, x)).status, (SELECT count(margin_predict(model, x)) FROM models, points) FROM points'), 'optimal|10', 'a role that only reads trains and predicts');
like(as('reader', q{SELECT train_margin_from('SELECT true AS label, ARRAY[1.0] AS features FROM pg_authid')}), qr/permission denied for table pg_authid/, 'queries of train_margin_from run with the rights of the caller');
like(as('reader', q{SELECT train_margin_from('DELETE FROM points RETURNING y AS label, x AS features')}), qr/ERROR/, '... and only read');
like(as('reader', 'SELECT margin_version(); SET margin.poll_trace = 100'), qr/permission denied to set parameter "margin\.poll_trace"/, 'who writes to the log of the server is not a user');
$node->safe_psql('postgres', q{ALTER ROLE reader SET temp_file_limit = '1MB'; ALTER ROLE reader SET margin.memory_limit = '8MB'});
like(as('reader', q{SELECT (train_margin(i % 2 = 0, ARRAY[i, i % 7, i % 11, i % 13, i % 17, i % 19, i % 23, i % 29]::real[], margin_options(lambda => 0.1))).status FROM generate_series(1, 200000) AS i}),
	qr/temporary file size exceeds "?temp_file_limit/, 'files of a training count against temp_file_limit');
is($node->safe_psql('theirs', q{SELECT count(*) FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.objid WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
	AND p.prosecdef}), '0', 'no function has other rights than its caller');

is(as('owner', 'DROP EXTENSION margin CASCADE'), '', 'the owner drops it');
is(as('owner', q{CREATE EXTENSION margin SCHEMA learning; SET search_path = learning, public; SELECT (train_margin(y, x)).status FROM points}), 'optimal', '... and has it in another schema');
$node->stop;
done_testing();

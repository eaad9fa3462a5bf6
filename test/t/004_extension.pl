# The extension as an object: any schema, no search_path, moved, dumped and restored, updated, read-only, on a standby.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('extension');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;

# In a schema that is not on the search_path.
$node->safe_psql('postgres', 'CREATE DATABASE elsewhere');
$node->safe_psql('elsewhere', q{
	CREATE SCHEMA learning;
	CREATE EXTENSION margin SCHEMA learning;
	CREATE TABLE points (y boolean, x float8[]);
	INSERT INTO points SELECT i > 5, ARRAY[i, i % 3] FROM generate_series(1, 10) AS i;
	CREATE TABLE models AS SELECT learning.train_margin(y, x, learning.margin_options(tolerance => 1e-6)) AS model FROM points;});
my $check = q{SELECT (model).status, bool_and(%1$s.margin_predict(model, x, NULL::boolean) = y),
	(%1$s.margin_evaluate(model, y, x)).rows = 10, (%1$s.margin_verify(model, y, x)).errors = 0 FROM points, models GROUP BY model};
foreach my $path ('"$user", public', 'pg_catalog', '')
{
	is($node->safe_psql('elsewhere', "SET search_path = '$path'; "
		. sprintf(q{SELECT (m).status FROM (SELECT learning.train_margin(y, x, learning.margin_options(lambda => 1)) AS m FROM public.points) AS s})),
		'optimal', "training with search_path '$path'");
}
is($node->safe_psql('elsewhere', sprintf($check, 'learning')), 'optimal|t|t|t', 'predict, evaluate, verify by qualified name');

# Moved while models of its type are stored.
$node->safe_psql('elsewhere', 'CREATE SCHEMA moved; ALTER EXTENSION margin SET SCHEMA moved');
is($node->safe_psql('elsewhere', sprintf($check, 'moved')), 'optimal|t|t|t', 'stored models survive ALTER EXTENSION SET SCHEMA');
$node->safe_psql('elsewhere', 'CREATE VIEW predictions AS SELECT moved.margin_predict(model, x) AS p FROM points, models');

# Dump and restore.
my $before = $node->safe_psql('elsewhere', 'SELECT model::text FROM models');
my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('elsewhere') ], 'pg_dump of a table of models');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('restored') ], 'restore');
is($node->safe_psql('restored', 'SELECT model::text FROM models'), $before, 'the restored model is the same to the bit');
is($node->safe_psql('restored', sprintf($check, 'moved')), 'optimal|t|t|t', '... and works');
is($node->safe_psql('restored', 'SELECT count(*) FROM predictions'), '10', '... and so does a view on it');

# The version (016_upgrade.pl updates the older ones).
my @versions = split /\n/, $node->safe_psql('postgres',
	"SELECT version FROM pg_available_extension_versions WHERE name = 'margin' ORDER BY version");
my ($current) = $node->safe_psql('postgres', "SELECT default_version FROM pg_available_extensions WHERE name = 'margin'");
ok((grep { $_ eq $current } @versions), "version $current is installable");
$node->safe_psql('postgres', 'CREATE EXTENSION margin');
is($node->safe_psql('postgres', 'SELECT margin_version()'), $current, 'the library knows its version');

# Every function says how it behaves, and has a comment.
is($node->safe_psql('postgres', q{SELECT string_agg(p.oid::regprocedure::text, ', ') FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.objid
	WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND d.classid = 'pg_proc'::regclass
	  AND (SELECT extname FROM pg_extension WHERE oid = d.refobjid) = 'margin'
	  AND ((p.prolang NOT IN (SELECT oid FROM pg_language WHERE lanname IN ('c', 'internal')) AND p.prosqlbody IS NULL) OR (p.proparallel <> 's') <> (p.proname IN ('train_margin_from', 'train_one_class_from', 'margin_path_from', 'margin_cross_validate_from', 'margin_scan_query'))
	       OR p.prosecdef OR obj_description(p.oid, 'pg_proc') IS NULL)}),
	'', 'all functions are C or SQL parsed when made, parallel safe but those that run queries, without SECURITY DEFINER, and have a comment');

# Without superuser, in a read-only transaction, without any table of its own.
$node->safe_psql('postgres', q{CREATE ROLE reader LOGIN;
	CREATE TABLE points AS SELECT i AS id, i > 5 AS y, ARRAY[i, i % 3]::real[] AS x FROM generate_series(1, 10) AS i;
	GRANT SELECT ON points TO reader;});
my $readonly = q{SET ROLE reader; SET default_transaction_read_only = on;
	SELECT (m).status, (SELECT count(margin_predict(m, x)) FROM points), (SELECT (margin_verify(m, y, x)).errors = 0 FROM points)
	  FROM (SELECT train_margin(y, x) AS m FROM points) AS s};
is($node->safe_psql('postgres', $readonly), 'optimal|10|t', 'a plain role trains in a read-only transaction');

# On a standby.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', $readonly), 'optimal|10|t', 'training works on a standby');
$standby->stop;

# Dropping is clean.
$node->safe_psql('postgres', 'DROP EXTENSION margin');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_proc WHERE proname LIKE '%margin%'"), '0', 'DROP EXTENSION leaves nothing');
$node->stop;
done_testing();

# The layout of an extension image (packaging/extension_image.sh): a directory of its own that extension_control_path and
# dynamic_library_path name, beside a server that has no margin. PostgreSQL 18 and later.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($major) = `pg_config --version` =~ /(\d+)/;
plan skip_all => 'extension_control_path came with PostgreSQL 18' if $major < 18;
my ($tree) = `pg_config --bindir` =~ m{^(.*/install)/} or die 'not in the private installation of test/run.sh';
my $image = PostgreSQL::Test::Utils::tempdir_short();
is(system("$ENV{TESTDIR}/packaging/extension_image.sh", $tree, $image), 0, 'the image is made of an installation');
my $size = 0;
$size += -s $_ foreach glob("$image/share/extension/* $image/lib/*");
cmp_ok($size, '<=', 10e6, sprintf('... and has %.1f MB', $size / 1e6));
is(join(' ', map { s{.*/}{}r } glob("$image/*")), 'lib licenses share', '... in share, lib and licenses');
# Which of the two control files the server reads, its comment tells.
my $control = slurp_file("$image/share/extension/margin.control") =~ s/^comment = .*$/comment = 'of the image'/mr;
unlink "$image/share/extension/margin.control";
append_to_file("$image/share/extension/margin.control", $control);

my $node = PostgreSQL::Test::Cluster->new('image');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nextension_control_path = '$image/share:\$system'\ndynamic_library_path = '$image/lib:\$libdir'\n");
$node->start;
is($node->safe_psql('postgres', q{SELECT comment FROM pg_available_extensions WHERE name = 'margin'}), 'of the image', 'the server finds the control file of the image');
$node->safe_psql('postgres', q{CREATE ROLE someone LOGIN; CREATE DATABASE theirs OWNER someone});
sub as_someone
{
	my ($sql) = @_;
	my ($code, $out, $err) = $node->psql('theirs', "SET client_min_messages = error; $sql", extra_params => [ '-U', 'someone' ]);
	return $code == 0 ? $out : $err;
}
is(as_someone(q{CREATE EXTENSION margin VERSION '0.1.0'; ALTER EXTENSION margin UPDATE; SELECT extversion = (SELECT default_version FROM pg_available_extensions WHERE name = 'margin') FROM pg_extension WHERE extname = 'margin'}),
	't', 'the owner of a database creates it and updates it');
is(as_someone(q{CREATE SCHEMA learning; DROP EXTENSION margin; CREATE EXTENSION margin SCHEMA learning;
	CREATE TABLE points AS SELECT i > 50 AS y, ARRAY[i, i % 3]::real[] AS x FROM generate_series(1, 100) AS i; ANALYZE points;
	SET search_path = learning, public;
	SELECT (m).status, (SELECT bool_and(margin_predict(m, x, NULL::boolean) = y) FROM points) FROM (SELECT train_margin(y, x) AS m FROM points) AS t}),
	'optimal|t', '... has it in a schema, and trains');
my $workers = q{SET search_path = learning, public; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2; };
like(as_someone("$workers EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT margin_evaluate((SELECT train_margin(y, x) FROM points), y, x) FROM points"), qr/Workers Launched: [12]/, 'workers find the library');
my $maps = $node->safe_psql('theirs', q{SET search_path = learning, public; SELECT margin_version(); SELECT DISTINCT split_part(line, ' /', 2) FROM string_to_table(pg_read_file('/proc/self/maps', 0, 1000000), E'\n') AS line WHERE line ~ 'margin.so'});
like($maps, qr{^[\d.]+\n\Q@{[$image =~ s{^/}{}r]}\E/lib/margin\.so$}, 'the library in the process is the one of the image');
done_testing();

# From version 0.1.0: what it stored (test/fixtures) is read by this library, before and after ALTER EXTENSION ... UPDATE, which
# leaves the objects of a new installation.
use strict;
use warnings;
use Margin;
use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $here = dirname(__FILE__);
my $catalogue = slurp_file("$here/catalogue.sql");
my $node = new_node('upgrade', 'client_min_messages = error');
my $current = $node->safe_psql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'margin'});

# differences(OLD, NEW): the lines of one that the other lacks, with what to do.
sub differences
{
	my ($updated, $fresh) = @_;
	my %has = map { $_ => 1 } split /\n/, $updated;
	my %wants = map { $_ => 1 } split /\n/, $fresh;
	return join "\n", (map { "the upgrade script must make: $_" } grep { !$has{$_} } sort keys %wants),
	  (map { "the upgrade script must drop or change: $_" } grep { !$wants{$_} } sort keys %has);
}

# Every older version leads to the objects of this one, to the last comment.
my $fresh = $node->safe_psql('postgres', $catalogue);
cmp_ok(scalar(split /\n/, $fresh), '>', 150, 'the catalogue tells all objects');
unlike($fresh, qr/unknown to this query/, '... and knows their kinds');
foreach my $old (split /\n/, $node->safe_psql('postgres', "SELECT version FROM pg_available_extension_versions WHERE name = 'margin' AND version <> '$current'"))
{
	$node->safe_psql('postgres', 'CREATE DATABASE catalogue');
	$node->safe_psql('catalogue', "CREATE EXTENSION margin VERSION '$old'");
	isnt(differences($node->safe_psql('catalogue', $catalogue), $fresh), '', "the catalogue of $old is another one");
	# Any role can make tables of our types: they get the new attributes, too, and keep nobody from updating.
	$node->safe_psql('catalogue', 'CREATE ROLE passer_by; CREATE SCHEMA theirs AUTHORIZATION passer_by; SET ROLE passer_by; CREATE TABLE theirs.typed OF margin_model; CREATE TABLE theirs.evaluated OF margin_evaluation');
	$node->safe_psql('catalogue', 'ALTER EXTENSION margin UPDATE');
	is($node->safe_psql('catalogue', q{SELECT string_agg(attname, ',' ORDER BY attnum) = (SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'margin_model'::regclass)
		FROM pg_attribute WHERE attrelid = 'theirs.typed'::regclass AND attnum > 0}), 't', '... with tables of its types');
	$node->safe_psql('catalogue', 'DROP SCHEMA theirs CASCADE; DROP ROLE passer_by');
	is(differences($node->safe_psql('catalogue', $catalogue), $fresh), '', "an update from $old leaves the objects of a new installation");
	$node->safe_psql('postgres', 'DROP DATABASE catalogue');
}
isnt(differences($fresh =~ s/^.*margin_fold.*\n//mr, $fresh), '', 'a missing function would be told');

# A database that 0.1.0 filled, as a dump of it is restored.
$node->safe_psql('postgres', 'CREATE DATABASE stored');
$node->safe_psql('stored', q{CREATE SCHEMA learning; CREATE EXTENSION margin SCHEMA learning VERSION '0.1.0'});
$node->append_conf('postgresql.conf', "search_path = 'public, learning'\n");
$node->reload;
$node->safe_psql('stored', slurp_file("$here/../fixtures/models-0.1.0.sql"));

my $features = q{LATERAL (SELECT CASE WHEN m.name LIKE 'wide%' THEN margin_sparse(ARRAY[1, 40, 900], p.x::float8[], 1000) ELSE p.x::margin_sparse END) AS f (x)};
my $scores = qq{SELECT m.name, p.id, CASE WHEN a.score IS NOT NULL THEN margin_score(model, f.x) END AS score,
	CASE WHEN (model).classes IS NOT NULL THEN margin_scores(model, f.x) END AS scores,
	CASE WHEN a.probabilities IS NOT NULL THEN margin_probabilities(model, f.x) END AS probabilities, margin_predict(model, f.x) AS predicted
  FROM old_models AS m, old_probes AS p, old_answers AS a, $features WHERE a.name = m.name AND a.probe = p.id};
my $verifications = q{SELECT m.name, CASE m.label
	WHEN 'side' THEN (SELECT margin_verify(model, side, f.x ORDER BY id) FROM old_rows AS p, } . $features . q{)
	WHEN 'class' THEN (SELECT margin_verify(model, class, x ORDER BY id) FROM old_rows)
	ELSE (SELECT margin_verify(model, target, x ORDER BY id) FROM old_rows) END AS answer FROM old_models AS m WHERE m.name <> 'interpolation'};
# near(A, B): two numbers that other processors may sum in another order.
my $near = sub { my ($a, $b) = @_; return "($a IS NOT DISTINCT FROM $b OR abs($a - $b) <= 1e-12 * (abs($a) + abs($b)))"; };

my $bits = q{SELECT md5(string_agg(t::text, ';' ORDER BY name, id)) FROM (} . $scores . q{) AS t};
my $texts = q{SELECT md5(string_agg(concat_ws('|', name, (model).solver, (model).loss, (model).norm, (model).lambda, (model).status, (model).classes, (model).weights,
	(model).intercept, (model).margin_lower, (model).margin_upper, (model).primal, (model).dual, (model).gap, (model).iterations, (model).rows, (model).skipped,
	(model).dimensions, (model).support, (model).seconds, (model).options, (model).history, (model).dual_weights, (model).calibration, (model).stumps, (model).kernel,
	(model).kernel_parameters, (model).support_vectors, (model).sparse_support_vectors), ';' ORDER BY name)) FROM old_models};
my ($text, $bit) = ($node->safe_psql('stored', $texts), undef);

foreach my $when ('0.1.0 with the new library', 'updated')
{
	$node->safe_psql('stored', 'ALTER EXTENSION margin UPDATE') if $when eq 'updated';
	is($node->safe_psql('stored', q{SELECT extversion FROM pg_extension WHERE extname = 'margin'}), $when eq 'updated' ? $current : '0.1.0', "$when: the version");
	is($node->safe_psql('stored', $texts), $text, "$when: every attribute as it was stored");
	is($node->safe_psql('stored', qq{SELECT count(*), string_agg(t.name, '; ') FILTER (WHERE (a.score, a.scores, a.predicted) IS DISTINCT FROM (t.score, t.scores, t.predicted))
		FROM ($scores) AS t JOIN old_answers AS a ON a.name = t.name AND a.probe = t.id WHERE a.name !~ 'rbf|polynomial'}),
		'48|', "$when: scores and predictions of linear models and stumps, to the bit");
	is($node->safe_psql('stored', qq{SELECT count(*), string_agg(t.name, '; ') FILTER (WHERE } . $near->('a.score', 't.score') . q{ IS NOT true OR a.predicted <> t.predicted
		   OR EXISTS (SELECT FROM unnest(a.scores || a.probabilities, t.scores || t.probabilities) AS u (a, t) WHERE } . $near->('u.a', 'u.t') . qq{ IS NOT true))
		FROM ($scores) AS t JOIN old_answers AS a ON a.name = t.name AND a.probe = t.id}),
		'56|', "$when: scores of kernels, and probabilities");
	is($node->safe_psql('stored', qq{SELECT string_agg(t.name || ': ' || t.answer::text || ' was ' || v.answer::text, '; ') FROM ($verifications) AS t JOIN old_verifications AS v USING (name)
		WHERE ((v.answer).rows, (v.answer).errors, (v.answer).certain) IS DISTINCT FROM ((t.answer).rows, (t.answer).errors, (t.answer).certain)
		   OR EXISTS (SELECT FROM (VALUES ((v.answer).margin_lower, (t.answer).margin_lower), ((v.answer).margin_upper, (t.answer).margin_upper),
		                ((v.answer).primal, (t.answer).primal), ((v.answer).dual, (t.answer).dual)) AS u (a, t)
		                WHERE (u.a IS NOT DISTINCT FROM u.t OR abs(u.a - u.t) < 1e-9) IS NOT true)}),
		'', "$when: verified as by 0.1.0");
	my $told = $node->safe_psql('stored', $bits);
	$bit //= $told;
	is($told, $bit, "$when: the same bits from every function that scores");
	is($node->safe_psql('stored', q{SELECT (v, v::real[]) = ('{2:0.5,7:-3}/9'::margin_sparse, '{0,0.5,0,0,0,0,-3,0,0}'::real[]), (s).best_mean = (s).means[(s).best], (e).accuracy, (SELECT count(margin_score(m, '{1,2,3}'::real[])) FROM unnest(models) AS m)
		FROM old_selections}), 't|t|1|2', "$when: sparse vectors, selections, evaluations, arrays of models");
	is($node->safe_psql('stored', q{SELECT count(*) FILTER (WHERE margin_from_json(margin_to_json(model)) = model), count(margin_summary(model)), count(*) FROM old_models}), '14|14|14', "$when: as JSON and back");
	is($node->safe_psql('stored', q{SELECT (SELECT (train_margin(side, x)).status FROM old_rows), (SELECT (margin_evaluate(model, side, x)).accuracy FROM old_rows), count(*) > 0
		FROM old_models AS m, margin_weights(model) AS w, (SELECT count(*) FROM margin_solvers()) AS s, (SELECT count(*) FROM margin_losses()) AS l WHERE m.name = 'hinge' GROUP BY model}),
		'optimal|1|t', "$when: trained, evaluated, looked at");
	is($node->safe_psql('stored', q{SELECT ((train_margin(side, x, (SELECT margin_options(lambda => 0.01, initial => model) FROM old_models WHERE name = 'hinge') ORDER BY id))).status FROM old_rows}),
		'optimal', "$when: a start from a stored model");
}
$node->safe_psql('stored', q{INSERT INTO old_models SELECT 'new', 'target', train_margin(target, x, margin_options(lambda => 0.01, loss => 'squared')) FROM old_rows});
is($node->safe_psql('stored', q{SELECT count(*) FILTER (WHERE (model).target_center IS NOT NULL) FROM old_models}), '1', 'models of both versions in a column');

# A dump of the updated database.
my $dump = $node->basedir . '/updated.dump';
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('stored') ], 'pg_dump of an updated database');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('restored') ], '... is restored');
is($node->safe_psql('restored', $bits), $bit, '... with models of the same scores');

# Views on functions that have another signature now go on, under a name that says so; nothing else keeps the old functions.
$node->safe_psql('postgres', 'CREATE DATABASE views');
$node->safe_psql('views', q{CREATE EXTENSION margin VERSION '0.1.0'; } . slurp_file("$here/../fixtures/models-0.1.0.sql") . q{
	CREATE VIEW trained AS SELECT train_margin(side, x, margin_options(lambda => 0.01, intercept => true)) AS model FROM old_rows;
	CREATE VIEW listed AS SELECT w.* FROM old_models AS m, margin_weights(model) AS w WHERE m.name = 'hinge';});
my ($status, $out, $err) = $node->psql('views', 'SET client_min_messages = warning; ALTER EXTENSION margin UPDATE');
like($err, qr/WARNING:  objects depend on margin_options of version 0\.1\.0, which is called margin_options_0_1_0 now/, 'the update says what it kept');
is($node->safe_psql('views', q{SELECT (model).status, (SELECT count(*) FROM listed), (SELECT string_agg(proname, ',' ORDER BY proname COLLATE "C") FROM pg_proc WHERE proname LIKE '%0\_1\_0') FROM trained}),
	'optimal|3|margin_options_0_1_0,margin_weights_0_1_0', 'the views go on');
$node->safe_psql('views', q{CREATE OR REPLACE VIEW trained AS SELECT train_margin(side, x, margin_options(lambda => 0.01, intercept => true)) AS model FROM old_rows;
	CREATE OR REPLACE VIEW listed AS SELECT w.feature, w.class, w.weight FROM old_models AS m, margin_weights(model) AS w WHERE m.name = 'hinge';
	DROP FUNCTION margin_options_0_1_0; DROP FUNCTION margin_weights_0_1_0;});
is(differences($node->safe_psql('views', $catalogue), $fresh), '', 'created again, they need the old functions no more');

$node->stop;
done_testing();

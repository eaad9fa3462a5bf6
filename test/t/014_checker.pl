# docs/checker.sql: what it says of models is what margin_verify says, and a model that claims more is refused.
use strict;
use warnings;
use Margin;
use Test::More;

my $node = new_node('checker');
my $checker = "$ENV{TESTDIR}/checker.sql";
$node->safe_psql('postgres', "\\i $checker");
$node->safe_psql('postgres', q{
	CREATE TABLE noisy AS SELECT i, sin(i * 1.7) + cos(i * 2.3) * 0.5 > 0.1 * sin(i * i) AS class, sin(i * 0.37) * 3 + cos(i * 2.3) AS target, i * i % 7 AS count,
		ARRAY[sin(i * 1.7), cos(i * 2.3), sin(i * 0.37) * 3]::float8[] AS x, (1 + i % 3)::float8 AS weight FROM generate_series(1, 60) i;
	CREATE TABLE clean AS SELECT i, x[1] + x[2] * 0.5 > 0 AS class, x FROM noisy WHERE abs(x[1] + x[2] * 0.5) > 0.05;
	CREATE TABLE models (name text, query text, m margin_model, v margin_verification);});

# models of one call each: every loss, weighted and not, without intercept, hard margins in two norms
sub trained
{
	my ($name, $table, $label, $weight, $options) = @_;
	my $call = $weight eq '1' ? "$label, x, $options" : "$label, x, $weight, $options";
	$node->safe_psql('postgres', qq{
		INSERT INTO models SELECT '$name', 'SELECT $label, x, $weight FROM $table ORDER BY i', m, CASE WHEN '$weight' = '1' THEN (SELECT margin_verify(m, $label, x ORDER BY i) FROM $table) END
		  FROM (SELECT train_margin($call ORDER BY i) AS m FROM $table) s;});
	return;
}
foreach my $loss (qw(hinge squared_hinge smoothed_hinge logistic))
{
	trained($loss, 'noisy', 'class', '1', "margin_options(loss => '$loss', lambda => 0.01, dual_weights => true)");
	trained("$loss, weighted", 'noisy', 'class', 'weight', "margin_options(loss => '$loss', lambda => 0.1, dual_weights => true, intercept_scale => 3)");
}
foreach my $loss (qw(squared absolute epsilon_insensitive squared_epsilon_insensitive huber))
{
	trained($loss, 'noisy', 'target', '1', "margin_options(loss => '$loss', lambda => 0.01, dual_weights => true)");
	trained("$loss, no intercept", 'noisy', 'target', 'weight', qq{margin_options(loss => '$loss', lambda => 0.1, dual_weights => true, "intercept" => false)});
}
trained("$_, free intercept", 'noisy', 'class', 'weight', qq{margin_options(loss => '$_', lambda => 0.01, dual_weights => true, "intercept" => 'free')}) foreach qw(hinge logistic);
trained('squared, free intercept', 'noisy', 'target', '1', q{margin_options(loss => 'squared', lambda => 0.01, dual_weights => true, "intercept" => 'free')});
trained('quantile', 'noisy', 'target', '1', q{margin_options(loss => 'quantile', quantile => 0.8, lambda => 0.01, dual_weights => true)});
trained('poisson', 'noisy', 'count', '1', q{margin_options(loss => 'poisson', lambda => 0.01, dual_weights => true)});
trained('poisson, no intercept', 'noisy', 'count', 'weight', q{margin_options(loss => 'poisson', lambda => 0.1, dual_weights => true, "intercept" => false)});
foreach my $norm (1, 2)
{
	trained("hard, norm $norm", 'clean', 'class', '1', "margin_options(norm => $norm, dual_weights => true)");
	trained("hard, norm $norm, no intercept", 'clean', 'class', '1', qq{margin_options(norm => $norm, dual_weights => true, "intercept" => false)});
}
my $count = $node->safe_psql('postgres', 'SELECT count(*) FROM models');
is($count, 28, 'models of every loss and two norms');
# margin_verify knows no row weights: there what the training said
is($node->safe_psql('postgres', q{
	SELECT string_agg(name, '; ') FROM models, margin_checker.interval(query, m) i,
	LATERAL (SELECT margin_checker.exact(coalesce((v).dual, (m).dual)) AS dual, margin_checker.exact(coalesce((v).primal, (m).primal)) AS primal,
	                margin_checker.exact((v).margin_lower) AS least, margin_checker.exact((v).margin_upper) AS most) e
	 WHERE CASE WHEN (m).lambda IS NULL THEN abs(i.lower / least - 1) < 1e-11 AND abs(i.upper / most - 1) < 1e-11
	            ELSE abs(i.lower / dual - 1) < 1e-11 AND abs(i.upper / primal - 1) < 1e-11 END IS NOT TRUE;}),
	'', 'the ends are those of margin_verify, to rounding');
is($node->safe_psql('postgres', 'SELECT string_agg(name, $$; $$) FROM models WHERE NOT margin_checker.proven(query, m)'), '', 'what the models claim is proven');

# three lies of each: a narrower interval at either end, other weights, other dual weights
my $lies = $node->safe_psql('postgres', q{
	CREATE TABLE forged AS
	SELECT name, query, kind, jsonb_populate_record(m, lie) AS m FROM models,
	LATERAL (VALUES
	  ('end', CASE WHEN (m).lambda IS NULL THEN jsonb_build_object('margin_lower', (m).margin_upper * (1 + 1e-9)) ELSE jsonb_build_object('primal', (m).dual * (1 - 1e-9)) END),
	  ('other end', CASE WHEN (m).lambda IS NULL THEN jsonb_build_object('margin_upper', (m).margin_lower * (1 - 1e-9)) ELSE jsonb_build_object('dual', (m).primal * (1 + 1e-9)) END),
	  ('weights', jsonb_build_object('weights', (SELECT array_agg(-w ORDER BY k) FROM unnest((m).weights) WITH ORDINALITY u(w, k)))),
	  ('dual weights', jsonb_build_object('dual_weights', (SELECT array_agg(CASE WHEN k <= 30 THEN 0 ELSE a END ORDER BY k) FROM unnest((m).dual_weights) WITH ORDINALITY u(a, k))))) l(kind, lie);
	SELECT count(*) FROM forged;});
is($lies, 112, 'forgeries');
is($node->safe_psql('postgres', 'SELECT string_agg(name || $$: $$ || kind, $$; $$) FROM forged WHERE margin_checker.proven(query, m)'), '', 'none is proven');

my $err = '';
$node->psql('postgres', q{SELECT margin_checker.interval('SELECT class, x, 1 FROM noisy ORDER BY i', train_margin(class, x, '{"kernel": "rbf", "lambda": 0.1}')) FROM noisy}, stderr => \$err);
like($err, qr/the checker does not take this model/, 'a model that it does not know is refused');
$node->stop;
done_testing();

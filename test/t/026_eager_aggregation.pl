# Partial aggregates below a join (PostgreSQL 19): the figures of the plain join, and the plain join where states are large.
use strict;
use warnings;
use Margin;
use Test::More;

my $node = new_node('eager', 'max_parallel_workers_per_gather = 0', 'jit = off');
plan skip_all => 'eager aggregation came with PostgreSQL 19'
  unless $node->safe_psql('postgres', q{SELECT count(*) FROM pg_settings WHERE name = 'enable_eager_aggregate'});

gaussian_table($node, 'r', 4000, 4, 'x[1] + 0.5 * x[2] + 1.5 * sin(id * id) > 0.1');
$node->safe_psql('postgres', q{
	SET client_min_messages = error;
	ALTER TABLE r ADD k int, ADD w float8, ADD t margin_term, ADD s margin_state, ADD p margin_profile, ADD m margin_model, ADD m0 margin_model, ADD one margin_model;
	UPDATE r SET k = id % 20, w = 1 + id % 20 % 3;
	CREATE TABLE models AS SELECT k, train_margin(y, x, '{"loss": "logistic", "lambda": 1e-3}' ORDER BY id) AS m,
	       train_margin(y, x, '{"loss": "logistic", "lambda": 0}' ORDER BY id) AS m0, train_one_class(x, '{"nu": 0.1}' ORDER BY id) AS one FROM r GROUP BY k;
	UPDATE r SET m = models.m, m0 = models.m0, one = models.one FROM models WHERE models.k = r.k;
	UPDATE r SET t = margin_term(model, y, x), s = _margin_sum_step(NULL, margin_term(model, y, x)) FROM (SELECT m AS model FROM models WHERE k = 0) AS first;
	CREATE TABLE keys AS SELECT i % 20 AS id, i AS v, i % 4 AS part FROM generate_series(1, 200) AS i;
	CREATE TABLE parts AS SELECT i AS part, i % 2 AS half FROM generate_series(0, 3) AS i, generate_series(1, 2);
	UPDATE r SET p = margin_profile('["k", "w", "x"]', k, w, x);
	VACUUM ANALYZE r, keys, parts;});

# Every aggregate with a combine function, by its arguments.
my %calls = (
	'margin_sum(margin_term)' => 'margin_evaluate((SELECT m FROM models WHERE k = 0), margin_sum(r.t))',
	'margin_sum(margin_profile)' => 'margin_sum(r.p)',
	'margin_sum(margin_state)' => 'margin_evaluate((SELECT m FROM models WHERE k = 0), margin_sum(r.s))',
	'margin_update(margin_model,"any","any",boolean)' => 'margin_update(r.m, r.y, r.x, false)',
	'margin_update(margin_model,"any","any",boolean,double precision)' => 'margin_update(r.m, r.y, r.x, false, r.w)',
	'margin_evaluate(margin_model,"any","any")' => 'margin_evaluate(r.m, r.y, r.x)',
	'margin_evaluate(margin_model,"any","any",double precision)' => 'margin_evaluate(r.m, r.y, r.x, r.w)',
	'margin_roc(margin_model,"any","any")' => 'margin_roc(r.m, r.y, r.x)',
	'margin_roc(margin_model,"any","any",double precision)' => 'margin_roc(r.m, r.y, r.x, r.w)',
	'margin_reliability(margin_model,"any","any")' => 'margin_reliability(r.m, r.y, r.x)',
	'margin_reliability(margin_model,"any","any",double precision)' => 'margin_reliability(r.m, r.y, r.x, r.w)',
	'margin_histogram(margin_model,"any","any")' => 'margin_histogram(r.m, r.y, r.x)',
	'margin_histogram(margin_model,"any","any",double precision)' => 'margin_histogram(r.m, r.y, r.x, r.w)',
	'margin_threshold(margin_model,"any","any",jsonb)' => q(margin_threshold(r.m, r.y, r.x, '{"maximize": "f1"}')),
	'margin_threshold(margin_model,"any","any",double precision,jsonb)' => q(margin_threshold(r.m, r.y, r.x, r.w, '{"maximize": "f1"}')),
	'margin_verify(margin_model,"any","any")' => 'margin_verify(r.m, r.y, r.x)',
	'margin_verify(margin_model,"any","any",double precision)' => 'margin_verify(r.m, r.y, r.x, r.w)',
	'margin_verify(margin_model,"any")' => 'margin_verify(r.one, r.x)',
	'margin_audit(margin_model,"any","any")' => 'margin_audit(r.m, r.y, r.x)',
	'margin_audit(margin_model,"any","any",jsonb)' => q(margin_audit(r.m, r.y, r.x, '{"lambda": 0.01}')),
	'margin_audit(margin_model,"any","any",double precision,jsonb)' => q(margin_audit(r.m, r.y, r.x, r.w, '{}')),
	'margin_inference(margin_model,"any","any")' => 'margin_inference(r.m0, r.y, r.x)',
	'margin_inference(margin_model,"any","any",jsonb)' => q(margin_inference(r.m0, r.y, r.x, '{"covariance": "HC0"}')),
	'margin_inference(margin_model,"any","any",double precision,jsonb)' => q(margin_inference(r.m0, r.y, r.x, r.w, '{}')),
	'margin_inference(margin_model,"any","any",double precision,"any",jsonb)' => q(margin_inference(r.m0, r.y, r.x, r.w, r.id % 100, '{}')));
is($node->safe_psql('postgres', q{
	SELECT string_agg(a.aggfnoid::regprocedure::text, ' ' ORDER BY a.aggfnoid::regprocedure::text COLLATE "C") FROM pg_aggregate AS a
	  JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = a.aggfnoid AND d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'margin')
	 WHERE a.aggcombinefn <> 0}),
	join(' ', sort keys %calls), 'the aggregates of the catalogue that have partial states are those below');

# Every row of a group meets as many rows of the other side, so that the group's model stays its optimum.
my %joins = (
	'a key of several rows' => 'SELECT r.k, AGGREGATE FROM r JOIN keys AS k ON k.id = r.k GROUP BY r.k ORDER BY 1',
	'a condition on the other side' => 'SELECT k.id, AGGREGATE FROM r JOIN keys AS k ON k.id = r.k WHERE k.v > 30 GROUP BY k.id ORDER BY 1',
	'three tables' => 'SELECT k.id, AGGREGATE FROM r JOIN keys AS k ON k.id = r.k JOIN parts AS p ON p.part = k.part GROUP BY k.id ORDER BY 1',
	'an outer join' => 'SELECT r.k, AGGREGATE FROM r LEFT JOIN keys AS k ON k.id = r.k AND k.v > 100 GROUP BY r.k ORDER BY 1');

# The largest relative difference of two answers' numbers; infinite where anything else differs.
sub distance
{
	my ($one, $other) = @_;
	my $number = qr/-?\d+(?:\.\d+)?(?:e[-+]?\d+)?/;
	my @one = split /($number)/, $one;
	my @other = split /($number)/, $other;
	return 'inf' unless @one == @other;
	my $largest = 0;
	foreach my $i (0 .. $#one)
	{
		next if $one[$i] eq $other[$i];
		return 'inf' unless $i % 2;
		my $size = abs($one[$i]) > 1 ? abs $one[$i] : 1;
		my $difference = abs($one[$i] - $other[$i]) / $size;
		$largest = $difference if $difference > $largest;
	}
	return $largest;
}
is(distance('{"a": [1.5, 2]}', '{"a": [1.5, 2.5]}'), 0.25, 'the comparison sees a number');
is(distance('{"a": 1}', '{"b": 1}'), 'inf', '... and a word');

my ($eager, $same, $comparisons) = (0, 0, 0);
foreach my $aggregate (sort keys %calls)
{
	my $large = $aggregate =~ /^margin_(audit|inference)/;
	foreach my $join (sort keys %joins)
	{
		my $query = $joins{$join} =~ s/AGGREGATE/to_jsonb($calls{$aggregate}) AS answer/r;
		$query = "SELECT $1, jsonb_build_array((answer).primal, (answer).dual, (answer).weights) FROM (" . $joins{$join} =~ s/AGGREGATE/$calls{$aggregate} AS answer/r . ') AS q'
		  if $aggregate =~ /^margin_update/ && $joins{$join} =~ /^SELECT \w\.(\w+)/;
		my $plan = $node->safe_psql('postgres', "SET min_eager_agg_group_size = 0; EXPLAIN (COSTS OFF) $query");
		my $partial = $plan =~ /Partial/;
		my @answers = map { $node->safe_psql('postgres', "SET client_min_messages = error; SET min_eager_agg_group_size = 0; SET enable_eager_aggregate = $_; $query") } ('on', 'off');
		my $distance = distance(@answers);
		cmp_ok($distance, '<=', 1e-12, "$aggregate, $join: the same on and off" . ($partial ? ', below the join' : ''))
		  or diag("$answers[0]\n$answers[1]\n$plan");
		++$comparisons;
		++$same if $answers[0] eq $answers[1];
		++$eager if $partial;
		unlike($plan, qr/Partial/, '... and always above it: its states are large') if $large;
	}
}
is($comparisons, 100, '100 comparisons');
cmp_ok($eager, '>=', 40, "... of them $eager with aggregates below the join; $same give the same bits");
done_testing();

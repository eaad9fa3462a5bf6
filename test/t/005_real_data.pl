# Real data: on every separable set the interval is as narrow as asked and margin_verify agrees; on the others the
# answer is a proof, and the weights still classify. Without the shared data sets the demo's iris and breast cancer
# stand in, and the log says so.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('real_data', 'max_parallel_workers_per_gather = 0', 'shared_buffers = 512MB');

# check_separable(TABLE, NAME, INTERCEPT): tolerance 1e-3 and 1e-6.
sub check_separable
{
	my ($table, $name, $intercept, $order) = @_;
	my %ends;
	foreach my $tolerance ('1e-3', '1e-6')
	{
		my $answer = $node->safe_psql('postgres', qq{
			SET client_min_messages = error;
			CREATE TEMP TABLE fitted AS SELECT train_margin(y, x,
			  margin_options(tolerance => $tolerance, intercept => $intercept, dual_weights => true) ORDER BY $order) AS model FROM $table;
			SELECT (model).status, ((model).margin_upper - (model).margin_lower) / (model).margin_upper <= $tolerance,
			  (SELECT bool_and(margin_predict((SELECT model FROM fitted), x, NULL::int) = y) FROM $table),
			  abs((v).margin_lower / (model).margin_lower - 1) < 1e-9 AND (v).margin_upper >= (model).margin_lower
			    AND abs((v).margin_upper / (model).margin_upper - 1) < 1e-9,
			  (model).margin_lower, (model).margin_upper
			  FROM (SELECT model, (SELECT margin_verify(f.model, y, x ORDER BY $order) FROM $table) AS v FROM fitted AS f) AS s;});
		my ($status, $narrow, $correct, $verified, $lower, $upper) = split /\|/, $answer;
		is("$status|$narrow|$correct|$verified", 'optimal|t|t|t',
			"$name, intercept $intercept, tolerance $tolerance, ORDER BY $order: [$lower, $upper]");
		$ends{$tolerance} = [ $lower, $upper ];
	}
	ok($ends{'1e-3'}[0] <= $ends{'1e-6'}[1] && $ends{'1e-6'}[0] <= $ends{'1e-3'}[1], "... and the two intervals overlap");
	return @{ $ends{'1e-6'} };
}

sub overlap { return $_[0] <= $_[3] && $_[2] <= $_[1]; }

if (shared_sets())
{
	# The maximum margins with intercept, from LIBSVM (C = 1e9) as bench/run.sh prints them, enclosed to 1e-4.
	my @sets = qw(colon-cancer leu leu.t leu_all arcene arcene.t arcene_all gisette_scale.t mushrooms basehock pcmac reuters-acq
	  mnist_0v1 mnist_6v7);
	foreach my $set (@sets)
	{
		(my $table = $set) =~ s/\W/_/g;
		load_set($node, $table, $set, 'real');
		my @with = check_separable($table, $set, 'true', 'id');
		my @without = check_separable($table, $set, 'false', 'id');
		cmp_ok($with[1], '>=', $without[0], '... an intercept cannot make the margin smaller');
		my @shuffled = check_separable($table, $set, 'true', 'md5(id::text)');
		ok(overlap(@with, @shuffled), '... and the order of the rows does not matter');
		if ($set =~ /^(colon-cancer|mushrooms|arcene)$/)
		{
			$node->safe_psql('postgres', "CREATE TABLE ${table}_wide AS SELECT id, y, x::double precision[] AS x FROM $table ORDER BY id");
			my @wide = check_separable("${table}_wide", "$set in double precision", 'true', 'id');
			is("@wide", "@with", '... double precision of the same values gives the same interval');
		}
	}
	load_set($node, 'sonar', 'sonar_scale', 'double');
	check_separable('sonar', 'sonar_scale', 'true', 'id');

	# Badly scaled: an honest wider interval is acceptable, a wrong one is not. The lower bound is checked in numeric
	# arithmetic, which knows no rounding of sums.
	load_set($node, 'wdbc', 'wdbc', 'double');
	my @ends;
	foreach my $tolerance ('1e-3', '1e-6')
	{
		my ($status, $lower, $upper, $exact) = split /\|/, $node->safe_psql('postgres', qq{SET client_min_messages = error;
			CREATE TEMP TABLE fitted AS SELECT train_margin(y, x, margin_options(tolerance => $tolerance)) AS model FROM wdbc;
			SELECT (model).status, (model).margin_lower, (model).margin_upper,
			  (SELECT min(y * ((SELECT sum(a::text::numeric * b::text::numeric) FROM unnest((model).weights, x) AS t(a, b))
			           + ((model).intercept[1])::text::numeric)) FROM wdbc)
			  / sqrt((SELECT sum(a::text::numeric ^ 2) FROM unnest((model).weights) AS a)) FROM fitted});
		like($status, qr/^(optimal|iteration_limit)$/, "wdbc raw, tolerance $tolerance: status $status, [$lower, $upper]");
		cmp_ok($lower, '<=', $exact + 1e-6 * abs($exact), "... whose lower bound holds in exact arithmetic ($exact)");
		push @ends, $lower, $upper;
	}
	ok(overlap(@ends), '... and the two intervals overlap');

	# l1 margins of one class against the rest, as HiGHS has them (test/unit/l1_margins.py).
	my %l1 = ('khan-srbct' => [ 1.00167084673325, 0.702024950539004, 0.695804838461091, 0.623038376138075 ],
		digits8x8 => [ 0.656885601676654, 0.021738354140222, 0.428117448716732, 0.0274993557490885, 0.321288218907316,
			0.18849432592135, 0.253971739504935, 0.214616538888641, 0, 0 ]);
	foreach my $set (sort keys %l1)
	{
		(my $table = $set) =~ s/\W/_/g;
		load_set($node, $table, $set, 'double');
		my @margins = split /\n/, $node->safe_psql('postgres', qq{SET client_min_messages = error;
			SELECT greatest((m).margin_lower, 0) || '|' || (m).margin_upper FROM (SELECT c,
			  (SELECT train_margin(y = c, x, margin_options(norm => 1, tolerance => 1e-7)) AS m FROM $table)
			  FROM (SELECT DISTINCT y AS c FROM $table) AS classes) AS fitted ORDER BY c});
		is(scalar @margins, scalar @{ $l1{$set} }, "$set: an l1 margin for each class");
		foreach my $c (0 .. $#margins)
		{
			my ($lower, $upper) = split /\|/, $margins[$c];
			my $known = $l1{$set}[$c];
			ok(abs($lower - $known) <= 1e-6 * $known && abs($upper - $known) <= 1e-6 * $known + 1e-9,
				"... class $c: [$lower, $upper] encloses $known to 1e-6");
		}
	}

	# Not separable.
	foreach my $set (qw(mnist_3v5 a9a german.numer heart_scale ionosphere_scale breast-cancer-wisconsin banknote))
	{
		(my $table = $set) =~ s/\W/_/g;
		load_set($node, $table, $set, 'real');
		my ($status, $lower, $upper, $radius, $accuracy, $majority) = split /\|/, $node->safe_psql('postgres', qq{SET client_min_messages = error;
			CREATE TEMP TABLE fitted AS SELECT train_margin(y, x, margin_options(max_seconds => 20)) AS model FROM $table;
			SELECT (model).status, (model).margin_lower, (model).margin_upper,
			  (SELECT max(|/(SELECT sum(v * v) FROM unnest(x) AS v)) FROM $table WHERE id < 200),
			  (SELECT avg((margin_predict(model, x, NULL::int) = y)::int) FROM $table),
			  (SELECT max(n) / sum(n) FROM (SELECT count(*) AS n FROM $table GROUP BY y) AS c) FROM fitted});
		ok($lower <= 0 && ($status eq 'not_separable' || $upper < 1e-2 * $radius),
			"$set: $status, no separator has a margin above $upper (rows of norm $radius)");
		cmp_ok($accuracy, '>', $majority - 0.1, sprintf('... and the weights still classify (%.3f)', $accuracy));
	}
}
else
{
	diag('no shared data sets: only the sets of the demo are tested');
}

# The demo's sets, which are always there.
$node->safe_psql('postgres', qq{
	CREATE TABLE iris_file (id int, species text, a float8, b float8, c float8, d float8);
	COPY iris_file FROM '$ENV{MARGIN_DEMO_DATA}/iris.csv' CSV HEADER;
	CREATE TABLE iris AS SELECT id, (species = 'setosa')::int AS y, ARRAY[a, b, c, d] AS x FROM iris_file;});
check_separable('iris', 'iris setosa against the others', $_, 'id') foreach ('true', 'false');
is($node->safe_psql('postgres', q{SET client_min_messages = error;
	SELECT (m).status, (m).margin_lower <= 0, (m).margin_upper < 0.01, (m).classes FROM (SELECT train_margin(species, ARRAY[a, b, c, d],
	  margin_options(max_seconds => 20)) AS m FROM iris_file) AS s}),
	'not_separable|t|t|{setosa,versicolor,virginica}', 'iris: three species are proven not to be separable');

$node->stop;
done_testing();

# margin_pmml writes what version 4.4 of the schema allows, in its order (pmml_check.py).
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('pmml');
my $place = PostgreSQL::Test::Utils::tempdir();
# Columns of text before and after numbers, booleans, arrays; names and categories that XML must escape.
$node->safe_psql('postgres', q{
	CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
	CREATE TABLE mixed AS SELECT i % 3 = 0 OR i % 7 = 1 AS y, 'class ' || i % 3 AS kind, sin(i) * 3 AS target, i % 5 AS count,
		'a' || i % 4 AS alpha, i * 0.5 AS b, ('{sad,ok,happy}'::mood[])[i % 3 + 1] AS c, i % 2 = 0 AS d, cos(i) AS e, 'x<&">' || i % 2 AS "f<&"">", ARRAY[sin(i * 3), i % 2]::real[] AS g, date '2026-01-01' + i AS h FROM generate_series(1, 60) i;});
my $row = q{(SELECT r FROM (SELECT alpha, b, c, d, e, "f<&"">", g, h) r)};
my @documents = (
	['two classes', "train_margin(y, $row, margin_options(lambda => 0.01, loss => 'logistic'))"],
	['a hard margin', "train_margin(e > 0.2, $row)"],
	['three classes', "train_margin(kind, $row, margin_options(lambda => 0.01))"],
	['classes jointly', "train_margin(kind, $row, margin_options(lambda => 0.01, loss => 'logistic', multiclass => 'joint'))"],
	['a regression', "train_margin(target, $row, margin_options(lambda => 0.01, loss => 'squared'))"],
	['counts', "train_margin(count, $row, margin_options(lambda => 0.01, loss => 'poisson'))"],
	['probabilities', "train_margin(y, $row, margin_options(lambda => 0.01, calibration => 'platt'))"],
	['text alone', q{train_margin(y, (SELECT r FROM (SELECT alpha) r), margin_options(lambda => 0.01, loss => 'logistic'))}],
	['numbers alone', "train_margin(y, ARRAY[b, e], margin_options(lambda => 0.01, loss => 'logistic'))"],
	['a sparse row', q{train_margin(y, format('{%s:1}/100000', i * 7)::margin_sparse, margin_options(lambda => 0.01)) FROM (SELECT count AS i, y FROM mixed) t}]);
my @files;
my %text;
foreach my $document (@documents)
{
	my ($name, $call) = @$document;
	$call .= ' FROM mixed' if $call !~ / FROM \(SELECT count/;
	my ($out, $err) = ('', '');
	$node->psql('postgres', "SET client_min_messages = error; SELECT margin_pmml(m) FROM (SELECT $call) t(m)", stdout => \$out, stderr => \$err);
	if ($err =~ /0A000|PMML/) { note("$name: $err"); next; }
	(my $path = "$place/$name.xml") =~ tr/ /_/;
	open(my $file, '>', $path) or die "$path: $!";
	print $file "$out\n";
	close $file;
	push @files, $path;
	$text{$name} = $out;
}
is(scalar(@files), scalar(@documents), 'documents');
my $checker = "$ENV{TESTDIR}/t/pmml_check.py";
is(scalar(qx(python3 '$checker' @files)), '', 'what they hold, and in which order, is PMML 4.4');

# the checker finds what is wrong
my $good = $text{'two classes'};
my $bad = "$place/bad.xml";
foreach my $change (['an order', sub { s/(<NumericPredictor [^>]*>\s*)(<CategoricalPredictor [^>]*>\s*)/$2$1/ }], ['an element', sub { s/NumericPredictor/Predictor/ }], ['an attribute', sub { s/coefficient=/weight=/ }],
	['a number', sub { s/coefficient="[^"]*"/coefficient="much"/ }], ['a field', sub { s/NumericPredictor name="/NumericPredictor name="no / }], ['a value', sub { s/(CategoricalPredictor [^>]*value=")/$1no / }], ['a place', sub { s/(<Output>.*<\/Output>\s*)(<RegressionTable.*<\/RegressionTable>\s*)/$2$1/s }])
{
	local $_ = $good;
	$change->[1]->();
	open(my $file, '>', $bad) or die "$bad: $!";
	print $file "$_\n";
	close $file;
	isnt(scalar(qx(python3 '$checker' '$bad')), '', "a document is refused for $change->[0]");
}
$node->stop;
done_testing();

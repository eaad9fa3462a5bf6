# margin_pmml writes what version 4.4 of the schema allows, in its order (pmml_check.py), and what a reader of the standard
# (pmml_score.py) makes of it are the predictions of the model: of rows with NULLs and values that no training had, too.
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
	['a sparse row', q{train_margin(y, format('{%s:1}/100000', 1 + i * 7)::margin_sparse, margin_options(lambda => 0.01)) FROM (SELECT count AS i, y FROM mixed) t}]);
my @files;
my %text;
foreach my $document (@documents)
{
	my ($name, $call) = @$document;
	$call .= ' FROM mixed' if $call !~ / FROM \(SELECT count/;
	my ($out, $err) = ('', '');
	$node->psql('postgres', "SET client_min_messages = error; SELECT margin_pmml(m) FROM (SELECT $call) t(m)", stdout => \$out, stderr => \$err);
	is($err, '', $name);
	(my $path = "$place/$name.xml") =~ tr/ /_/;
	open(my $file, '>', $path) or die "$path: $!";
	print $file "$out\n";
	close $file;
	push @files, $path;
	$text{$name} = $out;
}
my $checker = "$ENV{TESTDIR}/t/pmml_check.py";
is(scalar(qx(python3 '$checker' @files 2>&1)), '', 'what they hold, and in which order, is PMML 4.4');

# Rows of every kind of column, with NULLs in those whose names end with _; then each column NULL in turn, and unknown values.
# A document cannot tell a sparse block that is NULL from one of zeros, unless the model has a feature for it.
$node->safe_psql('postgres', q{
	CREATE FUNCTION r(i integer, k integer) RETURNS float8 IMMUTABLE LANGUAGE sql AS $$SELECT ('x' || substr(md5(i || '.' || k), 1, 7))::bit(28)::int / 268435456.0$$;
	CREATE TABLE t (id int, x float8, x_ float8, f_ boolean, flag boolean, day date, day_ date, at timestamp, zoned_ timestamptz, clock_ time, span interval, word text, word_ text, mood_ mood, padded char(5),
		list real[], list_ float8[], part margin_sparse, part_ margin_sparse, none_ int, silent_ text);
	INSERT INTO t SELECT i, r(i, 1) * 9, CASE WHEN r(i, 2) < 0.8 THEN r(i, 3) - 3 END, CASE WHEN r(i, 4) < 0.9 THEN r(i, 5) < 0.3 END, r(i, 6) < 0.5, date '1960-01-01' + (r(i, 7) * 20000)::int,
		CASE WHEN r(i, 8) < 0.8 THEN date '2020-01-01' + (r(i, 9) * 900)::int END, timestamp '1969-07-01 01:02:03' + floor(r(i, 10) * 1e7) * interval '7 s',
		CASE WHEN r(i, 11) < 0.8 THEN timestamptz '2026-01-01 00:00+02' + floor(r(i, 12) * 1e5) * interval '61 s' END, CASE WHEN r(i, 13) < 0.9 THEN time '00:00' + floor(r(i, 14) * 86399) * interval '1 s' END,
		floor(r(i, 15) * 1000) * interval '1 day', 'w<&">' || floor(r(i, 16) * 4), CASE WHEN r(i, 17) < 0.7 THEN 'v' || floor(r(i, 18) * 3) END, CASE WHEN r(i, 19) < 0.8 THEN ('{sad,ok,happy}'::mood[])[1 + floor(r(i, 20) * 3)::int] END,
		'p' || floor(r(i, 21) * 3), ARRAY[r(i, 22), r(i, 23) * 4]::real[], CASE WHEN r(i, 24) < 0.8 THEN ARRAY[r(i, 25), r(i, 26) * 5, 7] END, format('{%s:2,%s:1}', 1 + i % 3, 4 + i % 5)::margin_sparse,
		CASE WHEN r(i, 27) < 0.8 THEN format('{%s:1.5}', 1 + i % 6)::margin_sparse END, NULL, NULL FROM generate_series(1, 400) i;
	CREATE TABLE asked AS SELECT * FROM t WHERE id <= 150;
	DO $$DECLARE c text; BEGIN FOR c IN SELECT attname FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 1 AND attname <> 'part' LOOP
		EXECUTE format('INSERT INTO asked SELECT (jsonb_populate_record(t, %L)).* FROM t WHERE id <= 8', jsonb_build_object(c, NULL)); END LOOP; END$$;
	INSERT INTO asked SELECT (jsonb_populate_record(t, '{"word": "new"}')).* FROM t WHERE id <= 8;
	INSERT INTO asked SELECT (jsonb_populate_record(t, '{"word_": "new"}')).* FROM t WHERE id <= 8;
	INSERT INTO asked SELECT (jsonb_populate_record(t, '{"silent_": "new"}')).* FROM t WHERE id <= 8;
	INSERT INTO asked SELECT (jsonb_populate_record(t, '{"none_": 3}')).* FROM t WHERE id <= 8;
	INSERT INTO asked SELECT (jsonb_populate_record(t, '{"x": 60, "x_": -1e6, "day_": "1900-02-28"}')).* FROM t WHERE id <= 8;
	CREATE FUNCTION answer(m margin_model, a asked, OUT scores float8[], OUT answer text, OUT probability float8) LANGUAGE plpgsql AS $$BEGIN
		scores := margin_scores(m, a); answer := margin_predict(m, a);
		IF (m).loss = 'logistic' AND cardinality((m).classes) = 2 THEN probability := margin_probability(m, a); END IF;
	EXCEPTION WHEN null_value_not_allowed OR data_exception THEN scores := NULL; END$$;
	CREATE VIEW asked_rows AS SELECT a AS features, to_jsonb(a) - '{id,span,list,list_,part,part_}'::text[] || jsonb_build_object('span', extract(epoch FROM span) / 86400, 'list', list::float8[], 'list_', list_,
		'part', part::jsonb, 'part_', part_::jsonb, 'part_ IS NULL', (part_ IS NULL)::int, 'padded', padded::text) AS r FROM asked a;});
my $scorer = "$ENV{TESTDIR}/t/pmml_score.py";
# name, label, options
my @models = (
	['as trained', 'x + word_a > 4', q{lambda => 1e-2, loss => 'logistic'}],
	['imputed', 'x + word_a > 4', q{lambda => 1e-2, loss => 'logistic', missing => 'impute'}],
	['unknown as the reference', 'x + word_a > 4', q{lambda => 1e-2, loss => 'logistic', missing => 'impute', unknown_features => 'reference'}],
	['skipped', 'x + word_a > 4', q{lambda => 1e-2, loss => 'logistic', missing => 'skip', exclude => '{id,none_,silent_,part_}'}],
	['an error', 'x + word_a > 4', q{lambda => 1e-2, missing => 'error', include => '{x,flag,day,at,span,word,padded,list,part}'}],
	['bins', 'x + word_a > 4', q{lambda => 1e-2, loss => 'logistic', bins => 6}],
	['bins of a regression, imputed', 'x * x + 3 * word_a', q{lambda => 1e-2, loss => 'huber', bins => 5, missing => 'impute', unknown_features => 'reference'}],
	['three classes', q{CASE WHEN x < 3 THEN 'low' WHEN x + word_a < 6 THEN 'mid' ELSE '"high"' END}, 'lambda => 1e-2'],
	['classes jointly', q{CASE WHEN x < 3 THEN 'low' WHEN x + word_a < 6 THEN 'mid' ELSE '"high"' END}, q{lambda => 1e-2, loss => 'logistic', multiclass => 'joint', bins => 4}],
	['numbers as they are', 'x * x + 3 * word_a', q{lambda => 1e-2, loss => 'squared', standardize => false}],
	['counts with an offset', 'floor(x)', q{lambda => 1e-2, loss => 'poisson', offset_feature => 'x'}],
	['few weights', 'x + word_a > 4', q{lambda => 5e-2, loss => 'logistic', l1_ratio => 1}],
	['a reference', 'x + word_a > 4', q{lambda => 1e-2, loss => 'logistic', reference => '{"word_": "v1", "padded": "p2"}', include => '{x,word_,padded,f_}'}],
	['no penalty', 'x * x + 3 * word_a', q{lambda => 0, loss => 'squared', collinear => 'drop', include => '{x,x_,day_,word,word_,mood_,flag,f_}'}]);
my %scored;
foreach my $model (@models)
{
	my ($name, $label, $options) = @$model;
	$options .= ", exclude => '{id}'" if $options !~ /include|exclude/;
	$node->safe_psql('postgres', "SET client_min_messages = error; DROP TABLE IF EXISTS model; CREATE TABLE model AS SELECT train_margin($label, t, margin_options($options)) AS m FROM (SELECT t, t.*, coalesce(length(word_), 0) AS word_a FROM t) AS t" =~ s/, t, margin_options/, t.t, margin_options/r);
	foreach my $part (['xml', 'SELECT margin_pmml(m) FROM model'], ['json', 'SELECT jsonb_build_object($$row$$, r, $$scores$$, scores, $$answer$$, answer, $$probability$$, probability) FROM asked_rows, model, answer(m, features)'])
	{
		open(my $file, '>', "$place/scored.$part->[0]") or die "scored: $!";
		print $file $node->safe_psql('postgres', $part->[1]), "\n";
		close $file;
	}
	is(scalar(qx(python3 '$checker' '$place/scored.xml' 2>&1)), '', "$name: PMML 4.4");
	my @lines = split /\n/, qx(python3 '$scorer' '$place/scored.xml' '$place/scored.json' 2>&1);
	my $counts = pop @lines;
	is(join("\n", @lines[0 .. ($#lines < 3 ? $#lines : 3)]), '', "$name: the predictions of the model");
	my ($answered, $refused) = split / /, $counts;
	note("$name: $answered rows with an answer, $refused without");
	cmp_ok($answered, '>=', $name eq 'skipped' ? 10 : 150, "... of rows with an answer");
	is($refused > 0 ? 'some' : 'none', $options =~ /unknown_features/ ? 'none' : 'some', '... and of those without');
	$scored{$name} = [slurp_file("$place/scored.xml"), slurp_file("$place/scored.json")];
}

# the reader finds what is wrong
foreach my $change (['a weight', 'as trained', sub { s/(NumericPredictor name="x" coefficient=")-?/${1}7/ }], ['a mean', 'as trained', sub { s/(isMissing[^\n]*<Constant dataType="double">)-?/${1}7/ }],
	['a bin', 'bins', sub { s/(Discretize field="x">[^\n]*\n[^\n]*rightMargin=")/${1}7/ }], ['an unknown value', 'as trained', sub { s/invalidValueTreatment="returnInvalid"/invalidValueTreatment="asIs"/g }],
	['a missing value', 'as trained', sub { s/ missingValueTreatment="returnInvalid"//g }], ['a year', 'as trained', sub { s/>1970</>1971</ }], ['a class', 'three classes', sub { s/targetCategory="low"/targetCategory="mid"/ }])
{
	my ($what, $name, $how) = @$change;
	(local $_, my $rows) = @{$scored{$name}};
	$how->();
	isnt($_, $scored{$name}[0], "another document: $what");
	foreach my $part (['xml', $_], ['json', $rows])
	{
		open(my $file, '>', "$place/wrong.$part->[0]") or die "wrong: $!";
		print $file $part->[1];
		close $file;
	}
	my @lines = split /\n/, qx(python3 '$scorer' '$place/wrong.xml' '$place/wrong.json' 2>&1);
	cmp_ok(scalar(@lines), '>', 1, '... has other predictions');
}

# the checker finds what is wrong
my $good = $text{'two classes'};
my $bad = "$place/bad.xml";
foreach my $change (['an order', sub { s/(<NumericPredictor [^>]*>\s*)(<CategoricalPredictor [^>]*>\s*)/$2$1/ }], ['an element', sub { s/NumericPredictor/Predictor/ }], ['an attribute', sub { s/coefficient=/weight=/ }],
	['a number', sub { s/coefficient="[^"]*"/coefficient="much"/ }], ['a field', sub { s/NumericPredictor name="/NumericPredictor name="no / }], ['a value', sub { s/(CategoricalPredictor [^>]*value=")/$1no / }], ['a place', sub { s/(<Output>.*<\/Output>\s*)(<LocalTransformations>.*<\/LocalTransformations>\s*)/$2$1/s }])
{
	local $_ = $good;
	$change->[1]->();
	open(my $file, '>', $bad) or die "$bad: $!";
	print $file "$_\n";
	close $file;
	isnt(scalar(qx(python3 '$checker' '$bad' 2>&1)), '', "a document is refused for $change->[0]");
}
$node->stop;
done_testing();

# No call keeps a cancel waiting: under margin.poll_trace the whole SQL suite and trainings of many rows, classes,
# features, declared dimensions and input bytes leave no stretch of 50 ms of CPU between two looks at the interrupts.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $allowed = 50;    # ms of CPU
my $node = new_node('polls', "session_preload_libraries = 'margin'", "margin.poll_trace = $allowed", 'jit = off',
	'max_parallel_workers_per_gather = 0', 'client_min_messages = error', "statement_timeout = '60s'");
my $library = $node->safe_psql('postgres', q{SELECT setting || '/margin.so' FROM pg_config WHERE name = 'PKGLIBDIR'});

# Function names for the offsets of a stack, as far as the tools at hand know them.
sub names
{
	my @offsets = map { sprintf '0x%x', hex($_) - 1 } split ' ', shift;
	return 'an end of the function' if !@offsets;
	my @lines = split /\n/, qx{addr2line -Cfse $library @offsets 2>/dev/null};
	my @names = map { s/\(.*//r =~ s/margin:://gr } @lines[ grep { $_ % 2 == 0 } 0 .. $#lines ];
	return join ' < ', @names ? @names : @offsets;
}

# The stretches that the server's log tells of after position $from.
sub stretches
{
	my ($from) = @_;
	my $log = slurp_file($node->logfile, $from);
	my @found;
	while ($log =~ /margin: (\S+) did not check for interrupts for (\d+) ms of CPU\n.*?DETAIL:\s+Stretch from([^.]*?) ?to([^.]*), without its (\d+) page faults\./gs)
	{
		my ($function, $took, $begin, $end, $faults) = ($1, $2, $3, $4, $5);
		push @found, "$took ms, without $faults page faults, in $function\n  from " . names($begin) . "\n  to " . names($end);
	}
	return @found;
}

# polled(NAME, RUN): RUN leaves no long stretch. Other load on the machine does not count as CPU time, but its use of the
# caches does: a stretch must be there three times.
sub polled
{
	my ($name, $run) = @_;
	my @found;
	foreach my $attempt (1 .. 3)
	{
		my $from = -s $node->logfile;
		$run->();
		@found = stretches($from) or last;
	}
	is(scalar(@found), 0, "$name: no stretch of $allowed ms of CPU") or diag(join("\n", @found));
	return;
}

# What the trace sees, it reports: the server unpacks an array of 8 MB in one go, which takes longer than 1 ms anywhere, and
# with time to spare where the memory of the array before serves again: page faults do not count.
{
	my $from = -s $node->logfile;
	$node->safe_psql('postgres', 'CREATE TABLE packed AS SELECT array_fill(0.5::float8, ARRAY[1000000]) AS x');
	$node->safe_psql('postgres', 'SET margin.poll_trace = 1; SELECT count(margin_finite(x)) FROM packed, generate_series(1, 10)');
	like(join("\n", stretches($from)), qr/in margin_finite/, 'the trace is on');
	$node->safe_psql('postgres', 'DROP TABLE packed');
}

# The SQL suite, each file in a database of its own.
foreach my $file (sort glob "$ENV{TESTDIR}/sql/regress/*.sql")
{
	my ($name) = $file =~ m{([^/]+)\.sql$};
	polled($name, sub {
		$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS suite');
		$node->safe_psql('postgres', 'CREATE DATABASE suite');
		$node->safe_psql('suite', 'CREATE EXTENSION margin');
		system_log('psql', '-X', '-q', '-d', $node->connstr('suite'), '-o', '/dev/null', '-f', $file);
	});
}

$node->safe_psql('postgres', q{
	SELECT setseed(0.5);
	CREATE TABLE tall AS SELECT random() < 0.5 AS y, random() AS t, ARRAY[random(), random(), random()]::real[] AS x
	  FROM generate_series(1, 300000);
	CREATE TABLE wide AS SELECT random() < 0.5 AS y, random() AS t,
	  (SELECT array_agg(random() + 0 * i * j)::real[] FROM generate_series(1, 10000) AS j) AS x FROM generate_series(1, 300) AS i;
	CREATE TABLE classes AS SELECT 'class ' || i % 500 AS y, i AS id, ARRAY[random(), random(), random(), random()]::float8[] AS x
	  FROM generate_series(1, 4000) AS i;
	CREATE TABLE many AS SELECT 'class ' || i % 3842 AS y, i % 3842 AS price, ARRAY[random(), random(), random(), random()]::float8[] AS x
	  FROM generate_series(1, 20640) AS i;});

sub trained
{
	my ($label, $table, $options) = @_;
	polled("$table, $options",
		sub { $node->psql('postgres', "SELECT (train_margin($label, x, margin_options($options, max_seconds => 1))).rows FROM $table") });
	return;
}

foreach my $table ('tall', 'wide')
{
	trained('y', $table, $_)
	  foreach ("lambda => 1e-4", "lambda => 1e-4, loss => 'logistic', solver => 'newton'", "lambda => 1e-4, solver => 'newton'",
		"lambda => 1e-4, solver => 'sgd'", "lambda => 1e-4, loss => 'logistic', solver => 'sdca', accelerated => true",
		"norm => 1.5, solver => 'mirror_descent', mirror_loss => 'squared'", "lambda => 1e-4, calibration => 'isotonic'", "lambda => 1e-4, class_weight => 'balanced'",
		"solver => 'cutting_plane'", "solver => 'momentum'", "norm => 1", "norm => 1, learners => 'stumps'", "norm => 1.5");
	trained('t', $table, $_) foreach ("lambda => 1e-4, loss => 'absolute'", "lambda => 1e-4, loss => 'squared'", "loss => 'interpolate'");
}
trained('y', 'tall', "norm => 1, learners => 'trees', $_")
  foreach ("max_iterations => 2", "step => 'frank_wolfe', gap_tolerance => 0.1, solver => 'boosting', max_iterations => 2");
trained('y', $_, "norm => 1, solver => 'boosting', step => 'frank_wolfe', gap_tolerance => 0.01") foreach ('tall', 'wide');
trained('y', 'classes', $_) foreach ("solver => 'cutting_plane'", "solver => 'momentum'", "intercept => false", "lambda => 1e-4");
trained('y', 'many', 'lambda => 1e-3');

# By scans, from a sample of a few rows; and a state of 16 MB as text.
foreach my $table ('tall', 'wide')
{
	foreach my $options ("lambda => 1e-4", "lambda => 1e-4, loss => 'logistic'", "lambda => 1e-2, loss => 'squared'", "lambda => 1e-4, loss => 'absolute'")
	{
		my $label = $options =~ /squared|absolute/ ? 't' : 'y';
		polled("scans of $table, $options", sub {
			$node->psql('postgres', "SELECT (train_margin_from('SELECT $label, x FROM $table', margin_options($options, sample_rows => 50, max_seconds => 1))).rows");
		});
	}
}
polled('a state of 2000 features as text', sub {
	$node->safe_psql('postgres', q{SELECT length(margin_sum(margin_term(margin_question(margin_options(lambda => 1, loss => 'squared', sample_rows => 1)), t, x[1:2000]))::text::margin_state::text)
		FROM wide});
});

# Models that are large as documents. The server makes the jsonb of its parts in one call at the end, of half a microsecond a
# number where memory is slow: so 45,000 of them, and not more.
$node->safe_psql('postgres', q{
	CREATE TABLE curved AS SELECT CASE WHEN random() < 0.5 THEN 1 ELSE -1 END AS y, x[1:300] AS x FROM wide;
	CREATE TABLE documented AS SELECT margin_with_curvature((SELECT train_margin(y, x, '{"loss": "logistic", "lambda": 0.1}') FROM curved), y, x) AS m FROM curved;
	CREATE TABLE fields AS SELECT margin_pmml(jsonb_populate_record(null::margin_model, jsonb_build_object('weights', jsonb_agg(i), 'intercept', '[0]'::jsonb, 'loss', 'squared', 'lambda', 1))) AS p
	  FROM generate_series(1, 100000) AS i});
polled('margin_to_json and margin_from_json of a curvature', sub { $node->safe_psql('postgres', 'SELECT (margin_from_json(margin_to_json(m))).status FROM documented') });
polled('margin_from_pmml and margin_pmml of 100000 fields', sub { $node->safe_psql('postgres', q{SELECT length(margin_pmml(margin_from_pmml(p, 'squared', 1))) FROM fields}) });

# Numbers as labels with the loss forgotten, and more classes than are solved jointly: refused before any solving.
foreach my $label ('price', 'price::float8', 'price::text')
{
	my $err = '';
	$node->psql('postgres',
		"SELECT train_margin($label, x) FROM many; SET statement_timeout = '2s'; SELECT margin_cross_validate($label, x) FROM many",
		stderr => \$err, on_error_stop => 0);
	like($err, $label =~ /text/ ? qr/3842 classes.*at most 512/ : qr/3842 distinct numbers in 20640 rows\n.*loss => 'squared'/s,
		"3842 classes of type $label are refused");
}

# Declared dimensions are a claim: two rows of one feature each cost what that feature costs.
$node->safe_psql('postgres', q{
	CREATE TABLE declared AS SELECT i > 1 AS y, i AS t, ('{' || i || ':1}/100000000')::margin_sparse AS x FROM generate_series(1, 2) AS i});
trained('y', 'declared', $_)
  foreach ("solver => 'cutting_plane'", "norm => 1.5", "norm => 1", "norm => 1, learners => 'stumps'", "kernel => 'rbf'",
	"lambda => 1e-3, solver => 'newton'", "lambda => 1e-3, solver => 'sdca'", "lambda => 1e-3, l1_ratio => 0.5",
	"kernel => 'ntk_finite', width => 1000", "lambda => 1e-3, standardize => true");
polled('a finite network of width 10000 on 3000 features', sub {
	$node->psql('postgres', q{SELECT (train_margin(i > 1, ('{' || (SELECT string_agg(j || ':' || i, ',') FROM generate_series(1, 3000) j)
	  || '}')::margin_sparse, margin_options(kernel => 'ntk_finite', width => 10000, max_seconds => 1))).rows
	  FROM generate_series(1, 2) AS i});
});

polled('an array of 100,000,000 zeros', sub { $node->safe_psql('postgres', 'SELECT cardinality(x::real[]) FROM declared LIMIT 1') });

# Megabytes of input, in order and not.
$node->safe_psql('postgres', q{
	CREATE TABLE texts AS SELECT kind, '{' || string_agg(CASE kind WHEN 'ordered' THEN i ELSE 4000001 - i END || ':0.' || i, ',' ORDER BY i) || '}'
	  AS content FROM generate_series(1, 4000000) AS i, unnest('{ordered,reversed}'::text[]) AS kind GROUP BY kind;
	CREATE TABLE documents AS SELECT jsonb_object_agg(i, i) AS content FROM generate_series(1, 100000) AS i});
foreach my $kind ('ordered', 'reversed')
{
	polled("sparse text of 60 MB, $kind",
		sub { $node->safe_psql('postgres', "SELECT length(content::margin_sparse::text) FROM texts WHERE kind = '$kind'") });
}
polled('jsonb of 100000 keys as features',
	sub { $node->safe_psql('postgres', 'SELECT content::margin_sparse = content::margin_sparse FROM documents') });
polled('jsonb of 100000 keys as options',
	sub { $node->psql('postgres', 'SELECT train_margin(y, x, content) FROM documents, declared') });

$node->stop;
done_testing();

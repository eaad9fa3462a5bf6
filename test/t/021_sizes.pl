# What a model, a row or a document declares costs nothing: with models of a few hundred bytes that declare 2,147,483,647
# features every function of a model, a question or a state takes less than 50 MB and 100 ms of CPU, or refuses with 54000
# (or another error of ours) as fast. The functions are those of the catalogue: one that is not in the table below fails.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my ($most_memory, $most_time) = (50 * 1024, 100);    # kB, ms of CPU
# What is wrong here would take the memory of the machine.
system_or_bail('prlimit', '--pid', $$, '--as=6000000000');
my $node = new_node('sizes', "session_preload_libraries = 'margin'", 'jit = off', 'client_min_messages = error',
	'max_parallel_workers_per_gather = 0', 'margin.threads = 1');

# Rows, with a label of each kind: r is a row with named columns of which one declares so many features.
$node->safe_psql('postgres', q{
	CREATE TABLE wide AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN 1 ELSE -1 END AS side, 0.5 * i AS target, (i % 3)::text AS kind,
	    x
	  FROM (SELECT i, ('{' || CASE WHEN i < 5 THEN i || ':' || i || ',' || 2147483640 + i || ':1' ELSE '' END || '}/2147483647')::margin_sparse AS x
	          FROM generate_series(1, 6) AS i) AS t;
	CREATE TABLE named AS SELECT id, side, x AS tags, id::float8 AS size FROM wide;
	CREATE TABLE models (name text, m margin_model, label text, features text);
	INSERT INTO models SELECT 'hinge', train_margin(side, x, '{"lambda": 0.1}' ORDER BY id), 'side', 'x' FROM wide;
	INSERT INTO models SELECT 'logistic', train_margin(side, x, '{"lambda": 0.1, "loss": "logistic", "dual_weights": true, "history": true}' ORDER BY id), 'side', 'x' FROM wide;
	INSERT INTO models SELECT 'three classes', train_margin(kind, x, '{"lambda": 0.1, "loss": "squared_hinge"}' ORDER BY id), 'kind', 'x' FROM wide;
	INSERT INTO models SELECT 'joint', train_margin(kind, x, '{"lambda": 0.1, "loss": "logistic", "multiclass": "joint"}' ORDER BY id), 'kind', 'x' FROM wide;
	INSERT INTO models SELECT 'squared', train_margin(target, x, '{"lambda": 0.1, "loss": "squared"}' ORDER BY id), 'target', 'x' FROM wide;
	INSERT INTO models SELECT 'hard', train_margin(side, x ORDER BY id), 'side', 'x' FROM wide WHERE id < 5;
	INSERT INTO models SELECT 'norm 1', train_margin(side, x, '{"norm": 1}' ORDER BY id), 'side', 'x' FROM wide WHERE id < 5;
	INSERT INTO models SELECT 'stumps', train_margin(side, x, '{"norm": 1, "learners": "stumps"}' ORDER BY id), 'side', 'x' FROM wide WHERE id < 5;
	INSERT INTO models SELECT 'interpolation', train_margin(target, x, '{"loss": "interpolate"}' ORDER BY id), 'target', 'x' FROM wide WHERE id < 5;
	INSERT INTO models SELECT 'kernel', margin_from_libsvm(E'svm_type c_svc\nkernel_type rbf\ngamma 0.1\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 -1\nSV\n1 1:1 2147483647:1\n-1 2:1\n', 0.1), 'side', 'x';
	INSERT INTO models SELECT 'one class', train_one_class(x, '{"nu": 0.5}' ORDER BY id), 'side', 'x' FROM wide;
	INSERT INTO models SELECT 'curvature', margin_with_curvature((SELECT m FROM models WHERE name = 'logistic'), side, x), 'side', 'x' FROM wide;
	INSERT INTO models SELECT 'likelihood', jsonb_populate_record((SELECT m FROM models WHERE name = 'squared'), '{"lambda": 0, "options": {"lambda": 0, "loss": "squared"}, "ball": null}'), 'target', 'x';
	INSERT INTO models SELECT 'one weight', jsonb_populate_record(null::margin_model, '{"weights": [1], "intercept": [0], "classes": ["-1", "1"],
	  "dimensions": 2147483647, "columns": [2147483647], "loss": "logistic", "lambda": 1, "primal": 1, "dual": 0, "gap": 1}'), 'side', 'x';
	INSERT INTO models SELECT 'named', jsonb_populate_record(null::margin_model, '{"weights": [1, 2], "intercept": [0], "classes": ["-1", "1"],
	  "dimensions": 2147483647, "columns": [1, 2147483647], "loss": "logistic", "lambda": 1, "primal": 1, "dual": 0, "gap": 1,
	  "options": {"lambda": 1, "loss": "logistic", "penalty_factor": {"size": 0.5}},
	  "encoder": {"version": 1, "missing": "impute", "unknown_features": "reference", "columns": [
	    {"name": "size", "type": "double precision", "kind": "number", "missing": false, "fill": [0], "center": [0], "scale": [1]},
	    {"name": "tags", "type": "margin_sparse", "kind": "sparse", "missing": false, "width": 2147483646}]}}'), 'side', 'named';
	INSERT INTO models SELECT 'named, penalised', jsonb_populate_record(m, '{"options": {"lambda": 1, "loss": "logistic", "penalty_factor": {"tags": 0.5}}}'), label, features
	  FROM models WHERE name = 'named';
	});

# Every function of a model, a question, a term or a state by its signature, as a query with M for the model, Y and X for the
# label and the features of the rows of T. NULL: only the server calls it.
my $options = q{'{"max_seconds": 1}'};
my %call = (
	'margin_score(margin_model,"any")' => 'SELECT margin_score(M, X) FROM T',
	'margin_scores(margin_model,"any")' => 'SELECT margin_scores(M, X) FROM T',
	'margin_score_interval(margin_model,"any")' => 'SELECT margin_score_interval(M, X) FROM T',
	'margin_score_intervals(margin_model,"any")' => 'SELECT margin_score_intervals(M, X) FROM T',
	'margin_predict(margin_model,"any")' => 'SELECT margin_predict(M, X) FROM T',
	'margin_predict(margin_model,"any",anyelement)' => 'SELECT margin_predict(M, X, NULL::text) FROM T',
	'margin_probability(margin_model,"any")' => 'SELECT margin_probability(M, X) FROM T',
	'margin_probabilities(margin_model,"any")' => 'SELECT margin_probabilities(M, X) FROM T',
	'margin_influence(margin_model,"any","any")' => 'SELECT margin_influence(M, Y, X) FROM T',
	'margin_explain(margin_model,"any")' => 'SELECT margin_explain(M, X) FROM T',
	'margin_importance(margin_model)' => 'SELECT margin_importance(M)',
	'margin_reasons(margin_model,"any",integer)' => 'SELECT margin_reasons(M, X, 4) FROM T',
	'margin_sql(margin_model,text,text)' => 'SELECT margin_sql(M)',
	'margin_shape(margin_model,text)' => 'SELECT margin_shape(M)',
	'margin_plot(margin_model,text)' => q{SELECT margin_plot(M, 'x')},
	'margin_rules(margin_model)' => 'SELECT margin_rules(M)',
	'margin_weights(margin_model)' => 'SELECT margin_weights(M)',
	'margin_certificate(margin_model)' => 'SELECT margin_certificate(M)',
	'margin_gap_at(margin_model,double precision)' => 'SELECT margin_gap_at(M, 0.5)',
	'margin_history(margin_model)' => 'SELECT margin_history(M)',
	'margin_summary(margin_model)' => 'SELECT margin_summary(M)',
	'margin_compact(margin_model)' => 'SELECT margin_compact(M)',
	'margin_to_json(margin_model)' => 'SELECT margin_from_json(margin_to_json(M))',
	'margin_pmml(margin_model,text[])' => 'SELECT margin_pmml(M)',
	'margin_question(jsonb,margin_model)' => 'SELECT margin_question(NULL, M)',
	'_margin_question_out(margin_question)' => 'SELECT margin_question(NULL, M)::text::margin_question',
	'_margin_question_send(margin_question)' => 'SELECT _margin_question_send(margin_question(NULL, M))',
	'margin_term(margin_question,"any","any",double precision)' => 'SELECT margin_term(margin_question(NULL, M), Y, X, 2) FROM T',
	'margin_term(margin_model,"any","any")' => 'SELECT margin_term(M, Y, X) FROM T',
	'_margin_term(margin_model,"any","any",double precision)' => 'SELECT _margin_term(M, Y, X, 2) FROM T',
	'_margin_term_out(margin_term)' => 'SELECT margin_term(M, Y, X)::text::margin_term FROM T',
	'_margin_term_send(margin_term)' => 'SELECT _margin_term_send(margin_term(M, Y, X)) FROM T',
	'margin_sum(margin_term)' => 'SELECT margin_sum(margin_term(margin_question(NULL, M), Y, X)) FROM T',
	'margin_sum(margin_state)' => 'SELECT margin_sum(s) FROM (SELECT margin_sum(margin_term(margin_question(NULL, M), Y, X)) AS s FROM T GROUP BY T.id) AS parts',
	'_margin_sum_step(margin_state,margin_term)' => 'SELECT _margin_sum_step(NULL, margin_term(margin_question(NULL, M), Y, X)) FROM T',
	'_margin_merge(margin_state,margin_state)' => 'SELECT _margin_merge(s, s) FROM (SELECT margin_sum(margin_term(margin_question(NULL, M), Y, X)) AS s FROM T OFFSET 0) AS all_rows',
	'_margin_state_out(margin_state)' => 'SELECT margin_sum(margin_term(margin_question(NULL, M), Y, X))::text::margin_state FROM T',
	'_margin_state_send(margin_state)' => 'SELECT _margin_state_send(margin_sum(margin_term(margin_question(NULL, M), Y, X))) FROM T',
	# rows with named columns, if X are such, and columns with their names
	'margin_profile("any")' => 'SELECT margin_profile(X) FROM T',
	'margin_profile(jsonb,"any")' => q{SELECT margin_profile('["x", "y"]', X, Y) FROM T},
	'margin_sum(margin_profile)' => q{SELECT margin_sum(margin_profile('["x", "y"]', X, Y)) FROM T},
	'_margin_profile_merge(margin_profile,margin_profile)' => q{SELECT _margin_profile_merge(s, s) FROM (SELECT margin_sum(margin_profile('["x", "y"]', X, Y)) AS s FROM T OFFSET 0) AS all_rows},
	'_margin_profile_out(margin_profile)' => q{SELECT margin_sum(margin_profile('["x", "y"]', X, Y))::text::margin_profile FROM T},
	'_margin_profile_send(margin_profile)' => q{SELECT _margin_profile_send(margin_sum(margin_profile('["x", "y"]', X, Y))) FROM T},
	'margin_drift(margin_profile,margin_profile)' => q{SELECT margin_drift(s, s) FROM (SELECT margin_sum(margin_profile('["x", "y"]', X, Y)) AS s FROM T OFFSET 0) AS all_rows},
	'margin_encoder(margin_profile,jsonb,text)' => q{SELECT margin_encoder(margin_sum(margin_profile('["x", "y"]', X, Y))) FROM T},
	'margin_profile_columns(margin_profile,double precision[],integer)' => q{SELECT margin_profile_columns(margin_sum(margin_profile('["x", "y"]', X, Y))) FROM T},
	'margin_state_info(margin_state)' => 'SELECT margin_state_info(margin_sum(margin_term(margin_question(NULL, M), Y, X))) FROM T',
	'margin_certificate(margin_question,margin_state)' => 'SELECT margin_certificate(margin_question(NULL, M), margin_sum(margin_term(margin_question(NULL, M), Y, X))) FROM T',
	'margin_evaluate(margin_model,margin_state)' => 'SELECT margin_evaluate(M, margin_sum(margin_term(M, Y, X))) FROM T',
	'margin_threshold(margin_model,margin_state,jsonb)' => q{SELECT margin_threshold(M, margin_sum(margin_term(M, Y, X)), '{"maximize": "f1"}') FROM T},
	'margin_inference(margin_model,margin_state[],jsonb)' => 'SELECT margin_inference(M, ARRAY[margin_sum(margin_term(margin_question(NULL, M), Y, X))]) FROM T',
	'margin_verify(margin_model,margin_state)' => 'SELECT margin_verify(M, margin_sum(margin_term(M, Y, X))) FROM T',
	'margin_verify(margin_model,"any")' => 'SELECT margin_verify(M, X) FROM T',
	(map { ("margin_$_(margin_model,margin_state)" => "SELECT margin_$_(M, margin_sum(margin_term(M, Y, X))) FROM T",
		  qq{margin_$_(margin_model,"any","any")} => "SELECT margin_$_(M, Y, X) FROM T") } qw(roc reliability histogram)),
	(map { (qq{margin_$_(margin_model,"any","any")} => "SELECT margin_$_(M, Y, X) FROM T") } qw(leave_one_out with_curvature inference evaluate verify audit)),
	(map { (qq{margin_$_(margin_model,"any","any",jsonb)} => "SELECT margin_$_(M, Y, X, '{}') FROM T",
		  qq{margin_$_(margin_model,"any","any",double precision,jsonb)} => "SELECT margin_$_(M, Y, X, 1, '{}') FROM T") }
		  qw(leave_one_out with_curvature inference audit)),
	(map { (qq{margin_$_(margin_model,"any","any",double precision)} => "SELECT margin_$_(M, Y, X, 1) FROM T") } qw(evaluate roc reliability histogram verify)),
	'margin_inference(margin_model,"any","any",double precision,"any",jsonb)' => q{SELECT margin_inference(M, Y, X, 1, T.id, '{}') FROM T},
	'margin_threshold(margin_model,"any","any",jsonb)' => q{SELECT margin_threshold(M, Y, X, '{"precision": 0.5}') FROM T},
	'margin_threshold(margin_model,"any","any",double precision,jsonb)' => q{SELECT margin_threshold(M, Y, X, 1, '{"precision": 0.5}') FROM T},
	(map { my $removed = $_;
		(($removed eq 'true' ? 'removed: ' : '') . 'margin_update(margin_model,"any","any",boolean)' => "SELECT margin_update(M, Y, X, $removed) FROM T WHERE T.id > 4",
		 ($removed eq 'true' ? 'removed: ' : '') . 'margin_update(margin_model,"any","any",boolean,double precision)' => "SELECT margin_update(M, Y, X, $removed, 1) FROM T WHERE T.id > 4") }
		qw(false true)),
	'margin_options' => "SELECT train_margin(Y, X, margin_options(initial => M, lambda => 0.1, max_seconds => 1)) FROM T",
	# Beside these: trainings, encoders and documents of so many features.
	'train_margin' => "SELECT train_margin(Y, X, $options) FROM T",
	'train_margin_from' => "SELECT train_margin_from('SELECT Y, X FROM T', $options)",
	'train_margin_from, few rows in memory' => q{SELECT train_margin_from('SELECT Y, X FROM T, generate_series(1, 100)', '{"lambda": 0.1, "sample_rows": 2, "max_seconds": 1}')},
	'train_margin_from, standardised' => q{SELECT train_margin_from('SELECT Y, X FROM T, generate_series(1, 100)', '{"lambda": 0.1, "standardize": true, "sample_rows": 2, "max_seconds": 1}')},
	'margin_encode' => q{SELECT margin_encode((M).encoder, named) FROM named},
	'margin_encode_sparse' => q{SELECT margin_encode_sparse((M).encoder, named) FROM named},
	'margin_from_libsvm' => q{SELECT margin_from_libsvm(E'svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nlabel 1 -1\nSV\n1 1:1 2147483647:1\n', 0.1)},
	'margin_from_liblinear' => q{SELECT margin_from_liblinear(E'solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2147483646\nbias -1\nw\n1\n2\n', 0.1)},
	'margin_term of a state' => q{SELECT margin_sum(margin_term(margin_question('{"lambda": 1, "loss": "squared"}'::jsonb), Y::text::float8, X)) FROM T},
);

my @signatures = split /\n/, $node->safe_psql('postgres', q{
	SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	  JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'margin'
	 WHERE p.proargtypes::oid[] && ARRAY['margin_model', 'margin_question', 'margin_term', 'margin_state', 'margin_profile']::regtype[]::oid[]
	   AND NOT 'internal'::regtype = ANY (p.proargtypes::oid[])});
is_deeply([ grep { !exists $call{ s/^(margin_options)\(.*/$1/r } } @signatures ], [], 'the table has every function of the catalogue')
  or diag('functions without a call');
cmp_ok(scalar(@signatures), '>', 50, 'and the catalogue has some');

# Of each call: CPU, peak of memory and SQLSTATE, all in one session per model.
my $used = q{SELECT 'used ' || split_part(pg_read_file('/proc/self/schedstat', 0, 100), ' ', 1) || ' '
	|| (regexp_match(pg_read_file('/proc/self/status', 0, 10000), 'VmHWM:\s+(\d+)'))[1];};
foreach my $row (split /\n/, $node->safe_psql('postgres', 'SELECT name, label, features FROM models'))
{
	my ($name, $label, $features) = split /\|/, $row;
	my $rows = $features eq 'named' ? 'named' : 'wide';
	my $script = "\\set VERBOSITY verbose\nSELECT 'warm' FROM (SELECT margin_score(m, $rows.$features) FROM models, $rows WHERE name = 'hinge' AND '$rows' = 'wide') AS s LIMIT 1;\n";
	my @names = sort keys %call;
	foreach my $function (@names)
	{
		my $query = $call{$function};
		$query =~ s/\bM\b/(SELECT m FROM models WHERE name = '$name')/g;
		$query =~ s/\bY\b/$label/g;
		$query =~ s/\bX\b/$features/g;
		$query =~ s/\bT\b/$rows/g;
		$script .= "$used\n\\o /dev/null\n$query;\n\\o\n$used\n";
	}
	my ($out, $err) = ('', '');
	$node->psql('postgres', $script, stdout => \$out, stderr => \$err, on_error_stop => 0);
	my @numbers = map { [split ' '] } $out =~ /^used (.*)$/mg;
	is(scalar(@numbers), 2 * @names, "$name: the session lives to the end")
	  or diag($names[ @numbers / 2 ] . ': ' . substr($err, -300)), next;
	my @bad;
	foreach my $k (0 .. $#names)
	{
		my ($before, $after) = @numbers[2 * $k, 2 * $k + 1];
		my $time = sprintf '%.0f', ($after->[0] - $before->[0]) / 1e6;
		my $memory = $after->[1] - $before->[1];
		push @bad, "$names[$k]: $time ms, $memory kB" if $time > $most_time || $memory > $most_memory;
	}
	is(join("\n", @bad), '', "$name: no call takes what the model declares");
	is(join("\n", $err =~ /(ERROR:\s+(?:XX|58|53)\w*.*)/g), '', "$name: no error is one of the server's");
}

# Sizes that somebody stated are added up where they cannot overflow: forged encoders are refused by whatever reads one,
# and no index wraps.
my $sparse = '{"name": "%s", "type": "x", "kind": "sparse", "missing": %s, "width": %d}';
foreach my $case ([ 2147483647, 'true', 2147483647, '{1:1}' ], [ 2147483647, 'true', 2147483647, '{2147483640:1}' ],
	[ 2147483647, 'false', 1, '{1:1}' ], [ 2147483646, 'true', 2147483647, '{2147483646:1}' ], [ 2147483647, 'true', 0, '{}' ])
{
	my ($width, $missing, $other, $row) = @$case;
	my $encoder = sprintf qq[{"version": 1, "missing": "impute", "unknown_features": "reference", "columns": [$sparse, $sparse,
		{"name": "c", "type": "x", "kind": "number", "missing": false, "fill": [0], "center": [0], "scale": [1]}]}], 'a', $missing, $width, 'b', $missing, $other;
	my $model = qq[jsonb_populate_record(null::margin_model, '{"weights": [1], "intercept": [0], "dimensions": 1, "loss": "squared", "lambda": 1, "encoder": $encoder}')];
	my $r = "(SELECT array[0.0]::float8[] AS a, '$row'::margin_sparse AS b, 0.0::float8 AS c)";
	foreach my $call ("margin_score($model, r)", "margin_audit($model, 1.0, r)", "margin_leave_one_out($model, 1.0, r)",
		"margin_encode('$encoder', r)", "margin_encode_sparse('$encoder', r)")
	{
		my (undef, $state, $alive) = timed($node, '', "SELECT $call FROM $r AS r;");
		my ($name) = $call =~ /^(\w+)/;
		ok($alive && $state =~ /^(?:54000|22P02)$/, "$name refuses an encoder of $width + $other features") or diag("SQLSTATE $state");
	}
}

# Features far beyond half of what an index reaches.
foreach my $feature (1431655765, 1431655766, 2147483647)
{
	is($node->safe_psql('postgres', qq{
		SELECT (m).dimensions, cardinality((m).columns) FROM train_margin_from(\$\$SELECT i % 3 AS k, ('{' || i || ':' || i || ',$feature:' || sin(i) || '}')::margin_sparse AS x
		  FROM generate_series(1, 12) AS i\$\$, '{"lambda": 0.1, "loss": "logistic"}') AS m}), "$feature|13", "feature $feature is one of thirteen");
}

# A training by scans of rows that declare far more than they use is that of their columns.
foreach my $options ('{"lambda": 0.01, "loss": "logistic"}', '{"lambda": 0.01}', '{"lambda": 0.01, "loss": "squared"}', '{"lambda": 0.01, "standardize": true}', '{"intercept": false}')
{
	my $label = $options =~ /squared/ ? 'sin(i)' : 'i % 3 = 0';
	my $noise = $options =~ /lambda/ ? '(i % 3 = 0) <> (i % 7 = 0)' : 'i % 3 = 0';
	my $rows = sub { my ($last) = @_; "SELECT $label AS y, ('{' || 1 + i % 50 || ':' || round(sin(i)::numeric, 4) || ',$last:' || CASE WHEN $noise THEN 1 ELSE -1 END || '}')::margin_sparse AS x FROM generate_series(1, 6000) AS i" };
	my @found = map { [ split /\|/, $node->safe_psql('postgres', "SELECT (m).dual, (m).primal, (m).dimensions, coalesce(cardinality((m).columns), 51), (m).status
		FROM train_margin_from(\$q\$" . $rows->($_) . "\$q\$, jsonb '$options' || '{\"sample_rows\": 300}') AS m") ] } (51, 2147483647);
	my ($near, $far) = @found;
	# The hinge of so few kinds of rows is next to a constant: scans may reach its tolerance for one order of sums and not for the other.
	my $status = $options eq '{"lambda": 0.01}' ? qr/^(?:optimal|iteration_limit)$/ : qr/^\Q$near->[4]\E$/;
	is_deeply([ @$far[ 2, 3 ] ], [ 2147483647, 51 ], "$options: the wide rows have 51 columns in use");
	like($far->[4], $status, "$options: and the same status");
	ok($near->[0] <= $far->[1] && $far->[0] <= $near->[1], "$options: and intervals that have a common point") if $options =~ /lambda/;
	cmp_ok(abs($near->[1] - $far->[1]), '<=', 2e-3 * abs($near->[1]), "$options: and the same objective");
}

# The sums of a margin_term of a few hundred bytes that declares 50,331,650 features would take 800 MB: they are counted, and made
# where a cancel is heard.
{
	$node->safe_psql('postgres', q{CREATE TABLE forged AS SELECT g, replace(encode(set_byte(decode(margin_term(margin_question(NULL, m), 1, '{1:1,2:2}/2'::margin_sparse)::text, 'base64'), 31, 3), 'base64'), E'\\n', '')::margin_term AS t
	  FROM (SELECT train_margin(CASE WHEN i % 2 = 0 THEN 1 ELSE -1 END, ARRAY[sin(i), cos(i)], '{"lambda": 0.1, "loss": "logistic"}') AS m FROM generate_series(1, 9) AS i) AS s, generate_series(1, 3) AS g});
	foreach my $case ([ "SET margin.memory_limit = '50MB';", '54000', $most_time ], [ 'SET statement_timeout = 50;', '57014', 150 ])
	{
		my ($setting, $expected, $most) = @$case;
		my ($time, $state, $alive) = timed($node, $setting, 'SELECT g, margin_state_info(margin_sum(t)) FROM forged GROUP BY g;');
		ok($alive && $state eq $expected && $time <= $most, "$setting a sum of forged terms ends with $expected") or diag("$time ms, SQLSTATE $state");
	}
}

# A HashAggregate sees what its groups take.
$node->safe_psql('postgres', q{
	CREATE TABLE groups AS SELECT i % 500 AS g, CASE WHEN i % 2 = 0 THEN 1 ELSE -1 END AS y, (SELECT array_agg(sin(i * j)) FROM generate_series(1, 100) AS j)::float8[] AS x FROM generate_series(1, 1500) AS i;
	CREATE TABLE judge AS SELECT train_margin(y, x, '{"lambda": 0.1}') AS m FROM groups;
	ANALYZE groups;});
{
	my $peak = q{(regexp_match(pg_read_file('/proc/self/status', 0, 10000), 'VmHWM:\s+(\d+)'))[1]};
	my ($before, $after) = split /\n/, $node->safe_psql('postgres', qq{
		SET work_mem = '4MB'; SET enable_sort = off; SELECT $peak;
		CREATE TEMP TABLE found AS SELECT g, margin_audit((SELECT m FROM judge), y, x) AS a FROM groups GROUP BY g;
		SELECT $peak;});
	cmp_ok($after - $before, '<', $most_memory, 'audits of 500 groups take what work_mem allows');
}

$node->stop;
done_testing();

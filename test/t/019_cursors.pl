# What a call keeps for its query outlives the call, and goes when its cursor does: cursors over every function of the
# extension, opened, closed and left open in any order, with savepoints, rollbacks, commits and a disconnect.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $pairs = $ENV{MARGIN_CURSOR_PAIRS} // 600;
my $node = new_node('cursors', 'client_min_messages = error', 'jit = off');
$node->safe_psql('postgres', q{
	CREATE TABLE points AS SELECT i AS id, i > 5 AS y, ARRAY[i - 5.5, i % 3]::float8[] AS x, i / 2.0::float8 AS t,
	  ('{1:' || i - 5.5 || ',3:1}/4')::margin_sparse AS s FROM generate_series(1, 10) AS i;
	CREATE TABLE models AS SELECT train_margin(y, x, '{"lambda": 0.1, "loss": "logistic", "history": true, "dual_weights": true}') AS m FROM points;
	CREATE TABLE sums AS SELECT margin_sum(margin_term(margin_question('{"lambda": 0.1, "loss": "logistic"}'::jsonb), y, x)) AS state,
	  (SELECT margin_encoder(margin_sum(margin_profile(p))) FROM (SELECT id, y, x, t FROM points) AS p) AS encoder, margin_sum(margin_profile(p)) AS profile FROM points AS p;});

# One call per function, made from the catalogue: an argument of a known type has a value that suits most functions. A
# call that fails for its values keeps its state all the same, and its cursor belongs in here.
my %value = ('margin_model' => 'm', '_float8' => 'x', '_float4' => 'x::real[]', 'margin_sparse' => 's', 'jsonb' => q('{"lambda": 0.1, "loss": "logistic"}'::jsonb), 'any' => 'x',
	'float8' => '0.5', 'float4' => '0.5', 'int4' => '3', 'int8' => '3', 'bool' => 'true', 'text' => q('logistic'::text), 'margin_question' => q(margin_question('{"lambda": 0.1, "loss": "logistic"}'::jsonb)),
	'margin_term' => 'margin_term(m, y, x)', 'margin_state' => '(SELECT state FROM sums)', 'margin_profile' => '(SELECT profile FROM sums)', '_text' => q('{a,b}'::text[]), '_int4' => q('{1,2}'::int[]), 'timestamp' => 'now()::timestamp', 'anyelement' => 'x',
	'cstring' => q('{1:1}'::cstring), 'timestamptz' => 'now()', '_margin_model' => 'ARRAY[m]', 'anyarray' => 'x', 'anycompatiblearray' => 'x', 'anycompatible' => 'x', 'time' => 'localtime', 'interval' => q('1 day'::interval), 'bytea' => q('\x01'::bytea));
my @calls;
foreach (split /\n/, $node->safe_psql('postgres', q{
	SELECT p.proname, p.prokind, (SELECT string_agg(t.typname, ' ' ORDER BY u.n) FROM unnest(p.proargtypes) WITH ORDINALITY AS u (type, n) JOIN pg_type AS t ON t.oid = u.type),
	    coalesce((SELECT string_agg(n, ' ') FROM unnest(p.proargnames) AS n), '')
	  FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.objid WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
	    AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'margin') AND 'internal'::regtype <> ALL (p.proargtypes::oid[]) ORDER BY 1, 3}))
{
	my ($name, $kind, $types, $names) = split /\|/, $_, -1;
	my @values;
	foreach my $type (split / /, $types)
	{
		my $value = exists $value{$type} ? $value{$type} : "NULL::$type";
		# the first argument of an unknown type is the label where there are two of them
		$value = 'y' if $type eq 'any' && $names =~ /\blabel\b/ && !grep({ $_ eq 'y' } @values);
		push @values, $value;
	}
	my $call = "$name(" . join(', ', @values) . ')';
	push @calls, $kind eq 'a' ? "SELECT $call FROM models, points GROUP BY models, id % 3" : "SELECT $call FROM models, points";
}
push @calls, map { "SELECT margin_fourier(array[1.0,i]::float8[],10,1.0,1) FROM generate_series(1,3) i" } 1 .. 5;
cmp_ok(scalar @calls, '>', 100, scalar(@calls) . ' calls, one or more for every function');

# The calls that fail are counted: a list of values that suits nothing tests nothing.
my $working = 0;
foreach my $call (@calls)
{
	my ($code) = $node->psql('postgres', $call);
	++$working if defined $code && $code == 0;
}
cmp_ok($working, '>', 0.5 * @calls, "$working of them return");

sub crashes { return join "\n", grep { /was terminated by signal|PANIC|TRAP/ } split /\n/, slurp_file($node->logfile); }

# What the server's allocator gives away again is written over.
my $work = q{SELECT count(*) FROM (SELECT repeat('A', 100 + i * 7) AS x FROM generate_series(1, 2000) AS i) AS s WHERE x LIKE '%B%';
	SELECT string_agg(repeat('A', i), '') IS NULL FROM generate_series(1, 1000) AS i;};
my $connections = '';
my $postmaster = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
# Two of them closed in the order in which they were opened, in sessions that did nothing else.
foreach my $call ($calls[-1], 'SELECT margin_fourier(x, 10, 1.0, 1) FROM points')
{
	foreach my $session (1 .. 6)
	{
		$node->psql('postgres', "BEGIN; DECLARE c1 CURSOR FOR $call; FETCH 1 FROM c1; DECLARE c2 CURSOR FOR $call; FETCH 1 FROM c2; CLOSE c1; CLOSE c2; COMMIT; $work");
	}
}
is(crashes(), '', 'first in, first out: no crash at the end of a session');
srand(20);
my ($made, $per_session) = (0, 100);
while ($made < $pairs)
{
	my $script = "\\set ON_ERROR_STOP 0\n";
	for (my $n = 0; $n < $per_session && $made < $pairs; ++$n, ++$made)
	{
		# In the first pairs the two are of the same function, each in its turn.
		my $one = $made < @calls ? $calls[$made] : $calls[ rand @calls ];
		my $two = $made < @calls ? $one : $calls[ rand @calls ];
		my @ends = ('CLOSE c1;', 'CLOSE c2;');
		@ends = reverse @ends if rand() < 0.3;
		my $case = int rand 6;
		$script .= "BEGIN; SAVEPOINT a; DECLARE c1 CURSOR FOR $one; FETCH 1 FROM c1; SAVEPOINT b; DECLARE c2 CURSOR FOR $two; FETCH 1 FROM c2;\n";
		$script .= ($case == 0 ? "@ends COMMIT;" : $case == 1 ? "ROLLBACK TO b; FETCH 1 FROM c1; CLOSE c1; COMMIT;" : $case == 2 ? "RELEASE b; $ends[0] ROLLBACK TO a; COMMIT;"
			: $case == 3 ? "FETCH ALL FROM c1; FETCH 1 FROM c2; $ends[0] SELECT 1/0; ROLLBACK;" : $case == 4 ? "@ends FETCH 1 FROM c1; ROLLBACK;" : "$ends[0] COMMIT;") . "\n";
	}
	# The last two stay open, or are closed in the order in which they were opened, until the session ends.
	my $fourier = $calls[-1];
	$script .= "ROLLBACK; BEGIN; DECLARE c1 CURSOR FOR $fourier; FETCH 1 FROM c1; DECLARE c2 CURSOR FOR $fourier; FETCH 1 FROM c2; " . ($made / $per_session % 2 ? '' : 'CLOSE c1; CLOSE c2; COMMIT;') . "\n$work\n";
	my ($out, $err);
	$node->psql('postgres', $script, stdout => \$out, stderr => \$err, on_error_stop => 0);
	$connections .= $1 if $err =~ /(server closed the connection.*|.*FATAL.*|.*XX000.*)/;
}
is($connections, '', "$made pairs of cursors: no session is lost");
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $postmaster, 'the server is still the same');
is(crashes(), '', 'no crash in the log, and none at the end of a session');

# A cancel and statement_timeout are heard in a FETCH as in any statement.
my ($milliseconds, $state, $alive) = timed($node, q{SET statement_timeout = 300; BEGIN; DECLARE c CURSOR FOR SELECT count(margin_fourier(ARRAY[i, 1.0]::float8[], 8192, 1.0, 1)) FROM generate_series(1, 10000000) AS i;}, 'FETCH 1 FROM c; ROLLBACK;');
is($state, '57014', "statement_timeout ends a FETCH ($milliseconds ms)");
ok($alive, '... and the session goes on');
($milliseconds, $state, $alive) = timed($node, 'SET statement_timeout = 300;', q{SELECT train_margin_from('SELECT i % 3 = 0, ARRAY[sin(i), cos(i::float8 * i), 1] FROM generate_series(1, 3000000) AS i', '{"lambda": 1e-6, "loss": "logistic", "tolerance": 1e-9, "sample_rows": 100}');});
is($state, '57014', "... and the scans of a training ($milliseconds ms)");
ok($alive, '... and the session goes on');

$node->stop;
done_testing();

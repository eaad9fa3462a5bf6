# Random mutations of everything a user can hand in: options, arrays, labels, models. Each call works or is refused
# with an SQLSTATE that is not an internal error, and the backend stays alive.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{MARGIN_FUZZ_SEED} // 20210701;
my $rounds = $ENV{MARGIN_FUZZ_ROUNDS} // 1500;
srand($seed);
note("MARGIN_FUZZ_SEED=$seed");

my $node = new_node('mutation', "statement_timeout = '5s'", 'client_min_messages = error', 'log_statement = all');
$node->safe_psql('postgres', q{
	CREATE TABLE points AS SELECT i AS id, i > 10 AS y, ARRAY[i, i % 3, -i]::float8[] AS x FROM generate_series(1, 20) AS i;
	CREATE TABLE models AS SELECT train_margin(y, x, margin_options(dual_weights => true, history => true)) AS model FROM points
	  UNION ALL SELECT train_margin(id % 3, x, margin_options(lambda => 0.1, dual_weights => true)) FROM points
	  UNION ALL SELECT train_margin(id::float8, x, margin_options(lambda => 0.1, loss => 'squared')) FROM points;});
my @names = split /\n/, $node->safe_psql('postgres',
	"SELECT DISTINCT unnest(proargnames) FROM pg_proc WHERE proname = 'margin_options'");
my @texts = split /\n/, $node->safe_psql('postgres', 'SELECT name FROM margin_solvers()');
push @texts, qw(hinge logistic squared squared_hinge smoothed_hinge absolute huber quantile joint one_vs_rest poisson free penalized epsilon_insensitive exponential balanced auto
  random cyclic permutation average last sgd zero notice off), '', 'x' x 300, "\x{e9}";
my @fields = split /\n/, $node->safe_psql('postgres',
	"SELECT attname || ' ' || format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'margin_model'::regclass AND attnum > 0");

sub pick { return $_[ int rand @_ ]; }

my @numbers = qw(0 1 -1 0.5 1e-3 1e-300 1e300 -1e308 2 3 7 100 1e15 1e16 9007199254740993 0.1 2147483648 1e-9);

sub json
{
	my ($depth) = @_;
	my $kind = int rand($depth > 2 ? 4 : 6);
	return pick(@numbers) if $kind == 0;
	return '"' . pick(@texts) . '"' if $kind == 1;
	return pick('true', 'false') if $kind == 2;
	return 'null' if $kind == 3;
	return '[' . join(',', map { json($depth + 1) } 1 .. rand 4) . ']' if $kind == 4;
	return '{' . join(',', map { '"' . pick('weights', 'intercept', 'dual_weights', 'true', 'false', '1', 'a') . '":' . json($depth + 1) } 1 .. rand 4) . '}';
}

sub options
{
	my %chosen = map { pick(@names) => json(0) } 1 .. rand 4;
	$chosen{ pick(@names) . pick('x', '', '_') } = json(0) if rand() < 0.1;
	$chosen{max_seconds} = '0.2' unless rand() < 0.05;
	return "'{" . join(',', map { "\"$_\":$chosen{$_}" } keys %chosen) . "}'::jsonb";
}

sub element { return pick('0', '1', '-1', '0.5', '1e38', '-1e38', '1e-40', '3', '255', rand() < 0.05 ? pick('NaN', 'Infinity', 'NULL') : '2'); }

# A sparse vector in text: mostly well-formed, sometimes not.
sub sparse
{
	my $index = 0;
	my @items = map { $index += pick(1, 1, 2, 3, 1000000, 0); $index . pick(':', ':', ':', ' ', '::') . element() } 1 .. rand 5;
	return "'" . join(pick(' ', ' ', ',', '  '), @items) . pick('', '', '/3', '/1', '/0', '/2147483647', '/x') . "'::margin_sparse";
}

sub array
{
	return sparse() if rand() < 0.15;
	my $type = pick('real', 'float8', 'int', 'smallint', 'bigint', 'numeric', 'text', 'boolean');
	$type = 'float8' if rand() < 0.5;
	my $n = rand() < 0.8 ? 3 : int rand 6;
	my @items = map { element() } 1 .. $n;
	@items = map { $_ eq 'NULL' || ($_ =~ /^-?\d{1,3}$/) ? $_ : '7' } @items if $type =~ /int/;
	@items = map { $_ eq 'NULL' ? $_ : pick('t', 'f') } @items if $type eq 'boolean';
	my $literal = '{' . join(',', @items) . '}';
	$literal = "{$literal,$literal}" if rand() < 0.03 && $n > 0;
	$literal = "[0:" . ($n - 1) . "]=$literal" if rand() < 0.03 && $n > 0 && $literal !~ /^\{\{/;
	return 'NULL::' . $type . '[]' if rand() < 0.05;
	return "'$literal'::${type}[]";
}

sub label { return pick('id > 10', 'id % 3', "'c' || id % 2", 'id::float8', '(id % 2)::numeric', "NULLIF(id % 2, 1)", '1', "'NaN'::float8", 'now()', 'x'); }

# A stored model with one field replaced by something else of its type.
sub model
{
	my ($name, $type) = split / /, pick(@fields), 2;
	my $value = 'NULL';
	$value = pick("'{}'", "'{NaN}'", "'{1,2}'", "'{1,2,3}'", "'{{1,2,3},{1,2,3}}'", "'{{{1}}}'", "'{NULL,1,2}'", "'{1e308,1e308,1e308}'", "'[5:7]={1,2,3}'", 'NULL')
	  if $type eq 'double precision[]';
	$value = pick("'{}'", "'{a}'", "'{a,b}'", "'{a,a}'", "'{a,b,c,d}'", "'{NULL,b}'", "'{{a,b}}'", 'NULL') if $type eq 'text[]';
	$value = pick("'{}'", "'{1}'", "'{1,2}'", "'{1,2,3}'", "'{3,1,2}'", "'{1,2,NULL}'", "'{{1,2,3}}'", "'{0,2,2147483647}'", 'NULL') if $type eq 'integer[]';
	$value = pick("''", "'x'", "'hinge'", "'squared'", "'optimal'", 'NULL') if $type eq 'text';
	$value = pick("'NaN'", '-1', '0', '1e308', "'Infinity'", 'NULL') if $type eq 'double precision';
	$value = pick('-1', '0', '1', '2147483647', 'NULL') if $type =~ /^(integer|bigint)$/;
	$value = pick("'{}'", "'[]'", "'null'", options(), 'NULL') if $type eq 'jsonb';
	my $list = join ', ', map { my ($n, $t) = split / /, $_, 2; $n eq $name ? "$value\::$t" : "(model).$n" } @fields;
	return "ROW($list)::margin_model";
}

sub statement
{
	my $kind = int rand 8;
	return 'SELECT train_margin(' . label() . ', x, ' . options() . ') FROM points' if $kind == 0;
	return 'SELECT train_margin(' . label() . ', ' . pick('id > 3', '1', '-1', '0.5', "'NaN'", '1e300') . '::float8, ' . options() . ') FROM points' if $kind == 1 && rand() < 0.2;
	return 'SELECT train_margin(' . label() . ', x, ' . pick('1', '-1', '0.5', "'NaN'", '1e300', 'id', '0', 'NULL') . '::float8, ' . options() . ') FROM points' if $kind == 1;
	return 'SELECT train_margin(i > 2, a) FROM (VALUES ' . join(',', map { "($_, " . (rand() < 0.5 ? "'{1,$_,2}'::float8[]" : "'{$_,3,2}'::float8[]") . ')' } 1 .. 4) . ') AS t(i, a)' if $kind == 2;
	return 'SELECT train_margin(y, ' . array() . ') FROM points' if $kind == 3;
	return 'SELECT ' . pick('margin_predict', 'margin_score', 'margin_scores', 'margin_probability', 'margin_probabilities') . '(' . model() . ', ' . array() . ') FROM models' if $kind == 4;
	return 'SELECT margin_predict(' . model() . ", x, NULL::" . pick('int', 'boolean', 'text', 'float8', 'date', 'real') . ') FROM models, points' if $kind == 5;
	return 'SELECT ' . pick('margin_evaluate', 'margin_verify') . '(' . pick('model', model()) . ', ' . label() . ', ' . pick('x', array()) . ') FROM models, points GROUP BY model' if $kind == 6;
	return 'SELECT margin_options(' . join(', ', map { "$_ => " . pick('1', '-1', '0.5', 'true', 'NULL', "'hinge'", "'{}'", "'x'") } keys %{ { map { pick(@names) => 1 } 1 .. 3 } }) . ')';
}

# All statements in one session, so that a bad one may also spoil the next; the session tells when it is gone.
my @statements = map { statement() } 1 .. $rounds;
my $script = "\\set VERBOSITY verbose\n\\pset pager off\n\\pset format unaligned\n";
$script .= "\\warn statement $_\n$statements[$_];\n" foreach 0 .. $#statements;
$script .= "SELECT 'the end';\n";
my ($out, $err) = ('', '');
$node->psql('postgres', $script, stdout => \$out, stderr => \$err, on_error_stop => 0, timeout => 300);
like($out, qr/the end/, "the backend survives $rounds statements");

my (%states, @bad);
my $current = -1;
foreach my $line (split /\n/, $err)
{
	$current = $1 if $line =~ /^statement (\d+)$/;
	next unless $line =~ /(?:ERROR|FATAL|PANIC):\s+([0-9A-Z]{5}):/;
	$states{$1}++;
	push @bad, "$line\n  in: $statements[$current]" if $line =~ /FATAL|PANIC/ || $1 =~ /^(XX|57)/;
}
is(scalar @bad, 0, 'no statement ends in an internal error or a timeout');
diag($_) foreach @bad[ 0 .. ($#bad < 9 ? $#bad : 9) ];
my $errors = 0;
$errors += $_ foreach values %states;
note("$_: $states{$_}") foreach sort keys %states;
cmp_ok($errors, '>', $rounds / 20, "the mutations reach the checks ($errors refusals)");
cmp_ok($rounds - $errors, '>', $rounds / 20, '... and what lies behind them');
unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC|TRAP/, 'no crash in the log');

$node->stop;
done_testing();

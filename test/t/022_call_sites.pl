# What a call site keeps from row to row: options that were made of a model, and decoded models. Times are the best of
# five in turns; when nothing was kept, the ratios were 14 and 13. And what a call that is no part of a query is told.
use strict;
use warnings;
use IO::Handle;
use IO::Socket::UNIX;
use List::Util qw(min);
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('call_sites', 'max_parallel_workers_per_gather = 0', 'client_min_messages = error', 'jit = off');
gaussian_table($node, 'rows', 20000, 50, 'x[1] + x[2] + random() > 0.5');
$node->safe_psql('postgres', q{
	CREATE TABLE models AS SELECT k, train_margin(y, x, margin_options(lambda => k, loss => 'logistic')) AS m
	  FROM rows, unnest('{1e-4,1e-3}'::float8[]) AS k GROUP BY k;
	ANALYZE models;});

# best(STATEMENT, STATEMENT): the shortest time of each, in milliseconds.
sub best
{
	my @statements = @_;
	my @times = map { [] } @statements;
	foreach my $turn (1 .. 5)
	{
		foreach my $i (0 .. $#statements)
		{
			my ($took, $state) = timed($node, '', $statements[$i]);
			die "$statements[$i]: $state" if $state ne '';
			push @{ $times[$i] }, $took;
		}
	}
	return map { min(@$_) } @times;
}

my ($cold, $warm) = best(
	q{SELECT (train_margin(y, x, margin_options(lambda => 1e-4, loss => 'logistic'))).status FROM rows;},
	q{SELECT (train_margin(y, x, margin_options(lambda => 1e-4, loss => 'logistic', initial => m))).status FROM rows, models WHERE k = 1e-4;});
cmp_ok($warm, '<', $cold, sprintf('a warm start from a joined table takes no longer than a cold one (%.0f and %.0f ms)', $warm, $cold));

my ($one, $two) = best(
	q{SELECT sum((SELECT sum(margin_probability(m, x)) FROM models WHERE k = 1e-4)) FROM rows;},
	q{SELECT sum((SELECT sum(margin_probability(m, x)) FROM models)) FROM rows;});
cmp_ok($two, '<', 6 * $one, sprintf('twice the calls with two models in turns take little more than twice the time (%.0f and %.0f ms)', $one, $two));

is( $node->safe_psql('postgres', q{
	SELECT bool_and((SELECT array_agg(margin_probability(m, x) ORDER BY k) FROM models)
	              = ARRAY[(SELECT margin_probability(m, x) FROM models WHERE k = 1e-4), (SELECT margin_probability(m, x) FROM models WHERE k = 1e-3)]) FROM rows;}),
	't', 'the answers are those of each model alone');

# Calls without a query around them (the protocol's function call, with NULL for every argument) know no types: an error
# that says so, or NULL.
sub call_by_number
{
	my ($socket, $function, $arguments) = @_;
	my $body = pack('N n n', $function, 0, $arguments) . pack('N', 0xFFFFFFFF) x $arguments . pack('n', 0);
	print $socket 'F' . pack('N', length($body) + 4) . $body;
	return answer($socket);
}

# The SQLSTATE in an answer, or ''.
sub answer
{
	my ($socket) = @_;
	my $state = '';
	while (1)
	{
		read($socket, my $head, 5) == 5 or die 'the session ended';
		my ($kind, $size) = unpack('a N', $head);
		read($socket, my $rest, $size - 4) if $size > 4;
		($state) = $rest =~ /(?:^|\0)C([0-9A-Z]{5})/ if $kind eq 'E';
		return $state if $kind eq 'Z';
	}
}

SKIP:
{
	skip 'no Unix socket', 2 if $node->host !~ m{^/};
	my $socket = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port) or die "no connection: $!";
	$socket->autoflush(1);
	my $user = $node->safe_psql('postgres', 'SELECT current_user');
	my $hello = pack('N', 196608) . "user\0$user\0database\0postgres\0\0";
	print $socket pack('N', length($hello) + 4) . $hello;
	is(answer($socket), '', 'a session on the bare protocol');
	my @internal = grep { call_by_number($socket, (split /\|/)[0, 2]) =~ /^XX/ } split /\n/, $node->safe_psql('postgres',
		q{SELECT oid, oid::regprocedure, pronargs FROM pg_proc WHERE probin = '$libdir/margin' AND prokind = 'f'});
	is("@internal", '', 'no function called by its number has an internal error');
}

done_testing();

# The algorithms of the four papers against independent programs (test/papers): the same iterates to 1e-12. And what their theorems
# promise, on 1,000 random problems each.
use strict;
use warnings;
use Margin;
use Test::More;

my $node = new_node('papers');
my ($socket, $place) = ($node->host, "$ENV{TESTDIR}/papers");
$ENV{PGPORT} = $node->port;
my @lines = split(/\n/, qx(/usr/bin/python3 -B '$place/check.py' '$socket' '$ENV{MARGIN_DEMO_DATA}'));
is($?, 0, 'the comparison ends');
push @lines, split(/\n/, qx(/usr/bin/python3 -B '$place/bounds.py' '$socket'));
is($?, 0, 'the bounds end');
foreach my $line (@lines)
{
	my ($verdict, $what) = $line =~ /^(ok|not ok) (.*)$/;
	is($verdict, 'ok', $what // $line);
}
cmp_ok(scalar(@lines), '>=', 450, 'comparisons');
$node->stop;
done_testing();

# A library of one minor release loads into every other of its major: it asks the server for nothing that the oldest did not export.
# test/fixtures/server_symbols.txt has what the oldest at hand do (14.3, 15.0, 16.1, 17.0, 18.0, 19rc1).
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($major) = `pg_config --version` =~ /(\d+)/;
my $library = `pg_config --pkglibdir` =~ s{\n}{/margin.so}r; # of the private installation, whose pg_config looks beside itself

my %oldest;
foreach my $line (split /\n/, slurp_file("$ENV{TESTDIR}/fixtures/server_symbols.txt"))
{
	my ($name, @majors) = split / /, $line;
	$oldest{$name} = { map { $_ => 1 } @majors };
}
my @asked = map { /^\s+U ([^@\s]+)$/ ? $1 : () } split /\n/, `nm -D --undefined-only $library`;
cmp_ok(scalar @asked, '>', 100, scalar(@asked) . " names that the server has to know, of $library");
my @later = grep { !$oldest{$_} || !$oldest{$_}{$major} } @asked;
is("@later", '', "... and the oldest $major.x exports all of them (another name: look it up there, then test/server_symbols.sh)");
is(join(' ', grep { !$oldest{$_} } 'DatumGetHeapTupleHeader', 'palloc_of_tomorrow'), 'DatumGetHeapTupleHeader palloc_of_tomorrow', 'a name that came later would be seen');
done_testing();

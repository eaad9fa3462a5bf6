# Rows as index and value: real data train to the same certificate as from dense arrays, memory stays with the
# non-zeros, and COPY of a LIBSVM file is not slower than COPY of the same numbers as two arrays.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('sparse', 'max_parallel_workers_per_gather = 0', 'shared_buffers = 256MB', 'client_min_messages = error');

# compare(TABLE, OPTIONS): the same training from sparse rows that do not state their dimensions, and from dense arrays.
sub compare
{
	my ($table, $options) = @_;
	my ($statuses, $primal, $dual, $other, $sparse) = split /\|/, $node->safe_psql('postgres', qq{
		CREATE TEMP TABLE s AS SELECT train_margin(y, x, '$options' ORDER BY id) AS m FROM "$table";
		CREATE TEMP TABLE d AS SELECT train_margin(y, (x::text || '/' || (SELECT (m).dimensions FROM s))::margin_sparse::float8[], '$options' ORDER BY id) AS m FROM "$table";
		SELECT (s.m).status || ' ' || (d.m).status, abs((s.m).primal / (d.m).primal - 1) <= 1e-6, abs((s.m).dual / (d.m).dual - 1) <= 1e-6,
		  (SELECT count(*) FROM (SELECT x FROM "$table" ORDER BY id LIMIT 500) AS t
		    WHERE margin_predict(s.m, x) <> margin_predict(d.m, (x::text || '/' || (s.m).dimensions)::margin_sparse::float8[])), (s.m).primal FROM s, d;});
	is("$statuses|$primal|$dual|$other", 'optimal optimal|t|t|0', "$table, $options: $sparse from sparse and from dense rows");
	return;
}

if (shared_sets())
{
	foreach my $set (qw(a9a w8a ijcnn1 mushrooms rcv1_small reuters-acq basehock pcmac sector.scale))
	{
		my $file = shared_sets() . "/$set.libsvm.xz";
		if (!-r $file)
		{
			diag("no $file: not compared");
			next;
		}
		$node->safe_psql('postgres', qq{
			CREATE TABLE "$set" (id serial, y int, x margin_sparse);
			COPY "$set" (y, x) FROM PROGRAM 'xzcat $file | sed "s/ *\$/ /; s/ /\\t/"';});
		compare($set, $set eq 'sector.scale' ? '{"lambda": 0.01, "loss": "squared_hinge"}' : '{"lambda": 0.01, "loss": "squared_hinge", "tolerance": 1e-7}');
		compare($set, '{"tolerance": 1e-7}') if $set =~ /^(mushrooms|basehock|pcmac|reuters-acq)$/;
	}
}
else
{
	diag('no shared data sets: sparse and dense rows are compared by the regression test only');
}

# 20,000 rows of 100 out of 50,000 features: 8 bytes a non-zero as floats.
$node->safe_psql('postgres', q{
	CREATE TABLE bags AS SELECT id, id % 2 AS y,
	  margin_sparse(array_agg(DISTINCT 1 + (hashint4(id * 100 + j) & 2147483647) % 50000), array_agg(DISTINCT 1 + (hashint4(id * 100 + j) & 2147483647) % 50000)::float8[], 50000) AS x
	  FROM generate_series(1, 20000) AS id, generate_series(1, 100) AS j GROUP BY id;
	VACUUM ANALYZE bags;});
my $dimensions = $node->safe_psql('postgres', q{
	SET margin.memory_limit = '62MB';    -- rows beyond half of it would need a file
	SET temp_file_limit = 0;
	SELECT (train_margin(y, x, '{"lambda": 1, "loss": "squared_hinge", "solver": "sdca", "tolerance": 0.1}')).dimensions FROM bags;});
is($dimensions, '50000', 'training on 2 M non-zeros of 50,000 features stays within 1.3 x 12 bytes a non-zero');

# A LIBSVM file of 100 MB; what is compared are the seconds that COPY takes, the best of three.
$node->safe_psql('postgres', q{
	CREATE TABLE texts (x margin_sparse);
	CREATE TABLE pairs (indices int[], vals float8[]);});
my $directory = PostgreSQL::Test::Utils::tempdir();
open my $libsvm, '>', "$directory/rows.libsvm" or die;
open my $arrays, '>', "$directory/rows.arrays" or die;
srand(3);
my @values = map { sprintf '%.6g', rand() } 1 .. 1000;
for (my $bytes = 0; $bytes < 100e6;)
{
	my ($index, @indices, @numbers) = (0);
	for my $j (1 .. 100)
	{
		push @indices, $index += 1 + int rand 400;
		push @numbers, $values[ rand 1000 ];
	}
	my $line = join(' ', map { "$indices[$_]:$numbers[$_]" } 0 .. 99) . "\n";
	$bytes += length $line;
	print $libsvm $line;
	print $arrays '{' . join(',', @indices) . "}\t{" . join(',', @numbers) . "}\n";
}
close $libsvm;
close $arrays;
my (@sparse, @pairs);
for (1 .. 3)
{
	push @sparse, (timed($node, 'TRUNCATE texts;', "COPY texts FROM '$directory/rows.libsvm';"))[0];
	push @pairs, (timed($node, 'TRUNCATE pairs;', "COPY pairs FROM '$directory/rows.arrays';"))[0];
}
my ($fastest) = sort { $a <=> $b } @sparse;
my ($other) = sort { $a <=> $b } @pairs;
cmp_ok($fastest, '<=', $other, "COPY of a LIBSVM file of 100 MB: $fastest ms, as two arrays $other ms");
is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM texts) = (SELECT count(*) FROM pairs)'), 't', '... of the same rows');
my ($printed) = timed($node, '', "COPY texts TO '/dev/null';");
my ($printed_pairs) = timed($node, '', "COPY pairs TO '/dev/null';");
cmp_ok($printed, '<=', $printed_pairs, "... and back: $printed ms, $printed_pairs ms");

$node->stop;
done_testing();

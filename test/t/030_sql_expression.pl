# margin_sql where nothing of the extension is: a million rows of every kind of column in another database, whose expression gives
# the bits that margin_score gives here.
use strict;
use warnings;
use Margin;
use Test::More;

my $rows = 1_000_000;
my $node = new_node('sql_expression');
$node->safe_psql('postgres', 'CREATE DATABASE plain TEMPLATE template0');

# The same rows in both: functions of their numbers. Every kind of column, some NULL, names that would end a statement.
my $types = q{CREATE TYPE grade AS ENUM ('low', 'mid', 'high')};
my $columns = q{
	SELECT i AS id, CASE WHEN h(i, 1) % 9 > 0 THEN h(i, 2) / 1e5 - 3e3 END AS x, (h(i, 3) / 7.0)::real AS r, h(i, 4)::int AS whole, (h(i, 5) % 1000)::smallint AS small, h(i, 6) * h(i, 7) AS big,
	       (h(i, 8) / 321.0)::numeric(12, 3) AS "n; drop table t; --", CASE WHEN h(i, 9) % 20 > 0 THEN h(i, 10) % 3 = 0 END AS flag, date '1950-01-01' + (h(i, 11) % 40000)::int AS day,
	       CASE WHEN h(i, 12) % 5 > 0 THEN timestamp '1980-01-01' + h(i, 13) * interval '1.234567 s' END AS moment, timestamptz '1999-12-31 12:00+00' + (h(i, 14) - 500000) * interval '61.000003 s' AS zoned,
	       (h(i, 15) % 41 - 20) * interval '1 mon 2 days' + (h(i, 16) - 500000) * interval '12.345678 s' AS span, time '00:00' + h(i, 17) * interval '0.086399 s' AS clock,
	       (ARRAY['a', 'b''', 'c"', 'd\\', NULL])[1 + h(i, 18) % 5] AS "te""xt", ('p' || h(i, 19) % 12)::char(5) AS padded, (ARRAY['low', 'mid', 'high'])[1 + h(i, 20) % 3]::grade AS grade,
	       ARRAY[h(i, 21), h(i, 22) / 3.0, sqrt(h(i, 23)), 1, h(i, 24), -h(i, 25), h(i, 26), h(i, 27), h(i, 28) / 9.0, h(i, 29)]::real[] AS list
	  FROM generate_series(%s, %s) AS i};
my $hash = q{CREATE FUNCTION h(i integer, k integer) RETURNS bigint IMMUTABLE PARALLEL SAFE LANGUAGE SQL AS 'SELECT abs(hashint8(i::bigint * 1000 + k)::bigint) % 1000000'};
sub rows_between { return sprintf $columns, @_ }

foreach my $database ('postgres', 'plain')
{
	$node->safe_psql($database, "$types; $hash; CREATE TABLE t AS " . rows_between(1, $rows));
}
is($node->safe_psql('plain', q{SELECT count(*) FROM pg_extension WHERE extname = 'margin'}), 0, 'the other database has no extension');

my %models = (
	'two classes' => q{train_margin(y, t, '{"lambda": 1e-3, "loss": "logistic", "exclude": ["id"]}')},
	'as the reference' => q{train_margin(y, t, '{"lambda": 1e-3, "missing": "impute", "unknown_features": "reference", "exclude": ["id", "list"]}')},
	'regression' => q{train_margin(t.small / 3.0 + t.r / 5e4, t, '{"lambda": 1e-3, "loss": "squared", "exclude": ["id"], "standardize": false, "tolerance": 0.5}')},
	'three classes' => q{train_margin(whole % 3, t, '{"lambda": 1e-2, "multiclass": "joint", "loss": "logistic", "exclude": ["id"]}')},
	'trees' => q{train_margin(y, t, '{"norm": 1, "learners": "trees", "max_iterations": 12, "exclude": ["id"]}')},
	'an array' => q{train_margin(y, list, '{"lambda": 1e-3, "loss": "logistic", "standardize": true}')});
foreach my $name (sort keys %models)
{
	my $several = $name eq 'three classes';
	my $features = $name eq 'an array' ? 'list' : 't';
	$node->safe_psql('postgres', "SET client_min_messages = error; DROP TABLE IF EXISTS m; CREATE TABLE m AS SELECT $models{$name} AS m FROM (SELECT t, t.*, coalesce(x, 0) + whole > 500000 AS y FROM t WHERE id % 300 = 0) AS t" =~ s/, t, '/, t.t, '/r);
	my $expression = $node->safe_psql('postgres', 'SELECT margin_sql(m' . ($name eq 'an array' ? ", 'list'" : '') . ') FROM m');
	my $digest = sub {
		my ($value, $from) = @_;
		my $bytes = $several ? "array_send($value)" : "float8send($value)";
		return "SELECT md5(string_agg(coalesce($bytes, ''), '' ORDER BY id)), count(*), count($value), count(DISTINCT $value) > 1000 FROM $from";
	};
	my $here = $node->safe_psql('postgres', $digest->($several ? "margin_scores(m, $features)" : "margin_score(m, $features)", 't, m'));
	my $there = $node->safe_psql('plain', $digest->('s', "(SELECT id, $expression AS s FROM t OFFSET 0) AS scored"));
	is($there, $here, "$name: the bits of margin_score");
	like($here, $name eq 'trees' ? qr/\|$rows\|$rows\|/ : qr/\|$rows\|$rows\|t$/, '... of a million rows that differ');
}

# A generated column, filled without the extension.
$node->safe_psql('postgres', "SET client_min_messages = error; DROP TABLE m; CREATE TABLE m AS SELECT train_margin(coalesce(t.x, 0) + whole > 500000, o, '{\"lambda\": 1e-3}') AS m FROM t, LATERAL (SELECT t.x, t.grade, t.zoned, t.span, t.padded) AS o WHERE id % 300 = 0");
my $expression = $node->safe_psql('postgres', 'SELECT margin_sql(m) FROM m');
$node->safe_psql('plain', "ALTER TABLE t ADD COLUMN score float8 GENERATED ALWAYS AS ($expression) STORED");
is($node->safe_psql('plain', "SELECT md5(string_agg(float8send(score), '' ORDER BY id)) FROM t WHERE id <= 1000"),
	$node->safe_psql('postgres', "SELECT md5(string_agg(float8send(margin_score(m, t)), '' ORDER BY id)) FROM t, m WHERE id <= 1000"), 'a generated column has them, too');
done_testing();

# Models of the rows of real tables: their importances do not depend on how a column is coded, and a label in dollars needs no
# option. The tables are in MARGIN_SHARED/tables.
use strict;
use warnings;
use Margin;
use PostgreSQL::Test::Utils;
use Test::More;

my $tables = shared_sets() . '/tables';
plan skip_all => 'no tables' unless shared_sets() && -e "$tables/load.sql";
my $node = new_node('served_rows', 'max_parallel_workers_per_gather = 0');
# As the server reads them: psql's \copy is one line, without a semicolon.
$node->safe_psql('postgres', slurp_file("$tables/load.sql") =~ s/^\\copy (\w+) FROM PROGRAM '([^']*)'(.*)$/COPY $1 FROM PROGRAM 'cd $tables && $2'$3;/gmr);

# Three codings of one flag; at lambda 0 the models are the same function.
my $shares = $node->safe_psql('postgres', q{
	SET client_min_messages = error;
	CREATE TEMP TABLE of_int AS SELECT senior_citizen, tenure, contract, monthly_charges, churn = 'Yes' AS y FROM telco;
	CREATE TEMP TABLE of_boolean AS SELECT senior_citizen = 1 AS senior_citizen, tenure::numeric, contract::varchar, monthly_charges::real, y FROM of_int;
	CREATE TEMP TABLE of_text AS SELECT CASE senior_citizen WHEN 1 THEN 'a' ELSE 'b' END AS senior_citizen, tenure::float8, contract, monthly_charges::numeric, y FROM of_int;
	CREATE TEMP TABLE m AS
	SELECT 'int' AS k, train_margin(y, t, '{"lambda": 0, "loss": "logistic", "tolerance": 1e-13, "exclude": ["y"]}') AS m FROM of_int t UNION ALL
	SELECT 'boolean', train_margin(y, t, '{"lambda": 0, "loss": "logistic", "tolerance": 1e-13, "exclude": ["y"]}') FROM of_boolean t UNION ALL
	SELECT 'text', train_margin(y, t, '{"lambda": 0, "loss": "logistic", "tolerance": 1e-13, "exclude": ["y"]}') FROM of_text t;
	CREATE TEMP TABLE e AS
	SELECT k, split_part(feature, '=', 1) AS f, contribution FROM m, (SELECT * FROM of_int WHERE senior_citizen = 1 LIMIT 1) t, margin_explain(m, t) WHERE k = 'int' UNION ALL
	SELECT k, split_part(feature, '=', 1), contribution FROM m, (SELECT * FROM of_boolean WHERE senior_citizen LIMIT 1) t, margin_explain(m, t) WHERE k = 'boolean' UNION ALL
	SELECT k, split_part(feature, '=', 1), contribution FROM m, (SELECT * FROM of_text WHERE senior_citizen = 'a' LIMIT 1) t, margin_explain(m, t) WHERE k = 'text';
	SELECT (SELECT max(d) < 1e-6 FROM (SELECT max(share) - min(share) AS d FROM m, margin_importance(m) GROUP BY "column") s),
	       (SELECT max(d) < 1e-6 AND count(*) = 5 FROM (SELECT max(contribution) - min(contribution) AS d FROM e GROUP BY f) s), (SELECT min(contribution) > 0 FROM e WHERE f = 'senior_citizen')});
is($shares, 't|t|t', 'telco: the same shares and contributions as integer, boolean and text, and a risk is a risk');

foreach my $loss ('absolute', 'quantile', 'huber')
{
	my $answer = $node->safe_psql('postgres', qq{
		CREATE TEMP TABLE fitted AS SELECT train_margin(price, k, margin_options(lambda => 1e-3, loss => '$loss', exclude => '{id,price,sale}')) AS m FROM kc k;
		SELECT (m).status, (m).seconds < 2, round((e).r2::numeric, 3) FROM (SELECT m, (SELECT margin_evaluate(m, price, k) FROM kc k) AS e FROM fitted) s});
	my ($status, $fast, $r2) = split /\|/, $answer;
	is($status, 'optimal', "kc, $loss: optimal");
	cmp_ok($r2, '>=', 0.7, "... with an R2 of $r2 by default");
	is($fast, 't', '... in less than 2 s');
}
done_testing();

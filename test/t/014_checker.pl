# docs/checker.sql: what it says of models is what margin_verify says; a claim that is false, or about a problem that it does
# not know, is not proven.
use strict;
use warnings;
use Margin;
use Test::More;

my $node = new_node('checker');
my $checker = "$ENV{TESTDIR}/checker.sql";
open(my $file, '<', $checker) or die "$checker: $!";
cmp_ok(scalar(my @lines = <$file>), '<=', 250, 'a person can read it');
close $file;
$node->safe_psql('postgres', "\\i $checker");
$node->safe_psql('postgres', "\\i $ENV{TESTDIR}/t/014_$_.sql") foreach qw(models forgeries);

# models of every loss, form of intercept and norm
my $count = $node->safe_psql('postgres', 'SELECT count(*) FROM models');
cmp_ok($count, '>=', 300, 'honest models');
my $open = $node->safe_psql('postgres', q{SELECT name || ': ' || verdict(query, m) FROM models WHERE verdict(query, m) <> 'proven'});
cmp_ok(scalar(my @open = split /\n/, $open), '<=', $count / 100, 'what they claim is proven') or diag($open);
is($node->safe_psql('postgres', q{
	SELECT string_agg(name, '; ') FROM models, margin_checker.interval(query, m) i WHERE name ~ 'plain' AND (m).status = 'optimal' AND
	  CASE WHEN (m).lambda IS NULL THEN abs(i.lower::float8 - (m).margin_lower) <= 1e-9 * (m).margin_upper AND abs(i.upper::float8 - (m).margin_upper) <= 1e-9 * (m).margin_upper
	       ELSE abs(i.lower::float8 - (m).dual) <= 1e-9 * (m).primal AND abs(i.upper::float8 - (m).primal) <= 1e-9 * (m).primal END IS NOT TRUE;}), '', 'the ends are those of the model, to rounding');

# narrow ones, about which each lie is a false claim
$node->safe_psql('postgres', q{
	SET client_min_messages = error;
	CREATE TABLE honest AS WITH d AS (DELETE FROM models RETURNING *) SELECT * FROM d LIMIT 0;
	DELETE FROM models;
	DO $$ DECLARE c record; BEGIN
	  FOR c IN SELECT l.loss, l.label, f.form, f.form = 'true' AS weighted FROM (VALUES ('hinge', 'class', '{true,free,false}'::text[]), ('squared_hinge', 'class', '{penalized}'), ('smoothed_hinge', 'class', '{false}'), ('logistic', 'class', '{free}'), ('squared', 'target', '{true}'),
	      ('absolute', 'target', '{free}'), ('quantile', 'target', '{free,penalized}'), ('poisson', 'count', '{free,penalized}'), ('epsilon_insensitive', 'target', '{false}'), ('squared_epsilon_insensitive', 'target', '{penalized}'), ('huber', 'target', '{true}')) l(loss, label, forms), unnest(forms) f(form) LOOP
	    CALL trained(c.loss || ' ' || c.form, 'plain', c.label, c.weighted, jsonb_build_object('loss', c.loss, 'lambda', 0.05, 'tolerance', 1e-9, 'intercept', c.form));
	  END LOOP;
	  CALL trained('hard', 'apart', 'class', false, '{"tolerance": 1e-9}');
	  CALL trained('hard 1', 'apart', 'class', false, '{"tolerance": 1e-9, "norm": 1, "intercept": false}');
	END $$;
	INSERT INTO honest SELECT * FROM models;});
is($node->safe_psql('postgres', q{SELECT count(*) || ' ' || string_agg(DISTINCT (m).status || ', ' || verdict(query, m), ';') FROM honest}), '17 optimal, proven', 'narrow ones, too');
$node->safe_psql('postgres', "\\i $ENV{TESTDIR}/t/014_kinds.sql");
is($node->safe_psql('postgres', q{SELECT count(*) || ' of ' || count(DISTINCT left(kind, 1)) FROM kinds}), '18 of 9', 'false claims that were once proven, by kind');
is($node->safe_psql('postgres', q{SELECT string_agg(kind, '; ') FROM kinds WHERE verdict(query, m) = 'proven'}), '', 'none is proven any more');
$node->safe_psql('postgres', 'CREATE TABLE forged AS SELECT name, kind, query, jsonb_populate_record(m, lie) AS m FROM honest, lies(m) WHERE name ~ $$^(hinge true|smoothed_hinge|logistic|squared true|quantile free|poisson free|hard)$$');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM forged'), '>', 1500, 'forgeries');
is($node->safe_psql('postgres', q{SELECT string_agg(name || ': ' || kind, '; ') FROM forged WHERE verdict(query, m) = 'proven'}), '', 'none is proven');

# other rows than the model's, and what is no rows
my $rows = 'plain ORDER BY i';
my %of = (
	'hinge true' => ['SELECT class, x, weight FROM plain ORDER BY i DESC', 'SELECT class, x, weight FROM plain WHERE i < 30 ORDER BY i', 'SELECT class, x, weight FROM plain UNION ALL SELECT true, ARRAY[0, 0, 0], 0',
		map({ "SELECT class, x, $_ FROM $rows" } '1', 'weight * 2', '-weight', 'NULL', 'nullif(weight, 1)', q{'NaN'}, q{'Infinity'}, 'weight + 1e-6'),
		map({ "SELECT $_, x, weight FROM $rows" } 'NOT class', 'class::int', 'upper(class::text)', q{class || ' '}, 'nullif(class, i = 3)', 'NULL::boolean', 'to_jsonb(class)', 'ROW(class)', 'ARRAY[class]', q{date '2026-01-01' + i}, 'i'),
		map({ "SELECT class, $_, weight FROM $rows" } 'x[:2]', 'x || 1.0::float8', 'ARRAY[x]', 'x::text[]', 'x::float4[]', 'CASE WHEN i <> 3 THEN x END', 'ARRAY[x[1], NULL, x[3]]', q{ARRAY[x[1], 'NaN', x[3]]}, q{ARRAY[x[1], x[2], 'Infinity']}, q{'{}'::float8[]}, 'plain', 'to_jsonb(x)', 'ARRAY[x[2], x[1], x[3]]', 'ARRAY[x[1], x[2], x[3] + 1e-6]'),
		'SELECT class, x FROM plain', 'SELECT class FROM plain', '', 'SELECT', 'nothing', 'SELECT class, x, weight FROM plain; SELECT true, ARRAY[0], 1', 'DELETE FROM plain RETURNING class, x, weight', 'WITH d AS (DELETE FROM plain RETURNING *) SELECT class, x, weight FROM d',
		"SELECT class, x, weight FROM $rows) AS r(l, f, w) WHERE true --", 'SELECT true, ARRAY[0], 1) AS s(l, f, w), LATERAL (SELECT class, x, weight FROM plain ORDER BY i', 'SELECT class, x, weight INTO other FROM plain ORDER BY i', 'SELECT class, x, weight FROM plain WHERE false'],
	'squared true' => [map({ "SELECT $_, x, weight FROM $rows" } 'target::real', 'target::text', 'target + 1e-6', 'nullif(target, (SELECT max(target) FROM plain))', 'class', q{'Infinity'::float8}, q{'NaN'::numeric}, '1e400'), 'SELECT target, x, 1 FROM plain ORDER BY i'],
	'poisson free' => [map({ "SELECT $_, x, 1 FROM $rows" } 'count - 1', 'count + 1', '-count', 'count * 1e-6')],
	'hard' => ['SELECT class, x, 2 FROM apart ORDER BY i', 'SELECT NOT class, x, 1 FROM apart ORDER BY i', 'SELECT class, ARRAY[x[1], x[2], 0] FROM apart ORDER BY i', 'SELECT class, ARRAY[x[1] * 0.999999, x[2], x[3]], 1 FROM apart ORDER BY i', 'SELECT class, x, CASE i WHEN 1 THEN 0 ELSE 1 END FROM apart ORDER BY i']);
foreach my $name (sort keys %of)
{
	my $queries = join(', ', map({ "(\$q\$$_\$q\$)" } @{ $of{$name} }));
	is($node->safe_psql('postgres', "SELECT string_agg(q, '; ') FROM honest, (VALUES $queries) v(q) WHERE name = '$name' AND verdict(q, m) = 'proven'"), '', scalar(@{ $of{$name} }) . " queries of other rows: $name");
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM plain'), 30, 'and no row is gone');
foreach my $same ("SELECT class::text, x, weight FROM $rows -- a remark", "TABLE (SELECT class, x, weight FROM $rows)", "SELECT class, x, weight, i FROM $rows", "SELECT class, ARRAY[x[1], x[2], x[3]], weight::numeric FROM $rows")
{
	my $query = $same =~ s/^TABLE \((.*)\)$/WITH t AS ($1) TABLE t/r;
	is($node->safe_psql('postgres', "SELECT verdict(\$q\$$query\$q\$, m) FROM honest WHERE name = 'hinge true'"), 'proven', "the same rows: $query");
}

# labels and features of every type, as a training reads them
my @labels = ('class', 'class::int', 'class::int::smallint - 5', 'class::int::bigint * 4000000000000000001', '(class::int + 0.1)::real', '(class::int * 3e7)::real', '(class::int * 2 - 1) * 1234567.5::real', '(class::int * 2 - 1) * 1e-5::float8', '(class::int * 2 - 1) * 1e20::float8', 'class::int * 1.50',
	'(CASE WHEN class THEN -0.0 ELSE 3 END)::float8', q{CASE WHEN class THEN 'b' ELSE 'B' END}, q{CASE WHEN class THEN 'a ' ELSE 'a' END}, 'class::text::varchar', 'class::text::char(7)', 'class::text::name', q{CASE WHEN class THEN 't' ELSE 'f' END::"char"}, q{CASE WHEN class THEN 'sad' ELSE 'happy' END::mood});
my @targets = ('target', 'target::real', 'target::numeric(10, 3)', 'count', 'count::smallint', 'count * 9007199254740993', 'count::numeric / 3');
my @features = ('x::real[]', 'x::numeric[]', 'ARRAY[i, count]', 'ARRAY[i::bigint * 9000000000, count]', 'ARRAY[i::smallint]', q{('{' || i || ':1}/40')::margin_sparse::float8[]}, 'x[0:2]');
$node->safe_psql('postgres', q{CREATE TYPE mood AS ENUM ('sad', 'happy')});
my @of_types;
foreach my $case (map({ [$_, 'x', 'hinge'] } @labels), map({ [$_, 'x', 'huber'] } @targets), map({ ['class', $_, 'logistic'] } @features))
{
	my ($label, $x, $loss) = @$case;
	push @of_types, qq{SELECT \$c\$$label, $x\$c\$ AS kind, \$q\$SELECT $label, $x, 1 FROM plain ORDER BY i\$q\$ AS query, (SELECT train_margin($label, $x, '{"loss": "$loss", "lambda": 0.05, "dual_weights": true}' ORDER BY i) FROM plain) AS m};
}
is($node->safe_psql('postgres', "SELECT string_agg(kind || ': ' || verdict(query, m), '; ') FROM (" . join(' UNION ALL ', @of_types) . ") t WHERE verdict(query, m) <> 'proven'"), '', scalar(@of_types) . ' types of labels and features');

# the query runs once: rows that change between two scans cannot have two faces
$node->safe_psql('postgres', 'CREATE SEQUENCE seen');
is($node->safe_psql('postgres', q{SELECT verdict('SELECT class, x, weight + 0 * nextval($$seen$$) FROM plain ORDER BY i', m) FROM honest WHERE name = 'hinge true'}), 'proven', 'a query that counts its rows');
is($node->safe_psql('postgres', 'SELECT last_value FROM seen'), 30, 'and counts each once');

# every function and operator of pg_catalog that may be meant, before it in the path
my $planted = $node->safe_psql('postgres', q{
	CREATE SCHEMA planted;
	SET client_min_messages = error;
	DO $$ DECLARE f record; BEGIN
	  FOR f IN SELECT p.proname, pg_get_function_identity_arguments(p.oid) AS arguments, format_type(p.prorettype, NULL) AS result FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND NOT p.proretset
	      AND pg_get_functiondef('margin_checker.judged'::regproc) || (SELECT string_agg(pg_get_functiondef(oid), ' ') FROM pg_proc WHERE pronamespace = 'margin_checker'::regnamespace) ~ ('\m' || p.proname || ' ?\(') LOOP
	    BEGIN
	      EXECUTE format('CREATE FUNCTION planted.%I(%s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN RAISE ''planted''; END $f$', f.proname, f.arguments, f.result);
	    EXCEPTION WHEN OTHERS THEN NULL; END;
	  END LOOP;
	  FOR f IN SELECT o.oprname, format_type(oprleft, NULL) AS l, format_type(oprright, NULL) AS r, format_type(oprresult, NULL) AS result, row_number() OVER () AS n FROM pg_operator o WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprkind = 'b'
	      AND oprname IN ('=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '||', '?', '@>', '->>', '~', '&', '<<', '>>', '^') LOOP
	    BEGIN
	      EXECUTE format('CREATE FUNCTION planted.f%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN RAISE ''planted''; END $f$; CREATE OPERATOR planted.%s (FUNCTION = planted.f%s, LEFTARG = %s, RIGHTARG = %s)', f.n, f.l, f.r, f.result, f.oprname, f.n, f.l, f.r);
	    EXCEPTION WHEN OTHERS THEN NULL; END;
	  END LOOP;
	END $$;
	CREATE DOMAIN planted.numeric AS integer; CREATE DOMAIN planted.text AS integer; CREATE DOMAIN planted.jsonb AS integer; CREATE DOMAIN planted.refcursor AS integer;
	SELECT count(*) FROM pg_proc WHERE pronamespace = 'planted'::regnamespace;});
cmp_ok($planted, '>', 300, 'planted functions and operators');
is($node->safe_psql('postgres', q{
	CREATE TABLE heard AS SELECT name, query, m FROM honest UNION ALL SELECT kind, query, m FROM kinds WHERE query ~ '^SELECT \w+, x, \w+ FROM \w+ ORDER BY i$';
	SET search_path = planted, pg_catalog, public;
	SELECT pg_catalog.string_agg(v, ' ') FROM (SELECT DISTINCT margin_checker.proven(query, m)::pg_catalog.text v FROM heard WHERE name LIKE '% true' OR name LIKE 'hard%') t;}), 'true', 'are not called');
unlike($node->safe_psql('postgres', q{SET search_path = planted, pg_catalog, public; SELECT pg_catalog.string_agg(public.verdict(query, m), '; ') FROM heard WHERE name LIKE '_: %';}), qr/planted|^proven|; proven/, 'nor for false claims');

my $err = '';
$node->psql('postgres', q{SELECT margin_checker.interval('SELECT class, x, 1 FROM plain ORDER BY i', train_margin(class, x, '{"kernel": "rbf", "lambda": 0.1}')) FROM plain}, stderr => \$err);
like($err, qr/the checker does not take this model/, 'a model that it does not know is refused');
$node->stop;
done_testing();

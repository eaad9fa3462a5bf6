#!/usr/bin/python3
"""What the papers' theorems promise (margin_bound) against what trainings reach, on 1,000 random problems each.

bounds.py SOCKET [THEOREM...]: a server with the extension. Prints for each theorem `ok` or `not ok`, its name, how many problems end beyond what
is promised, and the mean and the largest share of the promised gap that is left. No training may end beyond. The theorems of SDCA
promise an expected gap, the mean over the draws: every problem is trained with 25 seeds as well, and their mean and three of its
standard errors have to be within the promise; where so few seeds do not tell, because a row is once drawn late, with 2,000.
"""
import sys

import psycopg2

PROBLEMS_OF_EACH = 1000
# Rows of norm 1 in the plane, 4 to 40 of them; labels drawn, and ones that a line through 0 parts by 0.2 and more. Of few rows all
# may have one label, which is no problem: more are drawn than are needed, and the first 1,000 of both classes taken.
PROBLEMS = """
CREATE TEMP TABLE problems AS
  SELECT g, 4 + g % 37 AS n, (ARRAY[0.05, 0.1, 0.3])[1 + g % 3] AS lambda FROM generate_series(1, 1100) AS g;
CREATE TEMP TABLE rows AS
  SELECT g, n, lambda, i, random() < 0.5 + 0.4 * sin(a) AS y, ARRAY[sin(a), cos(a)]::float8[] AS x
    FROM (SELECT p.*, i, 2 * pi() * random() AS a FROM problems AS p, generate_series(1, n) AS i) AS r;
CREATE TEMP TABLE parted AS
  SELECT g, count(*) OVER (PARTITION BY g) AS n, i, x[1] * cos(g) + x[2] * sin(g) > 0 AS y, x
    FROM rows WHERE abs(x[1] * cos(g) + x[2] * sin(g)) > 0.2;
DELETE FROM rows WHERE g NOT IN (SELECT g FROM rows GROUP BY g HAVING count(DISTINCT y) = 2 ORDER BY g LIMIT 1000);
CREATE INDEX ON rows (g);
CREATE INDEX ON parted (g);
DELETE FROM parted WHERE g NOT IN (SELECT g FROM parted GROUP BY g HAVING count(DISTINCT y) = 2 ORDER BY g LIMIT 1000);
CREATE TEMP TABLE optima AS
  SELECT g, n, lambda, loss, train_margin(y, x, margin_options(lambda => lambda, loss => loss, solver => 'newton', intercept => false, tolerance => 1e-9) ORDER BY i) AS best
    FROM rows, unnest('{hinge,smoothed_hinge}'::text[]) AS loss GROUP BY g, n, lambda, loss;
CREATE TEMP TABLE distances AS
  SELECT g, array_agg(abs(1 - CASE WHEN y THEN 1 ELSE -1 END * margin_score(best, x))) AS d FROM rows JOIN optima USING (g) WHERE loss = 'hinge' GROUP BY g;
CREATE TEMP TABLE margins AS
  SELECT g, n, (train_margin(y, x, margin_options(intercept => false, tolerance => 1e-9) ORDER BY i)).margin_upper AS m FROM parted GROUP BY g, n;
"""

# theorem, loss, promised gap, options of the training, what is left of it, the steps from which the average is.
SOFT = (
    ("sdca 1 hinge", "hinge", 0.1, "output => 'average', average_from => first", "gap", "steps - n - 1 / (lambda * eps)"),
    ("sdca 2", "smoothed_hinge", 0.001, "output => 'last'", "gap", "0"),
    ("sdca 3", "hinge", None, "output => 'last', start => 'sgd'", "dual", "0"),
    ("sdca 4 hinge", "hinge", 0.1, "output => 'average', average_from => first, start => 'sgd'", "gap", "steps - n - 1 / (lambda * eps)"),
    ("sdca 5", "hinge", 0.05, "output => 'last'", "dual", "0"),
    ("sdca 6", "hinge", 0.2, "output => 'average', average_from => first", "gap", "steps / 2"),
)


def soft(theorem, loss, eps, options, left, first, seeds="SELECT g", only="true"):
    """What is left of each problem, with the seeds that a query gives for it. Whole epochs: as many as there are in the steps
    before the average begins, and as many as in those after, each rounded up."""
    gap = eps or "2 * (1 + ln(n)) / (lambda * n) * (1 + 1e-9)"
    found = "(m).gap" if left == "gap" else "(best).primal - (m).dual"
    return f"""
      SELECT ({found}) / eps, c.g FROM
        (SELECT *, ceil(t0 / n) AS first, ceil(t0 / n) + ceil((steps - t0) / n) AS epochs FROM
          (SELECT *, greatest(0, {first}) AS t0 FROM
          (SELECT *, margin_bound('{theorem}', n, eps, lambda => lambda, smoothing => 1, distances => d) AS steps FROM
            (SELECT g, n, lambda, best, d, {gap} AS eps FROM optima JOIN distances USING (g) WHERE loss = '{loss}' AND {only}) AS a OFFSET 0) AS b) AS e) AS c,
        LATERAL ({seeds}) AS draws (seed),
        LATERAL (SELECT train_margin(y, x, margin_options(lambda => c.lambda, loss => '{loss}', solver => 'sdca', "order" => 'random', seed => draws.seed,
                   intercept => false, tolerance => 0, max_iterations => epochs::bigint, {options.replace('first', 'first::bigint')}) ORDER BY i) AS m
                   FROM rows WHERE rows.g = c.g) AS s"""


def hard(theorem, share, options):
    return f"""
      SELECT (m - (r).margin_lower) / eps FROM
        (SELECT *, margin_bound('{theorem}', n, eps, margin => m, failure => 0.05) AS steps FROM (SELECT *, {share} AS eps FROM margins) AS a) AS b,
        LATERAL (SELECT train_margin(y, x, margin_options({options}, intercept => false, tolerance => 0, max_iterations => ceil(steps)::bigint) ORDER BY i) AS r
                   FROM parted WHERE parted.g = b.g) AS s"""


def boosting(step, finer):
    """Half of the margin, so that the shrinkage is 1/2. The solver divides rows by their largest entry, 1 / scale."""
    return f"""
      SELECT (m * scale - (r).margin_lower * scale) / eps FROM
        (SELECT *, margin_bound('boosting 3.3 {step}', n, eps) AS steps FROM
          (SELECT *, 0.5 * m * scale AS eps FROM l1_margins, LATERAL (SELECT 1 / max(abs(v)) AS scale FROM parted, unnest(x) AS v WHERE parted.g = l1_margins.g) AS s) AS a) AS b,
        LATERAL (SELECT train_margin(y, x, margin_options(norm => 1, solver => 'boosting', step => '{step}', {finer},
                   output => 'last', intercept => false, tolerance => 0, max_iterations => ceil(steps)::bigint) ORDER BY i) AS r
                   FROM parted WHERE parted.g = b.g) AS s"""


def of_seeds(cursor, case):
    """Of each problem the mean over seeds and three of its standard errors; and for how many 25 seeds do not tell."""
    ends, open_ones, again = {}, "true", []
    for number in (25, 2000):
        statement = soft(*case, seeds=f"SELECT s FROM generate_series(1, {number}) AS s", only=open_ones)
        cursor.execute(f"SELECT g, avg(l) + 3 * stddev_samp(l) / sqrt(count(*)) FROM ({statement}) AS r (l, g) GROUP BY g")
        ends.update(cursor.fetchall())
        if number > 25 or not (again := [g for g, end in ends.items() if end > 1]):
            break
        open_ones = f"g IN ({', '.join(map(str, again))})"
    return list(ends.values()), len(again)


def report(theorem, problems, beyond, mean, largest, more=""):
    good = problems == PROBLEMS_OF_EACH and beyond == 0
    print("ok" if good else "not ok", f"{theorem}: of {problems}, {beyond} beyond; left {mean:.2g} in the mean, {largest:.2g} at most{more}", flush=True)


def main():
    connection = psycopg2.connect(host=sys.argv[1], dbname="postgres")
    cursor = connection.cursor()
    cursor.execute("SET client_min_messages = error; SELECT setseed(0.5)")
    cursor.execute(PROBLEMS)
    cases = [(one[0], soft(*one)) for one in SOFT]
    cases.append(("momentum 3.1", hard("momentum 3.1", "0.1 * m", "solver => 'momentum', output => 'last'")))
    cases.append(("sampling 4.1", hard("sampling 4.1", "0.5", "solver => 'sampling', kernel => 'linear', step => 'theory', output => 'last', seed => 3")))
    # Entries of at most 1; the margin is that of the l1 norm.
    cursor.execute("CREATE TEMP TABLE l1_margins AS SELECT g, count(*) AS n, (train_margin(y, x, margin_options(norm => 1, intercept => false, tolerance => 1e-9) ORDER BY i)).margin_upper AS m FROM parted GROUP BY g")
    for step in ("quadratic", "wolfe", "frank_wolfe"):
        finer = "gap_tolerance => eps / scale" if step == "frank_wolfe" else "shrinkage => 0.5"
        cases.append((f"boosting 3.3 {step}", boosting(step, finer)))
    for theorem, statement in cases:
        if len(sys.argv) > 2 and theorem not in sys.argv[2:]:
            continue
        cursor.execute(f"SELECT count(*), count(*) FILTER (WHERE left_over > 1), avg(left_over), max(left_over) FROM ({statement}) AS r (left_over)")
        report(theorem, *cursor.fetchone())
        for case in SOFT:
            if case[0] == theorem:
                ends, again = of_seeds(cursor, case)
                report(f"{theorem}, mean over seeds and three standard errors", len(ends), sum(end > 1 for end in ends), sum(ends) / len(ends), max(ends),
                       f"; {again} of 2,000 seeds")


main()

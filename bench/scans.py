#!/usr/bin/python3
"""The sections of docs/benchmarks/ about training by scans. Run by scans.sh, which starts two servers."""
import json
import os
import re
import sys
import threading
import time

from measure import Session, StatementFailed, Table, interleave, write

SOFT = ("hinge", "logistic")
# Data set, losses, whether it separates, rows that the first scan keeps.
SETS = [
    ("a9a", SOFT, False, 6500), ("ijcnn1", SOFT, False, 10000), ("covtype.20k", SOFT, False, 4000),
    ("w8a", SOFT, False, 10000), ("mushrooms", SOFT, True, 1600), ("mnist_0v1", SOFT, True, 2500),
    ("mnist_6v7", SOFT, True, 2500), ("digits8x8", SOFT, True, 450), ("rcv1_small", SOFT, False, 250),
    ("abalone", ("squared",), False, 800), ("protein-casp", ("squared",), False, 9000)]
SHARDS = (1, 2, 5)


def options(**named):
    return "'%s'" % json.dumps(named)


def make_shards(here, there, table, count):
    """`table`_N: the rows in N foreign partitions, every other one on the other server."""
    name = "%s_%d" % (table, count)
    here.run("DROP TABLE IF EXISTS %s" % name)
    here.run("CREATE TABLE %s (LIKE %s, shard int) PARTITION BY LIST (shard)" % (name, table))
    for k in range(count):
        session, server = ((there, "other"), (here, "own"))[k % 2]
        session.run("DROP TABLE IF EXISTS %s_part%d" % (name, k))
        columns = here.value("SELECT string_agg(format('%%I %%s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum)"
                             " FROM pg_attribute WHERE attrelid = '%s'::regclass AND attnum > 0" % table)
        session.run("CREATE TABLE %s_part%d (%s, shard int)" % (name, k, columns))
        here.run("CREATE FOREIGN TABLE %s_at%d PARTITION OF %s FOR VALUES IN (%d) SERVER %s OPTIONS (table_name '%s_part%d')"
                 % (name, k, name, k, server, name, k))
    here.run("INSERT INTO %s SELECT *, id %% %d FROM %s" % (name, count, table))
    return name


def link(here, there):
    for name, socket in (("own", os.environ["MARGIN_SOCKET"]), ("other", os.environ["MARGIN_OTHER_SOCKET"])):
        here.run("CREATE SERVER %s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', dbname 'postgres', "
                 "extensions 'margin', async_capable 'true', batch_size '2000')" % (name, socket))
        here.run("CREATE USER MAPPING FOR postgres SERVER %s OPTIONS (user 'postgres', password_required 'false')" % name)
    here.run("SET enable_partitionwise_aggregate = on")


def first_scan(session, query, **named):
    """The statement of the first scan, in one line."""
    return session.value("SELECT replace(margin_scan_query('%s', %s), E'\\n', ' ')" % (query, options(**named))).rstrip(";")


def train(session, call, source=None):
    row = session.run("SELECT coalesce((m).margin_lower, (m).dual), coalesce((m).margin_upper, (m).primal), (m).iterations, (m).status "
                      "FROM (SELECT %s AS m %s OFFSET 0) t" % (call, "FROM " + source if source else ""))
    lower, upper, iterations, status = row["rows"][-1]
    return float(lower), float(upper), int(iterations), status


def compare(here, table, source, tables, label, problem, sample, what):
    """A row: the trainings of a problem by scans of a table and of its shards, against that in memory. Without a label, of one class."""
    function, first, selected = ("margin", label + ", ", label + " AS label, ") if label else ("one_class", "", "")
    known = train(here, "train_%s(%sx, %s)" % (function, first, options(tolerance=1e-6, **problem)), source)
    scans, worst, overlap = {}, 0, True
    runs = [(w, source, {}) for w in (0, 1, 2)] + [(0, t, {"shard": "shard"}) for t in tables]
    for tolerance in (1e-3, 1e-6):
        for workers, rows, extra in runs if tolerance == 1e-6 else runs[:1]:
            here.run("SET max_parallel_workers_per_gather = %d; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;"
                     " SET min_parallel_table_scan_size = 0" % workers)
            column = ", shard" if extra else ""
            call = "train_%s_from('SELECT %sx AS features%s FROM %s', %s)" % (
                function, selected, column, rows, options(tolerance=tolerance, sample_rows=sample, **problem, **extra))
            lower, upper, used, status = train(here, call)
            scans[tolerance] = max(scans.get(tolerance, 0), used)
            if tolerance == 1e-6:
                best = (known[1], upper) if "lambda" in problem or not label else (known[0], lower)
                worst = max(worst, abs(best[0] - best[1]) / abs(best[0]))
                slack = 1e-9 * abs(known[1])
                overlap &= lower <= known[1] + slack and known[0] <= upper + slack
    here.run("SET max_parallel_workers_per_gather = 0")
    bound = 1e-6 if overlap else 0
    table.add(what, "%d, %d scans" % (scans[1e-3], scans[1e-6]), "%.6g" % best[0],
              worst, bound, "sample of %d" % sample + ("" if overlap else "; intervals do not overlap"))


def same(here, there):
    table = Table("scans-same", "Training by scans: the same answers",
                  "`train_margin_from` with a sample of the rows that is named, against `train_margin`, both at tolerance 1e-6"
                  " (lambda 1e-4, or none for a hard margin). Ours: scans to 1e-3 and to 1e-6, the first one counted. Ratio:"
                  " the largest relative difference of the objective, over no worker, 1 and 2 workers, and 1, 2 and 5"
                  " foreign shards. The intervals overlap where it holds.")
    for name, losses, separable, sample in SETS:
        source = "t_" + re.sub(r"\W", "_", name)
        here.load(source, name, sparse=name == "rcv1_small")
        tables = [make_shards(here, there, source, n) for n in SHARDS]
        problems = [dict(loss=loss, **{"lambda": 1e-4}) for loss in losses]
        if separable:
            problems += [{}, {"norm": 1}]
        for problem in problems:
            if "loss" not in problem and name == "digits8x8" and problem:
                continue  # ten linear programs one against the rest are not all separable
            label = "y::int" if losses != ("squared",) else "y"
            what = "%s, %s" % (name, problem.get("loss") or "hard margin, norm %s" % problem.get("norm", 2))
            compare(here, table, source, tables, label, problem, sample, what)
        for n in SHARDS:
            here.run("DROP TABLE %s_%d" % (source, n))
    return table


KINDS = {"free intercept": {"intercept": "free"}, "elastic net": {"l1_ratio": 0.5, "intercept": "free"}, "lasso": {"l1_ratio": 1, "lambda": 1e-3},
         "bounds of 0.1": {"bounds": [-0.1, 0.1]}, "a constraint": {"constraints": {"weights": {"*": 1}, "equal": 0.1}}, "lambda 0": {"lambda": 0}}


def kinds(here, there):
    table = Table("scans-kinds", "Training by scans: penalties and rules",
                  "The same of other penalties, of bounds of all weights and of a constraint on their sum, lambda 1e-4 (of the lasso 1e-3); of lambda 0 for"
                  " two classes or numbers, and columns that are not collinear.")
    for name, losses, _, sample in SETS:
        if name in ("mushrooms", "mnist_0v1", "rcv1_small"):
            continue  # linear separation, and more features than such trainings take
        source = "t_" + re.sub(r"\W", "_", name)
        here.load(source, name)
        tables = [make_shards(here, there, source, n) for n in SHARDS]
        for loss in losses + (("quantile",) if losses == ("squared",) else ()):
            for kind, given in KINDS.items():
                if loss in ("hinge", "quantile") and ("l1_ratio" in given or given.get("lambda") == 0):
                    continue
                try:
                    compare(here, table, source, tables, "y::int" if loss in SOFT else "y", {"loss": loss, "lambda": 1e-4, **given}, sample,
                            "%s, %s, %s" % (name, loss, kind))
                except StatementFailed as refused:
                    if "lambda => 0" not in refused.message:
                        raise
        for n in SHARDS:
            here.run("DROP TABLE %s_%d" % (source, n))
    return table


def classes(here, there):
    table = Table("scans-classes", "Training by scans: classes jointly, and one class",
                  "The same of `multiclass => 'joint'`, lambda 1e-3: softmax regression (logistic) and Crammer and Singer's machine (hinge); and of"
                  " `train_one_class_from` against `train_one_class`, by `nu`.")
    for name, sample in (("digits8x8", 450), ("satimage.scale", 1100), ("letter.scale", 4000)):
        source = "t_" + re.sub(r"\W", "_", name)
        here.load(source, name)
        tables = [make_shards(here, there, source, n) for n in SHARDS]
        for loss in SOFT:
            for intercept in ("penalized", "free"):
                if (name, loss, intercept) == ("digits8x8", "hinge", "free"):
                    continue  # two minutes of steps between the scans of each training; seconds in memory
                compare(here, table, source, tables, "y::int", {"loss": loss, "lambda": 1e-3, "multiclass": "joint", "intercept": intercept}, sample,
                        "%s, %s, %s intercept" % (name, loss, intercept))
    for name, sample in (("protein-casp", 9000), ("a9a", 6500), ("california-housing", 4000)):
        source = "t_" + re.sub(r"\W", "_", name)
        here.load(source, name)
        tables = [make_shards(here, there, source, n) for n in SHARDS]
        for nu in (0.1, 0.5):
            compare(here, table, source, tables, "", {"nu": nu}, sample, "%s, one class, nu %g" % (name, nu))
    return table


def anonymous(pid):
    """Bytes of a process that are not of files nor of shared memory."""
    try:
        with open("/proc/%d/status" % pid) as file:
            return int(re.search(r"RssAnon:\s+(\d+)", file.read()).group(1)) * 1024
    except (FileNotFoundError, AttributeError, ProcessLookupError):
        return 0


def parent(pid):
    with open("/proc/%s/stat" % pid) as file:
        return int(file.read().rpartition(")")[2].split()[1])


def children(servers):
    """All processes of the servers, told by their postmasters, that work on a query."""
    out = []
    for pid in os.listdir("/proc"):
        if not pid.isdigit():
            continue
        try:
            with open("/proc/%s/cmdline" % pid) as file:
                title = file.read()
            if re.match(r"postgres: (postgres postgres|parallel worker)", title) and parent(pid) in servers:
                out.append(int(pid))
        except OSError:
            continue
    return out


class Peak(threading.Thread):
    """The most anonymous memory that all backends had together, and their CPU seconds."""

    def __init__(self, servers):
        super().__init__(daemon=True)
        self.most, self.ended, self.used, self.servers = 0, False, {}, servers

    def run(self):
        while not self.ended:
            pids = children(self.servers)
            self.most = max(self.most, sum(anonymous(p) for p in pids))
            for p in pids:
                try:
                    with open("/proc/%d/schedstat" % p) as file:
                        self.used.setdefault(p, []).append(int(file.read().split()[0]) / 1e9)
                except OSError:
                    pass
            time.sleep(0.02)

    def finish(self):
        self.ended = True
        self.join()
        return self.most, sum(v[-1] - v[0] for v in self.used.values())


def observed(servers, work):
    peak = Peak(servers)
    peak.start()
    start = time.perf_counter()
    answer = work()
    wall = time.perf_counter() - start
    most, cpu = peak.finish()
    return answer, most, cpu, wall


def generated(session, name, rows, width, noise):
    """real[] rows with labels of a noisy linear score."""
    if session.value("SELECT to_regclass('%s') IS NOT NULL" % name) == "t":
        return
    session.run("SELECT setseed(0.5)")
    x = ", ".join(["random() - 0.5"] * width)
    score = " + ".join("%.3f * x[%d]" % (((7 * k) % 11 - 5) / 5, k + 1) for k in range(width))
    session.run("CREATE TABLE %s AS SELECT i AS id, CASE WHEN %s + %g * (random() - 0.5) > 0 THEN 1 ELSE 0 END AS y, x FROM "
                "(SELECT i, ARRAY[%s]::real[] AS x FROM generate_series(1, %d) i OFFSET 0) t" % (name, score, noise, x, rows))
    session.run("VACUUM (ANALYZE) " + name)


def memory(here, there):
    table = Table("scans-memory", "Training by scans: memory and CPU",
                  "10,000,000 rows of 30 `real[]` features, two workers. Ours: `train_margin_from`, peak anonymous memory of"
                  " all processes together, CPU seconds of all. Against: `train_margin`. The ratio is of CPU seconds.")
    generated(here, "big", 10_000_000, 30, 4)
    servers = {parent(here.pid), parent(there.pid)}
    for loss in SOFT:
        for tolerance in (1e-3, 1e-6):
            named = options(loss=loss, tolerance=tolerance, **{"lambda": 1e-4})
            here.run("SET max_parallel_workers_per_gather = 2; SET margin.memory_limit = '8GB'")
            fresh = Session()
            fresh.run("SET max_parallel_workers_per_gather = 2")
            ours, most, cpu, wall = observed(
                servers, lambda: train(fresh, "train_margin_from('SELECT y AS label, x AS features FROM big', %s)" % named))
            fresh.close()
            fresh = Session()
            fresh.run("SET margin.memory_limit = '8GB'")
            theirs, most_all, cpu_all, wall_all = observed(
                servers, lambda: train(fresh, "train_margin(y, x, %s)" % named, "big"))
            fresh.close()
            table.add("%s to %g" % (loss, tolerance), "%.0f MB, %.3g s CPU, %.3g s wall, %d scans" % (most / 1e6, cpu, wall, ours[2]),
                      "%.0f MB, %.3g s CPU, %.3g s wall" % (most_all / 1e6, cpu_all, wall_all), cpu / cpu_all, 1,
                      "objectives differ by %.1e" % (abs(ours[1] - theirs[1]) / theirs[1]))
    return table


def cores(here, there):
    table = Table("scans-cores", "Training by scans: cores",
                  "The scan of a Gram matrix (the squared loss's first) over 2,000,000 x 54 `real[]`, with two workers and the"
                  " leader (ours) against one process; the ratio is of wall seconds.")
    generated(here, "wide", 2_000_000, 54, 4)
    statement = first_scan(here, "SELECT y::float8 AS label, x AS features FROM wide", loss="squared", sample_rows=1000,
                           **{"lambda": 1e-4})
    counted = "SELECT (margin_state_info(s)->>'rows') FROM (%s) t(s)" % statement

    def run(workers):
        here.run("SET max_parallel_workers_per_gather = %d; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0" % workers)
        answer = here.run(counted)
        assert answer["rows"][-1][0] == "2000000", answer
        return answer

    here.run("SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0")
    plan = "\n".join(r[0] for r in here.run("EXPLAIN (COSTS OFF) " + statement)["rows"])
    assert "Partial Aggregate" in plan and "Workers Planned: 2" in plan, plan
    got = interleave({"ours": lambda: run(2), "one": lambda: run(0)}, 5)
    table.add("Gram scan", "%.3g s" % got["ours"]["wall"], "%.3g s" % got["one"]["wall"],
              got["ours"]["wall"] / got["one"]["wall"], 0.6, "plan: Partial Aggregate, 2 workers")
    here.run("SET max_parallel_workers_per_gather = 0")
    return table


def step(here, there):
    table = Table("scans-step", "Training by scans: the cost of two steps",
                  "A gradient of the logistic loss, `margin_sum(margin_term(question, y, x))`, over 1,000,000 x 54 `real[]` in"
                  " one process, against `margin_verify` on the same rows. CPU seconds.")
    generated(here, "tall", 1_000_000, 54, 4)
    here.run("CREATE TABLE IF NOT EXISTS models AS SELECT train_margin(y, x, '{\"loss\": \"logistic\", \"lambda\": 1e-3}') AS m FROM tall")
    question = here.value("SELECT margin_question('{\"loss\": \"logistic\", \"lambda\": 1e-3}', m)::text FROM models")
    got = interleave({
        "ours": lambda: here.run("SELECT margin_state_info(margin_sum(margin_term('%s'::margin_question, y, x)))->>'rows' FROM tall" % question),
        "verify": lambda: here.run("SELECT (margin_verify(m, y, x)).gap FROM tall, models")}, 7)
    table.compare("gradient, logistic", got["ours"], got["verify"], 1.5)
    return table


def shards(here, there):
    table = Table("scans-shards", "Training by scans: two servers",
                  "4,000,000 rows of 30 `real[]` features, half of them on each of two servers of `postgres_fdw` (ours), against"
                  " all of them in one table of one server; hinge, lambda 1e-4. Wall seconds.")
    generated(here, "four", 4_000_000, 30, 4)
    make_shards(here, there, "four", 2)
    rows = "four_2"
    for tolerance in (1e-3, 1e-6):
        named = dict(loss="hinge", tolerance=tolerance, **{"lambda": 1e-4})
        two = "train_margin_from('SELECT y AS label, x AS features, shard FROM %s', %s)" % (rows, options(shard="shard", **named))
        one = "train_margin_from('SELECT y AS label, x AS features FROM four', %s)" % options(**named)
        statement = first_scan(here, "SELECT y AS label, x AS features, shard FROM " + rows, shard="shard", **named)
        plan = "\n".join(r[0] for r in here.run("EXPLAIN (COSTS OFF, VERBOSE) " + statement)["rows"])
        assert plan.count("Async Foreign Scan") == 2 and "Aggregate on" in plan, plan

        def timed(call):
            start = time.perf_counter()
            answer = train(here, call)
            return {"wall": time.perf_counter() - start, "cpu": 0, "answer": answer}

        got = interleave({"two": lambda: timed(two), "one": lambda: timed(one)}, 3)
        table.add("hinge to %g" % tolerance, "%.3g s, %d scans" % (got["two"]["wall"], got["two"]["last"]["answer"][2]),
                  "%.3g s, %d scans" % (got["one"]["wall"], got["one"]["last"]["answer"][2]), got["two"]["wall"] / got["one"]["wall"], 0.65,
                  "plan: Async Foreign Scan, Aggregate on each")
    return table


SECTIONS = {"same": same, "kinds": kinds, "classes": classes, "memory": memory, "cores": cores, "step": step, "shards": shards}


def main():
    here, there = Session(), Session(socket=os.environ["MARGIN_OTHER_SOCKET"])
    link(here, there)
    version = here.value("SELECT current_setting('server_version')")
    environment = "Measured on commit %s, PostgreSQL %s, 2 cores; `bench/scans.sh %%s`." % (os.environ["MARGIN_COMMIT"], version)
    for name in sys.argv[1:] or SECTIONS:
        if name not in SECTIONS:
            sys.exit("no section %s; there are %s" % (name, ", ".join(SECTIONS)))
        print(name, flush=True)
        write(SECTIONS[name](here, there), environment % name)


main()

"""Two builds of the extension beside each other; run through against.sh, which starts both servers.

    against.py PROGRAMS_A SOCKET_A PROGRAMS_B SOCKET_B PART...

A training is one line of `trainings`: a table (id, y, x, w), the options as JSON, and what else differs from a plain
train_margin. Names of solvers, losses, kernels and attributes come from the catalogues of the servers. Limits are
iterations, never seconds, and every aggregate has its ORDER BY, so that a model is a function of the statement.
"""
import concurrent.futures
import csv
import json
import os
import statistics
import sys
import time

import datasets
from measure import Session, StatementFailed
from statements import (KERNEL_COSTS, KERNEL_SETS, MAX_MARGIN, PREDICT_CALLS, PREDICTORS, SOFT_MARGIN, SPEED_SETS, TEXT_COSTS, TEXT_GAPS, TEXT_ROWS,
                        liblinear_problem, libsvm_problem, predict_all, table_name, train, train_predictors)

DEMO = os.path.join(datasets.HERE, "..", "demo", "data")
POOL = concurrent.futures.ThreadPoolExecutor(2)


def both(work, sessions):
    """Does it with both servers at once."""
    return list(POOL.map(work, sessions))


def shared_data():
    return os.path.isdir(datasets.SHARED)


# Data ------------------------------------------------------------------------------------------------------------


def load_demo(session):
    def table(name, rows):
        session.run("CREATE TABLE %s (id int, y text, x float8[])" % name)
        session.run("INSERT INTO %s VALUES %s" % (name, ", ".join(
            "(%s, '%s', '{%s}')" % (row[0], row[1], ",".join(row[2:])) for row in rows)))

    for name, path in (("cancer", "breast_cancer.csv"), ("iris", "iris.csv")):
        with open(os.path.join(DEMO, path)) as file:
            table(name, list(csv.reader(file))[1:])
    for statement in (
            "ALTER TABLE cancer ADD w float8; UPDATE cancer SET w = 1 + id % 3",
            "ALTER TABLE iris ADD w float8; UPDATE iris SET w = 1 + id % 3",
            "CREATE TABLE setosa AS SELECT id, y = 'setosa' AS y, x, w FROM iris",
            "CREATE TABLE petal AS SELECT id, x[4] AS y, x[:3] AS x, w FROM iris",
            "CREATE TABLE petal_ranges AS SELECT id, numrange((y - 0.6)::numeric, (y + 0.6)::numeric) AS y, x, w FROM petal",
            "CREATE TABLE wide AS SELECT id, x[1] AS y, x[2:] AS x, w FROM cancer WHERE id <= 25",
            "CREATE TABLE iris_sparse AS SELECT id, y, margin_sparse(x) AS x, w FROM iris",
            "CREATE TABLE setosa_sparse AS SELECT id, y, margin_sparse(x) AS x, w FROM setosa",
            "CREATE TABLE petal_sparse AS SELECT id, y, margin_sparse(x) AS x, w FROM petal",
            "CREATE TABLE with_nulls AS SELECT id, CASE WHEN id % 7 <> 0 THEN y END AS y, CASE WHEN id % 11 <> 0 THEN x END AS x, w FROM cancer",
            "CREATE TABLE one_class AS SELECT * FROM iris WHERE y = 'setosa'",
            "CREATE TABLE not_finite AS SELECT id, y, x || CASE WHEN id = 9 THEN 'nan'::float8 ELSE 1 END AS x, w FROM iris",
            "CREATE TABLE ragged AS SELECT id, y, CASE WHEN id = 9 THEN x[:3] ELSE x END AS x, w FROM iris"):
        session.run(statement)


def load_whole(session):
    for name, is_sparse in (("mnist_10k", False), ("mushrooms", False), ("basehock", True), ("rcv1_small", True), ("documents", True),
                            ("california-housing", False)):
        session.load("all_" + table_name(name), name, sparse=is_sparse)


def take_slices(session):
    for name, what in (("mushrooms", "id, y, x FROM all_mushrooms"),
                       ("digits", "id, y, x FROM all_mnist_10k WHERE id < 1500"),
                       ("digits_3v5", "id, y, x FROM all_mnist_10k WHERE y IN (3, 5)"),
                       ("digits_0v1", "id, y, x FROM all_mnist_10k WHERE y IN (0, 1)"),
                       ("digits_halves", "id, y < 5 AS y, x FROM all_mnist_10k WHERE id < 4000"),
                       ("basehock", "id, y, x FROM all_basehock"),
                       ("rcv1", "id, y, x FROM all_rcv1_small"),
                       ("documents", "id, y, x FROM all_documents"),
                       ("housing", "id, y, x FROM all_california_housing WHERE id < 4000")):
        session.run("CREATE TABLE %s AS SELECT %s" % (name, what))
        session.run("ALTER TABLE %s ADD w float8 DEFAULT 1" % name)


# Trainings -------------------------------------------------------------------------------------------------------

ALWAYS = {"history": True, "dual_weights": True, "seed": 42}
LAMBDA = {"lambda": 1e-3}

# Options that a solver must have, or that make it finish sooner.
OF_SOLVER = {"boosting": {"norm": 1}, "dual_ascent": {"norm": 1.5}, "perceptron": {"norm": 1.5}, "mirror_descent": {"norm": 1.5}}


def trainings(solvers, losses, kernels, more):
    """Yields (name, table, options, kind): kind is train, weighted, initial, path or cross_validate."""

    def one(name, table, kind="train", **named):
        return name, table, {**ALWAYS, **named}, kind

    # Every solver, for two classes, two classes that nothing parts, and three.
    for solver, problem in solvers:
        named = {"solver": solver, "max_iterations": 300, "tolerance": 1e-6, **OF_SOLVER.get(solver, {})}
        if "interpolation" in problem:
            yield one("solver " + solver, "wide", loss="interpolate", standardize=True, **named)
            yield one("solver " + solver + ", norm 1.5", "wide", loss="interpolate", norm=1.5, standardize=True, **named)
            continue
        if "kernel" in problem:
            named["kernel"] = "rbf"
        for hard in [True] * ("hard" in problem) + [False] * ("soft" in problem):
            what = "solver %s, %s" % (solver, "hard" if hard else "soft")
            extra = {} if hard else LAMBDA
            yield one(what, "setosa", **named, **extra)
            yield one(what + ", no intercept", "setosa", **named, **extra, intercept=False)
            yield one(what, "cancer", **named, **extra, **({} if "kernel" in problem else {"standardize": True}))
            yield one(what + ", three classes", "iris", **named, **extra, intercept=False)
            yield one(what + ", sparse rows", "setosa_sparse", **named, **extra)

    # What auto makes of a problem.
    for norm in (1, 1.5, "sparse", 2):
        yield one("auto, norm %s" % norm, "cancer", norm=norm, standardize=True)
        yield one("auto, norm %s, three classes" % norm, "iris", norm=norm)
        yield one("auto, norm %s, sparse rows" % norm, "setosa_sparse", norm=norm)
    yield one("auto, as it comes", "cancer")
    yield one("auto, NULLs among the rows", "with_nulls", standardize=True)
    yield one("auto, not separable", "iris_sparse")
    yield one("auto, interpolation", "wide", loss="interpolate")
    yield one("auto, interpolation of contradictions", "petal", loss="interpolate")
    yield one("auto, interpolation of ranges", "petal_ranges", loss="interpolate")
    for norm in (1, 1.5, "sparse"):
        yield one("auto, interpolation, norm %s" % norm, "wide", loss="interpolate", norm=norm, standardize=True)
    for lam in (1.0, 1e-3, 1e-6):
        yield one("auto, lambda %g" % lam, "cancer", **{"lambda": lam}, standardize=True, tolerance=1e-9)
        yield one("auto, lambda %g, sparse rows" % lam, "iris_sparse", **{"lambda": lam}, tolerance=1e-9)
    for named in ({"order": "random"}, {"order": "cyclic"}, {"output": "average"}, {"output": "random"}, {"start": "sgd"},
                  {"l1_ratio": 0.5}, {"intercept": False}, {"intercept_scale": 10}, {"class_weight": "balanced"},
                  {"class_weight": {"benign": 1, "malignant": 3}}, {"seed": 7}):
        yield one("auto, soft, %s" % json.dumps(named), "cancer", **{**LAMBDA, "standardize": True, "max_iterations": 200, **named})
    for step in ("optimal", "quadratic"):
        for accelerated in (False, True):
            yield one("dual_ascent, %s, accelerated %s" % (step, accelerated), "setosa", solver="dual_ascent", norm=1.5, step=step,
                      accelerated=accelerated, intercept=False, max_iterations=100)
    yield one("dual_ascent, working set", "cancer", solver="dual_ascent", norm="sparse", working_set=True, standardize=True)

    # Losses, the hard margin's first.
    for loss in ("exponential", "logistic"):
        for solver in ("momentum", "gradient_descent", "normalized_gradient_descent", "boosting"):
            yield one("hard, %s by %s" % (loss, solver), "cancer", loss=loss, solver=solver, standardize=True, max_iterations=200,
                      **OF_SOLVER.get(solver, {}))
    for loss, outcome in losses:
        table = "cancer" if outcome == "classes" else "petal"
        for solver in ("auto", "sdca", "newton", "newton_cg", "sgd"):
            yield one("%s by %s" % (loss, solver), table, loss=loss, solver=solver, **LAMBDA, standardize=True, max_iterations=200, tolerance=1e-7)
        yield one("%s, l1_ratio" % loss, table, loss=loss, **LAMBDA, l1_ratio=0.3, max_iterations=300)
        yield one("%s, weights" % loss, table, "weighted", loss=loss, **LAMBDA)
        yield one("%s, from a model" % loss, table, "initial", loss=loss, **LAMBDA, standardize=True, solver="sdca", max_iterations=100)
        yield one("%s, sparse rows" % loss, "iris_sparse" if outcome == "classes" else "petal_sparse", loss=loss, **LAMBDA)
        yield one("%s, path" % loss, table, "path", loss=loss, lambdas=[0.1, 0.01, 0.001], standardize=True)
        yield one("%s, cross-validation" % loss, table, "cross_validate", losses=[loss], lambdas=[0.1, 0.01], folds=4)
        if outcome == "classes":
            for calibration in ("platt", "isotonic"):
                yield one("%s, %s" % (loss, calibration), table, loss=loss, **LAMBDA, standardize=True, calibration=calibration)
    yield one("hinge, smoothing and three classes", "iris", loss="smoothed_hinge", smoothing=0.3, **LAMBDA)
    yield one("huber, smoothing", "petal", loss="huber", smoothing=0.2, **LAMBDA)
    yield one("epsilon", "petal", loss="epsilon_insensitive", epsilon=0.02, **LAMBDA)
    yield one("calibration of three classes", "iris", loss="hinge", **LAMBDA, calibration="platt")
    yield one("path, default lambdas", "iris", "path")
    yield one("cross-validation, losses", "cancer", "cross_validate", losses=["hinge", "logistic"], standardize=True)
    yield one("cross-validation, auc", "cancer", "cross_validate", losses=["logistic"], metric="auc", folds=3)
    yield one("cross-validation, three classes", "iris", "cross_validate", losses=["squared_hinge"], folds=3)
    yield one("cross-validation, r2", "petal", "cross_validate", losses=["squared", "huber"], metric="r2")

    # Boosting.
    for learners in ("features", "stumps"):
        for step in ("quadratic", "wolfe", "adaboost", "optimal"):
            yield one("%s, %s steps" % (learners, step), "cancer", norm=1, solver="boosting", learners=learners, step=step, max_iterations=100)
        yield one("%s, three classes" % learners, "iris", norm=1, solver="boosting", learners=learners, max_iterations=100, shrinkage=0.5)
    yield one("stumps, logistic", "cancer", norm=1, loss="logistic", learners="stumps", max_iterations=100)
    yield one("boosting, working set", "cancer", norm=1, solver="boosting", working_set=True, standardize=True)

    # Kernels.
    for kernel in kernels:
        named = {"kernel": kernel, "max_iterations": 2000}
        if kernel == "linear":
            named["solver"] = "smo"
        yield one("kernel %s, hard" % kernel, "setosa", **named)
        yield one("kernel %s, soft" % kernel, "cancer", **named, **LAMBDA)
        yield one("kernel %s, three classes" % kernel, "iris", **named, **LAMBDA)
        yield one("kernel %s, sparse rows" % kernel, "setosa_sparse", **named, **LAMBDA)
        for solver in ("sampling", "kernel_batch_perceptron"):
            yield one("kernel %s, three classes by %s" % (kernel, solver), "iris", **{**named, "solver": solver, "max_iterations": 1000}, intercept=False)
    yield one("kernel, gamma auto", "iris", kernel="rbf", gamma="auto", **LAMBDA)
    yield one("kernel, degree and coef0", "setosa", kernel="polynomial", gamma=0.1, degree=4, coef0=1)
    yield one("kernel, width and seed", "setosa", kernel="ntk_finite", width=64, seed=3, **LAMBDA)
    yield one("kernel, theory", "setosa", kernel="rbf", solver="sampling", step="theory", max_iterations=500)
    yield one("kernel, weights", "cancer", "weighted", kernel="rbf", **LAMBDA)
    yield one("kernel, calibration", "cancer", kernel="rbf", **LAMBDA, calibration="isotonic")
    yield one("kernel, path", "iris", "path", kernel="rbf", lambdas=[0.1, 0.01])
    yield one("kernel, cross-validation", "iris", "cross_validate", kernel="rbf", lambdas=[0.1, 0.01], folds=3)

    # What is refused.
    yield one("an unknown option", "iris", colour="red")
    yield one("an unknown solver", "iris", solver="moment")
    yield one("a solver of the other problem", "iris", solver="momentum", **LAMBDA)
    yield one("a number out of range", "iris", **{"lambda": -1})
    yield one("a weight without lambda", "setosa", "weighted")
    yield one("one class", "one_class")
    yield one("one class, NULL", "one_class", one_class="null")
    yield one("not a number", "not_finite")
    yield one("not a number, NULL", "not_finite", on_error="null")
    yield one("rows of different lengths", "ragged")

    if not more:
        return
    yield one("hard", "mushrooms", tolerance=1e-6)
    yield one("hard", "digits_0v1", tolerance=1e-6)
    yield one("hard, norm sparse", "digits_0v1", norm="sparse")
    yield one("hard, norm 1", "digits_0v1", norm=1)
    yield one("hard, not separable", "digits_3v5")
    yield one("hard, momentum", "digits_0v1", solver="momentum", max_iterations=200)
    yield one("hard, ten classes", "digits")
    yield one("hard, sparse rows", "basehock")
    yield one("hard, wide sparse rows", "rcv1")
    yield one("kernel rbf, soft", "digits_3v5", kernel="rbf", **LAMBDA)
    yield one("kernel rbf, ten classes", "digits", kernel="rbf", **LAMBDA)
    for loss in ("hinge", "logistic"):
        yield one("soft, " + loss, "digits_halves", loss=loss, **{"lambda": 1e-4}, tolerance=1e-6)
        yield one("soft, %s, ten classes" % loss, "digits", loss=loss, **LAMBDA)
        yield one("soft, %s, sparse rows" % loss, "basehock", loss=loss, **LAMBDA)
        yield one("soft, %s, wide sparse rows" % loss, "rcv1", loss=loss, **{"lambda": 1e-4}, tolerance=1e-6)
        yield one("soft, %s, path" % loss, "digits_halves", "path", loss=loss, lambdas=[1e-2, 1e-3])
        yield one("soft, %s, cross-validation" % loss, "basehock", "cross_validate", losses=[loss], lambdas=[1e-3, 1e-4])
    yield one("soft, 54 classes, a column unscaled", "documents", loss="logistic", **LAMBDA)
    for loss in ("squared", "huber", "absolute"):
        yield one("regression, " + loss, "housing", loss=loss, **LAMBDA, standardize=True)


def statement_of(table, options, kind):
    """The query whose one column m holds the model, or the k-th of a path."""
    literal = "'%s'::jsonb" % json.dumps(options)
    rows = "FROM %s" % table
    if kind == "cross_validate":
        return "SELECT 1 AS k, margin_cross_validate(y, x, %s ORDER BY id) AS m %s" % (literal, rows)
    if kind == "path":
        return ("SELECT k, a[k] AS m FROM (SELECT margin_path(y, x, %s ORDER BY id) AS a %s) s, generate_series(1, cardinality(a)) AS k"
                % (literal, rows))
    if kind == "weighted":
        return "SELECT 1 AS k, train_margin(y, x, w, %s ORDER BY id) AS m %s" % (literal, rows)
    if kind == "initial":
        first = "'%s'::jsonb" % json.dumps({**options, "lambda": 10 * options["lambda"]})
        literal = "(SELECT %s || jsonb_build_object('initial', margin_to_json(train_margin(y, x, %s ORDER BY id))) %s)" % (literal, first, rows)
    return "SELECT 1 AS k, train_margin(y, x, %s ORDER BY id) AS m %s" % (literal, rows)


# Bits ------------------------------------------------------------------------------------------------------------


def attributes(session, name):
    return [row[0] for row in session.run(
        "SELECT attname FROM pg_attribute WHERE attrelid = '%s'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum" % name)["rows"]]


def hashes(source, names):
    """A query of one md5 for each attribute of `m` over the rows of the source, in the order of k. Seconds are no result."""
    def text(name):
        value = '(m)."%s"' % name
        if name == "history":  # rows of iteration, seconds, lower, upper
            return "(%s)[:][1:1]::text || (%s)[:][3:]::text" % (value, value)
        return value + "::text"

    return "SELECT %s FROM %s" % (", ".join("md5(string_agg(coalesce(%s, 'NULL'), E'\\n' ORDER BY k))" % text(n) for n in names), source)


class Bits:
    """What one server makes of a training: {name of a thing: its hash or its error}."""

    types = {"model": "margin_model", "selection": "margin_selection", "verify": "margin_verification", "evaluate": "margin_evaluation"}

    def __init__(self, session, names):
        self.session, self.names = session, names

    def use(self, seen, what, names, query):
        """Adds what a function makes of the model, under `what` and the names; an error is a result. Says it in a word."""
        try:
            seen.update(zip([what + name for name in names], self.session.run(query)["rows"][-1]))
            return ""
        except StatementFailed as error:
            seen[what] = "%s %s" % (error.state, error.message)
            return ", %s: error %s" % (what, error.state)

    def fingerprint(self, training):
        _, table, options, kind = training
        seen, session = {}, self.session
        session.warnings.clear()
        session.run("DROP TABLE IF EXISTS made")
        try:
            session.run("CREATE TEMP TABLE made AS " + statement_of(table, options, kind))
        except StatementFailed as error:
            return {"error": "%s %s" % (error.state, error.message), "hints": repr(session.warnings)}, "error " + error.state
        seen["warnings"] = repr(session.warnings)
        if kind == "cross_validate":
            seen.update(zip(self.names["selection"], session.run(hashes("made", self.names["selection"]))["rows"][0]))
            return seen, "%s %s" % tuple(session.run("SELECT (m).metric, (m).best_mean FROM made")["rows"][0])
        if session.value("SELECT count(m) FROM made") == "0":
            return seen, "NULL"
        seen.update(zip(self.names["model"], session.run(hashes("made", self.names["model"]))["rows"][0]))
        failed = ""
        for what, call in (("verify", "margin_verify(m, y, x ORDER BY id)"), ("evaluate", "margin_evaluate(m, y, x ORDER BY id)")):
            query = hashes("(SELECT k, %s AS m FROM made, %s GROUP BY k) s" % (call, table), self.names[what])
            failed += self.use(seen, what, ["." + name for name in self.names[what]], query)
        failed += self.use(seen, "scores", [""], "SELECT md5(string_agg(margin_scores(m, x)::text, E'\\n' ORDER BY k, id)) FROM made, %s" % table)
        told = session.run("SELECT string_agg(DISTINCT (m).solver, ' '), string_agg(DISTINCT (m).status, ' '), sum((m).iterations) FROM made")
        return seen, "%s, %s, %s iterations%s" % (*told["rows"][0], failed)


def in_common(what, of_both):
    """The names that both servers have, in A's order; says which only one has."""
    a, b = of_both
    for side, names, other in (("A", a, b), ("B", b, a)):
        alone = [n for n in names if n not in other]
        if alone:
            print("only %s has the %s %s: not compared" % (side, what, ", ".join(map(str, alone))))
    return [n for n in a if n in b]


def bits(sessions):
    """Returns whether every bit is the same."""
    began = time.monotonic()

    def catalogue(query):
        return both(lambda s: [tuple(row) for row in s.run(query)["rows"]], sessions)

    names = {what: [n for n in in_common("attributes of " + type_name, both(lambda s: attributes(s, type_name), sessions)) if n != "seconds"]
             for what, type_name in Bits.types.items()}
    solvers = in_common("solvers", catalogue("SELECT name, problem FROM margin_solvers()"))
    losses = in_common("losses", catalogue("SELECT name, outcome FROM margin_losses()"))
    kernels = [row[0] for row in in_common("kernels", catalogue("SELECT name FROM margin_kernels()"))]
    more = shared_data()
    if more:
        both(load_whole, sessions)
    else:
        print("no %s: only the sets of demo/data" % datasets.SHARED)
    both(lambda s: s.run("CREATE SCHEMA bits; SET search_path = bits, public"), sessions)  # tables of the same names belong to times
    both(load_demo, sessions)
    if more:
        both(take_slices, sessions)
    sides, same, differing = [Bits(s, names) for s in sessions], 0, 0
    for training in trainings(solvers, losses, kernels, more):
        (a, told), (b, told_b) = both(lambda side: side.fingerprint(training), sides)
        apart = [n for n in list(a) + [n for n in b if n not in a] if a.get(n) != b.get(n)]
        title = "%s, %s (%s)" % (training[0], training[1], told if told == told_b else "%s | %s" % (told, told_b))
        if apart:
            differing += 1
            print("DIFFERS %s: %s" % (title, ", ".join(apart)), flush=True)
        else:
            same += 1
            print("same    " + title, flush=True)
    both(lambda s: s.run("RESET search_path"), sessions)
    print("bits: %d same, %d differ, %.0f s" % (same, differing, time.monotonic() - began), flush=True)
    return differing == 0


# Times -----------------------------------------------------------------------------------------------------------

LEAST, MOST = 5, 9  # repetitions, see PATIENCE
NEAR = (0.97, 1.03)  # a ratio of minima that needs no more of them
WORTH = 0.2  # CPU seconds; a shorter statement is run more than once in a repetition
PATIENCE = 60  # CPU seconds of A and B together after which three repetitions are enough


def timed():
    """Yields (section, row, function that prepares a server, function of a server that gives the function to time)."""
    def load(table, name, sparse=False):
        return lambda s: s.load(table, name, sparse=sparse)

    def training(table, named):
        return lambda s: train(s, table, **named)

    for name in SPEED_SETS:
        yield "max_margin", name, load(table_name(name), name), training(table_name(name), MAX_MARGIN)
    for name, c, loss, _, gaps in SOFT_MARGIN:
        rows = datasets.load(name)[0].shape[0]
        for gap, _, _ in gaps:
            yield ("soft_margin", "%s, %s, C = %g, gap %g" % (name, loss, c, gap), load(table_name(name), name),
                   training(table_name(name), liblinear_problem(c, rows, loss, gap)))
    for c in TEXT_COSTS:
        for gap in TEXT_GAPS:
            yield ("sparse", "C = %g, gap %g" % (c, gap), load("text_like", "text_like", True),
                   training("text_like", liblinear_problem(c, TEXT_ROWS, "hinge", gap)))
    for name in KERNEL_SETS:
        rows, width = datasets.load(name)[0].shape
        for c in KERNEL_COSTS:
            yield "kernel_machines", "%s, C = %g" % (name, c), load(name, name), training(name, libsvm_problem(c, rows, width))
    for name, table in PREDICTORS:
        for call in PREDICT_CALLS:
            prepare = train_predictors if (name, call) == (PREDICTORS[0][0], PREDICT_CALLS[0]) else lambda s: None
            yield "predict", "%s, %s" % (call, name), prepare, lambda s, name=name, table=table, call=call: predict_all(s, call, name, table)


def interleaved(work):
    """CPU seconds of A and of B, run A B B A A B ..., until the minima agree or MOST repetitions; and the repetitions."""
    seen, runs, turn = ([], []), 1, 0
    for repetition in range(1, MOST + 1):
        for _ in range(runs):
            for side in ((0, 1), (1, 0))[turn % 2]:
                seen[side].append(work[side]()["cpu"])
            turn += 1
        runs = max(1, min(20, round(WORTH / min(seen[0]))))
        near = NEAR[0] <= min(seen[0]) / min(seen[1]) <= NEAR[1]
        if (repetition >= LEAST and near) or (repetition >= 3 and sum(map(sum, seen)) > PATIENCE):
            break
    return (*seen, repetition)


def times(sessions):
    if not shared_data():
        sys.exit("times needs the data sets of %s" % datasets.SHARED)
    core = max(os.sched_getaffinity(0))
    for session in sessions:  # they work in turns: on the same core they have the same neighbours
        os.sched_setaffinity(session.pid, {core})
    began, ratios = time.monotonic(), {}
    print("CPU seconds: least of A, least of B, ratio A/B of the least, of the medians, repetitions")
    for section, what, prepare, work in timed():
        both(prepare, sessions)
        a, b, repetitions = interleaved([work(s) for s in sessions])
        name = "%s: %s" % (section, what)
        ratios[name] = min(a) / min(b)
        print("%-64s %8.4f %8.4f  %6.3f %6.3f  %d" % (name, min(a), min(b), ratios[name], statistics.median(a) / statistics.median(b), repetitions), flush=True)
    most, least = max(ratios, key=ratios.get), min(ratios, key=ratios.get)
    print("times: ratio of the least from %.3f (%s) to %.3f (%s), %d rows, %.0f s"
          % (ratios[least], least, ratios[most], most, len(ratios), time.monotonic() - began), flush=True)


def main(arguments):
    sessions = [Session(*arguments[0:2]), Session(*arguments[2:4])]
    same = True
    for part in arguments[4:]:
        if part == "bits":
            same = bits(sessions)
        else:
            times(sessions)
    for session in sessions:
        session.close()
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main(sys.argv[1:])

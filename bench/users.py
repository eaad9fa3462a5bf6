"""Sections about what users do today instead: scikit-learn, beside the database and inside it (PL/Python); and how the
cost grows with rows, features, density and groups. Registered in run.py."""
import json
import os
import re
import sys
import threading
import time

import datasets
from measure import DOCUMENT, Peer, Session, Table, interleave, seconds

HERE = os.path.dirname(os.path.abspath(__file__))
PICTURES = os.path.join(os.path.dirname(DOCUMENT), "benchmarks")
LARGEST = int(float(os.environ.get("MARGIN_LARGEST", "1e7")))


# Memory ----------------------------------------------------------------------------------------------------------


def anonymous_memory(pid):
    with open("/proc/%d/status" % pid) as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) * 1024


def peak_memory(statement, prepare=""):
    """The most anonymous memory that a fresh backend held during the statement, beyond what it had before; looked at
    every 5 ms."""
    session = Session()
    if prepare:
        session.run(prepare)
    before, peak, done = anonymous_memory(session.pid), 0, threading.Event()

    def watch():
        nonlocal peak
        while not done.is_set():
            peak = max(peak, anonymous_memory(session.pid))
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        session.run(statement)
    finally:
        done.set()
        watcher.join()
        session.close()
    return max(0, peak - before)


def mb(size):
    return "%.0f MB" % (size / 1e6)


def lines_of(function):
    """Lines of the body of a function of plpython.sql, and the line that calls it."""
    text = open(os.path.join(HERE, "plpython.sql")).read()
    body = re.search(r"FUNCTION %s\(.*?\$\$\n(.*?)\$\$;" % function, text, re.S).group(1)
    return body.count("\n") + 1


# scikit-learn ----------------------------------------------------------------------------------------------------


def tuned(peer, request, holds, patience=120.0):
    """The request with the loosest tol of a geometric grid (factor 0.1) whose answer holds: an oracle in its favour.
    Returns (request or None, the last answer)."""
    tol, spent, answer = 1e-1, 0.0, None
    while tol > 1e-11 and spent < patience:
        attempt = dict(request, tol=tol)
        answer = peer.ask(json.dumps(attempt))
        spent += answer["cpu"]
        if holds(answer):
            return attempt, answer
        tol *= 0.1
    return None, answer


def literal(request):
    parameters = {k: v for k, v in request.items() if k != "estimator"}
    return "'%s'::jsonb" % json.dumps(parameters)


# name of the set, sparse, what, our options, scikit-learn's estimators with C for n rows (None: hard margin)
WORKLOADS = (
    ("covtype_like", False, "hinge, C = 1", dict(loss="hinge"), 1.0,
     [dict(estimator="LinearSVC", loss="hinge", fit_intercept=False, max_iter=100000)]),
    ("covtype_like", False, "logistic, C = 1", dict(loss="logistic"), 1.0,
     [dict(estimator="LogisticRegression", solver=s, fit_intercept=False, max_iter=10000)
      for s in ("lbfgs", "newton-cholesky", "liblinear")]),
    ("text_like", True, "hinge, C = 1, sparse rows", dict(loss="hinge"), 1.0,
     [dict(estimator="LinearSVC", loss="hinge", fit_intercept=False, max_iter=100000)]),
    ("mnist_0v1", False, "maximum margin", dict(), None,
     [dict(estimator="SVC", kernel="linear", C=1e9, cache_size=2000)]),
)
GAP = 1e-3


def plpython_call(name, sparse, request):
    if sparse:
        return "SELECT array_length(sklearn_fit_sparse('SELECT y, indices, vals FROM %s_pairs', %d, %s), 1)" % (
            name, datasets.load(name)[0].shape[1], literal(request))
    return "SELECT array_length(sklearn_fit('SELECT y, x FROM %s', '%s', %s), 1)" % (
        name, request["estimator"], literal(request))


def python(session, train, options, repetitions):
    out = Table("python", "Against scikit-learn, beside the database and inside it",
                "To a gap of 1e-3, without intercept (maximum margin: with). *Ours* is the whole SQL statement. `scikit-learn` is `fit()` alone "
                "with the rows in memory, at the loosest `tol` of a grid (factor 0.1) whose result meets the gap, judged with our certified "
                "optimum: an oracle in its favour, since it does not know its gap; of several solvers the fastest. `PL/Python` is the same "
                "estimator called by a function inside the database (bench/plpython.sql), which must fetch the rows. Memory: the most that the "
                "backend's anonymous memory grows during the statement. One thread everywhere.")
    with open(os.path.join(HERE, "plpython.sql")) as file:
        session.run(file.read().rstrip().rstrip(";"))
    for name, sparse, what, ours, c, estimators in WORKLOADS:
        session.load(name, name, sparse=sparse)
        rows = datasets.load(name)[0].shape[0]
        ours = dict(ours, tolerance=GAP)
        if c:
            ours.update({"lambda": 1 / (c * rows), "intercept": False})
            estimators = [dict(e, C=c) for e in estimators]
        if sparse:
            session.load(name + "_pairs", name, sparse="pairs")
        best = train(session, name, **dict(ours, tolerance=1e-8))()
        peer = Peer("scikit.py", name)
        optimum = best["dual"]

        def holds(answer):
            if c:
                return answer["primal"] - optimum <= GAP * answer["primal"]
            return optimum - answer["margin"] <= GAP * optimum

        found = [r for r, _ in (tuned(peer, e, holds) for e in estimators) if r]
        title = "%s, %s" % (name, what)
        if not found:
            out.add(title, "", "scikit-learn does not get there", None, None)
            continue
        work = {"ours": train(session, name, **ours)}
        work.update({json.dumps(r): (lambda r=r: peer.ask(json.dumps(r))) for r in found})
        seen = interleave(work, repetitions)
        fastest = min(found, key=lambda r: seen[json.dumps(r)]["cpu"])
        model = seen["ours"]["last"]
        out.compare(title + ": scikit-learn", seen["ours"], seen[json.dumps(fastest)], None,
                    "%s (%s, %s) against %s" % (model["solver"], model["status"], "gap certified", describe(fastest)))
        inside = plpython_call(name, sparse, fastest)
        seen = interleave({"ours": train(session, name, **ours), "plpython": lambda: session.run(inside)}, repetitions)
        out.compare(title + ": PL/Python", seen["ours"], seen["plpython"], None, "%d lines of user code against 1" % lines_of(
            "sklearn_fit_sparse" if sparse else "sklearn_fit"))
        statement = "SELECT (train_margin(y, x, %s)).status FROM %s" % (options(**ours), name)
        held = peak_memory(statement), peak_memory(inside)
        out.add(title + ": peak memory", mb(held[0]), mb(held[1]), held[0] / held[1], None, "PL/Python")
        peer.close()
    return predicting(session, out, options, repetitions)


def describe(request):
    return request["estimator"] + "".join(" %s" % request[k] for k in ("solver", "loss", "kernel") if k in request) + " tol %g" % request["tol"]


def predicting(session, out, options, repetitions):
    session.run("CREATE TEMP TABLE scored AS SELECT train_margin(y, x, %s) AS model FROM covtype_like WHERE id < 5000" % options(**{"lambda": 1e-3}))
    session.run("ANALYZE scored")
    some = "FROM (SELECT x FROM covtype_like LIMIT 100000) t, scored"
    seen = interleave({
        "ours": lambda: session.run("SELECT count(margin_score(model, x)) " + some),
        "plpython": lambda: session.run("SELECT count(sklearn_score((model).weights || (model).intercept, x)) " + some)}, repetitions)
    out.compare("100,000 rows of 54 features scored", seen["ours"], seen["plpython"], None,
                "%.2g µs a row against %.2g µs; PL/Python function called per row" % (seen["ours"]["cpu"] * 10, seen["plpython"]["cpu"] * 10))
    return out


# Growth ----------------------------------------------------------------------------------------------------------


def generated(session, table, rows, width, density=1.0):
    session.load(table, "halves:%d:%d:%g" % (rows, width, density), sparse=density < 1)


HINGE = {"lambda": 1e-4, "loss": "hinge"}


def growth(session, train, options, repetitions):
    out = Table("growth", "How the cost grows",
                "Hinge, lambda = 1e-4, tolerance 1e-3 with certificate, whole statements, against reading the same rows (`sum(x[1])`; sparse: "
                "`count(x)`). Generated rows with label noise (bench/users.py). Pictures: [rows](benchmarks/rows.svg), "
                "[features](benchmarks/features.svg), [density](benchmarks/density.svg), [groups](benchmarks/groups.svg).")
    curves = {}

    def point(curve, at, table, what, scan, group=""):
        if group:
            statement = "SELECT count((m).status) FROM (SELECT train_margin(y, x, %s) AS m FROM %s GROUP BY %s) t" % (
                options(**dict(HINGE, one_class="null", **{"lambda": 1e-2})), table, group)
            work = lambda: session.run(statement)
        else:
            work = train(session, table, **HINGE)
        again = repetitions if at is None or at < 1e6 else 1
        seen = interleave({"ours": work, "scan": lambda: session.run("SELECT %s FROM %s" % (scan, table))}, again)
        remark = "" if group else "%s, %s" % (seen["ours"]["last"]["solver"], seen["ours"]["last"]["status"])
        out.compare(what, seen["ours"], seen["scan"], None, remark)
        curves.setdefault(curve, []).append((at, seen["ours"]["cpu"], seen["scan"]["cpu"]))

    for power in range(3, 8):
        rows = 10 ** power
        if rows <= LARGEST:
            table = "rows_1e%d" % power
            generated(session, table, rows, 10)
            point("rows", rows, table, "10^%d rows, d = 10" % power, "sum(x[1])")
    for width in (10, 30, 100, 300, 1000, 3000):
        table = "width_%d" % width
        generated(session, table, 3_000_000 // width, width)
        point("features", width, table, "d = %d, n = %d" % (width, 3_000_000 // width), "sum(x[1])")
    for density in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3):
        table = "density_%g" % (1000 * density)
        generated(session, table, 10_000, 2000, density)
        point("density", density, table, "%g %% stored, n = 10,000, d = 2,000" % (100 * density), "count(x)")
    largest = "rows_1e6" if LARGEST >= 10 ** 6 else "rows_1e4"
    rows = 10 ** 6 if LARGEST >= 10 ** 6 else 10 ** 4
    for power in range(0, 6 if rows == 10 ** 6 else 4):
        point("groups", 10 ** power, largest, "10^%d groups, %d rows in all, lambda = 0.01" % (power, rows), "sum(x[1])",
              "id %% %d" % 10 ** power)
    draw(curves)
    return out


def draw(curves):
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "margin"
    matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text
    from matplotlib import pyplot
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "figures"))
    import thin
    os.makedirs(PICTURES, exist_ok=True)
    words = {"rows": "rows (d = 10)", "features": "features (3 million values in all)",
             "density": "share of stored values (10,000 x 2,000)", "groups": "groups (one million rows in all)"}
    for curve, points in curves.items():
        at, ours, scan = zip(*points)
        figure, axes = pyplot.subplots(figsize=(6, 4))
        axes.loglog(at, ours, "o-", color="#0072B2", label="train_margin, certified")
        axes.loglog(at, scan, "s--", color="#D55E00", label="reading the rows")
        axes.set_xlabel(words[curve])
        axes.set_ylabel("CPU seconds")
        axes.grid(True, which="major", alpha=0.3)
        axes.legend()
        figure.tight_layout()
        path = os.path.join(PICTURES, curve + ".svg")
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
        thin.main([path])

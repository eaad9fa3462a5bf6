#!/usr/bin/python3
"""The sections of docs/benchmarks/ about audits of other programs' models and leave-one-out. Run by audit.sh."""
import os
import sys
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import datasets
from measure import Session, Table, interleave, write

SETS = [("a9a", None), ("ijcnn1", None), ("spambase", None), ("covtype.20k", 2), ("german.numer", None), ("reuters-acq", None)]
# Program and setting: loss, how it is trained, whether its intercept is free.
TRAINERS = {
    "LIBLINEAR -s 0": ("logistic", lambda: LogisticRegression(solver="liblinear", tol=0.01), False),
    "LIBLINEAR -s 1": ("squared_hinge", lambda: LinearSVC(tol=0.1), False),
    "LIBLINEAR -s 2": ("squared_hinge", lambda: LinearSVC(dual=False, tol=0.01), False),
    "LIBLINEAR -s 3": ("hinge", lambda: LinearSVC(loss="hinge", tol=0.1), False),
    "LinearSVC()": ("squared_hinge", LinearSVC, False),
    "LogisticRegression()": ("logistic", LogisticRegression, True),
}


def rows_of(name, positive):
    x, y = datasets.SETS[name][0]() if name in datasets.SETS else datasets.read_libsvm(name, datasets.WIDTHS[name])
    x = x.dense() if hasattr(x, "dense") else x
    return np.asarray(x, float), np.where(y == (y.max() if positive is None else positive), 1, -1)


def load(session, name, positive):
    table = "t_" + "".join(c if c.isalnum() else "_" for c in name)
    session.load(table + "_all", name, element="double")
    session.run("CREATE TABLE IF NOT EXISTS %s AS SELECT id, CASE WHEN y = %s THEN 1 ELSE -1 END AS y, x FROM %s_all"
                % (table, "(SELECT max(y) FROM %s_all)" % table if positive is None else positive, table))
    session.run("VACUUM (ANALYZE) %s" % table)
    return table


def array(values):
    return "'{%s}'" % ",".join(repr(float(v)) for v in values)


def audit(session):
    table = Table("audit", "How far from their optimum models of other programs are",
                  "Models of LIBLINEAR 2.3 as scikit-learn 1.2.1 calls it, with the stopping tolerance of LIBLINEAR's own defaults (0.01 for `-s 0` and `-s 2`, 0.1 for"
                  " `-s 1` and `-s 3`), and of scikit-learn's defaults; C = 1, columns as they are. Ours: the relative gap that `margin_audit` proves in one pass."
                  " Theirs: how far the model's objective is above the optimum, found by `train_margin` to 1e-9. What is proven is never less than the truth: the intervals hold the optimum in every row."
                  " Remarks: the lambda for which the model is best, as a multiple of its own.")
    warnings.simplefilter("ignore")
    for name, positive in SETS:
        x, y = rows_of(name, positive)
        source = load(session, name, positive)
        for trainer, (loss, make, free) in TRAINERS.items():
            model = make().fit(x, y)
            lam = 1.0 / len(y)
            options = '{"intercept": "%s"}' % ("free" if free else "penalized")
            made = "margin_model_from(%s, %s, '{-1,1}', '%s', %r, '%s')" % (
                array(model.coef_[0]), array(model.intercept_), loss, lam, options)
            session.run("CREATE TEMP TABLE imported AS SELECT %s AS model" % made)
            got = session.run("SELECT (a).primal, (a).dual, (a).best_lambda FROM (SELECT margin_audit(model, y, x) AS a FROM %s, imported) s" % source)
            primal, dual, best = [float(v or "nan") for v in got["rows"][-1]]
            got = session.run("SELECT (m).dual, (m).primal FROM (SELECT train_margin(y, x, margin_options(lambda => %r, loss => '%s',"
                              " intercept => '%s', tolerance => 1e-9, max_seconds => 60)) AS m FROM %s OFFSET 0) s"
                              % (lam, loss, "free" if free else "penalized", source))
            lower, upper = [float(v) for v in got["rows"][-1]]
            session.run("DROP TABLE imported")
            proven, true = (primal - dual) / primal, max(0.0, primal - upper) / primal
            holds = dual <= upper and primal >= lower
            table.add("%s, %s" % (name, trainer), "%.2g" % proven, "%.2g" % true, None if holds else 0, None if holds else -1,
                      "best lambda %.2g" % (best / lam))
    return table


def cost(session):
    table = Table("audit-cost", "What an audit costs", "`margin_audit` of a model against `margin_evaluate` of it. CPU seconds.")
    for name, positive in SETS:
        source = load(session, name, positive)
        for loss in ("logistic", "hinge"):
            session.run("CREATE TEMP TABLE trained AS SELECT train_margin(y, x, margin_options(lambda => 1e-4, loss => '%s')) AS model FROM %s" % (loss, source))
            got = interleave({"ours": lambda: session.run("SELECT margin_audit(model, y, x) FROM %s, trained" % source),
                              "theirs": lambda: session.run("SELECT margin_evaluate(model, y, x) FROM %s, trained" % source)}, 3)
            session.run("DROP TABLE trained")
            table.compare("%s, %s" % (name, loss), got["ours"], got["theirs"], 2)
    return table


def standard(session, name, positive):
    """The same rows with columns of mean 0 and deviation 1."""
    source, table = load(session, name, positive), "s_" + "".join(c if c.isalnum() else "_" for c in name)
    if session.value("SELECT to_regclass('%s') IS NOT NULL" % table) == "f":
        session.run("CREATE TABLE %s AS WITH columns AS (SELECT j, avg(v) AS mean, coalesce(nullif(stddev_pop(v), 0), 1) AS deviation FROM %s, unnest(x) WITH ORDINALITY AS c(v, j) GROUP BY j)"
                    " SELECT id, y, (SELECT array_agg((v - mean) / deviation ORDER BY j) FROM unnest(x) WITH ORDINALITY AS c(v, j) JOIN columns USING (j)) AS x FROM %s" % (table, source, source))
        session.run("VACUUM (ANALYZE) %s" % table)
    return table


LEFT_OUT = [("a9a", None), ("spambase", None), ("covtype.20k", 2), ("mnist_10k_halves", None)]
SCALED = ("spambase", "covtype.20k")


def sampled(session, source, rows):
    """Rows of a table that are far from each other in it, as a table of their own."""
    table = source + "_sample"
    session.run("DROP TABLE IF EXISTS %s" % table)
    session.run("CREATE TABLE %s AS SELECT id, y, x FROM %s ORDER BY hashint8(id), id LIMIT %d" % (table, source, rows))
    return table


def brute_force(session, source, loss, lam):
    """Errors on a sample of 300 rows: of a training without each, and what the statement with refits says."""
    rows = 300
    table = sampled(session, source, rows)
    options = "margin_options(lambda => %r, loss => '%s', tolerance => 1e-9)"
    without = ("SELECT count(*) FILTER (WHERE margin_predict((SELECT train_margin(r.y, r.x, %s) FROM %s AS r WHERE r.id <> l.id), l.x)::int <> l.y) FROM %s AS l"
               % (options % (lam * rows / (rows - 1), loss), table, table))
    exact = ("SELECT (e).errors_lower, (e).errors_upper FROM (SELECT margin_leave_one_out(model, y, x, '{\"refit\": true}') AS e FROM %s, (SELECT train_margin(y, x, %s) AS model FROM %s OFFSET 0) AS m) AS s"
             % (table, options % (lam, loss), table))
    return int(session.value(without)), [int(v) for v in session.run(exact)["rows"][-1]]


def clipped(session, name, positive):
    """The same, no value farther than 3 deviations from the mean."""
    source, table = standard(session, name, positive), "c_" + "".join(c if c.isalnum() else "_" for c in name)
    if session.value("SELECT to_regclass('%s') IS NOT NULL" % table) == "f":
        session.run("CREATE TABLE %s AS SELECT id, y, (SELECT array_agg(greatest(-3, least(3, v)) ORDER BY j) FROM unnest(x) WITH ORDINALITY AS c(v, j)) AS x FROM %s" % (table, source))
        session.run("VACUUM (ANALYZE) %s" % table)
    return table


def left_out(session):
    table = Table("left-out", "Leave-one-out from one training",
                  "`margin_leave_one_out` at the lambda of 1e-5, 1e-4, ..., 0.1 that `margin_cross_validate` chooses, of a model trained to 1e-6. Ours: the statement; against: that"
                  " training. CPU seconds. Remarks: rows that it decides, and the bounds of the error; on 300 of the rows, how many errors a training without each makes, and how many"
                  " the statement with refits says.")
    for name, positive in LEFT_OUT:
        source = standard(session, name, positive) if name in SCALED else load(session, name, positive)
        for loss in ("logistic", "squared_hinge", "hinge"):
            lam = float(session.value("SELECT ((margin_cross_validate(y, x, margin_options(loss => '%s') || '{\"lambdas\": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]}')).options ->> 'lambda') FROM %s" % (loss, source)))
            train = "SELECT train_margin(y, x, margin_options(lambda => %r, loss => '%s', tolerance => 1e-6)) AS model FROM %s" % (lam, loss, source)
            session.run("CREATE TEMP TABLE trained AS " + train)
            call = "SELECT (e).* FROM (SELECT margin_leave_one_out((SELECT model FROM trained), y, x) AS e FROM %s) AS s" % source
            got = interleave({"ours": lambda: session.run(call), "theirs": lambda: session.run(train)}, 3)
            rows, _, _, low, high, undecided = [int(v) for v in got["ours"]["last"]["rows"][-1][:6]]
            session.run("DROP TABLE trained")
            brute, (least, most) = brute_force(session, source, loss, lam)
            table.compare("%s, %s, lambda %g" % (name, loss, lam), got["ours"], got["theirs"], 3,
                          "%.2f %% decided, error %.2f to %.2f %%; of 300: %d, %s" % (
                              100 - 100 * undecided / rows, 100 * low / rows, 100 * high / rows, brute,
                              least if least == most else "%d to %d" % (least, most)))
    return table


def update(session):
    table = Table("update", "Models after one row in a hundred has gone",
                  "`margin_update` over the removed rows (1 %) of models trained to 1e-6 that `margin_with_curvature` has seen; against: a training of the rows that are left. CPU seconds of a"
                  " statement that reads the status of the result. Remarks: how many predictions"
                  " of the rows that are left are proven to be the new optimum's, by the ball alone, and with curvature, whose own cost is that of so many trainings; what the update costs where its model is"
                  " inserted into a table; what margin_evaluate of that model costs over the removed rows, since it reads the same rows and the same model. spambase has columns of mean 0 and deviation 1; clipped: no value is farther than 3 deviations from the mean.")
    for what, name, prepare in (("a9a", "a9a", load), ("spambase", "spambase", standard), ("spambase clipped", "spambase", clipped)):
        source = prepare(session, name, None)
        gone = "(hashint8(id) & 1048575) < 10486"
        for loss in ("logistic", "squared_hinge"):
            for lam in (1e-2, 1e-3, 1e-4):
                options = "margin_options(lambda => %r, loss => '%s', tolerance => 1e-6)" % (lam, loss)
                session.run("CREATE TEMP TABLE trained AS SELECT train_margin(y, x, %s) AS model FROM %s" % (options, source))
                curve = "SELECT margin_with_curvature(model, y, x) AS model FROM %s, trained" % source
                session.run("CREATE TEMP TABLE curved AS " + curve)
                session.run("CREATE TEMP TABLE removed AS SELECT y, x FROM %s WHERE %s" % (source, gone))
                session.run("CREATE TEMP TABLE kept (model margin_model)")
                call = "SELECT margin_update(model, y, x, true) AS model FROM removed, %s"
                train = "SELECT train_margin(y, x, %s) AS model FROM %s WHERE NOT %s" % (options, source, gone)
                status = "SELECT (u.model).status FROM (%s OFFSET 0) AS u"
                got = interleave({"ours": lambda: session.run(status % (call % "curved")), "theirs": lambda: session.run(status % train),
                                  "read": lambda: session.run("SELECT (u.e).rows FROM (SELECT margin_evaluate(model, y, x) AS e FROM removed, curved OFFSET 0) AS u"),
                                  "kept": lambda: session.run("INSERT INTO kept " + call % "curved"), "curve": lambda: session.run(curve)}, 5)
                share = "SELECT avg((margin_score_interval(u.model, x)).certain::int) FROM %s, (%s OFFSET 0) AS u WHERE NOT %s"
                proven = [100 * float(session.value(share % (source, call % made, gone))) for made in ("trained", "curved")]
                session.run("DROP TABLE trained, curved, removed, kept")
                table.compare("%s, %s, lambda %g" % (what, loss, lam), got["ours"], got["theirs"], 0.05,
                              "%.2f %% proven, %.2f %% with curvature (%.2g), inserted %.2g ms, evaluated %.2g ms"
                              % (*proven, got["curve"]["cpu"] / got["theirs"]["cpu"], 1e3 * got["kept"]["cpu"], 1e3 * got["read"]["cpu"]))
    return table


SECTIONS = {"audit": audit, "audit-cost": cost, "left-out": left_out, "update": update}


def main():
    session = Session()
    version = session.value("SELECT current_setting('server_version')")
    environment = "Measured on commit %s, PostgreSQL %s, 2 cores; `bench/audit.sh %%s`." % (os.environ["MARGIN_COMMIT"], version)
    for name in sys.argv[1:] or SECTIONS:
        if name not in SECTIONS:
            sys.exit("no section %s; there are %s" % (name, ", ".join(SECTIONS)))
        print(name, flush=True)
        write(SECTIONS[name](session), environment % name)


main()

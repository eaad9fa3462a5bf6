#!/usr/bin/python3
"""The sections of docs/benchmarks/ about classes trained jointly. Run by joint.sh, which starts a server."""
import json
import os
import sys

from measure import Peer, Session, Table, interleave, liblinear_version, version_of, write

SETS = ["digits8x8", "satimage.scale", "letter.scale", "mnist_10k", "sector.scale"]
NNET_SETS = ["iris", "wine", "segment.scale", "satimage.scale", "digits8x8"]
SPARSE = {"sector.scale", "sector.t.scale"}
GAP = 1e-6


def load(session, name):
    table = "t_" + "".join(c if c.isalnum() else "_" for c in name)
    session.load(table, name, sparse=name in SPARSE)
    return table


def options(rows, loss, intercept, joint=True, tolerance=GAP):
    return json.dumps({"lambda": 1 / rows, "loss": loss, "intercept": intercept, "tolerance": tolerance,
                       "multiclass": "joint" if joint else "one_vs_rest"})


def ours(session, table, loss, intercept):
    rows = int(session.value("SELECT count(*) FROM " + table))
    got = session.run("SELECT (m).primal, (m).dual, (m).status FROM (SELECT train_margin(y, x, '%s') AS m FROM %s OFFSET 0) s"
                      % (options(rows, loss, intercept), table))
    primal, dual, status = got["rows"][0]
    return {"cpu": got["cpu"], "wall": got["wall"], "primal": float(primal), "dual": float(dual), "status": status}


def first_within(ask, tolerances, optimum, patience=float("inf")):
    """The answer of the loosest tolerance whose objective is within GAP of the optimum; else the last one, which has come as
    far as the one before it, or took longer than patience: a tighter tolerance would take longer still."""
    answer = {"primal": None}
    for tolerance in tolerances:
        before, answer = answer, ask(tolerance)
        if "refused" in answer:
            return None
        answer["tolerance"] = tolerance
        if answer["primal"] <= optimum * (1 + GAP) or answer["primal"] == before["primal"] or answer["cpu"] > patience:
            break
    return answer


def again(run, ask, mine, theirs):
    """Both three times more in turns, where that takes no minutes: the fastest counts."""
    if mine["cpu"] + theirs["cpu"] > 30:
        return mine, theirs
    seen = interleave({"ours": run, "theirs": lambda: ask(theirs["tolerance"])}, 3)
    return tuple({**first, "cpu": min(first["cpu"], seen[who]["cpu"])} for who, first in (("ours", mine), ("theirs", theirs)))


def compare(table, name, mine, theirs, who):
    off = theirs["primal"] / mine["primal"] - 1
    table.add(name, "%.3g s" % mine["cpu"], "%.3g s" % theirs["cpu"], mine["cpu"] / theirs["cpu"], 0.5,
              "%s, certified to %.1e; %s at %g is %+.1e from it" % (mine["status"], (mine["primal"] - mine["dual"]) / mine["primal"], who,
                                                                  theirs["tolerance"], off))


def softmax(session, sets):
    table = Table("joint-softmax", "Softmax regression: time",
                  "`multiclass => 'joint'`, loss logistic, lambda = 1/n, free intercept, tolerance 1e-6: the SQL statement, against `fit()` of"
                  " scikit-learn's `LogisticRegression(C=1)` (%s; multinomial) with its rows in memory (lbfgs, newton-cg or newton-cholesky, the"
                  " fastest; of mnist_10k and sector.scale lbfgs; in float32 as the rows are, or in double where that does not get there), at the loosest of its tolerances 1e-2, 1e-3, ..., 1e-9 whose objective is within 1e-6 of the optimum. One core, CPU seconds, the fastest of four runs in turns (of those above 30 s: one)."
                  % version_of("python3-sklearn"))
    for name in sets:
        run = lambda source=load(session, name): ours(session, source, "logistic", "free")
        mine, peer, best = run(), Peer("scikit.py", name), None
        cost = lambda answer: (answer["primal"] > mine["dual"] * (1 + GAP), answer["cpu"])
        for solver in ["lbfgs"] if name in SPARSE or name == "mnist_10k" else ["lbfgs", "newton-cg", "newton-cholesky"]:
            for wide in (False, True):
                ask = lambda t, solver=solver, wide=wide: peer.ask(json.dumps({
                    "estimator": "LogisticRegression", "multi_class": "multinomial", "C": 1.0, "solver": solver, "tol": t, "max_iter": 3000, "wide": wide}))
                theirs = first_within(ask, [10.0 ** -k for k in range(2, 10)], mine["dual"], best[1]["cpu"] if best and not cost(best[1])[0] else float("inf"))
                if theirs and (best is None or cost(theirs) < cost(best[1])):
                    best = "%s%s" % (solver, " in double" if wide else ""), theirs, ask
                if theirs is None or not cost(theirs)[0]:
                    break
        mine, theirs = again(run, best[2], mine, best[1])
        peer.close()
        compare(table, name, mine, theirs, best[0])
    return table


def nnet(session, sets):
    table = Table("joint-nnet", "Softmax regression: objectives",
                  "`multiclass => 'joint'`, loss logistic, penalised intercept, tolerance 1e-9, against R's nnet (%s; `nnet(x, class.ind(y),"
                  " size = 0, skip = TRUE, softmax = TRUE, decay = lambda n/2, reltol = 1e-15)`, BFGS). Ours and theirs: the objective at either's"
                  " weights. Ratio: their relative difference." % version_of("r-cran-nnet"))
    for name in (n for n in NNET_SETS if sets == SETS or n in sets):
        source = "d_" + "".join(c if c.isalnum() else "_" for c in name)
        session.load(source, name, element="double")
        peer = Peer("nnet.R", name)
        for factor in (1e-1, 1e-3):
            primal, dual, status = session.run(
                "SELECT (m).primal, (m).dual, (m).status FROM (SELECT train_margin(y, x, '%s') AS m FROM %s OFFSET 0) s"
                % (json.dumps({"lambda": factor, "loss": "logistic", "intercept": "penalized", "tolerance": 1e-9, "multiclass": "joint"}),
                   source))["rows"][0]
            theirs = peer.ask("%.17g" % factor)
            off = theirs["primal"] / float(primal) - 1
            table.add("%s, lambda %g" % (name, factor), "%.10g" % float(primal), "%.10g" % theirs["primal"], abs(off), 1e-6,
                      "%s, certified to %.1e; nnet is %+.1e from it" % (status, (float(primal) - float(dual)) / float(primal), off))
        peer.close()
    return table


def crammer_singer(session, sets):
    table = Table("joint-crammer-singer", "Crammer and Singer's machine: time",
                  "`multiclass => 'joint'`, loss hinge, lambda = 1/n, penalised intercept, tolerance 1e-6: the SQL statement, against `train()` of"
                  " LIBLINEAR (%s; `-s 4 -c 1 -B 1`) with its rows in memory, at the loosest of `-e` 0.1, 0.01, ... whose objective is within"
                  " 1e-6 of the optimum (or the last that was tried: 1e-8, of sector 1e-4). One core, CPU seconds, the fastest of four runs in turns (of those above 30 s: one)." % liblinear_version())
    for name in sets:
        run = lambda source=load(session, name): ours(session, source, "hinge", "penalized")
        mine, peer = run(), Peer("liblinear", name)
        most = 4 if name in SPARSE else 8  # the last one takes minutes
        ask = lambda e: peer.ask("4 1 %g 1" % e)
        mine, theirs = again(run, ask, mine, first_within(ask, [10.0 ** -k for k in range(1, most + 1)], mine["dual"]))
        peer.close()
        compare(table, name, mine, theirs, "-e")
    return table


def unseen(session, sets):
    table = Table("joint-unseen", "Joint classes on unseen rows",
                  "Mean log loss of rows that the training did not have (the test parts of letter and sector, 10,000 rows of MNIST's other part, of"
                  " digits8x8 and satimage every third row), loss logistic, lambda = 1/n, penalised intercept: ours: joint, theirs: one against"
                  " the rest (its probabilities divided by their sum).")
    tests = {"letter.scale": "letter.scale.t", "mnist_10k": "mnist_train_10k", "sector.scale": "sector.t.scale"}
    for name in sets:
        test = tests.get(name)
        source = load(session, name)
        rows = int(session.value("SELECT count(*) FROM %s%s" % (source, "" if test else " WHERE id % 3 <> 0")))
        target = load(session, test) if test else source
        loss = []
        for joint in (True, False):
            loss.append(float(session.value(
                "SELECT (margin_evaluate(m, y, x)).log_loss FROM %s, (SELECT train_margin(y, x, '%s') AS m FROM %s%s OFFSET 0) s%s GROUP BY m"
                % (target, options(rows, "logistic", "penalized", joint, 1e-4), source, "" if test else " WHERE id % 3 <> 0",
                   "" if test else " WHERE id % 3 = 0"))))
        table.add(name, "%.5f" % loss[0], "%.5f" % loss[1], loss[0] / loss[1], 1.0, "")
    return table


SECTIONS = {"softmax": softmax, "nnet": nnet, "crammer_singer": crammer_singer, "unseen": unseen}


def main():
    session = Session()
    version = session.value("SELECT current_setting('server_version')")
    environment = "Measured on commit %s, PostgreSQL %s, 2 cores; `bench/joint.sh %%s`." % (os.environ["MARGIN_COMMIT"], version)
    sets = [name for name in sys.argv[1:] if name in SETS]
    sections = [name for name in sys.argv[1:] if name not in sets]
    for name in sections:
        if name not in SECTIONS:
            sys.exit("no section or set %s; there are %s" % (name, ", ".join([*SECTIONS, *SETS])))
    for name in sections or SECTIONS:
        print(name, flush=True)
        table = SECTIONS[name](session, sets or SETS)
        if sets:
            print(table.markdown())
        else:
            write(table, environment % name)


if __name__ == "__main__":
    main()

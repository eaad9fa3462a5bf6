#!/usr/bin/python3
"""The sections of docs/benchmarks/ about paths of sparse models. Run by paths.sh, which starts a server."""
import json
import os
import statistics
import sys
import tempfile

import numpy as np

import datasets
from measure import Peer, Session, Table, interleave, version_of, write

# Data set, whether its rows are margin_sparse.
SETS = [("a9a", True), ("spambase", False), ("ijcnn1", False), ("colon-cancer", False), ("arcene", False), ("reuters-acq", True),
        ("covtype.20k", False)]
LOSSES = {"logistic": "binomial", "squared": "gaussian"}
COUNT = 100


def lambdas_of(rows, y, rho):
    """glmnet's list, of the logistic loss of classes or of half the square of y."""
    x, label = rows.dense() if isinstance(rows, datasets.Sparse) else rows, (y == y.max()) if len(np.unique(y)) == 2 else y
    v = np.abs((label - np.mean(label)) @ np.asarray(x, float)) / len(y)
    largest = v.max() / rho
    return np.exp(np.linspace(np.log(largest), np.log(largest * (1e-2 if x.shape[1] > x.shape[0] else 1e-4)), COUNT))


def statement(source, label, loss, rho, tolerance, lambdas, what):
    options = {"loss": loss, "l1_ratio": rho, "intercept": "free", "tolerance": tolerance, "lambdas": [float(v) for v in lambdas]}
    return ("WITH path AS MATERIALIZED (SELECT margin_path(%s, x, '%s') AS models FROM %s) SELECT %s FROM path, unnest(models)"
            " WITH ORDINALITY AS t" % (label, json.dumps(options), source, what))


def paths(session, sets):
    table = Table("paths", "Paths of sparse models: time",
                  "A statement that reads the table, trains 100 models of lambdas in equal ratios (l1_ratio ρ, free intercept) and looks at all"
                  " of them, against the solver alone of glmnet at its default `thresh` with its rows in memory, the same numbers, the same"
                  " lambdas, `standardize = FALSE`. spambase: columns divided by their largest number. Classes: the largest label against the others;"
                  " `squared`: the same as numbers of mean 0 and deviation 1. Sparse rows (`margin_sparse`, `dgCMatrix`): a9a and reuters-acq."
                  " CPU seconds, user and system on both sides: the kernel tells them apart by its ticks of 4 ms, as long as some of these fits, and only their"
                  " sum is exact. Remarks: how many of the 100 reached the tolerance named, the largest relative gap of their certificates, the seconds of our solver and"
                  " certificates alone, without reading the rows and looking at the models (clock on the wall), and glmnet's user seconds.")
    support = Table("paths-support", "Paths of sparse models: support",
                    "The same paths at tolerance 1e-9 beside glmnet at `thresh = 1e-14`. Ours, against: weights other than 0 of all 100 models. Ratio: the largest share of a score's"
                    " deviation that a feature has which only one of both uses: |w| times its deviation, over the sum of all features' (at least a millionth of the largest model's:"
                    " at the first lambda rounding decides). Remarks: how many such features there are in all models.")
    whole_ratios, solver_ratios = [], []
    for name, sparse in sets:
        source = "p_" + "".join(c if c.isalnum() else "_" for c in name)
        for loss, family in LOSSES.items():
            label, packed = ("y > 0", "path:" + name) if loss == "logistic" else ("y", "path:%s:numbers" % name)
            own = source + ("_numbers" if loss == "squared" else "")
            session.load(own, packed, sparse=sparse)
            x, y = datasets.load(packed)
            dense = np.asarray(x.dense() if isinstance(x, datasets.Sparse) else x, float)
            deviation = dense.std(axis=0)
            peer = Peer("glmnet.R", packed)
            for rho in (1, 0.5):
                grid = lambdas_of(x, y, rho)
                ours = grid * (2 if loss == "squared" else 1)
                with tempfile.NamedTemporaryFile("w") as file, tempfile.NamedTemporaryFile() as weights:
                    file.write("\n".join("%.17g" % v for v in grid) + "\n")
                    file.flush()
                    ask = "%s %g %%g %s %%s" % (family, rho, file.name)
                    for tolerance, bound in ((1e-4, 0.7), (1e-6, 2)):
                        call = statement(own, label, loss, rho, tolerance, ours,
                                         "count(*) FILTER (WHERE status = 'optimal'), max((primal - dual) / primal), sum(seconds)")
                        solver, user = [], []

                        def run():
                            answer = session.run(call)
                            solver.append(float(answer["rows"][0][2]))
                            return answer

                        def fit():
                            answer = peer.ask(ask % (0, "-"))
                            user.append(answer["user"])
                            return answer

                        got = interleave({"ours": run, "theirs": fit}, 5)
                        done, gap, _ = got["ours"]["last"]["rows"][0]
                        table.compare("%s, %s, ρ = %g, %g" % (name, loss, rho, tolerance), got["ours"], got["theirs"], bound,
                                      "%s certified, gap %.1e; solver %.3g ms; user %.3g ms" % (done, float(gap), 1e3 * min(solver), 1e3 * min(user)))
                        whole_ratios.append(got["ours"]["cpu"] / got["theirs"]["cpu"])
                        solver_ratios.append(min(solver) / got["theirs"]["cpu"])
                    answer = peer.ask(ask % (1e-14, weights.name))
                    theirs = np.fromfile(weights.name).reshape(answer["lambdas"], -1)
                    rows = session.run(statement(own, label, loss, rho, 1e-9, ours, "weights[1:], columns"))["rows"]
                    mine = np.zeros((COUNT, x.shape[1]))
                    for k, (w, columns) in enumerate(rows):
                        numbers = np.array(w.strip("{}").split(","), float)
                        at = np.array(columns.strip("{}").split(","), int) - 1 if columns else slice(None)
                        mine[k, at] = numbers
                    part = np.abs(mine[:len(theirs)] - theirs) * deviation * ((mine[:len(theirs)] != 0) != (theirs != 0))
                    whole = (np.abs(theirs) * deviation).sum(axis=1)
                    share = (part.max(axis=1) / np.maximum(whole, 1e-6 * whole.max())).max()
                    support.add("%s, %s, ρ = %g" % (name, loss, rho), "%d" % (mine != 0).sum(), "%d" % (theirs != 0).sum(), share, 1e-4,
                                "%d" % ((mine[:len(theirs)] != 0) != (theirs != 0)).sum())
            peer.close()
    for what, ratios in (("statements", whole_ratios), ("of these our solver and certificates alone", solver_ratios)):
        table.add("all %d %s, the worst" % (len(ratios), what), "", "", max(ratios), 1,
                  "median %.3g, %d above 1" % (statistics.median(ratios), sum(r > 1 for r in ratios)))
    return [table, support]


# Of the third table: without a9a, of which glmnet takes minutes at its `thresh`, and between which ends the weights are.
LIMITED = ("spambase", "ijcnn1", "colon-cancer", "arcene")
LIMITS = [(0, np.inf), (-0.05, 0.05)]


def objective(x, y, loss, rho, lam, w):
    """Of given weights with the best intercept."""
    u = x @ w
    penalty = lam * (rho * np.abs(w).sum() + (1 - rho) / 2 * w @ w)
    if loss == "squared":
        return np.square(u - y - (u - y).mean()).mean() + penalty
    b = 0.0
    for _ in range(100):
        p = 1 / (1 + np.exp(-(u + b)))
        step = (p - y).mean() / max((p * (1 - p)).mean(), 1e-300)
        b -= np.clip(step, -1, 1)
        if abs(step) < 1e-14:
            break
    return (np.logaddexp(0, u + b) - y * (u + b)).mean() + penalty


def limits(session, sets):
    table = Table("paths-limits", "Paths of sparse models with bounds",
                  "The paths of the first table (of four sets) with all weights between two ends (`bounds`; glmnet's `lower.limits` and `upper.limits`) at 1e-6, beside glmnet at `thresh = 1e-14`:"
                  " CPU seconds as above, and the objectives of all models. Remarks: how many were certified, the largest relative difference of ours from the objective of glmnet's"
                  " weights (negative: ours is lower), where glmnet returned them all, and the largest violation.")
    for name, sparse in sets:
        source = "p_" + "".join(c if c.isalnum() else "_" for c in name)
        for loss, family in LOSSES.items():
            label, packed = ("y > 0", "path:" + name) if loss == "logistic" else ("y", "path:%s:numbers" % name)
            own = source + ("_numbers" if loss == "squared" else "")
            session.load(own, packed, sparse=sparse)
            x, y = datasets.load(packed)
            dense = np.asarray(x.dense() if isinstance(x, datasets.Sparse) else x, float)
            numbers = (y == y.max()).astype(float) if loss == "logistic" else np.asarray(y, float)
            grid = lambdas_of(x, y, 1)
            scale = 2 if loss == "squared" else 1
            peer = Peer("glmnet.R", packed)
            for low, high in LIMITS:
                with tempfile.NamedTemporaryFile("w") as file, tempfile.NamedTemporaryFile() as weights:
                    file.write("\n".join("%.17g" % v for v in grid) + "\n")
                    file.flush()
                    ask = "%s 1 1e-14 %s %s %g %g" % (family, file.name, weights.name, low, high)
                    options = {"loss": loss, "l1_ratio": 1, "intercept": "free", "tolerance": 1e-6, "lambdas": [float(v) for v in grid * scale],
                               "bounds": [low, None if np.isinf(high) else high]}
                    call = ("WITH path AS MATERIALIZED (SELECT margin_path(%s, x, '%s') AS models FROM %s) SELECT status, primal, weights[1:], columns FROM path, unnest(models)"
                            % (label, json.dumps(options), own))
                    got = interleave({"ours": lambda: session.run(call), "theirs": lambda: peer.ask(ask)}, 3)
                    theirs = np.fromfile(weights.name).reshape(got["theirs"]["last"]["lambdas"], -1)
                    rows = got["ours"]["last"]["rows"]
                    apart, violation = [], 0.0
                    for k, (status, primal, w, columns) in enumerate(rows):
                        w = np.array([v for v in w.strip("{}").split(",") if v], float)
                        if w.size:
                            violation = max(violation, float(np.max(w - high)), float(np.max(low - w)))
                        if k < len(theirs):
                            of_theirs = objective(dense, numbers, loss, 1, grid[k] * scale, np.clip(theirs[k], low, high))
                            apart.append((float(primal) - of_theirs) / of_theirs)
                    table.compare("%s, %s, [%g, %g]" % (name, loss, low, high), got["ours"], got["theirs"], 1,
                                  "%d certified; objectives %.1e to %.1e apart in %d models; violation %.0e"
                                  % (sum(r[0] == "optimal" for r in rows), min(apart), max(apart), len(apart), max(0.0, violation)))
            peer.close()
    return [table]


def main():
    session = Session()
    version = session.value("SELECT current_setting('server_version')")
    environment = "Measured on commit %s, PostgreSQL %s, %s, 2 cores; `bench/paths.sh`." % (os.environ["MARGIN_COMMIT"], version, version_of("r-cran-glmnet"))
    named = [pair for pair in SETS if pair[0] in sys.argv[1:]]
    if len(named) != len(set(sys.argv[1:])):
        sys.exit("the data sets are " + ", ".join(name for name, _ in SETS))
    for table in paths(session, named or SETS) + limits(session, named or [pair for pair in SETS if pair[0] in LIMITED]):
        if named:
            print(table.markdown())
        else:
            write(table, environment)


if __name__ == "__main__":
    main()

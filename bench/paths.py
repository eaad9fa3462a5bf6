#!/usr/bin/python3
"""The sections of docs/benchmarks/ about paths of sparse models. Run by paths.sh, which starts a server."""
import json
import os
import sys
import tempfile

import numpy as np

import datasets
from measure import Peer, Session, Table, interleave, write

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
                  " of them, against the user CPU of glmnet 4.1 at its default `thresh` with its rows in memory, the same numbers, the same"
                  " lambdas, `standardize = FALSE`. spambase: columns divided by their largest number. Classes: the largest label against the others;"
                  " `squared`: the same as numbers of mean 0 and deviation 1. Sparse rows (`margin_sparse`, `dgCMatrix`): a9a and reuters-acq."
                  " CPU seconds. Remarks: how many of the 100 reached the tolerance named, and the largest relative gap of their certificates.")
    support = Table("paths-support", "Paths of sparse models: support",
                    "The same paths at tolerance 1e-9 beside glmnet at `thresh = 1e-14`. Ours, against: weights other than 0 of all 100 models. Ratio: the largest share of a score's"
                    " deviation that a feature has which only one of both uses: |w| times its deviation, over the sum of all features' (at least a millionth of the largest model's:"
                    " at the first lambda rounding decides). Remarks: how many such features there are in all models.")
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
                                         "count(*) FILTER (WHERE status = 'optimal'), max((primal - dual) / primal)")
                        got = interleave({"ours": lambda: session.run(call), "theirs": lambda: peer.ask(ask % (0, "-"))}, 5)
                        done, gap = got["ours"]["last"]["rows"][0]
                        table.compare("%s, %s, ρ = %g, %g" % (name, loss, rho, tolerance), got["ours"], got["theirs"], bound,
                                      "%s certified, gap %.1e" % (done, float(gap)))
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
    return [table, support]


def main():
    session = Session()
    version = session.value("SELECT current_setting('server_version')")
    environment = "Measured on commit %s, PostgreSQL %s, 2 cores; `bench/paths.sh`." % (os.environ["MARGIN_COMMIT"], version)
    named = [pair for pair in SETS if pair[0] in sys.argv[1:]]
    if len(named) != len(set(sys.argv[1:])):
        sys.exit("the data sets are " + ", ".join(name for name, _ in SETS))
    for table in paths(session, named or SETS):
        if named:
            print(table.markdown())
        else:
            write(table, environment)


if __name__ == "__main__":
    main()

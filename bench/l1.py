"""The section about l1 margins and boosted stumps. Registered in run.py."""
import json
import os

import numpy as np

import datasets
from measure import Peer, Table, interleave, version_of

ROUNDS = 100


def numbers(text):
    return np.array([float(v) for v in text.replace("{", "").replace("}", "").split(",")])


def exponential_loss(scores, y):
    """The mean of exp(-y (s f + b)) at its best scale s and intercept b: of a direction, as both sides give one."""
    top = np.abs(scores).max()
    best = np.inf
    for s in np.geomspace(0.1, 100, 400):
        e = np.exp(-np.clip(y * scores * (s / top), -700, 700))
        best = min(best, 2 * np.sqrt(e[y > 0].sum() * e[y < 0].sum()) / len(y))
    return best


def stump_scores(session, statement, x):
    row = session.run("SELECT (m).stumps, (m).weights, (m).intercept FROM (SELECT %s OFFSET 0) t" % statement)["rows"][-1]
    stumps, weights = numbers(row[0]).reshape(-1, 2), numbers(row[1])
    scores = np.full(len(x), numbers(row[2])[0])
    for (feature, threshold), w in zip(stumps, weights):
        scores += np.where(x[:, int(feature) - 1] > threshold, w, -w)
    return scores


def boosting(session, train, options, relative, repetitions):
    out = Table("boosting", "l1 margins: exact, and boosted stumps",
                "Exact: the whole statement `train_margin(y, x, margin_options(norm => 1, tolerance => 1e-6))`, real[] rows, with "
                "intercept, against HiGHS on the linear program of all rows (interior point with crossover, one run, its rows in memory as its own matrix). "
                "Stumps: the whole statement with `learners => 'stumps'`, 100 rounds of `optimal` "
                "steps, `shrinkage` 1, against `fit()` of scikit-learn's `AdaBoostClassifier` (%s; SAMME, 100 stumps) on rows in "
                "memory. The loss is the mean exponential loss at the best scale and intercept of each." % version_of("python3-sklearn"))
    promised = {"mnist_0v1": 2, "gisette_scale.t": 5}  # seconds
    within = lambda name, seen: "; within %d s: %s" % (promised[name], "yes" if seen["cpu"] <= promised[name] else "**no**")
    for name in ("mnist_0v1", "mnist_6v7", "sonar_scale", "gisette_scale.t"):
        table = "".join(c if c.isalnum() else "_" for c in name)
        session.load(table, name)
        seen = interleave({"ours": train(session, table, norm=1, tolerance=1e-6)}, repetitions)
        highs = Peer("l1.py", name)
        peer = interleave({"highs": lambda: highs.ask(json.dumps({"solver": "ipm"}))}, 1)["highs"]
        highs.close()
        model = seen["ours"]["last"]
        remark = "%s, %s, gap %.1e, margin %.9g (%s: %.9g), %d scans, solver %.3g s" % (
            model["status"], model["solver"], relative(model), model["margin_lower"], peer["last"]["by"], peer["last"]["margin"], model["iterations"],
            model["seconds"])
        if name in promised:
            remark += within(name, seen["ours"])
        out.compare(name + ", exact", seen["ours"], peer, None, remark)
    # The same rows stored as index and value pairs, against those stored as arrays.
    session.load("gisette_pairs", "gisette_scale.t", sparse=True)
    seen = interleave({"pairs": train(session, "gisette_pairs", norm=1, tolerance=1e-6),
                       "arrays": train(session, "gisette_scale_t", norm=1, tolerance=1e-6)}, repetitions)
    out.compare("gisette_scale.t, exact, margin_sparse against real[]", seen["pairs"], seen["arrays"], None,
                "%s, margin %.9g" % (seen["pairs"]["last"]["status"], seen["pairs"]["last"]["margin_lower"]) + within("gisette_scale.t", seen["pairs"]))
    x, y = datasets.load("ijcnn1")
    x, y = x.dense() if isinstance(x, datasets.Sparse) else x, np.where(np.asarray(y) > 0, 1.0, -1.0)
    session.load("ijcnn1", "ijcnn1")
    named = dict(norm=1, learners="stumps", solver="boosting", step="optimal", shrinkage=1.0, max_iterations=ROUNDS)
    peer, scores = Peer("l1.py", "ijcnn1"), os.path.join(Peer.directory.name, "scores")
    asked = json.dumps({"rounds": ROUNDS, "scores": scores})
    seen = interleave({"ours": train(session, "ijcnn1", **named), "sklearn": lambda: peer.ask(asked)}, repetitions)
    peer.close()
    ours = stump_scores(session, "train_margin(y, x, %s) AS m FROM ijcnn1" % options(**named), x)
    theirs = np.fromfile(scores)
    losses = exponential_loss(ours, y), exponential_loss(theirs, y)
    out.compare("ijcnn1, 100 rounds of stumps against AdaBoostClassifier", seen["ours"], seen["sklearn"], 0.5,
                "training error %.4f and %.4f" % ((ours * y <= 0).mean(), (theirs * y <= 0).mean()))
    out.add("ijcnn1, exponential loss after them", "%.6f" % losses[0], "%.6f" % losses[1], losses[0] / losses[1], 1)
    return out

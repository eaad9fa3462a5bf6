"""The section about constraints on weights beside ReHLine (Dai & Qiu 2023), whose header is in the folder that MARGIN_REHLINE names.
Registered in run.py."""
import json

import numpy as np

import datasets
from measure import Peer, Table

# Set, loss, its parameter as an option, lambda.
PROBLEMS = (("ijcnn1_10k", "hinge", None, 1e-4), ("satimage_4", "hinge", None, 1e-4), ("a9a", "hinge", None, 1e-4),
            ("california_10k", "quantile", 0.8, 1e-3), ("casp_10k", "quantile", 0.3, 1e-3), ("abalone", "huber", 1.0, 1e-3))
PATIENCE = 30  # CPU seconds of the peer


def rows_of(name):
    x, y = datasets.load(name)
    return np.asarray(x.dense() if hasattr(x, "dense") else x.toarray() if hasattr(x, "toarray") else x, dtype=float), np.asarray(y, dtype=float)


def kinds(x, random):
    """Name, (rows of A, their b in A w + b >= 0), options of ours."""
    d = x.shape[1]
    group = x[:, np.argmax(x.std(axis=0))]
    gap = x[group > np.median(group)].mean(axis=0) - x[group <= np.median(group)].mean(axis=0)
    weights = {str(j + 1): float(v) for j, v in enumerate(gap) if v != 0}
    yield "free", np.zeros((0, d)), np.zeros(0), {}
    yield "parity", np.array([gap, -gap]), np.full(2, 0.05), {"constraints": [{"weights": weights, "min": -0.05, "max": 0.05, "name": "parity"}]}
    half = [j for j in range(d) if j % 2 == 0]
    yield "monotone", np.eye(d)[half], np.zeros(len(half)), {"monotone": {str(j + 1): 1 for j in half}}
    a = random.normal(size=(5, d)) * (random.uniform(size=(5, d)) < 0.3)
    yield "five rows", -a, np.full(5, 0.1), {"constraints": [{"weights": {str(j + 1): float(v) for j, v in enumerate(r) if v != 0}, "max": 0.1} for r in a if r.any()]}


KINDS = {"a sum that is free to move": ({"constraints": {"weights": {"1": 1, "2": 1}, "max": 1e6}}, 1.2), "bounds that hold nothing": ({"bounds": [-1e6, 1e6]}, 1.2),
         "bounds of 0.05": ({"bounds": [-0.05, 0.05]}, 2)}


def cost(session):
    """What bounds and constraints cost beside the training without them."""
    out = Table("constraints_cost", "What bounds and constraints cost",
                "The whole statement, lambda 1e-4, tolerance 1e-3, by `auto`, against the same without them: a sum of two weights, and all weights, held to 1e6 (nothing is at its end), and all weights "
                "to 0.05. CPU seconds, minima of 7 interleaved repetitions.")
    for name in ("a9a", "ijcnn1_10k", "covtype.20k", "reuters-acq", "covtype_like"):
        table, wide = "k_" + name.replace(".", "_").replace("-", "_"), name == "reuters-acq"  # more features than constraints take
        session.load(table, name, sparse=wide)
        for loss in ("hinge", "logistic"):
            statements = {kind: "SELECT (m).status, (m).solver FROM (SELECT train_margin(y, x, jsonb '%s') AS m FROM %s OFFSET 0) t" % (
                json.dumps({"loss": loss, "lambda": 1e-4, "tolerance": 1e-3, **given}), table) for kind, (given, _) in {"": ({}, None), **KINDS}.items()
                if not (wide and "constraints" in given)}
            best = {}
            for _ in range(7):
                for kind, statement in statements.items():
                    run = session.run(statement)
                    best[kind] = min(best.get(kind, run), run, key=lambda r: r["cpu"])
            for kind, (_, bound) in KINDS.items():
                if kind not in best:
                    continue
                out.add("%s, %s, %s" % (name, loss, kind), "%.3g s" % best[kind]["cpu"], "%.3g s" % best[""]["cpu"], best[kind]["cpu"] / best[""]["cpu"], bound,
                        "%s; without: %s" % (best[kind]["rows"][0][1], best[""]["rows"][0][1]))
    return out


def constraints(session):
    out = Table("constraints", "Under constraints, beside ReHLine",
                "Whole SQL statement, certificate included, against ReHLine's solver alone with its rows in memory, both with a constant feature of 1 for classes and no intercept for numbers, at the loosest tolerance of its own (1e-1 to 1e-9) with "
                "which its objective is as near to the certified optimum and no constraint is missed by more. *parity*: the mean scores of two halves of the rows differ by at most 0.05; *monotone*: every "
                "second weight is 0 or more; *five rows*: random sums of weights. CPU seconds.")
    random = np.random.default_rng(1)
    for name, loss, parameter, lam in PROBLEMS:
        table = "c_" + "".join(c if c.isalnum() else "_" for c in name)
        session.load(table, name, "double")
        x, _ = rows_of(name)
        peer = Peer("rehline", name)
        for kind, a, b, given in kinds(x, random):
            constant = 1 if loss == "hinge" else 0  # ours counts the intercept of a regression from the level of its targets
            options = {"loss": loss, "lambda": lam, "intercept": "penalized" if constant else False, **given}
            if parameter is not None:
                options["quantile" if loss == "quantile" else "smoothing"] = parameter
            best = None
            for accuracy in (1e-6, 1e-3):
                statement = "SELECT (m).primal, (m).dual, (m).status, (m).solver FROM (SELECT train_margin(y, x, jsonb '%s') AS m FROM %s OFFSET 0) t" % (
                    json.dumps({**options, "tolerance": accuracy}), table)
                ours = min((session.run(statement) for _ in range(3)), key=lambda r: r["cpu"])
                upper, lower, status, solver = ours["rows"][0]
                best = best or float(upper)
                theirs, remark = None, "%s, %s" % (status, solver)
                for k in range(1, 10):
                    answer = peer.ask("%s %.17g %.17g %g 20000 %d %d %s" % (loss, parameter or 0, lam, 10.0 ** -k, constant, len(b), " ".join(
                        "%.17g" % v for row, end in zip(a, b) for v in (*row, end))))
                    if abs(answer["objective"] - best) <= accuracy * best and answer["missed"] <= accuracy:
                        theirs = answer
                        break
                    if answer["cpu"] > PATIENCE:
                        break
                if theirs is None:
                    out.add("%s, %s, %s, %g" % (name, loss, kind, accuracy), "%.3g s" % ours["cpu"], "not in %.3g s" % answer["cpu"], ours["cpu"] / answer["cpu"], 0.5,
                            remark + "; it comes to %.3g of it, missing %.2g" % (answer["objective"] / best - 1, answer["missed"]))
                else:
                    out.add("%s, %s, %s, %g" % (name, loss, kind, accuracy), "%.3g s" % ours["cpu"], "%.3g s" % theirs["cpu"], ours["cpu"] / theirs["cpu"], 0.5, remark)
        peer.close()
    return out, cost(session)

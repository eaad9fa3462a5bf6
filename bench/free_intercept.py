#!/usr/bin/python3
"""The sections of docs/benchmarks/ about soft margins with a free intercept. Run by free_intercept.sh."""
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.svm import SVC, SVR

import datasets
from measure import IN_PEERS, Session, Table, interleave, version_of, write

EPSILON, TAU = 0.1, 0.8
CLASSES = ("wdbc", "heart_scale", "australian", "german.numer", "ionosphere_scale", "diabetes_scale", "sonar_scale", "splice",
           "breast-cancer-wisconsin", "banknote")
TARGETS = ("abalone", "winequality-red", "boston-housing", "concrete", "diabetes442")
SOLVERS = ("newton", "newton_cg", "sdca")
COSTS = [("a9a", 1.3), ("ijcnn1", 1.3), ("covtype.20k", 1.3), ("text_like", 1.6)]


def options(**named):
    return "'%s'" % json.dumps(named)


def train(session, source, label="y", **named):
    row = session.run("SELECT to_json((m).weights), (m).intercept[1], (m).primal, (m).dual, (m).status, (m).solver, (m).seconds "
                      "FROM (SELECT train_margin(%s, x, %s) AS m FROM %s OFFSET 0) t" % (label, options(**named), source))
    w, b, primal, dual, status, solver, seconds = row["rows"][-1]
    return {"w": np.array(json.loads(w)), "b": float(b), "primal": float(primal), "dual": float(dual), "status": status,
            "solver": solver, "seconds": float(seconds), "wall": row["wall"], "cpu": row["cpu"]}


def losses(name, u, y):
    if name == "hinge":
        return np.maximum(0, 1 - y * u)
    if name == "squared_hinge":
        return np.maximum(0, 1 - y * u) ** 2
    if name == "logistic":
        return np.logaddexp(0, -y * u)
    if name == "squared":
        return (u - y) ** 2
    if name == "poisson":
        return np.exp(u) - y - np.where(y > 0, y * (u - np.log(np.where(y > 0, y, 1))), 0)
    if name == "absolute":
        return np.abs(u - y)
    if name == "epsilon_insensitive":
        return np.maximum(0, np.abs(u - y) - EPSILON)
    return np.where(y > u, TAU, 1 - TAU) * np.abs(y - u)


def objective(name, x, y, w, b, lam):
    return losses(name, x @ w + b, y).mean() + lam / 2 * w @ w


def quantile_regression(x, y):
    """R's quantreg: no penalty."""
    with tempfile.TemporaryDirectory() as place:
        np.savetxt(place + "/rows", np.column_stack([y, x]))
        subprocess.run(IN_PEERS + ["Rscript", "-e", "library(quantreg); d <- as.matrix(read.table('%s/rows')); "
                        "f <- rq(d[,1] ~ d[,-1], tau = %g, method = 'br'); write(format(coef(f), digits = 17), '%s/w')"
                        % (place, TAU, place)], check=True, capture_output=True)
        found = np.array([float(v) for v in open(place + "/w").read().split()])
    return found[1:], found[0]


def agrees(session):
    out = Table("free-agrees", "Free intercept: the same models as others",
                "`intercept => 'free'` at tolerance 1e-9 and lambda 1e-2 (quantile: 1e-9) against LIBSVM through scikit-learn's SVC and SVR (%s; linear "
                "kernel, C = 1/(lambda n), tol 1e-8), its LogisticRegression (newton-cholesky, C = 1/(lambda n), tol 1e-12; lbfgs at tol 1e-10 "
                "leaves a gradient of 3.6e-6 on german.numer, and weights that are 2.4e-4 off), its PoissonRegressor (lbfgs, alpha = lambda, tol 1e-12), and R's "
                "quantreg (%s), which has no penalty. Ours and theirs: the objective at either's weights. Ratio: the relative difference of the "
                "objectives; the remark has that of the weights, |w - w'|/|w|." % (version_of("python3-sklearn", []), version_of("r-cran-quantreg")))
    for name in CLASSES + TARGETS:
        x, y = datasets.load(name)
        x = np.asarray(x.dense() if isinstance(x, datasets.Sparse) else x, np.float64)
        largest = np.abs(x).max(axis=0)
        x = x / np.where(largest > 0, largest, 1)
        n = len(y)
        table = "t_" + re.sub(r"\W", "_", name)
        session.run("DROP TABLE IF EXISTS %s; CREATE TABLE %s (y float8, x float8[])" % (table, table))
        classes = name in CLASSES
        if classes:
            y = np.where(y == np.unique(y)[-1], 1.0, -1.0)
        rows = "\n".join("%.17g\t{%s}" % (t, ",".join("%.17g" % v for v in row)) for t, row in zip(y, x))
        subprocess.run(session.command + ["-c", "COPY %s FROM STDIN" % table], input=rows.encode(), check=True)
        lam = 1e-2
        c = 1 / (lam * n)
        peers = {"hinge": lambda: SVC(kernel="linear", C=c, tol=1e-8), "logistic": lambda: LogisticRegression(C=c, tol=1e-12, max_iter=1000, solver="newton-cholesky")} \
            if classes else {"epsilon_insensitive": lambda: SVR(kernel="linear", C=c, tol=1e-8, epsilon=EPSILON), "quantile": None,
                                     "poisson": lambda: PoissonRegressor(alpha=lam, tol=1e-12, max_iter=10000)}
        for loss, make in peers.items():
            used = lam if make else 1e-9
            extra = {"quantile": TAU} if loss == "quantile" else {}
            ours = train(session, table, "y::int" if classes else "y", loss=loss, tolerance=1e-9, intercept="free",
                         **{"lambda": used}, **extra)
            if make:
                model = make().fit(x, y)
                w, b = model.coef_.ravel(), float(np.ravel(model.intercept_)[0])
            else:
                w, b = quantile_regression(x, y)
            mine, other = (objective(loss, x, y, *v, used) for v in ((ours["w"], ours["b"]), (w, b)))
            out.add("%s, %s" % (name, loss), "%.10g" % mine, "%.10g" % other, abs(mine - other) / abs(other), 1e-6,
                    "%s by %s, weights differ by %.1e" % (ours["status"], ours["solver"], np.linalg.norm(ours["w"] - w) / np.linalg.norm(w)))
    return out


def optimum(loss, x, y, lam):
    """By scipy: smooth losses by BFGS, the others as a quadratic program with slack variables."""
    n, d = x.shape
    if loss in ("logistic", "squared", "squared_hinge"):
        value = lambda z: objective(loss, x, y, z[:d], z[d], lam)
        found = minimize(value, np.zeros(d + 1), method="BFGS", options={"gtol": 1e-9})
        return min(found.fun, minimize(value, found.x, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}).fun)
    up, down = {"hinge": (1, 1), "quantile": (TAU, 1 - TAU)}.get(loss, (1, 1))
    tube = EPSILON if loss == "epsilon_insensitive" else 0
    size = d + 1 + n

    def cost(z):
        return z[d + 1:].mean() + lam / 2 * z[:d] @ z[:d]

    def gradient(z):
        return np.r_[lam * z[:d], 0, np.full(n, 1 / n)]

    ones = np.ones((n, 1))
    if loss == "hinge":
        rows, right = np.hstack([y[:, None] * np.hstack([x, ones]), np.eye(n)]), np.ones(n)
    else:
        design = np.hstack([x, ones])
        rows = np.vstack([np.hstack([up * design, np.eye(n)]), np.hstack([-down * design, np.eye(n)])])
        right = np.r_[up * (y - tube), -down * (y + tube)]
    start = np.zeros(size)
    start[d + 1:] = losses(loss, np.zeros(n), y) + 1
    found = minimize(cost, start, jac=gradient, method="SLSQP", bounds=[(None, None)] * (d + 1) + [(0, None)] * n,
                     constraints={"type": "ineq", "fun": lambda z: rows @ z - right, "jac": lambda z: rows},
                     options={"maxiter": 1000, "ftol": 1e-15})
    z = found.x
    return objective(loss, x, y, z[:d], z[d], lam)


def random(session):
    out = Table("free-random", "Free intercept: random small problems",
                "500 problems of 6 to 25 rows and 1 to 4 features, classes of any ratio, targets around any mean, lambda from 1e-3 to 10; the "
                "optimum by scipy (BFGS, or SLSQP on the quadratic program). Ours at tolerance 1e-8 within 200,000 iterations, by the solver named. Ours: "
                "the largest relative excess of our objective over scipy's; against: of scipy's over our dual bound, negative where a bound "
                "were wrong. Ratio: the larger of ours and of what our lower bound exceeds scipy's optimum by.")
    r = np.random.default_rng(1)
    names = ("hinge", "squared_hinge", "logistic", "squared", "absolute", "epsilon_insensitive", "quantile")
    worst = {(loss, solver): [-1.0, -1.0, 0, 0] for loss in names for solver in SOLVERS}
    for trial in range(500):
        loss = names[trial % len(names)]
        n, d = int(r.integers(6, 26)), int(r.integers(1, 5))
        x, w = r.normal(size=(n, d)) + r.normal(size=d) * (trial % 3), r.normal(size=d)
        score, lam = x @ w + r.normal(size=n), 10 ** r.uniform(-3, 1)
        if loss in ("hinge", "squared_hinge", "logistic"):
            y = np.where(score > np.quantile(score, r.uniform(0.1, 0.9)), 1.0, -1.0)
            y[:2] = 1, -1
        else:
            y = score + r.normal() * (0, 10, 1000)[trial % 3]
        shift = 0.0 if loss in names[:3] else np.median(y)
        best = optimum(loss, x, y - shift, lam)
        values = ",".join("(%.17g::float8, array[%s]::float8[])" % (t, ",".join("%.17g" % v for v in row)) for t, row in zip(y, x))
        for solver in SOLVERS:
            ours = train(session, "(VALUES %s) AS v(y, x)" % values, "y::int" if loss in names[:3] else "y", loss=loss, tolerance=1e-8, solver=solver, max_iterations=200000,
                         intercept="free", **{"lambda": lam}, **({"quantile": TAU} if loss == "quantile" else {}))
            mine = objective(loss, x, y, ours["w"], ours["b"], lam)
            seen = worst[loss, solver]
            seen[0] = max(seen[0], (mine - best) / best)
            seen[1] = max(seen[1], (ours["dual"] - best) / best)
            seen[2] += 1
            seen[3] += ours["status"] == "optimal"
    for (loss, solver), (excess, bound, count, optimal) in worst.items():
        out.add("%s, %s" % (loss, solver), "%.1e" % excess, "%.1e" % -bound, max(excess, bound), 1e-6, "%d problems, %d optimal" % (count, optimal))
    return out


def cost(session):
    out = Table("free-cost", "What a free intercept costs",
                "The whole statement at tolerance 1e-3 and lambda 1e-4 by `auto`, `intercept => 'free'` against `'penalized'`: CPU "
                "seconds. text_like: 100,000 x 50,000 margin_sparse.")
    for name, bound in COSTS:
        table, sparse = "c_" + re.sub(r"\W", "_", name), name == "text_like"
        session.load(table, name, sparse=sparse)
        for loss in ("hinge", "squared_hinge", "logistic"):
            def run(form):
                return train(session, table, "y::int", loss=loss, tolerance=1e-3, intercept=form, **{"lambda": 1e-4})
            got = interleave({form: lambda form=form: run(form) for form in ("free", "penalized")}, 3)
            last = got["free"]["last"]
            out.compare("%s, %s" % (name, loss), got["free"], got["penalized"], bound,
                        "%s by %s, solver %.3g s against %.3g s" % (last["status"], last["solver"], last["seconds"], got["penalized"]["last"]["seconds"]))
    return out


SECTIONS = {"agrees": agrees, "random": random, "cost": cost}


def main():
    session = Session()
    version = session.value("SELECT current_setting('server_version')")
    environment = "Measured on commit %s, PostgreSQL %s, 2 cores; `bench/free_intercept.sh %%s`." % (os.environ["MARGIN_COMMIT"], version)
    for name in sys.argv[1:] or SECTIONS:
        if name not in SECTIONS:
            sys.exit("no section %s; there are %s" % (name, ", ".join(SECTIONS)))
        print(name, flush=True)
        write(SECTIONS[name](session), environment % name)


main()

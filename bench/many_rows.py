"""The section about kernel machines of many rows: ours beside scikit-learn's SVC (LIBSVM) and its pipeline of Nystroem and a
linear machine. Registered in run.py."""
import json
import os
import subprocess

import datasets
from measure import IN_PEERS, Table

# Training set, test set, gamma: rbf with C = 1.
SETS = (("ijcnn1", "ijcnn1.t", 0.5), ("skin_train", "skin_test", 1.0), ("covtype_like_100k", "covtype_like_test", 1 / 54), ("gaussian_100k", "gaussian_test", 0.02),
        ("mnist_halves", "mnist_10k_halves", 0.02))
TOLERANCE = 1e-2
PIPELINES = (256, 1024)
PATIENCE = float(os.environ.get("MARGIN_PATIENCE", 900))  # seconds of a peer, its figures included


def peak(pid):
    with open("/proc/%d/status" % pid) as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def peer(what, train, test, gamma, extra):
    """Seconds of CPU, test error, megabytes, and of SVC the value of its dual, of a process of its own; none after PATIENCE."""
    try:
        answer = subprocess.run(IN_PEERS + ["/usr/bin/python3", os.path.join(datasets.HERE, "peers", "kernels.py"), what, train, test, repr(gamma), repr(extra)],
                                capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
    except subprocess.TimeoutExpired:
        return None
    return json.loads(answer)


def many_rows(session):
    out = Table("many_rows", "Kernel machines of many rows",
                "rbf, C = 1 (lambda = 1/n), `auto`, whole SQL statement to a certified relative gap of %g of the exact problem, one thread, one run; against `SVC.fit` "
                "(LIBSVM) of scikit-learn alone, cache 2 GB, tol 0.1, the loosest of a grid (factor 10) whose dual value is within %g of our primal one. Errors are shares "
                "of the test rows; *pipeline*: `Nystroem(n_components)` and `LinearSVC`, which prove nothing. A peer that is not done in time counts with that time. Memory is the largest resident set of the process, ours with the sets before." % (TOLERANCE, TOLERANCE))
    session.run("SET margin.threads = 1")
    for train, test, gamma in SETS:
        rows, width = datasets.load(train)[0].shape
        table, held = ("k_" + name.replace(".", "_") for name in (train, test))
        session.load(table, train)
        session.load(held, test)
        options = json.dumps({"kernel": "rbf", "gamma": gamma, "lambda": 1 / rows, "tolerance": TOLERANCE})
        session.run("DROP TABLE IF EXISTS k_model")
        ours = session.run("CREATE TABLE k_model AS SELECT train_margin(y, x, jsonb '%s') AS m FROM %s" % (options, table))
        memory = peak(session.pid)
        solver, status, primal, dual, basis = session.run(
            "SELECT (m).solver, (m).status, (m).primal, (m).dual, array_length((m).weights, 1) FROM k_model")["rows"][-1]
        error = 1 - float(session.value("SELECT (margin_evaluate(m, y, x)).accuracy FROM %s, k_model" % held))
        primal, dual = float(primal), float(dual)
        remark = "%s, %s, gap %.1e, %s vectors, error %.4f, %.0f MB" % (solver, status, (primal - dual) / primal, basis, error, memory)
        svc, eps = None, None
        for eps in (1e-1, 1e-2, 1e-3):
            svc = peer("svc", train, test, gamma, eps)
            if svc is None or (primal - svc["dual"] / rows) / primal <= TOLERANCE:
                break
        if svc:
            remark += "; SVC: tol %g, %d vectors, error %.4f, %.0f MB" % (eps, svc["vectors"], svc["error"], svc["memory"])
        for components in PIPELINES:
            other = peer("nystroem", train, test, gamma, components)
            if other:
                remark += "; pipeline of %d: %.3g s, error %.4f, %.0f MB" % (components, other["cpu"], other["error"], other["memory"])
        out.add("%s %d x %d, gamma %.2g" % (train, rows, width, gamma), "%.3g s" % ours["cpu"], "%.3g s" % svc["cpu"] if svc else "not in %.3g s" % PATIENCE,
                ours["cpu"] / (svc["cpu"] if svc else PATIENCE), 1, remark)
    session.run("RESET margin.threads")
    return out

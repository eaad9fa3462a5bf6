#!/usr/bin/python3
"""HiGHS and scikit-learn's AdaBoost with the rows of a packed file in memory (see peers.hpp). A line is a JSON object: solver, of
the linear program of an l1 margin by HiGHS itself (highspy) or, without it, as scipy brings it; or rounds, of boosted stumps, and
a file for their scores. The answer has the seconds of the solver or of fit() alone, and the margin."""
import inspect
import json
import sys
import time

import numpy as np
import scipy.sparse

from scikit import unpack

try:
    import highspy
except ImportError:
    highspy = None


def program(x, y):
    """max t: y (<w, x> + b) >= t, |w|_1 <= 1, w = p - q: costs, rows as a matrix, what they are at most, least values."""
    n, d = x.shape
    z = y[:, None] * x
    rows = scipy.sparse.vstack([scipy.sparse.csr_matrix(np.hstack([-z, z, -y[:, None], np.ones((n, 1))])),
                                scipy.sparse.csr_matrix(np.r_[np.ones(2 * d), 0, 0][None])]).tocsc()
    return np.r_[np.zeros(2 * d + 1), -1], rows, np.r_[np.zeros(n), 1], np.r_[np.zeros(2 * d), -np.inf, -np.inf]


def by_highs(solver, costs, rows, most, least):
    problem = highspy.HighsLp()
    problem.num_col_, problem.num_row_ = len(costs), len(most)
    problem.col_cost_, problem.col_lower_, problem.col_upper_ = costs, least, np.full(len(costs), np.inf)
    problem.row_lower_, problem.row_upper_ = np.full(len(most), -np.inf), most
    problem.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    problem.a_matrix_.start_, problem.a_matrix_.index_, problem.a_matrix_.value_ = rows.indptr, rows.indices, rows.data
    highs = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1), ("solver", solver)):
        highs.setOptionValue(option, value)
    highs.passModel(problem)
    wall, cpu = time.perf_counter(), time.process_time()
    highs.run()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "margin": -highs.getInfo().objective_function_value,
            "by": "HiGHS " + highs.version()}


def by_scipy(solver, costs, rows, most, least):
    from scipy.optimize import linprog
    wall, cpu = time.perf_counter(), time.process_time()
    answer = linprog(costs, A_ub=rows, b_ub=most, bounds=np.column_stack([least, np.full(len(costs), np.inf)]),
                     method={"ipm": "highs-ipm", "simplex": "highs-ds"}[solver])
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "margin": -answer.fun, "by": "HiGHS of scipy " + scipy.__version__}


def boosted(x, y, rounds, scores):
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier
    named = {"algorithm": "SAMME"} if "algorithm" in inspect.signature(AdaBoostClassifier).parameters else {}  # since 1.8 there is no other
    wall, cpu = time.perf_counter(), time.process_time()
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=rounds, **named).fit(x, y)
    answer = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    model.decision_function(x).astype(float).tofile(scores)
    return answer


def main(path):
    x, y = unpack(path)
    x = np.asarray(x.toarray() if hasattr(x, "toarray") else x, float)
    y = np.where(y == y.max(), 1.0, -1.0)
    given = None
    for line in sys.stdin:
        request = json.loads(line)
        if "rounds" in request:
            answer = boosted(x, y, request["rounds"], request["scores"])
        else:
            given = given or program(x, y)
            answer = (by_highs if highspy else by_scipy)(request["solver"], *given)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

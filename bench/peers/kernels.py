#!/usr/bin/python3
"""scikit-learn's kernel machines with the rows in memory: kernels.py svc|nystroem TRAIN TEST GAMMA TOL|COMPONENTS, C = 1. The
answer has the CPU seconds of fit() alone, the share of wrong test rows, the largest resident set in megabytes, and of an SVC the
value of its dual."""
import json
import os
import resource
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import numpy as np  # noqa: E402
from sklearn.kernel_approximation import Nystroem  # noqa: E402
from sklearn.metrics.pairwise import rbf_kernel  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.svm import SVC, LinearSVC  # noqa: E402

import datasets  # noqa: E402


def rows_of(name):
    x, y = datasets.load(name)
    return (x.dense() if isinstance(x, datasets.Sparse) else x).astype(float), np.where(y == np.max(y), 1, -1)


def dual_value(model, gamma):
    """sum of alpha - Q/2 at the model's alphas."""
    a, square = model.dual_coef_[0], 0.0
    for at in range(0, len(a), 1000):
        square += a[at:at + 1000] @ (rbf_kernel(model.support_vectors_[at:at + 1000], model.support_vectors_, gamma) @ a)
    return float(np.abs(a).sum() - square / 2)


def main():
    what, train, test, gamma, extra = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5])
    x, y = rows_of(train)
    if what == "svc":
        model = SVC(C=1, gamma=gamma, tol=extra, cache_size=2000)
    else:
        model = make_pipeline(Nystroem(gamma=gamma, n_components=int(extra), random_state=1),
                              LinearSVC(loss="hinge", C=1, max_iter=300))
    before = time.process_time()
    model.fit(x, y)
    answer = {"cpu": time.process_time() - before, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    if what == "svc":
        answer.update(dual=dual_value(model, gamma), vectors=int(model.n_support_.sum()))
    x, y = rows_of(test)
    answer["error"] = float(np.mean(model.predict(x[:20000]) != y[:20000]))
    print(json.dumps(answer))


main()

#!/usr/bin/python3
"""scikit-learn with the rows of a packed file in memory (see peers.hpp). A line is a JSON object: estimator and its
parameters, wide: fit in double whatever the file has; the answer has the seconds of fit() alone and the primal value (1/n) sum phi + 1/(2Cn) |w|^2 of what it
returns, or for an SVC the smallest margin that its separator has."""
import inspect
import json
import os
import sys
import time
import warnings

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

ESTIMATORS = {"LinearSVC": LinearSVC, "LogisticRegression": LogisticRegression, "SVC": SVC}


def unpack(path):
    head = np.fromfile(path, np.int64, 6)
    _, rows, width, count, sparse, wide = (int(h) for h in head)
    at = 48
    y = np.fromfile(path, np.float64, rows, offset=at)
    at += 8 * rows
    if sparse:
        starts = np.fromfile(path, np.int64, rows + 1, offset=at)
        at += 8 * (rows + 1)
        columns = np.fromfile(path, np.int32, count, offset=at)
        at += 4 * count
    values = np.fromfile(path, np.float64 if wide else np.float32, count, offset=at)
    return (csr_matrix((values.astype(float), columns, starts), (rows, width)) if sparse else values.reshape(rows, width)), y


def value(model, x, y, estimator, c):
    """What the returned vectors are worth; computed here, outside of the time, and in double: rows of float32 have weights of float32."""
    x = x.astype(float)
    if len(model.classes_) > 2:  # multinomial
        coefficients = model.coef_.astype(float)
        scores = x @ coefficients.T + model.intercept_.astype(float)
        own = scores[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        return {"primal": (logsumexp(scores, axis=1) - own).mean() + (coefficients ** 2).sum() / (2 * c * len(y))}
    w, b = model.coef_.ravel().astype(float), float(np.ravel(model.intercept_)[0])
    sign = np.where(y == np.max(y), 1.0, -1.0)
    margins = sign * (x @ w + b)
    if estimator == "SVC":
        return {"margin": margins.min() / np.linalg.norm(w)}
    losses = np.maximum(0, 1 - margins) if estimator == "LinearSVC" else np.logaddexp(0, -margins)
    return {"primal": losses.mean() + (w @ w) / (2 * c * len(y))}


def main(path):
    x, y = unpack(path)
    for line in sys.stdin:
        request = json.loads(line)
        estimator = request.pop("estimator")
        rows = x.astype(float) if request.pop("wide", False) else x
        if "multi_class" not in inspect.signature(ESTIMATORS[estimator]).parameters:
            request.pop("multi_class", None)  # since 1.8 several classes are always multinomial
        model = ESTIMATORS[estimator](**request)
        wall, cpu = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(rows, y)
            except ValueError as error:  # a solver that this version has not for these classes
                print(json.dumps({"refused": str(error)}), flush=True)
                continue
        answer = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        answer.update(value(model, x, y, estimator, request["C"]))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main(sys.argv[1])

#!/usr/bin/python3
"""statsmodels with the rows of a packed file in memory (see peers.hpp). A line is a JSON object: model (Logit, OLS or Poisson, of labels
that are -1 and 1 too: as 0 and 1),
covariance (nonrobust, HC0, HC1 or cluster, row number modulo 50), whether to standardize the columns, which spares the
peer digits, and columns to leave out (without, from 0); slopes and their standard errors are given back for the columns as they came. The answer has the seconds of
fit() alone."""
import json
import sys
import time

import numpy as np
import statsmodels.api as sm
from scipy.stats import norm

from scikit import unpack


def main(path):
    every, y = unpack(path)
    every = every.toarray() if hasattr(every, "toarray") else every
    for line in sys.stdin:
        request = json.loads(line)
        x = np.asarray(np.delete(every, request.get("without", []), axis=1), float)
        scale, centre = np.ones(x.shape[1]), np.zeros(x.shape[1])
        if request["standardize"]:
            scale, centre = x.std(axis=0), x.mean(axis=0)
        rows = np.column_stack([np.ones(len(y)), (x - centre) / scale])
        named = {"cov_type": request["covariance"]}
        if request["covariance"] == "cluster":
            named["cov_kwds"] = {"groups": np.arange(len(y)) % 50}
        wall, cpu = time.perf_counter(), time.process_time()
        if request["model"] == "Logit":
            fit = sm.Logit((y == y.max()).astype(float), rows).fit(disp=0, tol=request["tolerance"], **named)
        elif request["model"] == "Poisson":
            # Newton's steps from the best constant: from 0, where fit() starts, large means overflow.
            counts = (y == y.max()).astype(float) if y.min() < 0 else y
            start = np.zeros(rows.shape[1])
            start[0] = np.log(counts.mean())
            fit = sm.Poisson(counts, rows).fit(disp=0, start_params=start, tol=request["tolerance"], maxiter=100, **named)
        else:
            fit = sm.OLS(y, rows).fit(use_t=True, **named)
        errors, p = fit.bse[1:] / scale, fit.pvalues[1:]
        answer = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "slopes": list(fit.params[1:] / scale)}
        if request["model"] != "OLS" and request["covariance"] == "HC1":  # it gives HC0 by that name
            errors = errors * np.sqrt(len(y) / (len(y) - rows.shape[1]))
            p = 2 * norm.sf(np.abs(answer["slopes"] / errors))
        print(json.dumps({**answer, "errors": list(errors), "p": list(p)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

#!/usr/bin/python3
"""The sections of docs/benchmarks/ about lambda 0 and margin_inference. Run by inference.sh, which starts a server."""
import json
import os
import sys

from measure import Peer, Session, Table, interleave, version_of, write

# Data set, loss.
SETS = [("german.numer", "logistic"), ("heart_scale", "logistic"), ("diabetes_scale", "logistic"), ("breast-cancer-wisconsin", "logistic"),
        ("california-housing", "squared"), ("protein-casp", "squared"), ("abalone", "poisson"), ("winequality-red", "poisson"),
        ("winequality-white", "poisson"), ("boston-housing", "poisson"), ("concrete", "poisson"), ("diabetes442", "poisson")]
MODELS = {"logistic": "Logit", "squared": "OLS", "poisson": "Poisson"}
COVARIANCES = {"classical": "nonrobust", "HC0": "HC0", "HC1": "HC1", "cluster": "cluster"}


def statement(table, label, loss, covariance):
    """Trains and infers in one statement, as a user would write it."""
    model = "(SELECT train_margin(%s, x, '{\"lambda\": 0, \"loss\": \"%s\"}') FROM %s)" % (label, loss, table)
    if covariance == "cluster":
        call = "margin_inference(m, %s, x, 1, (id - first) %% 50, '{}')" % label
    else:
        call = "margin_inference(m, %s, x, '{\"covariance\": \"%s\"}')" % (label, covariance)
    return ("WITH model AS MATERIALIZED (SELECT %s AS m, (SELECT min(id) FROM %s) AS first) SELECT c.estimate, c.std_error, c.p_value"
            " FROM (SELECT %s AS list FROM %s, model) AS i, unnest(list) AS c" % (model, table, call, table))


def same(session):
    table = Table("inference-same", "Standard errors: the same figures",
                  "`margin_inference` of models of lambda 0 against statsmodels (%s; `Logit` and `Poisson`, whose HC1 is HC0 and is multiplied by n/(n - p) here, and `OLS`) on standardised columns. Ratio: the"
                  " largest relative difference of a slope's standard error. Remarks: the largest difference of an estimate, in its"
                  " standard errors, and the largest relative difference of a p-value above 1e-200." % version_of("python3-statsmodels"))
    for name, loss in SETS:
        source = "t_" + "".join(c if c.isalnum() else "_" for c in name)
        session.load(source, name, element="double")
        label = "y = (SELECT max(y) FROM %s)" % source if loss == "logistic" else "y"
        peer = Peer("regression.py", name)
        for covariance, theirs in COVARIANCES.items():
            rows = [[float(v) for v in r] for r in session.run(statement(source, label, loss, covariance))["rows"]][:-1]
            answer = peer.ask(json.dumps({"model": MODELS[loss], "covariance": theirs, "standardize": True,
                                          "tolerance": 1e-13}))
            error = max(abs(r[1] / e - 1) for r, e in zip(rows, answer["errors"]))
            slope = max(abs(r[0] - s) / r[1] for r, s in zip(rows, answer["slopes"]))
            p = max(abs(r[2] / q - 1) for r, q in zip(rows, answer["p"]) if q > 1e-200)
            table.add("%s, %s, %s" % (name, loss, covariance), "%d slopes" % len(rows), "statsmodels", error, 1e-8,
                      "estimates %.1e, p-values %.1e" % (slope, p))
        peer.close()
    return table


def speed(session):
    table = Table("inference-speed", "Maximum likelihood and its standard errors: time",
                  "500,000 x 52 `real[]` (covtype_like without the first indicator of each of its groups, which the intercept makes collinear):"
                  " training at lambda 0 and `margin_inference` in one SQL statement, against `fit()` of statsmodels (%s) with the"
                  " same covariance, its rows in memory, both on one core. CPU seconds." % version_of("python3-statsmodels"))
    name = "covtype_like"
    session.load("all_columns", name)
    session.run("CREATE TABLE IF NOT EXISTS tall AS SELECT id, y, x[1:10] || x[12:14] || x[16:54] AS x FROM all_columns")
    session.run("VACUUM (ANALYZE) tall")
    peer = Peer("regression.py", name)
    for loss, model in MODELS.items():
        for covariance in ("classical", "HC1", "cluster"):
            call = statement("tall", {"logistic": "y = 1", "squared": "y", "poisson": "(y = 1)::int"}[loss], loss, covariance)
            asked = json.dumps({"model": model, "covariance": COVARIANCES[covariance], "standardize": False, "tolerance": 1e-8,
                                "without": [10, 14]})
            got = interleave({"ours": lambda: session.run(call), "theirs": lambda: peer.ask(asked)}, 3)
            table.compare("%s, %s" % (loss, covariance), got["ours"], got["theirs"], 0.3)
    return table


SECTIONS = {"same": same, "speed": speed}


def main():
    session = Session()
    version = session.value("SELECT current_setting('server_version')")
    environment = "Measured on commit %s, PostgreSQL %s, 2 cores; `bench/inference.sh %%s`." % (os.environ["MARGIN_COMMIT"], version)
    for name in sys.argv[1:] or SECTIONS:
        if name not in SECTIONS:
            sys.exit("no section %s; there are %s" % (name, ", ".join(SECTIONS)))
        print(name, flush=True)
        write(SECTIONS[name](session), environment % name)


main()

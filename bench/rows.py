"""The sections about rows with named columns: scikit-learn's pipeline on the same tables, and what rows cost beside
arrays. Registered in run.py."""
import os
import subprocess
import sys
import warnings

import numpy as np

import datasets
from measure import Table, interleave

LAMBDA = 1e-3
ROWS, COLUMNS = 500_000, 20


def table_of(name):
    """A real table: (columns {name: list of values or None}, label). What came as codes is text again."""
    if name == "winequality":
        columns, label = {}, []
        for color in ("red", "white"):
            x, y = datasets.read_libsvm("winequality-" + color, 11)
            x = x.dense()
            for j in range(11):
                columns.setdefault("measure_%d" % (j + 1), []).extend(float(v) for v in x[:, j])
            columns.setdefault("color", []).extend([color] * len(y))
            label.extend(bool(v >= 6) for v in y)
        return columns, label
    width = {"abalone": 8, "german.numer": 24}[name]
    x, y = datasets.read_libsvm(name, width)
    x = x.dense()
    columns = {}
    for j in range(width):
        values = [float(v) for v in x[:, j]]
        if name == "abalone" and j == 0:
            columns["sex"] = ["-MFI"[int(v)] for v in values]
        elif len(set(values)) <= 5:
            columns["code_%d" % (j + 1)] = ["%g" % v for v in values]
        else:
            columns["number_%d" % (j + 1)] = values
    if name == "abalone":  # every twentieth length was not taken
        columns["number_2"] = [None if i % 20 == 0 else v for i, v in enumerate(columns["number_2"])]
    return columns, [bool(v > 9) if name == "abalone" else bool(v > 0) for v in y]


def literal(value):
    if value is None:
        return "NULL"
    return "'%s'" % value if isinstance(value, str) else ("true" if value else "false") if isinstance(value, bool) else repr(value)


def create(session, columns, label):
    names = list(columns)
    session.run("DROP TABLE IF EXISTS mixed")
    session.run("CREATE TABLE mixed (id int, label boolean, %s)" % ", ".join(
        "%s %s" % (n, "text" if isinstance(columns[n][1], str) else "float8") for n in names))
    for start in range(0, len(label), 500):
        session.run("INSERT INTO mixed VALUES " + ", ".join(
            "(%d, %s, %s)" % (i, literal(label[i]), ", ".join(literal(columns[n][i]) for n in names))
            for i in range(start, min(start + 500, len(label)))))


def pipeline(columns):
    """scikit-learn's encoding with the columns in the order of their names."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import MissingIndicator, SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    parts, names = [], sorted(columns)
    for name in names:
        j = [names.index(name)]
        if isinstance(columns[name][1], str):
            parts.append((name, OneHotEncoder(handle_unknown="ignore", sparse_output=False), j))
            continue
        parts.append((name, make_pipeline(SimpleImputer(strategy="mean"), StandardScaler()), j))
        if None in columns[name]:
            parts.append((name + " IS NULL", MissingIndicator(), j))
    table = np.array([[np.nan if v is None else v for v in columns[n]] for n in names], dtype=object).T
    return ColumnTransformer(parts), table


def pipelines(session):
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC
    out = Table("rows_pipeline", "Rows with named columns against scikit-learn's pipeline",
                "Abalone (sex as text, every twentieth length NULL, more than 9 rings), wine quality (red and white, 6 and better), German "
                "credit (columns of up to 5 values as text): `train_margin(label, t, margin_options(exclude => '{id, label}', ...))` against "
                "ColumnTransformer(SimpleImputer, StandardScaler, OneHotEncoder, MissingIndicator) and liblinear's LogisticRegression and "
                "LinearSVC at their tolerance 1e-10. The design is the largest difference of any number that the models are trained on; "
                "the objective that of our weights and of theirs, on their design, relative. Bounds: 1e-12 and 1e-6.")
    for name in ("abalone", "winequality", "german.numer"):
        columns, label = table_of(name)
        create(session, columns, label)
        encode, table = pipeline(columns)
        design, y = np.asarray(encode.fit_transform(table), dtype=float), np.where(label, 1.0, -1.0)
        for loss, fit, value in (
                ("logistic", LogisticRegression(solver="liblinear", tol=1e-10, max_iter=100000), lambda z: np.logaddexp(0, -z)),
                ("squared_hinge", LinearSVC(dual=False, tol=1e-10, max_iter=100000), lambda z: np.maximum(0, 1 - z) ** 2)):
            session.run("DROP TABLE IF EXISTS mixed_model")
            session.run("CREATE TABLE mixed_model AS SELECT train_margin(label, t, margin_options(exclude => '{id, label}', lambda => %g, "
                        "loss => '%s', tolerance => 1e-9)) AS m FROM mixed t" % (LAMBDA, loss))
            ours = np.array([[float(v) for v in row[0][1:-1].split(",")] for row in session.run(
                "SELECT margin_encode((m).encoder, t) FROM mixed t, mixed_model ORDER BY id")["rows"]])
            weights, intercept = session.run("SELECT (m).weights, (m).intercept[1] FROM mixed_model")["rows"][0]
            w, b = np.array([float(v) for v in weights[1:-1].split(",")]), float(intercept)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = fit.set_params(C=1 / (LAMBDA * len(y))).fit(design, y)

            def objective(weights, intercept):
                return LAMBDA / 2 * (weights @ weights + intercept ** 2) + value(y * (design @ weights + intercept)).mean()

            mine, best = objective(w, b), objective(theirs.coef_[0], float(theirs.intercept_[0]))
            difference = np.abs(ours - design).max()
            out.add("%s, %s, design" % (name, loss), "%d x %d" % ours.shape, "%d x %d" % design.shape, difference, 1e-12, "largest difference")
            out.add("%s, %s, objective" % (name, loss), "%.10g" % mine, "%.10g" % best, abs(mine - best) / best, 1e-6, "relative difference")
    session.run("DROP TABLE mixed, mixed_model")
    lines_of_code(session, out)
    return out


def lines_of_code(session, out):
    """The same job in both languages, from a file to a stored model and its accuracy."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    run = lambda command: subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split()[-1]
    ours = run(session.command + ["-At", "-f", "bench/peers/pipeline.sql"])
    theirs = run([sys.executable, "bench/peers/pipeline.py"])
    counts = []
    for name in ("pipeline.sql", "pipeline.py"):
        with open(os.path.join(root, "bench", "peers", name), encoding="utf-8") as file:
            counts.append(sum(1 for line in file if line.strip() and not line.startswith(("--", "#"))))
    out.add("abalone, from CSV to a stored model", "%d lines" % counts[0], "%d lines" % counts[1], counts[0] / counts[1], 1,
            "bench/peers/pipeline.sql and .py; accuracy %.5f and %.5f" % (float(ours), float(theirs)))


def cost(session, repetitions):
    out = Table("rows_cost", "Rows with named columns: cost",
                "{:,} rows of {} columns of type double precision, against the same numbers as `double precision[]`: training (the array with "
                "`standardize => true`, which rows have by default), and `sum(margin_score(model, ...))` over the table. To hand a "
                "function a row, the server makes a value of it: `count(t)` of the table against `count(x)` of the arrays shows what that is; "
                "the last line is a prediction without it.".format(ROWS, COLUMNS))
    names = ["c%d" % (j + 1) for j in range(COLUMNS)]
    session.run("SELECT setseed(0.5)")
    session.run("CREATE UNLOGGED TABLE cost_rows AS SELECT c1 + c2 - c3 + c4 * c5 / 10 - 8 > 3 * random() - 1.5 AS y, s.* FROM (SELECT %s "
                "FROM generate_series(1, %d)) AS s" % (", ".join("random() * 10 AS " + n for n in names), ROWS))
    session.run("CREATE UNLOGGED TABLE cost_arrays AS SELECT y, ARRAY[%s] AS x FROM cost_rows" % ", ".join(names))
    session.run("VACUUM ANALYZE cost_rows, cost_arrays")
    session.run("CREATE TABLE cost_models AS SELECT (SELECT train_margin(y, x, '{\"lambda\": 1e-3}') FROM cost_arrays) AS a, "
                "(SELECT train_margin(y, t, '{\"lambda\": 1e-3, \"exclude\": [\"y\"]}') FROM cost_rows t) AS r")
    run = lambda statement: lambda: session.run(statement)
    for loss in ("logistic", "hinge"):
        seen = interleave({
            "rows": run("SELECT (train_margin(y, t, '{\"lambda\": 1e-3, \"loss\": \"%s\", \"exclude\": [\"y\"]}')).primal FROM cost_rows t" % loss),
            "arrays": run("SELECT (train_margin(y, x, '{\"lambda\": 1e-3, \"loss\": \"%s\", \"standardize\": true}')).primal FROM cost_arrays" % loss)},
            repetitions)
        out.compare("training, " + loss, seen["rows"], seen["arrays"], 1.3)
    seen = interleave({"rows": run("SELECT sum(margin_score((SELECT r FROM cost_models), t)) FROM cost_rows t"),
                       "arrays": run("SELECT sum(margin_score((SELECT a FROM cost_models), x)) FROM cost_arrays"),
                       "made": run("SELECT count(t) FROM cost_rows t"), "read": run("SELECT count(x) FROM cost_arrays")}, 2 * repetitions)
    out.compare("predicting", seen["rows"], seen["arrays"], 2)
    out.compare("count(t) against count(x)", seen["made"], seen["read"], None)
    per_row = (seen["rows"]["cpu"] - seen["made"]["cpu"]) / ROWS * 1e6
    out.add("predicting a row, without making its value", "%.3g us" % per_row, "0.5 us", per_row / 0.5, 1)
    session.run("DROP TABLE cost_rows, cost_arrays, cost_models")
    return out

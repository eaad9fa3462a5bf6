"""The section about additive models (options bins and interactions): held-out accuracy and time beside the linear model, boosting
and splines, on real tables. Registered in run.py."""
import csv
import os
import subprocess
import time

import numpy as np

import datasets
from measure import IN_PEERS, Peer, Table, version_of
from rows import create, table_of

FOLDS = 5
LAMBDAS = "[0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001, 3e-5, 1e-5]"
# Of shared/data/tables: the table of load.sql, its outcome and what is no feature. An outcome of two classes is judged by the area
# under the ROC curve, a number by the root of the mean squared error.
CLASSES = {"adult": ("income = '>50K'", "income,id"), "credit": ("defaulted = 1", "defaulted,id"), "telco": ("churn = 'Yes'", "churn,customer_id"),
           "contraceptive": ("y = 1", "y,id"), "penguins": ("sex = 'male'", "sex,id,year")}
NUMBERS = {"kc": ("ln(price)", "id,price,sale,zipcode"), "hour": ("ln(cnt + 1)", "instant,casual,registered,cnt,dteday"),
           "insurance": ("claims::float8 / holders", "id,claims")}
# Sets of the LIBSVM kind with names for their columns: features, the outcome of a label.
WIDTHS = {"covtype.20k": (54, lambda y: y == 2), "letter.scale": (16, lambda y: y <= 13), "california-housing": (8, lambda y: y / 1e5),
          "protein-casp": (9, lambda y: y)}


def load(session):
    """The tables of load.sql, which psql reads in their folder, and the others; what names them, their outcome and the rest."""
    folder = os.path.join(datasets.SHARED, "tables")
    subprocess.run(session.command + ["-f", "load.sql"], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    jobs = [(n, *v, "auc") for n, v in CLASSES.items()] + [(n, *v, "rmse") for n, v in NUMBERS.items()]
    for name in ("abalone", "winequality", "german.numer"):
        create(session, *table_of(name))
        session.run('CREATE TABLE "%s" AS SELECT * FROM mixed' % name)
        jobs.append(('"%s"' % name, "label", "id,label", "auc"))
    for name, (width, outcome) in WIDTHS.items():
        x, y = datasets.read_libsvm(name, width)
        x, y = x.dense(), outcome(y)
        classes = y.dtype == bool
        session.run('CREATE TABLE "%s" (id int, label %s, %s)' % (name, "boolean" if classes else "float8", ", ".join("x%d float8" % (j + 1) for j in range(width))))
        text = "\n".join("\t".join([str(i), str(y[i]).lower() if classes else repr(float(y[i]))] + ["%.9g" % v for v in x[i]]) for i in range(len(y)))
        subprocess.run(session.command + ["-c", 'COPY "%s" FROM STDIN' % name], input=text, text=True, check=True)
        jobs.append(('"%s"' % name, "label", "id,label", "auc" if classes else "rmse"))
    return jobs


def ours(session, leave, metric, kind):
    """Per fold: accuracy on its rows, CPU seconds of the choice of lambda (and of the number of pairs), of one training."""
    given = {"linear": "", "bins": '"bins": true, ', "pairs": '"bins": true, "interactions": "auto", '}[kind]
    options = '{%s"loss": "%s", "missing": "impute", "unknown_features": "reference", "max_categories": 100000, "exclude": [%s]}' % (
        given, "logistic" if metric == "auc" else "squared", ", ".join('"%s"' % c for c in leave))
    out = []
    for fold in range(1, FOLDS + 1):
        session.run("DROP TABLE IF EXISTS one")
        choice = session.run("CREATE TABLE one AS SELECT (margin_cross_validate(outcome, f, jsonb '%s' || jsonb_build_object('lambdas', jsonb '%s', 'metric', '%s'))).options AS o "
                             "FROM folded f WHERE fold <> %d" % (options, LAMBDAS, "auc" if metric == "auc" else "mse", fold))["cpu"]
        session.run("ALTER TABLE one ADD m margin_model")
        training = session.run("UPDATE one SET m = (SELECT train_margin(outcome, f, o - 'tolerance') FROM folded f WHERE fold <> %d)" % fold)["cpu"]
        accuracy = float(session.value("SELECT %s FROM (SELECT margin_evaluate(m, outcome, f) AS e FROM one, folded f WHERE fold = %d) AS q"
                                       % ("(e).auc" if metric == "auc" else "sqrt((e).mse)", fold)))
        out.append((accuracy, choice + training, training))
    return out


def read(session, leave, metric):
    """Outcome, fold and columns as numbers, NaN where there is none; which columns are texts; their values."""
    names = session.run("SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'folded'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum")["rows"]
    used = [(n, t) for n, t in names if n not in leave]
    columns = ", ".join('"%s"' % n if t not in ("text", "date") else "dense_rank() OVER (ORDER BY %s NULLS LAST) - 1" % n if t == "text"
                        else "%s - date '2000-01-01'" % n for n, t in used)
    rows = session.run("SELECT outcome::%s, fold, %s FROM folded" % ("int" if metric == "auc" else "float8", columns))["rows"]
    return np.array([[float(v) if v != "" else np.nan for v in row] for row in rows]), [t == "text" for _, t in used]


def score(metric, outcome, predicted):
    from sklearn.metrics import mean_squared_error, roc_auc_score
    return roc_auc_score(outcome, predicted) if metric == "auc" else mean_squared_error(outcome, predicted) ** 0.5


def histogram_boosting(train, test, texts, metric):
    """HistGradientBoosting with early stopping; beyond 255 values it takes no categories, and such a column counts by its order."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    listed = [t and len(set(train[:, 2 + k])) <= 255 and train[:, 2 + k].max() < 255 for k, t in enumerate(texts)]
    make = HistGradientBoostingClassifier if metric == "auc" else HistGradientBoostingRegressor
    start = time.process_time()
    fitted = make(categorical_features=listed, early_stopping=True, random_state=0).fit(train[:, 2:], train[:, 0])
    spent = time.process_time() - start
    return fitted.predict_proba(test[:, 2:])[:, 1] if metric == "auc" else fitted.predict(test[:, 2:]), spent


def extreme_boosting(train, test, texts, metric):
    """xgboost, trees by histograms: depth and rate by a fifth of the training rows, which also say when to stop."""
    import xgboost
    held = np.arange(len(train)) % FOLDS == 0
    matrix = lambda rows: xgboost.DMatrix(rows[:, 2:], rows[:, 0])
    inner, judge, best = matrix(train[~held]), matrix(train[held]), None
    start = time.process_time()
    for depth in (2, 4, 6):
        for rate in (0.05, 0.2):
            options = {"objective": "binary:logistic" if metric == "auc" else "reg:squarederror", "eval_metric": metric, "max_depth": depth, "eta": rate,
                       "subsample": 0.8, "colsample_bytree": 0.8, "tree_method": "hist", "nthread": 1, "seed": 0}
            fitted = xgboost.train(options, inner, 1000, evals=[(judge, "held")], early_stopping_rounds=20, verbose_eval=False)
            value = fitted.best_score if metric == "rmse" else -fitted.best_score
            if best is None or value < best[0]:
                best = (value, options, fitted.best_iteration + 1)
    fitted = xgboost.train(best[1], matrix(train), best[2])
    return fitted.predict(matrix(test)), time.process_time() - start


def splines(train, test, texts, metric):
    """mgcv's bam."""
    names = []
    for part, rows in (("train", train), ("test", test)):
        names.append(os.path.join(Peer.directory.name, part + ".csv"))
        with open(names[-1], "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["outcome"] + ["x%d" % k for k in range(len(texts))])
            for row in rows:
                out.writerow([row[0]] + ["NA" if np.isnan(v) and not t else "level%d" % v if t else repr(float(v)) for v, t in zip(row[2:], texts)])
    said = subprocess.run(IN_PEERS + [os.path.join(datasets.HERE, "peers", "bam.R"), *names, metric], capture_output=True, text=True, check=True).stdout.split()
    return np.array([float(v) for v in said[1:]]), float(said[0])


PEERS = {"HGB": histogram_boosting, "xgboost": extreme_boosting, "bam": splines}


def contenders(session, name, label, excluded, metric):
    """{who: rows of accuracy, CPU seconds of all, CPU seconds of one fit}, a row for each fold, on the same rows."""
    session.run("DROP TABLE IF EXISTS folded")
    session.run("CREATE TABLE folded AS SELECT t.*, (%s) AS outcome, margin_fold((row_number() OVER (ORDER BY md5(t::text)))::int, %d, 7) AS fold FROM %s t WHERE (%s) IS NOT NULL"
                % (label, FOLDS, name, label))
    leave = excluded.split(",") + ["outcome", "fold"]
    found = {kind: ours(session, leave, metric, kind) for kind in ("linear", "bins", "pairs")}
    data, texts = read(session, leave, metric)
    for who, fit in PEERS.items():
        found[who] = []
        for fold in range(1, FOLDS + 1):
            train, test = data[data[:, 1] != fold], data[data[:, 1] == fold]
            predicted, spent = fit(train, test, texts, metric)
            found[who].append((score(metric, test[:, 0], predicted), spent, spent))
    return {who: np.array(values) for who, values in found.items()}


def same_problem(session):
    """The objective of trainings with bins against scikit-learn's pipeline on the same thresholds: KBinsDiscretizer's indicators of bins,
    turned into steps by a change of variables so that the penalty is the same, and LogisticRegression."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import KBinsDiscretizer
    out = Table("additive_objective", "The same problem by KBinsDiscretizer and LogisticRegression",
                "`margin_options(bins => 32, loss => 'logistic', lambda => 1e-3, intercept => 'free', tolerance => 1e-9)` against scikit-learn on the same thresholds: "
                "indicators of bins, as steps by a change of variables (so that jumps are penalised), `LogisticRegression(C=1/(lambda n), solver='newton-cholesky', tol=1e-10)`. "
                "The ratio is the relative difference of the objectives; CPU seconds, theirs without the binning.")
    lam = 1e-3
    for name, columns in (("letter.scale", 16), ("california-housing", 8), ("protein-casp", 9)):
        x, y = datasets.read_libsvm(name, columns)
        x, y = x.dense(), (y <= 13 if name == "letter.scale" else y > np.median(y))
        table = '"%s_classes"' % name
        session.run("DROP TABLE IF EXISTS %s" % table)
        session.run("CREATE TABLE %s (id int, label boolean, %s)" % (table, ", ".join("x%d float8" % (j + 1) for j in range(columns))))
        text = "\n".join("\t".join([str(i), str(bool(y[i])).lower()] + [repr(float(v)) for v in x[i]]) for i in range(len(y)))
        subprocess.run(session.command + ["-c", "COPY %s FROM STDIN" % table], input=text, text=True, check=True)
        options = "margin_options(bins => 32, loss => 'logistic', lambda => %g, intercept => 'free', tolerance => 1e-9, exclude => '{id, label}')" % lam
        session.run("DROP TABLE IF EXISTS one")
        ours = session.run("CREATE TABLE one AS SELECT train_margin(label, t, %s) AS m FROM %s t" % (options, table))["cpu"]
        lower, upper = map(float, session.run("SELECT (m).dual, (m).primal FROM one")["rows"][0])
        columns_of_steps = []
        for j in range(columns):
            above = session.run("SELECT above FROM one, margin_shape(m, 'x%d') WHERE above IS NOT NULL ORDER BY 1" % (j + 1))["rows"]
            edges = np.array([float(v) for (v,) in above])
            # Its fit looks for edges of its own; of these only the transformation counts.
            binner = KBinsDiscretizer(n_bins=len(edges) + 1, encode="onehot-dense", strategy="uniform").fit(x[:, j:j + 1])
            binner.bin_edges_[0] = np.concatenate(([-np.inf], edges, [np.inf]))
            indicators = binner.transform(x[:, j:j + 1])
            columns_of_steps.append(indicators @ np.tril(np.ones((len(edges) + 1, len(edges) + 1)))[:, 1:])
        steps = np.hstack(columns_of_steps)
        start = time.process_time()
        fitted = LogisticRegression(C=1 / (lam * len(y)), solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(steps, y)
        theirs = time.process_time() - start
        margins = np.where(y, 1, -1) * (steps @ fitted.coef_[0] + fitted.intercept_[0])
        objective = np.logaddexp(0, -margins).mean() + lam / 2 * (fitted.coef_ ** 2).sum()
        out.add(name, "%.12g" % upper, "%.12g" % objective, abs(upper - objective) / objective, 1e-6,
                "%d steps; proven at least %.12g; CPU %.3g s against %.3g s" % (steps.shape[1], lower, ours, theirs))
    return out


def large(session):
    """A million rows of twenty columns: CPU seconds of the whole statement, memory, and what a second thread saves."""
    from users import mb, peak_memory
    out = Table("additive_large", "A million rows in bins",
                "1,000,000 x 20, `bins => 64`, loss logistic, lambda 1e-4, penalised intercept, tolerance 1e-3: the whole statement, thresholds and certificate included. "
                "Memory: of the backend beyond the codes (20 bytes a row).")
    if session.value("SELECT to_regclass('million') IS NULL") == "t":
        session.run("CREATE TABLE million AS SELECT i AS id, %s FROM generate_series(1, 1000000) i" % ", ".join(
            "sin(i * %.6f) + cos(i * %.6f) AS x%d" % (12.9898 + 1.37 * j, 0.618 + 0.211 * j, j + 1) for j in range(20)))
        session.run("ALTER TABLE million ADD y boolean")
        session.run("UPDATE million SET y = abs(x1) + x2 * x2 - x3 + sin(3 * x4) + 2 * sin(id * 78.233) > 1")
        session.run("VACUUM (FULL, ANALYZE) million")
    statement = "SELECT (train_margin(y, t, margin_options(bins => 64, loss => 'logistic', lambda => 1e-4, exclude => '{id, y}'))).status FROM million t"
    seen = {}
    for threads in (1, 2):
        session.run("SET margin.threads = %d" % threads)
        seen[threads] = [session.run(statement) for _ in range(3)]
    cpu = min(s["cpu"] for s in seen[1])
    out.add("CPU, one thread", "%.3g s" % cpu, "3 s", cpu / 3, 1, "making the rows as values alone, `count(t)`: %.3g s" % session.run(
        "SELECT count(t) FROM (SELECT t FROM million t OFFSET 0) s")["cpu"])
    walls = [min(s["wall"] for s in seen[threads]) for threads in (1, 2)]
    out.add("wall, two threads", "%.3g s" % walls[1], "%.3g s with one" % walls[0], walls[1] / walls[0], 1 / 1.7)
    most = peak_memory(statement, "SET margin.threads = 1") - 20e6
    out.add("memory beyond the codes", mb(most), "150 MB", most / 150e6, 1)
    return out


def additive(session):
    accuracy = Table("additive", "Additive models against boosting and splines",
                     "Mean over %d folds and its deviation, on the same rows of each. *Ours*: rows with named columns, `bins => true, interactions => 'auto'`, the lambda that "
                     "`margin_cross_validate` chooses on the training rows. *Against*: the best of scikit-learn's HistGradientBoosting (HGB: early stopping, categories as such), "
                     "xgboost (depths 2, 4, 6 and two rates, by a fifth of the training rows, with early stopping) and mgcv's bam (%s; a smooth term for each number). "
                     "AUC: the area under the ROC curve; the ratio is that of what is missing to 1. RMSE: the root of the mean squared error." % (FOLDS, version_of("r-cran-mgcv")))
    cost = Table("additive_time", "What additive models cost",
                 "CPU seconds of a fold's training, means of the runs above: *one fit* at the chosen lambda with the chosen pairs by name, against HGB's fit; the whole *choice* of lambda (9 values) "
                 "and of the number of pairs by cross-validation, with that fit.")
    for name, label, excluded, metric in load(session):
        found = contenders(session, name, label, excluded, metric)
        mean = {who: values.mean(axis=0) for who, values in found.items()}
        told = lambda who: "%.4f ± %.4f" % (mean[who][0], found[who][:, 0].std(ddof=1))
        best = (max if metric == "auc" else min)(PEERS, key=lambda who: mean[who][0])
        ratio = (1 - mean["pairs"][0]) / (1 - mean[best][0]) if metric == "auc" else mean["pairs"][0] / mean[best][0]
        rest = ", ".join("%s %.4f" % (who, mean[who][0]) for who in ("bins", "linear", *PEERS) if who != best)
        title = "%s, %s" % (name.strip('"'), metric.upper())
        accuracy.add(title, told("pairs"), "%s: %s" % (best, told(best)), ratio, None, rest)
        for what, column, bound in (("one fit", 2, 0.5), ("choice", 1, 3)):
            cost.add("%s, %s" % (name.strip('"'), what), "%.3g s" % mean["pairs"][column], "%.3g s" % mean["HGB"][2], mean["pairs"][column] / mean["HGB"][2], bound,
                     "xgboost with its choice %.3g s, bam %.3g s" % (mean["xgboost"][1], mean["bam"][1]) if column == 1 else "bins alone %.3g s" % mean["bins"][2])
    return accuracy, cost, same_problem(session), large(session)

"""The section about additive models (option bins): held-out accuracy against the linear model and against boosting, on real
tables. Registered in run.py."""
import os
import subprocess

import numpy as np

import datasets
from measure import Table
from rows import create, table_of

FOLDS = 5
LAMBDAS = "[0.01, 0.003, 0.001, 0.0003, 0.0001, 3e-5, 1e-5]"
# Of shared/data/tables: the table of load.sql, its label and what is no feature.
CLASSES = {"adult": ("income = '>50K'", "income,id"), "credit": ("defaulted = 1", "defaulted,id"),
           "telco": ("churn = 'Yes'", "churn,customer_id")}
NUMBERS = {"kc": ("ln(price)", "id,price,sale,zipcode"), "hour": ("ln(cnt + 1)", "instant,casual,registered,cnt,dteday")}


def load(session):
    """The tables of load.sql, which psql reads in their folder."""
    folder = os.path.join(datasets.SHARED, "tables")
    subprocess.run(session.command + ["-f", "load.sql"], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def contenders(session, name, label, excluded, metric):
    """What each reaches on the rows of every fold, by the metric: the linear model, the additive one and boosting."""
    loss = "logistic" if metric == "auc" else "squared"
    session.run("DROP TABLE IF EXISTS folded")
    session.run("CREATE TABLE folded AS SELECT t.*, (%s) AS outcome, margin_fold((row_number() OVER (ORDER BY md5(t::text)))::int, %d, 7) AS fold FROM %s t"
                % (label, FOLDS, name))
    leave = ",".join(c for c in excluded.split(",") + ["outcome", "fold"])
    found = {"linear": [], "bins": [], "boosting": []}
    for fold in range(1, FOLDS + 1):
        for kind, more in (("linear", "{}"), ("bins", '{"bins": 64}')):
            given = ("jsonb '{\"loss\": \"%s\", \"missing\": \"impute\", \"unknown_features\": \"reference\", \"max_categories\": 100000}' || '%s' "
                     "|| jsonb_build_object('exclude', string_to_array('%s', ','))" % (loss, more, leave))
            session.run("DROP TABLE IF EXISTS one")
            session.run("CREATE TABLE one AS SELECT (margin_cross_validate(outcome, f, %s || jsonb_build_object('lambdas', jsonb '%s', 'metric', '%s'))).options AS o "
                        "FROM folded f WHERE fold <> %d" % (given, LAMBDAS, "auc" if metric == "auc" else "mse", fold))
            session.run("ALTER TABLE one ADD m margin_model")
            session.run("UPDATE one SET m = (SELECT train_margin(outcome, f, o - 'tolerance') FROM folded f WHERE fold <> %d)" % fold)
            found[kind].append(float(session.value("SELECT %s FROM (SELECT margin_evaluate(m, outcome, f) AS e FROM one, folded f WHERE fold = %d) AS q"
                                                   % ("(e).auc" if metric == "auc" else "sqrt((e).mse)", fold))))
    found["boosting"] = boosting(session, leave.split(","), metric)
    return {kind: np.array(values) for kind, values in found.items()}


def boosting(session, leave, metric):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.metrics import mean_squared_error, roc_auc_score
    names = session.run("SELECT attname, atttypid::regtype, attnum FROM pg_attribute WHERE attrelid = 'folded'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum")["rows"]
    used = [(n, t) for n, t, _ in names if n not in leave]
    columns = ", ".join('"%s"' % n if t not in ("text", "date") else "dense_rank() OVER (ORDER BY %s NULLS LAST) - 1" % n if t == "text"
                        else "%s - date '2000-01-01'" % n for n, t in used)
    rows = session.run("SELECT outcome::%s, fold, %s FROM folded" % ("int" if metric == "auc" else "float8", columns))["rows"]
    data = np.array([[float(v) if v != "" else np.nan for v in row] for row in rows])
    # Beyond 255 values it takes no categories; such a column counts by its order.
    listed = [t == "text" and len(set(data[:, 2 + k])) <= 255 for k, (_, t) in enumerate(used)]
    make = HistGradientBoostingClassifier if metric == "auc" else HistGradientBoostingRegressor
    out = []
    for fold in range(1, FOLDS + 1):
        train, test = data[data[:, 1] != fold], data[data[:, 1] == fold]
        fitted = make(categorical_features=listed, early_stopping=True, random_state=0).fit(train[:, 2:], train[:, 0])
        out.append(roc_auc_score(test[:, 0], fitted.predict_proba(test[:, 2:])[:, 1]) if metric == "auc"
                   else mean_squared_error(test[:, 0], fitted.predict(test[:, 2:])) ** 0.5)
    return out


def accuracy(session):
    out = Table("additive", "Additive models against boosting",
                "Mean over %d folds and its deviation, on the same rows of each: the linear model of rows with named columns, the same with `bins => 64`, both "
                "with the lambda that `margin_cross_validate` chooses on the training rows, and scikit-learn's HistGradientBoosting (early stopping, categories as "
                "such). Classes: area under the ROC curve; the ratio is that of what is missing to 1. Numbers: root of the mean squared error. Pairs of columns, which "
                "boosting has, are not asked for." % FOLDS)
    load(session)
    jobs = [(n, *v, "auc") for n, v in CLASSES.items()] + [(n, *v, "rmse") for n, v in NUMBERS.items()]
    for name in ("abalone", "winequality", "german.numer"):
        create(session, *table_of(name))
        session.run('CREATE TABLE "%s" AS SELECT * FROM mixed' % name)
        jobs.append(('"%s"' % name, "label", "id,label", "auc"))
    for name, label, excluded, metric in jobs:
        found = contenders(session, name, label, excluded, metric)
        mean = {kind: values.mean() for kind, values in found.items()}
        told = lambda kind: "%.4f ± %.4f" % (mean[kind], found[kind].std(ddof=1))
        ratio = (1 - mean["bins"]) / (1 - mean["boosting"]) if metric == "auc" else mean["bins"] / mean["boosting"]
        out.add("%s, %s" % (name.strip('"'), metric), told("bins"), told("boosting"), ratio, None, "linear %s" % told("linear"))
    return out

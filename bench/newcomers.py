"""Section about the first steps of a new user, where 0.1.0 was slow or silently bad: far targets, hashed columns of the
default width, warm starts, first calls without options, several models in one query. Registered in run.py."""
import datasets
from measure import Peer, Table, interleave, seconds

# 20,000 customers with 9 ordinary columns, 3 of them categories; the label depends on five of them and on noise.
CHURN = """
CREATE TABLE churn_columns AS
SELECT i AS id, 18 + i * 7919 % 60 AS age, (i * 104729 % 10007) / 100.0 AS balance, i * 31 % 400 AS calls,
       (i * 6151 % 997) / 997.0 AS share, i * 17 % 2 = 0 AS partner, i * 193 % 1009 + 0.5 AS minutes,
       (ARRAY['north', 'south', 'east', 'west'])[1 + i * 13 % 4] AS region,
       (ARRAY['basic', 'plus', 'pro'])[1 + i * 29 % 3] AS plan, (ARRAY['web', 'shop', 'phone'])[1 + i * 41 % 3] AS channel
  FROM generate_series(1, 20000) i"""
CHURN_LABEL = """balance / 40 + share * 3 - age / 30.0 + (plan = 'pro')::int * 2 - (region = 'east')::int
                 + sin(id * 12.9898) * 1.5 > 1"""
COLUMNS = "age, balance, calls, share, partner, minutes, region, plan, channel"

FAR = """
CREATE TABLE far AS
SELECT x, 1e6 + 1e5 * x[1] - 5e4 * x[2] + 1e4 * ((i * 15485863 % 10007) / 10007.0 - 0.5) AS y
  FROM (SELECT i, ARRAY[(i * 7919 % 2003) / 2003.0, (i * 104729 % 1999) / 1999.0]::float8[] AS x FROM generate_series(1::bigint, 2000) i) t"""


def milliseconds(result):
    return "%.3g ms" % (1000 * result["cpu"])


def newcomers(session, train, options, repetitions):
    out = Table("newcomers", "First steps",
                "What a new user runs first. Whole SQL statements unless the row says otherwise. *churn*: 20,000 rows of nine ordinary columns, "
                "three of them categories, through `margin_features` (262,151 dimensions, 16 in use) against `margin_hashed_features(256, ...)`. "
                "*documents*: 5,000 x 4,000 sparse rows of a word and a length that is not scaled, 54 classes, lambda = 1e-3; LIBLINEAR's "
                "`train()` alone with the same C, its default eps. *far*: 2,000 rows, targets around a million, `standardize => true`. "
                "Rows of 1 - R2 have no second contender: the figure is 1 - R2 itself. Rows of milliseconds: the figure is milliseconds.")

    session.run(FAR)
    for loss in ("squared", "huber", "absolute"):
        for penalty in (0.1, 1e-4, 1e-6):
            answer = session.run(
                "SELECT (margin_evaluate(m, y, x)).r2 FROM far, (SELECT train_margin(y, x, %s) AS m FROM far) s"
                % options(**{"lambda": penalty}, loss=loss, standardize=True))
            left = 1 - float(answer["rows"][-1][0])
            out.add("far, %s, lambda = %g: 1 - R2" % (loss, penalty), "%.2g" % left, "", left, 0.01)

    session.run(CHURN)
    for width, call in (("wide", "margin_features("), ("narrow", "margin_hashed_features(256, ")):
        session.run("CREATE TABLE churn_%s AS SELECT id, %s AS y, %s%s) AS x FROM churn_columns ORDER BY id"
                    % (width, CHURN_LABEL, call, COLUMNS))
    for what in ({"loss": "logistic", "lambda": 1e-4}, {"loss": "hinge", "lambda": 1e-4},
                 {"loss": "logistic", "lambda": 1e-6, "standardize": True}):
        seen = interleave({width: train(session, "churn_" + width, **what) for width in ("wide", "narrow")}, repetitions)
        out.compare("churn, default width, %s" % ", ".join("%s %s" % item for item in what.items()), seen["wide"], seen["narrow"], 3,
                    "%(status)s, %(solver)s" % seen["wide"]["last"])

    session.load("documents", "documents", sparse=True)
    rows = datasets.load("documents")[0].shape[0]
    peer = Peer("liblinear", "documents")
    for loss, solver in (("logistic", 0), ("squared_hinge", 2), ("hinge", None)):
        work = {"ours": train(session, "documents", **{"lambda": 1e-3}, loss=loss)}
        if solver is not None:
            work["peer"] = lambda solver=solver: peer.ask("%d %.17g 0.01 1" % (solver, 1 / (1e-3 * rows)))
        seen = interleave(work, repetitions)
        remark = "%(status)s, %(solver)s" % seen["ours"]["last"]
        if "peer" in seen:
            out.compare("documents, %s, against -s %d" % (loss, solver), seen["ours"], seen["peer"], 3 if loss == "logistic" else None, remark)
        else:
            out.add("documents, %s" % loss, seconds(seen["ours"]), "", seen["ours"]["cpu"], None, remark + "; seconds, LIBLINEAR's -s 3 does not converge")
    peer.close()
    session.run("CREATE TABLE wide_documents AS SELECT id, y, margin_features('word ' || split_part(substr(x::text, 2), ':', 1), "
                "split_part(split_part(x::text, '4000:', 2), '}', 1)::float8) AS x FROM documents")
    session.run("CREATE TABLE document_models AS SELECT train_margin(y, x, %s) AS model FROM wide_documents"
                % options(**{"lambda": 1e-3}, loss="logistic"))
    seen = interleave({"one row": lambda: session.run("SELECT margin_predict(model, x) FROM document_models, wide_documents WHERE id = 7")},
                      repetitions)["one row"]
    width = session.value("SELECT (model).dimensions || ' dimensions, ' || cardinality((model).classes) || ' classes' FROM document_models")
    out.add("predict one row: milliseconds", milliseconds(seen), "", 1000 * seen["cpu"], 5, width)

    session.run("CREATE TABLE warm AS SELECT i AS id, i % 2 = 0 AS y, ARRAY(SELECT ((i * 7919 + g * 104729) % 10007 / 10007.0 + i % 2 * 0.05)::real "
                "FROM generate_series(1, 50) g) AS x FROM generate_series(1, 50000) i")
    call = options(**{"lambda": 1e-4}, loss="logistic")
    session.run("CREATE TABLE before AS SELECT train_margin(y, x, %s) AS model FROM warm" % call)
    warm = call[:-1] + ", initial => model)"
    seen = interleave({
        "joined": lambda: session.run("SELECT (train_margin(y, x, %s)).iterations FROM warm, before" % warm),
        "scalar": lambda: session.run("SELECT (train_margin(y, x, (SELECT %s FROM before))).iterations FROM warm" % warm),
        "cold": lambda: session.run("SELECT (train_margin(y, x, %s)).iterations FROM warm" % call)}, repetitions)
    out.compare("warm start against cold, as documented", seen["scalar"], seen["cold"], 0.5)
    out.compare("warm start against cold, the model joined", seen["joined"], seen["cold"], None, "not as documented")

    for table in ("noise_300k", "mnist_3v5"):
        session.load(table, "halves:300000:5:1" if table == "noise_300k" else table)
        soft = options(**{"lambda": 1e-4}, loss="logistic")
        seen = interleave({
            "first": lambda: session.run("SELECT (train_margin(y, x)).status FROM %s" % table),
            "soft": lambda: session.run("SELECT (train_margin(y, x, %s)).status FROM %s" % (soft, table))}, repetitions)
        out.compare("%s without options against a soft fit" % table, seen["first"], seen["soft"], 5, seen["first"]["last"]["rows"][-1][0])

    session.load("mnist_10k_halves", "mnist_10k_halves")
    tolerances = (0.1, 0.01, 1e-3, 1e-4)
    seen = interleave({t: train(session, "mnist_10k_halves", **{"lambda": 1e-4}, loss="squared_hinge", tolerance=t) for t in tolerances}, repetitions)
    for loose, tight in zip(tolerances, tolerances[1:]):
        out.compare("mnist_10k_halves, squared_hinge: tolerance %g against %g" % (loose, tight), seen[loose], seen[tight], 1.1,
                    seen[loose]["last"]["solver"])

    session.run("CREATE TABLE versions AS SELECT k, train_margin(y, x, margin_options(lambda => 10.0 ^ -k, loss => 'logistic')) AS model "
                "FROM warm, generate_series(3, 4) k GROUP BY k")
    score = "SELECT sum(margin_score(model, x)) FROM warm, versions WHERE k %s 4"
    session.run("SET jit = off")  # it would compile the longer query only, and take longer than the rest
    seen = interleave({"two": lambda: session.run(score % "<="), "one": lambda: session.run(score % "=")}, repetitions)
    out.compare("two models in one query against one (2 if all is equal)", seen["two"], seen["one"], 3, "jit off")
    session.run("RESET jit")
    return out

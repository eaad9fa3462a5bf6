"""Sections about many rows by models of a table, and about many trainings in one statement. Registered in run.py."""
import os

from measure import Table, interleave
from users import mb, peak_memory

GROUPS = int(float(os.environ.get("MARGIN_GROUPS", "1e6")))


def scoring(session, repetitions):
    """Predictions as users write them, and of embeddings."""
    out = Table("scoring", "Scoring a table",
                "`SELECT sum(margin_score(model, x)) FROM t, models` with models in a table that was just made and has no statistics, against the model as a "
                "sub-select, `(SELECT model FROM models)`; in a new session with the server's default settings. 20 models beside each row against as many scores by 2. "
                "And of 100,000 embeddings, 768 `real[]` that the server keeps in a toast table, against `SELECT sum(x[768])`.")
    session.run("SET jit = on")
    run = lambda statement: lambda: session.run(statement)
    session.run("SELECT setseed(0.5)")
    session.run("CREATE TABLE sc_rows AS SELECT i AS id, i % 2 AS y, ARRAY(SELECT random() + 0 * i FROM generate_series(1, 50))::real[] AS x "
                "FROM generate_series(1, 100000) i")
    session.run("VACUUM ANALYZE sc_rows")
    session.run("CREATE TABLE sc_models AS SELECT train_margin(y, x, '{\"lambda\": 0.01}') AS model FROM sc_rows")
    for call in ("sum(margin_score(%s, x))", "count(margin_predict(%s, x))"):
        seen = interleave({"join": run("SELECT %s FROM sc_rows, sc_models" % (call % "model")),
                           "select": run("SELECT %s FROM sc_rows" % (call % "(SELECT model FROM sc_models)"))}, 3 * repetitions)
        out.compare("100,000 x 50, " + call % "model", seen["join"], seen["select"], 1.5)
    session.run("CREATE TABLE sc_family AS SELECT k, train_margin((id + k) % 2, x, '{\"lambda\": 0.01, \"max_iterations\": 5}') AS model "
                "FROM sc_rows, generate_series(1, 20) k WHERE id <= 200 GROUP BY k")
    seen = interleave({models: run("SELECT sum(margin_score(model, x)) FROM sc_rows, sc_family WHERE k <= %d AND id <= %d" % (models, 100000 // models))
                       for models in (20, 2)}, 3 * repetitions)
    out.compare("100,000 scores of 50 features, 20 models in turn against 2", seen[20], seen[2], 1.5)
    session.run("CREATE TABLE sc_wide AS SELECT i AS id, i % 2 AS y, ARRAY(SELECT random() - 0.5 + 0 * i FROM generate_series(1, 768))::real[] AS x "
                "FROM generate_series(1, 100000) i")
    session.run("VACUUM ANALYZE sc_wide")
    session.run("CREATE TABLE sc_wide_models AS SELECT train_margin(y, x, '{\"lambda\": 0.01}') AS model FROM sc_wide WHERE id <= 3000")
    seen = interleave({"join": run("SELECT sum(margin_score(model, x)) FROM sc_wide, sc_wide_models"),
                       "select": run("SELECT sum(margin_score((SELECT model FROM sc_wide_models), x)) FROM sc_wide"),
                       "scan": run("SELECT sum(x[768]) FROM sc_wide")}, repetitions)
    out.compare("100,000 x 768 against sum(x[768]), model joined", seen["join"], seen["scan"], 1.2)
    out.compare("100,000 x 768 against sum(x[768]), model as a sub-select", seen["select"], seen["scan"], 1.2)
    session.run("DROP TABLE sc_rows, sc_models, sc_family, sc_wide, sc_wide_models")
    return out


def groups(session, repetitions):
    """A training for each of a million groups."""
    out = Table("groups", "A training for each group",
                "`SELECT g, train_margin(y, x [, options]) FROM t GROUP BY g` with %s groups of 20 rows of 10 features (generated, with noise in the labels, both labels in each group), rows sorted "
                "by the server or read in order through an index. Ours, ratio: CPU seconds; against: `sum(x[1])` of the same groups. Memory: the most anonymous "
                "memory of the backend, for all groups and for a tenth of them; bound: 1.5 times, as `work_mem` of the sort is in it. The last row: a tenth of the "
                "groups, in one piece of memory each (`solvers/l2_margin/few_rows.hpp`) against the way of any number of rows, which an option `max_seconds` asks for." % "{:,}".format(GROUPS))
    session.run("SELECT setseed(0.5)")
    session.run("CREATE TABLE gr_rows AS SELECT g, CASE k WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE (2 * x[1] + x[2] + x[3] + 0.5 * random() > 2.25)::int END AS y, x FROM (SELECT i / 20 AS g, i %% 20 AS k, "
                "ARRAY[random(), random(), random(), random(), random(), random(), random(), random(), random(), random()]::real[] AS x "
                "FROM generate_series(0, %d) i OFFSET 0) t" % (20 * GROUPS - 1))
    session.run("CREATE INDEX ON gr_rows (g)")
    session.run("VACUUM ANALYZE gr_rows")
    session.run("SET client_min_messages = error")
    inner = "SELECT count(m) FROM (SELECT g, %s AS m FROM gr_rows%s GROUP BY g OFFSET 0) t"
    bound = 25.0 * GROUPS / 1e6
    some = " WHERE g < %d" % (GROUPS // 10)
    for plan, setting in (("index", "enable_sort = off"), ("sort", "enable_indexscan = off")):
        session.run("SET " + setting)
        for options in ("", ", '{\"lambda\": 0.01}'"):
            trained = "train_margin(y, x%s)" % options
            statement = inner % (trained, "")
            seen = interleave({"ours": lambda: session.run(statement), "scan": lambda: session.run(inner % ("sum(x[1])", ""))}, repetitions)
            out.add("%s, by %s" % (trained, plan), "%.3g s" % seen["ours"]["cpu"], "%.3g s" % seen["scan"]["cpu"], seen["ours"]["cpu"], None if options else bound)
            prepare = "SET client_min_messages = error; SET " + setting
            most, least = peak_memory(statement, prepare), peak_memory(inner % (trained, some), prepare)
            out.add("%s, by %s: memory" % (trained, plan), mb(most), mb(least), most / max(least, 1), 1.5)
        session.run("RESET " + setting.split()[0])
    session.run("SET enable_sort = off")
    way = lambda limits: lambda: session.run(inner % ("train_margin(y, x, '{%s}')" % limits, some))
    seen = interleave({"few": way('"max_iterations": 1000'), "any": way('"max_seconds": 1000')}, 3 * repetitions)
    out.compare("train_margin, in one piece of memory", seen["few"], seen["any"], 0.8)
    session.run("RESET enable_sort")
    session.run("DROP TABLE gr_rows")
    return out

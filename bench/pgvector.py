"""The section about pgvector's columns beside arrays, where pgvector is installed. Registered in run.py."""
from measure import Table, interleave

TYPES = (("vector", "v"), ("halfvec", "h"))
SETTING = '{"lambda": 1e-3, "solver": "sdca", "max_iterations": 10, "tolerance": 1e-12}'


def columns(session, repetitions, rows=3000, width=784):
    """None where the server has no pgvector."""
    if session.value("SELECT count(*) FROM pg_available_extension_versions WHERE name = 'vector' AND version >= '0.7'") == "0":
        return None
    out = Table("pgvector", "Columns of pgvector",
                "{:,} rows of {} columns in a `vector` and a `halfvec` column, against the same numbers as `real[]`: reading the rows, "
                "`margin_score` of all of them, and ten epochs of `sdca`. The server compresses an array of this size where it can, and keeps a "
                "`vector` as it is, which is larger and read faster.".format(rows, width))
    session.run("CREATE EXTENSION IF NOT EXISTS vector")
    session.run("SELECT setseed(0.5)")
    # Three values in four are 0, as the pixels of a picture are.
    session.run("CREATE TABLE pv_arrays AS SELECT id, id %% 2 = 0 AS y, x FROM (SELECT id, array_agg((CASE WHEN (id * 7 + j) %% 100 < 75 THEN 0 ELSE "
                "random() + (id %% 2) * (j %% 2) / 10.0 END)::real ORDER BY j) AS x FROM generate_series(1, %d) AS id, generate_series(1, %d) AS j GROUP BY id) AS t"
                % (rows, width))
    for name, column in TYPES:
        session.run("CREATE TABLE pv_%s AS SELECT id, y, x::vector(%d)::%s(%d) AS x FROM pv_arrays" % (name, width, name, width))
    session.run("CREATE TABLE pv_models AS SELECT train_margin(y, x, '{\"lambda\": 1e-3}' ORDER BY id) AS m FROM pv_arrays")
    session.run("VACUUM ANALYZE pv_arrays, pv_vector, pv_halfvec, pv_models")
    run = lambda statement: lambda: session.run(statement)
    tables = ("arrays", "vector", "halfvec")
    size = {t: int(session.value("SELECT pg_total_relation_size('pv_%s')" % t)) / 1e6 for t in tables}
    for what, statement in (("reading (margin_finite)", "SELECT count(*) FILTER (WHERE margin_finite(x)) FROM pv_%s"),
                            ("margin_score", "SELECT sum(margin_score((SELECT m FROM pv_models), x)) FROM pv_%s"),
                            ("training", "SELECT (train_margin(y, x, '" + SETTING + "')).primal FROM pv_%s")):
        seen = interleave({t: run(statement % t) for t in tables}, 2 * repetitions)
        for t in tables[1:]:
            out.compare("%s, %s" % (what, t), seen[t], seen["arrays"], 1.1, "table of %.3g MB, %.3g MB as arrays" % (size[t], size["arrays"]))
    session.run("DROP TABLE pv_arrays, pv_vector, pv_halfvec, pv_models")
    return out

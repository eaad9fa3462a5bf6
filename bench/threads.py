"""The section about threads: one against two. Registered in run.py."""
from measure import Table, interleave
from statements import options

# All that is computed; a model's seconds are not.
BITS = ("md5(concat_ws('|', (m).status, (m).solver, (m).classes::text, (m).weights::text, (m).intercept::text, "
        "(m).margin_lower::text, (m).margin_upper::text, (m).primal::text, (m).dual::text, (m).iterations::text, (m).support::text))")

# 100,000 x 784: windows of random sequences; a label with noise.
WIDE = """
CREATE UNLOGGED TABLE threads_wide (y int, x real[]);
ALTER TABLE threads_wide ALTER x SET STORAGE PLAIN; -- no attempts to compress random numbers
INSERT INTO threads_wide
SELECT ((hashint4(id) % 10 < 2) <> (x[2] + x[3] + x[4] > 0))::int, x
  FROM (SELECT id, v[1 + id / 1000 : 784 + id / 1000] AS x FROM threads_noise, generate_series(0, 99999) AS id WHERE k = id % 1000 OFFSET 0) AS s
"""

NOISE = """
CREATE UNLOGGED TABLE threads_noise AS
SELECT k, array_agg((sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))::real) AS v
  FROM generate_series(0, 999) AS k, generate_series(1, 884) GROUP BY k
"""

# What, table, data set, whether reading the rows dominates the statement, options.
TRAININGS = (
    ("cutting_plane, MNIST 0 v 1", "mnist_0v1", "mnist_0v1", True, {"tolerance": 1e-6}),
    ("newton, 500,000 x 54, logistic", "covtype_like", "covtype_like", False, {"solver": "newton", "loss": "logistic", "lambda": 1e-4}),
    ("newton, 500,000 x 54, hinge", "covtype_like", "covtype_like", False, {"solver": "newton", "lambda": 1e-4}),
    ("newton, 100,000 x 784, logistic", "threads_wide", None, False, {"solver": "newton", "loss": "logistic", "lambda": 1e-4}),
    ("joint, MNIST, ten digits, logistic", "mnist_10k", "mnist_10k", False,
     {"multiclass": "joint", "loss": "logistic", "lambda": 1e-3, "tolerance": 1e-4}),
    ("smo, MNIST 6 v 7, rbf", "mnist_6v7", "mnist_6v7", False, {"kernel": "rbf", "gamma": 0.02, "lambda": 1e-5}),
    ("l1 margin, MNIST 0 v 1", "mnist_0v1", "mnist_0v1", False, {"norm": 1.0}),
    ("momentum, MNIST 0 v 1, 200 passes", "mnist_0v1", "mnist_0v1", False, {"solver": "momentum", "max_iterations": 200, "tolerance": 1e-9}),
    ("stumps, ijcnn1", "ijcnn1", "ijcnn1", False, {"norm": 1.0, "learners": "stumps", "solver": "boosting", "max_iterations": 200}),
)
SELECTION = ("cross-validation, 10 x 5, covtype.20k", "covtype_20k", "covtype.20k",
             '{"lambdas": [1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6], "folds": 5, "loss": "%s", "solver": "newton"}')


def contender(session, threads, statement):
    def work():
        session.run("SET margin.threads = %d" % threads)
        return session.run(statement)

    return work


def compare(out, what, seen, bound):
    """Wall seconds, since it is them that threads are for; `bound` is of one thread's over two's."""
    one, two = seen["1"], seen["2"]
    same = one["last"]["rows"][-1][0] == two["last"]["rows"][-1][0]
    out.add(what, "%.3g s" % two["wall"], "%.3g s" % one["wall"], two["wall"] / one["wall"], 1 / bound,
            "%.2f x, wanted %g x; %s" % (one["wall"] / two["wall"], bound, "same bits" if same else "**other bits**"))


def threads(session, repetitions):
    out = Table("threads", "Two threads",
                "`margin.threads` = 2 against 1, interleaved: wall seconds of whole SQL statements, and of the solver with its certificate as "
                "the model tells them. The bound is 1/1.7, of statements that mostly read their rows 1/1.4. The bits are all of the model's "
                "but its seconds. *The most while one process reads*: what is left were the solver and the certificate to take half of their time.")
    if session.value("SELECT to_regclass('threads_wide') IS NULL") == "t":
        session.run("SELECT setseed(0.25)")
        session.run(NOISE)
        session.run("ANALYZE threads_noise")
        session.run(WIDE)
        session.run("VACUUM ANALYZE threads_wide")
    for what, table, name, reading, named in TRAININGS:
        if name:
            session.load(table, name)
        statement = "SELECT %s, (m).seconds FROM (SELECT train_margin(y, x, %s) AS m FROM %s OFFSET 0) t" % (BITS, options(**named), table)
        solved = {"1": [], "2": []}

        def noted(threads, statement=statement, solved=solved):
            run = contender(session, int(threads), statement)

            def work():
                answer = run()
                solved[threads].append(float(answer["rows"][-1][1]))
                return answer
            return work

        seen = interleave({n: noted(n) for n in ("1", "2")}, repetitions)
        compare(out, what, seen, 1.4 if reading else 1.7)
        whole, alone = seen["1"]["wall"], min(solved["1"])
        reading_alone = min(session.run("SELECT count(x[1]) FROM %s" % table)["wall"] for _ in range(repetitions))
        for n in ("1", "2"):
            seen[n]["wall"] = min(solved[n])
        compare(out, "... its solver and certificate", seen, 1.7)
        out.add("... the most while one process reads", "%.3g s" % (whole - alone / 2), "%.3g s" % whole, (whole - alone / 2) / whole, None,
                "%.2f x; count(x[1]) takes %.3g s, reading %.3g s" % (whole / (whole - alone / 2), reading_alone, whole - alone))
    what, table, name, settings = SELECTION
    session.load(table, name)
    for loss in ("hinge", "logistic"):
        statement = "SELECT md5((to_jsonb(s) - 'seconds')::text) FROM (SELECT margin_cross_validate(y, x, '%s') AS s FROM %s OFFSET 0) t" % (settings % loss, table)
        compare(out, "%s, %s" % (what, loss), interleave({n: contender(session, int(n), statement) for n in ("1", "2")}, repetitions), 1.7)
    session.run("RESET margin.threads")
    return out

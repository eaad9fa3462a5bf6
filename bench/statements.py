"""Our statements of the benchmarks that bench/against.sh times too, and how a statement is put together."""
import datasets


def table_name(name):
    return "".join(c if c.isalnum() else "_" for c in name)


def options(**named):
    def literal(v):
        return ("true" if v else "false") if isinstance(v, bool) else repr(v) if not isinstance(v, str) else "'%s'" % v

    return "margin_options(%s)" % ", ".join("%s => %s" % (k, literal(v)) for k, v in named.items())


FIELDS = "status, solver, iterations, margin_lower, margin_upper, primal, dual, gap, seconds, support"


def train(session, table, **named):
    """A function that runs one whole training statement and adds the model's own fields to the measurement."""
    # Not (train_margin(...)).*, which the parser writes out as a call for each of the model's attributes: half a millisecond.
    fields = ", ".join("(m)." + field for field in FIELDS.split(", "))
    statement = "SELECT %s FROM (SELECT train_margin(y, x, %s) AS m FROM %s OFFSET 0) t" % (fields, options(**named), table)

    def work():
        result = session.run(statement)
        for name, text in zip(FIELDS.split(", "), result["rows"][-1]):
            result[name] = text if name in ("status", "solver") else float(text) if text else None
        return result

    return work


def width_of(name):
    return datasets.load(name)[0].shape[1]


# max_margin, loading
SPEED_SETS = ("mnist_0v1", "mnist_6v7", "mushrooms", "gisette_scale.t", "basehock")
MAX_MARGIN = dict(tolerance=1e-6)

# soft_margin: set, LIBLINEAR's C, loss, LIBLINEAR's solvers, (relative gap, bound of the ratio, bound in seconds)
SOFT_MARGIN = (
    ("covtype_like", 1.0, "hinge", (3,), ((1e-3, 0.3, None), (1e-6, None, 1.0))),
    ("covtype_like", 1.0, "logistic", (0, 7), ((1e-3, 0.3, None), (1e-6, 0.3, None))),
    ("gaussian_noise", 1 / 100.0, "hinge", (3,), ((1e-6, None, 0.5),)),
    ("gaussian_noise", 1 / 0.01, "hinge", (3,), ((1e-6, None, 3.0),)),
    ("mnist_10k_halves", 1.0, "hinge", (3,), ((1e-6, None, 1.0),)),
)

# sparse: text_like
TEXT_ROWS, TEXT_COSTS, TEXT_GAPS = 100_000, (1.0, 100.0), (1e-3, 1e-6)

# kernel_machines
KERNEL_SETS, KERNEL_COSTS = ("splice", "digits_8", "satimage_4", "mnist_6v7", "ijcnn1_10k"), (1.0, 1e6)

# predict: name of the model, table
PREDICTORS = (("cov", "covtype_like"), ("rcv1", "rcv1"))
PREDICT_CALLS = ("margin_predict(model, x)", "margin_predict(model, x, NULL::int)", "margin_score(model, x)")


def liblinear_problem(c, rows, loss, gap):
    """LIBLINEAR's objective divided by C n, no intercept."""
    return {"lambda": 1 / (c * rows), "loss": loss, "intercept": False, "tolerance": gap}


def libsvm_problem(c, rows, width):
    """LIBSVM's objective divided by C n; gamma is 1/d, as LIBSVM has it by default."""
    return {"lambda": 1 / (c * rows), "kernel": "rbf", "gamma": 1 / width, "tolerance": 1e-6}


def train_predictors(session):
    session.load("covtype_like", "covtype_like")
    session.load("rcv1", "rcv1_small")
    session.run("CREATE TABLE IF NOT EXISTS models (name text, model margin_model)")
    session.run("TRUNCATE models")
    session.run("INSERT INTO models SELECT 'cov', train_margin(y, x, %s) FROM covtype_like WHERE id < 2000"
                % options(solver="momentum", max_iterations=20))
    session.run("INSERT INTO models SELECT 'rcv1', train_margin(y, x) FROM rcv1")
    session.run("ANALYZE models")  # unanalysed, its size is overestimated and every query compiled by JIT


def predict_all(session, call, name, table):
    return lambda: session.run("SELECT count(%s) FROM %s, models WHERE name = '%s'" % (call, table, name))

"""The sections of docs/benchmarks/; run through run.sh, which starts the cluster. A section = one function."""
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile

import additive as additive_models
import batches
import constraints as under_constraints
import datasets
import kernel_machines as machines
import l1
import many_rows as kernels_of_many_rows
import newcomers as first_steps
import pgvector as vector_columns
import regret as choice_of_solver
import rows as named_columns
import small_lambda as over_lambda
import spill as beyond_memory
import threads as several_threads
import users
from measure import IN_PEERS, Peer, Session, Table, interleave, liblinear_version, libsvm_version, rehline_version, seconds, version_of, write
from statements import (MAX_MARGIN, PREDICT_CALLS, PREDICTORS, SOFT_MARGIN, SPEED_SETS, TEXT_COSTS, TEXT_GAPS, TEXT_ROWS, liblinear_problem, options,
                        predict_all, table_name, train, train_predictors, width_of)

REPETITIONS = int(os.environ.get("MARGIN_REPETITIONS", "3"))


def relative(model):
    return (model["margin_upper"] - model["margin_lower"]) / model["margin_upper"]


# Hard margin -----------------------------------------------------------------------------------------------------

def max_margin(session):
    """The whole SQL statement against LIBSVM's solver alone and against the cheapest scan of the same rows."""
    out = Table("max_margin", "Certified max margin, whole SQL statement",
                "`SELECT train_margin(y, x, margin_options(tolerance => 1e-6))`, real[] rows, with intercept; against LIBSVM's "
                "`svm_train` alone (linear kernel, C = 1e9, eps = 1e-5, 2 GB cache, rows already in memory) and against "
                "`SELECT sum(x[d])` over the same table. The gap is (upper - lower)/upper of what each proves.")
    for name in SPEED_SETS:
        table, peer = table_name(name), Peer("libsvm", name)
        session.load(table, name)
        seen = interleave({"ours": train(session, table, **MAX_MARGIN),
                           "scan": lambda: session.run("SELECT sum(x[%d]) FROM %s" % (width_of(name), table)),
                           "libsvm": lambda: peer.ask("1e9 1e-5")}, REPETITIONS)
        peer.close()
        model, other = seen["ours"]["last"], seen["libsvm"]["last"]
        remark = "%s, gap %.1e, margin %.9g; LIBSVM gap %.1e, margin %.9g" % (
            model["status"], relative(model), model["margin_lower"],
            (other["upper"] - other["lower"]) / other["upper"], other["lower"])
        out.compare(name + " against svm_train", seen["ours"], seen["libsvm"], 0.25, remark)
        out.compare(name + " against sum(x[d])", seen["ours"], seen["scan"], 3 if name == "mnist_0v1" else None,
                    "solver and certificate %.3g s" % model["seconds"])
    return out


def loading(session):
    """What it costs to bring the rows into the solver."""
    out = Table("loading", "Rows into the solver",
                "A training of one iteration, less the least seconds that its model says solver and certificate took, against "
                "`SELECT sum(x[d])`.")
    for name in SPEED_SETS:
        table, solved = table_name(name), []
        session.load(table, name)
        work = train(session, table, max_iterations=1, solver="momentum")

        def one_iteration():
            result = work()
            solved.append(result["seconds"])
            return result

        seen = interleave({"ours": one_iteration,
                           "scan": lambda: session.run("SELECT sum(x[%d]) FROM %s" % (width_of(name), table))},
                          2 * REPETITIONS)
        for clock in ("wall", "cpu", "median"):
            seen["ours"][clock] -= min(solved)
        out.compare(name, seen["ours"], seen["scan"], 1.5 if name == "mnist_0v1" else None,
                    "solver and certificate %.3g ms" % (1000 * min(solved)))
    return out


def momentum(session):
    """One iteration of the paper's Algorithm 1 against one pass over the packed rows at memory speed."""
    out = Table("momentum", "Algorithm 1: the cost of an iteration, and how far 1,000 of them get",
                "A training of 1,000 iterations less one of 100, divided by 900, against the fastest of 20 sequential reads of as many bytes "
                "as the packed rows have (4 bytes a value), measured between the trainings. gisette has five times as many features as "
                "rows: after 125 iterations the products of all rows with each other are computed, a cost that these 900 iterations "
                "bear, and the vectors go on as combinations of rows.")
    memory = Peer("bandwidth")
    for name in ("mnist_0v1", "gisette_scale.t"):
        table = table_name(name)
        session.load(table, name)
        rows, width = datasets.load(name)[0].shape
        seen = interleave({
            "long": train(session, table, solver="momentum", max_iterations=1000, tolerance=1e-9),
            "short": train(session, table, solver="momentum", max_iterations=100, tolerance=1e-9),
            "memory": lambda: memory.ask(str(rows * width * 4))}, REPETITIONS)
        model = seen["long"]["last"]
        iteration = {clock: (seen["long"][clock] - seen["short"][clock]) / 900 for clock in ("wall", "cpu", "median")}
        out.compare(name + ", one iteration", iteration, seen["memory"], 1.3,
                    "memory %.3g GB/s" % (rows * width * 4 / seen["memory"]["cpu"] / 1e9))
        if name == "mnist_0v1":
            out.add(name + ", interval after 1,000 iterations", "%.3g" % relative(model), "1 %", relative(model), 0.01,
                    "[%.6g, %.6g]" % (model["margin_lower"], model["margin_upper"]))
    memory.close()
    return out


def predict(session):
    """Scoring a table against reading it."""
    out = Table("predict", "Predicting",
                "`SELECT count(margin_predict(model, x))` and `margin_score` with the model in a table, against "
                "`SELECT sum(x[1])` over the same rows. A 47,236-feature model weighs 378 kB: decoding it for every row would show.")
    train_predictors(session)
    for name, table in PREDICTORS:
        work = {"scan": lambda: session.run("SELECT sum(x[1]) FROM " + table)}
        for call in PREDICT_CALLS:
            work[call] = predict_all(session, call, name, table)
        seen = interleave(work, REPETITIONS)
        for call in list(work)[1:]:
            out.compare("%s, d = %s" % (call, "54" if name == "cov" else "47,236"), seen[call], seen["scan"], 2)
    return out


def test_error(session):
    """MNIST 3 against 5 is not separable: what the solvers' weights are worth on the test part."""
    out = Table("test_error", "Not separable: MNIST 3 against 5",
                "Trained on MNIST train, at most 2,000 iterations (cutting_plane: until it has its proof); error on MNIST test. No "
                "bound: the paper's Figure 2 shows errors of this size.")
    session.load("mnist_3v5", "mnist_3v5")
    session.load("mnist_3v5_test", "mnist_3v5_test")
    for row in session.run("SELECT name FROM margin_solvers() WHERE problem = 'hard margin'")["rows"]:
        solver = row[0]
        limit = {} if solver == "cutting_plane" else {"max_iterations": 2000}
        session.run("CREATE TEMP TABLE fitted AS SELECT train_margin(y, x, %s) AS model FROM mnist_3v5"
                    % options(solver=solver, **limit))
        status, upper, took, error = session.run(
            "SELECT (model).status, (model).margin_upper, (model).seconds, "
            "(SELECT avg((margin_predict(model, x, NULL::int) <> y)::int) FROM mnist_3v5_test) FROM fitted")["rows"][0]
        session.run("DROP TABLE fitted")
        out.add(solver, "%.2f %% errors" % (100 * float(error)), "", float(error), None,
                "%s, no separator has a margin above %.3g, %.3g s" % (status, float(upper), float(took)))
    return out


SEPARABLE = ("colon-cancer", "leu", "leu.t", "leu_all", "arcene", "arcene.t", "arcene_all", "gisette_scale.t", "mushrooms",
             "basehock", "pcmac", "reuters-acq", "rcv1_small", "rcv1_all", "wdbc", "sonar_scale", "mnist_0v1", "mnist_6v7")


def margins(session):
    """Our interval and LIBSVM's on every separable set."""
    out = Table("margins", "Every separable set: our interval and LIBSVM's",
                "tolerance 1e-6, with intercept. LIBSVM: C = 1e9, eps = 1e-3; its interval is computed from its own support "
                "vectors. Both hold the same number, so they must overlap; the ratio is of times (ours: whole SQL statement).")
    for name in SEPARABLE:
        table, peer = table_name(name), Peer("libsvm", name)
        session.load(table, name, "real" if name != "wdbc" else "double")
        seen = interleave({"ours": train(session, table, tolerance=1e-6), "libsvm": lambda: peer.ask("1e9 1e-3")}, 1)
        peer.close()
        model, other = seen["ours"]["last"], seen["libsvm"]["last"]
        overlap = model["margin_lower"] <= other["upper"] and other["lower"] <= model["margin_upper"]
        out.compare(name, seen["ours"], seen["libsvm"], None,
                    "%s [%.9g, %.9g]; LIBSVM [%.9g, %.9g]%s" % (
                        model["status"], model["margin_lower"], model["margin_upper"], other["lower"], other["upper"],
                        "" if overlap else " **DISAGREE**"))
    return out


# Soft margin -----------------------------------------------------------------------------------------------------


def liblinear_to_gap(peer, solver, c, rows, best_dual, gap, patience=60.0):
    """The fastest LIBLINEAR run of a geometric grid of eps whose primal value is within `gap` of a certified dual
    value of ours: an oracle in its favour, since its own dual is never better. Returns (line, answer) or (None, last)."""
    eps, last, spent = 1.0, None, 0.0
    while eps > 1e-12 and spent < 3 * patience:
        line = "%d %.17g %.3g -1" % (solver, c, eps)
        last = peer.ask(line)
        spent += last["cpu"]
        primal = last["primal"] / (c * rows)
        if (primal - best_dual) / primal <= gap:
            return line, last
        if last["cpu"] > patience:
            break
        eps *= 0.316
    last["gap"] = (primal - best_dual) / primal
    return None, last


def against_liblinear(session, out, name, c, loss, solvers, bounds, title=None, sparse=False, patience=60.0):
    """One problem at several gaps: ours as a whole SQL statement, the best of LIBLINEAR's solvers in memory."""
    table = table_name(name)
    session.load(table, name, sparse=sparse)
    rows = datasets.load(name)[0].shape[0]
    peer = Peer("liblinear", name)
    best = train(session, table, **liblinear_problem(c, rows, loss, 1e-9))()
    for gap, bound, absolute in bounds:
        ours = train(session, table, **liblinear_problem(c, rows, loss, gap))
        found = [liblinear_to_gap(peer, s, c, rows, best["dual"], gap, patience) for s in solvers]
        lines = [line for line, _ in found if line]
        work = {"ours": ours}
        work.update({line: (lambda line=line: peer.ask(line)) for line in lines})
        seen = interleave(work, REPETITIONS)
        model = seen["ours"]["last"]
        what = "%s, %s, C = %g, gap %g" % (title or name, loss, c, gap)
        remark = "%s, %s, gap %.1e, solver %.3g s" % (model["solver"], model["status"], relative_soft(model), model["seconds"])
        if lines:
            fastest = min(lines, key=lambda line: seen[line]["cpu"])
            out.compare(what + " against -s " + fastest.split()[0], seen["ours"], seen[fastest], bound, remark)
        else:
            reached = "; ".join("-s %d stops at gap %.1e after %.3g s" % (s, a["gap"], a["cpu"])
                                for s, (_, a) in zip(solvers, found))
            out.add(what, seconds(seen["ours"]), reached, seen["ours"]["cpu"], absolute, remark + "; ratio column: our seconds")
            continue
        if absolute:
            out.add(what + ", seconds", seconds(seen["ours"]), "", seen["ours"]["cpu"], absolute)
    peer.close()


def relative_soft(model):
    return model["gap"] / max(abs(model["primal"]), abs(model["dual"]))


def lp_margin(session):
    """Margins in lp norms: certified, against the l2 margin; the paper's mistakes after equal epochs."""
    out = Table("lp_margin", "Certified lp margins, whole SQL statement",
                "`SELECT train_margin(y, x, margin_options(norm => p, tolerance => t))`, real[] rows, with intercept, against the same "
                "statement for the l2 margin at 1e-6. The bound of the ratio is for p = 2; the sparse norm's (p = 1 + 1/ln d) bound is 3 s "
                "for 1e-3 and stands in the remark. Then the generated problems of Raj and Bach (2021), without intercept: training mistakes "
                "after 5, 10, 20 and 40 epochs; ratio: mistakes after 10 epochs against those of the paper's baseline (p = 2: the better of "
                "two). The paper's steps are those of its Lemma 1 (`step => 'quadratic'`); for p = 2 they are exact.")
    for name in ("mnist_0v1", "mnist_6v7"):
        session.load(name, name)
        work = {"cutting_plane": train(session, name, tolerance=1e-6),
                "p = 2": train(session, name, tolerance=1e-6, norm=2, solver="dual_ascent", working_set=True),
                "sparse, 1e-3": train(session, name, tolerance=1e-3, norm="sparse"),
                "sparse, 1e-6": train(session, name, tolerance=1e-6, norm="sparse"),
                "p = 1.5, 1e-6": train(session, name, tolerance=1e-6, norm=1.5)}
        seen = interleave(work, REPETITIONS)
        for what in list(work)[1:]:
            model = seen[what]["last"]
            remark = "%s, gap %.1e, %d scans, solver %.3g s" % (model["status"], relative(model), model["iterations"], model["seconds"])
            if what == "sparse, 1e-3":
                remark += "; within 3 s: %s" % ("yes" if seen[what]["cpu"] <= 3 else "**no**")
            out.compare("%s, %s" % (name, what), seen[what], seen["cutting_plane"], 1.2 if what == "p = 2" else None, remark)
    for name, norm in (("raj_bach_l2", 2), ("raj_bach_sparse", "sparse")):
        session.load(name, name)
        counts = {}
        paper, exact = dict(step="quadratic"), dict(step="optimal")
        for who, named in (("dual_ascent, accelerated, the paper's steps", dict(accelerated=True, **paper)), ("dual_ascent, the paper's steps", paper),
                           ("dual_ascent, accelerated", dict(accelerated=True)), ("dual_ascent", exact), ("mirror_descent", {}), ("perceptron", {})):
            counts[who] = []
            for epochs in (5, 10, 20, 40):
                session.run("CREATE TEMP TABLE fitted AS SELECT train_margin(y, x, %s) AS model FROM %s" % (
                    options(norm=norm, solver=who.split(",")[0], intercept=False, tolerance=0, max_iterations=epochs, **named), name))
                counts[who].append(int(session.value("SELECT count(*) FROM %s, fitted WHERE (margin_score(model, x) > 0) <> (y > 0)" % name)))
                session.run("DROP TABLE fitted")
        # The paper compares the sparse norm with mirror descent only.
        baseline = counts["mirror_descent"][1] if norm == "sparse" else min(counts["mirror_descent"][1], counts["perceptron"][1])
        for who, mistakes in counts.items():
            ratio = mistakes[1] / max(1, baseline)
            out.add("%s, %s" % (name, who), " / ".join(map(str, mistakes)), str(baseline), ratio, 1 if who.startswith("dual_ascent") else None,
                    "mistakes of 1,000 rows")
    return out


def soft_margin(session):
    """Dense regularised problems against LIBLINEAR."""
    out = Table("soft_margin", "Soft margins, dense rows, whole SQL statement",
                "Same objective (lambda = 1/(C n), no intercept), same relative duality gap; LIBLINEAR's `train()` alone with the rows in "
                "memory, at the eps of a geometric grid (factor 0.316) that first meets the gap, judged with our certified dual value: an "
                "oracle in its favour. Bounds: ratio, or seconds where LIBLINEAR does not get there.")
    for problem in SOFT_MARGIN:
        against_liblinear(session, out, *problem)
    return out


def sparse(session):
    """Sparse rows: the whole SQL statement, and the core alone, against LIBLINEAR."""
    out = Table("sparse", "Soft margins, sparse rows",
                "100,000 x 50,000 with 0.16 % stored values (margin_sparse), hinge: the whole SQL statement, and our `train()` alone with the "
                "rows in memory, against LIBLINEAR's -s 3; otherwise as above. Then the generated rows of *How the cost grows*, of which "
                "more is stored: lambda = 1e-4, the statement alone.")
    session.load("text_like", "text_like", sparse=True)
    core, peer, rows = Peer("core", "text_like"), Peer("liblinear", "text_like"), TEXT_ROWS
    for c in TEXT_COSTS:
        common = "lambda=%.17g loss=hinge intercept=false " % (1 / (c * rows))
        best = core.ask(common + "tolerance=1e-8")
        for gap in TEXT_GAPS:
            line, answer = liblinear_to_gap(peer, 3, c, rows, best["lower"], gap)
            work = {"statement": train(session, "text_like", **liblinear_problem(c, rows, "hinge", gap)),
                    "core": lambda: core.ask(common + "tolerance=%g" % gap)}
            if line:
                work["peer"] = lambda: peer.ask(line)
            seen = interleave(work, REPETITIONS)
            reached = "-s 3 stops at gap %.1e after %.3g s" % (answer.get("gap", gap), answer["cpu"])
            for who in ("statement", "core"):
                what = "C = %g, gap %g, %s" % (c, gap, who)
                if line:
                    out.compare(what, seen[who], seen["peer"], 0.6)
                else:
                    out.add(what, seconds(seen[who]), reached, seen[who]["cpu"] / answer["cpu"], 0.6)
    core.close()
    peer.close()
    for density, bound, absolute in ((0.1, 0.4, 1.0), (0.3, 0.4, 4.0)):
        against_liblinear(session, out, "halves:10000:2000:%g" % density, 1.0, "hinge", (3,), ((1e-3, bound, absolute),),
                          "10,000 x 2,000, %g %% stored" % (100 * density), sparse=True, patience=5.0)
    return out


def text_array(numbers):
    return "[%s]" % ", ".join("%r" % v for v in numbers)


def path(session):
    """Ten values of lambda along a path against one fit."""
    out = Table("path", "A path of ten lambdas by warm starts",
                "`margin_path` with lambda from 1e-2 to 1e-5 in ten geometric steps, tolerance 1e-3, every model certified; against "
                "`train_margin` at the last lambda. Whole statements.")
    session.load("mnist_10k_halves", "mnist_10k_halves")
    lambdas = [10 ** (-2 - 3 * k / 9) for k in range(10)]
    for loss in ("hinge", "logistic"):
        statement = ("SELECT count(*) FILTER (WHERE (m).status = 'optimal') FROM (SELECT unnest(margin_path(y, x, "
                     "'{\"loss\": \"%s\", \"lambdas\": %s}')) AS m FROM mnist_10k_halves) s" % (loss, text_array(lambdas)))
        seen = interleave({"path": lambda: session.run(statement),
                           "one": train(session, "mnist_10k_halves", **{"lambda": lambdas[-1]}, loss=loss)}, REPETITIONS)
        out.compare("mnist_10k_halves, " + loss, seen["path"], seen["one"], 3,
                    "%s of 10 optimal" % seen["path"]["last"]["rows"][-1][0])
    return out


SELECTION_SETS = (("covtype_like", False), ("mnist_10k_halves", False), ("a9a", False), ("rcv1_small", True), ("reuters-acq", True))


def selection(session):
    """Cross-validation of 10 folds and 5 lambdas against one training."""
    out = Table("selection", "Cross-validation of 10 folds and 5 lambdas",
                "`margin_cross_validate(y, x, '{\"loss\": ..., \"folds\": 10}')` with the default five lambdas and tolerance, 50 models; "
                "against `train_margin(y, x)` with that loss, the lambda that it chose and the default tolerance of 1e-3. Whole "
                "statements, so both read the rows once. *Standardised*: with `standardize => true, intercept => 'free'` on both sides.")
    for name, is_sparse in SELECTION_SETS:
        table = table_name(name) + ("_sparse" if is_sparse else "")
        session.load(table, name, sparse=is_sparse)
        for loss in ("hinge", "logistic"):
            for form, options in (("", {}), (", standardised", {"standardize": True, "intercept": "free"})):
                statement = ("SELECT lambdas[best], best_mean, unfinished, seconds FROM (SELECT (margin_cross_validate(y, x, '%s')).* FROM %s "
                             "OFFSET 0) s" % (json.dumps({"loss": loss, "folds": 10, **options}), table))
                best, accuracy, unfinished, _ = session.run(statement)["rows"][-1]
                seen = interleave({"ours": lambda: session.run(statement),
                                   "one": train(session, table, **{"lambda": float(best)}, loss=loss, **options)}, REPETITIONS)
                inside = float(seen["ours"]["last"]["rows"][-1][3]), seen["one"]["last"]["seconds"]
                out.compare("%s, %s%s" % (name, loss, form), seen["ours"], seen["one"], 10,
                            "lambda %s, accuracy %.4f, %s unfinished; without reading the rows %.3g s against %.3g s"
                            % (best, float(accuracy), unfinished, *inside))
    return out


def certified(session):
    """A certified selection against a grid."""
    out = Table("certified", "Certified selection",
                "`margin_cross_validate(y, x, '{\"loss\": ..., \"certified\": 0.005, \"max_trainings\": 1000}')`: a proof that no lambda from 1e-6 to 1 "
                "has an error of 5 folds more than 0.005 below the best one's. Against the same without a proof at 25 lambdas that are "
                "spread evenly over the interval, to the same tolerance of 1e-6, each from its neighbour's weights. spambase: standardised.")
    lambdas = [10 ** (-6 + 6 * k / 24) for k in range(25)]
    for name, options in (("a9a", {}), ("spambase", {"standardize": True})):
        session.load(name, name)
        # The hinge takes about a hundred trainings: on the small set only.
        for loss in ("logistic", "squared_hinge") + (("hinge",) if name == "spambase" else ()):
            common = {"loss": loss, **options}

            def statement(**own):
                return ("SELECT certificate ->> 'proven', cardinality(lambdas), best_mean FROM (SELECT (margin_cross_validate(y, x, '%s')).* FROM %s "
                        "OFFSET 0) s" % (json.dumps({**common, **own}), name))

            proof, grid = statement(certified=0.005, max_trainings=1000), statement(lambdas=lambdas, tolerance=1e-6)
            seen = interleave({"proof": lambda: session.run(proof), "grid": lambda: session.run(grid)}, REPETITIONS)
            proven, trained, accuracy = seen["proof"]["last"]["rows"][-1]
            out.compare("%s, %s" % (name, loss), seen["proof"], seen["grid"], 1,
                        "proven %.4f of %s lambdas, accuracy %.4f" % (float(proven), trained, float(accuracy)))
    return out


def copying(session):
    """COPY of a LIBSVM file against COPY of the same numbers as two arrays."""
    out = Table("copying", "COPY of a LIBSVM file",
                "text_like as a file of lines `7:0.5 19:2 ...`, read into a column of type margin_sparse; against the same numbers as "
                "`{7,19,...}` and `{0.5,2,...}`, read into `int[]` and `float8[]`. Tables are emptied before each COPY.")
    rows, _ = datasets.load("text_like")
    directory = tempfile.mkdtemp(prefix="margin-bench.")
    os.chmod(directory, 0o755)
    paths = {"texts": os.path.join(directory, "texts"), "pairs": os.path.join(directory, "pairs")}
    with open(paths["texts"], "w") as texts, open(paths["pairs"], "w") as pairs:
        for i in range(rows.shape[0]):
            part = slice(rows.starts[i], rows.starts[i + 1])
            indices = [str(j + 1) for j in rows.columns[part].tolist()]
            values = ["%.6g" % v for v in rows.values[part].tolist()]
            texts.write(" ".join(map(":".join, zip(indices, values))) + "\n")
            pairs.write("{%s}\t{%s}\n" % (",".join(indices), ",".join(values)))
    session.run("CREATE TABLE texts (x margin_sparse)")
    session.run("CREATE TABLE pairs (indices int[], vals float8[])")

    def copy(table):
        session.run("TRUNCATE " + table)
        return session.run("COPY %s FROM '%s'" % (table, paths[table]))

    seen = interleave({"texts": lambda: copy("texts"), "pairs": lambda: copy("pairs")}, REPETITIONS)
    out.compare("COPY FROM", seen["texts"], seen["pairs"], 1,
                "%.3g MB against %.3g MB" % tuple(os.path.getsize(paths[t]) / 1e6 for t in ("texts", "pairs")))
    shutil.rmtree(directory)
    return out


def scaling(session):
    """Badly scaled columns with standardize => true."""
    out = Table("scaling", "Unscaled features with standardize",
                "gaussian_noise with column 1 times 1e4 and column 2 times 1e-3, `standardize => true`, against the same fit on the "
                "original columns (hinge, lambda = 1e-4, tolerance 1e-6). Whole statements.")
    session.load("gaussian_noise", "gaussian_noise")
    if session.value("SELECT to_regclass('gaussian_unscaled') IS NOT NULL") != "t":
        session.run("CREATE TABLE gaussian_unscaled AS SELECT id, y, array_cat(ARRAY[x[1] * 1e4::real, x[2] * 1e-3::real], x[3:]) AS x "
                    "FROM gaussian_noise ORDER BY id")

    def fit(table):
        return train(session, table, **{"lambda": 1e-4}, loss="hinge", standardize=True, tolerance=1e-6)

    seen = interleave({"unscaled": fit("gaussian_unscaled"), "scaled": fit("gaussian_noise")}, REPETITIONS)
    model = seen["unscaled"]["last"]
    out.compare("hinge", seen["unscaled"], seen["scaled"], 1.3, "%s, gap %.1e" % (model["status"], relative_soft(model)))
    return out


def kernel_losses(session):
    """Kernel regression and one-class machines against LIBSVM."""
    return machines.kernel_losses(session, REPETITIONS)


def kernel_machines(session):
    """rbf kernel machines against LIBSVM."""
    return machines.kernel_machines(session, train, REPETITIONS)


def python(session):
    """scikit-learn with the rows in memory, and called through PL/Python inside the database."""
    return users.python(session, train, options, REPETITIONS)


def growth(session):
    """Time against rows, features, density and groups, with pictures."""
    return users.growth(session, train, options, REPETITIONS)


def boosting(session):
    """l1 margins: the exact one, and boosted stumps against scikit-learn's AdaBoost."""
    return l1.boosting(session, train, options, relative, REPETITIONS)


def newcomers(session):
    """What a new user runs first."""
    return first_steps.newcomers(session, train, options, REPETITIONS)


def spill(session):
    """Rows beyond margin.memory_limit, in a temporary file."""
    return beyond_memory.spill(session, train, REPETITIONS)


def rows_pipeline(session):
    """Rows with named columns: scikit-learn's pipeline on the same tables."""
    return named_columns.pipelines(session)


def rows_cost(session):
    """Rows with named columns beside arrays."""
    return named_columns.cost(session, REPETITIONS)


def additive(session):
    """Additive models: accuracy and time against boosting, splines and the linear model."""
    return additive_models.additive(session)


def constraints(session):
    """Constraints on weights beside ReHLine, where MARGIN_REHLINE names its folder."""
    return under_constraints.constraints(session) if "MARGIN_REHLINE" in os.environ else []


def pgvector(session):
    """Columns of pgvector beside arrays."""
    return vector_columns.columns(session, REPETITIONS)


def scoring(session):
    """Many rows by models of a table, as users write it; embeddings."""
    return batches.scoring(session, REPETITIONS)


def groups(session):
    """A million trainings in one statement (MARGIN_GROUPS: fewer)."""
    return batches.groups(session, REPETITIONS)


def regret(session):
    """What auto costs beside the best solver by name."""
    return choice_of_solver.regret(session)


def many_rows(session):
    """Kernel machines of many rows."""
    return kernels_of_many_rows.many_rows(session)


def small_lambda(session):
    """Soft margins over lambda and accuracy beside LIBLINEAR."""
    return over_lambda.small_lambda(session)


def threads(session):
    """Two threads against one."""
    return several_threads.threads(session, REPETITIONS)


SECTIONS = (max_margin, loading, momentum, predict, margins, test_error, lp_margin, soft_margin, sparse, copying, path, selection, certified, scaling, python,
            growth, boosting, kernel_machines, kernel_losses, many_rows, newcomers, spill, rows_pipeline, rows_cost, additive, constraints, pgvector, scoring, groups,
            regret, small_lambda, threads)


# Of the sections that have peers in R or Python: their packages.
OF_PEERS = {"boosting": ("python3-sklearn", "python3-highspy"), "python": ("python3-sklearn",), "many_rows": ("python3-sklearn",), "additive": ("r-cran-mgcv",)}


def environment(session, names):
    def output(*command):
        return subprocess.run(command, capture_output=True, text=True, cwd=datasets.HERE).stdout.strip()

    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    packages = [version_of("libeigen3-dev", []), liblinear_version(), libsvm_version(), version_of("python3-sklearn", [])]
    if "MARGIN_REHLINE" in os.environ and names == "constraints":
        packages.append(rehline_version())
    if IN_PEERS and names in OF_PEERS:
        packages.append("programs of another system: " + ", ".join(map(version_of, OF_PEERS[names])))
    return ("*%s, %d cores, load %.1f at the end; PostgreSQL %s, %s, %s; commit %s; `bench/run.sh %s`, minima of %d interleaved "
            "repetitions, CPU seconds (wall minima and medians in brackets).*" % (
                cpu, os.cpu_count(), os.getloadavg()[0], session.value("SHOW server_version").split()[0],
                output("g++", "--version").split("\n")[0], ", ".join(packages), os.environ["MARGIN_COMMIT"],
                names, REPETITIONS))


def main(names):
    known = {section.__name__: section for section in SECTIONS}
    if names == ["list"]:
        for name, section in known.items():
            print("%-12s %s" % (name, section.__doc__))
        return
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit("unknown benchmark %s; known: %s" % (", ".join(unknown), ", ".join(known)))
    session, broken = Session(), []
    for name in names or known:
        print("%s: %s" % (name, known[name].__doc__), flush=True)
        try:
            table = known[name](session)
            if table is None:
                print("  not here: the server lacks what it needs")
                continue
            for one in table if isinstance(table, tuple) else (table,):
                write(one, environment(session, name))
        except (RuntimeError, OSError, KeyError) as error:
            broken.append(name)
            print("  failed: %s" % error, flush=True)
    if session.warnings:
        print("warnings of the server:", *sorted(set(session.warnings))[:20], sep="\n  ")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main(sys.argv[1:])

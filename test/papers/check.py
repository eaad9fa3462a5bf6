#!/usr/bin/python3
"""Every algorithm of the four papers, as SQL runs it, against the programs beside this file: the same iterates to 1e-12.

check.py SOCKET DATA: a server with the extension, and the directory demo/data. Prints one line for each comparison: `ok` or
`not ok`, its name, the largest difference of two weights (of unit norm where only their direction is defined) or scores.
"""
import csv
import os
import sys

import numpy as np
import psycopg2
import psycopg2.extensions

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ji_algorithm_1
import ji_algorithm_2
import raj_bach_algorithm_1
import raj_bach_algorithm_2
import raj_bach_elsewhere
import shalev_shwartz_singer
import shalev_shwartz_zhang
import telgarsky_algorithm_1
from draws import Random

LIMIT = 1e-12
# numpy 2 writes its numbers as np.float64(0.1), and psycopg2 writes what they do.
psycopg2.extensions.register_adapter(np.float64, lambda number: psycopg2.extensions.Float(float(number)))


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def data_sets(place):
    """Three sets of demo/data, columns scaled to a largest value of 1: two that a plane through 0 may separate, and one not."""
    iris = read(f"{place}/iris.csv")
    cancer = read(f"{place}/breast_cancer.csv")
    abalone = read(f"{place}/abalone.csv")[:600]
    species = {s: np.array([1.0 if r["species"] == s else -1.0 for r in iris]) for s in ("versicolor", "virginica")}
    columns = {
        "iris": (["sepal_length", "sepal_width", "petal_length", "petal_width"], [1.0 if r["species"] == "setosa" else -1.0 for r in iris], iris),
        "breast_cancer": ([c for c in cancer[0] if c not in ("id", "diagnosis")], [1.0 if r["diagnosis"] == "benign" else -1.0 for r in cancer], cancer),
        "abalone": ([c for c in abalone[0] if c not in ("sex", "rings")], [1.0 if int(r["rings"]) > 9 else -1.0 for r in abalone], abalone),
    }
    for name, (features, y, rows) in columns.items():
        X = np.array([[float(r[c]) for c in features] for r in rows])
        yield name, X / np.abs(X).max(axis=0), np.array(y), species if name == "iris" else {"as all": np.array(y)}


class Server:
    def __init__(self, socket):
        self.cursor = psycopg2.connect(host=socket, dbname="postgres").cursor()
        self.cursor.execute("SET client_min_messages = error")

    def load(self, name, X, y, low, high):
        self.name = name
        self.cursor.execute(f"CREATE TABLE {name} (id int, y int, target numrange, x float8[])")
        for i, row in enumerate(X):
            target = f"[{'' if np.isinf(low[i]) else repr(float(low[i]))},{float(high[i])!r}]"
            self.cursor.execute(f"INSERT INTO {name} VALUES (%s, %s, %s, %s)", (i, int(y[i]), target, list(map(float, row))))

    def weights(self, label="y", **options):
        options = {"intercept": False, "tolerance": 0, **options}
        call = ", ".join(f'"{k}" => %s' for k in options)
        self.cursor.execute(f"SELECT (train_margin({label}, x, margin_options({call}) ORDER BY id)).weights FROM {self.name}", list(options.values()))
        return np.array(self.cursor.fetchone()[0])

    def steps(self, features, **options):
        """The sum of the steps of a history, for each feature."""
        options = {"intercept": False, "tolerance": 0, "history": True, **options}
        call = ", ".join(f'"{k}" => %s' for k in options)
        self.cursor.execute(
            f"WITH m AS MATERIALIZED (SELECT train_margin(y, x, margin_options({call}) ORDER BY id) AS m FROM {self.name}) "
            f"SELECT learner, sum(step) FROM m, margin_history(m) GROUP BY learner", list(options.values()))
        sums = np.zeros(features)
        for learner, step in self.cursor.fetchall():
            sums[learner - 1] = step
        return sums

    def trees(self, rows, y, nu, rounds):
        """Rounds of boosting trees of depth 2 on some rows and their first four features: trees, those of the rounds, steps, scores."""
        self.cursor.execute(
            f"WITH few AS MATERIALIZED (SELECT id, label AS y, x[1:4] AS x FROM {self.name} JOIN unnest(%s, %s) AS l (id, label) USING (id)), "
            "m AS MATERIALIZED (SELECT train_margin(y, x, margin_options(norm => 1, solver => 'boosting', learners => 'trees', step => 'adaboost', shrinkage => %s, "
            "intercept => false, tolerance => 0, output => 'last', history => true, max_iterations => %s) ORDER BY id) AS m FROM few) "
            "SELECT (m).stumps, (SELECT array_agg(ARRAY[learner, step] ORDER BY iteration) FROM margin_history(m)), "
            "(SELECT array_agg(margin_score(m, x) ORDER BY id) FROM few) FROM m", (rows.tolist(), [int(label) for label in y], nu, rounds))
        trees, history, scores = (np.array(each) for each in self.cursor.fetchone())
        return trees, history[:, 0].astype(int) - 1, history[:, 1], scores

    def with_slacks(self, y, price, intercept, features):
        """The largest l1 margin where each row has a feature of its own, of 1/price: weights without those, intercept, row weights, interval."""
        self.cursor.execute(
            "WITH m AS MATERIALIZED (SELECT train_margin(label, margin_sparse((SELECT array_agg(k ORDER BY k) FROM generate_series(1, %s) AS k) || (%s + place::int), x || 1 / %s::float8, %s), "
            "margin_options(norm => 1, intercept => %s, tolerance => 1e-9, dual_weights => true) ORDER BY id) AS m "
            f"FROM {self.name} JOIN unnest(%s) WITH ORDINALITY AS l (label, place) ON place = id + 1) "
            "SELECT coalesce((m).columns, array(SELECT generate_series(1, %s))), (m).weights, coalesce((m).intercept[1], 0), (m).dual_weights, (m).margin_lower, (m).margin_upper FROM m",
            (features, features, price, features + len(y), intercept, [int(label) for label in y], features + len(y)))
        columns, weights, offset, q, lower, upper = self.cursor.fetchone()
        w = np.zeros(features + len(y))
        w[np.array(columns) - 1] = weights
        return w[:features], offset, np.array(q).ravel() / np.sum(q), lower, upper

    def margin(self, rows):
        """The largest l1 margin of some rows, from below and above."""
        self.cursor.execute(
            "SELECT (m).margin_lower, (m).margin_upper FROM (SELECT train_margin(y, x, margin_options(norm => 1, intercept => false, tolerance => 1e-9) ORDER BY id) AS m "
            f"FROM {self.name} WHERE id = ANY (%s)) AS t", (rows.tolist(),))
        return self.cursor.fetchone()

    def within_polygons(self, rows, Y, apothem, corners):
        """The least norm of W, of two rows, such that every W x_i lies in a polygon around Y_i, from below and above: for each side c of it
        a row c x_i with the half-line up to c Y_i and the apothem."""
        values = [(int(i), repr(float(c @ y + apothem)), *map(float, c)) for i, y in zip(rows, Y) for c in corners]
        self.cursor.execute(
            "WITH sides AS (SELECT * FROM unnest(%s, %s::numeric[], %s::float8[], %s::float8[]) AS s (id, top, c, d)) "
            "SELECT sqrt(2 * (m).dual), sqrt(2 * (m).primal), (m).status FROM (SELECT train_margin(numrange(NULL, top, '(]'), "
            "(SELECT array_agg(c * v ORDER BY k) || array_agg(d * v ORDER BY k) FROM unnest(x) WITH ORDINALITY AS e (v, k)), "
            f"margin_options(loss => 'interpolate', intercept => false, tolerance => 1e-9) ORDER BY id, c, d) AS m FROM {self.name} JOIN sides USING (id)) AS t", tuple(map(list, zip(*values))))
        return self.cursor.fetchone()

    def scores(self, **options):
        options = {"intercept": False, "tolerance": 0, **options}
        call = ", ".join(f'"{k}" => %s' for k in options)
        self.cursor.execute(
            f"WITH m AS MATERIALIZED (SELECT train_margin(y, x, margin_options({call}) ORDER BY id) AS m FROM {self.name}) "
            f"SELECT array_agg(margin_score(m, x) ORDER BY id) FROM m, {self.name}", list(options.values()))
        return np.array(self.cursor.fetchone()[0])


def unit(v, p=2):
    return v / np.linalg.norm(v, p)


class Report:
    def __init__(self, name):
        self.name = name

    def holds(self, what, whether, figures):
        print("ok" if whether else "not ok", f"{what}, {self.name}: {figures}", flush=True)

    def same(self, what, ours, theirs):
        difference = float(np.abs(np.asarray(ours) - theirs).max() / max(1.0, np.abs(theirs).max()))
        print("ok" if difference <= LIMIT else "not ok", f"{what}, {self.name}: {difference:.1e}", flush=True)


ROOT = "1/sqrt(t)"


def theta_of(step):
    return (lambda t: 1 / np.sqrt(t + 1)) if step == ROOT else (lambda t: 1.0)


def ji(server, report, X, y):
    Z = y[:, None] * X / np.linalg.norm(X, axis=1).max()
    gram, steps = Z @ Z.T, 12
    for loss in ("exponential", "logistic"):
        for step in (None, ROOT):
            for solver, momentum in (("momentum", True), ("normalized_gradient_descent", False)):
                ours = server.weights(solver=solver, loss=loss, step=step, output="last", max_iterations=steps + 1)
                report.same(f"{solver}, {loss}, theta = {step or 1}", ours, unit(Z.T @ ji_algorithm_1.iterate(gram, steps, loss, momentum, theta_of(step))))
        ours = server.weights(solver="gradient_descent", loss=loss, output="last", max_iterations=steps + 1)
        report.same(f"gradient_descent, {loss}", ours, unit(Z.T @ ji_algorithm_1.gradient_descent(gram, steps, loss)))
    ours = server.weights(solver="batch_perceptron", output="last", max_iterations=steps + 1)
    report.same("batch_perceptron", ours, unit(Z.T @ ji_algorithm_1.batch_perceptron(gram, steps)))
    # kernels: scores of unit weights
    K = np.exp(-((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    gram = K * np.outer(y, y)
    def scores(a):
        return K @ (a * y) / np.sqrt(a @ gram @ a)
    kernel = dict(kernel="rbf", gamma=1, output="last", max_iterations=steps)
    for loss in ("exponential", "logistic"):
        for step, accelerated in ((None, True), (ROOT, True), (None, False)):
            name = f"{loss}, theta = {step or 1}{'' if accelerated else ', beta = 0'}"
            ours = server.scores(solver="kernel_momentum", loss=loss, step=step, accelerated=accelerated, **kernel)
            report.same(f"kernel_momentum, {name}", ours, scores(ji_algorithm_1.iterate(gram, steps, loss, accelerated, theta_of(step))))
            ours = server.scores(solver="sampling", loss=loss, step=step, accelerated=accelerated, seed=7, **kernel)
            report.same(f"sampling, {name}", ours, scores(ji_algorithm_2.iterate(gram, steps, Random(7), loss, accelerated, theta_of(step))))
    theory = np.sqrt(np.log(len(X)) / steps)
    ours = server.scores(solver="sampling", step="theory", seed=3, **kernel)
    report.same("sampling, theory", ours, scores(ji_algorithm_2.iterate(gram, steps, Random(3), momentum=False, theta=lambda t: theory)))


def sdca(server, report, X, y):
    program, epochs, lam = shalev_shwartz_zhang, 4, 1e-2
    for loss, smoothing in (("hinge", None), ("smoothed_hinge", 0.5)):
        given = {"lambda": lam, "loss": loss, "max_iterations": epochs, "seed": 5}
        if smoothing:
            given["smoothing"] = smoothing
        gamma = smoothing or 1.0
        for order in ("random", "cyclic"):
            ours = server.weights(solver="sdca", order=order, output="last", **given)
            report.same(f"SDCA, {loss}, {order}", ours, program.sdca(X, y, lam, loss, epochs, Random(5), order, gamma=gamma))
        for output in ("average", "random"):
            for order in ("random", "permutation", "cyclic"):
                ours = server.weights(solver="sdca", order=order, output=output, **given)
                report.same(f"SDCA, {loss}, {order}, {output}", ours, program.sdca(X, y, lam, loss, epochs, Random(5), order, output, gamma=gamma))
        ours = server.weights(solver="sdca", order="random", output="last", start="sgd", **given)
        report.same(f"SDCA with SGD initialization, {loss}", ours, program.sdca(X, y, lam, loss, epochs, Random(5), "random", start="sgd", gamma=gamma))
        for output, first in (("average", 0), ("average", 3), ("random", 1)):
            ours = server.weights(solver="sdca", order="random", output=output, average_from=first, **given)
            report.same(f"SDCA, {loss}, {output} from {first}", ours, program.sdca(X, y, lam, loss, epochs, Random(5), output=output, gamma=gamma, first=first))
        for now in (lam, 10 * lam):
            given["lambda"] = now
            for output, draws, first in (("last", None, None), ("average", None, None), ("average", None, 1), ("last", 37, None), ("average", 37, 3)):
                def theirs(number):
                    return program.sgd(X, y, now, loss, epochs, Random(5), output, gamma, draws, first, number)
                # Steps of 1/(lambda gamma t) overshoot while t is small, and multiply whatever w is off by: some paths have no
                # digits left that do not depend on how sums are rounded. The program in long double tells which.
                drift = np.abs(theirs(np.longdouble) - theirs(np.float64)).max() / max(1, np.abs(theirs(np.float64)).max())
                if drift <= LIMIT / 10:
                    ours = server.weights(solver="sgd", output=output, draws=draws, average_from=first, **given)
                    report.same(f"SGD, {loss}, lambda = {now}, {output}, draws {draws or 'n'}, T0 {first}", ours, theirs(np.float64))
    for loss, gamma in (("squared", 0.5), ("smoothed_hinge", 0.5)):
        given = {"lambda": lam, "loss": loss, "max_iterations": epochs, "seed": 5, "output": "last", **({"smoothing": gamma} if loss != "squared" else {})}
        for order in ("random", "permutation"):
            ours = server.weights("y::float8" if loss == "squared" else "y", solver="sdca", accelerated=True, order=order, **given)
            report.same(f"accelerated SDCA, {loss}, {order}", ours, program.accelerated(X, y, lam, loss, epochs, Random(5), order, gamma))


def telgarsky(server, report, X, y):
    A, steps = y[:, None] * X / np.abs(X).max(), 12
    for loss in ("exponential", "logistic"):
        for rule, nu in (("quadratic", 0.5), ("wolfe", 1), ("wolfe", 0.25), ("adaboost", 0.25), ("adaboost", 1)):
            ours = server.weights(norm=1, solver="boosting", loss=loss, step=rule, shrinkage=nu, output="last", max_iterations=steps)
            theirs = telgarsky_algorithm_1.iterate(A, steps, rule, nu, loss)
            report.same(f"boosting, {loss}, {rule}, {nu}", ours, unit(theirs, 1))
            taken = server.steps(X.shape[1], norm=1, solver="boosting", loss=loss, step=rule, shrinkage=nu, max_iterations=steps)
            report.same(f"boosting, {loss}, {rule}, {nu}, steps of its history", taken * np.abs(X).max(), theirs)
    for eps in (0.1, 0.05, 0.02):  # none that is reached in so few rounds
        ours = server.weights(norm=1, solver="boosting", step="frank_wolfe", gap_tolerance=eps * np.abs(X).max(), output="last", max_iterations=steps)
        report.same(f"boosting, frank_wolfe, {eps}", ours, unit(shalev_shwartz_singer.iterate(A, steps, eps), 1))
    # One tree tells setosa from all others, and then it has no step to compare: of the other two species each errs on some rows.
    few, columns = np.arange(0, len(X), max(1, len(X) // 60)), slice(0, 4)
    for what, labels in server.labels_of_trees.items():
        for nu in (1, 0.25):
            trees, chosen, taken, scores = server.trees(few, labels[few], nu, rounds=4)
            largest, margins = shalev_shwartz_singer.edges_of(X[few][:, columns], labels[few], trees, chosen, taken)
            if (largest > 1 - 1e-9).any():
                print("not ok", f"boosting of trees, {what}, {server.name}: a tree that errs nowhere", flush=True)
            report.same(f"boosting of trees, {what}, adaboost, {nu}, the edges of its rounds", np.tanh(taken / nu), largest)
            report.same(f"boosting of trees, {what}, adaboost, {nu}", scores, labels[few] * margins / np.abs(taken).sum())


def soft_margins(server, report, X, y):
    """The l1 margin of Warmuth, Glocer and Vishwanathan (2008), of which errors cost 1/(nu n): its objective from the weights, and the
    largest edge of the capped distribution, which bounds it."""
    y, (n, d) = list(server.labels_of_trees.values())[0], X.shape
    for intercept in (False, True):
        for price in (1, 3):
            w, b, q, lower, upper = server.with_slacks(y, price, intercept, d)
            nu = 1 / (n * q.max())
            margins, share = np.sort(y * (X @ w + b) / np.abs(w).sum()), nu * n
            whole = int(share + 1e-9)  # the mean of the smallest nu n margins is the largest of rho - sum max(0, rho - m_i)/(nu n)
            objective = (margins[:whole].sum() + (share - whole) * (margins[whole] if whole < n else 0)) / share
            edge, balanced = np.abs((q * y) @ X).max(), abs(q @ y) if intercept else 0
            tight = lower <= objective + 1e-12 and edge <= upper + 1e-12 and abs(edge - objective) <= 1e-9 * edge and q.max() <= price * upper + 1e-12
            report.holds(f"soft margin, price {price}{', intercept' * intercept}", tight and balanced <= 1e-12, f"nu = {nu:.3f}, {objective} to {edge}")


def raj_bach(server, report, X, y):
    Z, epochs, one = y[:, None] * X, 5, raj_bach_algorithm_1
    n = len(X)
    for p in (2, 1.5):
        for order in ("random", "permutation", "cyclic", "proportional"):
            given = dict(norm=p, order=order, seed=11, max_iterations=epochs)
            coordinate = dict(given, solver="dual_ascent", step="quadratic", output="last")
            theirs = one.iterate(Z, np.ones(n), np.full(n, np.inf), epochs, Random(11), order, p)
            report.same(f"dual_ascent, p = {p}, {order}", server.weights(**coordinate), unit(theirs, p))
            if order != "proportional":
                theirs = raj_bach_algorithm_2.iterate(Z, epochs, Random(11), order, p)
                report.same(f"dual_ascent accelerated, p = {p}, {order}", server.weights(accelerated=True, **coordinate), unit(theirs, p))
            ours = server.weights(solver="mirror_descent", output="last", **given)
            report.same(f"mirror_descent, p = {p}, {order}", ours, unit(one.mirror_descent(Z, epochs, Random(11), order, p), p))
        for loss in ("hinge", "squared"):
            for step in (None, ROOT):
                ours = server.weights(solver="mirror_descent", mirror_loss=loss, step=step, output="last", norm=p, order="random", seed=11, max_iterations=epochs)
                theirs = one.mirror_descent(Z, epochs, Random(11), "random", p, loss=loss, fading=step == ROOT)
                report.same(f"mirror_descent, {loss}, p = {p}, step {step or 'constant'}", ours, unit(theirs, p))
        for order in ("random", "permutation"):
            given = dict(norm=p, order=order, seed=11, max_iterations=epochs)
            ours = server.weights(solver="mirror_descent", output="average", **given)
            report.same(f"mirror_descent, average, p = {p}, {order}", ours, unit(one.mirror_descent(Z, epochs, Random(11), order, p, "average"), p))
            ours = server.weights(solver="perceptron", output="last", **given)
            report.same(f"perceptron, p = {p}, {order}", ours, unit(one.perceptron(Z, epochs, Random(11), order, p), p))
        for order in ("random", "cyclic"):
            theirs = one.iterate(X, server.low, server.high, epochs, Random(11), order, p)
            ours = server.weights("target", loss="interpolate", solver="dykstra", norm=p, order=order, seed=11, max_iterations=epochs)
            report.same(f"dykstra, p = {p}, {order}", ours, theirs)


def raj_bach_without_a_call(server, report, X, y):
    """What docs/papers.md says of balls as targets, and of the entropy, on every fifth row of iris."""
    if server.name != "iris":
        return
    program, rows = raj_bach_elsewhere, np.arange(0, len(X), 5)
    few, n = X[rows], len(rows)
    # Balls: the least norm lies between those of polygons around and inside of them, which are rows with a half-line each.
    Y = few @ np.linspace(-1, 1, 2 * X.shape[1]).reshape(-1, 2) + 0.05 * np.sin(np.arange(2 * n)).reshape(-1, 2)
    W, low = program.balls(few, Y, 0.1, 6000)
    norm, missed = np.linalg.norm(W), np.linalg.norm(few @ W.T - Y, axis=1).max() - 0.1
    report.holds("balls by projections, their dual value", abs(norm - low) <= 1e-9 * norm and missed <= 1e-9, f"{norm} and {low}")
    for sides in (8, 32, 128):
        angles = 2 * np.pi * np.arange(sides) / sides
        corners = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        outside, inside = (server.within_polygons(rows, Y, apothem, corners) for apothem in (0.1, 0.1 * np.cos(np.pi / sides)))
        near = outside[0] <= norm <= inside[1] and inside[1] / outside[0] <= 1 + 1.2 / sides**2
        report.holds(f"balls by polygons of {sides} sides", near and outside[2] == inside[2] == "optimal", f"{outside[0]} to {inside[1]}, {norm}")
    # The entropy over t >= 0 of sum B: nothing below the reciprocal of the largest l1 margin, and above it another vector for each B.
    Z, margin = y[rows, None] * few, server.margin(rows)
    w, proof = program.entropy(Z, 0.9 / margin[1], 3000)
    report.holds("entropy, too small a sum", proof > 1, f"{proof}")
    found = []
    for factor in (1.1, 2):
        w, proof = program.entropy(Z, factor / margin[1], 3000)
        found.append(w / np.abs(w).sum())
        reached = (Z @ found[-1]).min() / margin[1]
        report.holds(f"entropy, a sum {factor} times as large as it has to be", proof <= 1 and (Z @ w).min() > 1 - 1e-6 and 0.9 < reached < 0.99, f"{reached} of the largest margin")
    report.holds("entropy, the sum decides on the weights", 1e-3 < np.abs(found[0] - found[1]).max(), f"they differ by {np.abs(found[0] - found[1]).max():.1e}")


def main():
    server = Server(sys.argv[1])
    for name, X, y, labels_of_trees in data_sets(sys.argv[2]):
        server.labels_of_trees = labels_of_trees
        # Targets of a known vector: points, ranges and half-lines in turn.
        target = X @ np.linspace(-1, 1, X.shape[1])
        kind = np.arange(len(X)) % 3
        server.low = np.where(kind == 2, -np.inf, target - 0.1 * (kind == 1))
        server.high = target + 0.1 * (kind == 1)
        server.load(name, X, y, server.low, server.high)
        report = Report(name)
        for paper in (ji, sdca, telgarsky, soft_margins, raj_bach, raj_bach_without_a_call):
            if len(sys.argv) < 4 or paper.__name__ in sys.argv[3:]:
                paper(server, report, X, y)


main()

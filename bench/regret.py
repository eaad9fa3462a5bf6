"""The section about what `auto` costs beside the solver that somebody who knew would have named. Registered in run.py."""
import json
import statistics

from measure import StatementFailed, Table

SPARSE = ("w8a", "a9a", "ijcnn1", "reuters-acq", "rcv1_small", "pcmac", "basehock", "mushrooms")
DENSE = ("covtype.20k", "spambase", "gisette_scale.t", "colon-cancer", "leu", "arcene", "madelon", "german.numer", "svmguide1", "mnist_3v5_test",
         "covtype_like")
TARGETS = ("california_10k", "casp_10k", "abalone", "diabetes442")
CLASSES = ("digits8x8", "satimage.scale", "segment.scale")
LOSSES = ("hinge", "logistic", "squared_hinge")
LAMBDAS, TOLERANCES, SOLVERS = (1e-2, 1e-4, 1e-6), (1e-3, 1e-6), ("sdca", "newton", "newton_cg")
KINDS = [("", name, LOSSES, {}) for name in SPARSE + DENSE] + \
    [("targets", name, ("squared", "huber", "absolute"), {}) for name in TARGETS] + \
    [("classes", name, ("hinge", "logistic"), {}) for name in CLASSES] + \
    [("free intercept", name, LOSSES, {"intercept": "free"}) for name in ("a9a", "reuters-acq", "gisette_scale.t", "covtype.20k")]
WORST, MEDIAN = 1.5, 1.05


def ratio_of(best):
    """What auto takes beside the fastest by name, and which that is; none where there is none."""
    named = {solver: best[solver] for solver in SOLVERS if solver in best}
    fastest = min(named, key=named.get) if "auto" in best and named else None
    return (best["auto"] / named[fastest], fastest) if fastest else (None, None)


def best_of(session, table, options):
    """The solver's own seconds, by name: the least of three runs one after the other, of nine where auto seems to be slow; none where a run does not
    come to its end."""
    best = {}
    for repetition in range(9):
        if repetition >= 3 and not (ratio_of(best)[0] or 0) > WORST:
            break
        for name in ("auto",) + SOLVERS:
            if name != "auto" and "auto" not in best:  # the arithmetic ends before the tolerance
                return {}
            given = dict(options, solver=name, max_seconds=5 if name == "auto" else max(0.05, 2 * best["auto"]))
            try:
                seconds, status = session.run("SELECT (m).seconds, (m).status FROM (SELECT train_margin(y, x, jsonb '%s') AS m FROM %s OFFSET 0) t" % (
                    json.dumps(given), table))["rows"][-1]
            except StatementFailed:
                continue
            if status == "optimal":
                best[name] = min(best.get(name, float("inf")), float(seconds))
    return best


def regret(session):
    """What auto costs beside the best solver by name."""
    out = Table("regret", "What `auto` costs beside the best solver by name",
                "The solver's own seconds (`(model).seconds`, rows in memory), one thread, minima of three runs one after the other (of nine where the ratio of these is above the bound), against the fastest of `sdca`, `newton` "
                "and `newton_cg` by name that comes to the tolerance. A row is a set: each of its losses at lambda 1e-2, 1e-4 and 1e-6, to 1e-3 and 1e-6; the "
                "ratio is the worst of them, the median and all above %g are under remarks. Rows as they are, not standardised." % WORST)
    session.run("SET margin.threads = 1")
    everything = []
    for kind, name, losses, more in KINDS:
        sparse, table = name in SPARSE, "r_" + name.replace(".", "_").replace("-", "_")
        session.load(table, name, sparse=sparse)
        cells, above = [], []
        for loss in losses:
            for weight in LAMBDAS:
                for tolerance in TOLERANCES:
                    options = {"loss": loss, "lambda": weight, "tolerance": tolerance, "max_iterations": 1000000, **more}
                    best = best_of(session, table, options)
                    ratio, fastest = ratio_of(best)
                    if fastest is None:
                        continue
                    cells.append((ratio, best["auto"], best[fastest]))
                    if ratio > WORST:
                        above.append("%s %g to %g: %.2g (%s, %.3g ms)" % (loss, weight, tolerance, ratio, fastest, 1e3 * best[fastest]))
        everything += cells
        worst = max(cells)
        out.add(", ".join(part for part in (name, kind) if part), "%.3g ms" % (1e3 * worst[1]), "%.3g ms" % (1e3 * worst[2]), worst[0], WORST,
                "%d cells, median %.3g%s" % (len(cells), statistics.median(c[0] for c in cells), "".join("; " + one for one in above)))
    ratios = [cell[0] for cell in everything]
    out.add("all %d cells, median" % len(ratios), "", "", statistics.median(ratios), MEDIAN,
            "%d above %g, the worst %.3g" % (sum(ratio > WORST for ratio in ratios), WORST, max(ratios)))
    session.run("RESET margin.threads")
    return out

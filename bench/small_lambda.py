"""The section about soft margins beside LIBLINEAR, over lambda and accuracy. Registered in run.py."""
import statistics

import datasets
from measure import Peer, Table
from statements import liblinear_problem, train

SETS = ("w8a", "a9a", "ijcnn1", "rcv1_all", "reuters-acq", "text_like", "spambase", "mnist_6v7")
SPARSE = ("w8a", "a9a", "rcv1_all", "reuters-acq", "text_like")
SOLVERS = {"hinge": (3,), "logistic": (0, 7), "squared_hinge": (1, 2)}
LAMBDAS, GAPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6), (1e-3, 1e-4, 1e-6)
PATIENCE = 5  # CPU seconds of one run of the peer


def loosest(peer, solvers, c, rows, dual):
    """For each gap the CPU seconds of the fastest run of a grid of eps that reaches it, and its solver; and the smallest gap seen."""
    found, reached = {}, 1.0
    for solver in solvers:
        eps, left = 1.0, set(GAPS)
        while left and eps > 1e-9:
            line = "%d %.17g %.3g -1" % (solver, c, eps)
            answer = peer.ask(line)
            primal = answer["primal"] / (c * rows)
            gap = (primal - dual) / primal
            reached = min(reached, gap)
            if any(gap <= wanted for wanted in left):
                cpu = min(answer["cpu"], peer.ask(line)["cpu"])
                for wanted in [wanted for wanted in left if gap <= wanted]:
                    left.remove(wanted)
                    if wanted not in found or cpu < found[wanted][0]:
                        found[wanted] = (cpu, solver)
            if answer["cpu"] > PATIENCE:
                break
            eps *= 0.316
    return found, reached


def small_lambda(session):
    """Soft margins over lambda and accuracy beside LIBLINEAR."""
    out = Table("small_lambda", "Soft margins over lambda and accuracy, beside LIBLINEAR",
                "No intercept, rows as they are, `auto`, one thread; minima of three runs of the statement. Ours is the whole SQL statement; *against* is `train()` with the rows in "
                "memory, of the fastest of its solvers (hinge -s 3, logistic -s 0 and 7, squared_hinge -s 1 and 2) at the loosest eps of a grid (factor 0.316) whose "
                "weights are within the accuracy of the certified optimum: it does not know when that is. A row is a set and a loss; the cells are lambda 1e-2 to 1e-6 "
                "times 1e-3, 1e-4, 1e-6. The ratio is the median; remarks: the ratio of the solver's own seconds, cells above 1, and cells that LIBLINEAR never reaches.")
    session.run("SET margin.threads = 1")
    everything, solver_only, never = [], [], 0
    for name in SETS:
        table = "s_" + name.replace(".", "_").replace("-", "_")
        session.load(table, name, sparse=name in SPARSE)
        rows, peer = datasets.load(name)[0].shape[0], Peer("liblinear", name)
        for loss, solvers in SOLVERS.items():
            cells, inside, above, unreached = [], [], [], []
            for weight in LAMBDAS:
                c = 1 / (weight * rows)
                best = train(session, table, **liblinear_problem(c, rows, loss, 1e-9))()
                theirs, reached = loosest(peer, solvers, c, rows, best["dual"])
                for gap in GAPS:
                    runs = [train(session, table, **liblinear_problem(c, rows, loss, gap))() for _ in range(3)]
                    cpu, own = min(r["cpu"] for r in runs), min(r["seconds"] for r in runs)
                    if gap not in theirs:
                        unreached.append("%g to %g (ends at %.1e; ours %.3g s)" % (weight, gap, reached, cpu))
                        continue
                    cells.append((cpu / theirs[gap][0], cpu, theirs[gap][0]))
                    inside.append(own / theirs[gap][0])
                    if cells[-1][0] > 1:
                        above.append("%g to %g: %.2g, solver %.2g (%s; %.3g s)" % (weight, gap, cells[-1][0], inside[-1], runs[-1]["solver"], theirs[gap][0]))
            everything += [cell[0] for cell in cells]
            solver_only += inside
            never += len(unreached)
            middle = sorted(cells)[len(cells) // 2] if cells else (0, 0, 0)
            out.add("%s, %s" % (name, loss), "%.3g s" % middle[1] if cells else "", "%.3g s" % middle[2] if cells else "",
                    statistics.median(cell[0] for cell in cells) if cells else None, 1 if cells else None,
                    "; ".join(["%d cells, solver %.2g" % (len(cells), statistics.median(inside) if inside else 0)] + above +
                              (["never reached: " + ", ".join(unreached)] if unreached else [])))
        peer.close()
    out.add("all %d cells, median" % len(everything), "", "", statistics.median(everything), 0.5,
            "%d above 1 (of the solver alone %d, median %.2g); %d more that LIBLINEAR does not reach" % (
                sum(r > 1 for r in everything), sum(r > 1 for r in solver_only), statistics.median(solver_only), never))
    session.run("RESET margin.threads")
    return out

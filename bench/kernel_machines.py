"""The section about kernel machines: ours against LIBSVM on the same kernel. Registered in run.py."""
import datasets
from measure import Peer, Table, interleave, seconds
from statements import KERNEL_COSTS, KERNEL_SETS, libsvm_problem

EPS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)


def libsvm_to_gap(peer, c, gamma, primal, patience=40.0):
    """LIBSVM's run of loosest eps whose dual value is within 1e-6 of our primal value: an oracle in its favour. Returns
    (line or None, the last answer, its relative distance)."""
    for eps in EPS:
        line = "%g %g %.17g" % (c, eps, gamma)
        answer = peer.ask(line)
        apart = (primal - answer["dual"]) / primal
        if apart <= 1e-6:
            return line, answer, apart
        if answer["cpu"] > patience:
            break
    return None, answer, apart


def kernel_machines(session, train, repetitions):
    out = Table("kernel_machines", "Kernel machines against LIBSVM",
                "rbf with gamma = 1/d, C = 1 (soft: lambda = 1/n) and C = 1e6 (LIBSVM's way to a hard margin; ours: lambda = 1e-6/n), to a certified "
                "relative gap of 1e-6, whole SQL statement; against `svm_train` alone with the rows in memory and a 2 GB cache, at the loosest eps "
                "of a grid (factor 0.1) whose dual value is within 1e-6 of our certified one: an oracle in its favour. Where it gets there by "
                "no eps, or not within 40 s, the ratio is of our time to that of its last run.")
    for name in KERNEL_SETS:
        rows, width = datasets.load(name)[0].shape
        gamma, bound, peer = 1.0 / width, 0.7, Peer("libsvm", name)
        session.load(name, name)
        for c in KERNEL_COSTS:
            ours = train(session, name, **libsvm_problem(c, rows, width))
            model = ours()
            primal = model["primal"] * c * rows
            line, answer, apart = libsvm_to_gap(peer, c, gamma, primal)
            what = "%s, C = %g" % (name, c)
            remark = "%s, gap %.1e, %d support vectors; LIBSVM's dual %.1e below our primal" % (
                model["status"], model["gap"] / model["primal"], model["support"], apart)
            if line:
                seen = interleave({"ours": ours, "libsvm": lambda: peer.ask(line)}, repetitions)
                out.compare(what, seen["ours"], seen["libsvm"], bound, remark + " (eps %s)" % line.split()[1])
            else:
                seen = interleave({"ours": ours}, repetitions)
                out.add(what, seconds(seen["ours"]), "not within 1e-6 in %.3g s" % answer["cpu"],
                        seen["ours"]["cpu"] / answer["cpu"], bound, remark)
        peer.close()
    return out

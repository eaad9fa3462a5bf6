"""The section about rows beyond margin.memory_limit. Registered in run.py."""
import threading
import time

from measure import Session, Table, interleave

ROWS, FEATURES, LIMIT_MB = 2_000_000, 375, 512

# Windows of random sequences, short enough to lie in the page itself; a first feature that separates the classes for
# the hard margin, and a label with noise for the soft ones.
MAKE = """
CREATE UNLOGGED TABLE spill_rows (id int, side boolean, coin boolean, x real[]);
ALTER TABLE spill_rows ALTER x SET STORAGE PLAIN; -- no attempts to compress random numbers
INSERT INTO spill_rows
SELECT id, id % 2 = 1 AS side, (hashint4(id) % 10 < 3) <> (x[2] + x[3] > 0) AS coin, x
  FROM (SELECT id, ARRAY[(id % 2 * 2 - 1) * 8::real] || v[1 + id / 20000 : {last} + id / 20000] AS x
          FROM spill_noise, generate_series(1, {rows}) AS id WHERE k = id % 20000 OFFSET 0) AS s
"""

NOISE = """
CREATE UNLOGGED TABLE spill_noise AS
SELECT k, array_agg((sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))::real) AS v
  FROM generate_series(0, 19999) AS k, generate_series(1, 480) GROUP BY k
"""

WORK = (("newton", "coin::int", 2, {"loss": "squared", "lambda": 1e-2}), ("cutting_plane", "side", 2, {"tolerance": 0.01}),
        ("sdca", "coin", 3, {"loss": "hinge", "lambda": 1e-4, "tolerance": 1e-2}))


class Peak(threading.Thread):
    """The most memory that a process had, in MB, without the server's shared buffers."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path, self.most, self.over = "/proc/%d/status" % pid, 0, False

    def run(self):
        while not self.over:
            with open(self.path) as file:
                lines = dict(line.split(":", 1) for line in file)
            self.most = max(self.most, sum(int(lines[name].split()[0]) for name in ("RssAnon", "RssFile")) / 1024)
            time.sleep(0.005)


def spill(session, train, repetitions):
    out = Table("spill", "Rows beyond margin.memory_limit",
                "{:,} rows of {} random features as `real[]`, 3 GB: a training with `margin.memory_limit = '{}MB'`, whose rows are in a "
                "temporary file, against one that has them in memory; whole SQL statements. The peak is that of RssAnon + RssFile, "
                "sampled every 5 ms. The bound of newton and cutting_plane is 2, of sdca, which visits rows in another order, 3; that of "
                "the peak is 700 MB.".format(ROWS, FEATURES, LIMIT_MB))
    session.run("SELECT setseed(0.25)")
    session.run(NOISE)
    session.run("ANALYZE spill_noise")
    session.run(MAKE.format(rows=ROWS, last=FEATURES - 1))
    session.run("VACUUM ANALYZE spill_rows")
    for solver, label, bound, named in WORK:
        peaks = {}

        def contender(limit):
            def work():
                one = Session()  # a process of its own, whose peak is this training's
                one.run("SET margin.memory_limit = '%s'" % limit)
                one.run("LOAD 'margin'")
                peak = Peak(one.pid)
                peak.start()
                answer = train(one, "(SELECT %s AS y, x FROM spill_rows) AS r" % label, solver=solver, **named)()
                peak.over = True
                peak.join()
                one.close()
                peaks[limit] = max(peaks.get(limit, 0), peak.most)
                return answer
            return work

        small, large = "%dMB" % LIMIT_MB, "8GB"
        seen = interleave({small: contender(small), large: contender(large)}, repetitions)
        of, model = seen[small]["last"], seen[large]["last"]
        out.compare(solver, seen[small], seen[large], bound, "%s, %g iterations; in memory %s, %g iterations; solver and certificate "
                    "%.3g s, %.3g s" % (of["status"], of["iterations"], model["status"], model["iterations"], of["seconds"], model["seconds"]))
        out.add("%s, peak" % solver, "%.0f MB" % peaks[small], "%.0f MB" % peaks[large], peaks[small] / 700, 1, "the ratio is of 700 MB")
    session.run("DROP TABLE spill_rows, spill_noise")
    return out

"""Transactions in random order: cursors that overlap and are closed in any order, savepoints, prepared statements, and sessions
that end in the middle. A program is drawn as it runs, since what makes sense depends on what failed."""

# What comes after cursors: memory that was freed is used again.
WORK = ["SELECT count(*) FROM (SELECT repeat('A', 100 + i * 7) AS x FROM generate_series(1, 2000) AS i) AS s WHERE x LIKE '%B%'",
        "SELECT string_agg(repeat('A', i), '') IS NULL FROM generate_series(1, 1000) AS i"]
# Functions that keep something between two calls of one query, or give back several rows: twice as often as the others.
STATEFUL = ["SELECT margin_fourier(ARRAY[1.0, i]::float8[], 10, 1.0, %(n)d) FROM generate_series(1, 9) AS i", "SELECT margin_score(m, x) FROM models, points WHERE models.id IN (%(two)s)",
            "SELECT margin_scores(m, x) FROM models, points WHERE models.id IN (%(two)s)", "SELECT margin_encode((models.m).encoder, kinds), margin_score(models.m, kinds) FROM models, kinds WHERE models.id IN (%(rows)s)",
            "SELECT margin_features(kinds.id, k, m), margin_finite(x) FROM kinds", "SELECT margin_term(q, y, x) FROM scans, points WHERE scans.id IN (0, 1, 8)", "SELECT margin_term(m, y, x) FROM models, points WHERE models.id IN (%(two)s)",
            "SELECT margin_hashed_features(%(n)d, kinds.c, kinds.k) FROM kinds", "SELECT margin_update(m, y, x, false) FROM models, points WHERE models.id IN (%(two)s) GROUP BY models.id",
            "SELECT train_margin(k, x) OVER (ORDER BY id ROWS BETWEEN 9 PRECEDING AND 9 FOLLOWING) FROM points", "SELECT train_margin(y, x) FROM points GROUP BY id %% 7", "SELECT * FROM margin_solvers(), margin_losses()",
            "SELECT c.* FROM models, LATERAL margin_history(m) AS c", "SELECT c.* FROM models, LATERAL margin_weights(m) AS c WHERE models.id IN (%(two)s)", "SELECT (margin_importance(m)).* FROM models WHERE id IN (%(rows)s)",
            "SELECT margin_path(y, x, '{\"max_iterations\": 9}') FROM points GROUP BY id %% 5", "SELECT margin_explain(models.m, kinds) FROM models, kinds WHERE models.id IN (%(rows)s)",
            "SELECT margin_score_interval(m, x) FROM models, points WHERE models.id IN (%(two)s)", "SELECT margin_evaluate(m, y, x) OVER (PARTITION BY models.id ORDER BY points.id) FROM models, points WHERE models.id IN (%(two)s)",
            "SELECT train_margin_from('SELECT y, x FROM points WHERE id > ' || i) FROM generate_series(1, 5) AS i", "SELECT margin_roc(m, y, x) FROM models, points WHERE models.id IN (%(two)s) GROUP BY models.id",
            "SELECT margin_sum(t) FROM scans GROUP BY id", "SELECT margin_gap_at(m, 0.5) FROM models WHERE id IN (%(two)s)", "SELECT margin_predict(models.m, kinds), margin_fold(kinds.c, 3, %(n)d) FROM models, kinds WHERE models.id IN (%(rows)s)"]


class Program:
    """The commands of a transaction or two; `draw` is a Statements."""

    def __init__(self, draw):
        self.draw = draw
        self.done = []
        self.open, self.points, self.prepared = [], [], []
        self.failed = self.inside = False
        self.names = self.pairs = 0  # pairs of cursors that were open at the same time
        self.theme = [self.any_query() for _ in range(draw.pick([1, 1, 2, 3]))]  # overlapping calls of the same functions

    def query(self):
        return self.draw.pick(self.theme) if self.draw.chance(0.7) else self.any_query()

    def any_query(self):
        draw = self.draw
        if draw.chance(0.6):
            return draw.pick(STATEFUL) % {"n": draw.random.randrange(1, 20) * (-1 if draw.chance(0.1) else 1), "two": self.models("points", "x"), "rows": self.models("kinds", "kinds")}
        return draw.many() if draw.chance(0.7) else draw.statement()

    def models(self, table, features):
        known = [number for number, (label, seen, source) in self.draw.fits.items() if (label, seen, source) == ("y", features, table)]
        return "%d, %d" % (self.draw.pick(known), self.draw.pick(known))

    def name(self, kind):
        self.names += 1
        return "%s%d" % (kind, self.names)

    def declare(self):
        name = self.name("c")
        self.open.append(name)
        way = self.draw.pick(["", "", "", " SCROLL", " NO SCROLL", " BINARY"])
        return "DECLARE %s%s CURSOR%s FOR %s" % (name, way, self.draw.pick(["", "", "", "", " WITH HOLD"]), self.query())

    def fetch(self):
        return "%s %s FROM %s" % (self.draw.pick(["FETCH", "FETCH", "FETCH", "MOVE"]), self.draw.pick(["1", "1", "2", "5", "0", "NEXT", "40", "ALL", "BACKWARD 1", "FIRST", "ABSOLUTE 3"]),
                                  self.draw.pick(self.open))

    def close(self):
        return "CLOSE " + self.open.pop(self.draw.random.randrange(len(self.open)))

    def savepoint(self):
        self.points.append(self.name("s"))
        return "SAVEPOINT " + self.points[-1]

    def leave(self, how):
        at = self.draw.random.randrange(len(self.points))
        name = self.points[at]
        del self.points[at + (how == "ROLLBACK TO"):]
        self.failed = self.failed and how != "ROLLBACK TO"
        return how + " " + name

    def prepare(self):
        if self.prepared and self.draw.chance(0.6):
            return "EXECUTE " + self.draw.pick(self.prepared)
        name = self.name("p")
        self.prepared.append(name)
        return "PREPARE %s AS %s" % (name, self.query())

    def end(self):
        self.points, self.failed, self.inside, self.open = [], False, False, []
        return self.draw.pick(["COMMIT", "COMMIT", "ROLLBACK"])

    def next(self):
        draw = self.draw
        if not self.inside:
            self.inside = True
            return draw.pick(["BEGIN", "BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ"])
        if self.failed:
            return self.leave("ROLLBACK TO") if self.points and draw.chance(0.8) else self.end()
        chance = draw.random.random()
        if chance < 0.25 and len(self.open) < 7 or not self.open and chance < 0.8:
            return self.declare()
        if chance < 0.6 and self.open:
            return self.fetch()
        if chance < 0.72 and self.open:
            return self.close()
        if chance < 0.8:
            return self.savepoint()
        if chance < 0.88 and self.points:
            return self.leave(draw.pick(["ROLLBACK TO", "ROLLBACK TO", "RELEASE"]))
        if chance < 0.92:
            return self.prepare()
        if chance < 0.94:
            return self.end()
        return draw.pick([draw.statement(), draw.pick(WORK), draw.alteration()])

    def commands(self, count):
        """Yields commands; send() says whether the last one failed."""
        for _ in range(count):
            command = self.next()
            self.done.append(command)
            self.failed = (yield command) and self.inside
            if command.startswith("DECLARE") and not self.failed:
                self.pairs += len(self.open) - 1
        rest = self.draw.pick([[], ["CLOSE ALL"], ["CLOSE " + name for name in self.open], ["CLOSE " + name for name in reversed(self.open)]])
        for command in rest + [self.draw.pick(["COMMIT", "ROLLBACK"])] + self.draw.pick([[], WORK]):
            self.done.append(command)
            yield command

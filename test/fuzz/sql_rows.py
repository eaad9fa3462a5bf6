"""Rows of every kind of type, the encoders that read them, and models that were taken apart: what sql_statements.py draws beside
values of one type."""
import copy
import json

# Row types that changed after rows were stored in them, that inherit, that hide behind a domain, that hold rows.
TABLES = """
CREATE DOMAIN share AS float8 CHECK (VALUE >= 0);
CREATE DOMAIN coordinates AS float8[] CHECK (cardinality(VALUE) < 9);
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN pairs AS pair;
CREATE TYPE nest AS (p pair, q float8[], z share);
CREATE TABLE changed (gone text, id int, y boolean, n numeric, c varchar(9), lost float8[], d date, e mood, x coordinates);
INSERT INTO changed SELECT repeat('gone', i), i, i > 9, NULLIF(i, 4) / 3.0, NULLIF('c' || i % 4, 'c3'), ARRAY[i, 2], date '2021-07-01' + i, (ARRAY['a', 'b', 'c'])[1 + i % 3]::mood,
    ARRAY[i, i % 3, i % 5, 1] FROM generate_series(1, 12) AS i;
ALTER TABLE changed DROP COLUMN gone, DROP COLUMN lost;
ALTER TABLE changed ADD COLUMN f share DEFAULT 7, ADD COLUMN g text DEFAULT 'late', ADD COLUMN h coordinates DEFAULT '{1,2,3,4}', ADD COLUMN s margin_sparse DEFAULT '{2:1}/4';
INSERT INTO changed SELECT 12 + i, i > 3, i, 'c' || i % 4, date '2021-08-01' + i, 'a', ARRAY[i, 1, 2, 3], 1, 'soon', ARRAY[i, 1, 1, 0], NULL FROM generate_series(1, 6) AS i;
CREATE TABLE parent (id int, y boolean, a float8, b text);
CREATE TABLE child (b text, z int, a float8, lost int, y boolean, id int);
ALTER TABLE child DROP COLUMN lost;
ALTER TABLE child INHERIT parent;
INSERT INTO parent SELECT i, i > 5, i / 3.0, 'b' || i % 2 FROM generate_series(1, 6) AS i;
INSERT INTO child SELECT 'b' || i % 3, i, -i, i > 5, 6 + i FROM generate_series(1, 6) AS i;
CREATE TABLE nested (id int, y boolean, p pair, q pairs, n nest, l pair[], x float8[]);
INSERT INTO nested SELECT i, i > 6, ROW(i, 'a')::pair, ROW(i, 'b')::pair::pairs, ROW(ROW(i, NULL), ARRAY[i, 1], i)::nest, ARRAY[ROW(i, 'c')::pair], ARRAY[i, 2, i % 3, 1] FROM generate_series(1, 12) AS i;
CREATE TABLE kinds (id int, y boolean, k int, b boolean, n float8, d date, t time, i interval, w timestamptz, c text, e mood, m numeric(9,2), x real[], s margin_sparse);
INSERT INTO kinds SELECT i, i > 9, i % 3, i % 2 = 0, NULLIF(i, 5) * 1.5, date '2021-07-01' + i, time '10:00' + i * interval '7 min', i * interval '1 day', timestamptz '2021-07-01 00:00Z' + i * interval '5 h',
    (ARRAY['x', 'y', NULL, 'z'])[1 + i % 4], (ARRAY['a', 'b', 'c'])[1 + i % 3]::mood, i / 7.0, ARRAY[i, i % 4], ('{' || 1 + i % 4 || ':' || i || '}/5')::margin_sparse FROM generate_series(1, 18) AS i;
CREATE TABLE gaps (id int, y int, s margin_sparse);
INSERT INTO gaps SELECT i, i % 3 - 1, CASE WHEN i % 4 = 0 THEN '{}/100000' ELSE '{' || i % 3 + 1 || ':1,' || 1700 + i % 5 || ':' || i || '}/100000' END::margin_sparse FROM generate_series(1, 12) AS i;
CREATE VIEW seen AS SELECT id, y, n, c, d, e, f FROM changed
"""
NAMES = "changed, parent, child, nested, kinds, gaps, seen"
DROP = """
DROP VIEW IF EXISTS seen; DROP TABLE IF EXISTS changed, parent, child, nested, kinds, gaps CASCADE;
DROP TYPE IF EXISTS nest, pairs, pair, coordinates, share CASCADE
"""
# A table, its labels, its features; `mine` belongs to the session, which changes it.
SOURCES = {
    "points": (["y", "k", "t", "y", "k", "t", "'c' || k", "k::float8", "d", "NULLIF(k, 1)", "mood"], ["x", "x", "r", "s", "e", "x", "x", "e", "i", "x[1:2]", "points"]),
    "changed": (["y", "n", "c", "e", "d"], ["changed", "changed", "x", "h", "s", "ROW(x, n)"]),
    "parent": (["y", "a", "b"], ["parent", "ROW(a, b)"]), "child": (["y", "z"], ["child", "child::parent"]),
    "nested": (["y", "id"], ["nested", "p", "q", "n", "l", "x", "ROW(p, x)"]),
    "kinds": (["y", "k", "n", "c", "m", "e"], ["kinds", "kinds", "x", "s", "(SELECT f FROM (SELECT kinds.*, id AS z) AS f)"]),
    "gaps": (["y", "y", "y > 0"], ["s", "s", "gaps"]), "seen": (["y", "n", "c"], ["seen"]),
    "mine": (["y", "id", "a"], ["mine", "mine", "x"])}
MINE = "CREATE TEMP TABLE mine AS SELECT id, y, k AS a, x, 'c' || k AS b FROM points WHERE id <= 12"

COLUMN_TYPES = {"number": ["double precision", "integer", "numeric"], "boolean": ["boolean"], "date": ["date", "timestamp without time zone"],
                "interval": ["interval"], "time": ["time without time zone"], "category": ["text", "mood"], "dense": ["real[]", "double precision[]"], "sparse": ["margin_sparse", "x"]}
UNITS = {"date": "days since 1970-01-01", "interval": "days", "time": "hours"}
WIDTHS = [0, 1, 2, 3, 4, 4, 1000, 100000, 1431655766, 2147483640, 2147483646, 2147483647]
ODD = [None, True, -1, 0, 1, 2, 3, 1.5, 1e300, -1e300, 1e-300, 2147483646, 2147483647, 2147483648, -2147483648, 4294967296, 1e10, "", "x", "NaN", "Infinity", [], {}, [[]], [None], "number",
       "sparse", "dense", "category"]


class Rows:
    """What Statements knows of rows; `shapes` are the models of the tables of sql.py as JSON, `files` as PMML."""

    shapes, files = [], []

    def cell(self, kind):
        """A value that an encoder's column of this kind reads."""
        return self.pick({
            "number": ["1", "2.5", "NULL::float8", "'7'::numeric", "'NaN'::float8", "'Infinity'::float8", "-3::smallint"], "boolean": ["true", "false", "NULL::boolean"],
            "date": ["date '2021-07-03'", "timestamp '2021-07-03 12:00'", "date 'infinity'", "NULL::date"], "interval": ["interval '1 day'", "interval '-300 years'", "NULL::interval"],
            "time": ["time '10:00'", "time '24:00'"], "category": ["'a'::text", "'zz'::text", "'b'::mood", "''::text", "NULL::text"],
            "dense": ["'{1,2,3,4}'::float8[]", "'{1,2}'::real[]", "'{}'::float8[]", "'{1,NULL}'::real[]", "NULL::real[]", "'{{1,2},{3,4}}'::float8[]"],
            "sparse": ["'{1:1}'::margin_sparse", "'{}'::margin_sparse", "'{2147483647:1}'::margin_sparse", "'{2147483640:1}'::margin_sparse", "'{1:1,3:2}/4'::margin_sparse", "NULL::margin_sparse"],
        }.get(kind, ["1"]))

    def sizes(self, count):
        return count if self.chance(0.95) else self.pick([0, 1, count + 1, max(0, count - 1)])

    def column(self, name):
        kind = self.pick(list(COLUMN_TYPES))
        column = {"name": name, "type": self.pick(COLUMN_TYPES[kind]), "kind": kind, "missing": self.chance(0.4)}
        values = 1
        if kind in UNITS:
            column["unit"] = UNITS[kind]
        if kind == "category":
            column["categories"] = sorted(self.random.sample(["", "a", "b", "c", "x", "zz", "\u00e9"], self.random.randrange(5)))
            if self.chance(0.3):
                column["reference"] = self.pick([True, True, column["categories"][-1] if column["categories"] else "a"])
            values = max(0, len(column["categories"]) - ("reference" in column))
        elif kind in ("dense", "sparse"):
            values = column["width"] = self.pick(WIDTHS[:5] if kind == "dense" else WIDTHS)
        if kind not in ("category", "sparse"):
            for part in ("fill", "center", "scale"):
                column[part] = [self.pick([0, 1, 2.5, -3, 1e300, 1e-300]) if part != "scale" else self.pick([1, 0.5, 1e-300, 1e300]) for _ in range(self.sizes(values))]
        if self.chance(0.06):
            column[self.pick(list(column) + ["unit", "reference", "categories", "width", "other"])] = copy.deepcopy(self.pick(ODD))
        return column, values + column["missing"] if isinstance(values, int) and isinstance(column["missing"], bool) else 1

    def encoder(self):
        """An encoder as JSON, and how many features it claims."""
        names = sorted(self.random.sample(["a", "b", "c", "d", "e", "f"], self.pick([1, 1, 2, 2, 3, 5])))
        if self.chance(0.03):
            names.append(self.pick(names))
        columns, features = [], 0
        for name in names:
            column, count = self.column(name)
            columns.append(column)
            features += count
        encoder = {"version": 1, "missing": self.pick(["impute", "impute", "skip", "error"]), "unknown_features": self.pick(["reference", "error"]), "columns": columns}
        if self.chance(0.15) and features > 1:
            encoder["dropped"] = sorted(self.random.sample(range(min(features, 9)), self.sizes(1)))[:features - 1]
            features -= len(encoder["dropped"])
        if self.chance(0.03):
            encoder[self.pick(list(encoder) + ["other"])] = copy.deepcopy(self.pick(ODD))
        return encoder, features

    def row_for(self, encoder):
        """A row that such an encoder reads, or nearly."""
        columns = encoder["columns"] if isinstance(encoder.get("columns"), list) else []
        cells = ["%s AS %s" % (self.pick([self.cell(str(c.get("kind")))] * 12 + [self.cell("number"), self.cell("sparse"), "ROW(1,2)"]), str(c.get("name") or "a"))
                 for c in columns if isinstance(c, dict) and isinstance(c.get("name"), str) and not self.chance(0.04)]
        if self.chance(0.1):
            cells.append(self.pick(["1 AS a", "now() AS z", "NULL AS g", "'{1:1}'::margin_sparse AS f"]))
        return "(SELECT %s FROM (SELECT %s) AS r)" % (self.pick(["r", "r", "to_jsonb(r)"]), ", ".join(cells or ["1 AS a"]))

    def forged_encoder(self):
        """A model with a forged encoder, and a row for it."""
        encoder, features = self.encoder()
        wide = features > 50
        columns = sorted({1, self.pick([2, 3, 1000, features]), features}) if wide else None
        weights = len(columns) if wide else features
        model = {"weights": [self.pick([1, -1, 0.5, 1e300]) for _ in range(weights)], "intercept": [0], "dimensions": features,
                 "loss": self.pick(["squared", "hinge", "logistic", "poisson"]), "lambda": self.pick([1, 0.1]), "norm": 2, "encoder": encoder}
        if wide:
            model["columns"] = columns
        if model["loss"] in ("hinge", "logistic"):
            model["classes"] = ["a", "b"]
        if self.chance(0.15):
            model[self.pick(["dimensions", "weights", "columns", "intercept", "ball", "curvature", "classes", "kernel"])] = copy.deepcopy(self.pick(ODD + [1, 2, weights, features, features + 1]))
        text = self.quoted(json.dumps(model))
        value = "jsonb_populate_record(NULL::margin_model, %s)" % text if self.chance(0.6) else "margin_from_json(%s)" % text
        return value, self.row_for(encoder)

    def encoder_with_row(self):
        encoder, _ = self.encoder()
        return self.quoted(json.dumps(encoder)) + "::jsonb", self.row_for(encoder)

    # --- a model as JSON, changed anywhere ------------------------------------------------------------------------------
    def reshaped(self):
        """A stored model's JSON with one to three of its parts, however deep, replaced, doubled or left out."""
        shape = copy.deepcopy(self.pick(self.shapes))
        for _ in range(self.pick([1, 1, 2, 3])):
            at = shape
            while True:
                keys = list(at) if isinstance(at, dict) else range(len(at))
                if not keys:
                    break
                key = self.pick(keys)
                if at is shape and self.chance(0.35):  # where most of the checks are
                    key = self.pick([k for k in ("encoder", "curvature", "ball", "columns", "kernel_parameters", "calibration", "options") if k in at] or [key])
                inner = at[key]
                if isinstance(inner, (dict, list)) and inner and not self.chance(0.15):
                    at = inner
                    continue
                change = self.random.random()
                if change < 0.12:
                    del at[key]
                elif change < 0.24 and isinstance(at, list):
                    at.insert(key, copy.deepcopy(inner))
                elif change < 0.36 and isinstance(inner, list):
                    at[key] = inner[:self.random.randrange(len(inner) + 1)] + self.pick([[], inner[:3], [0] * 7])
                elif change < 0.5 and isinstance(inner, (int, float)) and not isinstance(inner, bool):
                    at[key] = self.pick([inner + 1, inner - 1, -inner, inner * 1e300, inner / 3, 0])
                else:
                    at[key] = copy.deepcopy(self.pick(ODD))
                break
        return self.quoted(json.dumps(shape).replace("Infinity", "1e308").replace("NaN", "0"))

    # --- types of rows --------------------------------------------------------------------------------------------------
    def row(self):
        """A row of a table or made up: (SELECT ...)."""
        kind = self.random.random()
        if kind < 0.3:
            return self.row_for(self.encoder()[0])
        table = self.pick(["points", "changed", "parent", "child", "nested", "kinds", "kinds", "seen", "mine", "mine"])
        whole = self.pick(["%s", "%s", "%s", "NULLIF(%s, NULL)", "(%s)", "to_jsonb(%s)"]) % table
        if kind < 0.4:
            whole = self.pick(["NULL::" + table, "ROW(%s.*)" % table, "jsonb_populate_record(NULL::%s, %s)" % (table, self.pick(["'{}'", "'{\"id\": 1, \"y\": true, \"a\": 2, \"b\": \"b1\"}'"]))])
        return "(SELECT %s FROM %s ORDER BY id LIMIT 1 OFFSET %d)" % (whole, table, self.random.randrange(12))

    def alteration(self):
        """A change of the session's own table, between two uses of its rows."""
        name = self.pick(["a", "b", "c", "d", "e", "x", "f"])
        kind = self.pick(["int", "float8", "text", "float8[]", "mood", "date", "margin_sparse", "pair", "share", "jsonb", "pairs"])
        fill = {"int": "3", "float8": "2.5", "text": "'b1'", "float8[]": "'{1,2,3,4}'", "mood": "'b'", "date": "'2021-07-01'", "margin_sparse": "'{1:1}/4'", "pair": "'(1,a)'", "share": "1",
                "jsonb": "'{}'", "pairs": "'(2,b)'"}[kind]
        return self.pick(["ALTER TABLE mine ADD COLUMN %s %s DEFAULT %s" % (name, kind, fill), "ALTER TABLE mine ADD COLUMN %s %s" % (name, kind), "ALTER TABLE mine DROP COLUMN %s" % name,
                          "ALTER TABLE mine ALTER COLUMN %s TYPE %s USING %s" % (name, kind, fill), "ALTER TABLE mine RENAME COLUMN %s TO %s" % (name, self.pick(["a", "b", "c", "d", "e", "f"])),
                          "UPDATE mine SET %s = %s" % (name, self.pick(["NULL", "DEFAULT", fill])), "INSERT INTO mine DEFAULT VALUES", "DELETE FROM mine WHERE y IS NULL",
                          "TRUNCATE mine; INSERT INTO mine (id, y) SELECT i, i > 4 FROM generate_series(1, 8) AS i"])

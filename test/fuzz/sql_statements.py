"""Random statements over all functions of the extension, which are taken from the catalogue: a new one is called without
being named here. Arguments are mostly well formed, with one or two places that are not."""
import json
import random

from sql_rows import SOURCES, Rows

NUMBERS = ["0", "1", "-1", "0.5", "2", "3", "1e-3", "1e-300", "1e300", "-1e308", "5e-324", "1e15", "1e16", "2147483647",
           "2147483648", "9007199254740993", "1e-9", "7", "100", "1.7976931348623157e308"]
ODD_FLOATS = NUMBERS + ["NaN", "Infinity", "-Infinity"]
INTEGERS = ["0", "1", "-1", "2", "3", "4", "7", "100", "1000", "2147483647", "-2147483648", "300000000"]
WORDS = ["free", "penalized", "joint", "one_vs_rest", "quantile", "poisson", "hinge", "logistic", "squared", "absolute", "huber", "interpolate", "balanced", "auto", "optimal", "none", "linear",
         "rbf", "polynomial", "ntk", "ntk_finite", "stumps", "trees", "frank_wolfe", "features", "platt", "isotonic", "null", "last", "average",
         "sgd", "notice", "off", "accuracy", "auc", "r2", "true", "a", "b", "1", "", "x" * 300, "\u00e9", "\U0001f600"]
SPARSE = ["{}", "{1:1}", "{1:1,2:-2}", "{1:0.5,3:2}/3", "{2:1e300}/4", "{2147483647:1}", "{1:1}/2147483647", "{4:1}/100000",
          "{1:1e-320}", "{1:1,2:1,3:1,4:1,5:1}", "1:1 2:2", "{1:1}/300000000"]
# What has nothing to do with the extension, or only by its looks.
STRANGERS = ["NULL", "1", "'x'", "now()", "'{1,2,3}'::int[]", "'{a,b}'::text[]", "'{1,2}'::numeric[]", "'{t,f}'::bool[]",
             "true", "'1 day'::interval", "B'101'", "'\\x0102'::bytea", "ROW(1,2)", "ROW(1,'a',NULL)", "ROW()",
             "ARRAY[ROW(1,2)]", "'(1,2)'::point", "'{}'::jsonb", "'{\"1\":2}'::jsonb", "'{}'::float8[]", "'{{1,2},{3,4}}'::float8[]",
             "'[5:7]={1,2,3}'::float8[]", "'{NULL,1}'::float8[]", "'{NaN,1,2}'::float8[]", "1::\"char\"", "'a'::mood",
             "'{a,b}'::mood[]", "1.5::numeric", "'NaN'::numeric", "'Infinity'::float8", "repeat('x', 5000)", "'\\x'::bytea",
             "'{\"{1:1}\"}'::margin_sparse[]", "ARRAY[NULL::margin_sparse]", "1::oid", "'pg_class'::regclass", "'5'::money",
             "int4range(1,5)", "'2021-07-01'::date", "NULL::text", "NULL::float8[]", "NULL::record", "'1'::xml", "'{1,2}'::oid[]",
             "'{{{1}}}'::real[]", "'1 2'::int2vector", "'{}'::margin_sparse[]", "tid '(1,2)'", "'a'::tsvector", "repeat('1', 400)::numeric"]

# As margin_pmml writes it.
PMML = """<?xml version="1.0"?>
<PMML version="4.4" xmlns="http://www.dmg.org/PMML-4_4"><Header><Application name="margin" version="1"/></Header>
<DataDictionary numberOfFields="3"><DataField name="x1" optype="continuous" dataType="double"/><DataField name="x2" optype="continuous" dataType="double"/>
<DataField name="target" optype="categorical" dataType="string"><Value value="a"/><Value value="b"/></DataField></DataDictionary>
<RegressionModel functionName="classification" normalizationMethod="softmax"><MiningSchema><MiningField name="x1"/><MiningField name="x2"/>
<MiningField name="target" usageType="target"/></MiningSchema><RegressionTable intercept="0.5" targetCategory="b"><NumericPredictor name="x1" coefficient="-1e-3"/>
</RegressionTable><RegressionTable intercept="0" targetCategory="a"/></RegressionModel></PMML>"""


class Statements(Rows):
    """Draws statements; `functions`, `attributes`, `models` and `scans` come from the catalogue and the tables of sql.py, `fits`
    says of a model which label and features of which table it was made of."""

    METRICS = ["accuracy", "balanced_accuracy", "f1", "f1_macro", "mcc", "auc", "average_precision", "log_loss", "brier", "mse", "r2"]

    def __init__(self, seed, functions, attributes, options, solvers, models, scans, judged, fits):
        self.random = random.Random(seed)
        self.fits = fits
        self.functions, self.attributes, self.options = functions, attributes, options
        self.words = WORDS + solvers
        self.models, self.scans = models, scans
        self.judged = judged  # scans of a model's terms: which model
        # what a model's answers depend on; the others are told, not used
        self.meant = [pair for pair in attributes if pair[0] in (
            "loss", "dimensions", "classes", "weights", "intercept", "options", "calibration", "kernel", "kernel_parameters",
            "sparse_support_vectors", "support_vectors", "dual_weights", "ball", "learners", "stumps", "norm", "lambda")] or attributes
        self.makers = {
            "any": self.anything, "anyelement": self.anything, "margin_model": self.model, "jsonb": self.jsonb,
            "margin_sparse": self.sparse, "double precision": self.double, "real": self.double, "integer": self.integer,
            "bigint": self.integer, "text": self.text, "boolean": lambda: self.pick(["true", "false", "NULL"]),
            "bytea": self.bytes, "cstring": lambda: self.text() + "::cstring",
            "double precision[]": lambda: self.array("float8"), "real[]": lambda: self.array("real"),
            "margin_question": lambda: self.scan_part("q"), "margin_term": lambda: self.scan_part("t"), "margin_state": lambda: self.scan_part("s"), "margin_profile": lambda: self.scan_part("p"),
            "query": self.query, "document": self.document, "encoder": lambda: self.encoder_with_row()[0], "label": self.label, "features": self.anything, "integer[]": lambda: self.array("int"), "text[]": self.texts, "numeric": self.double,
        }

    def pick(self, items):
        return items[int(self.random.random() * len(items))]

    def chance(self, p):
        return self.random.random() < p

    def quoted(self, text):
        return "'" + text.replace("'", "''") + "'"

    # --- values of a type, as SQL -----------------------------------------------------------------------------------
    def double(self):
        return "NULL" if self.chance(0.05) else "'" + self.pick(ODD_FLOATS) + "'::float8"

    def integer(self):
        return "NULL" if self.chance(0.05) else "'" + self.pick(INTEGERS) + "'::int"

    def text(self):
        if self.chance(0.3):
            return self.quoted(self.sparse_text())
        return "NULL" if self.chance(0.05) else self.quoted(self.pick(self.words))

    def texts(self):
        return "ARRAY[" + ",".join(self.text() for _ in range(self.random.randrange(5))) + "]::text[]"

    def array(self, kind):
        size = 4 if self.chance(0.8) else self.random.randrange(9)
        items = [self.pick(["0", "1", "-1", "2", "3"]) for _ in range(size)]
        if items and self.chance(0.3):
            items[self.random.randrange(size)] = self.pick(["NULL"] + (INTEGERS[:9] if kind == "int" else ODD_FLOATS))
        literal = "{" + ",".join(items) + "}"
        if items and self.chance(0.05):
            literal = self.pick(["{%s,%s}" % (literal, literal), "[0:%d]=%s" % (size - 1, literal)])
        return "'%s'::%s[]" % (literal, kind)

    def sparse_text(self):
        if self.chance(0.5):
            return self.pick(SPARSE)
        index, items = 0, []
        for _ in range(self.random.randrange(6)):
            index += self.pick([1, 1, 1, 2, 3, 0, 1000000])
            items.append("%d%s%s" % (index, self.pick([":", ":", ":", " ", "::"]), self.pick(ODD_FLOATS)))
        return "{" + self.pick([",", ",", " "]).join(items) + "}" + self.pick(["", "", "", "/4", "/0", "/1", "/2147483647", "/x"])

    def sparse(self):
        return "NULL::margin_sparse" if self.chance(0.03) else self.quoted(self.pick(SPARSE)) + "::margin_sparse"

    def bytes(self):
        return "'\\x" + "".join("%02x" % self.random.randrange(256) for _ in range(self.random.randrange(60))) + "'::bytea"

    def anything(self):
        """Mostly features of the four columns that the models know."""
        kind = self.random.random()
        if kind < 0.45:
            return self.array(self.pick(["float8", "float8", "real", "int"]))
        if kind < 0.6:
            return self.sparse()
        if kind < 0.66:
            return self.model()
        if kind < 0.72:
            return self.forged()
        return self.row() if kind < 0.85 else self.pick(STRANGERS)

    def label(self):
        return self.pick(["1", "-1", "0", "true", "false", "'c1'::text", "'a'::mood", "2.5::float8", "NULL::int", "NULL::boolean"] * 4 + STRANGERS)

    def forged(self):
        """A row that looks like a model by the names of its columns, some of them of types that a model has not."""
        columns = {"weights": "'{1,2}'::float8[]", "intercept": "'{0}'::float8[]", "dimensions": "2", "classes": "'{a,b}'::text[]",
                   "loss": "'hinge'::text"}
        if self.chance(0.6):
            columns.update(kernel="'rbf'::text", kernel_parameters="'{\"gamma\":1}'::jsonb",
                           sparse_support_vectors="'{\"{1:1}\",\"{2:1}\"}'::margin_sparse[]")
        odd = ["1234567::bigint", "'x'", "'\\x020000000200000001000000000000000000f03f'::bytea", "ARRAY[1,2]::bigint[]", "now()",
               "ARRAY['\\x0200000002000000010000001000000000000000000000f03f'::bytea]", "NULL", "ROW(1,2)", "'{1}'::text", "'{1,2}'::real[]",
               "2::smallint", "1e300::float8", "'{{1,2}}'::float8[]", "ARRAY[point '(1,2)']", "'{}'::jsonb"]
        for _ in range(self.pick([0, 1, 1, 1, 2])):
            columns[self.pick(list(columns) + [name for name, _ in self.attributes])] = self.pick(odd)
        return "(SELECT r FROM (SELECT " + ", ".join("%s AS %s" % (value, name) for name, value in columns.items()) + ") AS r)"

    # --- JSON: options, and what an attribute of a model may be replaced by ---------------------------------------------
    def number(self):
        text = self.pick(ODD_FLOATS)
        return text if text[-1] in "Nny" else float(text)

    def json(self, depth=0):
        kind = self.random.randrange(4 if depth > 2 else 6)
        if kind == 0:
            return self.number()
        if kind == 1:
            return self.pick(self.words)
        if kind == 2:
            return self.chance(0.5)
        if kind == 3:
            return None
        if kind == 4:
            return [self.json(depth + 1) for _ in range(self.random.randrange(5))]
        return {self.pick(["weights", "intercept", "dual_weights", "a", "true", "1", "gamma", "slope", "values"]): self.json(depth + 1)
                for _ in range(self.random.randrange(4))}

    def sensible_options(self):
        options = {"max_iterations": self.pick([1, 5, 50]), "max_seconds": 0.5}
        if self.chance(0.6):
            options["lambda"] = self.pick([0.1, 1e-3, 1, 1e-9, 0])
            if self.chance(0.6):
                options["loss"] = self.pick(["hinge", "logistic", "squared", "squared_hinge", "smoothed_hinge", "absolute",
                                             "huber", "epsilon_insensitive", "squared_epsilon_insensitive", "quantile", "poisson"])
            if self.chance(0.4):
                options["intercept"] = self.pick(["free", "penalized", True, False])
        elif self.chance(0.4):
            options["norm"] = self.pick([1, 1.5, 2, 1.02])
        if self.chance(0.2):
            options["kernel"] = self.pick(["linear", "rbf", "polynomial", "ntk", "ntk_finite"])
            if options["kernel"] == "ntk_finite":
                options["width"] = 5
        if self.chance(0.3):
            options["solver"] = self.pick(self.words[len(WORDS):])
        if self.chance(0.1):  # what the papers' methods are given by
            options.update(self.pick([
                {"solver": "sdca", "lambda": 0.1, "loss": "logistic", "accelerated": True}, {"solver": "sgd", "lambda": 0.1, "draws": 7, "history": True},
                {"solver": "sdca", "lambda": 0.1, "output": "average", "average_from": 2, "gap_tolerance": 0.01}, {"solver": "boosting", "norm": 1, "history": True},
                {"solver": "mirror_descent", "norm": 1.5, "mirror_loss": "squared", "step": "1/sqrt(t)"}, {"solver": "dykstra", "loss": "interpolate", "intercept": False},
                {"solver": "kernel_momentum", "kernel": "rbf"}]))
        return options

    def jsonb(self):
        if self.chance(0.03):
            return "NULL"
        options = self.sensible_options() if self.chance(0.8) else {}
        for _ in range(self.pick([0, 1, 1, 2, 3])):
            options[self.pick(self.options)] = self.json()
        if self.chance(0.05):  # of cross-validation
            options.update({"folds": self.pick([2, 3]), "predictions": self.chance(0.7), "metric": self.pick(self.METRICS)})
        if self.chance(0.02):
            options = self.json()
        return self.quoted(json.dumps(options)) + "::jsonb"

    def attribute(self, kind):
        if self.chance(0.1):
            return None
        if self.chance(0.1) and kind.endswith("[]"):
            return []
        if kind == "double precision":
            return self.number()
        if kind in ("integer", "bigint"):
            return int(self.pick(INTEGERS))
        if kind == "text":
            return self.pick(self.words)
        if kind == "text[]":
            return [self.pick(self.words + [None]) for _ in range(self.random.randrange(5))]
        if kind == "double precision[]":
            size = self.random.randrange(7)
            if self.chance(0.2):
                return [[self.number() for _ in range(size)] for _ in range(self.random.randrange(1, 4))]
            return [self.number() if self.chance(0.2) else self.pick([0, 1, -1, 0.5, None] if self.chance(0.1) else [0, 1, -1, 0.5])
                    for _ in range(size)]
        if kind == "jsonb":
            return self.pick([self.sensible_options(), self.json(), {"gamma": self.number()}, {"degree": self.number(), "coef0": 1}])
        if kind == "margin_sparse[]":
            return [self.pick(SPARSE + [None]) for _ in range(self.random.randrange(5))]
        return self.pick([None, "x", 1])

    def changes(self):
        """Attributes to replace, a few of them, many rarely."""
        chosen = [self.pick(self.meant if self.chance(0.7) else self.attributes) for _ in range(self.pick([1, 1, 1, 2, 2, 3, 8]))]
        return {name: self.attribute(kind) for name, kind in chosen}

    def model(self):
        """A stored model, unchanged or with some attributes replaced, on each of the ways that users have."""
        stored = "(SELECT m FROM models WHERE id = %d)" % self.pick(self.models)
        kind = self.random.random()
        if kind < 0.25:
            return stored
        if kind < 0.28:
            return "NULL::margin_model"
        if kind < 0.36 and self.shapes:
            return ("margin_from_json(%s)" if self.chance(0.5) else "jsonb_populate_record(NULL::margin_model, %s)") % self.reshaped()
        changes = self.quoted(json.dumps(self.changes()))
        if kind < 0.45:  # with attributes of another model
            names = "{" + ",".join(self.pick(self.meant)[0] for _ in range(self.pick([1, 1, 2, 3]))) + "}"
            return ("margin_from_json(margin_to_json(%s) || (SELECT jsonb_object_agg(key, value) FROM models, jsonb_each(margin_to_json(m)) "
                    "WHERE id = %d AND key = ANY ('%s')))" % (stored, self.pick(self.models), names))
        if kind < 0.65:
            return "jsonb_populate_record(%s, %s)" % (stored, changes)
        if kind < 0.9:
            return "margin_from_json(margin_to_json(%s) || %s)" % (stored, changes)
        values = []
        for _, kind in self.attributes:
            value = self.attribute(kind) if self.chance(0.4) else None
            values.append("jsonb_build_object('v', %s::jsonb)" % self.quoted(json.dumps(value)) if self.chance(0.02) else
                          "NULL" if value is None or isinstance(value, (list, dict)) else self.quoted(str(value)))
        return "ROW(" + ",".join(values) + ")::margin_model"

    def scan_part(self, column, scan=None):
        """A stored question, term, state or profile, or its text with some bytes replaced."""
        if column == "p":
            stored = "(SELECT p FROM profiles WHERE id = %d)" % self.pick(range(4))
        elif scan is None:
            scan = self.pick(self.scans if column == "q" else list(self.scans) + list(self.judged))
        if column != "p":
            stored = "(SELECT %s FROM scans WHERE id = %d)" % (column, scan)
        kind = self.random.random()
        if kind < 0.6:
            return stored
        if kind < 0.65:
            return "NULL"
        type_name = {"q": "margin_question", "t": "margin_term", "s": "margin_state", "p": "margin_profile"}[column]
        text = "%s::text" % stored
        for _ in range(self.pick([1, 1, 1, 2, 4])):
            byte = self.pick(["00", "01", "02", "7f", "80", "ff", "%02x" % self.random.randrange(256)])
            text = "overlay(%s PLACING '%s' FROM %d)" % (text, byte * self.pick([1, 1, 1, 4, 8]), 3 + 2 * self.random.randrange(200))
        if kind > 0.95:
            text = "left(%s, %d)" % (text, 2 * self.random.randrange(200))
        return "(%s)::%s" % (text, type_name)

    def document(self):
        """A model file of another program, or PMML, with some of its bytes replaced."""
        text = self.pick(["solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n0.5\n-1\n2\n",
                          "solver_type L2R_L2LOSS_SVC\nnr_class 3\nlabel 2 0 1\nnr_feature 1\nbias -1\nw\n1 2 3\n",
                          "solver_type L2R_L1LOSS_SVR_DUAL\nnr_class 2\nnr_feature 2\nbias 2\nw\n1\n2\n3\n",
                          "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel 1 -1\nnr_sv 1 1\nSV\n0.5 1:1 3:2\n-0.5 2:4\n",
                          "svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho -3\nSV\n0.5 1:1 3:2\n",
                          self.pick(self.files or [PMML]), self.pick(self.files or [PMML]), PMML, PMML.replace("classification", "regression").replace("softmax", "none").replace("categorical", "continuous").replace('<RegressionTable intercept="0" targetCategory="a"/>', "")])
        for _ in range(self.pick([0, 0, 1, 1, 2, 5])):
            if self.chance(0.3):  # a number, or a line
                words = text.split("\n") if self.chance(0.3) else text.split(" ")
                at = self.random.randrange(len(words))
                words[at:at + 1] = self.pick([[], words[at:at + 1] * 2, [self.pick(ODD_FLOATS)], [self.pick(words)], [self.pick(INTEGERS)]])
                text = ("\n" if "\n" not in "".join(words) else " ").join(words) or " "
            at = self.random.randrange(len(text))
            text = text[:at] + self.pick(["", "-", "9", " ", "\n", "e", ":", "<", "/>", "&#9;", "1e999", "nan", "2147483647", text[at:at + 9] * 2]) + text[at + 1:]
        return "NULL" if self.chance(0.02) else self.quoted(text)

    def query(self):
        """A query to train on, or something like one."""
        columns = [self.pick(["y", "k", "t", "mood", "NULLIF(k, 1)", "'c' || k", "k AS label", "d", "id"]), self.pick(["x", "x", "r", "s", "i", "x AS features", "NULL", "x[1:2]"])]
        columns += self.pick([[], [], ["w"], ["1 - id AS weight"], ["k AS g"], ["w", "k AS g"]])
        if self.chance(0.1):
            self.random.shuffle(columns)
        text = "SELECT %s FROM %s%s" % (", ".join(columns), self.pick(["points", "points", "points", "points, models", "missing", "(TABLE points) AS p"]),
                                        self.pick(["", "", " WHERE id < 8", " WHERE false", " ORDER BY id LIMIT 9", ";", " -- end", "; SELECT 1", " FOR UPDATE", " GROUP BY 1"]))
        if self.chance(0.1):
            text = self.pick(["", ";", "VALUES (1, '{1}'::real[]), (2, '{3}')", "TABLE points", "DROP TABLE points", "DELETE FROM points RETURNING y, x", "SELECT $1, $2", "EXPLAIN " + text,
                              "WITH a AS (%s) SELECT * FROM a" % text, text + ") AS r, (" + text, "COPY points TO STDOUT", "SHOW all", "SELECT train_margin_from('SELECT y, x FROM points'), x FROM points",
                              "BEGIN", "SELECT y, x FROM points WHERE train_margin_from('SELECT k, x FROM points') IS NOT NULL", self.pick(self.words)])
        return "NULL" if self.chance(0.02) else self.quoted(text)

    # --- statements -----------------------------------------------------------------------------------------------------
    def argument(self, kind):
        if self.chance(0.02):
            return self.pick(STRANGERS)
        maker = self.makers.get(kind)
        return maker() if maker else self.pick(STRANGERS)

    def fitting(self, function):
        """Arguments of a function of a model and rows: a stored model and a row of its table, mostly as they are."""
        number = self.pick(list(self.fits))
        label, features, source = self.fits[number]
        row = " FROM %s ORDER BY id LIMIT 1 OFFSET %d)" % (source, self.random.randrange(12))
        known = {"margin_model": "(SELECT m FROM models WHERE id = %d)" % number, "label": "(SELECT %s%s" % (label or "1", row), "features": "(SELECT %s%s" % (features, row)}
        if self.chance(0.25):  # a row without a stored value
            known["features"] = self.pick(["'{}'::margin_sparse", "'{}/100000'::margin_sparse", "'{}/4'::margin_sparse", "'{0,0,0,0}'::float8[]", "(%s)" % known["features"]])
        return [known.get(kind) or (known.get(name) if not self.chance(0.05) else None) or self.argument(kind) for kind, name in zip(function["kinds"], function["names"])]

    def call(self, function):
        name, kinds, names, required, variadic = (function[k] for k in ("name", "kinds", "names", "required", "variadic"))
        if variadic:
            head = [self.argument(k) for k in kinds[:-1]]
            return "%s(%s)" % (name, ", ".join(head + [self.anything() for _ in range(self.random.randrange(1, 5))]))
        if kinds[:1] == ["margin_model"] and "any" in kinds[1:required] and self.chance(0.6):
            if self.chance(0.2):
                return "%s(%s)" % (name, ", ".join(list(self.forged_encoder()) + [self.argument(kind) for kind in kinds[2:required]]))
            return "%s(%s)" % (name, ", ".join(self.fitting(function)))
        if kinds == ["jsonb", "any"] and self.chance(0.8):
            return "%s(%s, %s)" % ((name,) + self.encoder_with_row())
        named = ("query", "document", "encoder", "label")
        arguments = [self.argument(n if n in named else kind) for n, kind in zip(names, kinds[:required])]
        if kinds == ["margin_model", "margin_state"] and self.chance(0.8):  # a state of this very model
            scan = self.pick(list(self.judged))
            arguments = ["(SELECT m FROM models WHERE id = %d)" % self.judged[scan], self.scan_part("s", scan)]
        optional = list(range(required, len(kinds)))
        if optional:
            open_ones = [k for k in optional if kinds[k] == "any"]  # an option of any type: rows, models, what looks like one
            for k in {self.pick(open_ones if open_ones and self.chance(0.3) else optional) for _ in range(self.pick([0, 1, 1, 2, 3]))}:
                value = self.forged() if kinds[k] == "any" and self.chance(0.4) else self.pick([self.argument(kinds[k])] * 2 + [self.pick(["1", "0.1", "'auto'", "true", "NULL", "'1'"])])
                arguments.append("%s => %s" % (names[k], value))
        return "%s(%s)" % (name, ", ".join(arguments))

    def aggregate(self, function, grouped=False):
        arguments = []
        source = "points" if self.chance(0.7) else self.pick(list(SOURCES))
        labels, rows = SOURCES[source]
        model = None
        if "margin_model" in function["kinds"] and self.chance(0.5):  # rows of the table that the model was made of
            number = self.pick(list(self.fits))
            label, features, source = self.fits[number]
            labels, rows, model = [label or "y"] * 5 + labels, [features] * 5 + rows, "(SELECT m FROM models WHERE id = %d)" % number
            if self.chance(0.2):  # or a row for a forged one
                model, row = self.forged_encoder()
                rows = [row]
        table = source
        for kind, name in zip(function["kinds"], function["names"]):
            if kind == "any" and name == "label":
                arguments.append(self.pick(labels * 4 + [self.anything()]))
            elif kind == "any" and name == "features":
                arguments.append(self.pick(rows * 4 + [self.anything()]))
            elif kind == "margin_model":
                source += ", models" if model is None and self.chance(0.2) else ""
                arguments.append(model or ("m" if "models" in source else self.model()))
            elif kind == "double precision":
                arguments.append(self.pick(["1", "w", "0", "-1", "id", self.double()]))
            else:
                arguments.append(self.argument(kind))
        extra = self.pick(["", "", "", " FILTER (WHERE id %% %d = 0)" % self.pick([2, 3, 100]), " OVER (ORDER BY id ROWS 5 PRECEDING)"])
        inner = ", ".join(arguments) + (self.pick(["", " ORDER BY id"]) if "OVER" not in extra else "")
        where = " GROUP BY id" if grouped else self.pick(["", "", " WHERE id <= 12", " WHERE id < 0", " GROUP BY id % 3"])
        if "OVER" in extra or "models" in source:
            where = " WHERE id <= 6" if "models" not in source else " WHERE %s.id <= 10 GROUP BY models.id" % table
            extra = "" if "models" in source else extra
            inner = inner.replace("ORDER BY id", "ORDER BY %s.id" % table).replace(", id", ", %s.id" % table)
        return "%s(%s)%s FROM %s%s" % (function["name"], inner, extra, source, where)

    def block(self):
        """Models, rows and arrays as variables of PL/pgSQL: objects that the server keeps expanded, records of changing types."""
        number = self.pick(list(self.fits))
        _, features, source = self.fits[number]
        function = self.pick([f for f in self.functions if f["kinds"][:1] == ["margin_model"] and not f["aggregate"]])
        rest = [self.argument(n if n == "label" else kind) for n, kind in zip(function["names"][1:function["required"]], function["kinds"][1:])]

        def use(value):
            return "PERFORM %s(%s);" % (function["name"], ", ".join(["m"] + [value if kind == "any" and name == "features" else other
                                        for other, kind, name in zip(rest, function["kinds"][1:], function["names"][1:])]))

        field, kind = self.pick(self.meant)
        index = self.random.randrange(1, 6)
        change = self.pick(["", "m.%s := NULL;" % field, "m.weights[%d] := %s;" % (index, self.double()), "m.intercept[%d] := 1;" % index,
                            "m.%s := (SELECT (o.m).%s FROM models AS o WHERE id = %d);" % (field, field, self.pick(self.models))])
        body = self.pick(["FOR r IN SELECT * FROM {s} LIMIT 3 LOOP {r} {c} END LOOP;", "FOR r IN SELECT {f} AS f FROM {s} LIMIT 3 LOOP {f1} END LOOP; {c} {a}",
                          "a[{i}] := 7; {a} {c} a[2] := NULL; {a}", "SELECT * INTO r FROM {s} LIMIT 1; {r} {t}; SELECT * INTO r FROM mine LIMIT 1; {r}", "{c} {a} {c} {a}"]).format(
            s=source, f=features, r=use("r"), f1=use("r.f"), a=use("a"), i=index, c=change, t=self.alteration())
        return "DO $$ DECLARE r record; a float8[] := '{1,2,3,4}'; m margin_model := (SELECT o.m FROM models AS o WHERE id = %d); BEGIN %s END $$" % (number, body)

    def many(self):
        """A query that calls a function once for each of many rows, with models that alternate: for cursors."""
        function = self.pick(self.functions)
        if function["aggregate"]:
            return "SELECT " + self.aggregate(function, grouped=True)
        if self.chance(0.3) and function["kinds"][:1] == ["margin_model"]:
            source, feature, label = "models, points", "x", "y"
        else:
            source = self.pick(list(SOURCES))
            label, feature = (self.pick(part) for part in SOURCES[source])
            source = "models, " + source if self.chance(0.4) else source
        arguments = []
        for kind, name in zip(function["kinds"], function["names"][:max(function["required"], 1)] if not function["variadic"] else function["kinds"]):
            arguments.append(feature if kind == "any" and name != "label" else label if kind == "any" else "m" if kind == "margin_model" and "models" in source else self.argument(name if name in ("query", "document", "encoder") else kind))
        call = "%s(%s)" % (function["name"], ", ".join(arguments))
        if function["set"] and self.chance(0.5):
            return "SELECT c.* FROM %s, LATERAL %s AS c" % (source, call)
        return "SELECT %s FROM %s" % (call, source) + self.pick(["", "", " ORDER BY random()", " LIMIT 40"])

    def expression(self):
        """A score as SQL, which the server reads and evaluates; of forged encoders, too, whose names and texts are anything."""
        if self.chance(0.5):
            number = self.pick(self.models)
            _, features, table = self.fits[number]
            return "SELECT query_to_xml('SELECT ' || margin_sql(m%s) || ' FROM %s', true, false, '') FROM models WHERE id = %d" % (
                "" if features == table else ", " + self.quoted(features), table, number)
        model, row = self.forged_encoder()
        source = row.split(" FROM ", 1)[1][:-1]  # of (SELECT r FROM (SELECT ...) AS r)
        return "SELECT query_to_xml('SELECT ' || margin_sql(%s, NULL, 'r') || ' FROM ' || %s, true, false, '')" % (model, self.quoted(source))

    def statement(self):
        kind = self.random.random()
        if kind < 0.015:
            return self.alteration()
        if kind < 0.05:
            return self.block()
        if kind < 0.06:
            return self.expression()
        function = self.pick(self.functions)
        if function["aggregate"]:
            call = self.aggregate(function)
            return "SELECT md5(v::text) FROM (SELECT %s) AS q(v)" % call if self.chance(0.3) else "SELECT " + call
        call = self.call(function)
        if function["set"]:
            return "SELECT * FROM " + call
        if self.chance(0.2):
            other = self.pick([f for f in self.functions if f["kinds"] and f["kinds"][0] == function["result"] and not f["aggregate"]] or [None])
            if other:
                rest = [self.argument(k) for k in other["kinds"][1:other["required"]]]
                call = "%s(%s)" % (other["name"], ", ".join([call] + rest))
        return "SELECT (%s)::text" % call if self.chance(0.3) else "SELECT " + call

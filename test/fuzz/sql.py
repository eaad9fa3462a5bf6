#!/usr/bin/env python3
"""Fuzzes all SQL functions of the extension as a role without privileges, from a fixed seed.

    sql.py --socket DIR [--port N] [--seconds S | --statements N] [--seed N] [--reports DIR --log FILE]

The server is one whose data may be lost, on this machine (its backend is watched through /proc), with a superuser
`postgres` and the extension installed. What counts as a failure: a crash, at the end of a session too, SQLSTATE XX000, a
statement that goes on for more than 200 ms of CPU time after its timeout, a session whose memory grows, one that ever takes
much more than the gigabyte of the largest value. Each failure is printed with the statement that shows it; the last line
counts; the exit status says the same. With --reports the server runs under sanitizers that write there and to its log: what
they say is a failure, and time and memory, which are their own, are not measured.
"""
import argparse
import collections
import glob
import io
import json
import os
import re
import select
import sys
import time

import psycopg2
import psycopg2.extensions
from sql_cursors import Program
from sql_rows import DROP, MINE, NAMES, TABLES
from sql_statements import Statements

LATE = 0.2           # CPU seconds that a statement may go on after its timeout
GROWTH = 24 * 1024   # kB that a session may grow after its first 10,000 statements
SPAN = 2000          # statements whose least memory counts: what one of them takes for a while is no growth
SESSION = 100000     # statements of a session: the server keeps the type of every row that was ever made up in it
PEAK = 1536 * 1024   # kB that it may ever take; one value may be as large as a gigabyte
BATCH = 40
TIMEOUT = 2.0        # seconds for a batch

SETUP = """
DROP OWNED BY fuzzer CASCADE;
CREATE EXTENSION IF NOT EXISTS margin;
DROP TABLE IF EXISTS points, models, large, scans, profiles CASCADE; DROP TYPE IF EXISTS mood CASCADE;
CREATE TYPE mood AS ENUM ('a', 'b', 'c');
CREATE TABLE points AS SELECT i AS id, i > 12 AS y, i % 3 AS k, i / 7.0 AS t, 1.0 / i AS w, date '2021-07-01' + i % 2 AS d,
    (ARRAY['a', 'b', 'c'])[1 + i % 3]::mood AS mood, ARRAY[i - 12.5, i % 3, -i, 1 + i % 2]::float8[] AS x,
    ARRAY[i % 3, i % 5, 1.5, i]::real[] AS r, ARRAY[i % 3, i % 5, 2, i]::int[] AS i,
    ('{1:' || i || ',' || 2 + i % 3 || ':1}/4')::margin_sparse AS s,
    (CASE WHEN i % 3 = 0 THEN '{}' ELSE '{' || 1700 * (1 + i % 4) || ':' || i || ',1000000000:1}' END || '/1000000000')::margin_sparse AS e FROM generate_series(1, 24) AS i;
CREATE TABLE large AS SELECT i AS id, i % 2 = 0 AS y, i % 50 AS k, ARRAY(SELECT sin(i * j) + i % 2 FROM generate_series(1, 40) AS j) AS x
    FROM generate_series(1, 20000) AS i;
CREATE TABLE models (id int, m margin_model);
CREATE TABLE scans (id int, q margin_question, t margin_term, s margin_state);
CREATE TABLE profiles (id int, p margin_profile);
INSERT INTO profiles SELECT 0, margin_profile(points) FROM points WHERE id = 5 UNION ALL SELECT 1, margin_sum(margin_profile(points)) FROM points
    UNION ALL SELECT 2, margin_sum(margin_profile(large)) FROM large UNION ALL SELECT 3, margin_sum(margin_profile('["k", "n"]', k, id || 'n')) FROM large;
"""
# Label and features of the questions, terms and states that are stored, with the model or the options that ask.
SCANS = [("y", "x", 0), ("y", "x", 2), ("k", "x", 3), ("t", "x", 4), ("t", "x", 5), ("y", "x", 6), ("k", "x", 7), ("mood", "s", 17),
         ("y", "x", "{}"), ("k", "s", '{"lambda": 1, "loss": "squared_hinge", "sample_rows": 5}'), ("t", "r", '{"lambda": 1, "loss": "squared"}'),
         ("t", "x", '{"loss": "interpolate"}')]
# The same of models: label and features of their terms, the model. They follow those in the table, without a question.
JUDGED = [("y", "x", 0), ("k", "x", 3), ("t", "x", 4), ("t", "x", 5), ("k", "x", 7), ("y", "x", 8), ("y", "x", 9), ("y", "x", 13), ("k", "x", 14), ("mood", "s", 17)]
FREE = "ARRAY[x[1], x[2], x[4], sin(id)]"  # four features that no intercept is a combination of
KINDS = [  # label, features, options (and the table) of the models that are stored, and corrupted
    ("y", "x", "{}"), ("k", "x", '{"dual_weights": true}'), ("y", "x", '{"lambda": 0.1, "dual_weights": true, "history": true}'),
    ("k", "x", '{"lambda": 0.01, "loss": "logistic"}'), ("t", "x", '{"lambda": 0.01, "loss": "squared", "dual_weights": true}'),
    ("t", "x", '{"loss": "interpolate"}'), ("y", "x", '{"norm": 1}'), ("k", "x", '{"norm": 1.5, "dual_weights": true}'),
    ("y", "x", '{"norm": 1, "learners": "stumps", "max_iterations": 20}'),
    ("y", "x", '{"kernel": "rbf", "gamma": 0.1, "dual_weights": true}'), ("k", "s", '{"kernel": "polynomial", "lambda": 0.1}'),
    ("k", "x", '{"kernel": "ntk", "lambda": 0.1}'), ("y", "x", '{"kernel": "ntk_finite", "width": 7}'),
    ("y", "x", '{"lambda": 0.1, "calibration": "platt"}'), ("k", "x", '{"lambda": 0.1, "calibration": "isotonic"}'),
    ("t", "x", '{"lambda": 0.1, "loss": "epsilon_insensitive"}'), ("'c' || k", "r", '{"lambda": 1, "standardize": true}'),
    ("mood", "s", '{"lambda": 1, "loss": "squared_hinge"}'), ("y", FREE, '{"lambda": 0, "loss": "logistic"}'),
    ("t", FREE, '{"lambda": 0, "loss": "squared"}'),
    ("y", "points", '{"lambda": 0.1, "exclude": ["y", "i"], "dual_weights": true}'), ("t", "points", '{"exclude": ["t"], "loss": "interpolate"}'),
    ("t", "(SELECT f FROM (SELECT x[4] AS a, mood) AS f)", '{"lambda": 0, "loss": "squared"}'),
    ("t", "x", '{"lambda": 0.1, "loss": "epsilon_insensitive", "kernel": "rbf"}'), ("y", "s", '{"lambda": 0.1, "loss": "logistic", "kernel": "rbf"}'),
    (None, "x", '{"nu": 0.2}'), (None, "x", '{"nu": 0.2, "kernel": "rbf"}'),
    ("y", "kinds", '{"lambda": 0.1, "loss": "logistic", "exclude": ["y"]}', "kinds"), ("k", "kinds", '{"lambda": 0.1, "multiclass": "joint", "exclude": ["k"], "missing": "skip"}', "kinds"),
    ("n", "changed", '{"lambda": 1, "loss": "huber", "exclude": ["n", "y"], "dual_weights": true}', "changed"), ("y", "parent", '{"lambda": 0.1, "exclude": ["y"], "calibration": "platt"}', "parent"),
    ("y", "s", '{"lambda": 1, "loss": "squared_hinge"}', "gaps"), ("y > 0", "gaps", '{"lambda": 0.1, "loss": "logistic", "exclude": ["y"]}', "gaps"),
    ("id", "ROW(x, k)", '{"lambda": 0.1, "loss": "poisson"}', "points"), ("k", "x", '{"lambda": 0.1, "multiclass": "joint"}'),
    ("y", "x", '{"lambda": 1e-3, "loss": "squared_hinge", "intercept": false, "tolerance": 0.1}'), ("t", "x", '{"lambda": 0.1, "loss": "squared", "l1_ratio": 0.5}'),
    ("y", "e", '{"lambda": 0.1, "loss": "squared_hinge"}'), ("k", "e", '{"lambda": 0.1, "loss": "logistic"}'), ("t", "e", '{"lambda": 0.1, "loss": "squared"}'), ("y", "e", '{}'),
    ("y", "x", '{"norm": 1, "learners": "trees", "max_iterations": 5}'),
    ("y", "(SELECT f FROM (SELECT k, sin(id) AS n) AS f)", '{"lambda": 0.1, "loss": "logistic", "bins": 6}', "large"),
    ("k", "x", '{"norm": 1, "learners": "trees", "solver": "boosting", "step": "frank_wolfe", "gap_tolerance": 0.1, "max_iterations": 5, "history": true}'),
    ("y", "(SELECT f FROM (SELECT k, sin(id) AS n) AS f)", '{"lambda": 0.1, "loss": "logistic", "bins": 6, "interactions": "k*n"}', "large"),
    ("y", "points", '{"lambda": 0.1, "exclude": ["y", "k", "e"], "fairness": {"column": "k", "bound": 0.1}}'),
    ("t", "x", '{"lambda": 0.1, "loss": "squared", "bounds": [-1, 1], "constraints": {"weights": {"1": 1, "2": -1}, "equal": 0}, "dual_weights": true}')]
# Models that functions make of a stored one, whose label and features they keep: the number of that one, the call.
DERIVED = [
    (3, "margin_with_curvature({m}, k, x)"), (4, "margin_with_curvature({m}, t, x)"), (31, "margin_with_curvature({m}, y, s)"), (31, "margin_with_curvature({m}, y, s, '{{\"share\": 0.2}}')"),
    (32, "margin_with_curvature({m}, y > 0, gaps)"), (27, "margin_with_curvature({m}, y, kinds)"), (35, "margin_with_curvature({m}, y, x, '{{\"share\": 0.2}}')"), (37, "margin_with_curvature({m}, y, e)"),
    (38, "margin_with_curvature({m}, k, e)"), (39, "margin_with_curvature({m}, t, e)"), (9, "margin_compact({m})")]
UPDATED = [(len(KINDS), "1", "'{1,2,3,4}'::float8[]", "false"), (len(KINDS) + 2, "1", "'{2:1}/100000'::margin_sparse", "false"), (2, "true", "'{1,2,3,4}'::float8[]", "false"),
           (len(KINDS) + 6, "true", "'{-1,2,3,4}'::float8[]", "false"), (31, "1", "'{}/100000'::margin_sparse", "false")]
# Internal errors that are the server's own, whatever the extension does.
SERVERS_OWN = "unsupported jsonb version"
ATTEMPT = """
CREATE FUNCTION attempt(statements text[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE answers text[] := '{}'; position int;
BEGIN
  FOR position IN 1 .. cardinality(statements) LOOP
    BEGIN
      EXECUTE statements[position];
      answers := answers || '00000'::text;
    EXCEPTION WHEN OTHERS THEN
      answers := answers || CASE WHEN SQLSTATE LIKE 'XX%' THEN SQLSTATE || ' ' || SQLERRM ELSE SQLSTATE::text END;
    END;
  END LOOP;
  RETURN answers;
END $$
"""
# Long ones, for the timeout: each runs for seconds if nobody stops it.
SLOW = [
    "SELECT train_margin({label}, x, '{options}') FROM large",
    "SELECT train_one_class(x, '{{\"kernel\": \"rbf\", \"tolerance\": 0}}') FROM large",
    "SELECT margin_path({label}, x, '{options}') FROM large",
    "SELECT margin_cross_validate({label}, x, '{options}') FROM large",
    "SELECT train_margin(k, x, '{options}') FROM large WHERE id <= 4000 GROUP BY id % 3",
    "SELECT train_margin({label}, ('{{' || id % 7 + 1 || ':1,' || 10000 + id || ':1}}/' || 3000000)::margin_sparse, '{options}') FROM large",
    "SELECT sum(margin_score(m, l.x[1:4])) FROM models AS f, large AS l, large AS l2",
    "SELECT margin_verify(m, y, l.x[1:4]) FROM models AS f, large AS l, large AS l2",
    "SELECT margin_evaluate(m, y, l.x[1:4]) FROM models AS f, large AS l, large AS l2",
    "SELECT margin_leave_one_out(m, y, l.x[1:4]) FROM models AS f, large AS l",
    "SELECT margin_with_curvature(m, y, l.x[1:4]) FROM models AS f, large AS l",
    "SELECT margin_audit(m, y, l.x[1:4]) FROM models AS f, large AS l, large AS l2",
    "SELECT margin_inference(m, y, l.x[1:4]) FROM models AS f, large AS l, large AS l2",
    "SELECT margin_fourier(x, 4000, 0.1) FROM large",
    "SELECT count(margin_to_json(m)) FROM models, large",
    "SELECT train_margin_from('SELECT {label}, x FROM large', '{options}')",
    "SELECT train_margin_from('SELECT {label}, x FROM large, generate_series(1, 20)', jsonb '{options}' || '{{\"sample_rows\": 50}}')",
    "SELECT margin_sum(margin_term(q, l.y, l.x[1:4])) FROM scans, large AS l, large AS l2 WHERE scans.id = 1",
]


class Crash(Exception):
    pass


class Session:
    """A connection whose backend is watched."""

    def __init__(self, arguments, user):
        self.arguments = arguments
        for attempt in range(240):  # after a crash the server recovers first
            try:
                self.connection = psycopg2.connect(host=arguments.socket, port=arguments.port, user=user, dbname="postgres")
                break
            except psycopg2.OperationalError:
                if attempt == 239:
                    raise
                time.sleep(0.5)
        self.connection.autocommit = True
        self.pid = self.connection.info.backend_pid
        self.late = 0.0

    def cpu(self):
        with open("/proc/%d/schedstat" % self.pid, encoding="ascii") as file:
            return int(file.read().split()[0]) / 1e9

    def memory(self, field="RssAnon"):
        with open("/proc/%d/status" % self.pid, encoding="ascii") as file:
            return int(re.search(field + r":\s+(\d+)", file.read()).group(1))

    def run(self, statement, parameters=None, timeout=None, load=None, rows=True):
        """(SQLSTATE, rows or message). `late` is what CPU time was used after the timeout."""
        self.late = 0.0
        deadline = None if timeout is None else time.monotonic() + timeout
        cpu_at_deadline = None

        def wait(connection):
            nonlocal cpu_at_deadline
            while True:
                state = connection.poll()
                if state == psycopg2.extensions.POLL_OK:
                    break
                left = None if deadline is None or cpu_at_deadline is not None else max(0, deadline - time.monotonic())
                lists = ([connection.fileno()], [], []) if state == psycopg2.extensions.POLL_READ else ([], [connection.fileno()], [])
                ready = select.select(*lists, left)
                if not any(ready):
                    cpu_at_deadline = self.cpu()

        try:
            with self.connection.cursor() as cursor:
                if load is not None:
                    cursor.copy_expert(statement, load)
                    return "00000", None
                psycopg2.extensions.set_wait_callback(wait)
                cursor.execute(statement, parameters)
                return "00000", cursor.fetchall() if rows and cursor.description else None
        except UnicodeError as error:
            return "00000", str(error)
        except psycopg2.Error as error:
            if self.connection.closed or error.pgcode is None or error.pgcode in ("57P01", "57P02", "57P03"):
                raise Crash(str(error).strip()) from error
            return error.pgcode, str(error)
        finally:
            psycopg2.extensions.set_wait_callback(None)
            if cpu_at_deadline is not None and not self.connection.closed:
                self.late = self.cpu() - cpu_at_deadline


class Fuzzer:
    def __init__(self, arguments):
        self.arguments = arguments
        self.states = collections.Counter()
        self.failures = collections.OrderedDict()
        self.done = self.since = self.most_grown = self.programs = self.pairs = self.sessions = 0
        self.read = {}  # of each file of the sanitizers, how far
        self.new_report()
        self.prepare()
        self.start()

    def prepare(self):
        boss = Session(self.arguments, "postgres")
        run = lambda text, *more: self.expect(boss.run(text, *more))
        run("SET client_min_messages = error; SELECT count(*) FROM pg_roles WHERE rolname = 'fuzzer'")
        if run("SELECT count(*) FROM pg_roles WHERE rolname = 'fuzzer'")[0][0] == 0:
            run("CREATE ROLE fuzzer LOGIN")
        for statement in (DROP + ";\n" + SETUP + TABLES).strip().split(";\n"):
            run(statement.strip().rstrip(";"))
        fits = {}
        for number, (label, features, options, *table) in enumerate(KINDS):
            rows = "train_one_class(%s" % features if label is None else "train_margin(%s, %s" % (label, features)
            fits[number] = (label, features, *(table or ["points"]))
            run("INSERT INTO models SELECT %d, %s, '%s') FROM %s" % (number, rows, options, fits[number][2]))
        for number, call in DERIVED:
            fits[len(fits)] = fits[number]
            table = "" if "compact" in call else " FROM " + fits[number][2]
            run("INSERT INTO models SELECT %d, %s%s" % (len(fits) - 1, call.format(m="(SELECT m FROM models WHERE id = %d)" % number), table))
        for number, label, features, removed in UPDATED:
            fits[len(fits)] = fits[number]
            run("INSERT INTO models SELECT %d, margin_update(m, %s, %s, %s) FROM models WHERE id = %d" % (len(fits) - 1, label, features, removed, number))
        for number, (label, features, asks) in enumerate(SCANS):
            question = "(SELECT margin_question('{\"sample_rows\": 3}', m) FROM models WHERE id = %d)" % asks if isinstance(asks, int) else \
                "(SELECT margin_question('%s'::jsonb))" % asks
            run("INSERT INTO scans SELECT %d, %s, (SELECT margin_term(%s, %s, %s, w) FROM points WHERE id = 5), (SELECT margin_sum(margin_term(%s, %s, %s)) FROM points)"
                % (number, question, question, label, features, question, label, features))
        for number, (label, features, judge) in enumerate(JUDGED, len(SCANS)):
            terms = "margin_term((SELECT m FROM models WHERE id = %d), %s, %s)" % (judge, label, features)
            run("INSERT INTO scans SELECT %d, NULL, (SELECT %s FROM points WHERE id = 5), (SELECT margin_sum(%s) FROM points)" % (number, terms, terms))
        run("GRANT SELECT ON points, models, large, scans, profiles, " + NAMES + " TO fuzzer; GRANT TEMPORARY ON DATABASE postgres TO fuzzer")
        run("DROP FUNCTION IF EXISTS attempt(text[])")
        run(ATTEMPT)
        run("ALTER ROLE fuzzer SET margin.memory_limit = '256MB'; ALTER ROLE fuzzer SET client_min_messages = error")
        functions = []
        for name, aggregate, returns_set, variadic, defaults, names, kinds, result in run("""
            SELECT p.proname, p.prokind = 'a', p.proretset, p.provariadic <> 0, p.pronargdefaults, coalesce(p.proargnames, '{}'),
                   ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS u(t, n) ORDER BY n),
                   format_type(p.prorettype, NULL)
              FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
              JOIN pg_extension AS e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
             WHERE e.extname = 'margin' ORDER BY p.oid"""):
            kinds = [kind.strip('"') for kind in kinds]
            if "internal" in kinds:  # no value of that type can be written; the aggregates call these
                continue
            # once for every function, more often where arguments meet more code; these two train many models a call
            weight = 1 if name in ("margin_path", "margin_cross_validate") else 5 if aggregate or "margin_model" in kinds else \
                10 if defaults > 9 else 2
            functions += [{"name": name, "aggregate": aggregate, "set": returns_set, "variadic": variadic, "names": names or [""] * len(kinds),
                           "kinds": kinds, "required": len(kinds) - defaults, "result": result}] * weight
        attributes = run("SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'margin_model'::regclass AND attnum > 0")
        options = [name for name, in run("SELECT DISTINCT unnest(proargnames) FROM pg_proc WHERE proname = 'margin_options' ORDER BY 1")]
        solvers = [name for name, in run("SELECT name FROM margin_solvers() ORDER BY 1")]
        self.draw = Statements(self.arguments.seed, functions, attributes, options, solvers, range(len(fits)), range(len(SCANS)),
                               {number: judge for number, (_, _, judge) in enumerate(JUDGED, len(SCANS))}, fits)
        self.draw.shapes = [shape for shape, in run("SELECT jsonb_strip_nulls(to_jsonb(m)) FROM models ORDER BY id")]
        for number in range(len(fits)):
            answer = boss.run("SELECT margin_pmml(m)::text FROM models WHERE id = %d" % number)
            self.draw.files += [answer[1][0][0]] if answer[0] == "00000" else []
        self.names = len({f["name"] for f in functions})
        self.images = self.binary_images(boss)
        self.watch = boss

    @staticmethod
    def expect(answer):
        if answer[0] != "00000":
            raise SystemExit("the fuzzer's own statement failed: %s %s" % answer)
        return answer[1]

    def start(self):
        """A new session; after a crash the server may take one more connection before it ends them all."""
        for attempt in range(20):
            try:
                self.session = self.enter()
                if self.watch.connection.closed:
                    self.watch = Session(self.arguments, "postgres")
                self.expect(self.watch.run("SELECT 1"))
                break
            except (psycopg2.Error, Crash, FileNotFoundError):
                if attempt == 19:
                    raise
                time.sleep(0.5)
        self.samples, self.since = [], self.done

    def enter(self):
        session = Session(self.arguments, "fuzzer")
        self.expect(session.run(MINE + "".join("; CREATE TEMP TABLE binary_%s (v %s)" % (kind.replace("[]", "s"), kind) for kind in sorted({kind for kind, _ in self.images}))))
        self.sessions += 1
        return session

    def leave(self, session, history):
        """Ends a session and looks whether the server survived that: the postmaster knows before the process is gone."""
        session.connection.close()
        for _ in range(2000):
            if not os.path.exists("/proc/%d" % session.pid):
                break
            time.sleep(0.005)
        try:
            self.watch.run("SELECT 1")
        except Crash as crash:
            self.start()
            self.fail("crash", ";\n".join(history) + ";\n\\q", "at the end of a session: " + str(crash))

    def fail(self, kind, statement, detail=""):
        if kind == "crash" and self.arguments.reports:
            kind, detail = "crash", self.new_report() or detail
        text = re.sub(r"\d+", "N", detail)[:200 if kind == "crash" else 80]  # one of each kind is enough to read
        key = (kind, text if kind != "crash" or self.arguments.reports else re.sub(r"\W.*", "", statement[7:]))
        self.failures.setdefault(key, []).append(statement)
        if len(self.failures[key]) == 1:
            print("# %s: %s\n#   in: %s" % (kind, detail, statement if len(statement) < 6000 else statement[:3000] + " ... " + statement[-3000:]), flush=True)

    def new_report(self):
        """What the sanitizers wrote since the last look: their words, and where in our files."""
        found = ""
        for path in [self.arguments.log] + sorted(glob.glob(os.path.join(self.arguments.reports, "*"))) if self.arguments.reports else []:
            with open(path, encoding="utf-8", errors="replace") as file:
                file.seek(self.read.get(path, 0))
                text = file.read()
                self.read[path] = file.tell()
            what = re.search(r"\S+: runtime error: .*|ERROR: AddressSanitizer: \S+( on \S+ address)?", text)
            if what and not found:
                frames = re.findall(r"#\d+ 0x\w+ in (.*?) \S*?(\w+/\w+\.[a-z]+:\d+)", text[what.start():].split("\n\n")[0])[:5]
                found = what.group(0) + "".join(" < %s %s" % (place, name[:60]) for name, place in frames)
        return found

    # --- what runs ----------------------------------------------------------------------------------------------------------
    def alone(self, statement, timeout=TIMEOUT):
        """One statement in a fresh round; True if it shows the failure by itself."""
        self.session.run("SET statement_timeout = %d" % (timeout * 1000))
        try:
            state, answer = self.session.run(statement, timeout=timeout)
        except Crash as crash:
            self.start()
            self.fail("crash", statement, str(crash))
            return True
        self.done += 1
        self.states[state] += 1
        if state.startswith("XX"):
            self.fail("internal error", statement, state + " " + str(answer))
            return True
        if self.session.late > LATE and not self.arguments.reports:
            self.fail("late", statement, "%.2f s of CPU after a timeout of %g s" % (self.session.late, timeout))
            return True
        return False

    def batch(self):
        statements = [self.draw.statement() for _ in range(BATCH)]
        self.session.run("SET statement_timeout = %d" % (TIMEOUT * 1000))
        try:
            state, answer = self.session.run("SELECT attempt(%s)", (statements,), timeout=TIMEOUT)
        except Crash as crash:
            self.start()
            if not any([self.alone(statement) for statement in statements]):
                self.fail("crash", ";\n".join(statements), "only together: " + str(crash))
            return
        if state == "00000":
            for statement, found in zip(statements, answer[0][0]):
                self.states[found[:5]] += 1
                if found.startswith("XX"):
                    self.fail("internal error", statement, found)
            self.done += len(statements)
        elif self.session.late > LATE and not self.arguments.reports and not any([self.alone(statement, 0.5) for statement in statements]):
            self.fail("late", ";\n".join(statements), "%.2f s of CPU after a timeout, together" % self.session.late)
        else:  # the timeout, or an error that no handler catches
            self.states[state] += 1
            if state.startswith("XX"):
                self.fail("internal error", ";\n".join(statements), state + " " + str(answer))

    def visit(self):
        """A session of a few transactions whose cursors overlap; see sql_cursors.py."""
        session, history = self.enter(), []
        try:
            session.run("SET statement_timeout = %d" % (TIMEOUT * 1000))
            for _ in range(self.draw.random.randrange(1, 6)):
                program = Program(self.draw)
                commands = program.commands(self.draw.random.randrange(5, 40))
                self.programs += 1
                failed = None
                while True:
                    try:
                        command = commands.send(failed)
                    except StopIteration:
                        break
                    history.append(command)
                    state, answer = session.run(command, timeout=TIMEOUT, rows=False)
                    self.done += 1
                    self.states[state] += 1
                    if state.startswith("XX") and not re.search(SERVERS_OWN, str(answer)):
                        self.fail("internal error", ";\n".join(program.done), state + " " + str(answer))
                    failed = state != "00000"
                self.pairs += program.pairs
        except Crash as crash:
            self.start()
            self.fail("crash", ";\n".join(history), str(crash))
            return
        self.leave(session, history)

    def slow(self):
        draw = self.draw
        options = draw.sensible_options()
        options.pop("max_iterations"), options.pop("max_seconds")
        statement = draw.pick(SLOW).format(label=draw.pick(["y", "y", "k", "x[1]"]), options=json.dumps(options))
        self.alone(statement, draw.pick([0.02, 0.1, 0.3]))

    @staticmethod
    def binary_images(session):
        """Valid images of values, to be damaged."""
        images = []
        for query in ("SELECT s FROM points LIMIT 3", "SELECT m FROM models ORDER BY id", "SELECT array_agg(s) FROM points WHERE id < 4",
                      "SELECT array_agg(m) FROM models WHERE id < 2", "SELECT q FROM scans", "SELECT t FROM scans", "SELECT s FROM scans", "SELECT p FROM profiles"):
            path = bytearray()

            class Sink:
                @staticmethod
                def write(data):
                    path.extend(data)

            with session.connection.cursor() as cursor:
                cursor.copy_expert("COPY (%s) TO STDOUT (FORMAT binary)" % query, Sink)
            kind = "margin_profile" if "profiles" in query else {"q": "margin_question", "t": "margin_term", "s": "margin_state"}[query[7]] if "scans" in query else \
                "margin_sparse" if "SELECT s" in query else "margin_model" if "SELECT m" in query else \
                "margin_sparse[]" if "(s)" in query else "margin_model[]"
            images.append((kind, bytes(path)))
        return images

    def binary(self):
        """A damaged image through the receive functions, by COPY; what is accepted is then used."""
        random = self.draw.random
        kind, image = self.draw.pick(self.images)
        image = bytearray(image)
        for _ in range(self.draw.pick([1, 1, 2, 3])):
            at = random.randrange(19, len(image) - 2)
            if self.draw.chance(0.5):
                image[at] = self.draw.pick([0, 1, 2, 127, 128, 255, random.randrange(256)])
            elif self.draw.chance(0.5):
                image[at] ^= 1 << random.randrange(8)
            else:
                image[at:at + 4] = self.draw.pick([b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\2"])
        table = "binary_" + kind.replace("[]", "s")
        use = {"margin_sparse": "v::jsonb, cardinality(v::real[]), v < '{1:1}', v::text", "margin_sparse[]": "v::text",
               "margin_model": "v::text, margin_score(v, '{1,2,3,4}'::float8[]), margin_to_json(v), margin_summary(v)",
               "margin_question": "margin_term(v, (SELECT y FROM points WHERE id = 3), '{1,2,3,4}'::float8[]) IS NULL",
               "margin_term": "(SELECT margin_state_info(margin_sum(v)))", "margin_state": "margin_state_info(_margin_merge(v, v))",
               "margin_profile": "(SELECT count(*) FROM margin_profile_columns(_margin_profile_merge(v, v), '{0,0.1,1}', 1000))",
               "margin_model[]": "margin_scores(v[1], '{1,2,3,4}'::float8[])"}[kind]
        try:
            self.session.run("SET statement_timeout = %d" % (TIMEOUT * 1000))
            state, answer = self.session.run("COPY %s FROM STDIN (FORMAT binary)" % table, load=io.BytesIO(bytes(image)))
            self.states[state] += 1
            self.done += 1
            # a jsonb in an unknown format is the server's own, and it calls that an internal error
            if state.startswith("XX") and not re.search(SERVERS_OWN, str(answer)):
                self.fail("internal error", "COPY " + table + " FROM " + bytes(image).hex(), state + " " + str(answer))
            if state == "00000":
                for part in use.split(", ") if kind == "margin_sparse" else [use]:
                    self.alone("SELECT %s FROM %s" % (part, table))
                self.session.run("TRUNCATE " + table)
        except Crash as crash:
            self.start()
            self.fail("crash", "COPY " + table + " FROM " + bytes(image).hex(), str(crash))

    def watch_memory(self):
        memory = 0 if self.arguments.reports else self.session.memory()
        if memory and (memory > PEAK or self.session.memory("VmHWM") > PEAK):
            self.fail("memory", "(session)", "a session took %d MB" % (self.session.memory("VmHWM") // 1024))
            self.session.connection.close()
            self.start()
            return
        self.samples.append((self.done - self.since, memory))
        if self.done - self.since > SESSION:
            self.end_session()
            self.start()

    def end_session(self):
        done = self.done - self.since
        first = [memory for at, memory in self.samples if 10000 < at <= 10000 + SPAN]
        last = [memory for at, memory in self.samples if at > max(done - SPAN, 10000 + SPAN)]
        if first and last:
            self.most_grown = max(self.most_grown, min(last) - min(first))
        self.leave(self.session, ["(a session of %d statements)" % done])

    def finished(self):
        if self.arguments.statements:
            return self.done / self.arguments.statements
        return (time.monotonic() - self.begun) / self.arguments.seconds

    def go(self):
        self.begun = time.monotonic()
        rounds, shown = 0, time.monotonic()
        while self.finished() < 1:
            rounds += 1
            if rounds % 50 == 0:
                self.slow()
            elif rounds % 3 == 0:
                self.binary()
            elif rounds % 10 == 1:
                self.visit()
            else:
                self.batch()
            self.watch_memory()
            if time.monotonic() - shown > 60:
                shown = time.monotonic()
                print("# %d statements, %d pairs of cursors, %d sessions, %d kinds of failures, %d kB" %
                      (self.done, self.pairs, self.sessions, len(self.failures), self.session.memory()), flush=True)
        self.end_session()
        self.tell(self.most_grown)

    def tell(self, grown):
        accepted = self.states["00000"]
        print("# SQLSTATE: " + ", ".join("%s %d" % pair for pair in sorted(self.states.items())))
        left = self.new_report()
        checks = [
            ("%d statements over %d functions" % (self.done, self.names), self.done >= 1000),
            ("a fifth of them works (%d), a fifth is refused" % accepted, self.done / 5 < accepted < self.done * 4 / 5),
            ("no crash", not self.count("crash")), ("no internal error", not self.count("internal error")),
            ("%d pairs of overlapping cursors in %d transactions, %d sessions ended" % (self.pairs, self.programs, self.sessions), self.pairs > 0),
            ("no report of a sanitizer " + left, not left),
            ("none goes on for more than %g s of CPU after its timeout" % LATE, not self.count("late")),
            ("no session takes more than %d MB" % (PEAK // 1024), not self.count("memory")),
            ("and the memory of a session is flat (%d kB at most)" % grown, grown <= GROWTH)]
        for number, (name, holds) in enumerate(checks, 1):
            print("%sok %d - %s" % ("" if holds else "not ", number, name))
        print("checks: %d of %d hold" % (sum(1 for _, holds in checks if holds), len(checks)))
        sys.exit(0 if all(holds for _, holds in checks) else 1)

    def count(self, kind):
        return sum(len(statements) for (found, _), statements in self.failures.items() if found == kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--socket", required=True)
    parser.add_argument("--port", default=5432)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--statements", type=int, default=0)
    parser.add_argument("--reports")
    parser.add_argument("--log")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("MARGIN_FUZZ_SEED", "20210701")))
    Fuzzer(parser.parse_args()).go()


if __name__ == "__main__":
    main()

"""How the benchmarks measure: one psql session, peer programs that keep their rows in memory, interleaved repetitions.

Every contender is a function without arguments that does its work once and returns a dict with at least `wall` and
`cpu` (seconds). CPU seconds are the process's own time on a core, so they suffer less from a busy machine than wall
seconds; both are kept, tables and verdicts use the minima.
"""
import glob
import json
import os
import re
import subprocess
import tempfile
import time

import datasets

# What runs a peer in R or Python: another system's programs, newer than those of this one, where MARGIN_PEERS_ROOT is its root.
IN_PEERS = ["chroot", os.environ["MARGIN_PEERS_ROOT"]] if "MARGIN_PEERS_ROOT" in os.environ else []


def version_of(package, where=IN_PEERS):
    """Of a Debian package where the peers run, or of this system's (where: [])."""
    return "%s %s" % (package, subprocess.run(where + ["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True).stdout)


def built_against(title, variable, header, package):
    """The version of a peer in C++: of the sources that the variable names, or of the Debian package that it is built against."""
    if variable not in os.environ:
        return version_of(package, [])
    with open(os.path.join(os.environ[variable], header)) as file:
        version = next(line.split()[2] for line in file if line.startswith("#define") and line.split()[1].endswith("_VERSION"))
    return "%s %s.%s" % (title, version[:-2], version[-2:])


def liblinear_version():
    return built_against("LIBLINEAR", "MARGIN_LIBLINEAR", "linear.h", "liblinear4")


def libsvm_version():
    return built_against("LIBSVM", "MARGIN_LIBSVM", "svm.h", "libsvm3")


def rehline_version():
    """ReHLine's header has no version: the day of the file, which an unpacked archive keeps."""
    changed = os.path.getmtime(os.path.join(os.environ["MARGIN_REHLINE"], "rehline.h"))
    return "ReHLine's header of " + time.strftime("%Y-%m-%d", time.gmtime(changed))


DOCUMENT = os.path.join(datasets.HERE, "..", "docs", "benchmarks.md")


class StatementFailed(RuntimeError):
    """An error that the server raised: `state` is its SQLSTATE, `message` its first line."""

    def __init__(self, state, message, statement):
        super().__init__("%s\n  in: %s" % (message, statement[:300]))
        self.state, self.message = state, message


class Session:
    """One backend for the whole run; `run` returns its answer rows and the seconds that the statement took. It is a
    backend of the server that run.sh started, unless another is given by its programs' directory and its socket's."""

    def __init__(self, programs=None, socket=None):
        self.command = [os.path.join(programs or os.environ["MARGIN_BIN"], "psql"), "-X", "-q", "-h",
                        socket or os.environ["MARGIN_SOCKET"], "-U", "postgres", "-d", "postgres"]
        self.psql = subprocess.Popen(
            self.command + ["-A", "-t", "-F", "\t"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
        self.warnings = []
        self.pid = int(self.run("SELECT pg_backend_pid()")["rows"][0][0])

    def run(self, statement):
        before = self._cpu()
        self.psql.stdin.write("\\timing on\n%s;\n\\timing off\n\\echo --end-- :SQLSTATE\n" % statement)
        self.psql.stdin.flush()
        rows, wall, failure, state = [], None, None, None
        for line in self.psql.stdout:
            line = line.rstrip("\n")
            if line.startswith("--end-- "):
                state = line.split()[1]
                break
            time = re.match(r"Time: ([0-9.]+) ms", line)
            if time:
                wall = float(time.group(1)) / 1000
            elif re.match(r"(ERROR|FATAL|PANIC|server closed|psql:.*(ERROR|FATAL))", line):
                failure = failure or line  # and on to the end of its output: the session can be used again
            elif re.match(r"(WARNING|HINT|DETAIL|NOTICE):", line):
                self.warnings.append(line)
            else:
                rows.append(line.split("\t"))
        if failure:
            raise StatementFailed(state, failure, statement)
        return {"rows": rows, "wall": wall, "cpu": self._cpu() - before}

    def _cpu(self):
        if not hasattr(self, "pid"):
            return 0.0
        with open("/proc/%d/schedstat" % self.pid) as file:
            return int(file.read().split()[0]) / 1e9

    def value(self, statement):
        return self.run(statement)["rows"][0][0]

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()

    def load(self, table, name, element="real", sparse=False):
        """Creates `table` from a data set, unless it is there. `sparse`: x is a margin_sparse; "pairs": two arrays."""
        if self.value("SELECT to_regclass('%s') IS NOT NULL" % table) == "t":
            return
        y = datasets.outcome(datasets.load(name)[1])[1]
        columns = "indices int[], vals real[]" if sparse else "x %s[]" % ("real" if element == "real" else "double precision")
        self.run("CREATE TABLE %s (id int, y %s, %s)" % (table, "int" if y == 4 else "double precision", columns))
        writer = subprocess.Popen([os.path.join(datasets.HERE, "datasets.py"), "copysparse" if sparse else "copy", name]
                                  + ([] if sparse else [element]), stdout=subprocess.PIPE)
        subprocess.run(self.command + ["-c", "COPY %s FROM STDIN (FORMAT binary)" % table], stdin=writer.stdout, check=True)
        if writer.wait() != 0:
            raise RuntimeError("datasets.py could not read " + name)
        if sparse and sparse != "pairs":  # the two arrays become one value per row
            width = datasets.load(name)[0].shape[1]
            self.run("ALTER TABLE %s RENAME TO %s_arrays" % (table, table))
            self.run("CREATE TABLE %s AS SELECT id, y, margin_sparse(indices, vals::float8[], %d) AS x FROM %s_arrays"
                     % (table, width, table))
            self.run("DROP TABLE %s_arrays" % table)
        self.run("VACUUM (ANALYZE) " + table)


class Peer:
    """A peer program with its rows in memory; ask("...") sends one line and returns its JSON answer."""

    packed = {}
    directory = tempfile.TemporaryDirectory(prefix="margin-bench.")

    def __init__(self, program, name=None):
        script = os.path.join(datasets.HERE, "peers", program)
        arguments = [script if os.path.exists(script) else os.path.join(os.environ["MARGIN_BENCH_BUILD"], "peer_" + program)]
        if name:
            if name not in Peer.packed:
                Peer.packed[name] = os.path.join(Peer.directory.name, name)
                datasets.pack(*datasets.load(name), Peer.packed[name])
            arguments.append(Peer.packed[name])
        if arguments[0] == script:
            arguments = IN_PEERS + arguments
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        bufsize=1, stderr=subprocess.DEVNULL if program != "core" else None)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        for answer in self.process.stdout:
            if answer.startswith("{"):
                return json.loads(answer)
        raise RuntimeError("a peer ended: " + line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def interleave(contenders, repetitions):
    """Runs A B C A B C ... and returns {name: {"wall": minimum, "cpu": minimum, "median": of wall, "last": answer}}."""
    seen = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, work in contenders.items():
            seen[name].append(work())
    out = {}
    for name, answers in seen.items():
        walls = sorted(a["wall"] for a in answers)
        out[name] = {"wall": walls[0], "median": walls[len(walls) // 2], "cpu": min(a["cpu"] for a in answers),
                     "last": answers[-1]}
    return out


class Table:
    """Rows of one section: what, ours, theirs, ratio, bound, holds?"""

    def __init__(self, name, title, note):
        self.name, self.title, self.note, self.rows = name, title, note, []

    def compare(self, what, ours, theirs, bound, remark=""):
        """`ours` and `theirs` are results of interleave(); the ratio is of CPU minima."""
        ratio = ours["cpu"] / theirs["cpu"]
        self.add(what, seconds(ours), seconds(theirs), ratio, bound, remark)

    def add(self, what, ours, theirs, ratio, bound, remark=""):
        holds = "" if bound is None else ("yes" if ratio <= bound else "**no**")
        row = (what, ours, theirs, "%.3g" % ratio if ratio is not None else "", "" if bound is None else "%g" % bound,
               holds, remark)
        self.rows.append(row)
        print("  " + " | ".join(row), flush=True)

    def markdown(self):
        head = ("what", "ours", "against", "ratio", "bound", "holds", "remarks")
        lines = ["### " + self.title, "", self.note, "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in self.rows])


def seconds(result):
    def text(s):
        return "%.3g ms" % (s * 1000) if s < 1 else "%.3g s" % s

    return "%s (wall %s, median %s)" % (text(result["cpu"]), text(result["wall"]), text(result["median"]))


def write(table, environment):
    """Replaces the section between its markers in docs/benchmarks/*.md, or appends it to docs/benchmarks.md."""
    begin, end = "<!-- begin %s -->" % table.name, "<!-- end %s -->" % table.name
    pages = sorted(glob.glob(os.path.join(os.path.dirname(DOCUMENT), "benchmarks", "*.md")))
    page = next((page for page in pages if begin in open(page).read()), DOCUMENT)
    text = open(page).read()
    body = "%s\n%s\n\n%s\n%s" % (begin, table.markdown(), environment, end)
    if begin in text:
        text = text[:text.index(begin)] + body + text[text.index(end) + len(end):]
    else:
        text = text.rstrip("\n") + "\n\n" + body + "\n"
    with open(page, "w") as file:
        file.write(text)

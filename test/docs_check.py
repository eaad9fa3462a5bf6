"""Checks that the documentation is true: docs_check.py PSQL [ARGUMENT...], in the repository's directory.

docs/reference/*.md are compared with the catalogue of a server that has the extension, both ways and in order, and
docs/reference.md must link every function to the section that has its signature; every ```sql block of a page is run, in
order, in a database of the page's own, and where a ```text block follows, it must be what psql prints; every link must
lead somewhere; src/core/README.md must name every file. Prints TAP.
"""

import glob
import os
import re
import subprocess
import sys

PSQL = sys.argv[1:]
INDEX = "docs/reference.md"
REFERENCE = sorted(glob.glob("docs/reference/*.md"))
PAGES = ["README.md", "CHANGELOG.md", "src/core/README.md", *sorted(glob.glob("docs/**/*.md", recursive=True))]
PICTURE = "docs/figures/interval.svg"
COMPLETE = ["docs/tutorial.md"]  # pages that show every answer
checks = failures = 0


def check(name, problems):
    """One line of TAP; `problems` is empty when all is well."""
    global checks, failures
    checks += 1
    failures += bool(problems)
    print(f"{'not ok' if problems else 'ok'} {checks} - {name}")
    for line in problems[:40]:
        print(f"# {line}")
    sys.stdout.flush()


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def psql(database, script, *arguments):
    environment = dict(os.environ, PGOPTIONS="-c client_min_messages=error", PGCLIENTENCODING="UTF8")
    return subprocess.run([*PSQL, "-d", database, "-q", "-v", "ON_ERROR_STOP=1", *arguments], input=script, text=True,
                          env=environment, capture_output=True, encoding="utf-8")


def query(sql):
    """The rows of a query, each with its columns joined as in a table of the reference."""
    result = psql("postgres", sql, "-At", "-F", " | ")
    if result.returncode != 0:
        sys.exit(result.stderr)
    return result.stdout.splitlines()


def section(text, heading):
    """The lines below a heading, up to the next one."""
    match = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    return match.group(1) if match else ""


def cells(text, columns):
    """The first columns of the table rows whose first cell is code."""
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("| `")]
    return [" | ".join(row[:columns]) for row in rows]


def plain(text):
    """Words of the reference as the catalogue functions show them: without markup, in ASCII."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r",? ?\[see below\]\([^)]*\)", "", text)).replace("`", "")
    for sign, words in {"≤": "<=", "¹⁵": "^15", "⁵³": "^53", "⁶": "^6", "²": "^2", "ρ": "rho", "γ": "gamma", "‖": "|", "π": "pi",
                        "θ": "theta", "τ": "tau", "−": "-", "ν": "nu", "·": ".", "Σ": "sum", "×": "x", "ȳ": "mean y"}.items():
        text = text.replace(sign, words)
    return text


def differences(documented, real):
    missing = [f"not documented: {item}" for item in real if item not in documented]
    gone = [f"documented, but not there: {item}" for item in documented if item not in real]
    if not missing and not gone and documented != real:
        return [f"another order: {', '.join(documented)}", f"expected: {', '.join(real)}"]
    return missing + gone


SIGNATURE = r"`([a-z_]+\([^`]*\) → [^`]+)`"


def check_index(functions):
    """Two clicks from README.md to every function: the index, then the section that has its signature."""
    text = read(INDEX)
    check("README.md links the reference's index", [] if f"]({INDEX})" in read("README.md") else ["no link"])
    linked, problems = {}, []
    for name, target in re.findall(r"\[`([a-z_]+)`\]\(([^)]+)\)", text):
        linked.setdefault(name, target)
    for name in sorted({signature.split("(")[0] for signature in functions}):
        page, _, anchor = linked.get(name, "").partition("#")
        if not page:
            problems.append(f"not in the index: {name}")
            continue
        target = read(os.path.join("docs", page))
        if anchor:
            target = next((section(target, h) for h in re.findall(r"^#+ (.*)$", target, re.MULTILINE) if slug(h) == anchor), "")
        if not any(signature.startswith(name + "(") for signature in re.findall(SIGNATURE, target)):
            problems.append(f"no signature of {name} behind its link")
    check("the index leads to every function", problems)
    check("the index links every page", [page for page in REFERENCE if f"]({os.path.relpath(page, 'docs')})" not in text])


def check_reference():
    text = "\n".join(read(page) for page in REFERENCE)
    functions = query("""
        SELECT format('%s(%s) → %s', p.proname, CASE WHEN p.proname <> 'margin_options' THEN pg_get_function_arguments(p.oid) ELSE '...' END,
                      pg_get_function_result(p.oid))
          FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid JOIN pg_extension e ON e.oid = d.refobjid
         WHERE e.extname = 'margin' AND d.deptype = 'e' AND d.classid = 'pg_proc'::regclass
           AND p.proname !~ '^_' ORDER BY 1""")
    check("every function and aggregate is documented, and no other: names with an underscore in front are parts of others",
          differences(sorted(re.findall(SIGNATURE, text)), sorted(functions)))
    check_index(functions)
    # Overloads are the price of arguments that the parser knows: aggregates have no defaults.
    listed = [signature.split("(")[0] for signature in functions if signature.startswith("margin")]
    check(r"\df margin* grows no longer: 114 lines of 73 names",
          [f"{len(listed)} lines of {len(set(listed))} names"] if len(listed) > 114 or len(set(listed)) > 73 else [])
    hidden = query("""
        SELECT p.oid::regprocedure FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid JOIN pg_extension e ON e.oid = d.refobjid
         WHERE e.extname = 'margin' AND d.deptype = 'e' AND d.classid = 'pg_proc'::regclass
           AND coalesce(obj_description(p.oid, 'pg_proc'), '') !~
               CASE WHEN p.proname ~ '^_' THEN '^part of the (aggregates?|type|functions) '
                    WHEN 'internal'::regtype = ANY (p.proargtypes::oid[] || p.prorettype) THEN '^a part has an underscore in front$'
                    ELSE '.' END""")
    check("every function has a COMMENT, the parts of an aggregate, a type or functions say so", hidden)
    types = query("""
        SELECT t.typname, t.typtype FROM pg_depend d JOIN pg_type t ON t.oid = d.objid JOIN pg_extension e ON e.oid = d.refobjid
         WHERE e.extname = 'margin' AND d.deptype = 'e' AND d.classid = 'pg_type'::regclass AND t.typcategory <> 'A' ORDER BY 1""")
    check("every type is documented", differences(sorted(re.findall(r"^#+ Type `([a-z_]+)`$", text, re.MULTILINE)),
                                                  [row.split(" | ")[0] for row in types]))
    for name in [row.split(" | ")[0] for row in types if row.endswith("c")]:
        attributes = query(f"""
            SELECT format('`%s`', a.attname), format('`%s`', format_type(a.atttypid, a.atttypmod)) FROM pg_attribute a
             WHERE a.attrelid = '{name}'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum""")
        check(f"attributes of {name}", differences(cells(section(text, f"Type `{name}`"), 2), attributes))
        comments = query(f"""
            SELECT a.attname, format_type(a.atttypid, a.atttypmod), col_description(a.attrelid, a.attnum) FROM pg_attribute a
             WHERE a.attrelid = '{name}'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum""")
        check(f"comments on the attributes of {name}", differences([plain(row) for row in cells(section(text, f"Type `{name}`"), 3)], comments))
    options = query("""
        SELECT format('`%s`', name), format('`%s`', format_type(type, NULL))
          FROM pg_proc p, unnest(p.proargnames, p.proargtypes::oid[]) AS a (name, type) WHERE p.proname = 'margin_options'""")
    check("options, as arguments of margin_options", differences(cells(section(text, "Options"), 2), options))
    for function, heading, columns in [("margin_option_list", "Options", 5), ("margin_kernels", "Kernels", 3),
                                       ("margin_capabilities", "Capabilities", 3)]:
        check(f"{function}()", differences([plain(row) for row in cells(section(text, heading), columns)], query(f"SELECT * FROM {function}()")))
    losses = query("SELECT format('`%s`', name), outcome, CASE WHEN probability THEN 'yes' ELSE 'no' END FROM margin_losses()")
    check("losses", differences(cells(section(text, "Losses"), 3), losses))
    solvers = query("SELECT format('`%s`', name), problem FROM margin_solvers()")
    check("solvers", differences(cells(section(text, "Solvers"), 2), solvers))
    settings = query("""
        SELECT format('`%s`', name), format('`%s`', vartype), format('`%s`', boot_val)
          FROM margin_version() LEFT JOIN pg_settings ON name LIKE 'margin.%' ORDER BY 1""")
    check("settings", differences(cells(section(text, "Settings"), 3), settings))
    statuses = re.findall(r'return "([a-z_]+)";', read("src/core/model/model.cpp").split("return \"unknown\"")[0])
    check("statuses", differences(cells(section(text, "Status"), 1), [f"`{name}`" for name in statuses]))
    states = sorted(set(re.findall(r"\((\w{5})\)$", read("src/core/base/error.hpp"), re.MULTILINE)))
    documented = sorted(cell.strip("`") for cell in cells(section(text, "Errors"), 1))
    check("every kind of error has its SQLSTATE in the table", [f"not documented: {s}" for s in states if s not in documented])
    readers = re.findall(r'^    \{[A-Z0-9]+OID, "([^"]+)"', read("src/pg/values/features.cpp"), re.MULTILINE)
    accepted = ", ".join(cells(section(text, "Features"), 1))
    check("types of features", ["no reader found in src/pg/values/features.cpp"] * (not readers) +
          [f"not documented: {name}" for name in readers if f"`{name}`" not in accepted])


def sql_blocks(path):
    """(line, statements, expected output or None) of every sql block."""
    lines = read(path).splitlines()
    blocks, at = [], 0
    while at < len(lines):
        fence = re.match(r"```(\w*)$", lines[at])
        if fence is None:
            at += 1
            continue
        end = next(i for i in range(at + 1, len(lines)) if lines[i] == "```")
        body = "\n".join(lines[at + 1:end])
        if fence.group(1) == "sql":
            blocks.append([at + 1, body, None, end])
        elif fence.group(1) == "text" and blocks and not any(line.strip() for line in lines[blocks[-1][3] + 1:at]):
            blocks[-1][2] = body
        at = end + 1
    return [block[:3] for block in blocks]


def meaningful(output):
    return [line.rstrip() for line in output.splitlines() if line.strip()]


def check_statements():
    for number, path in enumerate(PAGES):
        database = f"docs_check_{number}"
        query(f"CREATE DATABASE {database}")
        if "CREATE EXTENSION margin" not in read(path):  # a page that takes it for granted
            psql(database, "CREATE EXTENSION margin")
        for line, statements, expected in sql_blocks(path):
            result = psql(database, statements)
            problems = result.stderr.splitlines()
            shown = expected if expected is not None or path not in COMPLETE else ""
            if result.returncode == 0 and shown is not None and meaningful(result.stdout) != meaningful(shown):
                problems = ["psql printed:", *result.stdout.splitlines()]
            elif result.returncode != 0 and not problems:
                problems = [f"exit status {result.returncode}"]
            check(f"{path}, line {line}: the statements run" + (" and print this" if expected is not None else ""), problems)


def check_picture():
    """README.md shows what margin_plot draws of its first model."""
    drawn = psql(f"docs_check_{PAGES.index('README.md')}", "SELECT margin_plot(model) FROM models", "-At").stdout
    check(f"{PICTURE} is what margin_plot draws", [] if drawn.rstrip("\n") == read(PICTURE).rstrip("\n") else ["write this into it:", *drawn.splitlines()])


def check_papers():
    """docs/papers.md: every call of its tables runs."""
    rows = ("CREATE TEMP TABLE papers AS SELECT i % 2 AS y, ARRAY[sin(i), cos(3 * i), i % 2 + i * 0.01] AS x, "
            "numrange((sin(i) - i * 0.01)::numeric, (sin(i) + 1)::numeric) AS t FROM generate_series(1, 40) AS i;")
    calls = re.findall(r"^\| .*? \| `(margin_\w+\(.*?\))` \|", read("docs/papers.md"), re.MULTILINE)
    problems = [] if len(calls) >= 40 else [f"{len(calls)} calls found"]
    for call in calls:
        label = "t" if "interpolate" in call else "y"
        result = psql("postgres", rows + (f"SELECT {call};" if call.startswith("margin_bound") else f"SELECT {call} FROM papers;" if call.startswith("margin_hard_core") else
                                          f"SELECT (train_margin({label}, x, {call})).status FROM papers;"))
        problems += [f"{call}: {line}" for line in result.stderr.splitlines()]
    check("docs/papers.md: every call runs", problems)
    lines = [line for line in read("docs/papers.md").splitlines() if line.startswith("| ") and not line.startswith("| statement |")]
    check("docs/papers.md: every statement has a call", [line for line in lines if not re.match(r"\| .*? \| `margin_", line)])


def slug(heading):
    """The anchor that renderers of Markdown make of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def check_links():
    for path in PAGES:
        problems = []
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", read(path), flags=re.DOTALL)):
            if re.match(r"\w+:", target):
                continue
            name, _, anchor = target.partition("#")
            other = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(other):
                problems.append(f"no such file: {target}")
            elif anchor and anchor not in [slug(h) for h in re.findall(r"^#+ (.*)$", read(other), re.MULTILINE)]:
                problems.append(f"no such heading: {target}")
        check(f"{path}: every link leads somewhere", problems)


def check_named_files():
    """Whatever looks like the end of a path of a source file is one of the repository's."""
    files = [os.path.join(directory, name) for top in ("src", "sql", "docs", "test", "bench", "demo", "packaging")
             for directory, _, names in os.walk(top) for name in names]
    for path in PAGES:
        if path in ("CHANGELOG.md", "src/core/README.md"):  # tells of the past; is compared in full below
            continue
        named = re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.(?:[ch]pp|inc|c|h|sql|sh|py|pl))`", read(path))
        check(f"{path}: every file that it names exists", [name for name in sorted(set(named)) if not re.search("NAME|X.Y.Z", name) and not any(("/" + file).endswith("/" + name) for file in files)])


def check_shape():
    """Pages that can be read, and tables that are drawn: a row without a head above is a paragraph."""
    for path in PAGES:
        lines = re.sub(r"^```.*?^```$", "", read(path), flags=re.DOTALL | re.MULTILINE).splitlines()
        check(f"{path}: no table is broken",
              [f"no table: {line[:80]}" for above, line, below in zip(["", *lines], lines, [*lines[1:], ""])
               if line.startswith("|") and not above.startswith("|") and not re.match(r"\|(?: ?:?-+:? ?\|)+$", below)])
    check("README.md has at most 300 lines", [] if len(read("README.md").splitlines()) <= 300 else ["it has more"])
    check("no page of docs/ above 500 lines", [path for path in PAGES if path.startswith("docs/") and len(read(path).splitlines()) > 500])


def check_core_readme():
    text = read("src/core/README.md")
    files = [os.path.relpath(os.path.join(directory, name), "src/core") for directory, _, names in os.walk("src/core")
             for name in names if name.endswith((".hpp", ".cpp", ".inc"))]
    # x.cpp beside x.hpp is named with it.
    wanted = sorted(f for f in files if not (f.endswith(".cpp") and f[:-4] + ".hpp" in files))
    check("src/core/README.md names every file", [f"missing: {f}" for f in wanted if f"`{f}`" not in text])
    named = re.findall(r"`([\w/]+\.(?:hpp|cpp|inc))`", text)
    check("src/core/README.md names no other", [f"no such file: {f}" for f in named if f not in files])


query("CREATE EXTENSION IF NOT EXISTS margin")
check_reference()
check_statements()
check_picture()
check_papers()
check_links()
check_named_files()
check_shape()
check_core_readme()
print(f"checks: {checks - failures} of {checks} hold")
sys.exit(failures > 0)

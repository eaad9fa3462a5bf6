#!/usr/bin/env python3
"""Writes the script that leads from one version's install script to the next one's: upgrade_script.py OLD NEW [-w FILE | -c FILE].

Prints it; -w writes it to FILE; -c says where FILE differs, and prints nothing where it does not. What can be told from two
install scripts is done: new objects, attributes at the end of composite types, functions whose volatility, cost, arguments or
results changed, functions whose name got an underscore in front (parts of aggregates and types), comments. All else ends it
with a message, and wants a decision.
"""
import difflib
import re
import sys

HEAD = '''\\echo Use "ALTER EXTENSION {name} UPDATE TO '{new}'" to load this file. \\quit

-- Made of the two install scripts by test/upgrade_script.py, which test/run.sh rules holds it against; see docs/extending.md.
'''

# A function that others use (a view, a generated column) cannot go; it keeps working under the name of its version.
RETIRE = '''
DO $retire$
BEGIN
  DROP {kind} {name}({types});
EXCEPTION WHEN dependent_objects_still_exist THEN
  ALTER EXTENSION {extension} DROP {kind} {name}({types});
  ALTER {kind} {name}({types}) RENAME TO {alias};
  RAISE WARNING 'objects depend on {name} of version {old}, which is called {alias} now'
    USING HINT = 'Create them again with {name} as it is, then drop {alias}.';
END $retire$;
'''


def fail(message):
    sys.exit('upgrade_script.py: ' + message)


def statements(path, content=None):
    """The statements of a script, without comments and psql's commands; the white space is kept."""
    found, text, quote = [], '', None
    for line in (open(path, encoding='utf-8').read() if content is None else content).splitlines(keepends=True):
        if quote is None and not text.strip() and (line.startswith('--') or line.startswith('\\') or not line.strip()):
            continue
        i = 0
        while i < len(line):
            c = line[i]
            if quote is not None:
                quote = None if c == quote else quote
            elif c in '\'"':
                quote = c
            elif line.startswith('--', i):
                fail(f'{path}: a comment inside of a statement: {line.strip()}')
            elif line.startswith('$', i) and re.match(r'\$\w*\$', line[i:]):
                fail(f'{path}: a body between dollars; use RETURN: {line.strip()}')
            text += c
            if c == ';' and quote is None:
                found.append(text.strip())
                text = ''
            i += 1
    if text.strip():
        fail(f'{path}: the last statement has no end: {text.strip()[:80]}')
    return found


def flat(text):
    return re.sub(r'\s+', ' ', text).replace('( ', '(').replace(' )', ')').strip()


def parts(text):
    """What the commas outside of quotes and brackets separate."""
    found, depth, quoted, part = [], 0, False, ''
    for c in text:
        if c == "'":
            quoted = not quoted
        depth += 0 if quoted else (c in '([') - (c in ')]')
        if c == ',' and depth == 0 and not quoted:
            found.append(part.strip())
            part = ''
        else:
            part += c
    return found + [part.strip()] if part.strip() else found


def bracket(text):
    """The text in the first pair of brackets, and what follows it."""
    start, depth = text.index('('), 0
    for i in range(start, len(text)):
        depth += (text[i] == '(') - (text[i] == ')')
        if depth == 0:
            return text[start + 1:i], text[i + 1:]
    fail('brackets that do not close: ' + text[:80])


class Routine:
    """A function or an aggregate: what it is called by, and what CREATE OR REPLACE cannot change."""

    def __init__(self, text):
        self.text = text
        body = flat(text)
        self.kind, self.name = re.match(r'CREATE (FUNCTION|AGGREGATE) (\w+) ?\(', body).groups()
        inside, rest = bracket(body)
        self.types, self.shape = [], []
        for argument in parts(inside):
            declared = re.sub(r' DEFAULT .*', '', argument)
            out = declared.startswith('OUT ')
            if not out:
                self.types.append(declared.split(' ')[-1])
            # a default can be added, not taken away
            self.shape.append(declared)
        if self.kind == 'FUNCTION':
            self.shape.append(re.match(r' RETURNS ((SETOF )?[^ ]+)', rest).group(1))
        self.key = f'{self.kind} {self.name}({", ".join(self.types)})'


def objects(path, changed=str):
    """Statement by statement, changed: (key, kind, statement)."""
    for text in map(changed, statements(path)):
        line = flat(text)
        if line.startswith('COMMENT ON '):
            at = re.search(r"\sIS\s+'", text)
            yield flat(text[:at.start()]), 'comment', text
        elif re.match(r'CREATE (FUNCTION|AGGREGATE) ', line):
            routine = Routine(text)
            yield routine.key, 'routine', routine
        elif re.match(r'CREATE TYPE \w+ AS \(', line):
            yield 'TYPE ' + line.split(' ')[2], 'row', text
        elif re.match(r'CREATE TYPE \w+ ?;', line):
            yield 'SHELL ' + line.split(' ')[2].rstrip(';'), 'other', text
        elif re.match(r'CREATE (TYPE|CAST|OPERATOR|OPERATOR CLASS|OPERATOR FAMILY) ', line):
            yield line, 'other', text
        else:
            fail(f'{path}: a statement of a kind that it does not know: {line[:80]}')


class Renamed:
    """The functions of an old script that a new one has with an underscore in front: what an update renames, so that their
    users keep them."""

    def __init__(self, before, after):
        will = {key for key, kind, _ in after if kind == 'routine'}
        self.routines = [value for key, kind, value in before
                         if kind == 'routine' and key not in will and key.replace(' ', ' _', 1) in will]
        names = {value.name for value in self.routines}
        for key, kind, value in before:
            if kind == 'routine' and value.name in names and value not in self.routines:
                fail(f'{key}: the new script has others of this name with an underscore in front, and not this one')
        self.pattern = re.compile(r"(?<![\w'])(" + '|'.join(sorted(names, key=len, reverse=True)) + r")(?![\w'])") if names else None

    def text(self, text):
        """A statement of the old script as it reads once these functions are renamed."""
        if self.pattern is None:
            return text
        made = re.match(r'CREATE FUNCTION (\w+)', text)
        if made and self.pattern.fullmatch(made.group(1)) and "AS 'MODULE_PATHNAME'," not in text:  # its entry point keeps the name
            text = text.replace("AS 'MODULE_PATHNAME'", f"AS 'MODULE_PATHNAME', '{made.group(1)}'", 1)
        if text.startswith('COMMENT ON '):
            head, words = re.match(r"(.*?)(\sIS\s+'.*)", text, re.S).groups()
            return self.pattern.sub(r'_\1', head) + words
        return self.pattern.sub(r'_\1', text)

    def statements(self):
        return [f'\nALTER FUNCTION {r.name}({", ".join(r.types)}) RENAME TO _{r.name};\n' for r in self.routines]


def attributes(text):
    return [flat(part) for part in parts(bracket(text)[0])]


def script(old_path, new_path):
    extension, old = re.search(r'(\w+)--([\d.]+)\.sql$', old_path).groups()
    new = re.search(r'--([\d.]+)\.sql$', new_path).group(1)
    after = list(objects(new_path))
    renamed = Renamed(list(objects(old_path)), after)
    before = list(objects(old_path, renamed.text))
    was = {key: (kind, value) for key, kind, value in before}
    will = {key: (kind, value) for key, kind, value in after}
    if len(will) != len(after):
        keys = [key for key, _, _ in after]
        fail(f'{new_path}: twice: ' + '; '.join(sorted({key for key in keys if keys.count(key) > 1})))
    out, retired, ends = [HEAD.format(name=extension, new=new), *renamed.statements()], set(), []

    def replaced(key, value):
        return key in was and was[key][1].shape != value.shape

    # Aggregates first: they use functions. Those that go without a successor go last, when nothing of ours uses them.
    for key, kind, value in sorted(before, key=lambda entry: entry[0].startswith('FUNCTION')):
        if kind == 'routine' and (key not in will or replaced(key, will[key][1])):
            retired.add(key)
            alias = f'{value.name}_{old.replace(".", "_")}'
            (ends if key not in will else out).append(RETIRE.format(
                kind=value.kind, name=value.name, types=', '.join(value.types), alias=alias, extension=extension, old=old))
        elif kind in ('row', 'other') and key not in will:
            fail(f'{old_path} has, and {new_path} has not: {key}. What is stored may need it: it stays, or its end is written by hand here')
    for key, kind, value in after:
        known = was.get(key)
        if kind == 'comment':
            if known is None or flat(known[1]) != flat(value) or key.removeprefix('COMMENT ON ') in retired:
                out.append(value + '\n')
        elif kind == 'routine':
            if known is None or key in retired:
                out.append('\n' + value.text + '\n')
            elif flat(known[1].text) != flat(value.text):
                out.append('\n' + re.sub(r'^CREATE ', 'CREATE OR REPLACE ', value.text) + '\n')
        elif kind == 'row' and known is not None:
            has, wants = attributes(known[1]), attributes(value)
            if wants[:len(has)] != has:
                fail(f'{key}: stored values have the attributes {"; ".join(has)} in this order: new ones go to the end')
            if wants[len(has):]:  # tables OF the type are anyone's, and must not keep it as it is
                out.append(f'\nALTER {key}\n  ' + ',\n  '.join('ADD ATTRIBUTE ' + attribute + ' CASCADE' for attribute in wants[len(has):]) + ';\n')
        elif known is None:
            out.append('\n' + value + '\n')
    for key, kind, value in before:
        if kind == 'comment' and key not in will and key.removeprefix('COMMENT ON ') not in retired:
            out.append(f'{key} IS NULL;\n')
    return ''.join(out + ends)


def main(old, new, mode='', path=''):
    made = script(old, new)
    if mode == '-w':
        open(path, 'w', encoding='utf-8').write(made)
    elif mode == '-c':
        difference = list(difflib.unified_diff(open(path, encoding='utf-8').read().splitlines(), made.splitlines(), path, 'as the install scripts say', n=0, lineterm=''))
        if difference:
            print(f'an update leaves other objects than an installation: test/upgrade_script.py {old} {new} -w {path}')
            print('\n'.join(difference))
    else:
        print(made, end='')


if __name__ == '__main__':
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""What must hold of a script that a superuser runs in a schema where others may have put objects: script_review.py FILE...

Prints what does not. CREATE EXTENSION runs a script with the search_path "its schema, pg_temp" behind pg_catalog, for a trusted
extension with the rights of the superuser who made the cluster. So a script makes objects and nothing else, replaces none but
its own, and calls nothing by a name that an object of the schema could take.
"""
import re
import sys

import upgrade_script

MAKES = re.compile(r'CREATE (FUNCTION|AGGREGATE|TYPE|CAST|OPERATOR|OPERATOR CLASS|OPERATOR FAMILY) |COMMENT ON ')
ALTERS = r'ALTER TYPE \w+ ADD ATTRIBUTE |ALTER FUNCTION (\w+)\([^()]*\) RENAME TO _\1;'
RIGHTS = r'\b(SECURITY DEFINER|LEAKPROOF|(?-i:SUPPORT)|OWNER TO|GRANT|REVOKE|SET SCHEMA|IF NOT EXISTS|search_path|SET ROLE|SESSION AUTHORIZATION)\b'


def without_strings(text):
    return re.sub(r"'(?:[^']|'')*'", "''", text)


def calls_by_name(body, own):
    """What a body in SQL finds by its bare name: functions and operators that are not said to be pg_catalog's."""
    text = re.sub(r'\s+', ' ', without_strings(body))
    text = re.sub(r'OPERATOR\(pg_catalog\.[^)]+\)', ' ', text).replace('::', ' ')
    text = re.sub(r'\bpg_catalog\.\w+', ' ', text)
    text = re.sub(r'\bAS \w+ ?\([\w, ]*\)', ' ', text)  # names of columns
    for operator in re.findall(r'[-+*/<>=~!@#%^&|`?]+', text):
        yield f'the operator {operator} (say OPERATOR(pg_catalog.{operator}))'
    for name in re.findall(r'\b([a-z_]\w*) ?\(', text, re.IGNORECASE):
        if name.upper() not in ('SELECT', 'FROM', 'RETURN', 'WHERE', 'AND', 'OR', 'NOT', 'THEN', 'ELSE', 'EXTRACT') and name not in own:
            yield f'the function {name} (say pg_catalog.{name})'
    for word in re.findall(r'\b(CASE (?!WHEN\b)\w+|LIKE|ILIKE|BETWEEN|IN|SIMILAR|IS DISTINCT|NULLIF|ORDER BY)\b', text):
        yield f'{word} (which looks for an operator by its name)'


def review(path):
    update = re.search(r'--[\d.]+--[\d.]+\.sql$', path)
    before = dict()
    if update:
        before = {key: kind for key, kind, _ in upgrade_script.objects(re.sub(r'--[\d.]+\.sql$', '.sql', path))}
        before.update((key.replace(' ', ' _', 1), kind) for key, kind in list(before.items()) if kind == 'routine')
    text = open(path, encoding='utf-8').read()
    blocks = re.findall(r'DO \$retire\$.*?\$retire\$;\n', text, re.S) if update else []
    for block in blocks:  # the one form of them: see RETIRE
        pattern = re.escape(upgrade_script.RETIRE.strip())
        pattern = re.sub(r'\\\{\w+\\\}', r'[\\w", \\[\\]().]*', pattern)
        if not re.fullmatch(pattern, block.strip()):
            yield 'a DO block that is not of the form of upgrade_script.py: ' + block[:80]
        text = text.replace(block, '')
    own = set()
    for statement in upgrade_script.statements(path, text):
        line = upgrade_script.flat(statement)
        what = line[:90]
        plain = without_strings(line)
        support = re.search(r' SUPPORT (\w+)', plain)
        if support is not None and support.group(1) in own:  # found by its name, but ours: another of this name would have stopped the script
            plain = plain.replace(support.group(0), '')
        if re.search(RIGHTS, plain, re.IGNORECASE):
            yield what + ': ' + re.search(RIGHTS, plain, re.IGNORECASE).group(0)
        if line.startswith('CREATE OR REPLACE '):
            routine = upgrade_script.Routine(statement.replace('CREATE OR REPLACE ', 'CREATE ', 1))
            if routine.key not in before:
                yield what + ': replaces what is not its own'
        elif not MAKES.match(line) and not (update and re.match(ALTERS, line)):
            yield what + ': makes no object'
        if re.match(r'CREATE (OR REPLACE )?FUNCTION', line):
            own.add(re.search(r'FUNCTION (\w+)', line).group(1))
            language = re.search(r"LANGUAGE '?(\w+)'?", line)
            if language is None or language.group(1).lower() not in ('c', 'sql'):
                yield what + ': neither C nor SQL'
            elif language.group(1).lower() == 'sql':
                body = re.search(r'\bRETURN\b(.*)', statement, re.S)
                if body is None:
                    yield what + ': a body that is parsed when it runs'
                else:
                    for found in calls_by_name(body.group(1), own):
                        yield what + ': ' + found
            elif "AS 'MODULE_PATHNAME'" not in statement:
                yield what + ': a library that is not ours'
        if re.search(r'\bpublic\.|@extschema', plain):
            yield what + ': names a schema'


def main(paths):
    # The review itself must see what it is for.
    bad = list(calls_by_name(" (SELECT 2 * pi() + pg_catalog.sin(x) FROM f(1) WHERE CASE a WHEN 'x*y' THEN 1 END)", set()))
    if len(bad) != 5:
        print('script_review.py no longer finds what it should:', bad)
    for path in paths:
        for found in review(path):
            print(f'{path}: {found}')


if __name__ == '__main__':
    main(sys.argv[1:])

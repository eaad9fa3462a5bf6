#!/usr/bin/env python3
"""What each check of src/core/certificate reads, and each conclusion of src/core/consequences: check_reads.py [-w]. Prints what is wrong.

A check is built from statement, rows and vectors, and from nothing that a solver has touched. So no header of these rooms names a type
that is defined in a later room, and none takes a value of an earlier room that it could see change: what is not a certificate's own
comes by value or as const. LIST has, header by header, the types of other rooms that the interfaces read; -w writes it anew."""
import pathlib
import re
import sys

CORE = pathlib.Path('src/core')
LIST = pathlib.Path('test/fixtures/check_reads.txt')
ROOMS = ('certificate', 'consequences')
LATER = ('solvers', 'model', 'metrics', 'formats', 'train', 'analysis', 'scans', 'report')
# Rooms whose types are rows, vectors, statements; those of math/ and base/ are tools.
READ = ('data', 'options', 'encoder', 'loss', 'kernel', 'problem')


def code(path):
    return re.sub(r'//[^\n]*', '', path.read_text())


def types_of(room):
    found = {}
    for path in sorted((CORE / room).rglob('*.hpp')):
        for name in re.findall(r'^(?:class|struct|enum class) (\w+)(?: final)?(?: :[^{;]*)? ?\{', code(path), re.M):
            found[name] = path.relative_to(CORE).as_posix()
    return found


def interface(text):
    """Without private parts and without bodies: what callers hand in."""
    out, private = [], False
    for line in text.split('\n'):
        if re.match(r'\s*(public|private|protected):', line):
            private = 'public' not in line
        elif re.match(r'\};', line):
            private = False
        elif not private:
            out.append(line)
    return '\n'.join(out)


def main():
    own, wrong, lines = {name: path for room in ROOMS for name, path in types_of(room).items()}, [], []
    later = {name: path for room in LATER for name, path in types_of(room).items() if name not in own}
    read = {name: path for room in READ for name, path in types_of(room).items() if name not in own}
    for path in sorted(path for room in ROOMS for path in (CORE / room).rglob('*.hpp')):
        where, text = path.relative_to(CORE).as_posix(), code(path)
        nested = set(re.findall(r'\b(?:class|struct|enum class) (\w+)', text))  # its own
        words = set(re.findall(r'\b[A-Z]\w+', text)) - nested
        for name in sorted(words & set(later)):
            wrong.append(f'{where} names {name}, which {later[name]} defines: a check is built from statement, rows and vectors')
        for before, name, mark in re.findall(r'(\bconst )?(?<!:)\b([A-Z]\w+)(?: const)?([&*])', text):
            if name in read and name not in nested and not before:
                wrong.append(f'{where} takes {name}{mark}, which may change under it: by value, or const')
        used = sorted(set(re.findall(r'\b[A-Z]\w+', interface(text))) & set(read))
        lines.append(f'{where}: {" ".join(used) if used else "-"}\n')
    if not any(': -' not in line for line in lines):
        wrong.append('no certificate reads anything: this rule has lost sight of them')
    listed = ''.join(lines)
    if sys.argv[1:] == ['-w']:
        LIST.write_text(listed)
    elif not LIST.exists() or LIST.read_text() != listed:
        wrong.append(f'{LIST} is not what the checks read now; look, and write it with test/check_reads.py -w:')
        before = set(LIST.read_text().split('\n')) if LIST.exists() else set()
        wrong += sorted(f'  + {line}' for line in set(listed.split('\n')) - before) + sorted(f'  - {line}' for line in before - set(listed.split('\n')))
    print('\n'.join(wrong), end='\n' if wrong else '')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())

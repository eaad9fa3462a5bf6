#!/usr/bin/env python3
"""Writes copies of the sources that test/mutants/mutants.txt names, each with all of its mutants behind a switch.

    generate.py MUTANTS SOURCES OUT

A copy goes to OUT/include (headers, found before the originals) or OUT/sources, with the rest of its directory, which is compiled as
one. Which mutant is on, a process learns from
MARGIN_MUTANT, a number; none: the copy does what the original does. A text that does not occur exactly once is an error, so
that the mutants stay those of the code.
"""
import pathlib
import re
import sys

SWITCH = 'margin_mutants_chosen'
HEAD = f'extern "C" int {SWITCH};\n'
MAIN = f"""#include <cstdlib>

int {SWITCH} = 0;
namespace {{
/// Before the constants of any file.
__attribute__((constructor(101))) void choose() {{
  if (const char* const number = std::getenv("MARGIN_MUTANT")) {SWITCH} = std::atoi(number);
}}
}}  // namespace
"""


class Mutant:
    def __init__(self, name, path, number):
        self.name, self.path, self.number = name, path, number
        self.text, self.instead, self.tests, self.usual, self.line = [], [], [], [], 0


def read(path):
    """The records: see the head of mutants.txt."""
    mutants, source, now, line_number, usual = [], None, None, 0, []
    for line_number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        kind, rest = line[:2].rstrip(), line[2:].rstrip()
        if not line.strip() or kind == '#':
            continue
        if kind == '@':
            source, now, usual = rest, None, []
        elif kind == '?' and now is None:
            usual.append(rest)
        elif kind == '*':
            now = Mutant(rest, source, len(mutants) + 1)
            now.usual = usual
            now.line = line_number
            mutants.append(now)
        elif kind in '-+?' and now is not None:
            {'-': now.text, '+': now.instead, '?': now.tests}[kind].append(rest)
        else:
            raise SystemExit(f'{path}:{line_number}: not a line of a record')
    names = [(m.path, m.name) for m in mutants]
    for m in mutants:
        m.tests = m.tests or m.usual
    for m in mutants:
        if names.count((m.path, m.name)) > 1 or not m.text or not m.tests or m.path is None:
            raise SystemExit(f'{path}:{m.line}: {m.name} is there twice, or lacks a part')
    return mutants


def pattern_of(text):
    return r'\s+'.join(re.escape(word) for word in text.split())


def place(mutant, source):
    """Where the text between the backticks is in the source."""
    parts = '\n'.join(mutant.text).split('`')
    if len(parts) == 1:
        parts = ['', parts[0], '']
    if len(parts) != 3:
        raise SystemExit(f'{mutant.name}: not two backticks')
    joints = [r'\s*' if (a[-1:].isspace() or b[:1].isspace() or not a.strip() or not b.strip()) else ''
              for a, b in zip(parts, parts[1:])]
    before, inner, after = (pattern_of(p) for p in parts)
    found = list(re.finditer(f'{before}{joints[0]}(?P<inner>{inner}){joints[1]}{after}', source))
    if len(found) != 1:
        raise SystemExit(f'mutant "{mutant.name}" (line {mutant.line}): its text occurs {len(found)} times in {mutant.path}')
    return found[0].span('inner')


def rewritten(source, spans, begin, end):
    """source[begin:end] with all mutants whose spans lie within."""
    out, at = [], begin
    for (a, b) in sorted(spans, key=lambda s: (s[0], -s[1])):
        if a < at or b > end:
            continue
        inside = {s: m for s, m in spans.items() if a <= s[0] and s[1] <= b and s != (a, b)}
        original = rewritten(source, inside, a, b)
        statement = source[a:b].rstrip()[-1] in ';}'
        whole = original
        for mutant in reversed(spans[(a, b)]):
            instead = '\n'.join(mutant.instead)
            # The lines of what follows stay those of the original.
            if statement:
                whole = f'if ({SWITCH} == {mutant.number}) {{ {instead} }} else {{ {whole} }}'
            else:
                whole = f'({SWITCH} == {mutant.number} ? ({instead}) : ({whole}))'
        out += [source[at:a], whole]
        at = b
    return ''.join(out + [source[at:end]])


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(records, sources, out):
    mutants, sources, out = read(records), pathlib.Path(sources), pathlib.Path(out)
    written = {out / 'sources/chosen.cpp'}
    write(out / 'sources/chosen.cpp', MAIN)
    mutated = {m.path for m in mutants}
    for directory in {(sources / path).parent for path in mutated if path.endswith('.cpp')}:
        for file in directory.glob('*.cpp'):
            path = str(file.relative_to(sources))
            if path not in mutated:
                write(out / 'sources' / path, file.read_text())
                written.add(out / 'sources' / path)
    problems = []
    for path in sorted({m.path for m in mutants}):
        source = (sources / path).read_text()
        spans = {}
        for mutant in mutants:
            if mutant.path != path:
                continue
            try:
                spans.setdefault(place(mutant, source), []).append(mutant)
            except SystemExit as problem:
                problems.append(str(problem))
        ordered = sorted(spans)
        for (a, b), (c, d) in zip(ordered, ordered[1:]):
            if a < c < b < d:
                problems.append(f'{path}: the mutants {spans[(a, b)][0].name} and {spans[(c, d)][0].name} overlap')
        header = path.endswith('.hpp')
        to = out / ('include' if header else 'sources') / path
        text = rewritten(source, spans, 0, len(source))
        text = text.replace('#pragma once\n', '#pragma once\n' + HEAD, 1) if header else HEAD + text
        write(to, text)
        written.add(to)
    if problems:
        raise SystemExit('\n'.join(problems))
    for old in list(out.glob('include/**/*.hpp')) + list(out.glob('sources/**/*.cpp')):
        if old not in written:
            old.unlink()


if __name__ == '__main__':
    main(*sys.argv[1:])

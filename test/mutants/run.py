#!/usr/bin/env python3
"""Runs the tests that shall kill each mutant of mutants.txt, and prints a TAP line for each.

    run.py MUTANTS UNIT EXACT [--jobs N] [--only NAME...] [--files PART...] [--all]

UNIT and EXACT are the unit tests and the exact checker with the copies of generate.py. A mutant is killed where one of its tests
fails by an expectation that does not hold: a crash, a process that needs more than its seconds, or a test that there is not
are failures of this stage. Without a mutant every one of these tests passes.
"""
import argparse
import concurrent.futures
import os
import re
import resource
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generate  # noqa: E402

SECONDS = 60  # of CPU, of a test; what it takes is far less


def run(unit, exact, test, number):
    """(verdict, what was said): 'passed', 'killed' or what is wrong."""
    kind, *words = test.split()
    environment = dict(os.environ, MARGIN_MUTANT=str(number), GTEST_FAIL_FAST='1', GTEST_COLOR='no')
    if kind == 'unit':
        command = [unit, '--gtest_brief=1', '--gtest_filter=' + words[0]]
    elif kind == 'exact':
        # A family, in words, and how many problems.
        command = [exact, 'family', ' '.join(words[:-1]), '1', words[-1]]
    else:
        return 'no such kind of test', ''
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))  # noqa: E731
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', preexec_fn=limit)
    said = done.stdout
    if done.returncode < 0:
        return f'ended by signal {-done.returncode}', said
    if kind == 'unit':
        ran = re.search(r'\[  PASSED  \] (\d+) test', said)
        failed = re.findall(r'^\[  FAILED  \] ([^ ,]+)', said, re.M)
        if done.returncode != 0 and failed:
            return 'killed', failed[0]
        if done.returncode == 0 and ran and int(ran.group(1)) > 0:
            return 'passed', said
        return 'no test', said
    if done.returncode == 0:
        return 'passed', said
    wrong = re.search(r'^# (.*)$', said, re.M)
    return ('killed', wrong.group(1)[:100]) if wrong else ('no test', said)


def main():
    parser = argparse.ArgumentParser()
    for name in ('mutants', 'unit', 'exact'):
        parser.add_argument(name)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--only', nargs='*', default=[])
    parser.add_argument('--files', nargs='*', default=[], help='parts of paths: mutants of these files alone')
    parser.add_argument('--all', action='store_true', help='all tests of a mutant, not the first that kills it')
    options = parser.parse_args()
    mutants = [m for m in generate.read(options.mutants)
               if (not options.only or any(re.fullmatch(o, m.name) for o in options.only)) and
               (not options.files or any(f in m.path for f in options.files))]
    said, bad = {}, 0

    def whole():
        """Without a mutant."""
        wrong = []
        names = {}
        for mutant in mutants:
            for test in mutant.tests:
                kind, *words = test.split()
                if kind == 'unit':
                    names.setdefault(kind, set()).update(words[0].split(':'))
                else:
                    family, count = ' '.join(words[:-1]), int(words[-1])
                    names[family] = max(names.get(family, 0), count)
        for key, value in names.items():
            test = 'unit ' + ':'.join(sorted(value)) if key == 'unit' else f'exact {key} {value}'
            verdict, text = run(options.unit, options.exact, test, 0)
            if verdict != 'passed':
                wrong.append(f'{test}: {verdict}\n{text}')
        return wrong

    def attempt(mutant):
        started, survived, by = time.monotonic(), [], []
        for test in mutant.tests:
            verdict, text = run(options.unit, options.exact, test, mutant.number)
            if verdict == 'killed':
                by.append(text)
                if not options.all:
                    break
            else:
                survived.append(f'{test}: {verdict}' + ('' if verdict == 'passed' else '\n' + text[-1500:]))
        return mutant, by, survived, time.monotonic() - started

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        without = pool.submit(whole)
        line = 0
        for mutant, by, survived, seconds in pool.map(attempt, mutants):
            line += 1
            good = bool(by) and (options.all or all(s.endswith(': passed') for s in survived))
            bad += not good
            print(f'{"" if good else "not "}ok {line} - {mutant.path}: {mutant.name}' +
                  (f', killed by {"; ".join(by)}' if by else ' survives') + f' ({seconds:.1f} s)', flush=True)
            if not good or options.all:
                for text in survived:
                    print('\n'.join('# ' + each for each in text.splitlines()), flush=True)
            said.setdefault(mutant.path, []).append(good)
        line += 1
        wrong = without.result()
        print(f'{"not " if wrong else ""}ok {line} - without a mutant all of these tests pass')
        for text in wrong:
            print('\n'.join('# ' + each for each in text.splitlines()))
        bad += bool(wrong)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f'1..{line}')
    for path, goods in said.items():
        print(f'# {path}: {sum(goods)} of {len(goods)}')
    print(f'checks: {line - bad} of {line} hold, {used.ru_utime + used.ru_stime:.0f} s of CPU')
    sys.exit(bad > 0)


main()

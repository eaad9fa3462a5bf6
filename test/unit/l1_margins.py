#!/usr/bin/env python3
"""Writes test/unit/l1_margins.inc: maximum l1 margins by scipy's HiGHS, which boosting_test.cpp compares with.

usage: test/unit/l1_margins.py DATA_DIRECTORY > test/unit/l1_margins.inc     (needs python3-scipy)

The random problems are made by the same splitmix64 as the test's, with numbers that are exact in double precision.
"""
import lzma
import os
import sys

import numpy
from scipy.optimize import linprog

MASK = (1 << 64) - 1


class Random:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        return ((self.next() >> 32) * n) >> 32

    def grid(self):
        """A multiple of 1/1024 in [-1, 1)."""
        return (self.below(2048) - 1024) / 1024


def random_problem(seed):
    r = Random(seed)
    n, d = 10 + r.below(60), 2 + r.below(30)
    plane = [r.grid() for _ in range(d)]
    rows, labels = [], []
    for i in range(n):
        x = [r.grid() for _ in range(d)]
        for j in range(d):
            if seed % 4 == 1:
                x[j] = 1.0 if x[j] > 0 else -1.0
            if seed % 4 == 2 and r.below(2) == 0:
                x[j] = 0.0
        if i < 2:  # both classes occur
            x = [w if i == 1 else -w for w in plane]
        score = sum(w * v for w, v in zip(plane, x))
        labels.append(1 if (score > 0.125) != (seed % 5 == 0 and i == 2) else 0)
        rows.append(x)
    return numpy.array(rows), numpy.where(numpy.array(labels) == 1, 1.0, -1.0)


def l1_margin(x, y, intercept):
    """max g subject to y (x l + b) >= g, ||l||_1 <= 1, as l = p - q."""
    n, d = x.shape
    z = x * y[:, None]
    cost = numpy.zeros(2 * d + 2)
    cost[-1] = -1
    rows = numpy.hstack([-z, z, -y[:, None] * (1 if intercept else 0), numpy.ones((n, 1))])
    norm = numpy.concatenate([numpy.ones(2 * d), [0, 0]])
    result = linprog(cost, A_ub=numpy.vstack([rows, norm]), b_ub=numpy.concatenate([numpy.zeros(n), [1]]),
                     bounds=[(0, None)] * (2 * d) + [(None, None)] * 2, method="highs")
    assert result.status == 0, result.message
    return max(0.0, -result.fun)


def libsvm(path, d):
    rows, labels = [], []
    for line in lzma.open(path, "rt"):
        words = line.split()
        x = [0.0] * d
        for word in words[1:]:
            k, v = word.split(":")
            x[int(k) - 1] = float(v)
        rows.append(x)
        labels.append(int(float(words[0])))
    return numpy.array(rows), numpy.array(labels)


def main():
    print("// Written by test/unit/l1_margins.py with scipy's HiGHS: {seed, margin with intercept, without}.")
    print("constexpr struct {\n  std::uint64_t seed;\n  double with_intercept, without_intercept;\n} random_margins[] = {")
    for seed in range(1, 61):
        x, y = random_problem(seed)
        print("    {%d, %.15g, %.15g}," % (seed, l1_margin(x, y, True), l1_margin(x, y, False)))
    print("};")
    for name, d in (("khan-srbct", 2308), ("digits8x8", 64)):
        x, label = libsvm(os.path.join(sys.argv[1], name + ".libsvm.xz"), d)
        print("// %s: one class against the rest, with an intercept." % name)
        print("constexpr double %s[] = {" % name.split("-")[0].replace("8x8", ""))
        for c in sorted(set(label)):
            print("    %.15g," % l1_margin(x, numpy.where(label == c, 1.0, -1.0), True))
        print("};")


main()

#!/usr/bin/env python3
"""The optima in likelihood_optima.inc: small problems at lambda 0, solved in 50 digits. likelihood_test.cpp draws the same
rows. Needs mpmath: python3 likelihood_optima.py > likelihood_optima.inc, then clang-format-19; the optima of counts,
python3 likelihood_optima.py counts > poisson_optima.inc.
"""
import sys
from fractions import Fraction
from mpmath import mp, mpf, matrix, lu_solve, log, log1p, exp, nstr

mp.dps = 50
PROBLEMS, COUNTS = 500, 300


class Draws:
    """The generator of likelihood_test.cpp."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n


def counts(k):
    """Halves of whole numbers, and columns that the label is often 0 in."""
    draws = Draws(k + 1)
    n, d = 6 + draws.below(24), 1 + draws.below(4)
    rows = []
    for _ in range(n):
        x = [Fraction(draws.below(9) - 4, 4) for _ in range(d)] + [Fraction(1)]
        if k % 4 == 0:
            x[0] = Fraction(draws.below(2))
        size = draws.below(5 if k % 7 else 4000)
        y = Fraction(0) if k % 4 == 0 and x[0] == 1 and k % 8 == 0 else Fraction(size, 2) + max(0, 2 * x[0])
        rows.append((x, y, 1 + draws.below(3) if k % 3 == 0 else 1))
    return rows


def problem(k):
    draws = Draws(k + 1)
    n, d, classes = 6 + draws.below(24), 1 + draws.below(4), k % 2 == 0
    offset = 1000 if k % 5 == 0 else 0
    rows = []
    for _ in range(n):
        x = [Fraction(draws.below(17) - 8, 4) + offset for _ in range(d)] + [Fraction(1)]
        noise = draws.below(9) - 4
        level = x[0] - offset + Fraction(noise, 2)
        y = (1 if level > 0 else -1) if classes else level * 3 + offset
        rows.append((x, Fraction(y), 1 + draws.below(3) if k % 3 == 0 else 1))
    return classes, rows


def rank(rows):
    a, r = [list(x) for x, _, _ in rows], 0
    for j in range(len(a[0])):
        pivot = next((i for i in range(r, len(a)) if a[i][j] != 0), None)
        if pivot is None:
            continue
        a[r], a[pivot] = a[pivot], a[r]
        for i in range(r + 1, len(a)):
            f = a[i][j] / a[r][j]
            a[i] = [v - f * w for v, w in zip(a[i], a[r])]
        r += 1
    return r


def number(f):
    return mpf(f.numerator) / f.denominator


def optimum(classes, rows, counted=False):
    p = len(rows[0][0])
    data = [([number(v) for v in x], number(y), c) for x, y, c in rows]
    w, total = matrix(p, 1), sum(c for _, _, c in data)
    if counted:
        mean = sum(c * y for _, y, c in data) / total
        if mean == 0:
            return None
        w[p - 1] = log(mean)
    for _ in range(120):
        g, h, value = matrix(p, 1), matrix(p, p), mpf(0)
        for x, y, c in data:
            u = sum(x[j] * w[j] for j in range(p))
            if classes:
                m = y * u
                q = 1 / (1 + exp(m))
                value += c * (log1p(exp(-m)) if m > 0 else log1p(exp(m)) - m)
                slope, curvature = -y * q, q * (1 - q)
            elif counted:
                b = exp(u)
                value += c * (b - y - (y * (u - log(y)) if y > 0 else 0))
                slope, curvature = b - y, b
            else:
                value += c * (u - y) ** 2
                slope, curvature = 2 * (u - y), 2
            for i in range(p):
                g[i] += c * slope * x[i]
                for j in range(p):
                    h[i, j] += c * curvature * x[i] * x[j]
        try:
            step = lu_solve(h, g)
        except ZeroDivisionError:
            return None
        square = sum(step[i] * g[i] for i in range(p))
        if max(abs(v) for v in step) < mpf(10) ** -30:
            return value / total  # at w, which the last step moved by 1e-30
        # A damped step: (1 + νR)⁻¹ of Newton's would do; halving by the value is simpler and exact enough here.
        t = 1 if square < 1 or not (classes or counted) else 1 / (1 + square ** mpf("0.5"))
        w = w - t * step
        if max(abs(v) for v in w) > (10**5 if classes else 70) and (classes or counted):
            return None
    return None


if sys.argv[1:] == ["counts"]:
    print("// Made by likelihood_optima.py counts: minima of P for the loss poisson at lambda 0, rounded to double; -1: none, the")
    print("// weights run away; -2: collinear columns.")
    for k in range(COUNTS):
        rows = counts(k)
        if rank(rows) < len(rows[0][0]):
            print("-2,")
            continue
        found = optimum(False, rows, True)
        print("-1," if found is None else nstr(found, 17) + ",")
    sys.exit()
print("// Made by likelihood_optima.py: minima of P at lambda 0, rounded to double; -1: none, the classes are separated; -2:")
print("// collinear columns.")
for k in range(PROBLEMS):
    classes, rows = problem(k)
    if rank(rows) < len(rows[0][0]):
        print("-2,")
        continue
    found = optimum(classes, rows)
    print("-1," if found is None else nstr(found, 17) + ",")

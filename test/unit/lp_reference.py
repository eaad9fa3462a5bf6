#!/usr/bin/env python3
"""Writes lp_reference.hpp: maximum lp margins of small random problems, found without the library.

min over q of the r-norm of sum q_i z_i, by pairwise steps (the best row gains what the worst carrier loses) with an
exact line search by bisection, until weak duality encloses the minimum to 1e-9 of it. Pure Python, no package needed:

    python3 test/unit/lp_reference.py > test/unit/lp_reference.hpp
"""
import math
import random


def dual_norm(u, r):
    top = max(abs(v) for v in u)
    return 0.0 if top == 0 else top * sum((abs(v) / top) ** r for v in u) ** (1 / r)


def weights_of(u, r):
    top = max(abs(v) for v in u)
    return [math.copysign((abs(v) / top) ** (r - 1), v) for v in u]


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def best_step(u, direction, r, longest):
    def slope(t):
        v = [a + t * b for a, b in zip(u, direction)]
        return dot(weights_of(v, r), direction) if any(v) else 0.0

    if slope(longest) <= 0:
        return longest
    low, high = 0.0, longest
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) <= 0 else (low, middle)
    return 0.5 * (low + high)


def maximum_margin(z, groups, p, steps=200000):
    """z: rows times labels; groups: index sets that carry 1/len(groups) each. Returns (lower, upper)."""
    r = p / (p - 1)
    d = len(z[0])
    q = [0.0] * len(z)
    for group in groups:
        for i in group:
            q[i] = 1 / (len(groups) * len(group))
    lower = -math.inf
    for step in range(steps):
        u = [math.fsum(q[i] * z[i][j] for i in range(len(z))) for j in range(d)]
        upper = dual_norm(u, r)
        if upper < 1e-9:
            return 0.0, 0.0
        w = weights_of(u, r)
        size = sum(abs(v) ** p for v in w) ** (1 / p)
        m = [dot(w, row) for row in z]
        lower = max(lower, sum(min(m[i] for i in group) for group in groups) / (len(groups) * size))
        if upper - lower <= 1e-9 * upper:
            return lower, upper
        pairs = []
        for group in groups:
            gain = min(group, key=lambda i: m[i])
            lose = max((i for i in group if q[i] > 0), key=lambda i: m[i])
            pairs.append((m[lose] - m[gain], lose, gain))
        _, lose, gain = max(pairs)
        direction = [a - b for a, b in zip(z[gain], z[lose])]
        t = best_step(u, direction, r, q[lose])
        q[gain] += t
        q[lose] = 0.0 if t == q[lose] else q[lose] - t
    return None


def problem(seed):
    chance = random.Random(seed)
    n, d = chance.randint(4, 12), chance.randint(1, 6)
    x, y = [], []
    for i in range(n):
        label = i if i < 2 else chance.randint(0, 1)
        row = [round(chance.gauss(0, 1), 3) for _ in range(d)]
        if seed % 3 == 1:
            row = [v if chance.random() < 0.6 else 0.0 for v in row]
        if seed % 5 != 4:
            row[chance.randrange(d) if seed % 2 else 0] += 3.0 * label - (1.5 if seed % 4 else 0)
        x.append(row)
        y.append(label)
    return x, y


def main():
    print("// Maximum lp margins of small random problems. Written by lp_reference.py; do not edit.")
    print("// clang-format off\n#pragma once\n\n#include <vector>\n\nnamespace margin::reference {\n")
    print("struct LpCase {\n  double p;\n  bool intercept;\n  double margin;  ///< to 1e-9 of it; 0: not separable\n"
          "  std::vector<std::vector<double>> x;\n  std::vector<int> y;\n};\n")
    print("inline std::vector<LpCase> lp_cases() {\n  return {")
    written = 0
    for seed in range(60):
        x, y = problem(seed)
        p = (1.05, 1.15, 1.3, 1.5, 1.8, 2.0)[seed % 6]
        for intercept in (False, True):
            z = [[v if c else -v for v in row] for row, c in zip(x, y)]
            groups = [[i for i, c in enumerate(y) if c == k] for k in (0, 1)] if intercept else [list(range(len(y)))]
            found = maximum_margin(z, groups, p, 20000)
            if found is None:
                continue  # pairwise steps are slow near a hull that touches 0: no claim about those
            rows = ", ".join("{" + ", ".join(repr(v) for v in row) + "}" for row in x)
            print(f"      {{{p}, {str(intercept).lower()}, {0.5 * (found[0] + found[1])!r}, {{{rows}}},"
                  f" {{{', '.join(map(str, y))}}}}},")
            written += 1
    print("  };\n}\n\n}  // namespace margin::reference")
    print(f"// {written} cases")


main()

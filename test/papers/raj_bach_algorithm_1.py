"""Raj, Bach (2021), Algorithm 1 with the steps of Lemma 1: randomised proximal dual coordinate ascent for

    min 1/2 |w|_p^2 such that <x_i, w> lies in Y_i = [low_i, high_i]

(Dykstra's projections for p = 2), and its baselines: the perceptron, and mirror descent, Equation 10."""
import numpy as np
from draws import backward_shuffle


def theta(u, p):
    """The gradient of 1/2 |u|_r^2, 1/p + 1/r = 1."""
    r = p / (p - 1)
    norm = np.linalg.norm(u, r)
    return norm ** (2 - r) * np.abs(u) ** (r - 1) * np.sign(u) if norm > 0 else np.zeros_like(u)


def visits(n, epochs, random, order, X, p):
    rows = list(range(n))
    lengths = np.linalg.norm(X, p / (p - 1), axis=1) ** 2
    shares = np.cumsum(lengths) / lengths.sum()
    for _ in range(epochs):
        if order == "permutation":
            backward_shuffle(rows, random)
        for k in range(n):
            if order == "proportional":
                yield int(np.searchsorted(shares, random.uniform(), side="right"))
            else:
                yield random.below(n) if order == "random" else rows[k]


def iterate(X, low, high, epochs, random, order="random", p=2.0):
    r, a, u = p / (p - 1), np.zeros(len(X)), np.zeros(X.shape[1])
    for i in visits(len(X), epochs, random, order, X, p):
        L = (r - 1) * np.linalg.norm(X[i], r) ** 2
        s = X[i] @ theta(u, p)
        step = (min(max(s - L * a[i], low[i]), high[i]) - s) / L
        a[i] += step
        u = u + step * X[i]
    return theta(u, p)


def perceptron(Z, epochs, random, order="random", p=2.0):
    u = np.zeros(Z.shape[1])
    for i in visits(len(Z), epochs, random, order, Z, p):
        if Z[i] @ theta(u, p) <= 0:
            u = u + Z[i]
    return theta(u, p)


def mirror_descent(Z, epochs, random, order="random", p=2.0, output="last", loss="squared_hinge", fading=False):
    """Steps (p - 1)/R^2, or that over sqrt(t), on 1/2 d(<z_i, w>, [1, inf))^2, the hinge or the square of the margin; the
    average of Theorem 1, of w after every draw."""
    rate = (p - 1) / (np.linalg.norm(Z, p / (p - 1), axis=1) ** 2).max()
    u, total = np.zeros(Z.shape[1]), np.zeros(Z.shape[1])
    for t, i in enumerate(visits(len(Z), epochs, random, order, Z, p), start=1):
        missing = 1 - Z[i] @ theta(u, p)
        slope = missing if loss == "squared" else float(missing > 0) if loss == "hinge" else max(0.0, missing)
        u = u + rate / (np.sqrt(t) if fading else 1) * slope * Z[i]
        if output == "average":
            total += theta(u, p)
    return total if output == "average" else theta(u, p)

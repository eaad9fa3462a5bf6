"""Raj, Bach (2021), Algorithm 2: accelerated proximal coordinate ascent for the dual perceptron (Y_i = [1, inf)), as the
method of Lin, Lu, Xiao (2015) is stated there for a convex dual: three sequences of dual vectors."""
import numpy as np
from raj_bach_algorithm_1 import theta, visits


def iterate(Z, epochs, random, order="random", p=2.0):
    n, r = len(Z), p / (p - 1)
    x, z, gamma = np.zeros(n), np.zeros(n), 1 / n  # x, z: iterates; y between them is where the gradient is taken
    for i in visits(n, epochs, random, order, Z, p):
        y = (1 - gamma) * x + gamma * z
        L = (r - 1) * np.linalg.norm(Z[i], r) ** 2
        new = max(0.0, z[i] + (1 - Z[i] @ theta(Z.T @ y, p)) / (n * gamma * L))
        step = new - z[i]
        x = y.copy()
        x[i] += n * gamma * step
        z[i] = new
        gamma = (np.sqrt(gamma**4 + 4 * gamma**2) - gamma**2) / 2
    return theta(Z.T @ x, p)


"""Raj, Bach (2021), Algorithm 1 with the steps of Lemma 1 where the extension has no method of its own: targets within a ball, of several
numbers at once, and the entropy as the mirror map."""
import numpy as np


def balls(X, Y, radius, epochs):
    """min 1/2 |W|^2 such that |W x_i - Y_i|_2 <= radius: Dykstra's projections, one after another. W and a lower bound of its norm."""
    W, a, squares = np.zeros((Y.shape[1], X.shape[1])), np.zeros_like(Y), (X**2).sum(axis=1)
    for _ in range(epochs):
        for x, y, L, own in zip(X, Y, squares, a):
            away = W @ x - L * own - y
            nearest = y + away * min(1, radius / np.linalg.norm(away)) if away.any() else y
            step = (nearest - W @ x) / L
            own += step
            W += np.outer(step, x)
    height = (a * Y).sum() - radius * np.linalg.norm(a, axis=1).sum()
    return W, height / np.linalg.norm(W)


def entropy(Z, size, epochs):
    """min sum t_j ln(2 d t_j/size) over t >= 0 of sum `size`, of each feature and its negative, such that <z_i, w> >= 1: w, and the
    dual value over the largest value that the entropy can have. Above 1 there is no such t."""
    a, u = np.zeros(len(Z)), np.zeros(Z.shape[1])
    L = size * np.abs(Z).max(axis=1) ** 2

    def weights():
        both = np.exp(np.concatenate([u, -u]) - np.abs(u).max())
        t = size * both / both.sum()
        return t[: len(u)] - t[len(u):]

    for _ in range(epochs):
        for i, z in enumerate(Z):
            step = max(0.0, a[i] + (1 - z @ weights()) / L[i]) - a[i]
            a[i] += step
            u += step * z
    top = np.abs(u).max()
    conjugate = size * (top + np.log(np.exp(np.concatenate([u, -u]) - top).mean()))
    return weights(), (a.sum() - conjugate) / (size * np.log(2 * len(u)))

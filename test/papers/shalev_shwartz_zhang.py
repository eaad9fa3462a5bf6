"""Shalev-Shwartz, Zhang (2013): Procedures SDCA, SDCA-Perm, Modified-SGD, and the stochastic gradient descent of Section 8.

P(w) = mean of phi(<w, x_i>) + lambda/2 |w|^2; w(alpha) = sum of alpha_i x_i / (lambda n). Sections 6.2, 6.3: steps.
"""
import numpy as np
from draws import forward_shuffle


def step(loss, y, u, a, s, gamma):
    """The alpha_i that maximises the dual: u = <w, x_i>, s = |x_i|^2 / (lambda n)."""
    if loss == "squared":  # half of (u - y)^2
        return a + (y - u - a) / (1 + s)
    smooth = gamma if loss == "smoothed_hinge" else 0
    return y * max(0.0, min(1.0, (1 - y * u - smooth * a * y) / (s + smooth) + a * y))


def sdca(X, y, lam, loss, epochs, random, order="random", output="last", start="zero", gamma=1.0):
    """The w that is returned after so many epochs, a power of two: T0 = T/2."""
    n = len(X)
    a, w, sizes = np.zeros(n), np.zeros(X.shape[1]), (X * X).sum(axis=1)
    visits = list(range(n))
    if start == "sgd":  # row t as if the rows before it were all there are
        forward_shuffle(visits, random)
        for t, i in enumerate(visits):
            u = X[i] @ w * n / t if t > 0 else 0.0
            a[i] = step(loss, y[i], u, 0.0, sizes[i] / (lam * (t + 1)), gamma)
            w = w + a[i] * X[i] / (lam * n)
        visits = list(range(n))
    total, sample = np.zeros(n), a
    for epoch in range(epochs):
        if order == "random":
            visits = [random.below(n) for _ in range(n)]
        at = -1
        if output == "random":
            # One of the visits since the last power of two: those of an epoch replace it with their share.
            replace = random.below(epoch + 1 - (1 << epoch.bit_length() >> 1)) == 0
            at = random.below(n)
            at = at if replace else -1
        if order == "permutation":
            forward_shuffle(visits, random)
        for k, i in enumerate(visits):
            if epoch >= epochs // 2:
                total = total + a  # alpha^(t-1), t = T0 + 1, ..., T
            new = step(loss, y[i], X[i] @ w, a[i], sizes[i] / (lam * n), gamma)
            w = w + (new - a[i]) * X[i] / (lam * n)
            a[i] = new
            if k == at:
                sample = a.copy()
    if output == "average":
        a = total / (n * (epochs - epochs // 2))
    return X.T @ (sample if output == "random" else a) / (lam * n)


def sgd(X, y, lam, loss, epochs, random, output="last", gamma=1.0):
    """w_t = (1 - 1/t) w_(t-1) - phi'(<w_(t-1), x_i>) x_i / (lambda t); the mean is of w_(T0+1), ..., w_T."""
    n = len(X)
    w, total = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for t in range(1, n * epochs + 1):
        i = random.below(n)
        m = y[i] * (X[i] @ w)
        slope = -y[i] * (float(m < 1) if loss == "hinge" else min(1.0, max(0.0, (1 - m) / gamma)))
        w = (1 - 1 / t) * w - slope * X[i] / (lam * t)
        if t > n * (epochs // 2):
            total += w
    return w if output == "last" else total / (n * (epochs - epochs // 2))

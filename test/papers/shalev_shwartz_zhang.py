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


def sdca(X, y, lam, loss, epochs, random, order="random", output="last", start="zero", gamma=1.0, first=None):
    """The w that is returned after so many epochs: T0 is `first`, or T/2 where T is a power of two."""
    n, begin = len(X), epochs // 2 if first is None else first
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
            # One of the visits since T0, or the last power of two: those of an epoch replace it with their share.
            window = 1 << epoch.bit_length() >> 1 if first is None else first if epoch >= first else 0
            replace = random.below(epoch + 1 - window) == 0
            at = random.below(n)
            at = at if replace else -1
        if order == "permutation":
            forward_shuffle(visits, random)
        for k, i in enumerate(visits):
            if epoch >= begin:
                total = total + a  # alpha^(t-1), t = T0 + 1, ..., T
            new = step(loss, y[i], X[i] @ w, a[i], sizes[i] / (lam * n), gamma)
            w = w + (new - a[i]) * X[i] / (lam * n)
            a[i] = new
            if k == at:
                sample = a.copy()
    if output == "average":
        a = total / (n * (epochs - begin))
    return X.T @ (sample if output == "random" else a) / (lam * n)


def sgd(X, y, lam, loss, epochs, random, output="last", gamma=1.0, draws=None, first=None, number=np.float64):
    """w_t = (1 - 1/t) w_(t-1) - phi'(<w_(t-1), x_i>) x_i / (lambda t); the mean is of w_(T0+1), ..., w_T. An epoch is of n
    draws, or of so many."""
    X, y, lam, gamma = X.astype(number), y.astype(number), number(lam), number(gamma)
    n, draws, begin = len(X), draws or len(X), epochs // 2 if first is None else first
    w, total = np.zeros(X.shape[1], number), np.zeros(X.shape[1], number)
    for t in range(1, draws * epochs + 1):
        i = random.below(n)
        m = y[i] * (X[i] @ w)
        slope = -y[i] * (number(m < 1) if loss == "hinge" else min(number(1), max(number(0), (1 - m) / gamma)))
        w = (1 - number(1) / t) * w - slope * X[i] / (lam * t)
        if t > draws * begin:
            total += w
    return w if output == "last" else total / (draws * (epochs - begin))


def accelerated(X, y, lam, loss, epochs, random, order="random", gamma=1.0):
    """Accelerated SDCA (Raj, Bach 2021, Corollary C.2) as APCG, Algorithm 2 of Lin, Lu, Xiao (2015): the three dual
    vectors as they are printed there, for f = |w|^2/2 + the part gamma a^2/2 of the conjugates. That of the squared loss, (u - y)^2, is gamma = 1/2."""
    n = len(X)
    x, z, scale = np.zeros(n), np.zeros(n), 1 / (lam * n)
    largest = (X * X).sum(axis=1).max() * scale
    mu = gamma / (largest + gamma)
    alpha, visits = np.sqrt(mu) / n, list(range(n))
    for _ in range(epochs):
        if order == "permutation":
            forward_shuffle(visits, random)
        for k in range(n):
            i = random.below(n) if order == "random" else visits[k]
            point = (x + alpha * z) / (1 + alpha)
            base = (1 - alpha) * z + alpha * point
            u = X[i] @ (X.T @ point) * scale
            # argmin over a of n alpha L/2 (a - base)^2 + (u + gamma y_i) a + phi*(-a) - gamma a^2/2, L = largest + gamma
            pull = np.sqrt(mu) * (largest + gamma)
            if loss == "squared":  # phi*(-a) = gamma a^2/2 - a y
                new = (pull * base[i] - u - gamma * point[i] + y[i]) / pull
            else:  # phi*(-a) = gamma a^2/2 - a y on 0 <= a y <= 1
                new = y[i] * min(1.0, max(0.0, y[i] * (pull * base[i] - u - gamma * point[i] + y[i]) / pull))
            step = new - base[i]
            z, x = base, point.copy()
            z[i] = new
            x[i] += n * alpha * step
    return X.T @ x * scale

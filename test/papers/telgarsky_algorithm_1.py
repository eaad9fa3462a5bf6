"""Telgarsky (2013), the boosting method of Section 2: coordinate descent with shrinkage on the mean of l(-m), with the steps
of Section 2.2. The Wolfe search bisects from nu gamma, the end of the interval of good steps; what it finds satisfies (2.1)
and (2.2), which wolfe() tells of any step."""
import numpy as np


def values(margins, loss):
    return np.exp(-margins) if loss == "exponential" else np.logaddexp(0, -margins)


def slopes(margins, loss):
    return np.exp(-margins) if loss == "exponential" else 1 / (1 + np.exp(margins))


def wolfe(margins, h, step, nu, loss):
    """0: both conditions hold; 1: too long, (2.1) fails; -1: too short, (2.2) fails. h: the signed values of the learner."""
    steepest = h @ slopes(margins, loss) / len(h)  # the norm of the gradient: h has the largest edge
    if values(margins + step * h, loss).mean() > values(margins, loss).mean() - step * (1 - nu / 2) * steepest:
        return 1
    return -1 if -(h @ slopes(margins + step * h, loss)) / len(h) < -(1 - nu / 4) * steepest else 0


def search(margins, h, gamma, nu, loss):
    low, high, step = 0.0, np.inf, nu * gamma
    while (verdict := wolfe(margins, h, step, nu, loss)) != 0:
        low, high = (low, step) if verdict > 0 else (step, high)
        step = (low + high) / 2 if np.isfinite(high) else 2 * low
    return step


def iterate(A, steps, rule, nu, loss="exponential"):
    """lambda after so many rounds; A holds y_i h_j(x_i), within [-1, 1]."""
    w = np.zeros(A.shape[1])
    for _ in range(steps):
        q = slopes(A @ w, loss)
        edges = A.T @ (q / q.sum())
        j = np.argmax(np.abs(edges))
        gamma, sign = abs(edges[j]), np.sign(edges[j])
        if rule == "wolfe":
            size = search(A @ w, sign * A[:, j], gamma, nu, loss)
        else:
            size = nu * gamma if rule == "quadratic" else nu / 2 * np.log((1 + gamma) / (1 - gamma))
        w[j] += sign * size
    return w

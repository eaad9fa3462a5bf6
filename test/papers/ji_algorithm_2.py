"""Ji, Srebro, Telgarsky (2021), Algorithm 2: one row a step, drawn from q; only kernel values are used.

    g_t = beta_t (g_(t-1) + z_i),  w_(t+1) = w_t + theta_t (g_t + z_i),  i ~ q proportional to l'(-Zw)
"""
import numpy as np


def draw(q, random):
    left = random.uniform() * q.sum()
    for i, weight in enumerate(q):
        if weight > 0:
            left -= weight
            last = i
        if left < 0:
            break
    return last


def iterate(gram, steps, random, loss="exponential", momentum=True, theta=lambda t: 1.0):
    """The coefficients a of w after so many steps."""
    n = len(gram)
    a, g = np.zeros(n), np.zeros(n)
    for t in range(steps):
        m = gram @ a
        q = np.exp(m.min() - m) if loss == "exponential" else 1 / (1 + np.exp(m))
        e = np.zeros(n)
        e[draw(q, random)] = 1
        g = g + e
        beta = t / (t + 1) if momentum else 0
        a = a + theta(t) * (beta * g + e)
        g = beta * g
    return a

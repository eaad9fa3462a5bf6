"""Ji, Srebro, Telgarsky (2021), Algorithm 1, with Section 5.1 for the logistic loss; in this repository's sign z = y x.

    g_t = beta_t (g_(t-1) + Z'q_t),  w_(t+1) = w_t + theta_t (g_t + Z'q_t),  q = the gradient of psi at -Zw

Written through inner products, so that the same program does kernels: w = sum of a_i z_i, and `gram` holds <z_i, z_j>.
"""
import numpy as np


def psi_gradient(margins, loss):
    if loss == "exponential":
        q = np.exp(margins.min() - margins)
        return q / q.sum()
    # psi = ln(exp(sum of ln(1 + e^-m)) - 1)
    total = np.logaddexp(0, -margins).sum()
    return 1 / (1 + np.exp(margins)) / -np.expm1(-total)


def iterate(gram, steps, loss="exponential", momentum=True, theta=lambda t: 1.0):
    """The coefficients a of w after so many steps."""
    n = len(gram)
    a, g = np.zeros(n), np.zeros(n)
    unit = 1.0 if loss == "exponential" or not momentum else 1 / n  # theta = 1 / smoothness
    for t in range(steps):
        q = psi_gradient(gram @ a, loss)
        g = (t / (t + 1) if momentum else 0) * (g + q)
        a = a + unit * theta(t) * (g + q)
    return a


def gradient_descent(gram, steps, loss="exponential"):
    """Step size 1 on the mean of the losses, no normalisation."""
    a = np.zeros(len(gram))
    for _ in range(steps):
        m = gram @ a
        a = a + (np.exp(-m) if loss == "exponential" else 1 / (1 + np.exp(m))) / len(gram)
    return a


def batch_perceptron(gram, steps):
    """Cotter, Shalev-Shwartz, Srebro (2012): the row of least margin is added."""
    a = np.zeros(len(gram))
    for _ in range(steps):
        a[np.argmin(gram @ a)] += 1
    return a

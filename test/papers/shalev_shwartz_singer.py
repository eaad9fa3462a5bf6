"""Shalev-Shwartz and Singer (2008), the boosting method that Telgarsky (2013) compares with in Section 3.3: the weights stay in the
ball |w|_1 <= 1 and go a share of the way to the vertex of the best weak learner, on a smoothed margin. And rounds of boosting trees of
depth 2: whether each took a tree of the largest edge, of which there may be several."""
import numpy as np


def iterate(A, rounds, eps):
    """w after so many rounds; A holds y_i h_j(x_i), within [-1, 1]. Rows of a weight below e^-40 of the largest have none."""
    beta, w = eps / (2 * np.log(len(A))), np.zeros(A.shape[1])
    for _ in range(rounds):
        z = (A @ w - (A @ w).min()) / beta
        d = np.where(z > 40, 0.0, np.exp(-z))
        d /= d.sum()
        edges = d @ A
        j = np.argmax(np.abs(edges))
        vertex = np.zeros(A.shape[1])
        vertex[j] = np.sign(edges[j])
        way = A @ (vertex - w)
        w = w + np.clip(beta * (d @ way) / np.abs(way).max() ** 2, 0, 1) * (vertex - w)
    return w


def largest_edge(X, v):
    """The largest sum of v_i h(x_i) over all trees of depth 2, by trying them all: on each side of each split the best stump, or
    its negative, or a constant."""
    cuts = np.hstack([X[:, [j]] > t for j in range(X.shape[1]) for t in np.unique(X[:, j])[:-1]])
    values = np.hstack([np.ones((len(X), 1)), np.where(cuts, 1.0, -1.0)])
    return max(np.abs((v * c) @ values).max() + np.abs((v * ~c) @ values).max() for c in cuts.T)


def tree(X, numbers):
    """h(x) of one row of the attribute stumps: split, the side below it, the side above it."""
    def side(feature, threshold):
        if feature == 0:
            return np.full(len(X), threshold)
        return np.sign(feature) * np.where(X[:, int(abs(feature)) - 1] > threshold, 1.0, -1.0)
    return np.where(X[:, int(numbers[0]) - 1] > numbers[1], side(*numbers[4:]), side(*numbers[2:4]))


def edges_of(X, y, trees, chosen, steps):
    """Of rounds that chose these trees and went so far: the largest edge that any tree had before each."""
    margins, largest = np.zeros(len(X)), []
    for learner, step in zip(chosen, steps):
        q = np.exp(-margins)
        largest.append(largest_edge(X, y * q / q.sum()))
        margins += step * y * tree(X, trees[learner])
    return np.array(largest), margins

"""The gradients of small ReLU networks at several epochs, for ji4: tangent_features.py SHARED writes rows of (seed, epoch, id, part, y, x)
for COPY ... (FORMAT csv). Rows: the digits of digits8x8, below 5 or not; 300 train the network (batches of 10, the logistic loss, a step of 0.1), and have
their gradients taken, as 600 others have. The network: 64 inputs, 16 hidden units, one output, no offsets; x is the gradient by all 1,040 weights."""
import lzma
import sys

import numpy as np

EPOCHS = (0, 1, 3, 10, 30, 100)
TRAIN, TEST, HIDDEN = 300, 600, 16


def digits(shared):
    X, y = [], []
    with lzma.open(f"{shared}/digits8x8.libsvm.xz", "rt") as file:
        for line in file:
            label, *pairs = line.split()
            x = np.zeros(64)
            for pair in pairs:
                j, value = pair.split(":")
                x[int(j) - 1] = float(value)
            X.append(x)
            y.append(1.0 if float(label) >= 5 else -1.0)
    return np.array(X) / 16, np.array(y)


def gradients(A, b, X):
    """d (b relu(A x) / sqrt(HIDDEN)) by A and b."""
    active = X @ A.T > 0
    by_b = np.maximum(X @ A.T, 0)
    by_A = (active * b)[:, :, None] * X[:, None, :]
    return np.hstack([by_A.reshape(len(X), -1), by_b]) / np.sqrt(HIDDEN)


def train(A, b, X, y, random):
    for batch in np.array_split(random.permutation(len(X)), len(X) // 10):
        x, t = X[batch], y[batch]
        h = np.maximum(x @ A.T, 0)
        slope = -t / (1 + np.exp(t * (h @ b) / np.sqrt(HIDDEN))) / len(batch) / np.sqrt(HIDDEN)
        step_A, step_b = ((slope[:, None] * b) * (h > 0)).T @ x, slope @ h
        A, b = A - 0.1 * HIDDEN ** 0.5 * step_A, b - 0.1 * HIDDEN ** 0.5 * step_b
    return A, b


def main(shared):
    X, y = digits(shared)
    order = np.random.default_rng(0).permutation(len(X))[:TRAIN + TEST]
    X, y = X[order], y[order]
    for seed in (1, 2):
        random = np.random.default_rng(seed)
        A, b = random.standard_normal((HIDDEN, 64)) * (2 / 8) ** 0.5, random.standard_normal(HIDDEN)
        for epoch in range(max(EPOCHS) + 1):
            if epoch in EPOCHS:
                for i, row in enumerate(gradients(A, b, X)):
                    numbers = ",".join(f"{value:.9g}" for value in row)
                    print(f'{seed},{epoch},{i},{"train" if i < TRAIN else "test"},{y[i] > 0},"{{{numbers}}}"')
            A, b = train(A, b, X[:TRAIN], y[:TRAIN], random)


main(sys.argv[1])

"""The random numbers that the extension draws (src/core/base/random.hpp), so that random iterates can be compared."""

MASK = (1 << 64) - 1


class Random:
    def __init__(self, seed):
        self.state = seed & MASK

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        return ((self.next() >> 32) * n) >> 32

    def uniform(self):
        return (self.next() >> 11) * 2.0**-53


def forward_shuffle(order, random):
    """Element k changes places with one of k, k + 1, ...: an epoch of SDCA-Perm."""
    n = len(order)
    for k in range(n):
        j = k + random.below(n - k)
        order[k], order[j] = order[j], order[k]


def backward_shuffle(order, random):
    """The same from the end: an epoch of dual_ascent, perceptron, mirror_descent."""
    for k in range(len(order), 1, -1):
        j = random.below(k)
        order[k - 1], order[j] = order[j], order[k - 1]

#!/usr/bin/python3
"""The data sets of tests and benchmarks, real and generated, in the two forms that they are needed in.

    datasets.py list                            names, rows x features, where they come from
    datasets.py copy NAME [real|double]         binary COPY stream of (id int, y, x real[] | double precision[])
    datasets.py copysparse NAME                 the same with (id int, y, indices int[], vals real[]), indices from 1
    datasets.py pack NAME FILE                  one binary file for the peer programs (see peers.hpp)
    datasets.py csv NAME                        y,x1,...,xd as text

y is an int (a class) or a double precision (a target). Real sets are read from the directory in MARGIN_SHARED,
by default ../shared/data next to the repository; generated ones are the same on every machine (a seeded generator).
"""
import gzip
import lzma
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("MARGIN_SHARED") or os.path.join(HERE, "..", "..", "shared", "data")


class Sparse:
    """Rows in compressed form; stands beside a dense 2-D array as the features of a set."""

    def __init__(self, starts, columns, values, width):
        self.starts, self.columns, self.values = starts, columns, values
        self.shape = (len(starts) - 1, width)

    def dense(self):
        x = np.zeros(self.shape, self.values.dtype)
        x[np.repeat(np.arange(self.shape[0]), np.diff(self.starts)), self.columns] = self.values
        return x


# Real sets -------------------------------------------------------------------------------------------------------


def read_libsvm(name, width):
    labels, starts, columns, values = [], [0], [], []
    with lzma.open(os.path.join(SHARED, name + ".libsvm.xz"), "rt") as lines:
        for line in lines:
            label, *entries = line.split()
            labels.append(float(label))
            for entry in entries:
                column, value = entry.split(":")
                columns.append(int(column) - 1)
                values.append(float(value))
            starts.append(len(columns))
    rows = Sparse(np.array(starts), np.array(columns, np.int32), np.array(values), width)
    return rows, np.array(labels)


def read_several(names, width):
    """Several files as one set, in the order of the names."""
    parts = [read_libsvm(name, width) for name in names]
    starts = [np.zeros(1, np.int64)]
    for rows, _ in parts:
        starts.append(rows.starts[1:] + starts[-1][-1])
    rows = Sparse(np.concatenate(starts), np.concatenate([r.columns for r, _ in parts]),
                  np.concatenate([r.values for r, _ in parts]), width)
    return rows, np.concatenate([y for _, y in parts])


def read_mnist(part, digits=None):
    def data(kind, header):
        with gzip.open(os.path.join(SHARED, "mnist-%s-%s-ubyte.gz" % (part, kind))) as file:
            return np.frombuffer(file.read(), np.uint8, offset=header)

    y = data("labels-idx1", 8)
    x = data("images-idx3", 16).reshape(len(y), 784)
    if digits:
        keep = np.isin(y, digits)
        x, y = x[keep], y[keep]
    return x.astype(np.float32) / np.float32(255), y.astype(float)


# Generated sets --------------------------------------------------------------------------------------------------


def covtype_like(rows=500_000):
    """54 features as in Covertype: 10 continuous in [0, 1], two groups of indicators (4 and 40)."""
    r = np.random.default_rng(54)
    x = np.zeros((rows, 54), np.float32)
    x[:, :10] = r.random((rows, 10), np.float32)
    area, soil = r.integers(0, 4, rows), r.integers(0, 40, rows)
    every = np.arange(rows)
    x[every, 10 + area] = 1
    x[every, 14 + soil] = 1
    w = r.normal(size=54)
    score = x @ w - np.median(x @ w) + 0.5 * r.normal(size=rows)
    return x, np.where(score > 0, 1.0, -1.0)


def gaussian_noise(rows=100_000, width=50):
    """y = sign(<x, w> + 0.25 + 0.3 e), x and e standard normal, |w| = 1."""
    r = np.random.default_rng(50)
    x = r.normal(size=(rows, width)).astype(np.float32)
    w = r.normal(size=width)
    w /= np.linalg.norm(w)
    return x, np.where(x @ w + 0.25 + 0.3 * r.normal(size=rows) > 0, 1.0, -1.0)


def separable_gaussian(rows=12_000, width=784):
    """Gaussian rows pushed away from a random hyperplane: as many support rows as features."""
    r = np.random.default_rng(784)
    x = r.normal(size=(rows, width))
    w = r.normal(size=width)
    w /= np.linalg.norm(w)
    side = np.where(x @ w > 0, 1.0, -1.0)
    return (x + np.outer(0.5 * side, w)).astype(np.float32), side


def text_like(rows=100_000, width=50_000, words=101):
    """Documents of `words` words, about 80 of them distinct, with Zipf frequencies, tf-idf-like values, unit rows; 5 % flips."""
    r = np.random.default_rng(77)
    frequency = 1.0 / np.arange(1, width + 1)
    cumulative = np.cumsum(frequency / frequency.sum())
    drawn = np.searchsorted(cumulative, r.random((rows, words))).astype(np.int32)
    drawn.sort(axis=1)
    first = np.ones(drawn.shape, bool)
    first[:, 1:] = drawn[:, 1:] != drawn[:, :-1]
    first &= drawn < width
    starts = np.concatenate([[0], np.cumsum(first.sum(axis=1))])
    columns = drawn[first]
    values = (1 + r.exponential(size=len(columns))) * np.log(1 + np.arange(1, width + 1)[columns])
    row = np.repeat(np.arange(rows), np.diff(starts))
    values /= np.sqrt(np.bincount(row, values * values, rows))[row]
    w = r.normal(size=width)
    score = np.bincount(row, values * w[columns], rows)
    y = np.where(score > np.median(score), 1.0, -1.0)
    y[r.random(rows) < 0.05] *= -1
    return Sparse(starts, columns, values.astype(np.float32), width), y


def documents(rows=5_000, width=4_000, classes=54):
    """A word (one of width - 1, Zipf, drawn from its class's own order of them) and a length of 10 to 5,000 that nobody scaled."""
    r = np.random.default_rng(54_000)
    size = 1.0 / np.arange(1, classes + 1)
    y = r.choice(classes, rows, p=size / size.sum())
    frequency = np.cumsum(1.0 / np.arange(1, width))
    rank = np.minimum(np.searchsorted(frequency / frequency[-1], r.random(rows)), width - 2)
    word = (rank * 7 + y * 37) % (width - 1)
    length = np.clip(np.exp(r.normal(5 + 0.02 * y, 1.0)), 10, 5000).astype(int)
    columns = np.stack([word, np.full(rows, width - 1)], axis=1).astype(np.int32)
    values = np.stack([np.ones(rows), length], axis=1).astype(np.float32)
    return Sparse(np.arange(rows + 1) * 2, columns.ravel(), values.ravel(), width), y.astype(float)


def raj_bach(sparse, part, rows=1000, width=2000):
    """Raj, Bach (2021), Section 4: normal rows of falling variance, labels of a (sparse) predictor with a gap of 0.1."""
    r = np.random.default_rng(2021)
    index = np.arange(1, width + 1)
    deviation = np.sqrt(1 / index if sparse else 1 / index ** 1.5)
    theta = r.normal(size=width)
    if sparse:
        theta[r.permutation(width)[50:]] = 0
    kept = []
    while sum(len(x) for x in kept) < 2 * rows:
        x = r.normal(size=(rows, width)) * deviation
        kept.append(x[np.abs(x @ theta + 0.005) >= 0.1])
    x = np.concatenate(kept)[slice(0, rows) if part == "train" else slice(rows, 2 * rows)].astype(np.float32)
    return x, np.where(x @ theta + 0.005 > 0, 1.0, -1.0)


def first_rows(rows, count):
    x, y = rows
    return (x.dense() if isinstance(x, Sparse) else x)[:count], y[:count]


def part_of(rows, begin, end):
    x, y = rows
    return (x.dense() if isinstance(x, Sparse) else x)[begin:end], y[begin:end]


def skin(begin, end):
    """Skin segmentation in [0, 1] and in an order of its own: the file is sorted by class."""
    x, y = read_libsvm("skin_nonskin", 3)
    order = np.random.default_rng(3).permutation(len(y))[begin:end]
    return (x.dense() / 255)[order].astype(np.float32), np.where(y == 1, 1.0, -1.0)[order]


def scaled_columns(rows):
    x, y = rows
    x = x.dense() if isinstance(x, Sparse) else x
    return (x - x.mean(axis=0)) / x.std(axis=0), y


def one_against_rest(rows, label):
    x, y = rows
    return x, np.where(y == label, 1.0, -1.0)


# The list --------------------------------------------------------------------------------------------------------
# name: (reader, what it is)

SETS = {
    "mnist_0v1": (lambda: read_mnist("train", (0, 1)), "MNIST train, 0 against 1, pixels/255"),
    "mnist_6v7": (lambda: read_mnist("train", (6, 7)), "MNIST train, 6 against 7, pixels/255"),
    "mnist_3v5": (lambda: read_mnist("train", (3, 5)), "MNIST train, 3 against 5, pixels/255 (not separable)"),
    "mnist_3v5_test": (lambda: read_mnist("t10k", (3, 5)), "MNIST test, 3 against 5, pixels/255"),
    "mnist_10k": (lambda: read_mnist("t10k"), "MNIST test, ten digits, pixels/255"),
    "mnist_train_10k": (lambda: first_rows(read_mnist("train"), 10000), "MNIST train, ten digits, its first 10,000, pixels/255"),
    "mnist_halves": (lambda: (lambda x, y: (x, np.where(y < 5, 1.0, -1.0)))(*read_mnist("train")), "MNIST train, digits 0-4 against 5-9, pixels/255"),
    "mnist_10k_halves": (lambda: (lambda x, y: (x, np.where(y < 5, 1.0, -1.0)))(*read_mnist("t10k")),
                         "MNIST test, digits 0-4 against 5-9, pixels/255"),
    "covtype_like": (covtype_like, "generated, 500,000 x 54"),
    "covtype_like_100k": (lambda: part_of(covtype_like(), 0, 100_000), "the first 100,000 of covtype_like"),
    "covtype_like_test": (lambda: part_of(covtype_like(), 100_000, 120_000), "20,000 others of it"),
    "gaussian_100k": (lambda: part_of(gaussian_noise(120_000), 0, 100_000), "generated, 100,000 x 50, label noise"),
    "gaussian_test": (lambda: part_of(gaussian_noise(120_000), 100_000, 120_000), "20,000 more of them"),
    "skin_train": (lambda: skin(0, 200_000), "skin_nonskin, 200,000 rows, values/255"),
    "skin_test": (lambda: skin(200_000, 245_057), "the rest of it"),
    "gaussian_noise": (gaussian_noise, "generated, 100,000 x 50, label noise"),
    "separable_gaussian": (separable_gaussian, "generated, 12,000 x 784, separable"),
    "text_like": (text_like, "generated, 100,000 x 50,000 sparse"),
    "documents": (documents, "generated, 5,000 x 4,000 sparse, 54 classes, one column unscaled"),
    "raj_bach_l2": (lambda: raj_bach(False, "train"), "generated, 1,000 x 2,000, Raj and Bach's l2 problem"),
    "raj_bach_l2_test": (lambda: raj_bach(False, "test"), "as raj_bach_l2, test part"),
    "raj_bach_sparse": (lambda: raj_bach(True, "train"), "generated, 1,000 x 2,000, Raj and Bach's sparse problem"),
    "raj_bach_sparse_test": (lambda: raj_bach(True, "test"), "as raj_bach_sparse, test part"),
    "ijcnn1_10k": (lambda: first_rows(read_libsvm("ijcnn1", 22), 10000), "ijcnn1, the first 10,000 rows"),
    "mnist_6": (lambda: read_mnist("train", (6,)), "MNIST train, the digit 6, pixels/255"),
    "california_10k": (lambda: first_rows(scaled_columns(read_libsvm("california-housing", 8)), 10000), "california-housing, the first 10,000 rows, columns of unit variance"),
    "casp_10k": (lambda: first_rows(scaled_columns(read_libsvm("protein-casp", 9)), 10000), "protein-casp, the first 10,000 rows, columns of unit variance"),
    "satimage_4": (lambda: one_against_rest(read_libsvm("satimage.scale", 36), 4), "satimage.scale, 4 against the rest"),
    "digits_8": (lambda: one_against_rest(read_libsvm("digits8x8", 64), 8), "digits8x8, 8 against the rest"),
    "leu_all": (lambda: read_several(("leu", "leu.t"), 7129), "leu and leu.t"),
    "arcene_all": (lambda: read_several(("arcene", "arcene.t"), 10000), "arcene and arcene.t"),
    "rcv1_all": (lambda: read_several(("rcv1_small", "rcv1_small.t"), 47236), "rcv1_small and rcv1_small.t"),
}
WIDTHS = {
    "colon-cancer": 2000, "leu": 7129, "leu.t": 7129, "arcene": 10000, "arcene.t": 10000, "gisette_scale.t": 5000,
    "mushrooms": 112, "basehock": 4862, "pcmac": 3289, "reuters-acq": 9947, "rcv1_small": 47236, "rcv1_small.t": 47236,
    "wdbc": 30, "sonar_scale": 60, "a9a": 123, "a9a.t": 123, "w8a": 300, "ijcnn1": 22, "ijcnn1.t": 22, "australian": 14,
    "german.numer": 24, "heart_scale": 13, "diabetes_scale": 8, "ionosphere_scale": 34, "splice": 60, "svmguide1": 4,
    "madelon": 500, "spambase": 57, "banknote": 4, "breast-cancer-wisconsin": 9, "covtype.20k": 54, "iris": 4,
    "wine": 13, "digits8x8": 64, "protein-casp": 9, "khan-srbct": 2308, "segment.scale": 19, "abalone": 8, "california-housing": 8,
    "winequality-red": 11, "winequality-white": 11, "boston-housing": 13, "concrete": 8, "diabetes442": 10,
    "satimage.scale": 36, "letter.scale": 16, "letter.scale.t": 16, "sector.scale": 55197, "sector.t.scale": 55197,
}
for _name, _width in WIDTHS.items():
    SETS[_name] = (lambda n=_name, w=_width: read_libsvm(n, w), "shared/data, %d features" % _width)


def halves(rows, width, density, seed=1):
    """Rows on both sides of a hyperplane with label noise; a share of the values stored when density < 1."""
    r = np.random.default_rng(seed)
    w = r.normal(size=width)
    if density >= 1:
        x = r.normal(size=(rows, width)).astype(np.float32)
        return x, np.where(x @ (w / np.linalg.norm(w)).astype(np.float32) + 0.3 * r.normal(size=rows) > 0, 1.0, -1.0)
    stored = max(1, int(round(density * width)))
    columns = np.sort(np.argsort(r.random((rows, width)), axis=1)[:, :stored], axis=1).astype(np.int32)
    values = r.normal(size=(rows, stored)).astype(np.float32)
    score = (values * w[columns]).sum(axis=1) / np.sqrt(stored)
    y = np.where(score + 0.3 * r.normal(size=rows) > 0, 1.0, -1.0)
    return Sparse(np.arange(rows + 1) * stored, columns.ravel(), values.ravel(), width), y


def of_paths(name, numbers):
    """Two classes (the largest label and the others) or the same as numbers of mean 0 and deviation 1; features as floats."""
    x, y = load(name)
    if not (isinstance(x, Sparse) and name in ("a9a", "reuters-acq")):
        x = x.dense() if isinstance(x, Sparse) else x
    if name == "spambase":
        x = x / np.abs(x).max(axis=0)
    if isinstance(x, Sparse):
        x = Sparse(x.starts, x.columns, x.values.astype(np.float32), x.shape[1])
    else:
        x = x.astype(np.float32)
    y = np.where(y == y.max(), 1.0, -1.0)
    return x, (y - y.mean()) / y.std() if numbers else y


def load(name):
    """A set of the list, halves:ROWS:WIDTH:DENSITY, path:NAME or path:NAME:numbers."""
    if name.startswith("path:"):
        return of_paths(name.split(":")[1], name.endswith(":numbers"))
    if name.startswith("halves:"):
        rows, width, density = name.split(":")[1:]
        return halves(int(rows), int(width), float(density))
    if name not in SETS:
        sys.exit("unknown data set %r; `datasets.py list` prints the names" % name)
    return SETS[name][0]()


# Binary COPY -----------------------------------------------------------------------------------------------------

HEADER = b"PGCOPY\n\xff\r\n\0" + b"\0" * 8
TRAILER = b"\xff\xff"
FLOAT4, FLOAT8, INT4 = 700, 701, 23


def outcome(y):
    """Classes travel as int, targets as double precision: (numbers, bytes each, type letter)."""
    return (y.astype(">i4"), 4) if np.all(y == np.round(y)) and len(np.unique(y)) <= 200 else (y.astype(">f8"), 8)


def copy_dense(x, y, oid, out):
    rows, width = x.shape
    value = ">f4" if oid == FLOAT4 else ">f8"
    size = np.dtype(value).itemsize
    numbers, bytes_y = outcome(y)
    element = np.dtype([("length", ">i4"), ("value", value)])
    record = np.dtype([("fields", ">i2"), ("l0", ">i4"), ("id", ">i4"), ("l1", ">i4"), ("y", numbers.dtype),
                       ("l2", ">i4"), ("array", ">i4", 5), ("x", element, width)])
    for start in range(0, rows, max(1, 4_000_000 // max(width, 1))):
        part = slice(start, min(rows, start + max(1, 4_000_000 // max(width, 1))))
        block = np.zeros(part.stop - part.start, record)
        block["fields"], block["l0"], block["id"] = 3, 4, np.arange(part.start, part.stop)
        block["l1"], block["y"] = bytes_y, numbers[part]
        block["l2"], block["array"] = 20 + width * (4 + size), (1, 0, oid, width, 1)
        block["x"]["length"], block["x"]["value"] = size, x[part]
        out.write(block.tobytes())


def copy_sparse(x, y, out):
    numbers, bytes_y = outcome(y)

    def array(values, dtype, oid):
        item = np.zeros(len(values), np.dtype([("length", ">i4"), ("value", dtype)]))
        item["length"], item["value"] = 4, values
        dims = np.array([1, 0, oid, len(values), 1] if len(values) else [0, 0, oid], ">i4").tobytes()
        body = dims + item.tobytes()
        return len(body).to_bytes(4, "big") + body

    for i in range(x.shape[0]):
        part = slice(x.starts[i], x.starts[i + 1])
        out.write(b"\0\4" + (4).to_bytes(4, "big") + i.to_bytes(4, "big") + bytes_y.to_bytes(4, "big")
                  + numbers[i:i + 1].tobytes() + array(x.columns[part] + 1, ">i4", INT4)
                  + array(x.values[part], ">f4", FLOAT4))


def pack(x, y, path):
    """magic, rows, width, stored values, then y (double), then dense: x (float or double); sparse: starts, columns, values."""
    sparse = isinstance(x, Sparse)
    values = x.values if sparse else x
    wide = not np.array_equal(values.astype(np.float32).astype(values.dtype), values)
    with open(path, "wb") as out:
        np.array([0x4D415247, x.shape[0], x.shape[1], values.size, int(sparse), int(wide)], np.int64).tofile(out)
        y.astype(np.float64).tofile(out)
        if sparse:
            x.starts.astype(np.int64).tofile(out)
            x.columns.astype(np.int32).tofile(out)
        np.ascontiguousarray(values.astype(np.float64 if wide else np.float32)).tofile(out)


def main(arguments):
    if arguments[:1] == ["list"]:
        for name, (_, what) in SETS.items():
            print("%-24s %s" % (name, what))
        return
    if len(arguments) < 2:
        sys.exit(__doc__)
    command, name, *rest = arguments
    x, y = load(name)
    out = sys.stdout.buffer
    if command == "pack":
        pack(x, y, rest[0])
    elif command == "copy":
        dense = x.dense() if isinstance(x, Sparse) else x
        out.write(HEADER)
        copy_dense(dense, y, FLOAT8 if rest[:1] == ["double"] else FLOAT4, out)
        out.write(TRAILER)
    elif command == "copysparse":
        out.write(HEADER)
        copy_sparse(x, y, out)
        out.write(TRAILER)
    elif command == "csv":
        dense = x.dense() if isinstance(x, Sparse) else x
        for label, row in zip(y, dense):
            print(",".join(repr(float(v)) if v != int(v) else str(int(v)) for v in (label, *row)))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])

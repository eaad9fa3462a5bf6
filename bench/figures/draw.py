"""Draws one figure: draw.py NAME TITLE PANELS CURVES SVG PNG. Called by run.sh, which writes the two CSV files.

PANELS: panel, title, x label, y label, logarithmic x, logarithmic y; CURVES: panel, series, x, y.
Twelve panels are drawn as the papers do, four rows of three; fewer in one or two columns. Colours are those of Okabe
and Ito, every series also has its own dashes.
"""
import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

from thin import thin  # noqa: E402

PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
DASHES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 1))]


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def main(name, title, panels_path, curves_path, svg, png):
    panels, curves = read(panels_path), {}
    names = []  # of the series, in the order of their first panel: the same colour in every panel
    for panel, series, x, y in read(curves_path):
        curves.setdefault(panel, {}).setdefault(series, []).append((float(x), float(y)))
        if series not in names:
            names.append(series)
    if not panels or not curves:
        sys.exit("nothing to draw")
    columns = 3 if len(panels) > 4 else min(2, len(panels))
    rows = -(-len(panels) // columns)
    width = 4.2 * columns if columns > 1 else 7
    beside = min(len(names), max(1, int(width * 15 / (max(map(len, names)) + 8))))  # entries in a line of the legend
    head = 0.3 + 0.2 * -(-len(names) // beside)  # inches for title and legend
    height = 2.9 * rows + head
    figure, axes = plt.subplots(rows, columns, figsize=(width, height), squeeze=False)
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    for axis, (panel, heading, x_label, y_label, x_log, y_log) in zip(axes.flat, panels):
        for series, points in curves.get(panel, {}).items():
            at = names.index(series)
            if y_log == "t":
                points = [p for p in points if p[1] > 0]
            axis.plot(*zip(*points), color=PALETTE[at % 7], linestyle=DASHES[at % 7], linewidth=1.4, label=series)
        axis.set_xscale("log" if x_log == "t" else "linear")
        axis.set_yscale("log" if y_log == "t" else "linear")
        axis.set_title(heading, fontsize=9)
        axis.set_xlabel(x_label, fontsize=8)
        axis.set_ylabel(y_label, fontsize=8)
        axis.tick_params(which="both", labelsize=7)
        axis.grid(color="#dddddd", linewidth=0.5)
    handles = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    order = [n for n in names if n in handles]
    figure.suptitle(title, fontsize=10, y=1 - 0.08 / height, va="top").set_in_layout(False)
    figure.legend([handles[n] for n in order], order, loc="upper center", ncol=beside, fontsize=8, frameon=False,
                  bbox_to_anchor=(0.5, 1 - 0.24 / height))
    figure.tight_layout(rect=(0, 0, 1, 1 - head / height))
    plt.rcParams["svg.hashsalt"] = name  # the same data make the same file
    plt.rcParams["svg.fonttype"] = "none"  # text stays text
    figure.savefig(svg, metadata={"Date": None, "Title": title})
    with open(svg, encoding="utf-8") as file:
        text = file.read()
    with open(svg, "w", encoding="utf-8") as file:
        file.write(thin(text))
    figure.savefig(png, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])

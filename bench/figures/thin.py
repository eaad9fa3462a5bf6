"""Makes SVG files of matplotlib small without changing what is seen: thin.py FILE...

A polyline keeps at most 200 points: those that a tolerance of a tenth of a point asks for (Douglas, Peucker), and where
these are more, the first, lowest, highest and last of each of 50 columns. Coordinates have one digit after the point,
a path is one line, and so is everything inside of an axis.
"""
import re
import sys
import xml.etree.ElementTree as tree

POINTS = 200
SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"


def simplified(points, tolerance):
    """Douglas and Peucker: the points that are further than `tolerance` from the line without them."""
    keep, spans = {0, len(points) - 1}, [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        (x0, y0), (x1, y1) = points[first], points[last]
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        far, at = tolerance, None
        for i in range(first + 1, last):
            x, y = points[i]
            off = (abs((x1 - x0) * (y0 - y) - (x0 - x) * (y1 - y0)) / length if length
                   else ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5)
            if off > far:
                far, at = off, i
        if at is not None:
            keep.add(at)
            spans += [(first, at), (at, last)]
    return [points[i] for i in sorted(keep)]


def columns(points, count):
    """Of each of `count` columns of equal width the first, lowest, highest and last point."""
    left = min(x for x, _ in points)
    width = (max(x for x, _ in points) - left) / count or 1
    kept, at = [], 0
    while at < len(points):
        end = at
        while end < len(points) and int((points[end][0] - left) / width) == int((points[at][0] - left) / width):
            end += 1
        column = range(at, end)
        chosen = {at, end - 1, min(column, key=lambda i: points[i][1]), max(column, key=lambda i: points[i][1])}
        kept += [points[i] for i in sorted(chosen)]
        at = end
    return kept


def thinned(points):
    few = simplified(points, 0.1)
    if len(few) > POINTS and all(a[0] <= b[0] for a, b in zip(points, points[1:])):
        few = simplified(columns(points, POINTS // 4 - 1), 0.1)
    tolerance = 0.1
    while len(few) > POINTS:  # a line that turns back
        tolerance *= 1.5
        few = simplified(points, tolerance)
    return few


def number(text):
    return re.sub(r"\.?0*$", "", f"{float(text):.1f}") if "." in text else text


def path(d):
    d = " ".join(d.split())
    points = re.findall(r"([ML]) ([-\d.e]+) ([-\d.e]+)", d)
    if len(points) > 4 and "".join(kind for kind, _, _ in points) == "M" + "L" * (len(points) - 1) and re.fullmatch(r"[ML\d .e-]+", d):
        few = thinned([(float(x), float(y)) for _, x, y in points])
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in few)
    return re.sub(r" ?([A-Za-z]) ?", r"\1", re.sub(r"-?\d+\.\d+", lambda n: number(n.group()), d))


def slim(node):
    """Drops what is not drawn and groups of one, and shortens what is."""
    for child in list(node):
        name = child.tag.rpartition("}")[2]
        if name == "metadata":
            node.remove(child)
            continue
        slim(child)
        style = child.get("style")
        if style:
            style = re.sub(r"(font: [\d.]+px 'DejaVu Sans')[^;]*", r"\1, sans-serif", style)
            child.set("style", style.replace(": ", ":").replace("; ", ";"))
        if child.get("d") is not None:
            child.set("d", path(child.get("d")))
        for key in ("x", "y", "width", "height"):
            if re.fullmatch(r"-?\d+\.\d+", child.get(key, "")):
                child.set(key, number(child.get(key)))
        if child.get("transform"):
            turn = re.sub(r"(?:rotate|translate)\([^)]*\)", lambda one: re.sub(r"-?\d+\.\d+", lambda n: number(n.group()), one.group()),
                          child.get("transform"))
            child.set("transform", turn)
            if re.fullmatch(r"rotate\(-?0[^)]*\)", turn):
                del child.attrib["transform"]
        if name == "g":
            child.attrib.pop("id", None)
            if not child.attrib and len(child) <= 1:
                at = list(node).index(child)
                node[at:at + 1] = list(child)


def written(node, depth):
    """Elements of the first levels have lines of their own."""
    for child in node:
        written(child, depth + 1)
        child.tail = "\n" if depth < 3 else None
    if len(node):
        node.text = "\n" if depth < 3 else None


def thin(text):
    tree.register_namespace("", SVG)
    tree.register_namespace("xlink", XLINK)
    root = tree.fromstring(text.encode())
    slim(root)
    written(root, 0)
    return tree.tostring(root, encoding="unicode") + "\n"


def main(files):
    for name in files:
        with open(name, encoding="utf-8") as file:
            text = file.read()
        with open(name, "w", encoding="utf-8") as file:
            file.write(thin(text))


if __name__ == "__main__":
    main(sys.argv[1:])

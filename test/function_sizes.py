#!/usr/bin/env python3
"""Functions that are too long, or take too much: function_sizes.py LINES PARAMETERS FILE...

Counts the lines of a body, of its braces and what is between them, and the parameters of a definition, in code as clang-format
leaves it. Prints what is beyond either limit.
"""
import re
import sys

BLANK = re.compile(r"""//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])'""", re.S)
HOLDER = re.compile(r"^\s*(template\s*<.*>\s*)?(inline\s+)?(namespace|struct|class|union|enum|extern)\b(?!.*\)\s*(const|noexcept|override)?\s*$)", re.S)


def blanked(text):
    """Without comments, strings, characters and directives; lines and columns stay."""
    text = BLANK.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.M)


def bracketed(text, start):
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return text[start + 1:i]
    return text[start + 1:]


def parameters(head):
    """How many a definition has: commas of its first brackets that are in no others."""
    start = re.sub(r"operator\s*\(\)", "operator  ", re.sub(r"template\s*<[^{}]*?>\s*(?=\w)", lambda m: " " * len(m.group(0)), head)).find("(")
    inside = bracketed(head, start)
    depth = commas = 0
    for i, c in enumerate(inside):
        opens, closes = c in "([{<", c in ")]}" or (c == ">" and inside[i - 1:i] != "-")
        depth += opens - closes
        commas += c == "," and depth == 0
    return commas + 1 if inside.strip() else 0


def functions(path):
    """(line, head, lines, parameters) of each function that has a body here."""
    text = blanked(open(path, encoding="utf-8").read())
    since, i = 0, 0  # where the text after the last statement begins
    while i < len(text):
        c = text[i]
        if c == "(":
            i += len(bracketed(text, i)) + 1
        elif c in ";}":
            since = i + 1
        elif c == "{":
            head = text[since:i]
            if HOLDER.match(head):
                since = i + 1
            else:
                body = bracketed(text, i)
                rest = text[i + len(body) + 2:]
                initialiser = re.match(r"\s*[,{(;)]", rest) and not re.match(r"\s*;", rest)
                if initialiser and ":" in head:  # of a constructor: the body is still to come
                    i += len(body) + 2
                    continue
                if "(" in head and not re.search(r"=\s*$", head):
                    yield text.count("\n", 0, i) + 1, " ".join(head.split()), body.count("\n") + 1, parameters(head)
                i += len(body) + 1
                since = i + 1
        i += 1


def main(most_lines, most_parameters, *paths):
    count = 0
    for path in paths:
        for line, head, lines, arguments in functions(path):
            count += 1
            name = head.split("(")[0].split(" ")[-1]
            if lines > int(most_lines):
                print(f"{path}:{line}: {name} has {lines} lines")
            if arguments > int(most_parameters):
                print(f"{path}:{line}: {name} takes {arguments} parameters")
    if count < len(paths):
        print(f"{count} functions in {len(paths)} files: not read as meant")


main(*sys.argv[1:])

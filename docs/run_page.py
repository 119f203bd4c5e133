#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the Python blocks of a page, and writes the page as an executed notebook and its figures.

  docs/run_page.py PAGE NOTEBOOK           run, by hand when the page changes
  docs/run_page.py --check PAGE NOTEBOOK   compare: the notebook has the page's text and code

Each figure that a block shows becomes figures/PAGE_K.svg next to the page, and the image that follows
the block in the page; the page is not changed otherwise. Needs matplotlib and what the blocks import.
"""
import argparse
import ast
import contextlib
import io
import json
import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.M | re.S)
IMAGE = re.compile(r"^!\[[^\]]*\]\(figures/[^)]*\)\n\n?", re.M)


def cells_of(text):
    """(kind, source) of the page's text and Python blocks, without the images."""
    text, cells, end = IMAGE.sub("", text), [], 0
    for block in BLOCK.finditer(text):
        cells += [("markdown", text[end:block.start()]), ("code", block[1])]
        end = block.end()
    cells.append(("markdown", text[end:]))
    return [(kind, source.strip("\n")) for kind, source in cells if source.strip()]


def title_of(figure):
    titles = [axis.get_title() for axis in figure.axes if axis.get_title()]
    return "; ".join(titles)


def execute(source, names, shown):
    """What a block prints. Figures that it shows are appended to 'shown' as (title, SVG)."""
    import matplotlib.pyplot as plt

    def show():
        for number in plt.get_fignums():
            figure, text = plt.figure(number), io.StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None}, bbox_inches="tight", dpi=80)
            shown.append((title_of(figure), re.sub(r"(\d\.\d\d)\d+", r"\1", text.getvalue())))
            plt.close(figure)

    plt.show = show
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.parse(source), "<page>", "exec"), names)
    return printed.getvalue()


def notebook_cell(kind, source, printed="", figures=()):
    cell = {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
    if kind == "code":
        outputs = [{"output_type": "display_data", "metadata": {},
                    "data": {"image/svg+xml": svg.splitlines(keepends=True)}} for _, svg in figures]
        if printed:
            outputs.append({"output_type": "stream", "name": "stdout",
                            "text": printed.splitlines(keepends=True)})
        cell.update(execution_count=None, outputs=outputs)
    return cell


def run(page, notebook):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "stepwell", "svg.fonttype": "none"})
    names, cells, text = {}, [], IMAGE.sub("", page.read_text(encoding="utf-8"))
    folder, count = page.parent / "figures", 0
    for kind, source in cells_of(text):
        figures, printed = [], ""
        if kind == "code":
            printed = execute(source, names, figures)
        cells.append(notebook_cell(kind, source, printed, figures))
        images = ""
        for title, svg in figures:
            count += 1
            folder.mkdir(exist_ok=True)
            name = f"{page.stem}_{count}.svg"
            (folder / name).write_text(svg, encoding="utf-8")
            images += f"![{title}](figures/{name})\n\n"
        if images:
            block = f"```python\n{source}\n```\n\n"
            text = text.replace(block, block + images)
    page.write_text(text, encoding="utf-8")
    for index, cell in enumerate(cells):
        cell["id"] = f"cell-{index}"
    book = {"cells": cells, "nbformat": 4, "nbformat_minor": 5,
            "metadata": {"language_info": {"name": "python"}}}
    notebook.write_text(json.dumps(book, indent=1) + "\n", encoding="utf-8")


def check(page, notebook):
    """The problems that a reader would find."""
    book = json.loads(notebook.read_text(encoding="utf-8"))
    found = [(cell["cell_type"], "".join(cell["source"])) for cell in book["cells"]]
    text = page.read_text(encoding="utf-8")
    problems = []
    if found != cells_of(text):
        problems.append(f"{notebook}: not the text and code of {page}; run docs/run_page.py")
    for image in re.findall(r"\]\((figures/[^)]*)\)", text):
        if not (page.parent / image).exists():
            problems.append(f"{page}: there is no {image}")
    if not any(cell.get("outputs") for cell in book["cells"]):
        problems.append(f"{notebook}: was not executed")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("page", type=Path)
    parser.add_argument("notebook", type=Path)
    given = parser.parse_args()
    if not given.check:
        run(given.page, given.notebook)
        return 0
    problems = check(given.page, given.notebook)
    print("\n".join(problems) or "run_page: no problem")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

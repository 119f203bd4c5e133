# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Colours, titles, axes and labels that all figures share. Needs matplotlib.

A figure makes one claim, and its title says it. Titles are kept true by computing their numbers from
the data. A legend is below the panels, never inside them.
"""
import io
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FixedLocator, NullLocator  # noqa: E402

# Okabe & Ito: distinguishable with any kind of colour vision.
BLUE, RED, GREEN, SKY, ORANGE, PURPLE = (
    "#0072B2", "#D55E00", "#009E73", "#56B4E9", "#E69F00", "#CC79A7")
DARK, GREY, LIGHT = "#333333", "#777777", "#BBBBBB"
RUNGS = {"bf16": BLUE, "bf16x2": SKY, "bf16x3": GREEN, "fp16": ORANGE, "fp32": RED, "fp64": PURPLE}

plt.rcParams.update({
    "svg.hashsalt": "stepwell",  # the same file for the same data
    "svg.fonttype": "none",      # text as text: a third of the bytes
    "font.family": "DejaVu Sans", "font.size": 10, "axes.titlesize": 10.5, "axes.titlecolor": DARK,
    "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False,
    "axes.edgecolor": DARK, "axes.labelcolor": DARK, "xtick.color": DARK, "ytick.color": DARK,
    "axes.grid": True, "grid.color": "#E4E4E4", "grid.linewidth": 0.7, "axes.axisbelow": True,
    "lines.linewidth": 2, "lines.markersize": 5, "legend.frameon": False, "figure.dpi": 100,
})


def save(figure, folder, name):
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None}, bbox_inches="tight",
                   facecolor="white")
    plt.close(figure)
    # Hundredths of a point are enough, and a third fewer bytes.
    (folder / f"{name}.svg").write_text(re.sub(r"(\d\.\d\d)\d+", r"\1", text.getvalue()),
                                        encoding="utf-8")


def claim(figure, title, note=""):
    """Writes the title, and under it what a reader has to know, above everything drawn so far."""
    figure.canvas.draw()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    left, top = box.x0 / width, box.y1 / height
    if note:
        lines = figure.text(left, top + 0.1 / height, note, fontsize=9.5, color=GREY, va="bottom",
                            linespacing=1.3)
        top = lines.get_window_extent().y1 / figure.bbox.height
    figure.text(left, top + 0.1 / height, title, fontsize=12, fontweight="bold", va="bottom")


def legend_below(figure, handles, columns=None):
    """Puts the legend under the panels, wherever their labels end."""
    figure.canvas.draw()
    bottom = (figure.get_tightbbox().y0 - 0.05) / figure.get_size_inches()[1]
    figure.legend(handles=handles, loc="upper center", ncol=columns or len(handles),
                  bbox_to_anchor=(0.5, bottom))


def spaced(n):
    """16384 -> 16 384"""
    return f"{n:,}".replace(",", " ")


def size_axis(axis, sizes, base_label="n"):
    """A logarithmic axis whose marks are the sizes that were measured."""
    axis.set_xscale("log", base=2)
    shown = sizes if len(sizes) <= 6 else sizes[::2]
    axis.xaxis.set_major_locator(FixedLocator(shown))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xticklabels([spaced(n) for n in shown])
    axis.set_xlabel(base_label)


def spread(values, gap):
    """Moves positions apart to at least 'gap', in their order, as little as possible."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    placed = [values[i] for i in order]
    for _ in range(200):
        for k in range(len(placed) - 1):
            overlap = gap - (placed[k + 1] - placed[k])
            if overlap > 0:
                placed[k] -= overlap / 2
                placed[k + 1] += overlap / 2
    result = [0.0] * len(values)
    for k, i in enumerate(order):
        result[i] = placed[k]
    return result


def label_ends(axis, ends, gap=0.055):
    """Names each line at its right end. ends: (x, y, text, colour) on a logarithmic y axis."""
    axis.figure.canvas.draw()
    to_axes = axis.transAxes.inverted()
    heights = [to_axes.transform(axis.transData.transform((x, y)))[1] for x, y, _, _ in ends]
    right = max(to_axes.transform(axis.transData.transform((x, y)))[0] for x, y, _, _ in ends)
    for (x, y, text, colour), height in zip(ends, spread(heights, gap)):
        # The leader ends at the text's left edge, so that it does not cross other labels.
        axis.annotate(text, xy=(x, y), xycoords="data", xytext=(max(right + 0.05, 1.02), height),
                      textcoords="axes fraction", color=colour, va="center", fontsize=9.5,
                      arrowprops={"arrowstyle": "-", "color": LIGHT, "lw": 0.7, "shrinkA": 1,
                                  "shrinkB": 3, "relpos": (0, 0.5)}, annotation_clip=False)


def label_speed_up(axis, n, rate, text):
    """Writes a speed-up to the right of a line's last point, where no line can cross it."""
    axis.annotate(text, (n, rate), xytext=(7, 0), textcoords="offset points", color=BLUE,
                  va="center", fontweight="bold", annotation_clip=False)


def series(cases, **what):
    """(n, case) of the cases that match, smallest first."""
    found = [c for c in cases if all(c.get(k) == v for k, v in what.items())]
    return sorted(((c["n"], c) for c in found), key=lambda item: item[0])


def baseline_series(section, name, **what):
    return [(n, c["rate"]["median"]) for n, c in series(section["baselines"], baseline=name, **what)]


def library(section, name):
    side = section["sides"].get(name, {})
    return f"{side.get('name', name)}, {side.get('library', '')}"


def engine_peak(paper):
    """Gflop/s of the bare instruction loop of the matrix engine, or None."""
    raw = [c["rate"]["best"] for _, c in series(paper.get("rate", {}).get("baselines", []), baseline="raw")]
    return max(raw, default=None)

# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures of precision maps for bench/plot_paper.py: layers, layers_error and level3."""
import paper_pages
from plot_style import (BLUE, DARK, GREEN, GREY, ORANGE, PURPLE, RED, RUNGS, SKY, claim, label_ends, plt,
                        save, series, size_axis, spaced)

# Rows of 'layers': families from coarse to fine. fp32, the finest of two of them, is shown once.
FAMILIES = {"fp16": ORANGE, "bf16": BLUE, "bf16x2": GREEN, "fp64": PURPLE}
# Lines of 'layers_error'.
LINES = {"fp16": ORANGE, "fp16,fp16,fp16,fp16,fp16,fp32": RED, "bf16": BLUE,
         "bf16,bf16,bf16,bf16,bf16,fp32": SKY, "bf16x2": GREEN, "fp32": GREY,
         "fp32,fp32,fp32,fp64": DARK, "fp64": PURPLE}


def with_errors(paper):
    return [c for c in paper["layers"]["cases"] if c["bench"] == "factor" and "error" in c]


def rows_of(cases):
    """(place, case, colour) of each map, with a gap between families."""
    rows, place = [], 0.0
    for family, colour in FAMILIES.items():
        for name in paper_pages.FAMILIES[family]:
            if name == "fp32" and family != "fp64":
                continue
            case = next((c for c in cases if c["map"] == name), None)
            if case:
                rows.append((place, case, colour))
                place -= 1
        place -= 0.6
    return rows


def label_bars(axis, places, values):
    """Writes the values next to their bars, and not on the line at 1."""
    for place, value in zip(places, values):
        axis.annotate(f"{value:.1f}", (max(value, 1), place), xytext=(4, 0), va="center",
                      fontsize=8.5, textcoords="offset points", color=DARK)
    axis.axvline(1, color=DARK, lw=1)
    axis.set_xlim(0, max(values) * 1.15)


def draw_layers(paper, folder):
    """One row for each map: its error on the left, its speed on the right."""
    cases = with_errors(paper)
    n = max(c["n"] for c in cases)
    rows = rows_of([c for c in cases if c["n"] == n])
    places = [place for place, _, _ in rows]
    colours = [colour for _, _, colour in rows]
    figure, (error, speed) = plt.subplots(1, 2, figsize=(9.5, 5.2), sharey=True)
    error.scatter([c["error"]["residual"] for _, c, _ in rows], places, color=colours, s=48, zorder=3)
    error.set_xscale("log")
    error.set_yticks(places, [paper_pages.short(c["map"]) for _, c, _ in rows], fontsize=9)
    error.set_xlabel("‖A − LLᵀ‖ / ‖A‖")
    error.set_title("error: left is better")
    values = [c["ratio"]["dpotrf"]["median"] for _, c, _ in rows]
    speed.barh(places, values, color=colours, height=0.7)
    label_bars(speed, places, values)
    speed.grid(axis="y", visible=False)
    speed.set_xlabel("times as fast as dpotrf")
    speed.set_title("speed: right is better")
    for axis in (error, speed):
        axis.tick_params(axis="y", length=0)
    figure.tight_layout(w_pad=2)
    claim(figure, f"Precision maps trade accuracy for speed: factorization, n = {spaced(n)}",
          "Each group of maps goes from coarse to fine. fp16 and bf16 lead to fp32, which is shown once.")
    save(figure, folder, "layers")


def draw_layers_error(paper, folder):
    cases = with_errors(paper)
    figure, axis = plt.subplots(figsize=(8, 4.9))
    ends = []
    for name, colour in LINES.items():
        points = [(m, c["error"]["factor"]) for m, c in series(cases, map=name)]
        if points:
            axis.plot(*zip(*points), "o-", color=colour, lw=1.6, ms=4)
            ends.append((*points[-1], paper_pages.short(name), colour))
    axis.set_yscale("log")
    size_axis(axis, sorted({c["n"] for c in cases}), "order of the matrix n")
    axis.set_ylabel("‖L − L₆₄‖ / ‖L₆₄‖")
    label_ends(axis, ends)
    claim(figure, "The map, much more than n, sets the error of the factor")
    save(figure, folder, "layers_error")


def draw_level3(paper, folder):
    """Bars: speed-up of the three operations at their largest size."""
    section = paper["layers"]
    figure, axes = plt.subplots(1, 3, figsize=(11.5, 3.9), sharex=False)
    maps = ["bf16", "bf16,bf16,bf16,bf16,fp32", "bf16,bf16,bf16,bf16,bf16,fp32", "bf16,bf16,fp32",
            "bf16,bf16,bf16,fp32", "bf16x2", "fp16", "fp16,fp16,fp16,fp16,fp32",
            "fp16,fp16,fp16,fp16,fp16,fp32", "fp16,fp16,fp32", "fp16,fp16,fp16,fp32", "fp32", "fp64"]
    for axis, (op, title) in zip(axes, (("syrk", "C = AAᵀ"), ("trsm", "B L⁻ᵀ"), ("factor", "A = LLᵀ"))):
        cases = [c for c in section["cases"] if c["bench"] == op]
        n = max(c["n"] for c in cases)
        chosen = [c for m in maps for c in cases if c["map"] == m and c["n"] == n]
        against = next(iter(chosen[0]["ratio"]))
        values = [c["ratio"][against]["median"] for c in chosen]
        colours = [RUNGS[c["map"].split(",")[0]] for c in chosen]
        places = range(len(chosen))[::-1]
        axis.barh(places, values, color=colours, height=0.72)
        label_bars(axis, places, values)
        axis.set_yticks(places, [paper_pages.short(c["map"]) for c in chosen], fontsize=8.5)
        axis.grid(axis="y", visible=False)
        axis.tick_params(axis="y", length=0)
        axis.set_title(f"{title}, n = {spaced(n)}")
        axis.set_xlabel(f"times as fast as {against}")
    figure.tight_layout(w_pad=1.5)
    claim(figure, "Low precision speeds up syrk, trsm and the factorization alike")
    save(figure, folder, "level3")

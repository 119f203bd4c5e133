#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures and writes the pages of `stepwell bench paper`.

    stepwell bench paper --max-n 8192 --out docs/performance
    bench/plot_paper.py docs/performance/paper.json

writes docs/performance/figures/*.svg, docs/performance/paper.md, general.md and lstsq_tables.md, and
the tables of docs/convergence.md. Needs matplotlib. plot_maps.py and plot_solves.py draw some of the
figures, paper_pages.py writes the Markdown.
"""
import argparse
import json
import pathlib

from matplotlib.ticker import FixedLocator, NullLocator

import paper_pages
import plot_maps
import plot_solves
from plot_style import (BLUE, DARK, GREEN, GREY, LIGHT, ORANGE, PURPLE, RED, RUNGS, baseline_series, claim,
                        engine_peak, label_ends, legend_below, library, plt, save, series, size_axis, spaced)


def draw_rate(paper, folder):
    section = paper["rate"]
    sizes = sorted({c["n"] for c in section["cases"]})
    figure, axis = plt.subplots(figsize=(8, 4.9))
    ends = []
    for rung, colour in RUNGS.items():
        points = [(n, c["rate"]["median"]) for n, c in series(section["cases"], map=rung)]
        if points:
            axis.plot(*zip(*points), "o-", color=colour)
            ends.append((*points[-1], rung, colour))
    for name, style in (("dpotrf", "s--"), ("spotrf", "^--"), ("mkl-dpotrf", "D--")):
        points = baseline_series(section, name)
        if points:
            axis.plot(*zip(*points), style, color=GREY, lw=1.3, ms=4)
            ends.append((*points[-1], library(section, name), GREY))
    best = engine_peak(paper)
    axis.set_yscale("log")
    if best:
        axis.axhline(best, color=DARK, lw=1.2, ls=(0, (6, 3)))
        axis.text(sizes[0], best * 1.07, "peak of the matrix engine: bf16 products from registers",
                  color=DARK, fontsize=9.5, va="bottom")
        axis.set_ylim(top=best * 1.7)
    size_axis(axis, sizes, "order of the matrix n")
    axis.set_ylabel("Gflop/s (n³/3 flop)")
    label_ends(axis, ends)
    top = next(c for c in section["cases"] if c["map"] == "bf16" and c["n"] == sizes[-1])
    ratio = paper_pages.times(top["ratio"]["dpotrf"]["median"])
    claim(figure, f"At bf16 Cholesky is {ratio} times as fast as dpotrf, n = {spaced(sizes[-1])}")
    save(figure, folder, "rate")


def draw_histories(paper, folder):
    section = paper["histories"]
    matrices = list(dict.fromkeys((h["kind"], h["condition"]) for h in section["histories"]))
    figure, axes = plt.subplots(1, len(matrices), figsize=(4 * len(matrices), 3.9), sharey=True)
    colours = {"ir": RED, "ir(gmres)": GREEN, "cg": BLUE}
    names = {"ir": "classic refinement", "ir(gmres)": "GMRES", "cg": "CG"}
    for axis, (kind, condition) in zip(axes, matrices):
        longest, broken = 8, set()
        for h in section["histories"]:
            if (h["kind"], h["condition"]) != (kind, condition) or not h["history"]:
                continue
            if h["factor"] != h["map"]:  # it broke down, and the factor is FP64
                broken.add(h["map"])
                continue
            style = "-" if h["map"] == "bf16" else "--"
            errors = h["history"]
            steps = range(1, len(errors) + 1)
            longest = max(longest, len(errors))
            axis.plot(steps, errors, style, color=colours[h["refiner"]], lw=1.8,
                      marker="o" if len(errors) < 25 else None, ms=3.5)
            if h["outcome"] != "converged":
                axis.plot(len(errors), errors[-1], "X", color=colours[h["refiner"]], ms=9, mec="white",
                          zorder=4)
                axis.annotate("not converged", (len(errors), errors[-1]), fontsize=8.5, va="center",
                              xytext=(8, 0), textcoords="offset points", color=colours[h["refiner"]])
        if broken:
            axis.text(0.97, 0.93, f"{', '.join(sorted(broken))}: the factorization breaks down", color=GREY,
                      fontsize=8.5, transform=axis.transAxes, ha="right")
        axis.axhline(h["tolerance"], color=DARK, lw=1, ls=(0, (6, 3)))
        axis.set_yscale("log")
        axis.set_ylim(1e-18, 3)
        axis.set_xlim(0, longest + 1)
        axis.set_xlabel("products with A")
        axis.set_title(f"{kind}, condition {condition:.0e}".replace("e+0", "e"))
    axes[0].set_ylabel("backward error, estimated")
    axes[0].text(0.4, h["tolerance"] * 1.6, "tolerance √n u", fontsize=8.5, color=DARK)
    handles = [plt.Line2D([], [], color=colours[r], label=names[r]) for r in colours]
    handles += [plt.Line2D([], [], color=GREY, ls=ls, label=f"{m} factor")
                for m, ls in (("bf16", "-"), ("fp16", "--"))]
    figure.tight_layout(w_pad=1.5)
    legend_below(figure, handles)
    claim(figure, "CG and GMRES converge where classic refinement does not")
    save(figure, folder, "histories")


REFINERS = {"ir": RED, "gmres": BLUE, "fgmres": ORANGE, "ir(gmres)": GREEN, "gmres(gmres)": PURPLE}


def general_claim(histories):
    """How many types of matrices each of two refiners solves with a bf16 factor."""
    def solved(refiner):
        return sum(h["outcome"] == "converged" for h in histories
                   if h["map"] == "bf16" and h["refiner"] == refiner)
    kinds = len({h["kind"] for h in histories})
    return (f"With a bf16 factor, GMRES converges for {solved('gmres')} of {kinds} types of matrices, "
            f"classic refinement for {solved('ir')}")


def draw_general_histories(paper, folder):
    """Haidar et al., Fig. 3: one panel for each type of matrix, all with the same axes."""
    section = paper["general"]
    figure, axes = plt.subplots(2, 3, figsize=(11.5, 6.8), sharex=True, sharey=True)
    for axis, row in zip(axes.flat, section["paper"]):
        mine = [h for h in section["histories"] if h["kind"] == row["kind"] and h["history"]]
        for h in sorted(mine, key=lambda h: h["map"] == "bf16"):  # the grey lines are behind the others
            errors = paper_pages.errors_of(h)
            steps = range(1, len(errors) + 1)
            if h["map"] != "bf16":
                axis.plot(steps, errors, color=LIGHT, lw=1.4)
                continue
            colour = REFINERS[h["refiner"]]
            axis.plot(steps, errors, color=colour, lw=1.6, marker="o" if len(errors) < 25 else None, ms=3)
            if h["outcome"] != "converged":
                axis.plot(len(errors), errors[-1], "X", color=colour, ms=9, mec="white", zorder=4)
        if mine:
            axis.axhline(mine[0]["tolerance"], color=DARK, lw=1, ls=(0, (6, 3)))
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_ylim(1e-18, 3)
        axis.set_title(f"{row['kind']} ({row['figure'].split(',')[0]})")
    ticks = (1, 2, 5, 10, 20, 50)
    axes[0, 0].xaxis.set_major_locator(FixedLocator(ticks))
    axes[0, 0].xaxis.set_minor_locator(NullLocator())
    axes[0, 0].set_xticks(ticks, [str(t) for t in ticks])
    for axis in axes[-1]:
        axis.set_xlabel("products with A; outer steps of gmres(gmres)")
    for axis in axes[:, 0]:
        axis.set_ylabel("backward error, estimated")
    handles = [plt.Line2D([], [], color=c, marker="o", ms=3, label=r) for r, c in REFINERS.items()]
    handles += [plt.Line2D([], [], color=LIGHT, lw=1.4, label="bf16x3 factor, the same refiners"),
                plt.Line2D([], [], color=GREY, marker="X", ms=9, mec="white", ls="", label="not converged"),
                plt.Line2D([], [], color=DARK, lw=1, ls=(0, (6, 3)), label="tolerance")]
    figure.tight_layout(w_pad=1.5)
    legend_below(figure, handles, 4)
    claim(figure, general_claim(section["histories"]),
          "Refiners continue below the tolerance. Where a line rises, a true residual replaced the estimate "
          "and GMRES started again.")
    save(figure, folder, "general_histories")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paper", type=pathlib.Path, help="paper.json of 'stepwell bench paper'")
    parser.add_argument("--docs", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent / "docs",
                        help="directory of the pages; default: docs of this repository")
    parser.add_argument("--note", default="", help="a sentence for the top of the page")
    arguments = parser.parse_args()
    paper = json.loads(arguments.paper.read_text(encoding="utf-8"))
    folder = arguments.docs / "performance" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    drawings = {"rate": [draw_rate], "histories": [draw_histories],
                "layers": [plot_maps.draw_layers, plot_maps.draw_layers_error, plot_maps.draw_level3],
                "spectra": [plot_solves.draw_spectra, plot_solves.draw_headline],
                "general": [draw_general_histories, plot_solves.draw_general]}
    for part, functions in drawings.items():
        for draw in functions if part in paper else []:
            draw(paper, folder)
    paper_pages.write(paper, arguments.docs, arguments.note)


if __name__ == "__main__":
    main()

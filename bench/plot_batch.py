#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures and writes the tables for batches of small systems.

    stepwell bench paper --part batch --out results
    stepwell bench batch --n 5,8,16,24,32,48,64,96,100 --json > contest.json
    bench/plot_batch.py docs/performance/batch.json results/paper.json contest.json ...

merges the results of the other files into batch.json, then writes figures/batch_*.svg in the same
directory and the tables of batch.md. Needs matplotlib. batch_pages.py writes the tables.
"""
import argparse
import json
import math
import pathlib

from matplotlib.ticker import NullFormatter, NullLocator

from batch_pages import TYPES, dump, merge, write_page
from plot_style import (BLUE, DARK, GREEN, GREY, ORANGE, PURPLE, RED, SKY, claim, label_ends, legend_below,
                        plt, save, spaced)

SIDES = {  # label, colour and line style in the figures
    "ours": ("Stepwell", BLUE, "o-"), "fast": ("Stepwell, fast", SKY, "o--"),
    "mkl-compact": ("oneMKL compact", GREEN, "s-"), "mkl-loop": ("oneMKL loop", ORANGE, "^-"),
    "lapack-loop": ("OpenBLAS loop", GREY, "v-"),
}
PHASES = {"load": SKY, "factor": BLUE, "forward": ORANGE, "backward": RED, "store": GREEN}


def panels(ylabel, width=10.5, height=4.3, **options):
    figure, axes = plt.subplots(1, 2, figsize=(width, height), **options)
    for axis, kind in zip(axes, TYPES):
        axis.set_title(kind)
        axis.set_xlabel("order of the matrices n")
    axes[0].set_ylabel(ylabel)
    return figure, axes


def shape(variant):
    rows, cols, vectors, _ = variant
    return f"{rows}x{cols}" if vectors == 1 else f"{rows}x{cols}, {vectors}"


def shapes(sweep):
    return list(dict.fromkeys(shape(v) for v in sweep["variants"]))


def draw_heat(batch, folder):
    """Figure 14: all variants at three orders."""
    orders = [h["n"] for h in batch["fp64"]["sweep"]["heat"]]
    figure, axes = plt.subplots(2, len(orders), figsize=(3.6 * len(orders), 7.4), squeeze=False)
    for row, kind in zip(axes, TYPES):
        sweep = batch[kind]["sweep"]
        names = shapes(sweep)
        fetch = sorted({v[3] for v in sweep["variants"]})
        for axis, heat in zip(row, sweep["heat"]):
            best = max(heat["rates"])
            grid = [[math.nan] * len(fetch) for _ in names]
            for variant, rate in zip(sweep["variants"], heat["rates"]):
                i, j = names.index(shape(variant)), fetch.index(variant[3])
                grid[i][j] = rate / best
                axis.text(j, i, f"{rate:.1f}", ha="center", va="center", fontsize=8.5,
                          color="white" if rate < 0.85 * best else DARK)
                if rate == best:
                    axis.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, lw=2.5,
                                                 ec="black", zorder=3))
            axis.imshow(grid, vmin=0.6, vmax=1, aspect="auto", cmap="viridis")
            axis.set_xticks(range(len(fetch)), [("none", "L2", "L1")[f] for f in fetch])
            axis.set_yticks(range(len(names)), names)
            axis.grid(False)
            axis.tick_params(length=0)
            axis.set_title(f"{kind}, n = {heat['n']}")
    for axis in axes[-1]:
        axis.set_xlabel("prefetch")
    for row in axes:
        row[0].set_ylabel("register block, registers")
    figure.tight_layout(w_pad=1.2, h_pad=1.5)
    claim(figure, "Which variant is the fastest depends on the order and the type",
          "Gflop/s of factor and solve; the fastest variant is framed.")
    save(figure, folder, "batch_variants")


def draw_best(batch, folder):
    """Figure 15: the best block of each order, and those within 2 %."""
    figure, axes = plt.subplots(2, 1, figsize=(10.5, 6.2), sharex=True)
    for axis, kind in zip(axes, TYPES):
        sweep = batch[kind]["sweep"]
        names = shapes(sweep)
        for order in sweep["orders"]:
            best = max(order["rates"])
            close = {shape(v) for v, r in zip(sweep["variants"], order["rates"]) if r >= 0.98 * best}
            first = shape(sweep["variants"][order["rates"].index(best)])
            for name in sorted(close - {first}):
                axis.plot(order["n"], names.index(name), "^", color=RED, ms=3.2, alpha=0.75)
            axis.plot(order["n"], names.index(first), "o", color=BLUE, ms=4.5)
        axis.set_yticks(range(len(names)), names)
        axis.set_ylim(len(names) - 0.5, -0.5)
        axis.set_title(kind)
    axes[1].set_xlabel("order of the matrices n")
    handles = [plt.Line2D([], [], color=BLUE, marker="o", ls="", label="fastest"),
               plt.Line2D([], [], color=RED, marker="^", ls="", label="within 2 %")]
    figure.tight_layout()
    legend_below(figure, handles)
    claim(figure, "No register block is the fastest at every order")
    save(figure, folder, "batch_best")


def smoothed(points):
    """The median of five neighbours: these are single runs on a machine with other users."""
    return [(x, sorted(y for _, y in points[max(0, k - 2):k + 3])[len(points[max(0, k - 2):k + 3]) // 2])
            for k, (x, _) in enumerate(points)]


def shape_points(sweep, name):
    """(n, speed of a block relative to the fastest variant), with the block's best prefetch."""
    points = []
    for order in sweep["orders"]:
        mine = max(r for v, r in zip(sweep["variants"], order["rates"]) if shape(v) == name)
        points.append((order["n"], mine / max(order["rates"])))
    return points


def near_the_fastest(batch, name):
    """True if half of the orders from 40 on are within 5 % of the fastest variant, in both types."""
    for kind in TYPES:
        speeds = sorted(y for n, y in shape_points(batch[kind]["sweep"], name) if n >= 40)
        if not speeds or speeds[len(speeds) // 2] < 0.95:
            return False
    return True


def draw_shapes(batch, folder):
    """Figure 16: one panel for each block, with its speed relative to the fastest variant."""
    names = shapes(batch["fp64"]["sweep"])
    figure, axes = plt.subplots(math.ceil(len(names) / 4), 4, figsize=(11.5, 5.2), sharex=True,
                                sharey=True, squeeze=False)
    colours = {"fp32": ORANGE, "fp64": BLUE}
    for axis in axes.flat[len(names):]:
        axis.set_visible(False)
    for axis, name in zip(axes.flat, names):
        axis.axhline(1, color=DARK, lw=1, ls=(0, (6, 3)))
        for kind, colour in colours.items():
            axis.plot(*zip(*smoothed(shape_points(batch[kind]["sweep"], name))), color=colour, lw=1.8)
        axis.set_title(name.replace(", 2", ", two registers"))
    for axis in axes[-1]:
        axis.set_xlabel("order of the matrices n")
        axis.set_xticks(range(20, 101, 20))
    for axis in axes[:, 0]:
        axis.set_ylabel("relative speed")
        axis.yaxis.set_major_formatter(lambda y, _: f"{100 * y:.0f} %")
    handles = [plt.Line2D([], [], color=c, lw=1.8, label=k) for k, c in colours.items()]
    handles.append(plt.Line2D([], [], color=DARK, lw=1, ls=(0, (6, 3)), label="the fastest variant"))
    figure.tight_layout(w_pad=1, h_pad=1.2)
    legend_below(figure, handles)
    near = [name for name in names if near_the_fastest(batch, name)]
    named = " and ".join([", ".join(near[:-1]), near[-1]] if near[1:] else near or ["of no shape"])
    claim(figure, f"From order 40 on, only the register blocks {named} stay near the fastest",
          "Speed of each block with its best prefetch, relative to the fastest variant of all; "
          "medians of five neighbouring orders.")
    save(figure, folder, "batch_shapes")


def draw_lines(axis, lines):
    """Logarithmic lines, named at their right ends. lines: (points, text, colour, style)"""
    lines = [line for line in lines if line[0]]
    for points, _, colour, style in lines:
        axis.plot(*zip(*points), style, color=colour, ms=4, lw=1.7)
    axis.set_yscale("log")
    axis.yaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_minor_formatter(NullFormatter())
    label_ends(axis, [(*points[-1], text, colour) for points, text, colour, _ in lines])


def draw_rates(batch, folder, operation, title, name, sides):
    """Gflop/s of an operation by order: figures 18, 21 and 23."""
    figure, axes = panels("Gflop/s", width=11.5)
    for axis, kind in zip(axes, TYPES):
        draw_lines(axis, [([(r["n"], r[operation][side]) for r in batch[kind]["rates"]
                            if side in r[operation]], *SIDES[side]) for side in sides])
    figure.tight_layout(w_pad=2)
    claim(figure, f"{title} as a batch is faster than a loop of LAPACK calls at every order")
    save(figure, folder, name)


def draw_time(batch, folder):
    """Figure 19: milliseconds of the factorization of the whole batch."""
    figure, axes = panels("milliseconds", width=11.5)
    for axis, kind in zip(axes, TYPES):
        draw_lines(axis, [([(r["n"], r["cholesky"]["flops"] / r["cholesky"][side] * 1e-6)
                            for r in batch[kind]["rates"] if side in r["cholesky"]], *SIDES[side])
                          for side in ("lapack-loop", "mkl-loop", "mkl-compact", "ours")])
    figure.tight_layout(w_pad=2)
    count = spaced(batch["count"])
    claim(figure, f"{count} factorizations take less time as a batch than in a loop, at every order")
    save(figure, folder, "batch_time")


def draw_both(batch, folder):
    """Figures 17 and 20: the gain of fast roots, and the cost of a second triangle."""
    figure, axes = panels("Gflop/s of the factorization")
    lines = {"fast": ("fast, one triangle", SKY, "--"), "ours": ("IEEE, one triangle", BLUE, "-"),
             "both-fast": ("fast, both triangles", ORANGE, "--"),
             "both": ("IEEE, both triangles", RED, "-")}
    for axis, kind in zip(axes, TYPES):
        for side, (text, colour, style) in lines.items():
            axis.plot([r["n"] for r in batch[kind]["rates"]],
                      [r["cholesky"][side] for r in batch[kind]["rates"]], style, color=colour,
                      label=text, lw=1.8)
        axis.set_ylim(bottom=0)
    figure.tight_layout(w_pad=1.5)
    legend_below(figure, axes[0].get_legend_handles_labels()[0])
    claim(figure, "Writing both triangles costs more than fast roots gain")
    save(figure, folder, "batch_both")


def draw_shares(batch, folder):
    """Figure 22: how the time of one pass is distributed."""
    figure, axes = panels("fraction of the time", sharey=True)
    for axis, kind in zip(axes, TYPES):
        rows = batch[kind]["rates"]
        totals = [sum(r["seconds"].values()) for r in rows]
        bottom = [0.0] * len(rows)
        for phase, colour in PHASES.items():
            parts = [r["seconds"][phase] / t for r, t in zip(rows, totals)]
            axis.fill_between([r["n"] for r in rows], bottom,
                              [b + p for b, p in zip(bottom, parts)], color=colour, label=phase,
                              lw=0, alpha=0.85)
            bottom = [b + p for b, p in zip(bottom, parts)]
        axis.set_ylim(0, 1)
        axis.set_xlim(rows[0]["n"], rows[-1]["n"])
        axis.yaxis.set_major_formatter(lambda x, _: f"{100 * x:.0f} %")
        axis.yaxis.set_minor_locator(NullLocator())
    figure.tight_layout(w_pad=1.5)
    legend_below(figure, axes[0].get_legend_handles_labels()[0])
    claim(figure, "The substitutions, forward and backward, take little of the time of a pass")
    save(figure, folder, "batch_shares")


def draw_solve(batch, folder):
    """Figure 23: factorization, substitution and the whole solve."""
    figure, axes = panels("Gflop/s", width=11.5)
    lines = {"solve": ("solve: x alone", PURPLE), "factor-solve": ("factor and solve", BLUE),
             "cholesky": ("factor", GREEN), "substitute": ("substitute", ORANGE)}
    for axis, kind in zip(axes, TYPES):
        draw_lines(axis, [([(r["n"], r[operation]["ours"]) for r in batch[kind]["rates"]], *line, "o-")
                          for operation, line in lines.items()])
    figure.tight_layout(w_pad=2)
    claim(figure, "Factor and solve in one pass has about the rate of the factorization alone")
    save(figure, folder, "batch_solve")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("batch", type=pathlib.Path)
    parser.add_argument("news", type=pathlib.Path, nargs="*")
    arguments = parser.parse_args()
    path = arguments.batch
    data = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for news in arguments.news:
        merge(data, news)
    if arguments.news:
        path.write_text(dump(data), encoding="utf-8")
    folder = path.parent / "figures"
    folder.mkdir(exist_ok=True)
    if "batch" in data:
        draw_all(data["batch"], folder)
    page = path.parent / "batch.md"
    if page.exists():
        write_page(data, page)


def draw_all(batch, folder):
    draw_heat(batch, folder)
    draw_best(batch, folder)
    draw_shapes(batch, folder)
    sides = ("ours", "fast", "mkl-compact", "mkl-loop", "lapack-loop")
    draw_rates(batch, folder, "cholesky", "Factorization", "batch_cholesky", sides)
    draw_rates(batch, folder, "substitute", "Substitution", "batch_substitute",
               ("ours", "mkl-compact", "mkl-loop", "lapack-loop"))
    draw_rates(batch, folder, "factor-solve", "Factor and solve", "batch_factor_solve", sides)
    draw_time(batch, folder)
    draw_both(batch, folder)
    draw_shares(batch, folder)
    draw_solve(batch, folder)


if __name__ == "__main__":
    main()

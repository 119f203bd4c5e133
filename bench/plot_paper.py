#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures and writes the pages of `stepwell bench paper`.

    stepwell bench paper --max-n 8192 --out docs/performance
    bench/plot_paper.py docs/performance/paper.json

writes docs/performance/figures/*.svg, docs/performance/paper.md, general.md and lstsq_tables.md, and
the tables of docs/convergence.md. Needs matplotlib. The Markdown is written by paper_pages.py.
"""
import argparse
import io
import json
import pathlib
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator  # noqa: E402

import paper_pages  # noqa: E402

# Okabe & Ito: distinguishable with any kind of colour vision.
BLUE, RED, GREEN, SKY, ORANGE, PURPLE = (
    "#0072B2", "#D55E00", "#009E73", "#56B4E9", "#E69F00", "#CC79A7")
DARK, GREY, LIGHT = "#333333", "#777777", "#BBBBBB"
RUNGS = {"bf16": BLUE, "bf16x2": SKY, "bf16x3": GREEN, "fp16": ORANGE, "fp32": RED, "fp64": PURPLE}

plt.rcParams.update({
    "svg.hashsalt": "stepwell",  # the same file for the same data
    "svg.fonttype": "none",      # text as text: a third of the bytes
    "font.family": "DejaVu Sans", "font.size": 10, "axes.titlesize": 10.5, "axes.titleweight": "bold",
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


def size_axis(axis, sizes, base_label="n"):
    """A logarithmic axis whose marks are the sizes that were measured."""
    axis.set_xscale("log", base=2)
    shown = sizes if len(sizes) <= 6 else sizes[::2]
    axis.xaxis.set_major_locator(FixedLocator(shown))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xticklabels([f"{n:,}".replace(",", " ") for n in shown])
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
        axis.annotate(text, xy=(x, y), xycoords="data", xytext=(right + 0.035, height),
                      textcoords="axes fraction", color=colour, va="center", fontsize=9.5,
                      arrowprops={"arrowstyle": "-", "color": LIGHT, "lw": 0.7, "shrinkA": 1,
                                  "shrinkB": 3}, annotation_clip=False)


def series(cases, **what):
    """(n, case) of the cases that match, smallest first."""
    found = [c for c in cases if all(c.get(k) == v for k, v in what.items())]
    return sorted(((c["n"], c) for c in found), key=lambda item: item[0])


def baseline_series(section, name, **what):
    return [(n, c["rate"]["median"]) for n, c in series(section["baselines"], baseline=name, **what)]


def library(section, name):
    side = section["sides"].get(name, {})
    return f"{side.get('name', name)}, {side.get('library', '')}"


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
    limit = [c["rate"] for _, c in series(section["baselines"], baseline="raw")]
    axis.set_yscale("log")
    if limit:
        best = max(r["best"] for r in limit)
        axis.axhline(best, color=DARK, lw=1.2, ls=(0, (6, 3)))
        axis.text(sizes[0], best * 1.07, "peak of the matrix engine: bf16 products from registers",
                  color=DARK, fontsize=9.5, va="bottom")
        axis.set_ylim(top=best * 1.7)
    size_axis(axis, sizes, "order of the matrix n")
    axis.set_ylabel("Gflop/s (n³/3 flop)")
    axis.set_title("Cholesky factorization by rung")
    label_ends(axis, ends)
    save(figure, folder, "rate")


def draw_histories(paper, folder):
    section = paper["histories"]
    matrices = list(dict.fromkeys((h["kind"], h["condition"]) for h in section["histories"]))
    figure, axes = plt.subplots(1, len(matrices), figsize=(4 * len(matrices), 3.9), sharey=True)
    colours = {"ir": RED, "ir(gmres)": GREEN, "cg": BLUE}
    names = {"ir": "classic refinement", "ir(gmres)": "GMRES", "cg": "CG"}
    for axis, (kind, condition) in zip(axes, matrices):
        longest = 8
        for h in section["histories"]:
            if (h["kind"], h["condition"]) != (kind, condition) or not h["history"]:
                continue
            if h["factor"] != h["map"]:  # it broke down, and the factor is FP64
                axis.text(0.97, 0.93, f"{h['map']}: the factorization breaks down", color=GREY,
                          fontsize=8.5, transform=axis.transAxes, ha="right")
                continue
            style = "-" if h["map"] == "bf16" else "--"
            errors = h["history"]
            steps = range(1, len(errors) + 1)
            longest = max(longest, len(errors))
            axis.plot(steps, errors, style, color=colours[h["refiner"]], lw=1.8,
                      marker="o" if len(errors) < 25 else None, ms=3.5)
            if h["outcome"] != "converged":
                axis.annotate("not converged", (len(errors), errors[-1]), fontsize=8.5, va="center",
                              xytext=(6, 0), textcoords="offset points", color=colours[h["refiner"]])
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
    figure.legend(handles=handles, loc="upper center", ncol=5, bbox_to_anchor=(0.5, 0.03))
    figure.tight_layout(w_pad=1.5)
    save(figure, folder, "histories")


def draw_spectra(paper, folder):
    section = paper["spectra"]
    rows = [r for r in section["paper"]]
    sizes = sorted({c["n"] for c in section["cases"]})
    figure, axes = plt.subplots(3, 3, figsize=(11.5, 9.3), sharex=True, sharey=True)
    for axis, row in zip(axes.flat, rows):
        what = {"kind": row["kind"], "condition": row["condition"]}
        cases = series(section["cases"], **what)
        if not cases:
            axis.set_visible(False)
            continue
        axis.set_yscale("log")
        axis.yaxis.set_minor_locator(NullLocator())
        right = axis.twinx()
        right.spines["right"].set_visible(False)
        right.grid(False)
        known = [(n, c["condition_inf"]) for n, c in cases if "condition_inf" in c]
        right.plot(*zip(*known), color=LIGHT, marker=".", lw=1, ls=":")
        right.set_yscale("log")
        right.set_ylim(1e1, 1e12)
        right.tick_params(colors="#999999", labelsize=8, length=0)
        right.yaxis.set_minor_locator(NullLocator())
        if axis not in axes[:, -1]:
            right.set_yticklabels([])
        for name, colour, style in (("dposv", GREY, "s-"), ("mkl-dposv", DARK, "D-"),
                                    ("dsposv", ORANGE, "^-")):
            points = baseline_series(section, name, **what)
            # From some size on it is measured with the first matrix of a size only.
            shared = dict(baseline_series(section, name))
            points = sorted({**{n: shared[n] for n, _ in cases if n in shared and name != "dsposv"},
                             **dict(points)}.items())
            if points:
                axis.plot(*zip(*points), style, color=colour, lw=1.4, ms=4)
        axis.plot([n for n, _ in cases], [c["rate"]["median"] for _, c in cases], "o-", color=BLUE,
                  lw=2.2)
        n, last = cases[-1]
        speed_up = last["ratio"].get("dposv", {}).get("median")
        if speed_up:
            axis.annotate(f"{speed_up:.2g} ×" if speed_up < 10 else f"{speed_up:.0f} ×",
                          (n, last["rate"]["median"]), xytext=(-9, 4), textcoords="offset points",
                          color=BLUE, ha="right", fontweight="bold")
        published = f"; paper {row['dposv']:g} ×" if "dposv" in row else ""
        condition = f" {row['condition']:.2g}".replace("e+0", "e") if row["condition"] else ""
        axis.set_title(f"{row['kind']}{condition}" + (f"  ({row['figure']}{published})"
                                                     if row["figure"] else ""), fontsize=9.5)
        size_axis(axis, sizes, "")
        axis.tick_params(axis="x", labelsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("n")
    for axis in axes[:, 0]:
        axis.set_ylabel("Gflop/s")
    top = max(c["rate"]["median"] for c in section["cases"])
    axes[0, 0].set_ylim(2, top * 2)
    figure.text(1.0, 0.5, "condition number, infinity norm (dotted)", rotation=-90, va="center",
                color="#888888", fontsize=9)
    handles = [plt.Line2D([], [], color=c, marker=m, label=t) for c, m, t in (
        (BLUE, "o", "Stepwell"), (GREY, "s", library(section, "dposv")),
        (ORANGE, "^", library(section, "dsposv")))]
    if "mkl-dposv" in section["sides"]:
        handles.append(plt.Line2D([], [], color=DARK, marker="D", label="dposv, oneMKL"))
    figure.legend(handles=handles, loc="upper center", ncol=4, bbox_to_anchor=(0.5, 0.02))
    figure.tight_layout()
    save(figure, folder, "spectra")


REFINERS = {"ir": RED, "gmres": BLUE, "fgmres": SKY, "ir(gmres)": GREEN, "gmres(gmres)": PURPLE}


def draw_general_histories(paper, folder):
    """Haidar et al., Fig. 3: one panel for each type of matrix."""
    section = paper["general"]
    figure, axes = plt.subplots(2, 3, figsize=(11.5, 6.6), sharey=True)
    for axis, row in zip(axes.flat, section["paper"]):
        mine = [h for h in section["histories"] if h["kind"] == row["kind"] and h["history"]]
        for h in mine:
            errors = paper_pages.errors_of(h)
            axis.plot(range(1, len(errors) + 1), errors, "-" if h["map"] == "bf16" else "--",
                      color=REFINERS[h["refiner"]], lw=1.6,
                      marker="o" if len(errors) < 25 else None, ms=3)
        if mine:
            axis.axhline(mine[0]["tolerance"], color=DARK, lw=1, ls=(0, (6, 3)))
            if max(len(h["history"]) for h in mine) > 40:  # keeps the short lines visible
                axis.set_xscale("log")
            else:
                axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.set_yscale("log")
        axis.set_ylim(1e-18, 3)
        axis.set_title(f"{row['kind']} ({row['figure'].split(',')[0]})", fontsize=9.5)
    for axis in axes[-1]:
        axis.set_xlabel("products with A; outer steps of gmres(gmres)")
    for axis in axes[:, 0]:
        axis.set_ylabel("backward error, estimated")
    handles = [plt.Line2D([], [], color=c, label=r) for r, c in REFINERS.items()]
    handles += [plt.Line2D([], [], color=GREY, ls=ls, label=f"{m} factor")
                for m, ls in (("bf16", "-"), ("bf16x3", "--"))]
    figure.legend(handles=handles, loc="upper center", ncol=7, bbox_to_anchor=(0.5, 0.02))
    figure.tight_layout(w_pad=1.5)
    save(figure, folder, "general_histories")


def draw_general(paper, folder):
    """Haidar et al., Fig. 4, and the prediction of their model for our solves."""
    section = paper["general"]
    sizes = sorted({c["n"] for c in section["cases"]})
    figure, axes = plt.subplots(2, 3, figsize=(11.5, 6.6), sharex=True, sharey=True)
    for axis, row in zip(axes.flat, section["paper"]):
        cases = series(section["cases"], kind=row["kind"])
        if not cases:
            axis.set_visible(False)
            continue
        axis.set_yscale("log")
        axis.yaxis.set_minor_locator(NullLocator())
        for name, colour, style in (("dgesv", GREY, "s-"), ("mkl-dgesv", DARK, "D-"),
                                    ("dsgesv", ORANGE, "^-")):
            shared = dict(baseline_series(section, name))
            points = sorted({**{n: shared[n] for n, _ in cases if n in shared and name != "dsgesv"},
                             **dict(baseline_series(section, name, kind=row["kind"]))}.items())
            if points:
                axis.plot(*zip(*points), style, color=colour, lw=1.4, ms=4)
        rates = [(n, c["rate"]["median"], c["seconds"] / c["predicted_seconds"]) for n, c in cases]
        axis.plot([n for n, _, _ in rates], [r for _, r, _ in rates], "o-", color=BLUE, lw=2.2)
        axis.plot([n for n, _, _ in rates], [r * p for _, r, p in rates], "x:", color=BLUE, lw=1.4)
        n, last = cases[-1]
        axis.annotate(f"{paper_pages.times(last['ratio']['dgesv']['median'])} ×",
                      (n, last["rate"]["median"]), xytext=(-9, 4), textcoords="offset points",
                      color=BLUE, ha="right", fontweight="bold")
        published = f"paper {row['dgesv']:g} ×" if "dgesv" in row else "paper: FP16 fails"
        axis.set_title(f"{row['kind']}  ({row['figure'].split(', ')[1]}: {published})", fontsize=9)
        size_axis(axis, sizes, "")
        axis.tick_params(axis="x", labelsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("n")
    for axis in axes[:, 0]:
        axis.set_ylabel("Gflop/s")
    handles = [plt.Line2D([], [], color=c, marker=m, ls=ls, label=t) for c, m, ls, t in (
        (BLUE, "o", "-", "Stepwell"), (BLUE, "x", ":", "the model, equation 6"),
        (GREY, "s", "-", library(section, "dgesv")), (ORANGE, "^", "-", library(section, "dsgesv")))]
    if "mkl-dgesv" in section["sides"]:
        handles.append(plt.Line2D([], [], color=DARK, marker="D", label="dgesv, oneMKL"))
    figure.legend(handles=handles, loc="upper center", ncol=5, bbox_to_anchor=(0.5, 0.02))
    figure.tight_layout()
    save(figure, folder, "general")


def draw_layers(paper, folder):
    section = paper["layers"]
    factor = [c for c in section["cases"] if c["bench"] == "factor"]
    with_errors = [c for c in factor if "error" in c]
    n = max(c["n"] for c in with_errors)
    figure, axes = plt.subplots(1, 2, figsize=(11.5, 5.2), width_ratios=(1.25, 1))
    families = {"fp16": ORANGE, "bf16": BLUE, "bf16x2": GREEN, "fp64": PURPLE}
    labels = []
    for family, colour in families.items():
        points = [next((c for c in with_errors if c["map"] == m and c["n"] == n), None)
                  for m in paper_pages.FAMILIES[family]]
        points = [p for p in points if p]
        xs = [p["ratio"]["dpotrf"]["median"] for p in points]
        ys = [p["error"]["residual"] for p in points]
        axes[0].plot(xs, ys, "o-", color=colour, lw=1.2, ms=6)
        labels += [(x, y, paper_pages.short(p["map"]), colour) for x, y, p in zip(xs, ys, points)]
    axes[0].set_xscale("log", base=2)
    axes[0].set_yscale("log")
    low, high = axes[0].get_xlim()
    ticks = [t for t in (0.5, 1, 2, 4, 8, 16, 32) if low <= t <= high]
    axes[0].xaxis.set_major_locator(FixedLocator(ticks))
    axes[0].set_xticklabels([f"{t:g} ×" for t in ticks])
    axes[0].set_xlabel("speed-up over dpotrf")
    axes[0].set_ylabel("‖A − LLᵀ‖ / ‖A‖")
    axes[0].set_title(f"Precision maps: accuracy and speed, n = {n}")
    label_points(axes[0], labels)
    sizes = sorted({c["n"] for c in with_errors})
    ends = []
    for name, colour in (("fp16", ORANGE), ("fp16,fp16,fp16,fp16,fp16,fp32", RED), ("bf16", BLUE),
                         ("bf16,bf16,bf16,bf16,bf16,fp32", SKY), ("bf16x2", GREEN),
                         ("fp32", GREY), ("fp32,fp32,fp32,fp64", DARK), ("fp64", PURPLE)):
        points = [(m, c["error"]["factor"]) for m, c in series(with_errors, map=name)]
        if points:
            axes[1].plot(*zip(*points), "o-", color=colour, lw=1.6, ms=4)
            ends.append((*points[-1], paper_pages.short(name), colour))
    axes[1].set_yscale("log")
    size_axis(axes[1], sizes)
    axes[1].set_ylabel("‖L − L₆₄‖ / ‖L₆₄‖")
    axes[1].set_title("Error of the factor")
    figure.tight_layout(w_pad=2)
    label_ends(axes[1], ends)
    save(figure, folder, "layers")


def label_points(axis, labels):
    """Labels points: next to them, or moved up or down from there to avoid other labels."""
    axis.figure.canvas.draw()
    to_axes = axis.transAxes.inverted()
    boxes, seen = [], set()
    for x, y, text, colour in sorted(labels, key=lambda label: -label[1]):
        if (text, x) in seen:  # a map that ends two families
            continue
        seen.add((text, x))
        left, middle = to_axes.transform(axis.transData.transform((x, y)))
        left += 0.02
        width, height = 0.0125 * len(text) + 0.01, 0.042
        if left + width > 1.12:  # no space on the right
            left -= width + 0.04
        for step in range(40):
            place = middle + (step + 1) // 2 * (-1 if step % 2 else 1) * 0.012
            if all(left > b[0] + b[2] or b[0] > left + width or abs(place - b[1]) > height
                   for b in boxes):
                break
        boxes.append((left, place, width))
        leader = {"arrowstyle": "-", "color": colour, "lw": 0.5, "shrinkA": 0, "shrinkB": 3}
        axis.annotate(text, (x, y), xytext=(left, place), textcoords="axes fraction",
                      fontsize=8, color=colour, va="center",
                      bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
                      arrowprops=leader if abs(place - middle) > 0.02 else None)


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
        for place, value in zip(places, values):
            axis.annotate(f"{value:.1f}", (value, place), xytext=(3, 0), va="center", fontsize=8.5,
                          textcoords="offset points", color=DARK)
        axis.set_yticks(places, [paper_pages.short(c["map"]) for c in chosen], fontsize=8.5)
        axis.axvline(1, color=DARK, lw=1)
        axis.set_xlim(0, max(values) * 1.15)
        axis.grid(axis="y", visible=False)
        axis.tick_params(axis="y", length=0)
        axis.set_title(f"{title}, n = {n}")
        axis.set_xlabel(f"times as fast as {against}")
    figure.tight_layout(w_pad=1.5)
    save(figure, folder, "level3")


# Kinds that need a factor; the ratios of spectra that CG solves without one would dwarf them.
HEADLINE = (("arithmetic", 1e2, "evenly spaced eigenvalues,\ncondition 10²"),
            ("arithmetic", 1e4, "the same, condition 10⁴"),
            ("logarithmic", 1e5, "random exponents,\ncondition 10⁵"),
            ("geometric", 1.7e5, "geometric eigenvalues,\ncondition 1.7·10⁵"),
            ("matern", 0, "Matérn 3/2 covariance\nof 2-D points"))


def draw_headline(paper, folder):
    section = paper["spectra"]
    n = max(c["n"] for c in section["cases"])
    bars = [("dposv", BLUE, "OpenBLAS"), ("mkl-dposv", SKY, "oneMKL")]
    bars = [b for b in bars if b[0] in section["sides"]]
    figure, axis = plt.subplots(figsize=(8, 3.9))
    height = 0.76 / len(bars)
    names, top = [], 1
    for kind, condition, text in HEADLINE:
        case = next((c for c in section["cases"] if c["n"] == n and c["kind"] == kind
                     and c["condition"] == condition), None)
        if case is None:
            continue
        for j, (against, colour, _) in enumerate(bars):
            ratio = case["ratio"][against]["median"]
            place = -len(names) - j * height
            axis.barh(place, ratio, height * 0.92, color=colour)
            seconds = f" ({case['seconds']:.3g} s instead of {ratio * case['seconds']:.3g} s)"
            axis.annotate(f"{ratio:.1f} ×{seconds if j == 0 else ''}", (ratio, place), xytext=(5, 0),
                          textcoords="offset points", va="center", fontsize=9.5, color=DARK)
            top = max(top, ratio)
        names.append(text)
    axis.axvline(1, color=DARK, lw=1.2)
    axis.set_yticks([-k - height * (len(bars) - 1) / 2 for k in range(len(names))], names)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="y", visible=False)
    axis.set_xlim(0, top * 1.45)
    size = f"{n:,}".replace(",", " ")
    axis.set_xlabel("times as fast as dposv, both to FP64 accuracy: "
                    f"n = {size}, {paper['machine']['threads']} cores")
    handles = [plt.Rectangle((0, 0), 1, 1, color=c, label=f"against {t}'s dposv") for _, c, t in bars]
    axis.legend(handles=handles, loc="lower left", bbox_to_anchor=(-0.02, 1), ncol=2)
    save(figure, folder, "headline")


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
                "layers": [draw_layers, draw_level3], "spectra": [draw_spectra, draw_headline],
                "general": [draw_general_histories, draw_general]}
    for part, functions in drawings.items():
        for draw in functions if part in paper else []:
            draw(paper, folder)
    paper_pages.write(paper, arguments.docs, arguments.note)


if __name__ == "__main__":
    main()

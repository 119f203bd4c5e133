# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures of whole solves for bench/plot_paper.py: spectra, spectra_no_factor, headline and
general."""
import math

from matplotlib.ticker import NullLocator

from paper_pages import made_no_factor, times
from plot_style import (BLUE, DARK, GREY, ORANGE, SKY, baseline_series, claim, engine_peak, label_speed_up,
                        legend_below, library, plt, save, series, size_axis, spaced)

# Kinds that need a factor; the ratios of spectra that CG solves without one would dwarf them.
HEADLINE = (("arithmetic", 1e2, "evenly spaced eigenvalues,\ncondition 10²"),
            ("arithmetic", 1e4, "the same, condition 10⁴"),
            ("logarithmic", 1e5, "random exponents,\ncondition 10⁵"),
            ("geometric", 1.7e5, "geometric eigenvalues,\ncondition 1.7·10⁵"),
            ("matern", 0, "Matérn 3/2 covariance\nof 2-D points"))


def range_text(values):
    low, high = times(min(values)), times(max(values))
    return low if low == high else f"{low} to {high}"


def draw_solves(axis, section, cases, what, double, mixed):
    """Our rates and the baselines' in one panel. Hollow markers: no factor was made."""
    axis.set_yscale("log")
    axis.yaxis.set_minor_locator(NullLocator())
    for name, colour, style in ((double, GREY, "s-"), (f"mkl-{double}", DARK, "D-"),
                                (mixed, ORANGE, "^-")):
        # From some size on 'double' is measured with the first matrix of a size only.
        shared = dict(baseline_series(section, name))
        points = sorted({**{n: shared[n] for n, _ in cases if n in shared and name != mixed},
                         **dict(baseline_series(section, name, **what))}.items())
        if points:
            axis.plot(*zip(*points), style, color=colour, lw=1.4, ms=4)
    axis.plot([n for n, _ in cases], [c["rate"]["median"] for _, c in cases], "-", color=BLUE, lw=2.2)
    for n, case in cases:
        axis.plot(n, case["rate"]["median"], "o", ms=6, mew=1.6, mec=BLUE,
                  mfc="white" if made_no_factor(case) else BLUE)
    n, last = cases[-1]
    if double in last["ratio"]:
        label_speed_up(axis, n, last["rate"]["median"], f"{times(last['ratio'][double]['median'])} ×")


def solve_handles(section, double, mixed):
    """Entries of the legend for draw_solves()."""
    handles = [plt.Line2D([], [], color=BLUE, marker="o", ms=6, label="Stepwell, with a factor"),
               plt.Line2D([], [], color=BLUE, marker="o", ms=6, mew=1.6, mfc="white",
                          label="Stepwell, without a factor"),
               plt.Line2D([], [], color=GREY, marker="s", label=library(section, double))]
    if f"mkl-{double}" in section["sides"]:
        handles.append(plt.Line2D([], [], color=DARK, marker="D", label=f"{double}, oneMKL"))
    handles.append(plt.Line2D([], [], color=ORANGE, marker="^", label=library(section, mixed)))
    return handles


def finish_panels(figure, axes, sizes):
    """Labels of a grid of panels; those of the sizes are below the lowest panel of each column."""
    for axis in axes.flat:
        size_axis(axis, sizes, "")
        axis.tick_params(axis="x", labelsize=8)
        axis.set_xlim(sizes[0] / 1.3, sizes[-1] * 2.6)  # space for the speed-up
    for axis in axes[-1]:
        axis.set_xlabel("n")
    for axis in axes[:, 0]:
        axis.set_ylabel("Gflop/s")
    figure.tight_layout()


def draw_panels(paper, rows):
    """One panel for each spectrum."""
    section = paper["spectra"]
    sizes = sorted({c["n"] for c in section["cases"]})
    lines = math.ceil(len(rows) / 3)
    figure, axes = plt.subplots(lines, 3, figsize=(11.5, 3.2 * lines), sharex=True, sharey=True,
                                squeeze=False)
    peak = engine_peak(paper)
    for axis in axes.flat[len(rows):]:
        axis.set_visible(False)
    for axis, (row, cases) in zip(axes.flat, rows):
        what = {"kind": row["kind"], "condition": row["condition"]}
        draw_solves(axis, section, cases, what, "dposv", "dsposv")
        if peak:
            axis.axhline(peak, color=DARK, lw=1.1, ls=(0, (6, 3)))
        published = f"; paper {row['dposv']:g} ×" if "dposv" in row else ""
        condition = f" {row['condition']:.2g}".replace("e+0", "e") if row["condition"] else ""
        figure_text = f"  ({row['figure']}{published})" if row["figure"] else ""
        axis.set_title(f"{row['kind']}{condition}{figure_text}", fontsize=9.5)
    finish_panels(figure, axes, sizes)
    handles = solve_handles(section, "dposv", "dsposv")
    if peak:
        handles.append(plt.Line2D([], [], color=DARK, lw=1.1, ls=(0, (6, 3)),
                                  label="peak of the matrix engine"))
    legend_below(figure, handles, 3)
    return figure


def draw_spectra(paper, folder):
    """Two figures: the spectra that are solved with a factor at the largest size, and the others."""
    section = paper["spectra"]
    largest = max(c["n"] for c in section["cases"])
    rows = [(row, series(section["cases"], kind=row["kind"], condition=row["condition"]))
            for row in section["paper"]]
    rows = [(row, cases) for row, cases in rows if cases]
    counted = "Rates count n³/3 + 2n² flop, whatever was computed. Bold: speed-up over OpenBLAS's dposv"
    texts = {
        "spectra": ("With a factor, solves are {} times as fast as dposv, n = {}",
                    f"{counted}."),
        "spectra_no_factor": ("Without a factor, solves are {} times as fast as dposv, n = {}",
                              f"{counted}.\nHollow markers: conjugate gradients without a preconditioner; "
                              "no factor was made, so the rate can be above the engine's peak."),
    }
    for name, (title, note) in texts.items():
        mine = [(row, cases) for row, cases in rows
                if made_no_factor(cases[-1][1]) == (name == "spectra_no_factor")]
        ratios = [cases[-1][1]["ratio"]["dposv"]["median"] for _, cases in mine]
        if mine:
            figure = draw_panels(paper, mine)
            claim(figure, title.format(range_text(ratios), spaced(largest)), note)
            save(figure, folder, name)


def draw_general(paper, folder):
    """Haidar et al., Fig. 4, and the prediction of their model for our solves."""
    section = paper["general"]
    sizes = sorted({c["n"] for c in section["cases"]})
    figure, axes = plt.subplots(2, 3, figsize=(11.5, 6.6), sharex=True, sharey=True)
    ratios = []
    for axis, row in zip(axes.flat, section["paper"]):
        cases = series(section["cases"], kind=row["kind"])
        if not cases:
            axis.set_visible(False)
            continue
        draw_solves(axis, section, cases, {"kind": row["kind"]}, "dgesv", "dsgesv")
        axis.plot([n for n, _ in cases],
                  [c["rate"]["median"] * c["seconds"] / c["predicted_seconds"] for _, c in cases],
                  ".:", color=BLUE, lw=1.4, ms=7)
        ratios.append(cases[-1][1]["ratio"]["dgesv"]["median"])
        published = f"paper {row['dgesv']:g} ×" if "dgesv" in row else "paper: FP16 fails"
        axis.set_title(f"{row['kind']}  ({row['figure'].split(', ')[1]}: {published})", fontsize=9.5)
    finish_panels(figure, axes, sizes)
    handles = solve_handles(section, "dgesv", "dsgesv")
    handles.insert(2, plt.Line2D([], [], color=BLUE, marker=".", ms=7, ls=":", label="the model, equation 6"))
    legend_below(figure, handles, 3)
    claim(figure, f"General solves are {range_text(ratios)} times as fast as dgesv, n = {spaced(sizes[-1])}",
          "Rates count 2n³/3 + 2n² flop, whatever was computed. Bold: speed-up over OpenBLAS's dgesv.")
    save(figure, folder, "general")


def draw_headline(paper, folder):
    section = paper["spectra"]
    n = max(c["n"] for c in section["cases"])
    bars = [("dposv", BLUE, "OpenBLAS"), ("mkl-dposv", SKY, "oneMKL")]
    bars = [b for b in bars if b[0] in section["sides"]]
    figure, axis = plt.subplots(figsize=(8, 3.9))
    height = 0.76 / len(bars)
    names, ratios = [], []
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
            ratios.append(ratio)
        names.append(text)
    axis.axvline(1, color=DARK, lw=1.2)
    axis.set_yticks([-k - height * (len(bars) - 1) / 2 for k in range(len(names))], names)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="y", visible=False)
    axis.set_xlim(0, max(ratios) * 1.5)
    axis.set_xlabel("times as fast as dposv, both to FP64 accuracy: "
                    f"n = {spaced(n)}, {paper['machine']['threads']} cores")
    legend_below(figure, [plt.Rectangle((0, 0), 1, 1, color=c, label=f"against {t}'s dposv")
                          for _, c, t in bars])
    claim(figure, f"Large systems are solved {range_text(ratios)} times as fast as by dposv")
    save(figure, folder, "headline")

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures and writes the tables for batches of small systems.

    stepwell bench paper --part batch --out results
    stepwell bench batch --n 5,8,16,24,32,48,64,96,100 --json > contest.json
    bench/plot_batch.py docs/performance/batch.json results/paper.json contest.json ...

merges the results of the other files into batch.json, then writes figures/batch_*.svg in the same
directory and the tables of batch.md. Needs matplotlib.
"""
import argparse
import json
import math
import pathlib

from matplotlib.ticker import NullFormatter, NullLocator

from plot_paper import BLUE, DARK, GREEN, GREY, LIGHT, ORANGE, PURPLE, RED, SKY, label_ends, plt, save

TYPES = ("fp32", "fp64")
BEGIN = "<!-- made by bench/plot_batch.py from here -->"
END = "<!-- to here -->"
SIDES = {  # label, colour and line style in the figures
    "ours": ("Stepwell", BLUE, "o-"), "fast": ("Stepwell, fast", SKY, "o--"),
    "mkl-compact": ("oneMKL compact", GREEN, "s-"), "mkl-loop": ("oneMKL loop", ORANGE, "^-"),
    "lapack-loop": ("OpenBLAS loop", GREY, "v-"),
}
PHASES = {"load": SKY, "factor": BLUE, "forward": ORANGE, "backward": RED, "store": GREEN}
BLOCKS = [BLUE, RED, GREEN, ORANGE, PURPLE, SKY, GREY, DARK]


def merge(batch, path):
    """Merges the results of a file of `bench paper` or `bench batch`."""
    news = json.loads(path.read_text(encoding="utf-8"))
    if news.get("bench") == "paper":
        batch["machine"], batch["batch"] = news["machine"], news["batch"]
        return
    keys = ("n", "bytes", "gigabytes_per_second", "copy", "in_place", "error_in_u",
            "baseline_error_in_u", "tuning")
    cases = []
    for case in news["cases"]:
        kept = {key: case[key] for key in keys}
        for side in ("candidate", "baseline"):
            kept[side] = {"name": case[side]["name"], "seconds": case[side]["seconds"],
                          "rate": case[side]["rate"]["median"]}
        kept["ratio"] = {key: case["ratio"][key] for key in ("median", "best", "p10", "windows")}
        if news["against"] == "untuned":  # all orders: the ratios are enough
            kept = {"n": kept["n"], "ratio": kept["ratio"]}
        cases.append(kept)
    name = f"{news['type']} {news['operation']} {news['against']}"
    batch.setdefault("contests", {})[name] = {
        "geometric_mean": news["geometric_mean"], "least": news["least"], "count": news["count"],
        "cases": cases}


def panels(title, ylabel, width=10.5, height=4.3, **options):
    figure, axes = plt.subplots(1, 2, figsize=(width, height), **options)
    for axis, kind in zip(axes, TYPES):
        axis.set_title(f"{title}, {kind}")
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
            for name in close - {first}:
                axis.plot(order["n"], names.index(name), "^", color=RED, ms=3.2, alpha=0.75)
            axis.plot(order["n"], names.index(first), "o", color=BLUE, ms=4.5)
        axis.set_yticks(range(len(names)), names)
        axis.set_ylim(len(names) - 0.5, -0.5)
        axis.set_title(f"Register block of the fastest variant, {kind}")
    axes[1].set_xlabel("order of the matrices n")
    handles = [plt.Line2D([], [], color=BLUE, marker="o", ls="", label="best"),
               plt.Line2D([], [], color=RED, marker="^", ls="", label="within 2 %")]
    figure.legend(handles=handles, loc="upper center", ncol=2, bbox_to_anchor=(0.5, 0.03))
    figure.tight_layout()
    save(figure, folder, "batch_best")


def smoothed(points):
    """The median of five neighbours: these are single runs on a machine with other users."""
    return [(x, sorted(y for _, y in points[max(0, k - 2):k + 3])[len(points[max(0, k - 2):k + 3]) // 2])
            for k, (x, _) in enumerate(points)]


def draw_shapes(batch, folder):
    """Figure 16: the speed of each block relative to the best, with its best prefetch."""
    figure, axes = panels("Speed by register block", "relative to the fastest variant", sharey=True)
    for axis, kind in zip(axes, TYPES):
        sweep = batch[kind]["sweep"]
        for name, colour in zip(shapes(sweep), BLOCKS):
            points = []
            for order in sweep["orders"]:
                mine = max(r for v, r in zip(sweep["variants"], order["rates"]) if shape(v) == name)
                points.append((order["n"], mine / max(order["rates"])))
            points = smoothed(points)
            axis.plot(*zip(*points), color=colour, lw=1.3, label=name)
        axis.set_ylim(top=1.01)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper center", ncol=8,
                  bbox_to_anchor=(0.5, 0.03))
    figure.tight_layout(w_pad=1.5)
    save(figure, folder, "batch_shapes")


def draw_rates(batch, folder, operation, title, name, sides):
    """Gflop/s of an operation by order: figures 18, 21 and 23."""
    figure, axes = panels(title, "Gflop/s", width=11.5)
    for axis, kind in zip(axes, TYPES):
        ends = []
        for side in sides:
            text, colour, style = SIDES[side]
            points = [(row["n"], row[operation][side]) for row in batch[kind]["rates"]
                      if side in row[operation]]
            if points:
                axis.plot(*zip(*points), style, color=colour, ms=4, lw=1.7)
                ends.append((*points[-1], text, colour))
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter(NullFormatter())
        label_ends(axis, ends)
    figure.tight_layout(w_pad=2)
    save(figure, folder, name)


def draw_time(batch, folder):
    """Figure 19: milliseconds of the factorization of the whole batch."""
    figure, axes = panels(f"{batch['count']:,} factorizations".replace(",", " "), "milliseconds",
                          width=11.5)
    for axis, kind in zip(axes, TYPES):
        ends = []
        for side in ("lapack-loop", "mkl-loop", "mkl-compact", "ours"):
            text, colour, style = SIDES[side]
            points = [(r["n"], r["cholesky"]["flops"] / r["cholesky"][side] * 1e-6)
                      for r in batch[kind]["rates"] if side in r["cholesky"]]
            if points:
                axis.plot(*zip(*points), style, color=colour, ms=4, lw=1.7)
                ends.append((*points[-1], text, colour))
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter(NullFormatter())
        label_ends(axis, ends)
    figure.tight_layout(w_pad=2)
    save(figure, folder, "batch_time")


def draw_both(batch, folder):
    """Figures 17 and 20: the gain of fast roots, and the cost of a second triangle."""
    figure, axes = panels("Cholesky", "Gflop/s")
    lines = {"fast": ("fast, one triangle", SKY, "--"), "ours": ("IEEE, one triangle", BLUE, "-"),
             "both-fast": ("fast, both triangles", ORANGE, "--"),
             "both": ("IEEE, both triangles", RED, "-")}
    for axis, kind in zip(axes, TYPES):
        for side, (text, colour, style) in lines.items():
            axis.plot([r["n"] for r in batch[kind]["rates"]],
                      [r["cholesky"][side] for r in batch[kind]["rates"]], style, color=colour,
                      label=text, lw=1.8)
        axis.set_ylim(bottom=0)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper center", ncol=4,
                  bbox_to_anchor=(0.5, 0.03))
    figure.tight_layout(w_pad=1.5)
    save(figure, folder, "batch_both")


def draw_shares(batch, folder):
    """Figure 22: how the time of one pass is distributed."""
    figure, axes = panels("Time of a pass", "fraction", sharey=True)
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
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper center", ncol=5,
                  bbox_to_anchor=(0.5, 0.03))
    figure.tight_layout(w_pad=1.5)
    save(figure, folder, "batch_shares")


def draw_solve(batch, folder):
    """Figure 23: factorization, substitution and the whole solve."""
    figure, axes = panels("Ours", "Gflop/s", width=11.5)
    lines = {"solve": ("solve: x alone", PURPLE), "factor-solve": ("factor and solve", BLUE),
             "cholesky": ("factor", GREEN), "substitute": ("substitute", ORANGE)}
    for axis, kind in zip(axes, TYPES):
        ends = []
        for operation, (text, colour) in lines.items():
            points = [(r["n"], r[operation]["ours"]) for r in batch[kind]["rates"]]
            axis.plot(*zip(*points), "o-", color=colour, ms=4, lw=1.7)
            ends.append((*points[-1], text, colour))
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter(NullFormatter())
        label_ends(axis, ends)
    figure.tight_layout(w_pad=2)
    save(figure, folder, "batch_solve")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def percent(value):
    return f"{100 * value:.0f} %"


def mean_of(*cases):
    """Returns a function that averages the value at a path of keys over all cases."""
    def mean(*keys):
        values = []
        for case in cases:
            for key in keys:
                case = case[key]
            values.append(case)
        return sum(values) / len(values)
    return mean


def contest_tables(contests):
    """One table for each type: both baselines, bytes and limits."""
    text = []
    for kind in TYPES:
        loop = contests.get(f"{kind} factor-solve lapack-loop")
        compact = contests.get(f"{kind} factor-solve mkl-compact")
        if not loop or not compact:
            continue
        rows = []
        for a, b in zip(loop["cases"], compact["cases"]):
            mean = mean_of(a, b)
            rows.append([
                str(a["n"]), f"{1e3 * mean('candidate', 'seconds'):.2f}",
                f"{mean('candidate', 'rate'):.1f}",
                f"**{a['ratio']['median']:.1f}** ({a['ratio']['p10']:.1f})",
                f"**{b['ratio']['median']:.2f}** ({b['ratio']['p10']:.2f})",
                f"{mean('gigabytes_per_second'):.0f}", percent(mean("copy", "share")),
                percent(mean("in_place", "share")), f"{a['error_in_u']:.1f}",
                f"{a['baseline_error_in_u']:.1f}"])
        text += [f"**{kind}**, {loop['count']:,} systems, one right-hand side:\n",
                 table(["n", "ms", "Gflop/s", "speed-up over LAPACK loop",
                        "speed-up over oneMKL compact", "GB/s", "relative to a copy",
                        "relative to an in-place pass", "error, u", "LAPACK's"], rows),
                 f"\nGeometric means: {loop['geometric_mean']:.2f} times the speed of the loop (at least "
                 f"{loop['least']:.2f}), {compact['geometric_mean']:.2f} times the speed of oneMKL's "
                 f"compact routines (at least {compact['least']:.2f}).\n"]
    return "\n".join(text)


def tuned_table(contests):
    rows = []
    for kind in TYPES:
        contest = contests.get(f"{kind} factor-solve untuned")
        if contest:
            ratios = sorted(c["ratio"]["median"] for c in contest["cases"])
            rows.append([kind, str(len(ratios)), f"{contest['geometric_mean']:.3f}",
                         f"{ratios[0]:.2f}", f"{ratios[-1]:.2f}"])
    return table(["", "orders", "speed-up of tuned over untuned, geometric mean", "smallest", "largest"], rows)


def write_page(batch, path):
    page = path.read_text(encoding="utf-8")
    parts = {"contests": contest_tables(batch.get("contests", {})),
             "tuned": tuned_table(batch.get("contests", {}))}
    for name, text in parts.items():
        begin = BEGIN.replace("made", f"{name}, made")
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(END)
        if rest and text:
            page = f"{before}{begin}\n{text}\n{END}{after}"
    path.write_text(page, encoding="utf-8")


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
    draw_rates(batch, folder, "cholesky", "Cholesky", "batch_cholesky", sides)
    draw_rates(batch, folder, "substitute", "Substitution", "batch_substitute",
               ("ours", "mkl-compact", "mkl-loop", "lapack-loop"))
    draw_rates(batch, folder, "factor-solve", "Factor and solve", "batch_factor_solve", sides)
    draw_time(batch, folder)
    draw_both(batch, folder)
    draw_shares(batch, folder)
    draw_solve(batch, folder)


def dump(value, indent=""):
    """JSON with indentation, except for values that fit on one line."""
    line = json.dumps(value)
    if len(indent) + len(line) <= 118 or not isinstance(value, (dict, list)) or (
            isinstance(value, list) and not any(isinstance(v, (dict, list)) for v in value)):
        return line + ("\n" if not indent else "")
    inner = indent + " "
    if isinstance(value, dict):
        items = [f"{inner}{json.dumps(k)}: {dump(v, inner)}" for k, v in value.items()]
        text = "{\n" + ",\n".join(items) + "\n" + indent + "}"
    else:
        text = "[\n" + ",\n".join(inner + dump(v, inner) for v in value) + "\n" + indent + "]"
    return text + ("\n" if not indent else "")


if __name__ == "__main__":
    main()

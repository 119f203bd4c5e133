#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures and writes the tables of the scaling study.

    bench/scaling/plot_scaling.py docs/performance/scaling.json

writes figures/scaling_*.svg in the directory of the file and the tables of scaling.md. study.py
calls it. Needs matplotlib.
"""
import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from plot_style import (BLUE, GREEN, GREY, ORANGE, PURPLE, RED, claim, label_ends, legend_below, plt,  # noqa: E402
                        save, size_axis, spaced)

from study import NODES, ONE_WINDOW, SIZES, on_weak_line  # noqa: E402

TITLES = {"amx": "AMX nodes, 100 Tflop/s, 25 GB/s", "gpu": "GPU nodes, 1 Pflop/s, 100 GB/s"}
RATE = {"amx": 100e12, "gpu": 1e15}
COLOURS = (BLUE, RED, GREEN, ORANGE, PURPLE)
BEGIN, END = "<!-- made by bench/scaling/plot_scaling.py from here -->", "<!-- to here -->"


def pick(cases, asked=None, **what):
    """The fastest of the matching cases, that is, the one with the best tile order."""
    found = [c for c in cases if c["asked"] == (asked or {})
             and all(c[k] == v for k, v in what.items())]
    return min(found, key=lambda c: c["seconds"], default=None)


def draw_strong(cases, folder):
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.8))
    for axis, platform in zip(axes, TITLES):
        ends = []
        for n, colour in zip(SIZES, COLOURS):
            line = [(p, c["seconds"]) for p in NODES["grid"]
                    if (c := pick(cases, platform=platform, n=n, ranks=p))]
            symmetric = [(p, c["seconds"]) for p in NODES["symmetric"]
                         if (c := pick(cases, platform=platform, n=n, ranks=p))]
            axis.plot(*zip(*line), "o-", color=colour)
            if symmetric:
                axis.plot(*zip(*symmetric), "x", color=colour, ms=6, mew=1.6)
            axis.plot(*zip(*[(p, n**3 / 3 / p / RATE[platform]) for p, _ in line]), "--",
                      color=colour, alpha=0.5, linewidth=1, zorder=1)
            ends.append((*line[-1], f"n = {spaced(n)}", colour))
        size_axis(axis, NODES["grid"], "nodes")
        axis.set_yscale("log")
        axis.set_title(TITLES[platform])
        axis.set_ylim(bottom=min(y for _, y, _, _ in ends) / 4)
        label_ends(axis, ends)
    axes[0].set_ylabel("seconds to factor, simulated")
    figure.subplots_adjust(wspace=0.42)
    legend_below(figure, [
        plt.Line2D([], [], color=GREY, marker="o", label="grid of nodes"),
        plt.Line2D([], [], color=GREY, marker="x", ms=6, mew=1.6, ls="", label="symmetric layout"),
        plt.Line2D([], [], color=GREY, ls="--", lw=1, label="n³/3 flop at the nodes' product rate")])
    claim(figure, "Simulated: the smaller the system, the sooner more nodes stop helping",
          "No cluster was used: the library's task graph is replayed with given kernel times and networks.")
    save(figure, folder, "scaling_strong")


def draw_weak(cases, folder):
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True)
    lines = (("library default", {}, BLUE, "o-"),
             ("all columns in one window", ONE_WINDOW, GREEN, "s-"),
             ("one message to each reader", {"fan-out": "direct"}, RED, "^--"))
    for axis, platform in zip(axes, TITLES):
        for name, asked, colour, style in lines:
            points = [(p, 100 * c["efficiency"]) for n in SIZES for p in NODES["grid"]
                      if on_weak_line(n, p)
                      and (c := pick(cases, platform=platform, n=n, ranks=p, asked=asked))]
            axis.plot(*zip(*points), style, color=colour, label=name)
        bound = [(p, 100 * best(c)) for n in SIZES for p in NODES["grid"] if on_weak_line(n, p)
                 and (c := pick(cases, platform=platform, n=n, ranks=p))]
        axis.plot(*zip(*bound), ":", color=GREY, label="limit by the lower bounds")
        size_axis(axis, NODES["grid"], "nodes; n = 32 768 times their square root")
        axis.set_title(TITLES[platform])
        axis.set_ylim(0, 100)
    axes[0].set_ylabel("% of the nodes' product rate, simulated")
    figure.tight_layout(w_pad=2)
    legend_below(figure, axes[1].get_legend_handles_labels()[0])
    claim(figure, "Simulated: with the same memory on each node, more nodes are less efficient",
          "No cluster was used: the library's task graph is replayed with given kernel times and networks.")
    save(figure, folder, "scaling_weak")


def best(case):
    return case["efficiency"] * case["seconds"] / max(case["bounds"].values())


def number(seconds):
    return f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}" if seconds < 100 else f"{seconds:.0f}"


def strong_table(cases, platform):
    yield f"**{TITLES[platform]}**: seconds to factor (% of the product rate), grid"
    yield ""
    yield "| n | " + " | ".join(f"{p:,} nodes" for p in NODES["grid"]) + " |"
    yield "|---|" + "---|" * len(NODES["grid"])
    for n in SIZES:
        row = []
        for p in NODES["grid"]:
            c = pick(cases, platform=platform, n=n, ranks=p)
            row.append(f"{number(c['seconds'])} ({100 * c['efficiency']:.0f})" if c else "")
        yield f"| {n:,} | " + " | ".join(row) + " |"
    yield ""


def why_table(cases, platform):
    yield f"**{TITLES[platform]}**, the same memory on each node"
    yield ""
    yield ("| n, nodes, tile | seconds | compute, network, panel | GB a node: L, sums, rows, received | "
           "symmetric | one window: seconds, GB | an iteration: kept, regenerated |")
    yield "|---|---|---|---|---|---|---|"
    for n in SIZES:
        for p, sym in zip(NODES["grid"], NODES["symmetric"]):
            c = pick(cases, platform=platform, n=n, ranks=p)
            if not on_weak_line(n, p) or not c:
                continue
            b, m, r = c["bounds"], c["memory"], c["refinement"]
            other = pick(cases, platform=platform, n=n, ranks=sym)
            one_window = pick(cases, platform=platform, n=n, ranks=p, asked=ONE_WINDOW)
            one = r["reduction"] + r["sweeps"]
            yield (f"| {n:,}, {p:,}, {c['tile']} | {number(c['seconds'])} | "
                   f"{number(b['compute'])}, {number(b['network'])}, {number(b['panel'])} | "
                   f"{m['factor'] / 1e9:.1f}, {m['sums'] / 1e9:.1f}, "
                   f"{m['rows'] / 1e9:.1f}, {m['received'] / 1e9:.1f} | "
                   f"{number(other['seconds'])} on {sym:,}, "
                   f"{c['bytes'] / c['ranks'] / (other['bytes'] / other['ranks']):.2f}x fewer bytes | "
                   f"{number(one_window['seconds'])}, {one_window['memory']['all'] / 1e9:.1f} | "
                   f"{one + r['product_kept']:.3f}, {one + r['product_regenerated']:.3f} |")
    yield ""


def panel_table(cases):
    yield "| n, nodes, tile | one core | all cores of a node | panel: before, after |"
    yield "|---|---|---|---|"
    for c in cases:
        if c["platform"] != "amx_panel":
            continue
        before = pick(cases, platform="amx", n=c["n"], ranks=c["ranks"], tile=c["tile"])
        yield (f"| {c['n']:,}, {c['ranks']:,}, {c['tile']} | {number(before['seconds'])} s, "
               f"{100 * before['efficiency']:.0f} % | {number(c['seconds'])} s, "
               f"{100 * c['efficiency']:.0f} % | {number(before['bounds']['panel'])}, "
               f"{number(c['bounds']['panel'])} s |")
    large = pick(cases, platform="gpu", n=2 * SIZES[-1], ranks=1024)
    if large:
        yield (f"| GPU: {large['n']:,}, 1,024, {large['tile']} | {number(large['seconds'])} s, "
               f"{100 * large['efficiency']:.0f} % | | {number(large['bounds']['panel'])} s; compute "
               f"{number(large['bounds']['compute'])}, network {number(large['bounds']['network'])} |")


def engines_table(cases):
    yield "| n, nodes, tile | event loop | SimGrid | ratio |"
    yield "|---|---|---|---|"
    for c in cases:
        if c["engine"] != "simgrid":
            continue
        other = pick(cases, platform=c["platform"], n=c["n"], ranks=c["ranks"], tile=c["tile"])
        yield (f"| {c['n']:,}, {c['ranks']}, {c['tile']} | {number(other['seconds'])} | "
               f"{number(c['seconds'])} | {c['seconds'] / other['seconds']:.2f} |")


def compare_table(results):
    yield "| n | ranks x workers | real: median, best | SimGrid: median | SimGrid / real |"
    yield "|---|---|---|---|---|"
    for run in results.get("compare", []):
        for c in run["cases"]:
            yield (f"| {run['n']} | {c['ranks']} x {c['threads']} | {c['real']:.3f}, "
                   f"{c['real_best']:.3f} s | {c['simulated']:.3f} s | {c['ratio']:.2f} "
                   f"({min(c['ratios']):.2f} to {max(c['ratios']):.2f}) |")


def replace(page, name, lines):
    """Replaces the lines between the marks of a table."""
    begin = page.index(BEGIN.replace("from here", f"from here: {name}"))
    end = page.index(END, begin)
    head = page[begin:page.index("\n", begin) + 1]
    return page[:begin] + head + "\n" + "\n".join(lines).rstrip() + "\n\n" + page[end:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    o = parser.parse_args()
    results = json.loads(o.results.read_text(encoding="utf-8"))
    cases = list(results["cases"].values())
    folder = o.results.parent / "figures"
    draw_strong(cases, folder)
    draw_weak(cases, folder)
    path = o.results.parent / "scaling.md"
    page = path.read_text(encoding="utf-8")
    page = replace(page, "times", [line for p in TITLES for line in strong_table(cases, p)])
    page = replace(page, "reasons", [line for p in TITLES for line in why_table(cases, p)])
    page = replace(page, "panel", panel_table(cases))
    page = replace(page, "engines", engines_table(cases))
    page = replace(page, "real runs", compare_table(results))
    path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the accuracy table and plot from the output of bench/accuracy.sh.

    bench/plot_accuracy.py accuracy.jsonl docs/performance/accuracy

writes docs/performance/accuracy.svg and prints the table in Markdown. Needs matplotlib.
"""
import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

matplotlib.rcParams["svg.hashsalt"] = "stepwell"  # the same file for the same numbers

# Families of maps, coarse to fine: neighbours in a family are neighbours in error.
FAMILIES = {
    "fp16": ["fp16", "fp16,fp16,fp16,fp16,fp16,fp32", "fp16,fp16,fp16,fp32", "fp16,fp32", "fp32"],
    "bf16": ["bf16", "bf16,bf16,bf16,bf16,bf16,fp32", "bf16,bf16,bf16,fp32", "bf16,fp32", "fp32"],
    "bf16x2": ["bf16x2", "bf16x2,bf16x2,bf16x2,bf16x3", "bf16x2,bf16x3", "bf16x3"],
    "fp64": ["fp32", "fp32,fp32,fp32,fp64", "fp64"],
}


def short(name):
    """fp16,fp16,fp16,fp32 -> [fp16 x 3, fp32]"""
    rungs = name.split(",")
    if len(rungs) == 1:
        return name
    parts = []
    for rung in rungs:
        if parts and parts[-1][0] == rung:
            parts[-1][1] += 1
        else:
            parts.append([rung, 1])
    return "[" + ", ".join(r if k == 1 else f"{r} x {k}" for r, k in parts) + "]"


def read(path):
    runs = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            run = json.loads(line)
            runs[run["map"], run["n"]] = run
    return runs


def print_table(runs, sizes):
    print("| map | " + " | ".join(f"n = {n}" for n in sizes) + " |")
    print("|---|" + "---|" * len(sizes))
    maps = dict.fromkeys(m for family in FAMILIES.values() for m in family)
    for name in maps:
        cells = []
        for n in sizes:
            run = runs.get((name, n))
            if run is None:
                cells.append("")
                continue
            error = run["error"]
            cells.append(f"{error['residual']:.1e} / {error['factor']:.1e} / "
                         f"{run['candidate']['seconds']:.3g} s")
        print(f"| `{short(name)}` | " + " | ".join(cells) + " |")


def print_order(runs, sizes):
    """Says where a layered map does not lie between its neighbours. Errors within 2 % and times
    within 10 % count as equal: the maps hardly differ on few tiles, and machines are noisy."""
    wrong = 0
    for family in FAMILIES.values():
        for coarse, fine in zip(family, family[1:]):
            for n in sizes:
                if (coarse, n) not in runs or (fine, n) not in runs:
                    continue
                a, b = runs[coarse, n], runs[fine, n]
                if not b["error"]["residual"] <= 1.02 * a["error"]["residual"]:
                    wrong += 1
                    print(f"error: {short(fine)} above {short(coarse)} at n = {n}")
                if not b["candidate"]["seconds"] >= 0.9 * a["candidate"]["seconds"]:
                    wrong += 1
                    print(f"time: {short(fine)} below {short(coarse)} at n = {n}: "
                          f"{b['candidate']['seconds']:.3g} < {a['candidate']['seconds']:.3g} s")
    print(f"{wrong} pair(s) out of order")


def plot(runs, sizes, path):
    figure, axes = plt.subplots(1, 2, figsize=(11, 5))
    n = sizes[-1]
    styles = {"fp16": "o-", "bf16": "s-", "bf16x2": "^-", "fp64": "d-"}
    for name, family in FAMILIES.items():
        points = [runs[m, n] for m in family if (m, n) in runs]
        axes[0].loglog([p["candidate"]["seconds"] for p in points],
                       [p["error"]["residual"] for p in points], styles[name], label=name)
        for p in points:
            axes[0].annotate(short(p["map"]), (p["candidate"]["seconds"], p["error"]["residual"]),
                             fontsize=6, xytext=(3, 3), textcoords="offset points")
    axes[0].set_xlabel(f"seconds at n = {n}")
    axes[0].set_ylabel("||A - LL'|| / ||A||")
    axes[0].legend(title="family")
    for name in ["fp64", "fp32", "bf16x3", "bf16x2", "fp16", "fp16,fp32", "bf16", "bf16,fp32"]:
        have = [k for k in sizes if (name, k) in runs]
        axes[1].loglog(have, [runs[name, k]["error"]["factor"] for k in have], ".-",
                       label=short(name))
    axes[1].set_xlabel("n")
    axes[1].set_ylabel("||L - L64|| / ||L64||")
    axes[1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path + ".svg", metadata={"Date": None})


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    runs = read(sys.argv[1])
    sizes = sorted({n for _, n in runs})
    print_table(runs, sizes)
    print()
    print_order(runs, sizes)
    plot(runs, sizes, sys.argv[2])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Computes the ranges of orders of the shipped tuning table (src/batched/tuning.cpp) from sweeps.

    stepwell bench paper --part batch --out results
    stepwell tune batch --dry-run --json > sweep.json
    bench/batch_table.py results/paper.json sweep.json

prints, for each format, a table with few ranges that is nearly as fast as the best variant of every
order, and how much slower it is. The speed of a variant at an order is relative to that of the
fastest variant in the same file, averaged over the files.
"""
import json
import math
import sys

LARGEST = 128  # the largest order of a batch
RANGE_COSTS = 0.1  # one more range costs as much as 10 % at one order: smaller gains are noise


def add(speeds, kind, n, variants, rates):
    best = max(rates)
    for variant, rate in zip(variants, rates):
        speeds.setdefault(kind, {}).setdefault(n, {}).setdefault(tuple(variant), []).append(rate / best)


def read(path, speeds):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    if data.get("tune") == "batch":
        for order in data["orders"]:
            add(speeds, order["type"], order["n"], [v[:4] for v in order["variants"]],
                [v[5] for v in order["variants"]])
        return
    for kind in ("fp32", "fp64"):
        sweep = data["batch"][kind]["sweep"]
        for order in sweep["orders"]:
            add(speeds, kind, order["n"], sweep["variants"], order["rates"])


def losses(orders):
    """By order and variant: the logarithm of the ratio of the best speed to the variant's speed."""
    result = {}
    for n, variants in orders.items():
        mean = {v: sum(r) / len(r) for v, r in variants.items()}
        best = max(mean.values())
        result[n] = {v: math.log(best / m) for v, m in mean.items()}
    return result


def cheapest(loss):
    """[(last order, variant)] by dynamic programming over the ends of the ranges."""
    orders = sorted(loss)
    variants = sorted(loss[orders[0]])
    best = [(0.0, [])]
    for end in range(1, len(orders) + 1):
        found = None
        sums = dict.fromkeys(variants, 0.0)
        for start in range(end - 1, -1, -1):
            for v in variants:
                sums[v] += loss[orders[start]].get(v, math.inf)
            v = min(variants, key=sums.get)
            cost = best[start][0] + sums[v] + RANGE_COSTS
            if found is None or cost < found[0]:
                found = (cost, best[start][1] + [(orders[end - 1], v)])
        best.append(found)
    return best[-1][1]


def main():
    speeds = {}
    for path in sys.argv[1:]:
        read(path, speeds)
    for kind, orders in speeds.items():
        loss = losses(orders)
        ranges = cheapest(loss)
        chosen = {}
        for n in sorted(loss):
            chosen[n] = next(loss[n][v] for last, v in ranges if n <= last)
        worst = max(chosen, key=chosen.get)
        print(f"{kind}: {len(ranges)} ranges, on average {100 * sum(chosen.values()) / len(chosen):.1f} % "
              f"slower than the best, at most {100 * chosen[worst]:.1f} % (n = {worst})")
        ranges[-1] = (LARGEST, ranges[-1][1])
        print("    {" + ", ".join(f"{{{last}, {{{', '.join(map(str, v))}}}}}" for last, v in ranges) + "}")
        total = {v: sum(loss[n][v] for n in loss) / len(loss) for v in next(iter(loss.values()))}
        for v in sorted(total, key=total.get)[:3]:
            print(f"    {v} alone: {100 * total[v]:.1f} % slower than the best")


if __name__ == "__main__":
    main()

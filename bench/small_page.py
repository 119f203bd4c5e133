#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Measures systems of order 50 to 4096 and writes docs/performance/small.md.

    python3 bench/small_page.py --stepwell build/release/bin/stepwell [--mkl DIR] -o docs/performance/small.md
"""

import argparse
import json
import statistics
import subprocess

SIZES = "50,100,200,300,400,512,640,768,896,1024,1500,2048,3000,4096"

KINDS = [
    ("Arithmetic spectrum, condition 1e2", "dposv", ["--kind", "arithmetic", "--cond", "1e2"]),
    ("Geometric spectrum, condition 1e5", "dposv", ["--kind", "geometric", "--cond", "1e5"]),
    ("Matern covariance, length 0.3, nugget 1e-4", "dposv",
     ["--kind", "matern", "--length", "0.3", "--nugget", "1e-4"]),
    ("General, positive arithmetic singular values", "dgesv",
     ["--kind", "positive-arithmetic", "--cond", "1e2"]),
    ("General, normally distributed elements", "dgesv", ["--kind", "randn"]),
]

HEAD = """# Systems of order 50 to 4096

Written by `python3 bench/small_page.py` on {host}. One right-hand side, default options, {threads} threads on both sides,
medians of {pairs} rounds in which the sides alternate, each starting when the threads of the others sleep. Ratios are the
baseline's time divided by ours, with the middle half of the rounds; the path is the map, the refiner and its iterations.
"""


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def ratio(pairs):
    low, middle, high = statistics.quantiles(pairs, n=4, method="inclusive")
    return f"**{middle:.2f}** ({low:.2f}-{high:.2f})"


def section(title, options, found, sides):
    lines = [f"\n## {title}\n", f"`stepwell bench solve {' '.join(options)} --n {SIZES} --against {','.join(sides)}`\n"]
    lines.append("| n | ours, ms | " + " | ".join(f"{s}, ms | ratio" for s in sides) + " | path |")
    lines.append("|---" * (3 + 2 * len(sides)) + "|")
    for row in found["rows"]:
        cells = [str(row["n"]), f"{1e3 * row['seconds']:.3g}"]
        for side in sides:
            against = row["against"][side]
            cells += [f"{1e3 * against['seconds']:.3g}", ratio(against["ratio"]["pairs"])]
        lines.append("| " + " | ".join(cells + [row["path"]]) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stepwell", required=True, help="the command")
    parser.add_argument("--mkl", help="directory of libmkl_rt.so: compare with oneMKL, too")
    parser.add_argument("--pairs", type=int, default=9, help="rounds")
    parser.add_argument("-o", "--output", required=True, help="the page")
    args = parser.parse_args()
    machine = run([args.stepwell, "doctor", "--json"])
    blas = machine["blas"]
    host = f"{machine['cpu_model']} ({machine['isa']}), {blas['library']} {blas['version']} with kernels for {blas['core_name']}"
    parts = []
    threads = 0
    for title, lapack, options in KINDS:
        sides = [lapack] + ([f"mkl-{lapack}"] if args.mkl else [])
        command = [args.stepwell, "bench", "solve", *options, "--n", SIZES, "--pairs", str(args.pairs), "--json"]
        command += ["--against", ",".join(sides)] + (["--mkl", args.mkl] if args.mkl else [])
        found = run(command)
        threads = found["threads"]
        parts.append(section(title, options, found, sides))
        print(parts[-1], flush=True)
    with open(args.output, "w", encoding="utf-8") as page:
        page.write(HEAD.format(host=host, threads=threads, pairs=args.pairs) + "".join(parts))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Simulates machines of 1 to 128 cores and writes docs/performance/many_cores.md.

    python3 bench/many_cores_page.py --stepwell build/release/bin/stepwell -o docs/performance/many_cores.md
"""

import argparse
import json
import subprocess

SIZES = "2048,4096,8192,16384,32768,65536"
CORES = "1,2,4,8,16,32,64,128"

# What a core of such a machine does in FP64 with oneMKL, and the part of it that many cores keep.
MKL_RATE = 70e9
MKL_EFFICIENCY = 0.8

HEAD = """# Machines with many cores, simulated

Written by `python3 bench/many_cores_page.py` on {host}. **Simulated**: this machine has {threads} cores. The real task graphs are
inserted and replayed for 1 to 128 cores with the times of their tasks on one core here; refinement is computed from the time
of an iteration on one core, the bytes that it reads, and the chain of substitution ([how](../bench.md#a-machine-with-many-cores-node)).
One socket is assumed, with {bandwidth:.0f} GB/s from memory and {cache:.0f} MB of shared cache; cores are as fast together as
one alone, and there are no NUMA nodes. One right-hand side, bf16 factor, {iterations} iterations.

'of ideal' is the time of one core, divided by that of all and by their number. The limit is what the time can't be below: all
cores, the longest chain of tasks that wait for each other, the insertion of tasks, or memory; of the factor, then of an
iteration. The column of oneMKL assumes {rate:.0f} Gflop/s a core in FP64, of which {efficiency:.0f} % are left with many cores at any
size; its own times were not measured on such a machine.
"""


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def section(title, routine, flops, rows):
    lines = [f"\n## {title}\n"]
    lines.append(f"| n | cores | factor, ms | of ideal | limit | solve, ms | of ideal | limit | {routine}, ms | ratio |")
    lines.append("|---" * 10 + "|")
    for row in rows:
        baseline = flops(row["n"]) / (MKL_RATE * (MKL_EFFICIENCY if row["workers"] > 1 else 1) * row["workers"])
        cells = [row["n"], row["workers"], f"{1e3 * row['factor_seconds']:.3g}",
                 f"{100 * row['factor_share_of_ideal']:.0f} %", row["factor_limit"],
                 f"{1e3 * row['solve_seconds']:.3g}", f"{100 * row['solve_share_of_ideal']:.0f} %",
                 row["iteration_limit"], f"{1e3 * baseline:.3g}", f"{baseline / row['solve_seconds']:.1f}"]
        lines.append("| " + " | ".join(str(c) for c in cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stepwell", required=True, help="the command")
    parser.add_argument("--sizes", default=SIZES, help="orders, separated by commas")
    parser.add_argument("--cores", default=CORES, help="numbers of cores, separated by commas")
    parser.add_argument("--bandwidth", type=float, default=300, help="GB/s from memory, of all cores together")
    parser.add_argument("--cache", type=float, default=105, help="MB of shared cache")
    parser.add_argument("--iterations", type=int, default=8, help="of refinement")
    parser.add_argument("-o", required=True, help="the page")
    options = parser.parse_args()

    settings = ["--n", options.sizes, "--workers", options.cores, "--bandwidth", str(options.bandwidth), "--cache",
              str(options.cache), "--iterations", str(options.iterations), "--json"]
    machine = run([options.stepwell, "doctor", "--json"])
    host = f"{machine['cpu_model']} ({machine['isa']})"
    page = HEAD.format(host=host, threads=machine["threads"], bandwidth=options.bandwidth, cache=options.cache,
                       iterations=options.iterations, rate=MKL_RATE / 1e9, efficiency=100 * MKL_EFFICIENCY)
    for title, op, routine, flops in [
            ("Symmetric positive definite: Cholesky", "cholesky", "dposv", lambda n: n ** 3 / 3),
            ("General: LU", "lu", "dgesv", lambda n: 2 * n ** 3 / 3)]:
        found = run([options.stepwell, "bench", "node", "--op", op] + settings)
        page += section(title, routine, flops, found["rows"])
    with open(options.o, "w", encoding="utf-8") as out:
        out.write(page)


if __name__ == "__main__":
    main()

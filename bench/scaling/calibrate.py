#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the rates of one worker in runs of the real factorization.

    bench/scaling/calibrate.py build/bin --n 8192 --tiles 512,1024,2048 > rates.json

Runs stepwell_distributed_run on one rank and divides the work of each phase by its best time.
"""
import argparse
import json
import subprocess


def work(n, tile):
    """Flops of each phase (elements for load and reorder), if all tiles are full."""
    t = n // tile
    off, pairs = t * (t - 1) // 2, t * (t - 1) * (t - 2) // 6
    return {"product": 2 * tile**3 * (pairs + off / 2), "diagonal": t * tile**3 / 3,
            "solve": off * tile**3, "load": tile**2 * (off + t / 2), "reorder": tile**2 * off}


PHASES = {"product": "update", "diagonal": "diagonal", "solve": "solve", "load": "load",
          "reorder": "reorder"}


def rates(report, pick=min):
    """The rates in the runs of a report; pick selects the time of a phase among the runs."""
    n, tile = report["n"], report["tile"]
    result = {"rung": report["map"], "tile": tile}
    for phase, flops in work(n, tile).items():
        result[phase] = flops / pick(run[PHASES[phase]] for run in report["runs"])
    return result


def distributed_run(folder, ranks, threads, n, tile, map_name="bf16", runs=1, before=()):
    command = [*before, "mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks),
               f"{folder}/stepwell_distributed_run", "--n", str(n), "--tile", str(tile),
               "--threads", str(threads), "--map", map_name, "--runs", str(runs)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="directory of the programs")
    parser.add_argument("--n", type=int, default=8192)
    parser.add_argument("--tiles", default="512,1024,2048")
    parser.add_argument("--maps", default="bf16")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--before", default="",
                        help="prefix of the mpirun command, for example 'nice -n -5'")
    o = parser.parse_args()
    found = [rates(distributed_run(o.folder, 1, o.threads, o.n, int(tile), name, o.runs,
                              o.before.split()))
             for name in o.maps.split(",") for tile in o.tiles.split(",")]
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

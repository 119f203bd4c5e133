#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Whole solves over ranks against ScaLAPACK's pdposv on the same ranks, turn by turn.

    OPENBLAS_CORETYPE=SKYLAKEX bench/scalapack/against.py build/bin --n 16384 --ranks 2 --pairs 5

Prints JSON with the median, best and p10 of the ratio of a pair's times, pdposv's by ours. Making A
counts for neither. Both have one BLAS thread a rank, and ranks that wait give up their core: with
Open MPI's usual waiting pdposv takes several times as long on a busy machine.
"""
import argparse
import json
import os
import statistics
import subprocess


def launch(o, command):
    full = [*o.before.split(), "mpirun", "--oversubscribe", "--bind-to", "none", "--mca",
            "mpi_yield_when_idle", "1", "-n", str(o.ranks), *command]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(full, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


def ours(o):
    command = [o.stepwell or f"{o.folder}/stepwell", "solve", "--gen", o.kind, "--n", str(o.n),
               "--cond", str(o.cond), "--threads", str(o.threads), "--json"]
    if o.map:
        command += ["--map", o.map]
    certificate = launch(o, command)["certificate"]
    if certificate["outcome"] != "converged":
        raise SystemExit(f"ours did not converge: {certificate['reason']}")
    return certificate


def pdposv(o):
    result = launch(o, [f"{o.folder}/stepwell_pdposv", "--n", str(o.n), "--nb", str(o.nb), "--rows",
                        str(o.rows), "--kind", o.kind, "--cond", str(o.cond)])
    if result["warning"]:
        raise SystemExit(f"no baseline: {result['warning']}")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="where the programs are")
    parser.add_argument("--stepwell", help="the command, if it is elsewhere")
    parser.add_argument("--n", type=int, default=8192)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="workers of a rank of ours")
    parser.add_argument("--kind", default="arithmetic")
    parser.add_argument("--cond", type=float, default=100)
    parser.add_argument("--map", help="precision map; default: the ladder's")
    parser.add_argument("--nb", type=int, default=128, help="pdposv's block")
    parser.add_argument("--rows", type=int, default=0, help="of pdposv's grid of processes")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--before", default="", help="what goes before mpirun, as 'nice -n -5'")
    o = parser.parse_args()
    mine, theirs = [], []
    for pair in range(o.pairs):
        for side in ((ours, mine), (pdposv, theirs))[:: 1 if pair % 2 == 0 else -1]:
            side[1].append(side[0](o))
    seconds = [c["seconds"]["wall"] for c in mine]
    baseline = [r["seconds"][0] for r in theirs]
    ratios = sorted(b / s for s, b in zip(seconds, baseline))
    print(json.dumps({
        "bench": "solve", "against": "pdposv", "n": o.n, "ranks": o.ranks, "kind": o.kind,
        "condition": o.cond, "nb": o.nb, "grid": theirs[0]["grid"], "blas": theirs[0]["blas"],
        "core": theirs[0]["core"], "seconds": seconds, "baseline_seconds": baseline,
        "ratio": {"median": statistics.median(ratios), "best": ratios[-1],
                  "p10": ratios[int(0.1 * len(ratios))], "pairs": len(ratios)},
        "map": mine[-1]["map"], "iterations": mine[-1]["iterations"],
        "backward_error": max(c["backward_error"] for c in mine),
        "baseline_backward_error": max(r["backward_error"] for r in theirs)}, indent=1))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Compares real runs on this machine with SimGrid's prediction of their time.

    bench/scaling/compare.py build/bin --n 8192 --rounds 7 > compare.json

Each round runs 1, 2 and 4 ranks one after the other. The machine changes its speed from run to run,
so the rates of a worker are taken from the run itself; everything else is compared: waiting,
messages, ranks on the same cores. Where there are more workers than cores, a task's time is the
wall-clock time multiplied by the fraction of it that the process was running.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

from calibrate import PHASES, distributed_run, rates


def own_rates(report, run, shared):
    found = rates(report | {"runs": [run]})
    if shared:
        clock = sum(run[phase] for phase in PHASES.values())
        for phase in PHASES:
            found[phase] *= max(1, clock / run["cpu"])
    return found


def simulate(folder, ranks, threads, o, measured):
    """SimGrid's seconds: one host with the machine's cores and all the ranks."""
    platform = {"name": "here", "workers": threads, "ranks_per_host": ranks, "cores": o.cores,
                "bandwidth": o.bandwidth, "latency": o.latency, "task_seconds": o.task_seconds,
                "rates": [measured]}
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch, "platform.json")
        path.write_text(json.dumps(platform), encoding="utf-8")
        command = [f"{folder}/stepwell_scaling", "--platform", str(path), "--n", str(o.n),
                   "--tile", str(o.tile), "--ranks", str(ranks), "--engine", "simgrid"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="directory of the programs")
    parser.add_argument("--n", type=int, default=8192)
    parser.add_argument("--tile", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--bandwidth", type=float, default=5e9,
                        help="bandwidth of messages between ranks of this machine, bytes/s")
    parser.add_argument("--latency", type=float, default=5e-5)
    parser.add_argument("--task-seconds", type=float, default=2e-5)
    parser.add_argument("--before", default="",
                        help="prefix of the mpirun command, for example 'nice -n -5'")
    parser.add_argument("--into", type=pathlib.Path,
                        help="the study's file, to which the result is added")
    o = parser.parse_args()
    shapes = [(1, o.cores), (2, max(1, o.cores // 2)), (4, max(1, o.cores // 4))]
    found = {ranks: [] for ranks, _ in shapes}
    for _ in range(o.rounds):
        for ranks, threads in shapes:
            # The first run warms up.
            report = distributed_run(o.folder, ranks, threads, o.n, o.tile, runs=3,
                                before=o.before.split())
            for one in report["runs"][1:]:
                measured = own_rates(report, one, ranks * threads > o.cores)
                found[ranks].append({
                    "real": one["seconds"],
                    "simulated": simulate(o.folder, ranks, threads, o, measured)})
    result = {"n": o.n, "tile": o.tile, "rounds": o.rounds, "cases": []}
    for ranks, threads in shapes:
        cases = found[ranks]
        ratios = sorted(c["simulated"] / c["real"] for c in cases)
        result["cases"].append({
            "ranks": ranks, "threads": threads,
            "real": statistics.median(c["real"] for c in cases),
            "real_best": min(c["real"] for c in cases),
            "simulated": statistics.median(c["simulated"] for c in cases),
            "simulated_best": min(c["simulated"] for c in cases),
            "ratio": statistics.median(ratios), "ratios": ratios})
    print(json.dumps(result, indent=1))
    if o.into:
        study = json.loads(o.into.read_text(encoding="utf-8"))
        others = [c for c in study.get("compare", []) if c["n"] != o.n]
        study["compare"] = sorted([*others, result], key=lambda c: c["n"])
        o.into.write_text(json.dumps(study, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

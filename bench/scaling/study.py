#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""The scaling study: how long a factorization takes on 3 to 1,035 nodes, by simulation.

    bench/scaling/study.py build/bin docs/performance/scaling.json

runs all cases that are not yet in the file (a quarter of an hour on two cores), then draws
figures/scaling_*.svg in its directory and writes the tables of scaling.md. Delete the file to run
all cases again.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
NODES = {"grid": (4, 16, 64, 256, 1024), "symmetric": (3, 15, 66, 253, 1035)}
SIZES = (65536, 131072, 262144, 524288, 1048576)
TILES = {  # the tile orders that are tried for each n
    "amx": {65536: (512,), 131072: (512, 1024), 262144: (512, 1024), 524288: (1024,),
            1048576: (2048,)},
    "gpu": {65536: (2048,), 131072: (2048,), 262144: (2048, 4096), 524288: (2048, 4096),
            1048576: (4096,)},
}
MOST_BYTES = 400e9  # per node
# An alternative that needs more memory: all columns in one window.
ONE_WINDOW = {"window": 0}


def cases():
    """All runs, as the simulator's options."""
    for platform, tiles in TILES.items():
        for n in SIZES:
            for tile in tiles[n]:
                for layout, counts in NODES.items():
                    for ranks in counts:
                        if 3 * n * n / ranks > MOST_BYTES or n // tile > 512:
                            continue
                        if layout == "symmetric" and not weak_partner(n, ranks):
                            continue
                        case = {"platform": platform, "n": n, "tile": tile, "ranks": ranks,
                                "layout": layout}
                        yield case
                        if layout == "grid" and tile == tiles[n][0] and on_weak_line(n, ranks):
                            yield case | ONE_WINDOW
                            yield case | {"fan-out": "direct"}
    # A diagonal tile is factored eight times as fast; and a matrix for an exaflop machine.
    for n, tile, ranks in ((524288, 1024, 256), (1048576, 2048, 1024)):
        yield {"platform": "amx_panel", "n": n, "tile": tile, "ranks": ranks,
               "layout": "grid"}
    yield {"platform": "gpu", "n": 2097152, "tile": 4096, "ranks": 1024, "layout": "grid"}
    # SimGrid shares the network fairly; the event loop sends one message after the other.
    for n, tile, ranks in ((65536, 512, 4), (131072, 512, 16), (131072, 1024, 16),
                           (262144, 2048, 64)):
        for engine in ({}, {"engine": "simgrid"}):
            yield {"platform": "amx", "n": n, "tile": tile, "ranks": ranks,
                   "layout": "grid"} | engine


def on_weak_line(n, ranks):
    """Whether n^2 / ranks is the same as for the smallest n on 4 nodes."""
    return n * n * 4 == SIZES[0] ** 2 * ranks


def weak_partner(n, ranks):
    """Whether the grid that corresponds to this symmetric layout is on that line."""
    return on_weak_line(n, NODES["grid"][NODES["symmetric"].index(ranks)])


def key(case):
    return " ".join(f"{name}={case[name]}" for name in sorted(case))


def run(folder, case):
    command = [f"{folder}/stepwell_scaling"]
    for name, value in case.items():
        if name == "platform":
            value = HERE / "platforms" / f"{value}_node.json"
        command += [f"--{name}", str(value)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result = json.loads(done.stdout)
    result["platform"] = case["platform"]
    result["asked"] = {name: case[name] for name in case if name in ("window", "fan-out", "engine")}
    return result


def rounded(value):
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="directory of stepwell_scaling")
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    o = parser.parse_args()
    results = json.loads(o.results.read_text(encoding="utf-8")) if o.results.exists() else {}
    todo = {key(c): c for c in cases() if key(c) not in results.get("cases", {})}
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        # Short cases first: each result is written as soon as it is available.
        order = sorted(todo, key=lambda k: (todo[k]["n"] / todo[k]["tile"]) ** 2
                       * todo[k]["ranks"] ** 0.5)
        futures = {pool.submit(run, o.folder, todo[k]): k for k in order}
        for count, future in enumerate(concurrent.futures.as_completed(futures), 1):
            results.setdefault("cases", {})[futures[future]] = rounded(future.result())
            results["cases"] = dict(sorted(results["cases"].items()))
            o.results.write_text(json.dumps(results, indent=0) + "\n", encoding="utf-8")
            print(f"{count} of {len(order)}: {futures[future]}", file=sys.stderr)
    subprocess.run([sys.executable, HERE / "plot_scaling.py", o.results], check=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Many right-hand sides from Python, against SciPy's factor and solve. Run by hand.

  bench/python_columns.py [--order 8000] [--columns 1,10,100,2000] [--kind matern|randn] [--pairs 3]

Both sides are run one after the other in this process; the median, the best and the worst ratio of
the pairs are printed. Stepwell's time includes its certificate. The baseline is the installed SciPy
with its own OpenBLAS, whose core and threads are printed.
"""
import argparse
import time

import numpy as np
import scipy
import scipy.linalg
from threadpoolctl import threadpool_info

import stepwell


def matern(n, length=0.3, nugget=1e-4):
    """A Matern 3/2 covariance of random points in the unit square, in F order."""
    points = np.random.default_rng(1).random((n, 2))
    a = np.empty((n, n), order="F")
    for j in range(0, n, 256):
        d = points[:, None, :] - points[None, j : j + 256, :]
        r = np.sqrt((d * d).sum(axis=2)) * (np.sqrt(3) / length)
        a[:, j : j + 256] = (1 + r) * np.exp(-r)
    a[np.diag_indices(n)] += nugget
    return a


def seconds(function, *arguments):
    time.sleep(0.1)  # OpenBLAS's threads spin for a while after a call
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def backward_error(a, b, x):
    r = np.abs(b - a @ x).max(axis=0)
    norm = np.abs(a).sum(axis=1).max()
    return (r / (norm * np.abs(x).max(axis=0) + np.abs(b).max(axis=0))).max()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--order", type=int, default=8000)
    parser.add_argument("--columns", default="1,10,100,2000")
    parser.add_argument("--kind", choices=["matern", "randn"], default="matern")
    parser.add_argument("--pairs", type=int, default=3)
    given = parser.parse_args()
    n = given.order
    print(stepwell.describe())
    print(f"SciPy {scipy.__version__}, NumPy {np.__version__}")
    for info in threadpool_info():
        print(f"  {info['prefix']} {info['version']}, {info.get('architecture')}, "
              f"{info['num_threads']} threads")
    spd = given.kind == "matern"
    a = matern(n) if spd else np.asfortranarray(np.random.default_rng(1).standard_normal((n, n)))

    def theirs(b):
        if spd:
            return scipy.linalg.cho_solve(scipy.linalg.cho_factor(a, lower=True), b)
        return scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b)

    def ours(b):
        return stepwell.solve(a, b, assume_a="pos" if spd else "gen", lower=True, full_output=True)

    for columns in [int(c) for c in given.columns.split(",")]:
        b = np.asfortranarray(np.random.default_rng(2).standard_normal((n, columns)))
        pairs = []
        for _ in range(given.pairs):
            scipy_seconds, _ = seconds(theirs, b)
            our_seconds, (x, certificate) = seconds(ours, b)
            pairs.append((scipy_seconds / our_seconds, scipy_seconds, our_seconds))
        pairs.sort()
        ratio, scipy_seconds, our_seconds = pairs[len(pairs) // 2]
        print(f"{given.kind} n = {n}, {columns} columns: {ratio:.2f} times as fast "
              f"({pairs[0][0]:.2f} to {pairs[-1][0]:.2f}), {scipy_seconds:.3f} s and "
              f"{our_seconds:.3f} s", flush=True)
        print(f"  {certificate.outcome}, {certificate.map}, {certificate.refiner}, "
              f"{certificate.iterations} iterations, backward error "
              f"{certificate.backward_error:.1e} (NumPy's residual: "
              f"{backward_error(a, b[:, :8], x[:, :8]):.1e}); analysis {certificate.times.analysis:.3f}, "
              f"factor {certificate.times.factor:.3f}, refinement {certificate.times.refine:.3f} s")


if __name__ == "__main__":
    main()

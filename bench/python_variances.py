#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""A Gaussian process's means, standard deviations and log-likelihood, against SciPy. Run by hand.

  bench/python_variances.py [--order 3000] [--new 2000] [--pairs 7]

The covariances are given; a pair is SciPy's whole job and then Stepwell's, in this process. The
median, the best and the worst ratio of the pairs are printed.
"""
import argparse

import numpy as np
import scipy.linalg
from python_columns import matern, seconds
from threadpoolctl import threadpool_info

import stepwell


def theirs(k, across, y):
    factor = scipy.linalg.cho_factor(k, lower=True)
    weights = scipy.linalg.cho_solve(factor, y)
    half = scipy.linalg.solve_triangular(factor[0], across, lower=True)
    log_det = 2 * np.log(np.diag(factor[0])).sum()
    return across.T @ weights, np.einsum("ij,ij->j", half, half), log_det


def ours(k, across, y):
    factor = stepwell.cho_factor(k, lower=True, map="fp64")
    weights = factor.solve(y)
    half = factor.half_solve(across)
    return across.T @ weights, np.einsum("ij,ij->j", half, half), factor.log_det()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--order", type=int, default=3000)
    parser.add_argument("--new", type=int, default=2000)
    parser.add_argument("--pairs", type=int, default=7)
    given = parser.parse_args()
    n, m = given.order, given.new
    print(stepwell.describe())
    for info in threadpool_info():
        print(f"  {info['prefix']} {info['version']}, {info.get('architecture')}, "
              f"{info['num_threads']} threads")
    whole = matern(n + m)
    k = np.asfortranarray(whole[:n, :n])
    across = np.asfortranarray(whole[:n, n:])
    y = np.random.default_rng(2).standard_normal(n)
    pairs = []
    for _ in range(given.pairs + 1):
        their_seconds, their_result = seconds(theirs, k, across, y)
        our_seconds, our_result = seconds(ours, k, across, y)
        pairs.append((their_seconds / our_seconds, their_seconds, our_seconds))
    pairs = sorted(pairs[1:])  # the first one starts threads and loads libraries
    ratio, their_seconds, our_seconds = pairs[len(pairs) // 2]
    print(f"n = {n}, {m} new points: {ratio:.2f} times as fast ({pairs[0][0]:.2f} to "
          f"{pairs[-1][0]:.2f}), {their_seconds:.3f} s and {our_seconds:.3f} s")
    for name, of_theirs, of_ours in zip(("means", "variances", "log-determinant"), their_result,
                                        our_result):
        print(f"  {name} differ by {np.abs(of_theirs - of_ours).max():.1e}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""A Gaussian process with NumPy alone: prediction, standard deviations and log-likelihood.

  python examples/python/variances.py [n]
"""
import sys

import numpy as np

import stepwell

NOISE = 0.05


def covariance(x, y, length=0.3):
    """Matern 3/2."""
    r = np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)) * (np.sqrt(3) / length)
    return (1 + r) * np.exp(-r)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    random = np.random.default_rng(1)
    points, new = random.random((n, 2)), random.random((200, 2))

    def truth(p):
        return np.sin(6 * p[:, 0]) + np.cos(5 * p[:, 1])

    y = truth(points) + NOISE * random.standard_normal(n)
    k = covariance(points, points)
    k[np.diag_indices(n)] += NOISE**2
    # An FP64 factor: determinants and half solves need its accuracy.
    factor = stepwell.cho_factor(k, map="fp64")
    weights = factor.solve(y)
    across = covariance(points, new)
    mean = across.T @ weights
    half = factor.half_solve(across)  # L^-1 k(points, new)
    deviation = np.sqrt(1 - np.einsum("ij,ij->j", half, half))
    likelihood = -0.5 * (y @ weights + factor.log_det() + n * np.log(2 * np.pi))
    print(factor.certificate)
    within = np.mean(np.abs(mean - truth(new)) < 2 * deviation)
    print(f"log-likelihood {likelihood:.1f}; {100 * within:.0f} % of the truth within two standard "
          "deviations")
    assert within > 0.8 and deviation.max() < 0.5


if __name__ == "__main__":
    main()

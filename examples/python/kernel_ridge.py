#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's KernelRidge, unchanged, with its one large solve done by Stepwell.

  python examples/python/kernel_ridge.py [n]
"""
import sys

import numpy as np
from sklearn.kernel_ridge import KernelRidge

import stepwell


def data(n, seed=0):
    """n points of a smooth function of eight variables, with noise; a tenth more to predict."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n + n // 10, 8))
    y = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + np.exp(-np.sum(x[:, 3:] ** 2, axis=1))
    y += 0.05 * rng.standard_normal(y.size)
    return x[:n], y[:n], x[n:], y[n:]


def model():
    return KernelRidge(kernel="rbf", gamma=0.25, alpha=0.01)


def main():
    x, y, new, truth = data(int(sys.argv[1]) if len(sys.argv) > 1 else 3000)
    with stepwell.patch(minimum=1000) as calls:
        predicted = model().fit(x, y).predict(new)
    print(calls)
    print(f"root mean square error {np.sqrt(np.mean((predicted - truth) ** 2)):.3f}")


if __name__ == "__main__":
    main()

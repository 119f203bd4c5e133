#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Gaussian process regression with scikit-learn's interface and Stepwell's factor.

fit() maximises the likelihood, with its gradient; predict() has standard deviations. Nothing else
than the import differs from a program that uses scikit-learn alone.

  python examples/python/gaussian_process.py [n]
"""
import sys

import numpy as np
from kernel_ridge import data
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from stepwell.sklearn import GaussianProcessRegressor


def model(kind=GaussianProcessRegressor, **options):
    return kind(kernel=ConstantKernel(4.0) * RBF(1.5), alpha=0.05**2, **options)


def main():
    x, y, new, truth = data(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
    process = model().fit(x, y)
    mean, deviation = process.predict(new[:50], return_std=True)
    print(f"{process.kernel_}, log likelihood {process.log_marginal_likelihood_value_:.2f}")
    within = np.mean(np.abs(mean - truth[:50]) < 2 * np.hypot(deviation, 0.05))
    print(f"{100 * within:.0f} % of the truth within two standard deviations")


if __name__ == "__main__":
    main()

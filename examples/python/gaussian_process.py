#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's Gaussian process with Stepwell's factor in place of the Cholesky factor.

scikit-learn keeps L of K = L L' in FP64. Once the kernel's parameters are known, L is needed only
for solves, for which a low-precision factor with refinement to FP64 is sufficient.

  python examples/python/gaussian_process.py [n]
"""
import sys

import numpy as np
from kernel_ridge import data
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import stepwell


class RefinedGaussianProcess(GaussianProcessRegressor):
    """fit() and predict() with a fixed kernel: there is no log-likelihood to optimise it with."""

    def fit(self, X, y):
        self.kernel_ = clone(self.kernel)
        self.X_train_, self.y_train_ = np.asarray(X), np.asarray(y)
        covariance = self.kernel_(self.X_train_)
        covariance.flat[:: len(covariance) + 1] += self.alpha
        self.factor_ = stepwell.cho_factor(covariance)
        self.alpha_ = self.factor_.solve(self.y_train_)
        return self

    def predict(self, X, return_std=False):
        across = self.kernel_(X, self.X_train_)
        mean = across @ self.alpha_
        if not return_std:
            return mean
        explained = np.einsum("ij,ji->i", across, self.factor_.solve(across.T))
        return mean, np.sqrt(np.maximum(self.kernel_.diag(X) - explained, 0))


def model(refined):
    kind = RefinedGaussianProcess if refined else GaussianProcessRegressor
    kernel = ConstantKernel(4.0) * RBF(1.5)
    return kind(kernel=kernel, alpha=0.05**2, optimizer=None)


def main():
    x, y, new, truth = data(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
    process = model(refined=True).fit(x, y)
    mean, deviation = process.predict(new[:50], return_std=True)
    print(process.factor_.certificate)
    within = np.mean(np.abs(mean - truth[:50]) < 2 * np.hypot(deviation, 0.05))
    print(f"{100 * within:.0f} % of the truth within two standard deviations")


if __name__ == "__main__":
    main()

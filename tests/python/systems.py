# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Systems to solve, and the backward error of an answer."""
import numpy as np

U = 2.0**-53


def rng(seed=1):
    return np.random.default_rng(seed)


def general(n, seed=1):
    return rng(seed).standard_normal((n, n))


def spd(n, seed=1):
    """Well conditioned, exactly symmetric."""
    a = general(n, seed) @ general(n, seed).T / n + np.eye(n)
    return (a + a.T) / 2


def backward_error(a, x, b):
    """The largest ||b - a x|| / (||a|| ||x|| + ||b||) of any column in the infinity norm."""
    a, x, b = (np.asarray(v, dtype=np.longdouble) for v in (a, x, b))
    x, b = x.reshape(x.shape[0], -1), b.reshape(b.shape[0], -1)
    norm = np.abs(a).sum(axis=1).max()
    scale = norm * np.abs(x).max(axis=0) + np.abs(b).max(axis=0)
    return float(np.max(np.abs(b - a @ x).max(axis=0) / scale))


def tolerance(n):
    """The tolerance of a certificate, plus one rounding for its residual."""
    return (np.sqrt(n) + 1) * U


def assert_solves(a, x, b):
    assert x.dtype == np.float64
    assert np.isfinite(x).all()
    error = backward_error(a, x, b)
    assert error < tolerance(np.shape(a)[0]), error

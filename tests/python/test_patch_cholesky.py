# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""patch(): Cholesky functions whose results are arrays."""
import numpy as np
import pytest
from systems import general, spd

import stepwell

scipy_linalg = pytest.importorskip("scipy.linalg")

N = 90


def residual(a, l):
    """max |a - l l'|_ij / sqrt(a_ii a_jj), in units of (n + 1) u."""
    d = np.sqrt(np.diag(a))
    return np.max(np.abs(a - l @ l.T) / np.outer(d, d)) / ((len(a) + 1) * 2.0**-53)


@pytest.mark.parametrize("order", ["C", "F"])
def test_factors_are_arrays(order):
    a = np.array(spd(N), order=order)
    with stepwell.patch(minimum=50) as calls:
        l = np.linalg.cholesky(a)
        assert l.flags.c_contiguous and np.array_equal(l, np.tril(l)) and residual(a, l) <= 2
        l = scipy_linalg.cholesky(np.tril(a), lower=True)
        assert np.array_equal(l, np.tril(l)) and residual(a, l) <= 2
        u = scipy_linalg.cholesky(np.triu(a))
        assert np.array_equal(u, np.triu(u)) and residual(a, u.T) <= 2
        assert np.array_equal(np.linalg.cholesky(a.astype(">f8")), np.linalg.cholesky(a))
        c, lower = scipy_linalg.cho_factor(a)
        assert lower is False and np.array_equal(np.triu(c), u)
        assert (calls.taken, calls.forwarded) == (6, 0)
    assert scipy_linalg.cholesky.__module__.startswith("scipy")


def test_factors_solve():
    a, b = spd(N), np.random.default_rng(4).standard_normal((N, 7))
    l, u = np.linalg.cholesky(a), scipy_linalg.cholesky(a)
    kept = b.copy()
    cases = [
        lambda: scipy_linalg.cho_solve((l, True), b),
        lambda: scipy_linalg.cho_solve((u, False), b),
        lambda: scipy_linalg.solve_triangular(l, b, lower=True),
        lambda: scipy_linalg.solve_triangular(u, b, trans=1),
        lambda: scipy_linalg.solve_triangular(-u, b, trans="T"),
    ]
    expected = [case() for case in cases]
    with stepwell.patch(minimum=50) as calls:
        for case, wanted in zip(cases, expected):
            assert np.allclose(case(), wanted, rtol=1e-11, atol=1e-13)
    assert (calls.taken, calls.forwarded) == (len(cases), 0)
    assert np.array_equal(b, kept)


def test_what_scipy_does_otherwise_is_forwarded():
    a, b = spd(N), np.ones((N, 2))
    l = np.linalg.cholesky(a)
    unit = np.tril(general(N), -1) / N + np.eye(N)
    cases = [
        lambda: np.linalg.cholesky(a[:20, :20]),
        lambda: np.linalg.cholesky(np.stack([a, a])),
        lambda: scipy_linalg.cholesky(a.astype("f4")),
        lambda: scipy_linalg.cholesky(a + 0j),
        lambda: scipy_linalg.cho_solve((l, True), b[:, 0]),
        lambda: scipy_linalg.solve_triangular(l, b, trans=1, lower=True),
        lambda: scipy_linalg.solve_triangular(unit, b, lower=True, unit_diagonal=True),
        lambda: scipy_linalg.solve_triangular(l.T, b),
    ]
    expected = [case() for case in cases]
    with stepwell.patch(minimum=50) as calls:
        for case, wanted in zip(cases, expected):
            got = case()
            assert got.dtype == wanted.dtype and np.array_equal(got, wanted)
    assert (calls.taken, calls.forwarded) == (0, len(cases))


def test_failures_are_the_originals():
    a, b = spd(N), np.ones((N, 2))
    l = np.linalg.cholesky(a)
    bad = a.copy()
    bad[5, 5] = -1
    other = a.copy()
    other[0, N - 1] = np.nan  # in the triangle that is not read
    singular = l.copy()
    singular[3, 3] = 0
    with stepwell.patch(minimum=50) as calls:
        for call in (np.linalg.cholesky, scipy_linalg.cholesky, scipy_linalg.cho_factor):
            with pytest.raises(np.linalg.LinAlgError):
                call(bad)
        with pytest.raises(ValueError):
            scipy_linalg.cholesky(other, lower=True)
        with pytest.raises(np.linalg.LinAlgError):
            scipy_linalg.solve_triangular(singular, b, lower=True)
        with pytest.raises(ValueError):
            scipy_linalg.cho_solve((l, True), np.full((N, 2), np.inf))
        with pytest.raises(ValueError):
            scipy_linalg.cho_solve((l, True), np.ones((N + 1, 2)))
    assert calls.taken == 0

# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Factor, cho_factor, lu_factor."""
import numpy as np
import pytest
from systems import assert_solves, general, rng, spd

import stepwell


@pytest.mark.parametrize("n", [25, 1100])
@pytest.mark.parametrize("order", ["C", "F"])
def test_factor(n, order):
    b = rng(5).standard_normal((n, 2))
    for a, assume, found in [(general(n), None, "general"), (spd(n), None, "spd"),
                             (spd(n), "pos", "spd"), (spd(n), "gen", "general")]:
        a = np.asarray(a, order=order)
        f = stepwell.factor(a, assume)
        assert f.structure == found and f.order == n and f.certificate.ok
        assert_solves(a, f.solve(b), b)
        assert_solves(a, f.solve(b[:, 0]), b[:, 0])
        assert_solves(a.T, f.solve(b, transposed=True), b)
        x, c = f.solve(b, full_output=True)
        assert c.ok and c.structure == found


@pytest.mark.parametrize("order", ["C", "F"])
def test_norms(order):
    a = np.asarray(general(80), order=order)
    inverse = np.linalg.inv(a)
    f = stepwell.factor(a)
    for norm in (1, np.inf):
        # An estimate from below, typically within a factor of three.
        true = np.linalg.norm(inverse, norm)
        assert true / 10 <= f.inverse_norm(norm) <= true * 1.01
    norm = 1 if order == "C" else np.inf
    assert 0.99 <= f.rcond() * np.linalg.cond(a, norm) <= 10
    with pytest.raises(ValueError, match="norm"):
        f.inverse_norm(2)


def test_names_of_scipy():
    a, b = spd(30), np.ones(30)
    for lower in (True, False):
        half = np.tril(a) if lower else np.triu(a)
        assert_solves(a, stepwell.cho_solve(stepwell.cho_factor(half, lower), b), b)
    g = general(30)
    lu = stepwell.lu_factor(g)
    assert_solves(g, stepwell.lu_solve(lu, b), b)
    assert_solves(g.T, stepwell.lu_solve(lu, b, trans=1), b)
    with pytest.raises(ValueError, match="trans"):
        stepwell.lu_solve(lu, b, trans=3)
    with pytest.raises(TypeError, match="cho_factor"):
        stepwell.cho_solve((np.linalg.cholesky(a), True), b)


def test_failures():
    with pytest.raises(stepwell.NotPositiveDefinite):
        stepwell.cho_factor(-np.eye(3))
    with pytest.raises(stepwell.Singular):
        stepwell.lu_factor(np.ones((3, 3)))
    f = stepwell.factor(spd(10))
    with pytest.raises(ValueError, match="shape"):
        f.solve(np.ones(11))
    with pytest.raises(stepwell.NonFinite):
        f.solve(np.full(10, np.nan))


def test_keeps_the_matrix_alive():
    f = stepwell.factor(spd(300))  # the only reference to the matrix
    junk = [np.full((300, 300), k) for k in range(20)]
    assert_solves(spd(300), f.solve(np.ones(300)), np.ones(300))
    assert len(junk) == 20

# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Factor, cho_factor, lu_factor."""
import pickle

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


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("make", [spd, general])
def test_pickle(make, order):
    a, b = np.array(make(200), order=order), np.ones(200)
    f = stepwell.factor(a, map="fp64", tolerance=1e-14)
    g = pickle.loads(pickle.dumps(f))
    assert (g.order, g.structure, g.certificate) == (f.order, f.structure, f.certificate)
    assert np.array_equal(g.solve(b), f.solve(b))
    assert np.array_equal(g.solve(b, transposed=True), f.solve(b, transposed=True))
    assert g.solve(b, full_output=True)[1].tolerance == 1e-14
    certificate = f.solve(b, full_output=True)[1]
    assert pickle.loads(pickle.dumps(certificate)) == certificate


@pytest.mark.parametrize("n", [1, 60, 1100])
def test_log_det_and_half_solve(n):
    a = spd(n)
    f = stepwell.factor(a, "pos", map="fp64")
    sign, log = np.linalg.slogdet(a)
    assert abs(f.log_det() - log) <= 1e-13 * n
    assert f.sign_and_log_det()[0] == sign == 1
    b = rng(3).standard_normal((n, 5))
    z = f.half_solve(b)
    assert np.allclose(z, np.linalg.solve(np.linalg.cholesky(a), b), rtol=1e-10, atol=1e-10)
    assert np.allclose((z * z).sum(axis=0), (b * f.solve(b)).sum(axis=0))
    inverse = f.inverse()
    assert np.allclose(inverse, np.linalg.inv(a), rtol=1e-10, atol=1e-12)
    assert np.array_equal(inverse, inverse.T)
    assert np.allclose(f.inverse_diagonal(), np.diag(inverse), rtol=1e-11)
    g = general(n)
    sign, log = np.linalg.slogdet(g)
    found = stepwell.factor(g, "gen", map="fp64").sign_and_log_det()
    assert found[0] == sign and abs(found[1] - log) <= 1e-11 * n


@pytest.mark.parametrize("map", [None, "bf16", "fp64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_uses_of_a_factor(map, order):
    n, k = 900, 70
    a = np.array(spd(n), order=order)
    f = stepwell.factor(a, "pos", map=map)
    b = np.array(rng(4).standard_normal((n, k)), order=order)
    kept = b.copy()
    x = f.solve(b)
    assert np.allclose(f.solve_unrefined(b), x, rtol=1e-10, atol=1e-12)
    assert np.allclose(f.quadratic_forms(b), (b * x).sum(axis=0))
    assert np.allclose(f.quadratic_forms(b[:, 0]), b[:, 0] @ x[:, 0])
    l = np.linalg.cholesky(a)
    assert np.allclose(f.multiply(b), l @ b)
    assert np.allclose(f.multiply(f.half_solve(b[:, 1])), b[:, 1])
    assert np.array_equal(b, kept)
    assert abs(f.log_det() - np.linalg.slogdet(a)[1]) <= 1e-13 * n
    assert 0 < f.log_det_error() < 1e-9
    s = a @ a
    assert np.isclose(f.trace_inverse_product(s + s.T), 2 * np.trace(a))
    with pytest.raises(ValueError, match="it must be square"):
        f.trace_inverse_product(b)
    with pytest.raises(ValueError, match=r"z has the shape \(3,\)"):
        f.multiply(np.ones(3))
    mine = np.asfortranarray(b)
    assert f.multiply(mine, overwrite_z=True) is mine


def test_a_general_matrix_has_no_cholesky_factor():
    g = stepwell.factor(general(900), "gen", map="fp32")
    with pytest.raises(RuntimeError, match="map fp64"):
        g.log_det()
    for call in (g.inverse, g.inverse_diagonal, g.log_det_error):
        with pytest.raises(RuntimeError, match="general matrix"):
            call()
    with pytest.raises(RuntimeError, match="general matrix"):
        g.half_solve(np.ones(900))


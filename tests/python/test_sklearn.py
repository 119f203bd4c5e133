# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""stepwell.sklearn: scikit-learn's estimators, with the same results."""
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn import gaussian_process, kernel_ridge  # noqa: E402
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import stepwell.sklearn as ours  # noqa: E402


@pytest.fixture(name="taken")
def fixture_taken(monkeypatch):
    """Everything is computed by Stepwell; counts the factors."""
    monkeypatch.setattr(ours, "_minimum", 2)
    monkeypatch.setattr(ours, "_factor_minimum", 2)
    monkeypatch.setattr(
        ours._linalg.solve_triangular, "__kwdefaults__",
        {**ours._linalg.solve_triangular.__kwdefaults__, "minimum": 2, "columns": 1})
    made = []
    counted = ours.Cholesky

    def cholesky(*a, **options):
        made.append(a[0].shape[0])
        return counted(*a, **options)

    monkeypatch.setattr(ours, "Cholesky", cholesky)
    return made


def data(n=150, targets=None):
    rng = np.random.default_rng(1)
    x = rng.random((n, 2))
    y = np.sin(6 * x[:, 0]) + x[:, 1] + 0.05 * rng.standard_normal(n)
    return x, y if targets is None else np.stack([y * k for k in range(1, targets + 1)], axis=1)


def kernel():
    return ConstantKernel(1.0) * RBF([0.5, 0.5]) + WhiteKernel(1e-2)


@pytest.mark.parametrize("targets", [None, 2])
@pytest.mark.parametrize("normalize", [False, True])
def test_a_regressor_has_scikit_learns_results(taken, targets, normalize):
    x, y = data(targets=targets)
    new = np.random.default_rng(2).random((40, 2))
    models = [
        kind(kernel(), alpha=1e-2, normalize_y=normalize, random_state=0).fit(x, y)
        for kind in (gaussian_process.GaussianProcessRegressor, ours.GaussianProcessRegressor)]
    theirs, mine = models
    assert len(taken) > 5
    assert np.allclose(mine.kernel_.theta, theirs.kernel_.theta, rtol=1e-3, atol=1e-3)
    theta = theirs.kernel_.theta
    value, gradient = theirs.log_marginal_likelihood(theta, eval_gradient=True)
    my_value, my_gradient = mine.log_marginal_likelihood(theta, eval_gradient=True)
    assert abs(my_value - value) <= 1e-10 * abs(value)
    assert np.allclose(my_gradient, gradient, rtol=1e-7, atol=1e-7 * abs(value))
    assert mine.log_marginal_likelihood(theta) == my_value
    assert mine.log_marginal_likelihood() == mine.log_marginal_likelihood_value_
    for model in models:  # the same parameters, for equal predictions
        model.kernel_.theta = theta
    fixed = [type(m)(m.kernel_, alpha=1e-2, normalize_y=normalize, optimizer=None).fit(x, y)
             for m in models]
    for options in ({}, {"return_std": True}, {"return_cov": True}):
        for got, wanted in zip(*(np.atleast_1d(m.predict(new, **options)) if not options
                                 else m.predict(new, **options) for m in reversed(fixed))):
            assert np.allclose(got, wanted, rtol=1e-9, atol=1e-9)
    assert np.allclose(fixed[1].L_, fixed[0].L_, rtol=1e-9, atol=1e-11)


def test_integers_are_observations(taken):
    x, y = data(80)
    y = np.round(10 * y).astype(int)
    theta = kernel().theta
    values = [kind(kernel(), alpha=1e-2, optimizer=None).fit(x, y).log_marginal_likelihood(theta)
              for kind in (gaussian_process.GaussianProcessRegressor, ours.GaussianProcessRegressor)]
    assert abs(values[1] - values[0]) <= 1e-10 * abs(values[0])


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no extended precision")
def test_the_likelihood_is_accurate_for_ill_conditioned_kernels():
    n, alpha = 60, 2.0**-30
    rng = np.random.default_rng(3)
    u = rng.integers(1, 9, n).astype(float)
    k = np.outer(u, u) + alpha * np.eye(n)  # exactly; the condition number is 2e12
    factor = ours.Cholesky(k)
    errors = []
    for _ in range(20):
        y = rng.integers(1, 9, n).astype(float)
        uy, uu, yy, a = (Fraction(float(v)) for v in (u @ y, u @ u, y @ y, alpha))
        exact = (yy - uy**2 / (a + uu)) / a
        _, found = ours._refined(k, y[:, None], factor)
        errors.append([float(abs(Fraction(float(v)) - exact) / exact)
                       for v in (found, y @ factor.solve(y))])
    refined, unrefined = np.median(errors, axis=0)
    assert refined < 0.1 * unrefined


def test_a_matrix_that_is_not_definite_has_no_likelihood(taken):
    x, y = data(60)
    x = np.concatenate([x, x])
    y = np.concatenate([y, y])
    model = ours.GaussianProcessRegressor(RBF(0.5), alpha=1e-2, optimizer=None).fit(x, y)
    model.alpha = -1e-3
    value, gradient = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    assert value == -np.inf and not gradient.any()
    with pytest.raises(np.linalg.LinAlgError, match="alpha"):
        ours.GaussianProcessRegressor(ConstantKernel(1.0), alpha=0.0, optimizer=None).fit(x, y)


def test_a_ridge_has_scikit_learns_results():
    x, y = data(2100)
    for weights in (None, np.linspace(1, 2, 2100)):
        models = [kind(kernel="rbf", alpha=0.1, gamma=2.0).fit(x, y, sample_weight=weights)
                  for kind in (kernel_ridge.KernelRidge, ours.KernelRidge)]
        assert np.allclose(models[1].predict(x[:50]), models[0].predict(x[:50]), rtol=1e-9)


@parametrize_with_checks([ours.GaussianProcessRegressor(), ours.KernelRidge()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)

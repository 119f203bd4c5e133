# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""batch: stacks of small matrices, compared with NumPy."""
import numpy as np
import pytest
from systems import rng

import stepwell
from stepwell import batch


def stack(count, n, dtype=np.float64):
    a = rng(6).standard_normal((count, n, n))
    return (a @ a.swapaxes(1, 2) / n + np.eye(n)).astype(dtype)


def roundoff(dtype):
    return np.finfo(dtype).eps / 2


def triangle(a, lower):
    """Keeps the named triangle; the other is NaN because it must not be read."""
    other = np.full_like(a, np.nan)
    return np.where(np.tri(a.shape[1], dtype=bool), a, other) if lower else np.where(
        np.tri(a.shape[1], dtype=bool).T, a, other)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 5, 32, 100])
@pytest.mark.parametrize("lower", [True, False])
def test_like_numpy(dtype, n, lower):
    a = stack(23, n, dtype)
    tolerance = 10 * n * roundoff(dtype)
    half = triangle(a, lower)
    factors = batch.cholesky(half, lower=lower)
    expected = np.linalg.cholesky(a.astype(float))
    expected = expected if lower else expected.swapaxes(1, 2)
    assert factors.dtype == dtype and np.abs(factors - expected).max() < tolerance * 10
    for shape in [(23, n), (23, n, 3)]:
        b = rng(7).standard_normal(shape).astype(dtype)
        truth = np.linalg.solve(a.astype(float), b.reshape(23, n, -1)).reshape(shape)
        x = batch.solve(half, b, lower=lower)
        assert x.dtype == dtype and x.shape == shape
        assert np.abs(x - truth).max() < tolerance * 100
        both, y = batch.factor_solve(half, b, lower=lower)
        assert np.array_equal(both, factors)
        assert np.array_equal(batch.substitute(factors, b, lower=lower), y)
    result = batch.solve(half, b, lower=lower, backward_errors=True, full_output=True)
    assert result.ok and result.backward_errors.max() < tolerance
    assert np.allclose(result.log_determinants, np.linalg.slogdet(a.astype(float))[1],
                       atol=1000 * tolerance)


def test_mixed():
    a, b = stack(40, 20), rng().standard_normal((40, 20))
    result = batch.solve(a, b, mixed=True, full_output=True)
    assert result.iterations.shape == (40,)
    assert result.backward_errors.max() <= np.sqrt(20) * 2.0**-53


def test_failures():
    a, b = stack(10, 6), np.ones((10, 6))
    a[3, 2, 2] = a[8, 0, 0] = -1
    for result in (batch.solve(a, b, full_output=True), batch.cholesky(a, full_output=True),
                   batch.factor_solve(a, b, full_output=True)):
        assert result.failures.tolist() == [3, 8]
        assert result.pivots.tolist() == [-1, -1, -1, 2, -1, -1, -1, -1, 0, -1]
        assert np.isnan(result.log_determinants[[3, 8]]).all()
        if result.x is not None:
            assert np.array_equal(result.x[3], b[3])
        if result.factor is not None:
            assert np.array_equal(result.factor[3], a[3])
    with pytest.raises(stepwell.NotPositiveDefinite, match="2 of 10 .* first is 3 .pivot 2"):
        batch.solve(a, b)


def test_arrays():
    a, b = stack(12, 7), np.ones((12, 7))
    x = batch.solve(a, b)
    wide = np.zeros((12, 9, 11))
    wide[:, :7, :7] = a
    for view in (wide[:, :7, :7], np.asfortranarray(a), a[::-1][::-1], a.swapaxes(1, 2).copy()):
        assert np.array_equal(batch.solve(view, b), x)
    assert np.array_equal(batch.solve(a[::2], b[::2]), x[::2])
    kept = a.copy()
    batch.cholesky(a)
    assert np.array_equal(a, kept)
    assert batch.cholesky(a, overwrite_a=True) is a


def test_misuse():
    for a, b in [(np.eye(3), np.ones(3)), (stack(2, 3), np.ones((2, 4))),
                 (stack(2, 3), np.ones((3, 3))), (stack(1, 129), np.ones((1, 129)))]:
        with pytest.raises(ValueError):
            batch.solve(a, b)
    with pytest.raises(TypeError, match="complex"):
        batch.solve(stack(2, 3) * 1j, np.ones((2, 3)))


def test_empty():
    assert batch.solve(np.zeros((0, 3, 3)), np.zeros((0, 3))).shape == (0, 3)


def test_als_step():
    sparse = pytest.importorskip("scipy.sparse")
    random = rng(8)
    ratings = sparse.csr_array(np.where(random.random((30, 20)) < 0.3,
                                        random.integers(1, 6, (30, 20)), 0).astype(np.float32))
    items = random.standard_normal((20, 5)).astype(np.float32)
    users, failures = batch.als_step(ratings, items, ridge=0.5)
    assert failures.size == 0 and users.dtype == np.float32
    dense = ratings.toarray().astype(float)
    for u in range(30):
        seen = items[dense[u] != 0].astype(float)
        a = seen.T @ seen + 0.5 * np.eye(5)
        expected = np.linalg.solve(a, seen.T @ dense[u][dense[u] != 0])
        # fp32 sums of at most 20 terms, then a solve with condition number cond(a).
        assert np.abs(users[u] - expected).max() <= (
            20 * np.linalg.cond(a) * 2.0**-24 * (1 + np.abs(expected).max()))
    into = np.ones((30, 5), dtype=np.float32)
    assert batch.als_step(ratings, items, into, ridge=0.5)[0] is into
    assert np.array_equal(into, users)
    with pytest.raises(ValueError, match="items"):
        batch.als_step(ratings, items[:4])
    bad = sparse.csr_array(ratings)
    bad.indices[0] = 20
    with pytest.raises(ValueError):
        batch.als_step(bad, items)

# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""lstsq(), compared with NumPy's."""
import warnings

import numpy as np
import pytest
from systems import rng

import stepwell


def tall(m, n, seed=1):
    return rng(seed).standard_normal((m, n))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("m, n, k", [(40, 7, 1), (5000, 60, 3), (1000, 1, 2)])
def test_like_numpy(m, n, k, order):
    a = np.asarray(tall(m, n), order=order)
    b = tall(m, k, 2)
    x, residues, rank, s = stepwell.lstsq(a, b)
    expected, sums, _, _ = np.linalg.lstsq(a, b, rcond=None)
    # Well conditioned: both have errors of at most a few n u cond.
    assert np.abs(x - expected).max() < 100 * n * 2.0**-53 * np.linalg.cond(a) ** 2
    assert np.allclose(residues, sums, rtol=1e-12)
    assert s is None and rank in (None, n)
    one = stepwell.lstsq(a, b[:, 0])
    assert one.x.shape == (n,) and one.residues.shape == () and one.certificate.ok
    assert np.array_equal(stepwell.lstsq(a, b, qr=True).rank, n)


def test_views():
    big = tall(400, 90)
    for a in (big[:200, :30], big[::2, ::3], np.asfortranarray(big)[100:, :30], big[::-1, :30]):
        b = tall(a.shape[0], 2, 3)
        x = stepwell.lstsq(a, b).x
        assert np.abs(x - np.linalg.lstsq(a, b, rcond=None)[0]).max() < 1e-12


def test_ridge():
    a, b = tall(300, 20), tall(300, 1, 2)[:, 0]
    x = stepwell.lstsq(a, b, ridge=3.0).x
    assert np.allclose(x, np.linalg.solve(a.T @ a + 3 * np.eye(20), a.T @ b), rtol=1e-12)
    weights = np.r_[0.0, np.ones(19)]
    x = stepwell.lstsq(a, b, ridge=3.0, weights=weights).x
    assert np.allclose(x, np.linalg.solve(a.T @ a + 3 * np.diag(weights), a.T @ b), rtol=1e-12)
    wide = tall(10, 20)
    x = stepwell.lstsq(wide, np.ones(10), ridge=1.0).x
    assert np.allclose(x, np.linalg.solve(wide.T @ wide + np.eye(20), wide.T @ np.ones(10)))


def test_columns_that_depend():
    a = tall(50, 6)
    a[:, 4] = a[:, 1]
    with pytest.warns(stepwell.RankDeficientWarning, match="column"):
        result = stepwell.lstsq(a, np.ones(50), minimum_norm=False)
    assert result.rank == 5 and len(result.certificate.dependent) == 1
    best = np.linalg.lstsq(a, np.ones(50), rcond=None)[0]
    assert np.isclose(result.residues, np.sum((a @ best - 1) ** 2), rtol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(60, 12), (12, 60), (40, 40)])
def test_least_norm_as_numpy(shape, order):
    a = tall(*shape)
    b = tall(shape[0], 3, 2)
    for dependent in (False, True):
        if dependent:
            a[:, 4] = a[:, 1]
            a[-1] = 2 * a[0] - a[2]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = stepwell.lstsq(np.asarray(a, order=order), b)
        best, _, rank, s = np.linalg.lstsq(a, b, rcond=None)
        condition = s[0] / s[rank - 1]
        assert result.rank in (rank, None) and (not dependent or result.rank == rank)
        assert result.certificate.minimum_norm or not dependent
        assert np.abs(result.x - best).max() <= 64 * max(shape) * 2.0**-53 * condition**2 * np.abs(best).max()


def test_misuse():
    with pytest.raises(ValueError, match="minimum_norm"):
        stepwell.lstsq(np.ones((2, 3)), np.ones(2), minimum_norm=False)
    with pytest.raises(ValueError, match="shape"):
        stepwell.lstsq(np.ones((5, 2)), np.ones(4))
    with pytest.raises(ValueError):
        stepwell.lstsq(tall(5, 2), np.ones(5), ridge=-1.0)
    with pytest.raises(stepwell.NonFinite):
        stepwell.lstsq(tall(5, 2), np.full(5, np.inf))
    with pytest.raises(TypeError, match="complex"):
        stepwell.lstsq(tall(5, 2) * 1j, np.ones(5))


def test_plan():
    plan = stepwell.lstsq_plan(10**6, 100)
    assert 0 < plan.bytes <= plan.top_bytes
    assert stepwell.lstsq_plan(10**6, 100, qr=True).map == "qr"


def test_memory_map(tmp_path):
    a, b = tall(2000, 20), tall(2000, 1, 2)
    np.save(tmp_path / "a.npy", a)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert np.array_equal(stepwell.lstsq(mapped, b).x, stepwell.lstsq(a, b).x)

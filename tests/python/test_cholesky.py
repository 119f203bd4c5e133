# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""stepwell.Cholesky: a factor that follows its matrix."""
import threading

import numpy as np
import pytest
import scipy.linalg

import stepwell

from systems import spd

U = 2.0**-53


def error(c: stepwell.Cholesky, a: np.ndarray, largest: np.ndarray = None) -> float:
    """max |a - l l'|_ij / sqrt(a_ii a_jj) in units of u n."""
    d = np.sqrt(np.diag(a) if largest is None else largest)
    l = c.l()
    assert np.array_equal(l, np.tril(l))
    return float(np.max(np.abs(a - l @ l.T) / np.outer(d, d)) / (U * (len(a) + 1)))


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_reads_one_triangle(lower, order):
    a = spd(70)
    mine = np.array(np.tril(a) if lower else np.triu(a), order=order)
    c = stepwell.Cholesky(mine, lower)
    assert c.order == 70 and error(c, a) <= 2
    b = np.random.default_rng(1).standard_normal((70, 3))
    expected = scipy.linalg.cho_solve(scipy.linalg.cho_factor(a), b)
    assert np.allclose(c.solve(b), expected)
    assert abs(c.log_det() - np.linalg.slogdet(a)[1]) <= c.log_det_error() + 1e-12
    assert np.allclose(c.quadratic_forms(b), np.sum(b * expected, axis=0))
    assert np.allclose(c.multiply(c.half_solve(b)), b)
    assert np.allclose(c.inverse() @ a, np.eye(70))


def test_follows_the_matrix():
    n, k = 300, 40
    a = spd(n + k)
    v = np.random.default_rng(2).standard_normal((n + k, 5))
    c = stepwell.Cholesky(a[:n, :n])
    c.append(a[n:])
    assert c.order == n + k and error(c, a) <= 2
    c.update(v)
    c.update(v[:, 0])
    larger = a + v @ v.T + np.outer(v[:, 0], v[:, 0])
    assert error(c, larger) <= 12  # 6 (n + k) u for each change
    c.downdate(v[:, :1])
    c.downdate(v)
    assert error(c, a, np.diag(larger)) <= 24
    c.drop([0, 17, n])
    kept = np.delete(np.arange(n + k), [0, 17, n])
    assert error(c, a[np.ix_(kept, kept)], np.diag(larger)[kept]) <= 30
    c.drop(5)
    assert c.order == n + k - 4


def test_a_refusal_changes_nothing():
    a = spd(60)
    c = stepwell.Cholesky(a)
    before = c.l()
    with pytest.raises(stepwell.NotPositiveDefinite, match="downdate"):
        c.downdate(1.01 * before[:, 7])
    row = np.append(a[3], a[3, 3])
    with pytest.raises(np.linalg.LinAlgError, match="append"):
        c.append(np.append(a[3], 0.5 * a[3, 3]))
    with pytest.raises(ValueError, match="rows has the shape"):
        c.append(row[:-1])
    with pytest.raises(ValueError, match="not finite"):
        c.append(np.full(61, np.nan))
    with pytest.raises(ValueError, match="v has the shape"):
        c.update(np.ones(59))
    with pytest.raises(ValueError, match="update: row 0 of V"):
        c.update(np.full(60, np.inf))
    with pytest.raises(ValueError, match="there is no row 60"):
        c.drop(60)
    with pytest.raises(ValueError, match="named twice"):
        c.drop([1, 1])
    for no_row in (1.5, [True] * 60):
        with pytest.raises(TypeError):
            c.drop(no_row)
    assert np.array_equal(c.l(), before)


def test_says_why_there_is_no_factor():
    a = spd(50)
    a[20, 20] = -1
    with pytest.raises(stepwell.NotPositiveDefinite, match="pivot 20 fails"):
        stepwell.Cholesky(a)
    a[10, 20] = np.nan
    with pytest.raises(stepwell.NonFinite, match=r"\(10, 20\)"):
        stepwell.Cholesky(a)
    a[20, 10] = np.inf
    with pytest.raises(stepwell.NonFinite, match=r"\(20, 10\)"):
        stepwell.Cholesky(a, lower=True)
    with pytest.raises(ValueError, match="must be square"):
        stepwell.Cholesky(np.ones((3, 2)))


def test_jitter_is_reported():
    a = np.full((40, 40), 4.0)
    with pytest.raises(stepwell.NotPositiveDefinite):
        stepwell.Cholesky(a)
    with pytest.warns(stepwell.JitterWarning, match="was added to its diagonal"):
        c = stepwell.Cholesky(a, jitter=(2.0**-60, 1024.0, 3))
    assert c.jitter in (2.0**-48, 2.0**-38)
    assert error(c, a + c.jitter * np.eye(40)) <= 2
    assert stepwell.Cholesky(np.eye(3), jitter=(1e-8, 10, 5)).jitter == 0
    with pytest.raises(stepwell.NotPositiveDefinite):
        stepwell.Cholesky(-np.eye(3), jitter=(1e-8, 10, 5))
    with pytest.raises(ValueError, match="jitter.factor"):
        stepwell.Cholesky(a, jitter=(1e-8, 0.5, 5))


def test_grows_from_nothing():
    a = spd(20)
    c = stepwell.Cholesky(np.zeros((0, 0)))
    for k in range(20):
        c.append(a[k, : k + 1])
    assert error(c, a) <= 2


def test_threads_take_turns():
    a = spd(200)
    c = stepwell.Cholesky(a)
    v = np.random.default_rng(3).standard_normal((200, 8))
    threads = [threading.Thread(target=c.update, args=(v[:, k],)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert error(c, a + v @ v.T) <= 6 * 8 + 2

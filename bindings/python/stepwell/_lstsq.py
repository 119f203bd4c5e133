# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""lstsq(), with the interface of scipy.linalg.lstsq."""
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple, Optional, Tuple

import numpy as np

from ._arrays import as_float64, lines
from ._certificate import Certificate, Plan, certificate_of
from ._errors import RankDeficientWarning, error_of
from ._native import native, thread_count
from ._progress import Progress, reporting

if TYPE_CHECKING:
    from ._types import ArrayLike, Float64Array


class _Four(NamedTuple):
    x: Float64Array
    residues: Float64Array
    rank: Optional[int]
    s: None


class LstsqResult(_Four):
    """x, residues, rank and s as scipy.linalg.lstsq returns them, with s = None; and a certificate.

    rank is None if the rung that solved the problem can't determine it: the solver searches for
    dependent columns only when a low rung fails.
    """

    certificate: Certificate


def _columns(value: ArrayLike, rows: int) -> Tuple[int, Float64Array]:
    b = as_float64(value, "b")
    if b.ndim not in (1, 2) or b.shape[0] != rows:
        raise ValueError(f"b has the shape {b.shape}; it must be ({rows},) or ({rows}, k)")
    two = b if b.ndim == 2 else b[:, np.newaxis]
    return b.ndim, two if lines(two) == "F" else np.asfortranarray(two)


def lstsq(
    a: ArrayLike,
    b: ArrayLike,
    *,
    ridge: float = 0.0,
    weights: Optional[ArrayLike] = None,
    qr: bool = False,
    minimum_norm: bool = True,
    tolerance: float = 0.0,
    iterations: int = 0,
    climb: bool = True,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> LstsqResult:
    """The x that minimises ||b - a @ x||_2, or with ridge ||b - a @ x||^2 + ridge ||x||^2.

    a is (m, n); arrays in C or F order, including numpy.memmap, are not copied if m >= n. b is (m,) or (m, k); for k > 1 in C order it is copied. weights: one
    non-negative value for each column of a, whose penalty is ridge * weight; use 0 for an
    intercept.

    Returns x, residues, rank, s as scipy.linalg.lstsq does, with these differences: there are no
    singular values (s is None); rank is None unless it was determined; residues are the squared
    2-norms of b - a @ x even if a is rank-deficient. Where the minimiser is not unique (columns
    depend on each other, or m < n), x is the one of least norm, as in SciPy. With
    minimum_norm=False columns that depend on others get zero coefficients, as in R's lm(), with a
    RankDeficientWarning, and m < n is refused. The result's 'certificate' has a bound on the backward error: the smallest change of a, relative to
    its Frobenius norm, for which x is an exact minimiser.

    >>> import numpy as np, stepwell
    >>> a = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> x, residues, rank, _ = stepwell.lstsq(a, [1.0, 3.0, 5.0])
    >>> bool(np.allclose(x, [1, 2]))
    True
    """
    array = as_float64(a, "a")
    if array.ndim != 2:
        raise ValueError(f"a has the shape {array.shape}; it must be (m, n)")
    if lines(array) is None:
        array = np.ascontiguousarray(array)
    dimensions, right = _columns(b, array.shape[0])
    x = np.zeros((array.shape[1], right.shape[1]), order="F")
    penalties = [] if weights is None else [float(w) for w in as_float64(weights, "weights").flat]
    with reporting(progress) as callback:
        fields = native().lstsq(
            array,
            right,
            x,
            ridge,
            penalties,
            qr,
            minimum_norm,
            tolerance,
            iterations,
            climb,
            thread_count(threads),
            callback,
        )
    certificate = certificate_of(fields)
    if certificate.outcome == "rank deficient":
        if not certificate.minimum_norm:
            warnings.warn(certificate.reason, RankDeficientWarning, stacklevel=2)
    elif not certificate.ok:
        raise error_of(certificate, x)
    residues = np.array([c.residual_norm**2 for c in certificate.columns])
    one = dimensions == 1
    result = LstsqResult(
        x[:, 0] if one else x,
        residues.reshape(()) if one else residues,
        certificate.rank if certificate.rank >= 0 else None,
        None,
    )
    result.certificate = certificate
    return result


def lstsq_plan(m: int, n: int, columns: int = 1, *, ridge: float = 0.0, qr: bool = False) -> Plan:
    """Predicts the time and memory of lstsq() for an (m, n) matrix.

    >>> import stepwell
    >>> stepwell.lstsq_plan(1_000_000, 100).bytes > 0
    True
    """
    return Plan(**native().plan_lstsq(m, n, columns, ridge, qr))

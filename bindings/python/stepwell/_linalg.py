# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""SciPy's Cholesky functions on NumPy arrays, for code that keeps a factor as an array.

Each returns None for a call that is not taken: one that is too small to pay, or on a machine where
it does not, that has other types than float64, or that fails. The caller then asks SciPy, which has the right exception.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ._arrays import by_columns
from ._native import native, thread_count

if TYPE_CHECKING:
    from ._types import Float64Array

#: The order from which, with AMX, a solve or a factor with its copy takes less time than that of SciPy from
#: pip; docs/python.md has the figures.
PAYING_ORDER = 2048
#: From this order and this number of columns on, substitution with a copy of the factor takes less
#: time than the BLAS's: 1.5 and 1.7 times less at n = 8192 without the copy, and no less at 4096.
PAYING_SOLVE = 6000
PAYING_COLUMNS = 1024


def _is_matrix(a: Any, minimum: int) -> bool:
    return (
        type(a) is np.ndarray
        and a.dtype == np.float64
        and a.dtype.isnative
        and a.ndim == 2
        and a.shape[0] >= minimum
    )


def _is_square(a: Any, minimum: int) -> bool:
    return _is_matrix(a, minimum) and a.shape[0] == a.shape[1]


def cholesky(
    a: Any, lower: bool, *, minimum: int = PAYING_ORDER, order: str = "F", threads: Optional[int] = None
) -> Optional[Float64Array]:
    """l with a = l @ l.T, or u with a = u.T @ u, and zeros in the other triangle."""
    if type(a) is np.ndarray and a.dtype == np.dtype(np.float64).newbyteorder():
        a = a.astype(np.float64)  # the same factor for both orders of bytes
    if not _is_square(a, minimum):
        return None
    if minimum >= PAYING_ORDER and not native().has_fast_factor(len(a)):
        return None
    view, flipped = by_columns(a)
    factor = native().OwnFactor(thread_count(threads))
    out = np.zeros(a.shape, order=order)  # type: ignore[call-overload]
    mine, swapped = by_columns(out)
    try:
        outcome, *_ = factor.compute(view, bool(lower) == flipped, 1.0, 2.0, 0, None)
        if outcome != "ok":
            return None
        factor.copy_triangle(mine, bool(lower) == swapped)
    except (ValueError, MemoryError, RuntimeError):
        return None
    return out


def _columns(b: Any, rows: int, columns: int) -> Optional[Float64Array]:
    """A copy of b in Fortran order, if there are so many columns."""
    if not _is_matrix(b, 1) or b.shape[0] != rows or b.shape[1] < columns:
        return None
    return np.array(b, order="F", copy=True)


def _substitute(
    use: str, c: Any, lower: bool, b: Any, minimum: int, columns: int, threads: Optional[int]
) -> Optional[Float64Array]:
    """What this method of a factor, which is in one triangle of c, makes of b."""
    if not _is_square(c, minimum):
        return None
    if minimum >= PAYING_ORDER and not native().has_fast_factor(len(c)):
        return None
    x = _columns(b, len(c), columns)
    if x is None:
        return None
    view, flipped = by_columns(c)
    factor = native().OwnFactor(thread_count(threads))
    try:
        factor.adopt(view, bool(lower) == flipped)
        getattr(factor, use)(x)
    except (ValueError, MemoryError, RuntimeError):
        return None
    return x


def cho_solve(
    c: Any,
    lower: bool,
    b: Any,
    *,
    minimum: int = PAYING_SOLVE,
    columns: int = PAYING_COLUMNS,
    threads: Optional[int] = None,
) -> Optional[Float64Array]:
    """a^-1 @ b, with the factor of a in one triangle of c."""
    return _substitute("solve_unrefined", c, lower, b, minimum, columns, threads)


def solve_triangular(
    a: Any,
    b: Any,
    lower: bool,
    *,
    minimum: int = PAYING_SOLVE,
    columns: int = PAYING_COLUMNS,
    threads: Optional[int] = None,
) -> Optional[Float64Array]:
    """a^-1 @ b for a lower triangular a; of an upper one a.T^-1 @ b."""
    return _substitute("half_solve", a, lower, b, minimum, columns, threads)

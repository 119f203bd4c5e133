# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""A Cholesky factor in FP64 that follows its matrix: rows appended and dropped, rank-k changes."""
from __future__ import annotations

import operator
import os
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Iterator, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import as_float64, by_columns, right_hand_sides, square
from ._errors import JitterWarning, NonFinite, NotPositiveDefinite, SolveError
from ._native import native, thread_count
from ._progress import Progress, reporting
from ._uses import FactorUses

if TYPE_CHECKING:
    from ._types import ArrayLike, Float64Array


class Cholesky(FactorUses):
    """The Cholesky factor l of a symmetric positive definite a = l @ l.T, in FP64.

    Unlike stepwell.Factor it does not keep a, so it cannot refine: solve() is scipy's cho_solve.
    In exchange it can be changed: append(), drop(), update() and downdate() cost a part of a new
    factorization, and leave the factor as it was if they raise. Only one triangle of a is read,
    the upper one as in scipy.linalg.cho_factor, or the lower one.
    Several threads may use a factor; their calls run one after the other.

    With jitter=(start, factor, tries), if a is not positive definite in FP64, start times the mean
    of its diagonal is added to the diagonal, and at each further try factor times as much: then
    the attribute jitter is not 0, and there is a JitterWarning.

    >>> import numpy as np, stepwell
    >>> a = np.array([[4.0, 2.0, 2.0], [2.0, 5.0, 3.0], [2.0, 3.0, 6.0]])
    >>> c = stepwell.Cholesky(a[:2, :2])
    >>> c.append(a[2])
    >>> c.l().round(12).tolist()
    [[2.0, 0.0, 0.0], [1.0, 2.0, 0.0], [1.0, 1.0, 2.0]]
    >>> bool(np.allclose(c.solve(a @ [1.0, 2.0, 3.0]), [1, 2, 3]))
    True
    """

    def __init__(
        self,
        a: ArrayLike,
        lower: bool = False,
        *,
        jitter: Optional[Tuple[float, float, int]] = None,
        threads: Optional[int] = None,
        progress: Progress = None,
    ):
        start, factor, tries = (2.0**-40, 10.0, 0) if jitter is None else jitter
        view, flipped = by_columns(square(a))
        self._native = native().OwnFactor(thread_count(threads))
        self._lock = threading.Lock()
        self._pid = os.getpid()
        with reporting(progress) as callback:
            outcome, pivot, row, col, self._jitter = self._native.compute(
                view, bool(lower) == flipped, float(start), float(factor), int(tries), callback
            )
        if outcome == "not positive definite":
            raise NotPositiveDefinite(f"a is not positive definite: pivot {pivot} fails")
        if outcome == "non-finite element":
            place: Tuple[int, int] = (col, row) if flipped else (row, col)
            raise NonFinite(f"a has an element that is not finite, at {place}")
        if outcome != "ok":
            raise SolveError(outcome)
        if self._jitter:
            warnings.warn(
                f"a is not positive definite in FP64: {self._jitter:.3g} was added to its diagonal",
                JitterWarning,
                stacklevel=2,
            )

    @contextmanager
    def _cholesky(self, progress: Any = None) -> Iterator[Any]:
        if self._pid != os.getpid():  # another thread of the parent may have held the lock
            self._lock, self._pid = threading.Lock(), os.getpid()
        with self._lock:
            yield self._native

    @property
    def order(self) -> int:
        return int(self._native.order)

    @property
    def jitter(self) -> float:
        """What was added to each diagonal element of a: 0 unless the argument allowed it."""
        return float(self._jitter)

    def l(self) -> Float64Array:
        """The factor, with zeros above the diagonal."""
        with self._cholesky() as factor:
            out = np.empty((factor.order, factor.order), order="F")
            factor.copy_to(out)
        return out

    def solve(self, b: ArrayLike, *, overwrite_b: bool = False) -> Float64Array:
        """Solves a @ x = b: solve_unrefined()."""
        return self.solve_unrefined(b, overwrite_b=overwrite_b)

    def log_det(self) -> float:
        """log det a.

        >>> import stepwell
        >>> stepwell.Cholesky([[1.0, 0.0], [0.0, 1.0]]).log_det()
        0.0
        """
        with self._cholesky() as factor:
            return float(factor.log_det())

    def append(self, rows: ArrayLike) -> None:
        """Appends k rows and columns to a: rows has the shape (k, n + k), or (n + 1,) for one.

        These are the last rows of the larger matrix. Appending many rows together is cheaper than
        one after the other. Raises NotPositiveDefinite if the larger matrix is not.
        """
        array = np.atleast_2d(as_float64(rows, "rows"))
        if array.ndim != 2 or array.shape[1] != self.order + array.shape[0]:
            raise ValueError(
                f"rows has the shape {np.shape(rows)}; for a factor of order {self.order} it must be "
                f"(k, {self.order} + k)"
            )
        with self._cholesky() as factor:
            definite = factor.append(np.asfortranarray(array))
        if not definite:
            raise NotPositiveDefinite("append: the larger matrix is not positive definite")

    def drop(self, rows: Union[int, Sequence[int]]) -> None:
        """Drops these rows and columns of a; those that stay keep their order.

        >>> import numpy as np, stepwell
        >>> c = stepwell.Cholesky(np.diag([1.0, 4.0, 9.0]))
        >>> c.drop(0)
        >>> c.l().round(12).tolist()
        [[2.0, 0.0], [0.0, 3.0]]
        """
        with self._cholesky() as factor:
            factor.drop([operator.index(row) for row in np.atleast_1d(rows)])

    def update(self, v: ArrayLike) -> None:
        """Changes a to a + v @ v.T; v has the shape (n,) or (n, k).

        >>> import numpy as np, stepwell
        >>> c = stepwell.Cholesky(np.diag([9.0, 4.0]))
        >>> c.update([4.0, 0.0])
        >>> c.l().round(12).tolist()
        [[5.0, 0.0], [0.0, 2.0]]
        """
        columns = self._columns(v)
        with self._cholesky() as factor:
            factor.update(columns)

    def downdate(self, v: ArrayLike) -> None:
        """Changes a to a - v @ v.T; v has the shape (n,) or (n, k).

        Raises NotPositiveDefinite if that is not positive definite, or so close to it that rounding
        errors decide. The error is relative to the a before.

        >>> import numpy as np, stepwell
        >>> c = stepwell.Cholesky(np.diag([25.0, 4.0]))
        >>> c.downdate([4.0, 0.0])
        >>> c.l().round(12).tolist()
        [[3.0, 0.0], [0.0, 2.0]]
        """
        columns = self._columns(v)
        with self._cholesky() as factor:
            definite = factor.downdate(columns)
        if not definite:
            raise NotPositiveDefinite("downdate: a - v @ v.T is not positive definite in FP64")

    def _columns(self, v: ArrayLike) -> Float64Array:
        return right_hand_sides(v, self.order, True, "v")[1]

    def __repr__(self) -> str:
        return f"<stepwell.Cholesky: order {self.order}>"

# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Batches of small symmetric positive definite systems, of order at most 128.

Arrays are (count, n, n) and (count, n) or (count, n, k), float64 or float32; other real types are
converted to float64. The bits of a result depend only on its own system.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Literal, Optional, Tuple, Union, overload

import numpy as np

from ._als import als_step
from ._arrays import as_float64
from ._errors import NotPositiveDefinite
from ._native import native, thread_count
from ._progress import Progress, reporting

if TYPE_CHECKING:
    from ._types import ArrayLike, Float64Array, FloatArray, Int32Array, Int64Array

__all__ = ["BatchResult", "als_step", "cholesky", "factor_solve", "solve", "substitute"]


@dataclass(frozen=True)
class BatchResult:
    """The result with full_output=True. Arrays that were not requested are None."""

    x: Optional[FloatArray]
    #: The Cholesky factors, from cholesky() and factor_solve().
    factor: Optional[FloatArray]
    #: Indices of the systems with a failing pivot, ascending. Their x holds b, their factor a.
    failures: Int64Array
    #: The first failing pivot of each system, from 0; -1: none.
    pivots: Int32Array
    #: log det(a); NaN where a pivot fails. None with mixed=True, which has no FP64 factor.
    log_determinants: Optional[Float64Array]
    #: Normwise backward errors, from solve() and factor_solve() if requested.
    backward_errors: Optional[Float64Array]
    #: With mixed=True: refinement steps; -1: solved in fp64.
    iterations: Optional[Int32Array]
    threads: int

    @property
    def ok(self) -> bool:
        return self.failures.size == 0


def _matrices(value: ArrayLike) -> Any:
    """The value as a (count, n, n) array whose matrices have contiguous rows."""
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    if array.dtype != np.float32 or isinstance(array, np.ma.MaskedArray):
        array = as_float64(array, "a")
    if array.ndim != 3 or array.shape[1] != array.shape[2]:
        raise ValueError(f"a has the shape {array.shape}; it must be (count, n, n)")
    _, n, _ = array.shape
    item = array.itemsize
    down, across = array.strides[1:]
    if n > 1 and not (across == item and down >= n * item):
        return np.ascontiguousarray(array)
    return np.asarray(array)


def _sides(value: ArrayLike, a: Any) -> Tuple[Any, Any]:
    """(x in b's shape, x as (count, n, k) with contiguous columns): a new array, filled with b."""
    b = np.asarray(value)
    if b.dtype != np.float32 or isinstance(value, np.ma.MaskedArray):
        b = as_float64(value, "b")
    count, n, _ = a.shape
    if b.ndim not in (2, 3) or b.shape[:2] != (count, n):
        raise ValueError(
            f"b has the shape {b.shape}; it must be ({count}, {n}) or ({count}, {n}, k)"
        )
    if b.ndim == 2:
        x = np.array(b, dtype=a.dtype, order="C", copy=True)
        return x, x[:, :, np.newaxis]
    turned = np.empty((count, b.shape[2], n), dtype=a.dtype)
    x = turned.swapaxes(1, 2)
    x[...] = b
    return x, x


class _Call:
    """Options, outputs and the report of one call."""

    def __init__(self, a: Any, lower: bool, threads: Optional[int], **options: Any):
        self.arguments = native().BatchArguments()
        self.arguments.upper = lower  # rows of a C-ordered array are columns to the library
        self.arguments.threads = thread_count(threads)
        for name, value in options.items():
            setattr(self.arguments, name, value)
        self.arrays: Dict[str, Any] = {"pivots": np.full(a.shape[0], -1, dtype=np.int32)}
        if not options.get("mixed"):
            self.want("log_determinants")
        self.outputs = native().BatchOutputs()

    def want(self, name: str, dtype: Any = np.float64) -> None:
        self.arrays[name] = np.zeros(self.arrays["pivots"].shape, dtype=dtype)

    def run(self, function: str, *arrays: Any, progress: Progress = None) -> None:
        for name, array in self.arrays.items():
            getattr(self.outputs, name)(array)
        with reporting(progress) as callback:
            self.report = getattr(native(), function)(
                *arrays, self.arguments, self.outputs, callback
            )

    def result(
        self, x: Optional[FloatArray], factor: Optional[FloatArray], full_output: bool
    ) -> Any:
        failures = np.array(self.report["failures"], dtype=np.int64)
        if full_output:
            return BatchResult(
                x,
                factor,
                failures,
                self.arrays["pivots"],
                self.arrays.get("log_determinants"),
                self.arrays.get("backward_errors"),
                self.arrays.get("iterations"),
                self.report["threads"],
            )
        if failures.size:
            first = int(failures[0])
            raise NotPositiveDefinite(
                f"{failures.size} of {self.arrays['pivots'].size} matrices are not positive "
                f"definite, the first is {first} (pivot {self.arrays['pivots'][first]}); "
                "full_output=True returns the others' results and the list"
            )
        both = [r for r in (factor, x) if r is not None]
        return both[0] if len(both) == 1 else tuple(both)


def _fortran(a: Any) -> Any:
    """The same matrices in the library's column-major view: rows become columns."""
    return a.swapaxes(1, 2)


def _without_other_triangle(factor: Any, lower: bool, failures: Any) -> None:
    """Sets the other triangle of the factors to zero; matrices that failed are unchanged."""
    rows, cols = np.triu_indices(factor.shape[1], 1)
    kept = factor[failures] if len(failures) else None
    factor[(slice(None), rows, cols) if lower else (slice(None), cols, rows)] = 0
    if kept is not None:
        factor[failures] = kept


@overload
def solve(
    a: ArrayLike,
    b: ArrayLike,
    *,
    lower: bool = ...,
    mixed: bool = ...,
    tolerance: float = ...,
    fast: bool = ...,
    backward_errors: bool = ...,
    threads: Optional[int] = ...,
    progress: Progress = ...,
    full_output: Literal[False] = ...,
) -> FloatArray: ...
@overload
def solve(
    a: ArrayLike,
    b: ArrayLike,
    *,
    lower: bool = ...,
    mixed: bool = ...,
    tolerance: float = ...,
    fast: bool = ...,
    backward_errors: bool = ...,
    threads: Optional[int] = ...,
    progress: Progress = ...,
    full_output: Literal[True],
) -> BatchResult: ...
def solve(
    a: ArrayLike,
    b: ArrayLike,
    *,
    lower: bool = True,
    mixed: bool = False,
    tolerance: float = 0.0,
    fast: bool = False,
    backward_errors: bool = False,
    threads: Optional[int] = None,
    progress: Progress = None,
    full_output: bool = False,
) -> Union[FloatArray, BatchResult]:
    """Solves a[m] @ x[m] = b[m] for each m; one triangle of a is read, a and b are not written.

    A C-ordered a is not copied. x is a new array; for a (count, n, k) b it is a view of an array
    whose columns are contiguous. mixed: factor in fp32, refine in fp64. fast: approximate square
    roots, with errors of a few units in the last place.

    Raises NotPositiveDefinite if a matrix is not positive definite; with full_output=True nothing
    is raised and a BatchResult is returned.

    >>> import numpy as np
    >>> from stepwell import batch
    >>> a = np.array([[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]])
    >>> r = batch.solve(a, np.array([[3.0, 3.0], [1.0, 1.0]]), full_output=True)
    >>> r.failures.tolist(), r.pivots.tolist()
    ([1], [-1, 1])
    >>> bool(np.allclose(r.x[0], [1, 1]) and np.allclose(r.log_determinants[0], np.log(3)))
    True
    """
    matrices = _matrices(a)
    x, columns = _sides(b, matrices)
    call = _Call(matrices, lower, threads, mixed=mixed, tolerance=tolerance, fast=fast)
    if backward_errors or mixed:
        call.want("backward_errors")
    if mixed:
        call.want("iterations", np.int32)
    call.run("batch_solve", _fortran(matrices), columns, progress=progress)
    found: Union[FloatArray, BatchResult] = call.result(x, None, full_output)
    return found


@overload
def cholesky(
    a: ArrayLike,
    *,
    lower: bool = ...,
    fast: bool = ...,
    overwrite_a: bool = ...,
    threads: Optional[int] = ...,
    progress: Progress = ...,
    full_output: Literal[False] = ...,
) -> FloatArray: ...
@overload
def cholesky(
    a: ArrayLike,
    *,
    lower: bool = ...,
    fast: bool = ...,
    overwrite_a: bool = ...,
    threads: Optional[int] = ...,
    progress: Progress = ...,
    full_output: Literal[True],
) -> BatchResult: ...
def cholesky(
    a: ArrayLike,
    *,
    lower: bool = True,
    fast: bool = False,
    overwrite_a: bool = False,
    threads: Optional[int] = None,
    progress: Progress = None,
    full_output: bool = False,
) -> Union[FloatArray, BatchResult]:
    """The Cholesky factors, as from numpy.linalg.cholesky for a stack; lower=False: transposed.

    Only the triangle that 'lower' selects is read. overwrite_a: C-ordered float64 and float32
    arrays are factored in place.

    >>> import numpy as np
    >>> from stepwell import batch
    >>> a = np.array([[[4.0, 2.0], [2.0, 5.0]]])
    >>> batch.cholesky(a).tolist()
    [[[2.0, 0.0], [1.0, 2.0]]]
    """
    matrices = _own(a, overwrite_a)
    call = _Call(matrices, lower, threads, fast=fast)
    call.run("batch_cholesky", _fortran(matrices), progress=progress)
    _without_other_triangle(matrices, lower, call.report["failures"])
    found: Union[FloatArray, BatchResult] = call.result(None, matrices, full_output)
    return found


def _own(a: ArrayLike, overwrite: bool) -> Any:
    matrices = _matrices(a)
    if overwrite and matrices.flags.writeable:
        return matrices
    return np.array(matrices, order="C", copy=True)


@overload
def factor_solve(
    a: ArrayLike,
    b: ArrayLike,
    *,
    lower: bool = ...,
    fast: bool = ...,
    backward_errors: bool = ...,
    overwrite_a: bool = ...,
    threads: Optional[int] = ...,
    progress: Progress = ...,
    full_output: Literal[False] = ...,
) -> Tuple[FloatArray, FloatArray]: ...
@overload
def factor_solve(
    a: ArrayLike,
    b: ArrayLike,
    *,
    lower: bool = ...,
    fast: bool = ...,
    backward_errors: bool = ...,
    overwrite_a: bool = ...,
    threads: Optional[int] = ...,
    progress: Progress = ...,
    full_output: Literal[True],
) -> BatchResult: ...
def factor_solve(
    a: ArrayLike,
    b: ArrayLike,
    *,
    lower: bool = True,
    fast: bool = False,
    backward_errors: bool = False,
    overwrite_a: bool = False,
    threads: Optional[int] = None,
    progress: Progress = None,
    full_output: bool = False,
) -> Union[Tuple[FloatArray, FloatArray], BatchResult]:
    """Returns (factors, x): cholesky() and solve() in one pass.

    >>> import numpy as np
    >>> from stepwell import batch
    >>> l, x = batch.factor_solve(np.array([[[4.0, 2.0], [2.0, 5.0]]]), np.array([[6.0, 7.0]]))
    >>> l.tolist(), bool(np.allclose(x, 1))
    ([[[2.0, 0.0], [1.0, 2.0]]], True)
    """
    matrices = _own(a, overwrite_a)
    x, columns = _sides(b, matrices)
    call = _Call(matrices, lower, threads, fast=fast)
    if backward_errors:
        call.want("backward_errors")
    call.run("batch_factor_solve", _fortran(matrices), columns, progress=progress)
    _without_other_triangle(matrices, lower, call.report["failures"])
    found: Union[Tuple[FloatArray, FloatArray], BatchResult] = call.result(x, matrices, full_output)
    return found


@overload
def substitute(
    factor: ArrayLike,
    b: ArrayLike,
    *,
    lower: bool = ...,
    threads: Optional[int] = ...,
    progress: Progress = ...,
    full_output: Literal[False] = ...,
) -> FloatArray: ...
@overload
def substitute(
    factor: ArrayLike,
    b: ArrayLike,
    *,
    lower: bool = ...,
    threads: Optional[int] = ...,
    progress: Progress = ...,
    full_output: Literal[True],
) -> BatchResult: ...
def substitute(
    factor: ArrayLike,
    b: ArrayLike,
    *,
    lower: bool = True,
    threads: Optional[int] = None,
    progress: Progress = None,
    full_output: bool = False,
) -> Union[FloatArray, BatchResult]:
    """Solves with factors from cholesky(); x has the same bits as from factor_solve().

    >>> import numpy as np
    >>> from stepwell import batch
    >>> l = batch.cholesky(np.array([[[4.0, 2.0], [2.0, 5.0]]]))
    >>> bool(np.allclose(batch.substitute(l, np.array([[6.0, 7.0]])), 1))
    True
    """
    factors = _matrices(factor)
    x, columns = _sides(b, factors)
    call = _Call(factors, lower, threads)
    call.run("batch_substitute", _fortran(factors), columns, progress=progress)
    found: Union[FloatArray, BatchResult] = call.result(x, None, full_output)
    return found

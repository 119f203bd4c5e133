# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Converts arrays to layouts that the library accepts."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Tuple

import numpy as np

if TYPE_CHECKING:
    from ._types import ArrayLike, Float64Array

_masked = "masked arrays are not supported: fill or drop the masked elements"
_sparse = "sparse matrices are not supported: use .toarray(), or a sparse solver"


def as_float64(value: ArrayLike, name: str) -> Float64Array:
    """The value as an ndarray of native float64. Other real types are converted, which copies.

    An array of another library is not copied if it has DLPack's interface, as ours have.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name}: {_masked}")
    if not isinstance(value, np.ndarray) and hasattr(value, "tocsr"):
        raise TypeError(f"{name}: {_sparse}")
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        try:
            value = np.from_dlpack(value)  # type: ignore[arg-type]
        except BufferError as error:
            raise TypeError(f"{name} is not in this process's memory: {error}") from error
    array: Any = np.asarray(value)
    kind = array.dtype.kind
    if kind == "c":
        raise TypeError(
            f"{name} is complex ({array.dtype}), and only real systems are supported; "
            "use scipy.linalg.solve"
        )
    if kind not in "fiub" or array.dtype.itemsize > 8:
        raise TypeError(
            f"{name} has the type {array.dtype}; it must be float64, or float16, float32, integers "
            "or bool, which are converted"
        )
    if array.dtype != np.float64 or not array.dtype.isnative or not array.flags.aligned:
        array = array.astype(np.float64)
    result: Float64Array = array
    return result


def lines(array: Float64Array) -> Optional[str]:
    """'F' if the columns of a 2-D array are contiguous, 'C' if its rows are, None if neither is.

    There may be gaps between columns or rows, as in a slice; they must not overlap.
    """
    rows, cols = array.shape
    item = array.itemsize
    down, across = array.strides
    if (rows <= 1 or down == item) and (cols <= 1 or across >= rows * item):
        return "F"
    if (cols <= 1 or across == item) and (rows <= 1 or down >= cols * item):
        return "C"
    return None


def by_columns(array: Float64Array) -> Tuple[Float64Array, bool]:
    """(view with contiguous columns, whether it is the transpose). No copy for C or F order."""
    order = lines(array)
    if order == "F":
        return array, False
    if order != "C":
        array = np.ascontiguousarray(array)
    return array.T, True


def square(value: ArrayLike, name: str = "a") -> Float64Array:
    array = as_float64(value, name)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        tall = array.ndim == 2 and array.shape[0] > array.shape[1]
        more = "; stepwell.lstsq minimises ||b - a @ x||" if tall else ""
        raise ValueError(f"{name} has the shape {array.shape}; it must be square{more}")
    return array


def stacked(a: ArrayLike, b: ArrayLike) -> Tuple[Float64Array, Float64Array, Float64Array]:
    """(matrices, right-hand sides, an array for the solutions), broadcast as by numpy.linalg.solve.

    A b of one dimension is one vector for all systems; otherwise its last two are a matrix.
    """
    matrices, sides = as_float64(a, "a"), as_float64(b, "b")
    if sides.ndim == 1:
        sides = sides[:, np.newaxis]
    shapes = f"a has the shape {matrices.shape} and b {np.shape(b)}"
    if matrices.ndim < 2 or matrices.shape[-1] != matrices.shape[-2]:
        raise ValueError(f"{shapes}; the last two dimensions of a must be equal")
    if sides.shape[-2] != matrices.shape[-1]:
        raise ValueError(f"{shapes}; b must be (..., {matrices.shape[-1]}, k)")
    try:
        stack = np.broadcast_shapes(matrices.shape[:-2], sides.shape[:-2])
    except ValueError:
        raise ValueError(f"{shapes}; their stacks can't be broadcast together") from None
    x = np.empty(stack + sides.shape[-2:])
    return np.broadcast_to(matrices, stack + matrices.shape[-2:]), np.broadcast_to(sides, x.shape), x


def right_hand_sides(
    value: ArrayLike, rows: int, overwrite: bool, name: str = "b"
) -> Tuple[Float64Array, Float64Array]:
    """(x in b's shape, x in two dimensions), both in the same memory and filled with b.

    x is a new F-ordered array, or b itself if it may be overwritten and has this order.
    """
    array = as_float64(value, name)
    if array.ndim not in (1, 2) or array.shape[0] != rows:
        raise ValueError(f"{name} has the shape {array.shape}; it must be ({rows},) or ({rows}, k)")
    mine = isinstance(value, (list, tuple)) or (
        isinstance(value, np.ndarray) and not np.may_share_memory(array, value)
    )
    if not (overwrite or mine) or not array.flags.writeable:
        array = np.array(array, order="F", copy=True)
    two = array if array.ndim == 2 else array[:, np.newaxis]
    if lines(two) != "F":
        array = np.array(array, order="F", copy=True)
        two = array if array.ndim == 2 else array[:, np.newaxis]
    return array, two

# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""batch.als_step(): small ridge systems gathered from a sparse matrix."""
from typing import Any, Optional, Tuple

import numpy as np

from ._native import native, thread_count
from ._progress import Progress, reporting


def als_step(
    ratings: Any,
    items: Any,
    users: Optional[np.ndarray] = None,
    *,
    ridge: float = 0.1,
    weighted: bool = False,
    implicit: bool = False,
    alpha: float = 40.0,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> Tuple[np.ndarray, np.ndarray]:
    """A half step of alternating least squares with fixed item vectors. Returns (users, failures).

    ratings: a SciPy CSR matrix or array, users by items, or any object with indptr, indices, data
    and shape. items: (item count, k), float32, k at most 128. users: (user count, k), C-ordered
    float32, written in place; None: a new array. Row u of users minimises the squared error of u's
    ratings + ridge ||row||^2 (weighted: ridge times the number of ratings). implicit: ratings are
    counts, with confidence 1 + alpha * count. failures: users whose system is not positive
    definite; their rows are unchanged. For the other half step pass ratings.T.tocsr() and exchange
    users and items.

    The arrays are not copied if indices are int32 and data are float32; int32 indptr is converted.

    >>> import numpy as np
    >>> from stepwell import batch
    >>> class Ratings:                        # scipy.sparse.csr_array([[2.0, 0.0], [1.0, 3.0]])
    ...     shape = (2, 2)
    ...     indptr = np.array([0, 1, 3])
    ...     indices = np.array([0, 0, 1])
    ...     data = np.array([2.0, 1.0, 3.0])
    >>> users, failures = batch.als_step(Ratings(), np.array([[1.0], [1.0]]), ridge=1.0)
    >>> bool(np.allclose(users[:, 0], [1.0, 4 / 3])), failures.tolist()
    (True, [])
    """
    rows, cols = ratings.shape
    vectors = np.ascontiguousarray(items, dtype=np.float32)
    if vectors.ndim != 2 or vectors.shape[0] != cols:
        raise ValueError(f"items has the shape {vectors.shape}; it must be ({cols}, k)")
    if users is None:
        users = np.zeros((rows, vectors.shape[1]), dtype=np.float32)
    elif (
        users.dtype != np.float32
        or users.shape != (rows, vectors.shape[1])
        or not users.flags.c_contiguous
        or not users.flags.writeable
    ):
        raise ValueError(
            f"users must be a C-ordered, writable float32 array of {(rows, vectors.shape[1])}"
        )
    starts = np.ascontiguousarray(ratings.indptr, dtype=np.int64)
    if starts.shape != (rows + 1,):
        raise ValueError(f"indptr has the shape {starts.shape}; it must be ({rows + 1},)")
    if cols > np.iinfo(np.int32).max:
        raise ValueError(f"{cols} items are too many for 32-bit indices")
    with reporting(progress) as callback:
        report = native().als_step(
            cols,
            starts,
            np.ascontiguousarray(ratings.indices, dtype=np.int32),
            np.ascontiguousarray(ratings.data, dtype=np.float32),
            vectors,
            users,
            implicit,
            ridge,
            weighted,
            alpha,
            thread_count(threads),
            callback,
        )
    return users, np.array(report["failures"], dtype=np.int64)

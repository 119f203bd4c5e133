# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""What patch() puts in place of NumPy's and SciPy's Cholesky functions: the same arrays, sooner."""
from __future__ import annotations

import functools
import time
from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from . import _linalg

Function = Callable[..., Any]


class CholeskyFunctions:
    """Replacements that count their calls. 'minimum' below PAYING_ORDER is for tests: everything
    of that order is taken."""

    def __init__(self, minimum: int, threads: Optional[int], count: Callable[..., None]):
        self._count = count
        self._factor = {"minimum": minimum, "threads": threads}
        tested = minimum < _linalg.PAYING_ORDER
        self._solve = {
            "minimum": minimum if tested else max(minimum, _linalg.PAYING_SOLVE),
            "columns": 1 if tested else _linalg.PAYING_COLUMNS,
            "threads": threads,
        }

    def pairs(self, linalg: Any) -> List[Tuple[Function, Function]]:
        """(original, replacement) for NumPy and, unless it is None, scipy.linalg."""
        found = [(np.linalg.cholesky, self._numpy(np.linalg.cholesky))]
        if linalg is not None:
            for name in ("cholesky", "cho_factor", "cho_solve", "solve_triangular"):
                original = getattr(linalg, name)
                found.append((original, getattr(self, "_" + name)(original)))
        return found

    def _taken(self, compute: Callable[[], Any], finite: List[Any]) -> Any:
        """The result, or None for a call that is forwarded. SciPy refuses arrays with elements that
        are not finite, wherever they are."""
        start = time.monotonic()
        found = compute()
        if found is not None and not all(np.isfinite(array).all() for array in finite):
            found = None
        if found is None:
            self._count("forwarded")
        else:
            self._count("taken", time.monotonic() - start)
        return found

    def _numpy(self, original: Function) -> Function:
        @functools.wraps(original)
        def numpy_cholesky(a: Any, **options: Any) -> Any:
            upper = bool(options.get("upper", False))
            found = self._taken(
                lambda: None if upper else _linalg.cholesky(a, True, order="C", **self._factor), []
            )
            return original(a, **options) if found is None else found

        return numpy_cholesky

    def _cholesky(self, original: Function) -> Function:
        return self._factored(original, lambda l, lower: l)

    def _cho_factor(self, original: Function) -> Function:
        return self._factored(original, lambda c, lower: (c, lower))

    def _factored(self, original: Function, result: Function) -> Function:
        @functools.wraps(original)
        def factored(
            a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
        ) -> Any:
            found = self._taken(
                lambda: _linalg.cholesky(a, lower, **self._factor), [a] if check_finite else []
            )
            if found is None:
                return original(a, lower, overwrite_a, check_finite)
            return result(found, lower)

        return factored

    def _cho_solve(self, original: Function) -> Function:
        @functools.wraps(original)
        def cho_solve(
            c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True
        ) -> Any:
            c, lower = c_and_lower
            found = self._taken(
                lambda: _linalg.cho_solve(c, lower, b, **self._solve),
                [b, c] if check_finite else [],
            )
            return original(c_and_lower, b, overwrite_b, check_finite) if found is None else found

        return cho_solve

    def _solve_triangular(self, original: Function) -> Function:
        @functools.wraps(original)
        def solve_triangular(
            a: Any,
            b: Any,
            trans: Any = 0,
            lower: bool = False,
            unit_diagonal: bool = False,
            overwrite_b: bool = False,
            check_finite: bool = True,
        ) -> Any:
            # Forward substitution is what is fast: with a lower a, or the transpose of an upper one.
            forward = trans in ((0, "N") if lower else (1, "T", 2, "C")) and not unit_diagonal
            found = self._taken(
                lambda: _linalg.solve_triangular(a, b, lower, **self._solve) if forward else None,
                [a, b] if check_finite else [],
            )
            if found is None:
                return original(a, b, trans, lower, unit_diagonal, overwrite_b, check_finite)
            return found

        return solve_triangular

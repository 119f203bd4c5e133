# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""patch(): replaces functions of NumPy and SciPy where Stepwell's mean the same and pay."""
import functools
import importlib
import sys
import threading
import time
import warnings
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from ._linalg import PAYING_ORDER
from ._patch_cholesky import CholeskyFunctions
from ._solve import memory_plan, solve

_taken_structures = (None, "gen", "general", "pos", "positive definite")


def _plain(a: Any, b: Any, minimum: int) -> bool:
    """Whether NumPy, SciPy and Stepwell treat a and b alike: float64, a in 2-D, b in 1-D or 2-D."""
    return (
        type(a) is np.ndarray
        and type(b) is np.ndarray
        and a.dtype == np.float64
        and b.dtype == np.float64
        and a.ndim == 2
        and a.shape[0] == a.shape[1]
        and a.shape[0] >= minimum
        and b.ndim in (1, 2)
        and b.shape[0] == a.shape[0]
        and b.size > 0
    )


def _pays(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether Stepwell is predicted to beat FP64: each right-hand side costs a refinement."""
    if b.ndim == 1 or b.shape[1] == 1:
        return True
    n, columns = b.shape
    return memory_plan(n, columns).seconds < memory_plan(n, columns, map="fp64").seconds


def _sparse_corners(a: np.ndarray) -> bool:
    """Whether a might be banded or triangular: SciPy has methods of cost n^2 for these."""
    return bool(a[-1, 0] == 0 or a[0, -1] == 0)


class patch:
    """Takes large calls of numpy.linalg and scipy.linalg; forwards all others.

    These are solve, and of both cholesky, of SciPy also cho_factor, cho_solve and solve_triangular
    with many right-hand sides: with the same arrays as results, in FP64.

    Stepwell solves calls with plain float64 arrays, a of order 'minimum' or more, b of one or two
    dimensions; for scipy.linalg.solve with assume_a None, 'gen' or 'pos'. A solve that does not
    converge is also forwarded to the original function, whose exceptions and warnings the caller
    sees. Modules that imported the function by name (from scipy.linalg import solve) are found and
    patched, too.

    Use it as a context manager, or with install() and uninstall(). 'taken' (handled by Stepwell),
    'forwarded' and 'failed' count calls; str() gives a line to print. condition=True estimates the
    condition number of each system and warns as SciPy does; it costs a factorization if none was
    needed.

    >>> import numpy as np, stepwell
    >>> a, b = np.diag(np.arange(1.0, 9.0)) + 0.1, np.ones(8)
    >>> with stepwell.patch(minimum=1) as calls:
    ...     x = np.linalg.solve(a, b)
    >>> calls.taken, calls.forwarded
    (1, 0)
    """

    def __init__(
        self,
        minimum: int = PAYING_ORDER,
        *,
        condition: bool = False,
        threads: Optional[int] = None,
    ):
        self.minimum = minimum
        self.condition = condition
        self.threads = threads
        self.taken = 0
        self.forwarded = 0
        #: Calls that did not converge and were then forwarded.
        self.failed = 0
        #: Total time in seconds of the calls that Stepwell handled.
        self.seconds = 0.0
        self._lock = threading.Lock()
        self._pairs: List[Tuple[Callable[..., Any], Callable[..., Any]]] = []

    def __enter__(self) -> "patch":
        return self.install()

    def __exit__(self, *_: Any) -> None:
        self.uninstall()

    def install(self) -> "patch":
        """Replaces the functions; raises RuntimeError if that is done already."""
        if self._pairs:
            raise RuntimeError("the patch is installed already")
        self._pairs.append((np.linalg.solve, self._numpy(np.linalg.solve)))
        try:
            linalg: Any = importlib.import_module("scipy.linalg")
        except ImportError:
            linalg = None
        if linalg is not None:
            self._pairs.append((linalg.solve, self._scipy(linalg.solve)))
        functions = CholeskyFunctions(self.minimum, self.threads, self._count)
        self._pairs += functions.pairs(linalg)
        _replace({id(old): (old, new) for old, new in self._pairs})
        return self

    def uninstall(self) -> None:
        """Restores the original functions in all modules."""
        _replace({id(new): (new, old) for old, new in self._pairs})
        self._pairs.clear()

    def __str__(self) -> str:
        return (
            f"stepwell: {self.taken} calls handled ({self.seconds:.1f} s), {self.forwarded} "
            f"forwarded, {self.failed} forwarded after they failed"
        )

    def _count(self, name: str, seconds: float = 0.0) -> None:
        with self._lock:
            setattr(self, name, getattr(self, name) + 1)
            self.seconds += seconds

    def _ours(self, a: Any, b: Any) -> bool:
        # A smaller minimum is for tests and applies regardless of the predicted time.
        return _plain(a, b, self.minimum) and (self.minimum < PAYING_ORDER or _pays(a, b))

    def _take(self, a: Any, b: Any, original: Callable[[], Any], **options: Any) -> Any:
        start = time.monotonic()
        try:
            x, certificate = solve(
                a, b, condition=self.condition, threads=self.threads, full_output=True, **options
            )
        except (ValueError, MemoryError, RuntimeError):
            certificate = None
        if certificate is None or not certificate.ok:
            self._count("failed")
            return original()
        if self.condition and not certificate.condition * 2.0**-53 < 1:
            from scipy.linalg import LinAlgWarning

            warnings.warn(
                f"An ill-conditioned matrix detected: rcond = {1 / certificate.condition:.6g}.",
                LinAlgWarning,
                stacklevel=4,
            )
        self._count("taken", time.monotonic() - start)
        return x

    def _numpy(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def numpy_solve(a: Any, b: Any) -> Any:
            if not self._ours(a, b):
                self._count("forwarded")
                return original(a, b)
            return np.ascontiguousarray(self._take(a, b, lambda: original(a, b), assume_a=None))

        return numpy_solve

    def _scipy(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def scipy_solve(
            a: Any,
            b: Any,
            lower: bool = False,
            overwrite_a: bool = False,
            overwrite_b: bool = False,
            check_finite: bool = True,
            assume_a: Optional[str] = None,
            transposed: bool = False,
        ) -> Any:
            options: Dict[str, Any] = {} if assume_a is None else {"assume_a": assume_a}

            def forward() -> Any:
                return original(
                    a,
                    b,
                    lower,
                    overwrite_a,
                    overwrite_b,
                    check_finite,
                    transposed=transposed,
                    **options,
                )

            if (
                not self._ours(a, b)
                or assume_a not in _taken_structures
                or (assume_a is None and _sparse_corners(a))
            ):
                self._count("forwarded")
                return forward()
            # Not solved in place of b: the original function may still need b.
            x = self._take(a, b, forward, assume_a=assume_a, lower=lower, transposed=transposed)
            if not overwrite_b or not b.flags.f_contiguous or not b.flags.writeable:
                return x
            b[...] = x
            return b

        return scipy_solve


def _replace(table: Dict[int, Tuple[Any, Any]]) -> None:
    """Replaces functions by others in all loaded modules."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if not isinstance(names, dict):
            continue
        for name, value in list(names.items()):
            found = table.get(id(value))
            if found is not None and found[0] is value:
                names[name] = found[1]

# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Reusable factors: factor, cho_factor and lu_factor return a Factor object."""
from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Dict, Iterator, Literal, Optional, Tuple, Union, overload

import numpy as np

from ._arrays import right_hand_sides
from ._certificate import Certificate, certificate_of
from ._errors import error_of
from ._native import native
from ._progress import Progress, reporting
from ._solve import answer, prepared
from ._uses import FactorUses

if TYPE_CHECKING:
    from ._types import ArrayLike, Float64Array

#: The options that a pickled factor carries.
_OPTIONS = (
    "structure",
    "upper",
    "transposed",
    "tolerance",
    "iterations",
    "map",
    "refiner",
    "climb",
    "exact_residual",
    "check_symmetry",
    "condition",
    "prove",
    "threads",
)


class Factor(FactorUses):
    """A matrix that is factored once, for right-hand sides that come later.

    It keeps a reference to a, not a copy, and refines with it: a must not change while the factor
    is used. L and U are not available as arrays: the factor consists of low-precision tiles. For
    what a symmetric positive definite matrix is factored for otherwise, such as log_det(), a factor
    in FP64 is computed when it is first asked for; with map='fp64' there is only that one.
    Several threads may use a factor; their solves run one after the other. In a forked child the
    matrix is factored again, on one thread, at the first solve. A pickled factor carries the matrix
    and the options, and is factored again where it is loaded, at the first solve.
    """

    def __init__(
        self,
        a: ArrayLike,
        assume_a: Optional[str] = None,
        lower: bool = False,
        *,
        tolerance: float = 0.0,
        map: Optional[str] = None,
        refiner: Optional[str] = None,
        climb: bool = True,
        iterations: int = 0,
        exact_residual: bool = False,
        threads: Optional[int] = None,
        progress: Progress = None,
    ):
        self._view, self._flipped, self._options = prepared(
            a,
            assume_a,
            lower,
            tolerance=tolerance,
            map=map,
            refiner=refiner,
            climb=climb,
            iterations=iterations,
            exact_residual=exact_residual,
            threads=threads,
        )
        self._parent_solver: Any = None
        self._make(progress)
        if not self._certificate.ok:
            raise error_of(self._certificate)

    def _make(self, progress: Progress = None) -> None:
        solver = native().Solver(self._view, self._options)
        with reporting(progress) as callback:
            self._certificate = certificate_of(solver.factor(callback), self._flipped)
        self._native = solver
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def __getstate__(self) -> Dict[str, Any]:
        return {
            "view": self._view,
            "flipped": self._flipped,
            "options": {name: getattr(self._options, name) for name in _OPTIONS},
            "structure": self.structure,
            "certificate": self._certificate,
        }

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._view, self._flipped = np.asfortranarray(state["view"]), state["flipped"]
        self._options = native().Options()
        for name, value in state["options"].items():
            setattr(self._options, name, value)
        self._options.structure = state["structure"]
        self._certificate = state["certificate"]
        self._native = self._parent_solver = None
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def _here(self) -> None:
        if self._native is None:
            self._make()
        if self._pid != os.getpid():
            # The parent's solver needs its worker threads, which do not exist in this process.
            self._parent_solver = self._native
            self._options.threads = 1
            self._make()

    @property
    def order(self) -> int:
        return int(self._view.shape[0])

    @contextmanager
    def _cholesky(self, progress: Any = None) -> Iterator[Any]:
        self._here()
        with self._lock:
            yield self._native.cholesky(progress)

    @property
    def structure(self) -> str:
        """'spd' or 'general': how a was factored."""
        return str((self._native or self._options).structure)

    @property
    def certificate(self) -> Certificate:
        """The certificate of the factorization."""
        return self._certificate

    @overload
    def solve(
        self,
        b: ArrayLike,
        transposed: bool = ...,
        *,
        overwrite_b: bool = ...,
        progress: Progress = ...,
        full_output: Literal[False] = ...,
    ) -> Float64Array: ...
    @overload
    def solve(
        self,
        b: ArrayLike,
        transposed: bool = ...,
        *,
        overwrite_b: bool = ...,
        progress: Progress = ...,
        full_output: Literal[True],
    ) -> Tuple[Optional[Float64Array], Certificate]: ...
    def solve(
        self,
        b: ArrayLike,
        transposed: bool = False,
        *,
        overwrite_b: bool = False,
        progress: Progress = None,
        full_output: bool = False,
    ) -> Union[Float64Array, Tuple[Optional[Float64Array], Certificate]]:
        """Solves a @ x = b, or a.T @ x = b if transposed. Otherwise as stepwell.solve()."""
        self._here()
        x, columns = right_hand_sides(b, self.order, overwrite_b)
        with self._lock, reporting(progress) as callback:
            transpose = bool(transposed) != self._flipped
            fields = self._native.solve(columns, columns, transpose, callback)
        return answer(x, certificate_of(fields, self._flipped), full_output)

    def inverse_norm(self, norm: float = 1) -> float:
        """An estimate of the 1-norm or, with norm=numpy.inf, of the infinity norm of a's inverse."""
        if norm not in (1, np.inf):
            raise ValueError(f"norm={norm!r}; it must be 1 or numpy.inf")
        self._here()
        with self._lock:
            return float(self._native.inverse_norm((norm == 1) != self._flipped))

    def log_det(self) -> float:
        """log |det a|.

        A symmetric positive definite a is factored once more if the factor is not in FP64, at the
        first call that needs it. For others use stepwell.factor(a, map='fp64').

        >>> import numpy as np, stepwell
        >>> f = stepwell.factor(np.array([[4.0, 2.0], [2.0, 5.0]]), "pos")
        >>> round(float(f.log_det() - np.log(16.0)), 12)
        0.0
        """
        return self.sign_and_log_det()[1]

    def sign_and_log_det(self) -> Tuple[int, float]:
        """The sign of det a and log |det a|, as numpy.linalg.slogdet; as log_det()."""
        self._here()
        with self._lock:
            sign, log = self._native.log_det()
        return int(sign), float(log)

    def rcond(self) -> float:
        """An estimate of 1 / (||a|| ||inverse of a||).

        In the 1-norm for an array in C order, in the infinity norm for one in F order: these are
        the norms that the factorization has computed.
        """
        norm = self._certificate.norm * self.inverse_norm(1 if self._flipped else np.inf)
        return 1.0 / norm if norm else 0.0

    def __repr__(self) -> str:
        return f"<stepwell.Factor: order {self.order}, {self.structure}, {self._certificate.map}>"


def factor(a: ArrayLike, assume_a: Optional[str] = None, lower: bool = False, **options: Any) -> Factor:
    """Factors a for right-hand sides that come later; options as for solve(). See Factor.

    >>> import numpy as np, stepwell
    >>> a = np.array([[2.0, 1.0], [0.0, 3.0]])
    >>> f = stepwell.factor(a)
    >>> x = f.solve([3.0, 3.0])
    >>> y = f.solve([2.0, 4.0], transposed=True)
    >>> bool(np.allclose(x, [1, 1]) and np.allclose(y, [1, 1]))
    True
    """
    return Factor(a, assume_a, lower, **options)


def cho_factor(
    a: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    **options: Any,
) -> Factor:
    """Takes the arguments of scipy.linalg.cho_factor and returns a Factor for cho_solve().

    >>> import numpy as np, stepwell
    >>> c = stepwell.cho_factor(np.array([[4.0, 2.0], [2.0, 5.0]]))
    >>> bool(np.allclose(stepwell.cho_solve(c, [6.0, 7.0]), [1, 1]))
    True
    """
    return Factor(a, "pos", lower, **options)


def _checked(value: Any, caller: str, maker: str) -> Factor:
    if not isinstance(value, Factor):
        raise TypeError(
            f"{caller} needs the result of stepwell.{maker}, not {type(value).__name__}; "
            f"for SciPy's factors use scipy.linalg.{caller}"
        )
    return value


def cho_solve(
    c: Factor, b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True
) -> Float64Array:
    """Solves a @ x = b with c from cho_factor(a)."""
    return _checked(c, "cho_solve", "cho_factor").solve(b, overwrite_b=overwrite_b)


def lu_factor(
    a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True, **options: Any
) -> Factor:
    """Takes the arguments of scipy.linalg.lu_factor and returns a Factor for lu_solve()."""
    return Factor(a, "gen", **options)


def lu_solve(
    lu: Factor, b: ArrayLike, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Float64Array:
    """Solves a @ x = b, or a.T @ x = b for trans=1 or 2, with lu from lu_factor(a).

    >>> import numpy as np, stepwell
    >>> lu = stepwell.lu_factor(np.array([[2.0, 1.0], [0.0, 3.0]]))
    >>> bool(np.allclose(stepwell.lu_solve(lu, [2.0, 4.0], trans=1), [1, 1]))
    True
    """
    if trans not in (0, 1, 2):
        raise ValueError(f"trans is {trans!r}; it must be 0, 1 or 2")
    return _checked(lu, "lu_solve", "lu_factor").solve(b, trans != 0, overwrite_b=overwrite_b)

# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""solve(), with the interface of scipy.linalg.solve."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Tuple, Union, overload

import numpy as np

from ._arrays import by_columns, right_hand_sides, square, stacked
from ._certificate import Certificate, Plan, certificate_of
from ._errors import error_of
from ._native import native, thread_count
from ._progress import Progress, reporting

if TYPE_CHECKING:
    from ._types import ArrayLike, Float64Array

_structures = {
    None: "automatic",
    "auto": "automatic",
    "gen": "general",
    "general": "general",
    "pos": "spd",
    "positive definite": "spd",
    "sym": "symmetric",
    "symmetric": "symmetric",
    "her": "symmetric",
    "hermitian": "symmetric",
}
_elsewhere = {
    "diagonal": "divide b by the diagonal",
    "tridiagonal": "use scipy.linalg.solve_banded",
    "banded": "use scipy.linalg.solve_banded",
    "upper triangular": "use scipy.linalg.solve_triangular",
    "lower triangular": "use scipy.linalg.solve_triangular",
}


def structure_of(assume_a: Optional[str]) -> str:
    """The structure for assume_a: 'automatic', 'spd', 'general' or 'symmetric'."""
    if assume_a in _structures:
        return _structures[assume_a]
    if assume_a in _elsewhere:
        raise ValueError(
            f"assume_a={assume_a!r} is not supported: {_elsewhere[assume_a]}, or use "
            "assume_a='gen', which reads all of a"
        )
    names = ", ".join(repr(name) for name in _structures)
    raise ValueError(f"assume_a={assume_a!r} is not one of {names}")


def symmetrized(a: Float64Array, lower: bool) -> Float64Array:
    """a with one triangle copied into the other; a itself if it is already symmetric."""
    if np.array_equal(a, a.T, equal_nan=True):
        return a
    full: Float64Array = a.copy()
    for k in range(a.shape[0]):
        if lower:
            full[k, k + 1 :] = full[k + 1 :, k]
        else:
            full[k + 1 :, k] = full[k, k + 1 :]
    return full


def prepared(a: ArrayLike, assume_a: Optional[str], lower: bool, **options: Any) -> Tuple[Any, ...]:
    """(view with contiguous columns, whether it is a's transpose, native options)."""
    array = square(a)
    structure = structure_of(assume_a)
    if structure == "symmetric":
        array, structure = symmetrized(array, lower), "general"
    view, flipped = by_columns(array)
    result = native().Options()
    result.structure = structure
    result.upper = structure == "spd" and lower == flipped
    result.threads = thread_count(options.pop("threads"))
    for name, value in options.items():
        setattr(result, name, value)
    return view, flipped, result


@overload
def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = ...,
    overwrite_a: bool = ...,
    overwrite_b: bool = ...,
    check_finite: bool = ...,
    assume_a: Optional[str] = ...,
    transposed: bool = ...,
    *,
    tolerance: float = ...,
    condition: bool = ...,
    prove: bool = ...,
    check_symmetry: bool = ...,
    map: Optional[str] = ...,
    refiner: Optional[str] = ...,
    climb: bool = ...,
    iterations: int = ...,
    exact_residual: bool = ...,
    threads: Optional[int] = ...,
    progress: Progress = ...,
    full_output: Literal[False] = ...,
) -> Float64Array: ...
@overload
def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = ...,
    overwrite_a: bool = ...,
    overwrite_b: bool = ...,
    check_finite: bool = ...,
    assume_a: Optional[str] = ...,
    transposed: bool = ...,
    *,
    tolerance: float = ...,
    condition: bool = ...,
    prove: bool = ...,
    check_symmetry: bool = ...,
    map: Optional[str] = ...,
    refiner: Optional[str] = ...,
    climb: bool = ...,
    iterations: int = ...,
    exact_residual: bool = ...,
    threads: Optional[int] = ...,
    progress: Progress = ...,
    full_output: Literal[True],
) -> Tuple[Optional[Float64Array], Certificate]: ...
def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: Optional[str] = None,
    transposed: bool = False,
    *,
    tolerance: float = 0.0,
    condition: bool = False,
    prove: bool = False,
    check_symmetry: bool = False,
    map: Optional[str] = None,
    refiner: Optional[str] = None,
    climb: bool = True,
    iterations: int = 0,
    exact_residual: bool = False,
    threads: Optional[int] = None,
    progress: Progress = None,
    full_output: bool = False,
) -> Union[Float64Array, Tuple[Optional[Float64Array], Certificate]]:
    """Solves a @ x = b to FP64 accuracy. The first eight arguments are scipy.linalg.solve's.

    a is (n, n), b is (n,) or (n, k); x has the shape of b, is float64 and F-ordered. With more
    dimensions, a (..., n, n) and b (..., n, k) are stacks, which are broadcast against each other
    as by numpy.linalg.solve and solved one system after the other; the certificate is then the
    worst one. Many small systems are solved faster by stepwell.batch. a is never
    written (overwrite_a is accepted and changes nothing), and infinities and NaN are always checked
    for (check_finite is accepted and changes nothing).

    assume_a
        None or 'auto': Cholesky if a is exactly symmetric with a positive diagonal, LU if it is not
        or if Cholesky fails. 'pos': symmetric positive definite; only the triangle that 'lower'
        selects is read. 'gen': any matrix. 'sym', 'her': solved as a general matrix; only the
        selected triangle is read, and if the other one differs, a copy is made. SciPy's long names
        work too; 'banded', 'tridiagonal', 'diagonal' and triangular matrices are rejected.
    lower
        For 'pos' and 'sym': which triangle is read. lower=False in C order and lower=True in F
        order need no copy; the other combinations take 8 n^2 bytes.
    overwrite_b
        x may be stored in b's memory, if b is float64, writable and 1-D or F-ordered.
    transposed
        Solve a.T @ x = b.
    tolerance
        Tolerance of the backward error; 0: sqrt(n) 2^-53.
    condition
        Estimate the condition number and bound the error of x; the cost of a few iterations.
    prove
        Compute the residual in double-double and prove a bound on the backward error.
    check_symmetry
        For 'pos': compare the two triangles, and raise Asymmetric if they differ.
    map
        The rung to begin with, such as 'bf16', 'bf16x3' or 'fp64'; None: chosen by a's properties.
    refiner
        'cg', 'gmres', 'fgmres', 'ir', 'ir(cg)', ...; None: chosen by the structure of a.
    climb
        False: raise NotConverged or NotPositiveDefinite instead of going to a higher rung.
    iterations
        The limit for each column and rung; 0: while they cost less than the next rung.
    exact_residual
        Residuals and products with a in double-double.
    threads
        None: as many as the process may use (in a forked child: one).
    progress
        True: a bar on a terminal or in a notebook. A function: called with (phase, done, total)
        about twenty times a second; an exception that it raises ends the solve.
    full_output
        Return (x, certificate), and raise nothing if the solve fails for numerical reasons: check
        certificate.ok. x is None if there is no result.

    Raises NotPositiveDefinite, Singular, NotConverged, Overflow (all numpy.linalg.LinAlgError, with
    the attribute 'certificate'), NonFinite (also a ValueError), ValueError, TypeError, MemoryError.
    Ctrl-C ends the solve with KeyboardInterrupt.

    >>> import numpy as np, stepwell
    >>> a = np.array([[4.0, 1.0], [1.0, 3.0]])
    >>> b = np.array([1.0, 2.0])
    >>> x, certificate = stepwell.solve(a, b, assume_a="pos", full_output=True)
    >>> certificate.ok, certificate.structure
    (True, 'spd')
    >>> bool(certificate.backward_error <= certificate.tolerance)
    True

    For a matrix that is not positive definite, the certificate has the failing pivot:

    >>> try:
    ...     stepwell.solve([[1.0, 2.0], [2.0, 1.0]], b, assume_a="pos")
    ... except stepwell.NotPositiveDefinite as error:
    ...     print(error.certificate.pivot)
    1
    """
    settings: Dict[str, Any] = {
        "tolerance": tolerance,
        "condition": condition,
        "prove": prove,
        "check_symmetry": check_symmetry,
        "map": map,
        "refiner": refiner,
        "climb": climb,
        "iterations": iterations,
        "exact_residual": exact_residual,
        "threads": threads,
    }
    if np.ndim(a) > 2 or np.ndim(b) > 2:
        settings.update(lower=lower, assume_a=assume_a, transposed=transposed, progress=progress)
        return _solve_stack(a, b, full_output, settings)
    view, flipped, options = prepared(a, assume_a, lower, **settings)
    options.transposed = bool(transposed) != flipped
    x, columns = right_hand_sides(b, view.shape[0], overwrite_b)
    with reporting(progress) as callback:
        fields = native().solve(view, columns, columns, options, callback)
    certificate = certificate_of(fields, flipped)
    return answer(x, certificate, full_output)


def _solve_stack(
    a: ArrayLike, b: ArrayLike, full_output: bool, settings: Dict[str, Any]
) -> Union[Float64Array, Tuple[Optional[Float64Array], Certificate]]:
    matrices, sides, x = stacked(a, b)
    certificates: List[Certificate] = []
    for k in np.ndindex(x.shape[:-2]):
        one, certificate = solve(matrices[k], sides[k], full_output=True, **settings)
        if not full_output and not certificate.ok:
            at = ", ".join(str(i) for i in k)
            raise error_of(certificate, one, f"system ({at}) of the stack: ")
        x[k] = np.nan if one is None else one
        certificates.append(certificate)
    result = x[..., 0] if np.ndim(b) == 1 else x
    if not full_output:
        return result
    if not certificates:  # of an empty stack: that of an empty system
        certificates.append(solve(np.empty((0, 0)), np.empty(0), full_output=True)[1])
    return result, min(certificates, key=lambda c: (c.ok, -c.backward_error))


def answer(
    x: Float64Array, certificate: Certificate, full_output: bool
) -> Union[Float64Array, Tuple[Optional[Float64Array], Certificate]]:
    """Returns x or (x, certificate); without full_output, raises unless the solve converged."""
    written = certificate.outcome in ("converged", "not converged", "overflow")
    if full_output:
        return (x if written else None), certificate
    if not certificate.ok:
        raise error_of(certificate, x)
    return x


def memory_plan(
    n: int,
    columns: int = 1,
    assume_a: Optional[str] = None,
    *,
    map: Optional[str] = None,
    condition: bool = False,
) -> Plan:
    """Predicts the time and memory of a solve of order n with 'columns' right-hand sides.

    assume_a='pos' plans Cholesky, anything else LU, which takes more. The bytes do not include a, b
    and x, nor the copy of an array that is neither in C nor in F order.

    >>> import stepwell
    >>> plan = stepwell.memory_plan(10_000, assume_a="pos")
    >>> plan.bytes <= plan.top_bytes
    True
    """
    options = native().Options()
    structure = structure_of(assume_a)
    options.structure = "spd" if structure == "spd" else "general"
    options.map = map
    options.condition = condition
    return Plan(**native().plan(n, columns, options))

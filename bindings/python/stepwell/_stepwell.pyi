# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
# Made by: python -m nanobind.stubgen -m stepwell._stepwell, and Any for what dictionaries hold.
"""
The library behind the package 'stepwell'; the package is what you want.
"""

from collections.abc import Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray


version: str = '0.1.0'

class Options:
    """The keyword arguments of a solve."""

    def __init__(self) -> None: ...

    @property
    def structure(self) -> str: ...

    @structure.setter
    def structure(self, arg: str, /) -> None: ...

    @property
    def upper(self) -> bool: ...

    @upper.setter
    def upper(self, arg: bool, /) -> None: ...

    @property
    def transposed(self) -> bool: ...

    @transposed.setter
    def transposed(self, arg: bool, /) -> None: ...

    @property
    def tolerance(self) -> float: ...

    @tolerance.setter
    def tolerance(self, arg: float, /) -> None: ...

    @property
    def iterations(self) -> int: ...

    @iterations.setter
    def iterations(self, arg: int, /) -> None: ...

    @property
    def map(self) -> str | None: ...

    @map.setter
    def map(self, arg: str | None, /) -> None: ...

    @property
    def refiner(self) -> str | None: ...

    @refiner.setter
    def refiner(self, arg: str | None, /) -> None: ...

    @property
    def climb(self) -> bool: ...

    @climb.setter
    def climb(self, arg: bool, /) -> None: ...

    @property
    def exact_residual(self) -> bool: ...

    @exact_residual.setter
    def exact_residual(self, arg: bool, /) -> None: ...

    @property
    def check_symmetry(self) -> bool: ...

    @check_symmetry.setter
    def check_symmetry(self, arg: bool, /) -> None: ...

    @property
    def condition(self) -> bool: ...

    @condition.setter
    def condition(self, arg: bool, /) -> None: ...

    @property
    def prove(self) -> bool: ...

    @prove.setter
    def prove(self, arg: bool, /) -> None: ...

    @property
    def threads(self) -> int: ...

    @threads.setter
    def threads(self, arg: int, /) -> None: ...

def solve(a: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')], options: Options, progress: object | None) -> dict[str, Any]:
    """Solves into x, which may be b; the certificate's fields, by name."""

def plan(n: int, columns: int, options: Options) -> dict[str, Any]:
    """The plan's fields, by name."""

class Solver:
    """A matrix with its factor; the matrix is not copied."""

    def __init__(self, a: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], options: Options) -> None: ...

    def factor(self, progress: object | None) -> dict[str, Any]: ...

    def solve(self, b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')], transposed: bool, progress: object | None) -> dict[str, Any]: ...

    def inverse_norm(self, transposed: bool) -> float: ...

    @property
    def structure(self) -> str: ...

def lstsq(a: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')], ridge: float, weights: Sequence[float], qr: bool, tolerance: float, iterations: int, climb: bool, threads: int, progress: object | None) -> dict[str, Any]:
    """Least squares into x; the certificate's fields, by name."""

def plan_lstsq(m: int, n: int, columns: int, ridge: float, qr: bool) -> dict[str, Any]:
    """The plan's fields, by name."""

class BatchArguments:
    """The keyword arguments of a batch."""

    def __init__(self) -> None: ...

    @property
    def upper(self) -> bool: ...

    @upper.setter
    def upper(self, arg: bool, /) -> None: ...

    @property
    def mixed(self) -> bool: ...

    @mixed.setter
    def mixed(self, arg: bool, /) -> None: ...

    @property
    def fast(self) -> bool: ...

    @fast.setter
    def fast(self, arg: bool, /) -> None: ...

    @property
    def tolerance(self) -> float: ...

    @tolerance.setter
    def tolerance(self, arg: float, /) -> None: ...

    @property
    def threads(self) -> int: ...

    @threads.setter
    def threads(self, arg: int, /) -> None: ...

class BatchOutputs:
    """Arrays for the results of single systems."""

    def __init__(self) -> None: ...

    def pivots(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], /) -> None: ...

    def log_determinants(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], /) -> None: ...

    def backward_errors(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], /) -> None: ...

    def iterations(self, arg: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], /) -> None: ...

batch_order: int = 128

@overload
def batch_cholesky(a: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu')], arguments: BatchArguments, outputs: BatchOutputs, progress: object | None) -> dict[str, Any]: ...

@overload
def batch_cholesky(a: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device='cpu')], arguments: BatchArguments, outputs: BatchOutputs, progress: object | None) -> dict[str, Any]:
    """Factors in place; the report."""

@overload
def batch_solve(a: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu')], arguments: BatchArguments, outputs: BatchOutputs, progress: object | None) -> dict[str, Any]: ...

@overload
def batch_solve(a: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device='cpu', writable=False)], b: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device='cpu')], arguments: BatchArguments, outputs: BatchOutputs, progress: object | None) -> dict[str, Any]:
    """Solves in place of b; the report."""

@overload
def batch_factor_solve(a: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu')], arguments: BatchArguments, outputs: BatchOutputs, progress: object | None) -> dict[str, Any]: ...

@overload
def batch_factor_solve(a: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device='cpu')], b: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device='cpu')], arguments: BatchArguments, outputs: BatchOutputs, progress: object | None) -> dict[str, Any]:
    """Factors in place of a, solves in place of b; the report."""

@overload
def batch_substitute(factor: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu')], arguments: BatchArguments, outputs: BatchOutputs, progress: object | None) -> dict[str, Any]: ...

@overload
def batch_substitute(factor: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device='cpu', writable=False)], b: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), device='cpu')], arguments: BatchArguments, outputs: BatchOutputs, progress: object | None) -> dict[str, Any]:
    """Solves in place of b with factors; the report."""

def als_step(cols: int, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], items: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], users: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], counts: bool, ridge: float, weighted: bool, alpha: float, threads: int, progress: object | None) -> dict[str, Any]:
    """One half step into users; the report."""

def describe() -> dict[str, Any]:
    """The fields of stepwell.Machine, by name."""

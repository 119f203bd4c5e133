# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""Dense linear systems to FP64 accuracy on low-precision matrix engines, with a certificate.

>>> import numpy as np
>>> import stepwell
>>> a = np.array([[4.0, 1.0], [1.0, 3.0]])
>>> x = stepwell.solve(a, np.array([1.0, 2.0]))
>>> bool(np.allclose(a @ x, [1.0, 2.0]))
True

Importing this package starts no thread and loads no library; the first call does.
"""
from . import batch
from ._certificate import Certificate, ColumnCertificate, Plan, LadderStep, Times
from ._cholesky import Cholesky
from ._errors import (
    Asymmetric,
    Changed,
    JitterWarning,
    NonFinite,
    NotConverged,
    NotPositiveDefinite,
    Overflow,
    RankDeficientWarning,
    Singular,
    SolveError,
)
from ._factor import Factor, cho_factor, cho_solve, factor, lu_factor, lu_solve
from ._lstsq import LstsqResult, lstsq, lstsq_plan
from ._machine import (
    Machine,
    describe,
    num_threads,
    register_threadpoolctl,
    release_memory,
    set_memory_cache,
    set_num_threads,
)
from ._patch import patch
from ._solve import memory_plan, solve

__all__ = [
    "Asymmetric",
    "Certificate",
    "Changed",
    "Cholesky",
    "ColumnCertificate",
    "Factor",
    "JitterWarning",
    "LstsqResult",
    "Machine",
    "NonFinite",
    "NotConverged",
    "NotPositiveDefinite",
    "Overflow",
    "Plan",
    "RankDeficientWarning",
    "LadderStep",
    "Singular",
    "SolveError",
    "Times",
    "__version__",
    "batch",
    "cho_factor",
    "cho_solve",
    "describe",
    "factor",
    "lstsq",
    "lstsq_plan",
    "lu_factor",
    "lu_solve",
    "memory_plan",
    "num_threads",
    "patch",
    "register_threadpoolctl",
    "release_memory",
    "set_memory_cache",
    "set_num_threads",
    "solve",
]

__version__: str


def __getattr__(name: str) -> str:
    # Looked up on demand: importing importlib.metadata takes longer than importing this package.
    if name == "__version__":
        from importlib.metadata import version

        return version("stepwell")
    raise AttributeError(f"module 'stepwell' has no attribute {name!r}")

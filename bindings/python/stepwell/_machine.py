# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the library found and chose on this machine."""
from dataclasses import dataclass
from typing import Dict, Tuple

from ._native import native


@dataclass(frozen=True, repr=False)
class Machine:
    """The report of describe()."""

    version: str
    cpu_vendor: str
    cpu_model: str
    cpu_features: Tuple[str, ...]
    #: The best instruction set in use.
    isa: str
    #: The value of STEPWELL_ISA, and why it was ignored, if it was.
    isa_cap: str
    isa_cap_problem: str
    #: Instruction sets that are not used, with the reason.
    isas_refused: Dict[str, str]
    #: The kernel in use for each operation.
    kernels: Dict[str, str]
    blas: str
    blas_version: str
    blas_core_name: str
    blas_threads: int
    #: A problem with the BLAS on this machine and how to fix it; empty if there is none.
    blas_warning: str
    cpus_online: int
    cpus_by_affinity: int
    cpus_by_quota: float
    #: Number of threads that a call without threads= uses.
    threads: int
    memory_total: int
    memory_available: int
    huge_pages: str

    def __str__(self) -> str:
        blas = " ".join(t for t in (self.blas, self.blas_version, self.blas_core_name) if t)
        lines = [
            f"Stepwell {self.version} on {self.cpu_model}: {self.isa}, {self.threads} threads",
            f"  BLAS: {blas}",
            f"  memory: {self.memory_available / 2**30:.1f} of {self.memory_total / 2**30:.1f} GiB",
        ]
        for name, reason in self.isas_refused.items():
            lines.append(f"  without {name}: {reason}")
        for problem in (self.isa_cap_problem, self.blas_warning):
            if problem:
                lines.append(f"  {problem}")
        return "\n".join(lines)

    __repr__ = __str__


def describe() -> Machine:
    """The machine as the library sees it. The first call takes a few milliseconds.

    >>> import stepwell
    >>> stepwell.describe().threads >= 1
    True
    """
    return Machine(**native().describe())

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
    #: Number of threads that a call without threads= uses, see num_threads().
    threads: int
    #: What determines it: "OMP_NUM_THREADS", "CPU affinity", ...
    threads_reason: str
    #: An environment variable that was ignored, and why; empty if none was.
    threads_problem: str
    #: The StarPU that runs the tasks of calls over ranks; bundled: it is inside libstepwell.
    starpu_version: str
    starpu_bundled: bool
    #: What to do if it has room for fewer workers than threads; empty if it has enough.
    starpu_warning: str
    #: Number of workers that it has room for.
    worker_limit: int
    memory_total: int
    memory_available: int
    huge_pages: str

    def __str__(self) -> str:
        blas = " ".join(t for t in (self.blas, self.blas_version, self.blas_core_name) if t)
        lines = [
            f"Stepwell {self.version} on {self.cpu_model}: {self.isa}, "
            f"threads: {self.threads} ({self.threads_reason})",
            f"  BLAS: {blas}",
            f"  memory: {self.memory_available / 2**30:.1f} of {self.memory_total / 2**30:.1f} GiB",
        ]
        for name, reason in self.isas_refused.items():
            lines.append(f"  without {name}: {reason}")
        for problem in (self.isa_cap_problem, self.threads_problem, self.blas_warning):
            if problem:
                lines.append(f"  {problem}")
        if self.starpu_warning:
            lines.append(f"  StarPU {self.starpu_version}: {self.starpu_warning}")
        return "\n".join(lines)

    __repr__ = __str__


def describe() -> Machine:
    """The machine as the library sees it. The first call takes a few milliseconds.

    >>> import stepwell
    >>> stepwell.describe().threads >= 1
    True
    """
    return Machine(**native().describe())


def num_threads() -> int:
    """The number of threads of a call without threads=.

    In this order: set_num_threads(); the environment variable STEPWELL_THREADS;
    OPENBLAS_NUM_THREADS, MKL_NUM_THREADS and OMP_NUM_THREADS, which only lower what follows; the
    CPUs that the process may use by affinity and cgroup quota. The variables are read when the
    number is first needed.
    """
    return int(native().num_threads())


def set_num_threads(threads: int) -> None:
    """Sets num_threads() for the process, from the next call on; 0: as if never set.

    >>> import stepwell
    >>> stepwell.set_num_threads(1)
    >>> stepwell.num_threads()
    1
    >>> stepwell.set_num_threads(0)

    threadpoolctl does the same for a block, and for the other libraries with it, after
    stepwell.register_threadpoolctl().
    """
    native().set_num_threads(threads)


def set_memory_cache(size: int) -> None:
    """Sets how many bytes of memory calls keep for the next ones; 0: none.

    At first 512 MiB, or an eighth of the memory that the process may use if that is less, or the
    value of the environment variable STEPWELL_MEMORY_CACHE in MiB.

    >>> import stepwell
    >>> stepwell.set_memory_cache(2**28)
    """
    if size < 0:
        raise ValueError(f"{size} bytes can't be kept; 0 means that nothing is kept")
    native().set_memory_cache(size)


def release_memory() -> None:
    """Gives the memory that calls have kept back to the system.

    >>> import stepwell
    >>> stepwell.release_memory()
    """
    native().release_memory()


def register_threadpoolctl() -> None:
    """Lets threadpoolctl (3.2 or newer) find and limit Stepwell's threads, as those of a BLAS.

    from threadpoolctl import threadpool_limits
    stepwell.register_threadpoolctl()
    with threadpool_limits(1, user_api="blas"):
        stepwell.solve(a, b)
    """
    import ctypes

    import threadpoolctl

    class StepwellController(threadpoolctl.LibController):  # type: ignore[misc, unused-ignore]
        user_api = "blas"
        internal_api = "stepwell"
        filename_prefixes = ("libstepwell",)
        check_symbols = ("stepwell_num_threads",)

        def get_num_threads(self) -> int:
            return int(self.dynlib.stepwell_num_threads())

        def set_num_threads(self, num_threads: int) -> None:
            self.dynlib.stepwell_set_num_threads(ctypes.c_int(num_threads))

        def get_version(self) -> str:
            version = self.dynlib.stepwell_version
            version.restype = ctypes.c_char_p
            return str(version().decode())

        def set_additional_attributes(self) -> None:
            pass

    native()  # threadpoolctl finds only libraries that are loaded
    threadpoolctl.register(StepwellController)

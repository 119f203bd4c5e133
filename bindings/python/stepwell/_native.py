# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""The compiled module, loaded at the first call.

Its BLAS may start threads when it is loaded, so importing the package does not load it.
"""
import os
from types import ModuleType
from typing import Optional

_forked = False


def _after_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_after_fork)


def native() -> ModuleType:
    """The module stepwell._stepwell."""
    from . import _stepwell

    return _stepwell


def thread_count(threads: Optional[int]) -> int:
    """The number of threads to request from the library; 0: as many as allowed.

    A forked child works on one thread unless it is told otherwise: such children usually come in
    pools, one for each CPU. The bits of the result are the same.
    """
    if threads is None:
        return 1 if _forked else 0
    if isinstance(threads, bool) or threads != int(threads) or threads < 1:
        raise ValueError(f"threads is {threads!r}; it must be an integer of at least 1, or None")
    return int(threads)

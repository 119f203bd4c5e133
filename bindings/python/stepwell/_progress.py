# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""progress=True: a progress line on a terminal or in a notebook, updated in place."""
import sys
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional, Union

#: Progress callback, called with the phase and its done and total; total 0: nothing is counted.
ProgressCallback = Callable[[str, int, int], Any]
#: Values that progress= accepts.
Progress = Union[None, bool, ProgressCallback]

_width = 30


def line_of(phase: str, done: int, total: int, seconds: float) -> str:
    """One line of text, with a bar if something is counted."""
    if total <= 0:
        return f"{phase:<8} {seconds:6.1f} s"
    fraction = min(max(done / total, 0.0), 1.0)
    filled = int(fraction * _width)
    bar = "#" * filled + "." * (_width - filled)
    return f"{phase:<8} [{bar}] {100 * fraction:3.0f} % {seconds:6.1f} s"


class _Terminal:
    """Draws on standard error, over the previous line."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._drawn = 0

    def __call__(self, phase: str, done: int, total: int) -> None:
        self._draw(line_of(phase, done, total, time.monotonic() - self._start))

    def close(self) -> None:
        if self._drawn:
            self._draw("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _draw(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._drawn))
        sys.stderr.flush()
        self._drawn = len(text)


class _Notebook:
    """Updates one output of the notebook cell."""

    def __init__(self, display: Any) -> None:
        self._start = time.monotonic()
        self._display = display
        self._handle = display({"text/plain": "starting"}, raw=True, display_id=True)

    def __call__(self, phase: str, done: int, total: int) -> None:
        text = line_of(phase, done, total, time.monotonic() - self._start)
        self._handle.update({"text/plain": text}, raw=True)

    def close(self) -> None:
        text = f"done in {time.monotonic() - self._start:.1f} s"
        self._handle.update({"text/plain": text}, raw=True)


def _notebook_display() -> Optional[Any]:
    """IPython's display() in a notebook's kernel, otherwise None. Does not load IPython itself."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or getattr(shell, "kernel", None) is None:
        return None
    from IPython.display import display

    return display


@contextmanager
def reporting(progress: Progress) -> Iterator[Optional[ProgressCallback]]:
    """The progress callback of a call, or None."""
    if progress is None or progress is False:
        yield None
        return
    if progress is not True:
        if not callable(progress):
            raise TypeError("progress must be a function of (phase, done, total), or True")
        yield progress
        return
    display = _notebook_display()
    if display is None and not sys.stderr.isatty():
        yield None  # a bar is of no use in a file
        return
    bar = _Terminal() if display is None else _Notebook(display)
    try:
        yield bar
    finally:
        bar.close()

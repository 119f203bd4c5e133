# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""What comes back with x: plain data, and a few lines of text."""
import html
import math
from dataclasses import dataclass
from typing import Any, Dict, Tuple


@dataclass(frozen=True)
class ColumnCertificate:
    """One right-hand side."""

    outcome: str
    #: ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity norm; of lstsq see docs/least_squares.md.
    backward_error: float
    #: Of lstsq: which bound 'backward_error' is.
    measure: str
    #: Of lstsq: ||b - A x||_2.
    residual_norm: float
    #: With prove=True: what rounding can't spoil. Else 0.
    proven_backward_error: float
    #: With condition=True: a bound on ||x - A^-1 b|| / ||x||, nan where none below 1 is known. Else 0.
    forward_error: float
    iterations: int
    #: The refiner's estimate of the error after each iteration, all rungs.
    history: Tuple[float, ...]


@dataclass(frozen=True)
class LadderStep:
    """One rung of the ladder that was tried."""

    map: str
    refiner: str
    factored: bool
    iterations: int
    error: float
    #: Why it was left; empty: it was the last.
    reason: str
    seconds: float


@dataclass(frozen=True)
class Times:
    """Seconds."""

    analysis: float
    factor: float
    refine: float
    certify: float
    wall: float


@dataclass(frozen=True, repr=False)
class Certificate:
    """How a solve went. Only 'ok' means that x is a solution."""

    outcome: str
    #: "spd", "general" or "least squares": what A was solved as.
    structure: str
    #: A sentence, where the outcome is not 'converged'.
    reason: str
    #: Of the worst column, from the caller's own A and b and the x that came back.
    backward_error: float
    tolerance: float
    iterations: int
    #: The precision map of the factor; "none": there was no factor.
    map: str
    refiner: str
    shift: float
    norm: float
    #: Estimate of ||A|| ||A^-1|| in the infinity norm; 0: not asked for; nan: unknown.
    condition: float
    #: not positive definite, singular: the failing pivot, from 0; else -1.
    pivot: int
    pivot_value: float
    #: non-finite, asymmetric: where, from 0; else -1.
    row: int
    col: int
    in_b: bool
    #: Of lstsq; -1: the rung can't tell.
    rank: int
    dependent: Tuple[int, ...]
    columns: Tuple[ColumnCertificate, ...]
    rungs: Tuple[LadderStep, ...]
    times: Times
    #: Of all memory the call worked in, a, b and x not counted.
    peak_bytes: int

    @property
    def ok(self) -> bool:
        return self.outcome == "converged"

    def __str__(self) -> str:
        lines = [f"{self.outcome} ({self.structure})" if self.structure else self.outcome]
        if self.reason:
            lines.append(f"  {self.reason}")
        if self.columns:
            lines.append(
                f"  backward error {self.backward_error:.1e} (tolerance {self.tolerance:.1e})"
            )
        if not self.refiner:
            lines += [f"  factor: {self.map}"] if self.map else []
        elif self.refiner == "direct":
            lines.append(f"  {self.map}, direct")
        else:
            lines.append(f"  {self.map} with {self.refiner}, {self.iterations} iterations")
        for rung in self.rungs:
            if rung.reason:
                lines.append(f"  left {rung.map}: {rung.reason}")
        if self.condition:
            known = [c.forward_error for c in self.columns if not math.isnan(c.forward_error)]
            worst = f"at most {max(known):.1e}" if known and len(known) == len(self.columns) else "unknown"
            condition = "unknown" if math.isnan(self.condition) else f"{self.condition:.1e}"
            lines.append(f"  condition {condition}, forward error {worst}")
        if self.rank >= 0:
            lines.append(f"  rank {self.rank}")
        lines.append(f"  {self.times.wall:.3g} s, {self.peak_bytes / 2**20:.3g} MiB of work space")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<stepwell.Certificate: {self}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def certificate_of(fields: Dict[str, Any], flipped: bool = False) -> Certificate:
    """From the compiled module's dictionary. flipped: the module saw the transpose of a."""
    row, col = fields["row"], fields["col"]
    if flipped and row >= 0 and not fields["in_b"]:
        fields["row"], fields["col"] = col, row
        fields["reason"] = fields["reason"].replace(f"({row}, {col})", f"({col}, {row})")
    if flipped and fields["outcome"] == "singular":
        fields["reason"] = fields["reason"].replace("column", "row")
    fields["columns"] = tuple(ColumnCertificate(**c) for c in fields["columns"])
    fields["rungs"] = tuple(LadderStep(**r) for r in fields["rungs"])
    fields["times"] = Times(**fields["times"])
    return Certificate(**fields)


@dataclass(frozen=True)
class Plan:
    """What the cost model says before work starts."""

    #: Of the first factor; of lstsq the rung of the Gram matrix, or "qr".
    map: str
    #: "direct": FP64 from the start.
    refiner: str
    iterations: int
    #: Expected, when the first rung suffices.
    seconds: float
    #: Of memory beside a, b and x at the first rung.
    bytes: int
    #: The most it may take, wherever A makes it start and end.
    top_bytes: int

# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""The certificate that is returned with x, as plain data and as text; and the plan of a solve."""
import html
import math
from dataclasses import dataclass
from typing import Any, Dict, Tuple


@dataclass(frozen=True)
class ColumnCertificate:
    """The certificate of one right-hand side."""

    outcome: str
    #: ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity norm; lstsq: a bound on the
    #: smallest change of A, relative to its Frobenius norm, that makes x an exact minimiser.
    backward_error: float
    #: lstsq: which bound 'backward_error' is.
    measure: str
    #: lstsq: ||b - A x||_2.
    residual_norm: float
    #: With prove=True: a proven upper bound that includes all rounding errors. Otherwise 0.
    proven_backward_error: float
    #: With condition=True: a bound on ||x - A^-1 b|| / ||x||, nan if none below 1 is known.
    #: Otherwise 0.
    forward_error: float
    iterations: int
    #: The refiner's estimate of the error after each iteration, all rungs.
    history: Tuple[float, ...]


@dataclass(frozen=True)
class LadderStep:
    """One rung that was tried."""

    map: str
    refiner: str
    factored: bool
    iterations: int
    error: float
    #: Why the solver climbed to the next rung; empty if this was the last one.
    reason: str
    seconds: float


@dataclass(frozen=True)
class Times:
    """Times in seconds."""

    analysis: float
    factor: float
    refine: float
    certify: float
    wall: float


@dataclass(frozen=True, repr=False)
class Certificate:
    """The result of a solve. x is a solution only if 'ok' is true."""

    outcome: str
    #: "spd", "general" or "least squares": how A was solved.
    structure: str
    #: An explanation if the outcome is not 'converged'.
    reason: str
    #: The largest of all columns, computed from the caller's A and b and the returned x.
    backward_error: float
    tolerance: float
    iterations: int
    #: The precision map of the factor; "none": there was no factor.
    map: str
    refiner: str
    shift: float
    norm: float
    #: Estimate of ||A|| ||A^-1|| in the infinity norm; 0: not requested; nan: unknown.
    condition: float
    #: 'not positive definite', 'singular': the failing pivot, from 0; otherwise -1.
    pivot: int
    pivot_value: float
    #: 'non-finite element', 'asymmetric': the element's position, from 0; 'changed': a position
    #: near the change; otherwise -1.
    row: int
    col: int
    in_b: bool
    #: lstsq: the rank; -1: unknown at this rung.
    rank: int
    dependent: Tuple[int, ...]
    minimum_norm: bool
    columns: Tuple[ColumnCertificate, ...]
    rungs: Tuple[LadderStep, ...]
    times: Times
    #: Peak memory of the call, without a, b and x.
    peak_bytes: int
    #: Number of threads that the call could use, and what determined it.
    threads: int
    threads_reason: str

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
        proven = [c.proven_backward_error for c in self.columns if c.proven_backward_error != 0]
        if proven:
            lines.append(f"  proven: at most {max(proven):.2e}, by a residual in double-double")
        if not self.refiner:
            lines += [f"  factor: {self.map}"] if self.map else []
        elif self.refiner == "direct":
            lines.append(f"  {self.map}, direct")
        else:
            lines.append(f"  {self.map} with {self.refiner}, {self.iterations} iterations")
        for rung in self.rungs:
            if rung.reason:
                lines.append(f"  tried {rung.map}: {rung.reason}")
        if self.condition:
            known = [c.forward_error for c in self.columns if not math.isnan(c.forward_error)]
            worst = f"at most {max(known):.1e}" if known and len(known) == len(self.columns) else "unknown"
            condition = "unknown" if math.isnan(self.condition) else f"{self.condition:.1e}"
            lines.append(f"  condition {condition}, forward error {worst}")
        if self.rank >= 0:
            lines.append(f"  rank {self.rank}")
        lines.append(
            f"  {self.times.wall:.3g} s, {self.peak_bytes / 2**20:.3g} MiB of workspace, "
            f"threads: {self.threads} ({self.threads_reason})"
        )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<stepwell.Certificate: {self}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def certificate_of(fields: Dict[str, Any], flipped: bool = False) -> Certificate:
    """The certificate in the module's dictionary. flipped: the module saw the transpose of a."""
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
    """The prediction of the cost model before work starts."""

    #: Precision map of the first factor; for lstsq the rung of the Gram matrix, or "qr".
    map: str
    #: "direct": solved in FP64 from the start.
    refiner: str
    iterations: int
    #: Predicted time if the first rung suffices.
    seconds: float
    #: Memory in addition to a, b and x at the first rung.
    bytes: int
    #: Maximum memory, on whichever rungs A makes the solve start and end.
    top_bytes: int

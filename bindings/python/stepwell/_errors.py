# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions, raised where NumPy and SciPy raise LinAlgError."""
from typing import Any, Optional

from numpy.linalg import LinAlgError

from ._certificate import Certificate


class SolveError(LinAlgError):
    """The solve failed for a numerical reason. The message is the certificate's reason."""

    #: What was tried, and which accuracy was reached.
    certificate: Optional[Certificate]
    #: The best approximation that was found, or None.
    x: Any

    def __init__(self, message: str, certificate: Optional[Certificate] = None, x: Any = None):
        super().__init__(message)
        self.certificate = certificate
        self.x = x


class NotPositiveDefinite(SolveError):
    """Cholesky was requested, and a pivot fails in FP64: certificate.pivot, from 0."""


class Singular(SolveError):
    """LAPACK's dgetrf finds a zero pivot: certificate.pivot, from 0."""


class NotConverged(SolveError):
    """The backward error misses the tolerance; x has the best approximation."""


class Overflow(SolveError):
    """x is larger than FP64 can hold."""


class Changed(SolveError):
    """a or b was modified during the call, near (certificate.row, certificate.col)."""


class NonFinite(SolveError, ValueError):
    """a or b has an infinity or a NaN: certificate.row, certificate.col, certificate.in_b."""


class Asymmetric(SolveError, ValueError):
    """check_symmetry=True, and a differs from its transpose at (row, col)."""


class RankDeficientWarning(UserWarning):
    """lstsq: columns of a depend on others, so that x is not unique."""


class JitterWarning(UserWarning):
    """Cholesky: something was added to the diagonal, as its argument jitter allows."""


_by_outcome = {
    "not positive definite": NotPositiveDefinite,
    "singular": Singular,
    "not converged": NotConverged,
    "overflow": Overflow,
    "changed": Changed,
    "non-finite element": NonFinite,
    "asymmetric": Asymmetric,
}


def error_of(certificate: Certificate, x: Any = None, where: str = "") -> SolveError:
    """The exception for an outcome that is not 'converged'."""
    kind = _by_outcome.get(certificate.outcome, SolveError)
    text = certificate.reason or certificate.outcome
    return kind(where + text, certificate, x if certificate.outcome == "not converged" else None)

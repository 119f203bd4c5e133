# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a Cholesky factor in FP64 is used for apart from refined solves."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ContextManager

import numpy as np

from ._arrays import by_columns, right_hand_sides, square
from ._progress import Progress, reporting

if TYPE_CHECKING:
    from ._types import ArrayLike, Float64Array


class FactorUses:
    """The methods that stepwell.Factor and stepwell.Cholesky share.

    They compute what LAPACK computes from its factor, in FP64, without refinement and certificate.
    """

    @property
    def order(self) -> int:
        raise NotImplementedError

    def _cholesky(self, progress: Any = None) -> ContextManager[Any]:
        """The native factor, which no other thread uses meanwhile."""
        raise NotImplementedError

    def log_det_error(self) -> float:
        """A bound on the rounding error of log_det(), for a symmetric positive definite a.

        Six standard deviations of a sum of independent rounding errors, with an estimate of the
        norm of the inverse. Infinity if a is too close to a singular matrix for a statement.

        >>> import numpy as np, stepwell
        >>> f = stepwell.factor(np.array([[4.0, 2.0], [2.0, 5.0]]), "pos")
        >>> f.log_det_error() < 1e-13
        True
        """
        with self._cholesky() as native:
            return float(native.log_det_error())

    def solve_unrefined(self, b: ArrayLike, *, overwrite_b: bool = False) -> Float64Array:
        """Solves a @ x = b as scipy.linalg.cho_solve: in FP64, without refinement and certificate.

        For many columns, and a symmetric positive definite a. solve() gives more digits and says
        how many.

        >>> import numpy as np, stepwell
        >>> f = stepwell.factor(np.array([[4.0, 2.0], [2.0, 5.0]]), "pos")
        >>> f.solve_unrefined([8.0, 12.0]).round(12).tolist()
        [1.0, 2.0]
        """
        x, columns = right_hand_sides(b, self.order, overwrite_b)
        with self._cholesky() as native:
            native.solve_unrefined(columns)
        return x

    def half_solve(self, b: ArrayLike, *, overwrite_b: bool = False) -> Float64Array:
        """l^-1 @ b, where a = l @ l.T: for variances such as those of a Gaussian process.

        b.T @ a^-1 @ b is then z.T @ z with z = half_solve(b). For a symmetric positive definite a.
        As accurate as scipy.linalg.solve_triangular; there is no certificate.

        >>> import numpy as np, stepwell
        >>> f = stepwell.factor(np.array([[4.0, 2.0], [2.0, 5.0]]), "pos")
        >>> f.half_solve([2.0, 5.0]).tolist()
        [1.0, 2.0]
        """
        x, columns = right_hand_sides(b, self.order, overwrite_b)
        with self._cholesky() as native:
            native.half_solve(columns)
        return x

    def quadratic_forms(self, b: ArrayLike) -> Float64Array:
        """v @ a^-1 @ v for each column v of b, without storing half_solve(b).

        The predictive variance of a Gaussian process is the prior's minus this, with the
        covariances between observations and new points as columns. b is not changed.

        >>> import numpy as np, stepwell
        >>> f = stepwell.factor(np.array([[4.0, 2.0], [2.0, 5.0]]), "pos")
        >>> f.quadratic_forms([[2.0], [5.0]]).tolist()
        [5.0]
        """
        _, columns = right_hand_sides(b, self.order, False)
        with self._cholesky() as native:
            return np.array(native.quadratic_forms(columns), dtype=float)

    def multiply(self, z: ArrayLike, *, overwrite_z: bool = False) -> Float64Array:
        """l @ z, where a = l @ l.T: independent normal numbers become samples with covariance a.

        >>> import numpy as np, stepwell
        >>> f = stepwell.factor(np.array([[4.0, 2.0], [2.0, 5.0]]), "pos")
        >>> f.multiply([1.0, 2.0]).tolist()
        [2.0, 5.0]
        """
        x, columns = right_hand_sides(z, self.order, overwrite_z, "z")
        with self._cholesky() as native:
            native.multiply(columns)
        return x

    def inverse(self, *, progress: Progress = None) -> Float64Array:
        """The inverse of a, as LAPACK's potri computes it: no refinement and no certificate.

        For a symmetric positive definite a. To solve a system, call solve(), which is faster and
        more accurate.

        >>> import numpy as np, stepwell
        >>> f = stepwell.factor(np.array([[4.0, 2.0], [2.0, 5.0]]), "pos")
        >>> bool(np.allclose(f.inverse(), [[5 / 16, -2 / 16], [-2 / 16, 4 / 16]]))
        True
        """
        out = np.empty((self.order, self.order), order="F")
        with reporting(progress) as callback, self._cholesky(callback) as native:
            native.inverse(out, callback)
        return out

    def inverse_diagonal(self, *, progress: Progress = None) -> Float64Array:
        """The diagonal of the inverse of a, in half the time of inverse() and without its memory.

        >>> import numpy as np, stepwell
        >>> f = stepwell.factor(np.array([[4.0, 2.0], [2.0, 5.0]]), "pos")
        >>> bool(np.allclose(f.inverse_diagonal(), [5 / 16, 4 / 16]))
        True
        """
        with reporting(progress) as callback, self._cholesky(callback) as native:
            return np.array(native.inverse_diagonal(callback), dtype=float)

    def trace_inverse_product(self, s: ArrayLike, *, progress: Progress = None) -> float:
        """trace(a^-1 @ s) for a symmetric s, without storing the inverse: derivatives of log_det().

        >>> import numpy as np, stepwell
        >>> f = stepwell.factor(np.array([[4.0, 2.0], [2.0, 5.0]]), "pos")
        >>> round(f.trace_inverse_product([[16.0, 0.0], [0.0, 16.0]]), 12)
        9.0
        """
        columns, _ = by_columns(square(s, "s"))
        with reporting(progress) as callback, self._cholesky(callback) as native:
            return float(native.trace_inverse_product(columns, callback))

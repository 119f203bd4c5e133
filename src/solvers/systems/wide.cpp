// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/systems/wide.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/buffer.hpp"
#include "core/checks.hpp"
#include "core/clock.hpp"
#include "core/machine/fp_scope.hpp"
#include "core/numeric/double_double.hpp"
#include "core/numeric/roundoff.hpp"
#include "core/numeric/worst.hpp"
#include "engine/runtime.hpp"
#include "kernels/blas/qr.hpp"
#include "refine/vectors.hpp"
#include "solvers/certify/verdict.hpp"
#include "solvers/ladder/ladder.hpp"
#include "solvers/systems/least_squares.hpp"
#include "solvers/systems/square_solver.hpp"

namespace stepwell::solvers {
namespace {

using core::DoubleDouble;
using core::kUnit;

/// A times a power of two, stored by columns.
struct ScaledCopy {
  core::Buffer<double> memory;
  MatrixView<double> a;
  double power = 1;
  double norm = 0;  ///< Frobenius norm of the copy
};

/// Copies A, or says in the certificate where it is not finite.
ScaledCopy scaled_copy(const TallMatrix& a, Certificate& c) {
  ScaledCopy copy;
  copy.memory = core::Buffer<double>(core::size_product(a.rows, a.cols, "a copy of A"));
  copy.a = view(copy.memory.data(), a.rows, a.cols);
  double largest = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const double element = a.data[i * a.row_stride + j * a.col_stride];
      if (!std::isfinite(element)) {
        c.outcome = SolveOutcome::non_finite;
        c.row = i;
        c.col = j;
        return copy;
      }
      copy.a(i, j) = element;
      largest = std::max(largest, std::abs(element));
    }
  }
  copy.power = refine::normalizer(largest);
  double squares = 0;
  for (double& element : copy.memory) {
    element *= copy.power;
    squares += element * element;
  }
  copy.norm = std::sqrt(squares);
  return copy;
}

/// Norms of r = b - A x and of A'r, computed in double-double, and r itself, rounded.
struct Residual {
  double norm = 0, gradient = 0;
  std::vector<double> r;
};
Residual residual_of(MatrixView<const double> a, const double* b, const double* x) {
  std::vector<DoubleDouble> r(static_cast<std::size_t>(a.rows));
  for (std::int64_t i = 0; i < a.rows; ++i) r[static_cast<std::size_t>(i)].hi = b[i];
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      DoubleDouble& sum = r[static_cast<std::size_t>(i)];
      sum = core::multiply_add(sum, -x[j], a(i, j));
    }
  }
  Residual found;
  double squares = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    DoubleDouble sum;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const DoubleDouble& e = r[static_cast<std::size_t>(i)];
      sum = core::multiply_add(core::multiply_add(sum, a(i, j), e.hi), a(i, j), e.lo);
    }
    squares += sum.value() * sum.value();
  }
  found.gradient = std::sqrt(squares);
  for (const DoubleDouble& e : r) found.r.push_back(e.value());
  found.norm = refine::norm2(a.rows, found.r.data());
  return found;
}

/// The change of A, relative to its norm, for which x minimises ||b - A x||.
struct Error {
  double value = 0;
  Measure measure = Measure::residual;
};
Error minimiser_error(const Residual& found, double norm, double x) {
  if (found.norm == 0 || norm == 0) return {};
  const double by_residual = x > 0 ? found.norm / (norm * x) : HUGE_VAL;
  const double by_gradient = found.gradient / (norm * found.norm);
  if (by_residual <= by_gradient) return {by_residual, Measure::residual};
  return {by_gradient, Measure::gradient};
}

/// The same with a correction d of x, see certify/least_squares_proof.cpp: v = A d, w = r - A d,
/// s = A'w, and ||v|| / ||x|| + ||s|| (1 + ||d|| / ||x||) / ||w||.
Error corrected_error(MatrixView<const double> a, const Residual& found, const double* d,
                      double norm, double x) {
  const Residual left = residual_of(a, found.r.data(), d);
  const std::vector<double> zero(found.r.size());
  const double v = residual_of(a, zero.data(), d).norm;
  const double size = refine::norm2(a.cols, d);
  return {v / (norm * x) + left.gradient * (1 + size / x) / (norm * left.norm) + kUnit,
          Measure::projection};
}

}  // namespace

std::int64_t wide_bytes(std::int64_t m, std::int64_t n, std::int64_t columns) {
  if (m == 0 || columns == 0) return 0;  // x is zero, or there is none
  const Step qr{StepKind::qr, uniform(Rung::fp64)};
  return core::size_product(m, n, 16, "two copies of A") +
         core::size_product(n, columns, 16, "columns") + step_bytes(qr, n, m, columns, true);
}

namespace {

/// The solutions of least norm for right-hand sides in the first rows of y; returns the rank.
std::int64_t least_norm_of(const ScaledCopy& copy, MatrixView<double> y,
                           std::vector<std::int64_t>& dependent) {
  const std::int64_t m = copy.a.rows, n = copy.a.cols;
  core::Buffer<double> work(m * n);
  std::copy(copy.memory.begin(), copy.memory.end(), work.begin());
  std::vector<int> pivots(static_cast<std::size_t>(n));
  const engine::SingleThreadedBlas blas;
  const double smallest = 2 * static_cast<double>(n) * kUnit;  // NumPy's rule for the rank
  const std::int64_t rank =
      kernels::minimum_norm(view(work.data(), m, n), y, smallest, pivots.data());
  dependent.clear();
  for (std::int64_t k = rank; k < n; ++k) {
    dependent.push_back(pivots[static_cast<std::size_t>(k)] - 1);
  }
  std::sort(dependent.begin(), dependent.end());
  return rank;
}

/// Right-hand sides in the scale of the copy, and their solutions.
struct Scaled {
  std::vector<double> factor;  ///< b was multiplied by this power of two
  core::Buffer<double> b, y;   ///< m x columns, n x columns
};

Scaled scaled_sides(MatrixView<const double> b, std::int64_t n) {
  Scaled s{{}, core::Buffer<double>(b.rows * b.cols), core::Buffer<double>(n * b.cols)};
  for (std::int64_t k = 0; k < b.cols; ++k) {
    s.factor.push_back(refine::normalizer(refine::max_abs(b.rows, b.column(k))));
    for (std::int64_t i = 0; i < b.rows; ++i) {
      s.b[i + k * b.rows] = s.y[i + k * n] = b(i, k) * s.factor.back();
    }
  }
  return s;
}

/// Writes x, and leaves in y what was written.
void write(const ScaledCopy& copy, const Scaled& s, MatrixView<double> x) {
  for (std::int64_t k = 0; k < x.cols; ++k) {
    const int back = std::ilogb(copy.power) - std::ilogb(s.factor[static_cast<std::size_t>(k)]);
    for (std::int64_t j = 0; j < x.rows; ++j) {
      double& y = s.y[j + k * x.rows];
      x(j, k) = std::ldexp(y, back);
      y = std::ldexp(x(j, k), -back);
    }
  }
}

/// Certifies the columns of y, of which 'range' has the coefficients in the rows of A, and
/// 'outside' what these leave.
void certify(const ScaledCopy& copy, const Scaled& s, MatrixView<const double> range,
             const std::vector<ColumnCertificate>& outside, Certificate& c) {
  const std::int64_t m = copy.a.rows, n = copy.a.cols;
  // Norms are square roots of sums of at most n squares.
  const double norms = 1 + 4 * kUnit * static_cast<double>(m + 2 * n + 32);
  for (std::int64_t k = 0; k < range.cols; ++k) {
    const auto e = static_cast<std::size_t>(k);
    const double* const y = s.y.data() + k * n;
    const double size = refine::norm2(n, y);
    const Residual residual = residual_of(copy.a, s.b.data() + k * m, y);
    Error error = minimiser_error(residual, copy.norm, size);
    if (!(error.value * norms <= c.tolerance) && std::isfinite(size) && size > 0) {
      core::Buffer<double> d(n);
      std::copy(residual.r.begin(), residual.r.end(), d.begin());
      std::vector<std::int64_t> ignored;
      least_norm_of(copy, view(d.data(), n, 1), ignored);
      const Error other = corrected_error(copy.a, residual, d.data(), copy.norm, size);
      if (other.value < error.value) error = other;
    }
    const double of_norm =
        size > 0 ? outside[e].residual_norm / (copy.norm * refine::norm2(m, range.column(k))) : 0;
    ColumnCertificate& column = c.columns[e];
    column.measure = error.measure;
    column.backward_error = core::worst(error.value, of_norm) * norms;
    column.outcome = outcome_of(std::isfinite(size), {column.backward_error, 0}, c.tolerance);
    column.residual_norm = residual.norm / s.factor[e];
    c.backward_error = core::worst(c.backward_error, column.backward_error);
    if (column.outcome != SolveOutcome::converged) c.outcome = column.outcome;
  }
}

}  // namespace

Certificate solve_wide(const TallMatrix& a, MatrixView<const double> b, MatrixView<double> x,
                       const LeastSquaresOptions& options) {
  const core::FpScope fp;
  const auto start = core::Clock::now();
  const std::int64_t m = a.rows, n = a.cols, columns = b.cols;
  Certificate c;
  c.structure = Structure::least_squares;
  c.method = least_squares_method({StepKind::qr, uniform(Rung::fp64)});
  c.method.refiner = Refiner::direct;
  c.tolerance = options.tolerance > 0 ? options.tolerance
                                      : std::max(2.0, std::sqrt(static_cast<double>(n))) * kUnit;
  c.columns = blank_columns(columns);
  c.peak_bytes = wide_bytes(m, n, columns);
  record_threads(1, options.engine.context, c);
  const RightHandSums sums(b);
  const ScaledCopy copy = scan_b(b, c) ? scaled_copy(a, c) : ScaledCopy();
  if (c.ok() && columns > 0) {
    c.norm = copy.norm / copy.power;
    const Scaled sides = scaled_sides(b, n);
    const MatrixView<double> y = view(sides.y.data(), n, columns);
    c.rank = least_norm_of(copy, y, c.dependent);
    write(copy, sides, x);
    c.times.factor = core::seconds_since(start);
    LeastSquaresOptions plain;
    plain.engine = options.engine;
    // A' is stored by rows where A is stored by columns.
    core::Buffer<double> coefficients(m * columns);
    const MatrixView<double> range = view(coefficients.data(), m, columns);
    const Certificate reached = lstsq(by_rows(copy.memory.data(), n, m), y, range, plain);
    certify(copy, sides, range, reached.columns, c);
    if (reached.outcome == SolveOutcome::cancelled) c.outcome = SolveOutcome::cancelled;
    c.times.certify = core::seconds_since(start) - c.times.factor;
    c.minimum_norm = true;
    sums.check(b, x, c);
    c.rungs.push_back({c.method, true, 0, c.backward_error, "", c.times.factor});
    if (c.ok() && c.rank < m) c.outcome = SolveOutcome::rank_deficient;
    if (c.outcome != SolveOutcome::rank_deficient) c.dependent.clear();
  }
  if (!c.ok()) {
    for (ColumnCertificate& column : c.columns) {
      if (column.outcome != SolveOutcome::not_converged) column.outcome = c.outcome;
    }
  }
  c.times.wall = core::seconds_since(start);
  explain(c);
  return c;
}

}  // namespace stepwell::solvers

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/systems/least_squares.hpp"
#include "core/clock.hpp"
#include "core/numeric/worst.hpp"

#include <algorithm>
#include <cmath>

#include "core/machine/fp_scope.hpp"
#include "factor/setup.hpp"
#include "kernels/scan.hpp"
#include "refine/vectors.hpp"
#include "solvers/systems/square_solver.hpp"
#include "stepwell/error.hpp"

namespace stepwell::solvers {
namespace {

using core::Clock;
using core::seconds_since;

int pool_size(std::int64_t m, std::int64_t n, const Context* context) {
  constexpr double kForThreads = 1 << 18;  // elements of A; below, waking threads takes too long
  if (static_cast<double>(m) * static_cast<double>(n) < kForThreads) return 1;
  return engine::pool_threads(context);
}

double max_abs_of(MatrixView<const double> b, std::int64_t c) {
  return refine::max_abs(b.rows, b.column(c));
}

}  // namespace

LeastSquares::LeastSquares(const TallMatrix& a, MatrixView<const double> b, MatrixView<double> x,
                           const LeastSquaresOptions& options)
    : m_(a.rows),
      n_(a.cols),
      b_(b),
      x_(x),
      options_(options),
      a_(a),
      pool_(pool_size(a.rows, a.cols, options.engine.context)),
      refiner_(options.refine.refiner.value_or(Refiner::cg)) {}

double LeastSquares::tolerance() const {
  if (options_.tolerance > 0) return options_.tolerance;
  // With a single column, rounding x alone costs a backward error of u/2.
  return std::max(2.0, std::sqrt(static_cast<double>(n_))) * 0x1p-53;
}

refine::Sums LeastSquares::sums() const {
  // Where double-double costs next to nothing, x is better by what plain sums lose.
  constexpr double kCheapUpTo = 1 << 16;
  return static_cast<double>(m_) * static_cast<double>(n_) <= kCheapUpTo
             ? refine::Sums::double_double
             : refine::Sums::fp64;
}

bool LeastSquares::cancelled() const {
  return options_.engine.progress != nullptr && options_.engine.progress->cancel;
}

void LeastSquares::make_batches() {
  if (!batch_.empty()) return;
  // A'b of the Gram matrix's pass is used if sums are in FP64; in double-double A'b is worth a pass
  // of its own.
  const bool known = gram_.ab.size() == n_ * b_.cols && sums() == refine::Sums::fp64;
  for (std::int64_t first = 0; first < b_.cols; first += kBatch) {
    const std::int64_t count = std::min(kBatch, b_.cols - first);
    Batch& batch = batch_.emplace_back();
    batch.x = core::Buffer<double>(n_ * count);
    batch.g = core::Buffer<double>(n_ * count);
    batch.state.x = view(batch.x.data(), n_, count);
    batch.state.g = view(batch.g.data(), n_, count);
    batch.state.squares.assign(static_cast<std::size_t>(count), 0);
    batch.state.error.assign(static_cast<std::size_t>(count), {});
    batch.state.projects.assign(static_cast<std::size_t>(count), false);
    batch.state.sums.assign(static_cast<std::size_t>(count), sums());
    batch.right.b = b_;
    bool tame = known;
    for (std::int64_t k = 0; k < count; ++k) {
      const double size = max_abs_of(b_, first + k);
      tame = tame && is_tame(size);
      tame_b_ = tame_b_ && is_tame(size);
      batch.right.column.push_back(first + k);
      batch.right.factor.push_back(refine::normalizer(size));
    }
    // At x = 0 the residual is b, and H'b was computed with the Gram matrix.
    batch.measured = tame;
    for (std::int64_t k = 0; k < count && tame; ++k) {
      const auto e = static_cast<std::size_t>(k);
      const double f = batch.right.factor[e];
      double square = 0;
      for (std::int64_t i = 0; i < m_; ++i) square += std::pow(b_(i, first + k) * f, 2);
      batch.state.squares[e] = square;
      for (std::int64_t j = 0; j < n_; ++j) {
        const auto p = static_cast<std::size_t>(j);
        batch.g[j + k * n_] = gram_.ab[j + (first + k) * n_] * (power_[p] / gram_.power[p]) * f;
      }
    }
  }
}

/// Writes x and certifies what was written.
void LeastSquares::certify(Batch& batch) {
  const auto count = static_cast<std::int64_t>(batch.right.column.size());
  std::vector<bool> finite;
  bool exact = true;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto e = static_cast<std::size_t>(k);
    const int back = -std::ilogb(batch.right.factor[e]);
    double* const y = batch.state.x.column(k);
    double* const out = x_.column(batch.right.column[e]);
    bool all = true;
    for (std::int64_t j = 0; j < n_; ++j) {
      const auto p = static_cast<std::size_t>(j);
      const int power = std::ilogb(power_[p]) + exponent_[p] + back;
      out[j] = std::ldexp(y[j], power);
      all = all && std::isfinite(out[j]);
      const double read = std::ldexp(out[j], -power);
      exact = exact && read == y[j];
      y[j] = read;
    }
    finite.push_back(all);
  }
  // What was written is what was examined, except where an element was rounded to FP64's range.
  // Then g belongs to another x and proves nothing.
  if (!exact) batch.state.sums.assign(finite.size(), refine::Sums::fp64);
  if (!exact || batch.proof.empty()) examine(batch);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto e = static_cast<std::size_t>(k);
    ColumnCertificate& column = c_.columns[static_cast<std::size_t>(batch.right.column[e])];
    const Measured& measured = batch.proof[e].measured;
    column.backward_error = measured.most();
    column.measure = batch.proof[e].measure;
    column.residual_norm = std::sqrt(batch.state.squares[e]) / batch.right.factor[e];
    column.outcome = outcome_of(finite[e], measured, tolerance());
    if (c_.condition > 0) {
      // The condition of the least squares problem is that of H, or its square if r is not small.
      const double size = refine::norm2(n_, batch.state.x.column(k)) * norm_;
      const double relative_residual = size > 0 ? std::sqrt(batch.state.squares[e]) / size : 0;
      column.forward_error =
          2 * c_.condition * (1 + c_.condition * relative_residual) * (measured.most() + 0x1p-53);
    }
    if (column.outcome != SolveOutcome::converged && c_.outcome == SolveOutcome::converged) {
      c_.outcome = column.outcome;
    }
    c_.backward_error = core::worst(c_.backward_error, column.backward_error);
    c_.iterations = std::max(c_.iterations, column.iterations);
  }
}

/// Sets the outcome 'changed' if a later pass has read another A than the first.
void LeastSquares::note_changes() {
  const std::int64_t column = h_ ? h_->changed_column() : -1;
  if (column < 0) return;
  c_.outcome = SolveOutcome::changed;
  c_.row = 0;
  c_.col = column;
}

/// Sets the rank, and the outcome 'rank_deficient' if x is not the only solution.
void LeastSquares::conclude() {
  if (c_.outcome != SolveOutcome::converged) return;
  c_.dependent = qr_ ? qr_->dependent : empty_columns();
  if (rank_known_) c_.rank = n_ - static_cast<std::int64_t>(c_.dependent.size());
  if (c_.dependent.empty()) return;
  c_.outcome = SolveOutcome::rank_deficient;
  for (ColumnCertificate& column : c_.columns) column.outcome = c_.outcome;
}

Certificate LeastSquares::solve() {
  const core::FpScope fp;
  const auto start = Clock::now();
  c_.structure = Structure::least_squares;
  c_.tolerance = tolerance();
  record_threads(pool_.requested(), options_.engine.context, c_);
  c_.columns = blank_columns(b_.cols);
  const RightHandSums sums(b_);
  bool solved = true;
  if (n_ > 0 && b_.cols > 0 && (solved = scan_b(b_, c_))) {
    ladder_ = ladder_for(m_, n_, b_.cols, options_);
    if (climb(system(), ladder_, options_.engine.progress, c_) == Climbed::stopped &&
        c_.outcome == SolveOutcome::not_converged) {
      c_.backward_error = 1;  // there is no factor, and nothing is written
    }
    solved = c_.outcome == SolveOutcome::converged;
    if (solved) {
      c_.minimum_norm =
          options_.minimum_norm && (!qr_ ? rank_known_ : qr_->rank == n_ || take_least_norm());
      for (Batch& batch : batch_) certify(batch);
      a_.rethrow();
      // The verdict is about the x that was written: rounding to FP64's range may even improve it.
      if (c_.outcome == SolveOutcome::converged) c_.rungs.back().reason.clear();
      note_changes();
    }
    sums.check(b_, x_, c_);
    solved = solved && c_.outcome != SolveOutcome::changed;
    if (solved) conclude();
  }
  for (ColumnCertificate& column : c_.columns) {
    if (!solved) column.outcome = c_.outcome;
  }
  for (std::int64_t k = 0; solved && n_ == 0 && k < b_.cols; ++k) {
    ColumnCertificate& column = c_.columns[static_cast<std::size_t>(k)];
    column.backward_error = 0;
    column.residual_norm = refine::norm2(m_, b_.column(k));
    column.outcome = outcome_of(true, {0, 0}, tolerance());
  }
  c_.times.wall = seconds_since(start);
  explain(c_);
  return std::move(c_);
}

}  // namespace stepwell::solvers

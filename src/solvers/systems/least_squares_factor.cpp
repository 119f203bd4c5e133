// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "engine/runtime.hpp"
#include "kernels/blas/lapack.hpp"
#include "refine/preconditioner.hpp"
#include "solvers/certify/inverse_norm.hpp"
#include "solvers/ladder/cost.hpp"
#include "solvers/systems/least_squares.hpp"

/// The factors of least squares: the Gram matrix at a rung and its Cholesky factor, or QR in FP64.
namespace stepwell::solvers {
namespace {

/// In units of the rung's unit roundoff. Shifts are for a rung that was asked for; otherwise the
/// next rung is cheaper than the iterations with a weak factor.
constexpr double kLargestShift = 64;

}  // namespace

bool LeastSquares::make_gram(Rung rung) {
  preconditioner_.reset();
  factor_.reset();
  // Rungs without planes (RungInfo::planes) use the BLAS, called by each thread by itself.
  const engine::SingleThreadedBlas blas;
  do {
    gram_ = factor::gram(pool_, a_, rung, batch_.empty() ? b_ : MatrixView<const double>{},
                         options_.engine.progress);
    if (gram_.cancelled || a_.failed()) return false;
  } while (rescale(gram_.column));
  if (!analyze(gram_.column)) return false;
  make_batches();
  c_.peak_bytes =
      std::max(c_.peak_bytes, step_bytes(ladder_.step(), m_, n_, b_.cols, a_.scratch(1) == 0));
  return true;
}

/// Line 5 of Algorithm 5.1 of Higham & Pranesh, and lines 6-8 if the rung was asked for.
bool LeastSquares::factor_gram(Rung rung) {
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& { return gram_.c[i + j * n_]; };
  std::vector<double> to_h(static_cast<std::size_t>(n_));
  for (std::size_t j = 0; j < to_h.size(); ++j) to_h[j] = power_[j] / gram_.power[j];
  std::vector<double> diagonal(to_h.size());
  for (std::int64_t j = 0; j < n_; ++j) {
    const auto e = static_cast<std::size_t>(j);
    for (std::int64_t i = j; i < n_; ++i) {
      at(i, j) *= to_h[static_cast<std::size_t>(i)] * to_h[e];
    }
    if (!tail_.empty()) at(j, j) += tail_[e];
    if (at(j, j) == 0) at(j, j) = 1;  // an empty column: its unknown stays zero
    diagonal[e] = at(j, j);
  }
  FactorOptions f;
  f.map = uniform(gram_factor_rung(rung, n_));
  f.climb = false;
  f.engine.context = options_.engine.context;
  const double most = options_.map == uniform(rung) ? kLargestShift : 0;
  for (double shift = 0; shift <= most; shift = shift == 0 ? 1 : 2 * shift) {
    for (std::int64_t j = 0; j < n_; ++j) {
      at(j, j) = diagonal[static_cast<std::size_t>(j)] * (1 + shift * info(rung).unit_roundoff);
    }
    Factor factor = cholesky(view<const double>(gram_.c.data(), n_, n_), f);
    c_.factor = factor.report();
    c_.shift = shift;
    if (!factor.ok()) continue;
    factor_ = std::move(factor);
    gram_.c = {};
    ones_.assign(static_cast<std::size_t>(n_), 1);
    preconditioner_ = std::make_unique<refine::FactorPreconditioner>(
        pool_, FactorData::of(*factor_), ones_, ones_, refine::Substitution::fp64);
    return true;
  }
  return false;
}

bool LeastSquares::make_qr() {
  preconditioner_.reset();
  factor_.reset();
  gram_.c = {};
  if (!known_) {
    scan_columns();
    if (c_.outcome != SolveOutcome::converged || a_.failed() || cancelled()) return false;
    make_batches();
  }
  std::vector<double> tail;
  for (const double t : tail_) tail.push_back(std::sqrt(t));
  // If sums of B's elements might overflow, B is copied in the scale of the batches.
  core::Buffer<double> copy;
  MatrixView<const double> b = b_;
  if (!tame_b_) {
    copy = core::Buffer<double>(core::size_product(m_, b_.cols, "a scaled copy of B"));
    for (const Batch& batch : batch_) {
      for (std::size_t k = 0; k < batch.right.column.size(); ++k) {
        const std::int64_t c = batch.right.column[k];
        for (std::int64_t i = 0; i < m_; ++i) copy[i + c * m_] = b_(i, c) * batch.right.factor[k];
      }
    }
    b = view<const double>(copy.data(), m_, b_.cols);
  }
  qr_ = factor::tall_qr(pool_, a_, power_, tail, b, options_.engine.progress);
  c_.peak_bytes =
      std::max(c_.peak_bytes, step_bytes(ladder_.step(), m_, n_, b_.cols, a_.scratch(1) == 0));
  if (qr_->cancelled || !qr_->finite) return false;
  preconditioner_ = std::make_unique<QrPreconditioner>(*qr_);
  // x = P R^-1 Q'b replaces the x that the rungs before have reached.
  for (Batch& batch : batch_) {
    const auto count = static_cast<std::int64_t>(batch.right.column.size());
    for (std::int64_t k = 0; k < count; ++k) {
      const auto e = static_cast<std::size_t>(k);
      std::vector<double> y(static_cast<std::size_t>(n_));
      const double* const qb = qr_->qb.data() + batch.right.column[e] * n_;
      for (std::int64_t j = 0; j < qr_->rank; ++j) {
        y[static_cast<std::size_t>(j)] = qb[j] * (tame_b_ ? batch.right.factor[e] : 1);
      }
      kernels::solve_upper(view<const double>(qr_->r.data(), qr_->rank, qr_->rank, n_), false,
                           view(y.data(), qr_->rank, 1));
      for (std::int64_t j = 0; j < n_; ++j) {
        const auto to = qr_->order[static_cast<std::size_t>(j)];
        batch.state.x(to, k) = y[static_cast<std::size_t>(j)];
      }
    }
    batch.measured = false;
  }
  return true;
}

/// Estimate of ||(H'H)^-1|| from QR of a few rows, evenly spaced in A. It costs little, and tells a
/// matrix of condition 1e3 from one of 1e9, which a Gram matrix that is not positive definite
/// can't.
double LeastSquares::sample_inverse() {
  constexpr std::int64_t kRun = 16;  // consecutive rows that are read together
  const std::int64_t runs = 2 * n_ / kRun + 1;
  core::Buffer<double> rows(core::size_product(runs * kRun, n_, "a sample of rows"));
  core::Buffer<double> scratch(a_.scratch(kRun));
  for (std::int64_t r = 0; r < runs && !a_.failed(); ++r) {
    const core::RowBlock block = a_.read((m_ - kRun) / runs * r, kRun, scratch.data());
    for (std::int64_t i = 0; i < kRun; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) rows[(r * kRun + i) * n_ + j] = block(i, j);
    }
  }
  if (a_.failed()) return 0;
  const double ratio = std::sqrt(static_cast<double>(m_) / static_cast<double>(runs * kRun));
  std::vector<double> tail;
  for (const double t : tail_) tail.push_back(std::sqrt(t) / ratio);
  const TallMatrix sample = by_rows(rows.data(), runs * kRun, n_);
  core::RowReader reader(sample);
  const factor::TallQr qr = factor::tall_qr(pool_, reader, power_, tail, MatrixView<const double>{},
                                            options_.engine.progress);
  if (qr.cancelled || !qr.finite || qr.rank < n_) return HUGE_VAL;
  QrPreconditioner with(qr);
  const auto solve_with = [&](std::vector<double>& v) {
    std::vector<double> z(v.size());
    with.apply(view<const double>(v.data(), n_, 1), view(z.data(), n_, 1));
    v = std::move(z);
  };
  return inverse_norm(n_, solve_with, solve_with) / (ratio * ratio);
}

void QrPreconditioner::apply(MatrixView<const double> r, MatrixView<double> z) {
  const auto n = static_cast<std::int64_t>(qr_.order.size());
  core::Buffer<double> y(n * r.cols);
  const MatrixView<double> v = view(y.data(), n, r.cols);
  for (std::int64_t c = 0; c < r.cols; ++c) {
    for (std::int64_t j = 0; j < qr_.rank; ++j) {
      v(j, c) = r(qr_.order[static_cast<std::size_t>(j)], c);
    }
  }
  const auto triangle = view<const double>(qr_.r.data(), qr_.rank, qr_.rank, n);
  const MatrixView<double> part = v.block(0, 0, qr_.rank, r.cols);
  kernels::solve_upper(triangle, true, part);
  kernels::solve_upper(triangle, false, part);
  for (std::int64_t c = 0; c < r.cols; ++c) {
    for (std::int64_t j = 0; j < n; ++j) z(qr_.order[static_cast<std::size_t>(j)], c) = v(j, c);
  }
}

}  // namespace stepwell::solvers

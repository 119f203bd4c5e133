// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "kernels/blas/qr.hpp"
#include "solvers/systems/least_squares.hpp"

/// The minimiser of least norm, where the columns of A depend on each other. With the
/// rank r, H P = Q [R11 R12] and any minimiser y, the others are the solutions of
/// [R11 R12] P'y = R11 y1; the one of least norm follows from a complete orthogonal factorization
/// [T 0] Z of [R11 R12], in the caller's scale.
namespace stepwell::solvers {
namespace {

/// Beyond such a difference of the columns' scales, products of two of them are not safe.
constexpr int kWidest = 400;

}  // namespace

/// Replaces x by the minimiser of least norm, column by column, where that one is proven to be as
/// good. True if all columns were replaced.
bool LeastSquares::take_least_norm() {
  const std::int64_t rank = qr_->rank;
  const auto at = [&](std::int64_t k) {
    return static_cast<std::size_t>(qr_->order[static_cast<std::size_t>(k)]);
  };
  const auto exponent = [&](std::int64_t k) {
    return std::ilogb(power_[at(k)]) + exponent_[at(k)];
  };
  int least = exponent(0), most = least;
  for (std::int64_t k = 1; k < n_; ++k) {
    least = std::min(least, exponent(k));
    most = std::max(most, exponent(k));
  }
  if (most - least > kWidest) return false;

  const MatrixView<const double> r = view<const double>(qr_->r.data(), rank, n_, n_);
  core::Buffer<double> scaled(rank * n_);
  const MatrixView<double> t = view(scaled.data(), rank, n_);
  for (std::int64_t k = 0; k < n_; ++k) {
    for (std::int64_t i = 0; i <= std::min(k, rank - 1); ++i) {
      t(i, k) = std::ldexp(r(i, k), least - exponent(k));
    }
  }
  core::Buffer<double> all(core::size_product(n_, b_.cols, "solutions of least norm"));
  for (const Batch& batch : batch_) {
    for (std::size_t e = 0; e < batch.right.column.size(); ++e) {
      double* const c = all.data() + batch.right.column[e] * n_;
      for (std::int64_t k = 0; k < rank; ++k) {
        const double y =
            batch.state.x(static_cast<std::int64_t>(at(k)), static_cast<std::int64_t>(e));
        for (std::int64_t i = 0; i <= k; ++i) c[i] += r(i, k) * y;
      }
    }
  }
  kernels::least_norm(t, view(all.data(), n_, b_.cols));

  bool taken = true;
  for (Batch& batch : batch_) {
    std::vector<std::size_t> columns(batch.right.column.size());
    for (std::size_t e = 0; e < columns.size(); ++e) columns[e] = e;
    Batch part = part_of(batch, columns);
    for (const std::size_t e : columns) {
      const double* const found = all.data() + batch.right.column[e] * n_;
      for (std::int64_t k = 0; k < n_; ++k) {
        part.state.x(static_cast<std::int64_t>(at(k)), static_cast<std::int64_t>(e)) =
            std::ldexp(found[k], least - exponent(k));
      }
    }
    part.state.sums.assign(columns.size(), refine::Sums::fp64);  // g belongs to another x
    examine(part);
    const std::vector<std::size_t> worse = unproven(part);
    taken = taken && worse.empty();
    for (const std::size_t e : columns) {
      if (std::find(worse.begin(), worse.end(), e) == worse.end()) take(batch, e, part, e);
    }
  }
  return taken;
}

}  // namespace stepwell::solvers

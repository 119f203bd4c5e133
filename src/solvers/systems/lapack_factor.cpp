// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/systems/lapack_factor.hpp"
#include "core/checks.hpp"
#include "core/numeric/worst.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/machine/fp_scope.hpp"
#include "core/numeric/exponent.hpp"
#include "engine/runtime.hpp"
#include "factor/dense/lu.hpp"
#include "factor/dense/residue_lu.hpp"
#include "factor/setup.hpp"
#include "factor/uses/determinant.hpp"
#include "kernels/blas/lapack.hpp"

namespace stepwell::solvers {

double lapack_power(double max_abs) {
  if (!(max_abs > 0) || !std::isfinite(max_abs)) return 1;
  const int exponent = core::exponent_of(max_abs);
  return core::power_of_two(std::clamp(exponent, -300, 1000) - exponent);
}

std::int64_t LapackFactor::bytes(std::int64_t n) {
  return core::size_product(n, n, 8, "LAPACK's factor") +
         n * static_cast<std::int64_t>(sizeof(int));
}
std::int64_t LapackFactor::peak_bytes(std::int64_t n, int threads) {
  return bytes(n) + factor::residue_lu_bytes(n, threads);
}

LapackFactor::LapackFactor(engine::ThreadPool& pool, MatrixView<const double> a, double max_abs)
    : n_(a.rows), exponent_(core::exponent_of(lapack_power(max_abs))) {
  core::require_memory(peak_bytes(n_, pool.size()),
                       "LAPACK's factor of a matrix of order " + std::to_string(n_));
  lu_ = core::Buffer<double>(n_ * n_, core::Contents::any);
  pivots_.resize(static_cast<std::size_t>(n_));
  const double power = lapack_power(max_abs);
  for (std::int64_t j = 0; j < n_; ++j) {
    const double* const from = a.column(j);
    double* const to = lu_.data() + j * n_;
    for (std::int64_t i = 0; i < n_; ++i) to[i] = power * from[i];
  }
  const engine::SingleThreadedBlas blas;
  report_.map = uniform(Rung::fp64);
  report_.unit_roundoff = info(Rung::fp64).unit_roundoff;
  report_.bytes = bytes(n_);
  report_.peak_bytes = peak_bytes(n_, pool.size());
  report_.max_abs = max_abs;
  report_.pivot = factor::dense_lu(pool, view(lu_.data(), n_, n_), pivots_.data());
  if (report_.pivot >= 0) report_.outcome = FactorOutcome::singular;
  double largest = 0;
  for (std::int64_t j = 0; j < n_; ++j) {
    const double* const u = lu_.data() + j * n_;
    for (std::int64_t i = 0; i <= j; ++i) {
      largest = core::worst(largest, std::abs(u[i]));
    }
  }
  report_.growth = largest / power / max_abs;
}

LogDet LapackFactor::log_det() const {
  factor::LogSum sum;
  for (std::int64_t k = 0; k < n_; ++k) {
    sum.multiply(lu_.data()[k + k * n_]);
    sum.divide(core::power_of_two(exponent_));
    if (pivots_[static_cast<std::size_t>(k)] != k + 1) sum.multiply(-1);
  }
  return sum.value();
}

void LapackFactor::solve(bool transposed, MatrixView<double> b) const {
  const engine::SingleThreadedBlas blas;
  kernels::getrs(view<const double>(lu_.data(), n_, n_), pivots_.data(), transposed, b);
}

/// H^-1 r = diag(1 / col) A^-1 diag(1 / row) r, where A^-1 is applied to vectors whose
/// largest element is scaled to about 1.
void LapackPreconditioner::apply_to(MatrixView<const double> r, MatrixView<double> z) const {
  const std::int64_t n = r.rows;
  std::vector<int> exponent(static_cast<std::size_t>(r.cols));
  for (std::int64_t c = 0; c < r.cols; ++c) {
    int largest = std::numeric_limits<int>::min();
    for (std::int64_t i = 0; i < n; ++i) {
      if (r(i, c) == 0) continue;
      const int of_row = exponents_.row[static_cast<std::size_t>(i)];
      largest = std::max(largest, core::exponent_of(r(i, c)) - of_row);
    }
    if (largest == std::numeric_limits<int>::min()) largest = 0;
    exponent[static_cast<std::size_t>(c)] = largest;
    for (std::int64_t i = 0; i < n; ++i) {
      const int of_row = exponents_.row[static_cast<std::size_t>(i)];
      z(i, c) = core::times_power_of_two(r(i, c), -of_row - largest);
    }
  }
  factor_.solve(transposed_, z);
  for (std::int64_t c = 0; c < r.cols; ++c) {
    const int back = exponent[static_cast<std::size_t>(c)] + factor_.exponent();
    for (std::int64_t i = 0; i < n; ++i) {
      const int of_col = exponents_.col[static_cast<std::size_t>(i)];
      z(i, c) = core::times_power_of_two(z(i, c), back - of_col);
    }
  }
}

/// Threads take chunks of columns, whose width depends on nothing else: so do the bits.
void LapackPreconditioner::apply(MatrixView<const double> r, MatrixView<double> z) {
  constexpr std::int64_t kChunk = 64;
  if (r.cols < 2 * kChunk) return apply_to(r, z);
  const engine::SingleThreadedBlas blas;
  pool_.for_each((r.cols + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
    const core::FpScope fp;
    const std::int64_t first = chunk * kChunk, count = std::min(kChunk, r.cols - first);
    apply_to(r.block(0, first, r.rows, count), z.block(0, first, r.rows, count));
  });
}

}  // namespace stepwell::solvers

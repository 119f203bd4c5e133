// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/systems/lapack_factor.hpp"
#include "core/checked.hpp"
#include "core/checks.hpp"
#include "core/numeric/worst.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

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
  const MatrixView<double> lu = view(lu_.data(), n_, n_);
  const auto load = [&] {
    pool.for_each(n_, [&](std::int64_t j) {
      const core::FpScope fp;
      const double* const from = a.column(j);
      double* const to = lu.column(j);
      for (std::int64_t i = 0; i < n_; ++i) to[i] = power * from[i];
    });
  };
  load();
  const engine::SingleThreadedBlas blas;
  report_.map = uniform(Rung::fp64);
  report_.unit_roundoff = info(Rung::fp64).unit_roundoff;
  report_.bytes = bytes(n_);
  report_.peak_bytes = peak_bytes(n_, pool.size());
  report_.max_abs = max_abs;
  exact_ = factor::uses_residue_lu(pool, lu);
  const bool small = n_ < factor::kDenseLuForThreads;
  report_.pivot = exact_  ? factor::residue_lu(pool, lu, pivots_.data())
                  : small ? kernels::getrf(lu, pivots_.data())
                          : factor::dense_lu(pool, lu, pivots_.data());
  if (report_.pivot >= 0 && !small) {
    // Whether a tiny pivot is exactly zero depends on the order of sums: LAPACK decides.
    load();
    exact_ = false;
    report_.pivot = kernels::getrf(lu, pivots_.data());
  }
  if (report_.pivot >= 0) report_.outcome = FactorOutcome::singular;
  std::vector<double> of_column(static_cast<std::size_t>(n_));
  pool.for_each(n_, [&](std::int64_t j) {
    const double* const u = lu_.data() + j * n_;
    double most = 0;
    for (std::int64_t i = 0; i <= j; ++i) most = core::worst(most, std::abs(u[i]));
    of_column[static_cast<std::size_t>(j)] = most;
  });
  double largest = 0;
  for (const double most : of_column) largest = core::worst(largest, most);
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

bool LapackFactor::solves_exactly(std::int64_t columns) const {
  constexpr std::int64_t kFewest = 512;
  return exact_ && columns >= kFewest;
}

void LapackFactor::solve_exactly(engine::ThreadPool& pool, bool transposed,
                                 MatrixView<double> b) const {
  const engine::SingleThreadedBlas blas;
  const MatrixView<const double> lu = view<const double>(lu_.data(), n_, n_);
  const auto exchange = [&](std::int64_t c, std::int64_t i) {
    std::swap(b(i, c), b(pivots_[static_cast<std::size_t>(i)] - 1, c));
  };
  if (transposed) {
    factor::residue_lu_solve(pool, lu, {true, true, false}, b);
    factor::residue_lu_solve(pool, lu, {false, true, true}, b);
    pool.for_each(b.cols, [&](std::int64_t c) {
      for (std::int64_t i = n_ - 1; i >= 0; --i) exchange(c, i);
    });
  } else {
    pool.for_each(b.cols, [&](std::int64_t c) {
      for (std::int64_t i = 0; i < n_; ++i) exchange(c, i);
    });
    factor::residue_lu_solve(pool, lu, {false, false, true}, b);
    factor::residue_lu_solve(pool, lu, {true, false, false}, b);
  }
}

int LapackPreconditioner::scale(const double* r, double* z) const {
  const auto n = static_cast<std::int64_t>(exponents_.row.size());
  int largest = std::numeric_limits<int>::min();
  for (std::int64_t i = 0; i < n; ++i) {
    if (r[i] == 0) continue;
    const int of_row = exponents_.row[static_cast<std::size_t>(i)];
    largest = std::max(largest, core::exponent_of(r[i]) - of_row);
  }
  if (largest == std::numeric_limits<int>::min()) largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const int of_row = exponents_.row[static_cast<std::size_t>(i)];
    z[i] = core::times_power_of_two(r[i], -of_row - largest);
  }
  return largest;
}

void LapackPreconditioner::scale_back(int power, double* z) const {
  for (std::size_t i = 0; i < exponents_.col.size(); ++i) {
    z[i] = core::times_power_of_two(z[i], power + factor_.exponent() - exponents_.col[i]);
  }
}

/// H^-1 r = diag(1 / col) A^-1 diag(1 / row) r, where A^-1 is applied to vectors whose largest
/// element is scaled to about 1. Threads take chunks of columns, whose width depends on nothing
/// else: so do the bits.
void LapackPreconditioner::apply(MatrixView<const double> r, MatrixView<double> z) {
  constexpr std::int64_t kChunk = 64;
  std::vector<int> power(static_cast<std::size_t>(r.cols));
  const auto before = [&](std::int64_t c) {
    const core::FpScope fp;
    power[static_cast<std::size_t>(c)] = scale(r.column(c), z.column(c));
  };
  const auto after = [&](std::int64_t c) {
    const core::FpScope fp;
    scale_back(power[static_cast<std::size_t>(c)], z.column(c));
  };
  if (factor_.solves_exactly(r.cols)) {
    pool_.for_each(r.cols, before);
    factor_.solve_exactly(pool_, transposed_, z);
    return pool_.for_each(r.cols, after);
  }
  const auto solve = [&](std::int64_t first, std::int64_t count) {
    const core::FpScope fp;
    for (std::int64_t c = first; c < first + count; ++c) before(c);
    factor_.solve(transposed_, z.block(0, first, r.rows, count));
    for (std::int64_t c = first; c < first + count; ++c) after(c);
  };
  if (r.cols < 2 * kChunk) return solve(0, r.cols);
  const engine::SingleThreadedBlas blas;
  pool_.for_each(core::ceil_div(r.cols, kChunk), [&](std::int64_t chunk) {
    solve(chunk * kChunk, std::min(kChunk, r.cols - chunk * kChunk));
  });
}

}  // namespace stepwell::solvers

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/determinant.hpp"

#include <cmath>
#include <cstdint>
#include <new>
#include <string>

#include "core/machine/fp_scope.hpp"
#include "core/memory_error.hpp"
#include "core/numeric/double_double.hpp"
#include "engine/runtime.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "factor/lu/lu_data.hpp"
#include "factor/setup.hpp"
#include "factor/triangular/substitution.hpp"
#include "stepwell/error.hpp"

/// What people do with a factor apart from solving: determinants, and half of a solve.
namespace stepwell {
namespace factor {

void LogSum::add(double term) {
  const core::DoubleDouble s = core::two_sum(sum_, term);
  sum_ = s.hi;
  rest_ += s.lo;
}

void LogSum::multiply(double factor) {
  if (factor < 0) sign_ = -sign_;
  if (factor == 0) sign_ = 0;
  add(std::log(std::abs(factor)));
}

void LogSum::divide(double factor) {
  if (factor < 0) sign_ = -sign_;
  add(-std::log(std::abs(factor)));
}

void require_fp64(const tiles::TileMatrix& l, const char* what) {
  if (l.map().coarsest() == Rung::fp64) return;
  throw Error(ErrorCode::unsupported, std::string(what) + ": the factor has tiles at " +
                                          std::string(to_string(l.map().coarsest())) +
                                          ", too coarse for this; factor with the map fp64");
}

std::vector<double> diagonal_of(const tiles::TileMatrix& l) {
  std::vector<double> diagonal;
  for (std::int64_t i = 0; i < l.grid().tiles(); ++i) {
    const MatrixView<const double> tile = tiles::TileIn(l.tile(i, i)).fp64();
    for (std::int64_t k = 0; k < l.grid().size(i); ++k) diagonal.push_back(tile(k, k));
  }
  return diagonal;
}

int sign_of(const std::vector<std::int64_t>& order) {
  std::vector<bool> seen(order.size());
  int sign = 1;
  for (std::size_t k = 0; k < order.size(); ++k) {
    // A cycle of m elements is m - 1 exchanges.
    for (std::size_t i = k; !seen[i]; i = static_cast<std::size_t>(order[i])) {
      seen[i] = true;
      if (static_cast<std::size_t>(order[i]) != k) sign = -sign;
    }
  }
  return sign;
}

}  // namespace factor

double Factor::log_det() const try {
  if (!ok()) throw Error(ErrorCode::invalid_argument, "log_det: there is no factor");
  factor::require_fp64(data_->l, "log_det");
  const core::FpScope fp;
  const std::vector<double> diagonal = factor::diagonal_of(data_->l);
  const double root = std::sqrt(data_->scale.gain);
  factor::LogSum sum;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    sum.multiply(diagonal[k]);
    sum.divide(data_->scale.row[k] * root);
  }
  return 2 * sum.value().log;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

/// With the stored factor L', L = diag(1 / scale.row) L' / sqrt(gain), in the order of elimination.
void Factor::half_solve(MatrixView<double> b, const EngineOptions& with) const try {
  const std::int64_t n = order();
  if (!ok()) throw Error(ErrorCode::invalid_argument, "half_solve: there is no factor");
  if (b.rows != n || b.cols < 0 || b.ld < n || (!b.empty() && b.data == nullptr)) {
    throw Error(ErrorCode::invalid_argument, "half_solve: B is " + std::to_string(b.rows) + " x " +
                                                 std::to_string(b.cols) + "; it must have " +
                                                 std::to_string(n) + " rows");
  }
  factor::require_fp64(data_->l, "half_solve");
  const core::FpScope fp;
  const engine::SingleThreadedBlas blas;
  engine::ThreadPool pool(engine::pool_threads(with.context));
  const double root = std::sqrt(data_->scale.gain);
  factor::Chunks chunks;
  chunks.before = [&](std::int64_t, MatrixView<double> x) {
    std::vector<double> column;
    for (std::int64_t c = 0; c < x.cols; ++c) {
      if (!data_->order.empty()) column.assign(x.column(c), x.column(c) + n);
      for (std::size_t k = 0; k < column.size(); ++k) {
        x.column(c)[k] = column[static_cast<std::size_t>(data_->order[k])];
      }
      for (std::int64_t i = 0; i < n; ++i) {
        x(i, c) *= data_->scale.row[static_cast<std::size_t>(i)] * root;
      }
    }
  };
  factor::substitute_columns(pool, data_->l, data_->l, factor::Triangles::forward, b, chunks);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

LogDet LuFactor::log_det() const try {
  if (!ok()) throw Error(ErrorCode::invalid_argument, "log_det: there is no factor");
  factor::require_fp64(data_->l, "log_det");
  if (data_->butterflies) {
    throw Error(ErrorCode::unsupported, "log_det: not with Pivoting::butterfly");
  }
  const core::FpScope fp;
  const std::vector<double> diagonal = factor::diagonal_of(data_->g);
  factor::LogSum sum;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    sum.multiply(diagonal[k]);
    sum.divide(data_->scale.row[k]);
    sum.divide(data_->scale.col[k]);
  }
  const LogDet found = sum.value();
  return {found.log, found.sign * factor::sign_of(data_->order)};
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell

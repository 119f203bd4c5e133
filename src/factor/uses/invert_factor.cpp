// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <new>
#include <string>

#include "core/checks.hpp"
#include "core/machine/fp_scope.hpp"
#include "core/memory_error.hpp"
#include "core/numeric/transpose.hpp"
#include "engine/runtime.hpp"
#include "engine/threads/thread_pool.hpp"
#include "factor/dense/inverse.hpp"
#include "factor/setup.hpp"
#include "stepwell/error.hpp"
#include "stepwell/factor.hpp"

/// The inverse in place of a factor that another library has computed.
namespace stepwell {
namespace factor {
namespace {

core::Part part_of(Triangle triangle) {
  return triangle == Triangle::upper ? core::Part::upper : core::Part::lower;
}

/// Whether column j can be that of a factor.
bool is_sound(MatrixView<const double> l, Triangle triangle, std::int64_t j) {
  const auto [first, end] = core::rows_of(part_of(triangle), j, l.rows);
  return l(j, j) != 0 && std::all_of(l.column(j) + first, l.column(j) + end,
                                     [](double element) { return std::isfinite(element); });
}

void check(engine::ThreadPool& pool, MatrixView<const double> l, Triangle triangle) {
  std::atomic<bool> sound{true};
  pool.for_each(l.cols, [&](std::int64_t j) {
    if (!is_sound(l, triangle, j)) sound = false;
  });
  if (sound) return;
  std::int64_t first = 0;
  while (is_sound(l, triangle, first)) ++first;
  throw Error(ErrorCode::invalid_argument,
              "invert_factor: column " + std::to_string(first) +
                  " has an element that is not finite, or a zero on the diagonal");
}

void fill_with_nan(MatrixView<double> l, Triangle triangle) {
  for (std::int64_t j = 0; j < l.cols; ++j) {
    const auto [first, end] = core::rows_of(part_of(triangle), j, l.rows);
    std::fill(l.column(j) + first, l.column(j) + end, std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace
}  // namespace factor

bool invert_factor(MatrixView<double> l, const InverseOptions& options) try {
  using factor::Products;
  if (l.rows != l.cols) {
    throw Error(ErrorCode::invalid_argument, "invert_factor: the matrix is " +
                                                 std::to_string(l.rows) + " x " +
                                                 std::to_string(l.cols) + "; it must be square");
  }
  core::require_view(l.data, l.rows, l.cols, l.ld, "invert_factor: the matrix");
  engine::ThreadPool pool(engine::pool_threads(options.engine.context));
  factor::check(pool, l, options.triangle);
  const Products products = options.exact ? Products::exact : factor::inverse_products(l.rows);
  core::require_memory(factor::dense_inverse_bytes(products, l.rows, pool.size()), "the inverse");
  const core::FpScope fp;
  const engine::SingleThreadedBlas blas;
  try {
    return factor::dense_inverse(pool, products, l, options.triangle, options.engine.progress);
  } catch (...) {
    factor::fill_with_nan(l, options.triangle);
    throw;
  }
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell

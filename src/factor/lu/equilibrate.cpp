// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/lu/equilibrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "core/numeric/exponent.hpp"

namespace stepwell::factor {
namespace {

/// If the largest elements of the rows are within 2^kAlike of each other, scaling the columns is
/// enough, and A need not be read again.
constexpr int kAlike = 4;
/// Largest exponent of a scale factor: its reciprocal and its square root neither overflow nor
/// underflow.
constexpr int kMost = 1020;

constexpr std::int64_t kStrip = 64;  ///< columns that a thread processes at a time

struct Sizes {
  std::vector<double> row, col;
  std::int64_t bad_col = std::numeric_limits<std::int64_t>::max();
};

/// max_j |a_ij f_i| and max_i |a_ij f_i|; f is one if empty.
Sizes sizes_of(MatrixView<const double> a, const std::vector<double>& f, engine::ThreadPool& pool) {
  Sizes all;
  all.row.assign(static_cast<std::size_t>(a.rows), 0.0);
  all.col.assign(static_cast<std::size_t>(a.cols), 0.0);
  std::mutex mutex;
  std::int64_t first_bad = all.bad_col;
  std::atomic<std::int64_t> next{0};
  pool.run([&](int) {
    std::vector<double> row(static_cast<std::size_t>(a.rows), 0.0);
    std::int64_t bad = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t j0 = next.fetch_add(kStrip); j0 < a.cols; j0 = next.fetch_add(kStrip)) {
      for (std::int64_t j = j0; j < std::min(a.cols, j0 + kStrip); ++j) {
        const double* const x = a.column(j);
        double largest = 0;
        double poison = 0;
        for (std::int64_t i = 0; i < a.rows; ++i) {
          const double size = std::abs(f.empty() ? x[i] : x[i] * f[static_cast<std::size_t>(i)]);
          row[static_cast<std::size_t>(i)] = std::max(row[static_cast<std::size_t>(i)], size);
          largest = std::max(largest, size);
          poison += x[i] * 0;
        }
        all.col[static_cast<std::size_t>(j)] = largest;
        if (poison != 0) bad = std::min(bad, j);  // NaN is not 0
      }
    }
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < row.size(); ++i) all.row[i] = std::max(all.row[i], row[i]);
    first_bad = std::min(first_bad, bad);
  });
  all.bad_col = first_bad;
  return all;
}

/// 2^-e with x in [2^(e-1), 2^e); 1 for zero.
double reciprocal_power(double x) {
  if (x == 0) return 1;
  return std::ldexp(1.0, std::clamp(-(core::exponent_of(x) + 1), -kMost, kMost));
}

}  // namespace

Scale even_scale(std::int64_t n, double max_abs) {
  Scale scale;
  scale.row.assign(static_cast<std::size_t>(n), reciprocal_power(max_abs));
  scale.col.assign(static_cast<std::size_t>(n), 1.0);
  return scale;
}

Equilibration equilibrate(MatrixView<const double> a, engine::ThreadPool& pool) {
  Equilibration e;
  Sizes sizes = sizes_of(a, {}, pool);
  if (sizes.bad_col < a.cols) {
    const double* const x = a.column(sizes.bad_col);
    e.col = sizes.bad_col;
    e.row = std::find_if(x, x + a.rows, [](double v) { return !std::isfinite(v); }) - x;
  }
  int low = std::numeric_limits<int>::max();
  int high = std::numeric_limits<int>::min();
  for (const double x : sizes.row) {
    if (x == 0 || !std::isfinite(x)) continue;
    e.max_abs = std::max(e.max_abs, x);
    low = std::min(low, core::exponent_of(x));
    high = std::max(high, core::exponent_of(x));
  }
  const auto n = static_cast<std::size_t>(a.rows);
  e.scale.row.assign(n, 1.0);
  e.scale.col.assign(n, 1.0);
  if (e.row >= 0 || high < low) return e;
  if (high - low <= kAlike) {
    std::fill(e.scale.row.begin(), e.scale.row.end(), reciprocal_power(e.max_abs));
  } else {
    std::transform(sizes.row.begin(), sizes.row.end(), e.scale.row.begin(), reciprocal_power);
  }
  if (high - low > kAlike) sizes = sizes_of(a, e.scale.row, pool);
  for (std::size_t j = 0; j < n; ++j) {
    const double size = high - low > kAlike ? sizes.col[j] : sizes.col[j] * e.scale.row[0];
    e.scale.col[j] = reciprocal_power(size);
  }
  return e;
}

}  // namespace stepwell::factor

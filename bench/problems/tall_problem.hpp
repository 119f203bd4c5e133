// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/harness.hpp"
#include "core/buffer.hpp"
#include "stepwell/lstsq.hpp"

namespace stepwell::bench {

/// Options of `bench lstsq`. Empty or zero selects the default.
struct LstsqBenchRequest {
  std::int64_t m = 20000;
  std::int64_t n = 500;
  std::int64_t columns = 1;
  double condition = 10;
  std::string kind = "tall";  ///< or "tall-clustered": all singular values except one are 1
  double residual = 1;        ///< ||b - A x|| / ||A x||
  std::uint64_t seed = 1;
  std::string layout = "columns";  ///< or "rows"
  std::string map;                 ///< empty: the plan's rung
  std::string refiner;             ///< empty: cg
  bool qr = false;
  std::string against = "dgels";
  int threads = 0;
  int pairs = 5;
  bool allow_slow_blas = false;
  bool json = false;
};

/// A least squares problem of the gallery whose answer is known.
struct TallProblem {
  /// Throws Error if the rung or refiner does not exist.
  explicit TallProblem(const LstsqBenchRequest& r);

  TallMatrix matrix() const;
  double at(std::int64_t i, std::int64_t j) const { return by_rows ? a[i * n + j] : a[j * m + i]; }
  /// Throws Error(unsupported) if it does not converge.
  void solve(Context& workers);

  std::int64_t m, n, columns;
  int threads;
  bool by_rows;
  core::Buffer<double> a, b, known, x;
  Context context;
  Context one{1};
  LeastSquaresOptions options;
  Certificate last;
};

/// The arrays that the baselines overwrite.
struct TallRoom {
  core::Buffer<double> a;  ///< dgels: A; normal equations: A'A
  core::Buffer<double> b;  ///< dgels: m x columns; normal equations: n x columns
  core::Buffer<double> work;
};

const std::vector<std::string>& tall_baselines();
/// Bytes of the problem, of the arrays that the baseline overwrites, and of generating the problem.
std::int64_t tall_bytes(const LstsqBenchRequest& r);

Side lstsq_side(const std::shared_ptr<TallProblem>& p);
/// The copy of A for dgels is made before the clock starts.
Side tall_baseline(const std::shared_ptr<TallProblem>& p, const std::shared_ptr<TallRoom>& room,
                   const std::string& against);

/// Accuracy of an answer, for the worst column; sums in long double.
struct TallAccuracy {
  double residual = 0;  ///< ||b - A x||_2
  double gradient = 0;  ///< ||A'r|| / (||A||_F ||r||), a bound on the backward error
  double forward = 0;   ///< ||x - known||_2 / ||known||_2
};
/// The columns of x are 'ld' apart.
TallAccuracy accuracy(const TallProblem& p, const double* x, std::int64_t ld);

}  // namespace stepwell::bench

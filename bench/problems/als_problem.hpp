// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/buffer.hpp"
#include "engine/threads/thread_pool.hpp"
#include "stepwell/als.hpp"

namespace stepwell::bench {

/// Options of `bench als`. Zero selects the default.
struct AlsBenchRequest {
  std::int64_t users = 100'000;
  std::int64_t items = 10'000;
  std::int64_t factors = 64;
  std::int64_t ratings_per_user = 20;  ///< on average
  bool implicit = false;
  std::string against = "lapack-loop";
  int threads = 0;
  int pairs = 5;
  bool allow_slow_blas = false;
  bool json = false;
};

/// Ratings with a few very active users, many less active ones and popular items, and the starting
/// vectors.
struct AlsProblem {
  explicit AlsProblem(const AlsBenchRequest& request);

  MatrixView<const float> start() const { return view<const float>(items.data(), k, by_user.cols); }

  std::int64_t k;
  AlsOptions options;
  OwnedSparseRows by_user;
  OwnedSparseRows by_item;
  core::Buffer<float> items;
};

/// The vectors after an iteration.
struct AlsVectors {
  explicit AlsVectors(const AlsProblem& p)
      : users(p.k * p.by_user.rows), items(p.k * p.by_user.cols) {}
  core::Buffer<float> users;
  core::Buffer<float> items;
};

/// iterate() runs both half steps with 'step' from the problem's starting vectors.
using AlsStepFn = void(const SparseRows& ratings, MatrixView<const float> from,
                       MatrixView<float> to);
void iterate(const AlsProblem& p, AlsVectors& out, const std::function<AlsStepFn>& step);

/// One half step as a loop of LAPACK calls. For each row its vectors are gathered; then ssyrk,
/// sgemv and sposv run with a BLAS on one thread. The thread pool processes rows in parallel.
class LapackLoop {
 public:
  /// Throws Error(unsupported) if 'mkl' is true and oneMKL can't be loaded.
  LapackLoop(const AlsOptions& options, int threads, bool mkl);
  void step(const SparseRows& ratings, MatrixView<const float> from, MatrixView<float> to);

 private:
  struct Routines;
  void row(const SparseRows& ratings, MatrixView<const float> from, const float* base,
           std::int64_t u, float* gathered, float* a, float* x) const;

  AlsOptions options_;
  engine::ThreadPool pool_;
  const Routines& routines_;
};

/// The largest error in a sample of the vectors that an iteration computed, compared with systems
/// solved in FP64, in units of roundoff times condition number. NaN if a vector of the sample has a
/// NaN.
double worst_error(const AlsProblem& p, const AlsVectors& out);

/// The largest ||x - y|| / ||y|| of two sets of vectors of k elements.
double largest_difference(const core::Buffer<float>& x, const core::Buffer<float>& y,
                          std::int64_t k);

}  // namespace stepwell::bench

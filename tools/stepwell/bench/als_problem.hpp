// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "als.hpp"
#include "core/buffer.hpp"
#include "engine/thread_pool.hpp"
#include "stepwell/als.hpp"

namespace stepwell::tool {

/// Ratings with a few busy users, many quiet ones and popular items, and vectors to start from.
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

/// Both half steps by 'step', from the problem's start.
using AlsStepFn = void(const SparseRows& ratings, MatrixView<const float> from,
                       MatrixView<float> to);
void iterate(const AlsProblem& p, AlsVectors& out, const std::function<AlsStepFn>& step);

/// The half step as a loop of LAPACK calls: per row its vectors are gathered, then ssyrk, sgemv and
/// sposv with a BLAS on one thread; the pool works on rows.
class LapackLoop {
 public:
  /// Throws Error(unsupported) when 'mkl' is asked for and not there.
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

/// The largest error of a sample of vectors that an iteration gave, against systems solved in FP64,
/// in units of roundoff times condition number. NaN if one is.
double worst_error(const AlsProblem& p, const AlsVectors& out);

/// The largest ||x - y|| / ||y|| of two sets of vectors of k numbers.
double largest_difference(const core::Buffer<float>& x, const core::Buffer<float>& y,
                          std::int64_t k);

}  // namespace stepwell::tool

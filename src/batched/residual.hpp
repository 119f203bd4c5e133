// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "batched/pack_solver.hpp"
#include "core/buffer.hpp"
#include "kernels/table.hpp"
#include "solvers/certify/verdict.hpp"

namespace stepwell::batched {

/// One thread's pack of systems as they were given, and the residuals of their solutions, which
/// certify them.
template <class T>
class Residual {
 public:
  Residual(const kernels::BatchEntries<T>& kernel, std::int64_t n, std::int64_t columns,
           std::int64_t lanes);

  /// The caller loads or copies the systems into this pack, then calls scan() once.
  const kernels::BatchPack<T>& system() const { return system_; }
  void scan();

  enum class Sums : unsigned char { fp64, double_double };

  /// Computes the residual of right-hand side c with the solution x. Then r() has n elements per
  /// system, and largest(q) is the largest magnitude in system q.
  void compute(std::int64_t c, const T* x, Sums sums = Sums::fp64);
  const double* r() const { return room_.data(); }
  double largest(std::int64_t q) const { return residual_[q]; }
  /// ||r|| / (||A|| ||x|| + ||b||); infinity if an element of r is not finite.
  double error(std::int64_t q) const;
  /// The same for sums in double-double, with a bound on the effect of rounding.
  solvers::Measured measured(std::int64_t q) const;

  std::int64_t bytes() const;

 private:
  long double size(std::int64_t q) const;
  double hidden_by_underflow(std::int64_t q) const;

  const kernels::BatchEntries<T>* kernel_;
  core::Buffer<T> data_;
  core::Buffer<double> room_;  ///< r, followed by the low parts
  kernels::BatchPack<T> system_;
  double norm_[kMostLanes] = {};
  double residual_[kMostLanes] = {};
  double x_[kMostLanes] = {};
  double b_[kMostLanes] = {};
};

}  // namespace stepwell::batched

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "batch/pack_solver.hpp"
#include "core/buffer.hpp"
#include "kernels/table.hpp"

namespace stepwell::batched {

/// One thread's pack of systems as they were given, and what their answers leave: the certificate.
template <class T>
class Residual {
 public:
  Residual(const kernels::BatchEntries<T>& kernel, std::int64_t n, std::int64_t columns,
           std::int64_t lanes);

  /// To be loaded, or copied into; then look() once.
  const kernels::BatchPack<T>& system() const { return system_; }
  void look();

  /// Right-hand side c with the answer x. r() then has n elements, largest(q) is the largest of
  /// them, of system q.
  void compute(std::int64_t c, const T* x);
  const double* r() const { return room_.data(); }
  double largest(std::int64_t q) const { return residual_[q]; }
  /// ||r|| / (||A|| ||x|| + ||b||); infinity where a number of r is not finite.
  double error(std::int64_t q) const;

  std::int64_t bytes() const;

 private:
  const kernels::BatchEntries<T>* kernel_;
  core::Buffer<T> data_;
  core::Buffer<double> room_;
  kernels::BatchPack<T> system_;
  double norm_[kMostLanes] = {};
  double residual_[kMostLanes] = {};
  double x_[kMostLanes] = {};
  double b_[kMostLanes] = {};
};

}  // namespace stepwell::batched

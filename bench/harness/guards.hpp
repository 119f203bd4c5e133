// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include "kernels/blas/blas.hpp"

/// Process-wide settings that a benchmark changes and restores.
namespace stepwell::bench {

/// Sets the number of BLAS threads during its lifetime.
class BlasThreads {
 public:
  explicit BlasThreads(int threads) : before_(kernels::set_blas_threads(threads)) {}
  ~BlasThreads() {
    if (before_ > 0) kernels::set_blas_threads(before_);
  }
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int before_;
};

/// Pins the calling thread to its current core during its lifetime, so that both sides use the same
/// core.
class PinnedToCore {
 public:
  explicit PinnedToCore(bool pin) {
    const int cpu = sched_getcpu();
    if (!pin || cpu < 0 || sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pinned_ = sched_setaffinity(0, sizeof(one), &one) == 0;
  }
  ~PinnedToCore() {
    if (pinned_) sched_setaffinity(0, sizeof(before_), &before_);
  }
  PinnedToCore(const PinnedToCore&) = delete;
  PinnedToCore& operator=(const PinnedToCore&) = delete;

 private:
  cpu_set_t before_{};
  bool pinned_ = false;
};

}  // namespace stepwell::bench

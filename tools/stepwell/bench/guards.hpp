// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include "kernels/blas/blas.hpp"

/// What a benchmark changes in its process and puts back.
namespace stepwell::tool {

/// While it lives, the BLAS uses this many threads.
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

/// While it lives, the calling thread stays on the core it is on: both sides see the same one.
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

}  // namespace stepwell::tool

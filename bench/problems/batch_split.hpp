// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "stepwell/rung.hpp"

/// Where the time of a batch goes.
namespace stepwell::bench {

/// Seconds of each kernel for all systems, on one thread. 'forward' is what right-hand sides add to
/// the factorization, 'fast' the factorization with approximate roots.
struct BatchSplit {
  double load = 0;
  double factor = 0;
  double forward = 0;
  double backward = 0;
  double store = 0;
  double fast = 0;

  double total() const { return load + factor + forward + backward + store; }
};

/// Times the kernels of each pack of 'count' systems with one right-hand side, without prefetching.
/// If 'cached', all packs read the same matrices and write to others; otherwise they work in place,
/// on as much memory as the systems take. The best of several rounds, because other processes
/// disturb them. Reading the clock adds about 25 ns to each kernel of a pack.
BatchSplit batch_split(std::int64_t n, std::int64_t count, Format format, bool cached);

}  // namespace stepwell::bench

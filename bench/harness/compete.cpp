// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/compete.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "kernels/blas/blas.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {
namespace {

/// On a terminal, shows which run is in progress: large matrices take minutes.
void announce_runs(Side& side) {
  if (isatty(STDERR_FILENO) == 0) return;
  const auto count = std::make_shared<int>(0);
  side.run = [run = side.run, name = side.name, count] {
    fmt::print(stderr, "\r\033[K{}, run {} ", name, ++*count);
    run();
    fmt::print(stderr, "\r\033[K");
  };
}

}  // namespace

void refuse_slow_blas(const Side& baseline, bool allowed) {
  const BlasIdentity blas = kernels::blas_identity();
  if (baseline.library != blas.library || blas.warning.empty()) return;
  if (!allowed) {
    throw Error(ErrorCode::unsupported,
                fmt::format("the baseline is too slow for a fair comparison: {} "
                            "(--allow-slow-blas compares anyway)",
                            blas.warning));
  }
  fmt::print(stderr, "stepwell: warning: the baseline is too slow for a fair comparison: {}\n",
             blas.warning);
}

ContestResult compete(Contest contest, int pairs, bool allow_slow_blas) {
  refuse_slow_blas(contest.baseline, allow_slow_blas);
  announce_runs(contest.candidate);
  announce_runs(contest.baseline);
  HarnessOptions options;
  options.windows = pairs;
  return alternate(contest, options);
}

}  // namespace stepwell::bench

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepwell::tool {

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

const std::vector<std::string>& als_baselines();

/// Runs the benchmark and prints it. Throws Error.
void bench_als(const AlsBenchRequest& request);

/// For --help.
std::string als_bench_help();

}  // namespace stepwell::tool

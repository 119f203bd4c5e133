// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepwell::bench {

/// Options of `bench batch`. Empty or zero selects the default.
struct BatchBenchRequest {
  std::string orders = "32";
  std::int64_t count = 10000;
  std::int64_t columns = 1;
  std::string type = "fp64";
  std::string operation = "factor-solve";
  std::string layout = "strided";
  std::string uplo = "lower";
  std::string against = "lapack-loop";
  bool both_triangles = false;
  bool mixed = false;
  bool fast = false;
  bool split = false;
  int threads = 0;
  int pairs = 11;
  bool allow_slow_blas = false;
  bool json = false;
};

/// Runs the benchmark for each order and prints it. Throws Error.
void bench_batch(const BatchBenchRequest& request);

/// Prints the time of each kernel for each order. Throws Error.
void bench_batch_split(const BatchBenchRequest& request);

const std::vector<std::string>& batch_baselines();

/// Parses orders of matrices such as "5,8,16", "5..100" or "1..8,64". The result is ascending and
/// has no duplicates. Throws Error(invalid_argument) if an order is not between 1 and kBatchOrder.
std::vector<std::int64_t> orders_of(const std::string& text);

/// For --help.
std::string batch_bench_help();

}  // namespace stepwell::bench

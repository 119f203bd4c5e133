// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bench/harness/harness.hpp"
#include "stepwell/map.hpp"
#include "stepwell/progress.hpp"

/// The verbs `bench factor`, `bench syrk` and `bench trsm`: whole operations on all workers.
namespace stepwell::bench {

/// Options of the command line. Empty or zero selects the default.
struct LargeRequest {
  std::int64_t n = 4096;
  std::int64_t k = 0;  ///< syrk: columns of A; trsm: rows of B; default n
  std::string map = "bf16";
  std::string against;
  std::string kind = "dominant";
  double condition = 1e6;
  std::int64_t tile = 0;
  int threads = 0;
  int pairs = 5;
  bool low_memory = false;
  bool errors = false;
  bool allow_slow_blas = false;
  bool json = false;
};

/// Prefix of a baseline of factor: the same factorization at the map that follows.
inline constexpr std::string_view kAgainstMap = "map:";

/// What one operation provides to bench_large(): sides that share its data.
struct LargeBench {
  /// The operation at a map; its answer has been checked.
  std::function<Side(const std::string& map)> candidate;
  std::function<Side(const std::string& against)> baseline;
  std::function<PhaseTimes()> times;                ///< of a candidate's last run
  std::function<nlohmann::ordered_json()> details;  ///< what only this operation reports
  /// factor: ||A - LL'|| / ||A|| and ||L - L64|| / ||L64|| of the candidate's last run
  std::function<nlohmann::ordered_json()> errors;
};

LargeBench make_factor_bench(const LargeRequest& request);
LargeBench make_syrk_bench(const LargeRequest& request);
LargeBench make_trsm_bench(const LargeRequest& request);

/// Runs the benchmark and prints it. Throws Error.
void bench_large(const std::string& op, const LargeRequest& request);

/// For --help.
std::string large_help(const std::string& op);

}  // namespace stepwell::bench

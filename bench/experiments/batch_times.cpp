// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstdio>

#include <nlohmann/json.hpp>
#include "bench/experiments/batch.hpp"
#include "bench/harness/report.hpp"
#include "bench/problems/batch_split.hpp"

/// `bench batch --split`: the time of each kernel.
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

ordered_json split_json(const BatchSplit& s, std::int64_t count) {
  const auto nanoseconds = [&](double seconds) {
    return rounded(seconds * 1e9 / static_cast<double>(count));
  };
  return {{"load", nanoseconds(s.load)},
          {"factor", nanoseconds(s.factor)},
          {"forward", nanoseconds(s.forward)},
          {"backward", nanoseconds(s.backward)},
          {"store", nanoseconds(s.store)},
          {"total", nanoseconds(s.total())},
          {"factor_with_fast_roots", nanoseconds(s.fast)}};
}

void print_row(std::int64_t n, const char* where, const ordered_json& split) {
  fmt::print("{:>5}  {:<8}", n, where);
  for (const auto& part : split) fmt::print("{:>10.0f}", part.get<double>());
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace

void bench_batch_split(const BatchBenchRequest& r) {
  const Format format = r.type == "fp32" ? Format::fp32 : Format::fp64;
  ordered_json cases = ordered_json::array();
  if (!r.json) {
    fmt::print("batch, {}, {} systems, one thread, nanoseconds a system\n", r.type, r.count);
    fmt::print("{:>5}  {:<8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "n", "from", "load",
               "factor", "forward", "backward", "store", "total", "fast");
  }
  for (const std::int64_t n : orders_of(r.orders)) {
    ordered_json one = {{"n", n}};
    for (const bool cached : {false, true}) {
      const char* const where = cached ? "cache" : "memory";
      one[where] = split_json(batch_split(n, r.count, format, cached), r.count);
      if (!r.json) print_row(n, where, one[where]);
    }
    cases.push_back(std::move(one));
  }
  if (!r.json) return;
  fmt::print("{}\n", pretty({{"bench", "batch split"},
                             {"type", r.type},
                             {"count", r.count},
                             {"unit", "ns"},
                             {"cases", cases}}));
}

}  // namespace stepwell::bench

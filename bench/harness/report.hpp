// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/harness/harness.hpp"

namespace stepwell::bench {

/// Largest size in bytes of a report that is read again; those of 'bench paper' have a hundred
/// thousand.
inline constexpr std::size_t kLongestReport = std::size_t{1} << 26;

/// The common JSON structure of all benchmarks (docs/bench.md): 'what' identifies the benchmark
/// ("bench", "op", "size", ...); candidate, baseline, ratio and machine follow.
nlohmann::ordered_json bench_json(nlohmann::ordered_json what, const Contest& contest,
                                  const ContestResult& result);

/// A summary with its pairs: median, best, p10, windows, pairs.
nlohmann::ordered_json ratio_json(const std::vector<double>& pairs);

/// Rounds to five digits: more are noise and make the file long.
double rounded(double value);

/// Indented JSON. A value that fits on one line, or a list of plain values, is on one line.
std::string pretty(const nlohmann::ordered_json& json);

/// The same as text for the terminal.
std::string bench_text(const std::string& title, const Contest& contest,
                       const ContestResult& result);

}  // namespace stepwell::bench

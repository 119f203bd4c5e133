// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness.hpp"

namespace stepwell::tool {

/// Bytes of a file of it that is read again; those of 'bench paper' have a hundred thousand.
inline constexpr std::size_t kLongestReport = std::size_t{1} << 26;

/// The one JSON shape of all benchmarks (docs/bench.md): 'what' says which one it is ("bench",
/// "op", "size", ...), then come candidate, baseline, ratio and machine.
nlohmann::ordered_json bench_json(nlohmann::ordered_json what, const Contest& contest,
                                  const ContestResult& result);

/// A summary with its pairs: median, best, p10, windows, pairs.
nlohmann::ordered_json ratio_json(const std::vector<double>& pairs);

/// The number with five digits: more are noise, and a file of them is long.
double rounded(double value);

/// Indented, but what fits on a line, or is a list of plain values, is on one.
std::string pretty(const nlohmann::ordered_json& json);

/// The same for people.
std::string bench_text(const std::string& title, const Contest& contest,
                       const ContestResult& result);

}  // namespace stepwell::tool

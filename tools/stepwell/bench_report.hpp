// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness.hpp"

namespace stepwell::tool {

/// The one JSON shape of all benchmarks (docs/bench.md): 'what' says which one it is ("bench",
/// "op", "size", ...), then come candidate, baseline, ratio and machine.
nlohmann::ordered_json bench_json(nlohmann::ordered_json what, const Contest& contest,
                                  const ContestResult& result);

/// The same for people.
std::string bench_text(const std::string& title, const Contest& contest,
                       const ContestResult& result);

}  // namespace stepwell::tool

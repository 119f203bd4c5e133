// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/agreement.hpp"

namespace stepwell::solvers {

/// A value that must be the same on all ranks.
struct Replicated {
  std::string name;
  std::uint64_t bits;
};

/// Checks that each value is the same on all ranks: ranks that were called with different arguments
/// would wait for each other forever. Collective; throws AgreedError(invalid_argument) that names
/// the first value that differs.
void require_same(engine::Agreement& agreement, const std::vector<Replicated>& all);

}  // namespace stepwell::solvers

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "attack/attacks.hpp"
#include "attack/seeds.hpp"
#include "stepwell/factor.hpp"

/// Code shared by the attacks on factors.
namespace stepwell::attack {

FactorOptions random_options(const char* map, Random& random);

/// Sequences of append, drop, update and downdate: the error of L L' stays below the bound of
/// rounding analysis, and a change is refused if the result is not positive definite.
void attack_changes(std::uint64_t seed, Report& report);

}  // namespace stepwell::attack

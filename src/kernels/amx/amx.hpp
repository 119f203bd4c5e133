// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "kernels/table.hpp"

/// Kernels for Intel AMX. Only called where the CPU, the operating system and the self-test agree.
namespace stepwell::kernels {

void fill_amx_update(Table& t);
void fill_amx_residue_update(Table& t);

/// Runs 'products' bare tile products (16 x 16 x 32 bf16, 16384 flop each) on registers: the rate
/// that bounds every update. A baseline for benchmarks.
void amx_peak(std::int64_t products) noexcept;

/// The same with one tile load from L1 for each product, the fewest that eight tile registers
/// allow: the rate that bounds an update at rung bf16.
void amx_fed_peak(std::int64_t products) noexcept;

inline constexpr double kAmxProductFlops = 2.0 * 16 * 16 * 32;

}  // namespace stepwell::kernels

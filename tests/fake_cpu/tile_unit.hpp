// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "instruction.hpp"

namespace stepwell::fake_cpu {

/// Runs an instruction of AMX on this thread's tiles, which are zero at first. 'known': it is one.
/// Returns what the CPU would not have accepted; null if it ran.
const char* run_tile_instruction(const Instruction& i, bool& known);

}  // namespace stepwell::fake_cpu

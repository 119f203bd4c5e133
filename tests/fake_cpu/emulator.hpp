// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ucontext.h>

/// Runs AMX, VNNI and bf16 instructions on a CPU that has AVX-512 without them, from the handler of
/// the SIGILL that they cause. A result has the bits that the CPU's would have: the order of
/// operations, and how subnormal numbers are rounded, are those of Intel's manual.
/// Cost: 1 to 5 us an instruction.
namespace stepwell::fake_cpu {

/// Reads from CPUID where a signal frame keeps the vector registers. To be called before CPUID
/// faults.
void prepare_emulator();

/// Runs the instruction at which the program stopped, and moves the program past it. False if it
/// is not one of those instructions. Null 'problem' afterwards: it ran; else what the CPU would not
/// have accepted, such as a tile that is not configured.
bool emulate(ucontext_t& stopped, const char*& problem);

}  // namespace stepwell::fake_cpu

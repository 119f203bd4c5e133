// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/ucontext.h>

#include <cstdint>

namespace stepwell::fake_cpu {

/// The prefix of an instruction's opcode, as VEX and EVEX encode it.
enum Prefix : unsigned { none, p66, f3, f2 };

/// An instruction of the map 0F38 with a VEX or EVEX prefix, decoded.
struct Instruction {
  bool evex = false;
  Prefix prefix = none;
  unsigned opcode = 0;
  bool wide = false;    ///< W
  unsigned vector = 0;  ///< length in bits: 128, 256, 512
  unsigned mask = 0;    ///< the mask register
  bool zeroing = false;
  bool broadcast = false;
  unsigned reg = 0;   ///< the operand in ModRM.reg
  unsigned vvvv = 0;  ///< the operand in the prefix
  bool memory = false;
  unsigned rm = 0;  ///< the operand in ModRM.rm, if it is not memory
  bool has_sib = false;
  std::uintptr_t base = 0;  ///< the address without the index
  std::int64_t index = 0;   ///< the index times its scale
  std::int64_t bytes = 0;   ///< the length of the instruction
};

/// Decodes the instruction at 'at'; false if it is not of the map 0F38, or has another prefix.
/// 'gregs': the program's general registers.
bool decode(const unsigned char* at, const greg_t* gregs, Instruction& i);

}  // namespace stepwell::fake_cpu

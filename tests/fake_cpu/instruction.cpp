// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "instruction.hpp"

#include <ucontext.h>

#include <cstring>

namespace stepwell::fake_cpu {
namespace {

/// A general register by its number in an instruction.
std::int64_t general(const greg_t* gregs, unsigned number) {
  constexpr int kPlaces[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                               REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                               REG_R12, REG_R13, REG_R14, REG_R15};
  return gregs[kPlaces[number & 15U]];
}

std::int32_t read_int32(const unsigned char* at) {
  std::int32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// The bits of the prefix that extend register numbers; the prefix has them inverted.
struct Extension {
  unsigned r, x, b, r2;
};

/// ModRM, SIB and displacement. 'unit': by what an 8-bit displacement is multiplied.
void decode_operands(const unsigned char* start, const unsigned char* at, const greg_t* gregs,
                     Extension e, int unit, Instruction& i) {
  const unsigned modrm = *at++, mod = modrm >> 6U, low = modrm & 7U;
  i.reg = (modrm >> 3U & 7U) | e.r << 3U | e.r2 << 4U;
  if (mod == 3) {
    i.rm = low | e.b << 3U | (i.evex ? e.x << 4U : 0U);
    i.bytes = at - start;
    return;
  }
  i.memory = true;
  bool has_base = true, next_instruction = false;
  unsigned base = low | e.b << 3U;
  if (low == 4) {
    const unsigned sib = *at++, index = (sib >> 3U & 7U) | e.x << 3U;
    i.has_sib = true;
    base = (sib & 7U) | e.b << 3U;
    if (index != 4) i.index = general(gregs, index) * (1LL << (sib >> 6U));
    has_base = (sib & 7U) != 5 || mod != 0;
  } else if (low == 5 && mod == 0) {
    has_base = false;
    next_instruction = true;
  }
  std::int64_t displacement = 0;
  if (mod == 1) {
    displacement = std::int64_t{static_cast<signed char>(*at++)} * unit;
  } else if (mod == 2 || !has_base) {
    displacement = read_int32(at);
    at += 4;
  }
  i.bytes = at - start;
  const std::int64_t from = has_base           ? general(gregs, base)
                            : next_instruction ? gregs[REG_RIP] + i.bytes
                                               : 0;
  i.base = static_cast<std::uintptr_t>(from + displacement);
}

}  // namespace

bool decode(const unsigned char* at, const greg_t* gregs, Instruction& i) {
  constexpr unsigned kMap0f38 = 2;
  const unsigned char* const start = at;
  if (at[0] == 0xc4) {
    const unsigned first = at[1], second = at[2];
    if ((first & 31U) != kMap0f38) return false;
    i.wide = (second >> 7U) != 0;
    i.vvvv = ~second >> 3U & 15U;
    i.vector = (second >> 2U & 1U) != 0 ? 256 : 128;
    i.prefix = static_cast<Prefix>(second & 3U);
    i.opcode = at[3];
    const Extension e{~first >> 7U & 1U, ~first >> 6U & 1U, ~first >> 5U & 1U, 0};
    decode_operands(start, at + 4, gregs, e, 1, i);
    return true;
  }
  if (at[0] == 0x62) {
    const unsigned first = at[1], second = at[2], third = at[3];
    if ((first & 15U) != kMap0f38) return false;
    i.evex = true;
    i.wide = (second >> 7U) != 0;
    i.vvvv = (~second >> 3U & 15U) | (~third >> 3U & 1U) << 4U;
    i.prefix = static_cast<Prefix>(second & 3U);
    i.zeroing = (third >> 7U) != 0;
    i.vector = 128U << (third >> 5U & 3U);
    i.broadcast = (third >> 4U & 1U) != 0;
    i.mask = third & 7U;
    i.opcode = at[4];
    const Extension e{~first >> 7U & 1U, ~first >> 6U & 1U, ~first >> 5U & 1U, ~first >> 4U & 1U};
    const int unit = i.broadcast ? 4 : static_cast<int>(i.vector / 8);
    decode_operands(start, at + 5, gregs, e, unit, i);
    return true;
  }
  return false;
}

}  // namespace stepwell::fake_cpu

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "emulator.hpp"

#include <cpuid.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "arithmetic.hpp"
#include "instruction.hpp"
#include "tile_unit.hpp"

namespace stepwell::fake_cpu {
namespace {

// ---- registers in the signal frame: the memory of XSAVE ----

enum Component : unsigned { avx = 2, opmask = 5, zmm_low = 6, zmm_high = 7, components = 8 };
struct Place {
  unsigned offset, bytes;
};
Place places[components];

constexpr unsigned kStateBits = 512;  // where XSAVE says which components it has
constexpr unsigned kSse = 160;        // XMM0

/// A component of the frame; zeros if the program has not used it.
unsigned char* component(unsigned char* frame, Component c) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, frame + kStateBits, sizeof bits);
  unsigned char* const at = frame + places[c].offset;
  if ((bits >> c & 1U) == 0) {
    std::memset(at, 0, places[c].bytes);
    bits |= std::uint64_t{1} << c;
    std::memcpy(frame + kStateBits, &bits, sizeof bits);
  }
  return at;
}

/// ZMM 'number' in three parts (the first 16), or in one.
template <class Copy>
void visit(unsigned char* frame, unsigned number, const Copy& copy) {
  if (number >= 16) {
    copy(component(frame, zmm_high) + 64 * (number - 16), 0, 64);
  } else {
    copy(frame + kSse + 16 * number, 0, 16);
    copy(component(frame, avx) + 16 * number, 16, 16);
    copy(component(frame, zmm_low) + 32 * number, 32, 32);
  }
}

struct alignas(64) Vector {
  unsigned char bytes[64];
};
Vector read(unsigned char* frame, unsigned number) {
  Vector v{};
  visit(frame, number, [&v](const unsigned char* at, unsigned from, unsigned count) {
    std::memcpy(v.bytes + from, at, count);
  });
  return v;
}
void write(unsigned char* frame, unsigned number, const Vector& v) {
  visit(frame, number, [&v](unsigned char* at, unsigned from, unsigned count) {
    std::memcpy(at, v.bytes + from, count);
  });
}

// ---- VPDPBUSD, VDPBF16PS ----

Vector dot_bytes(const Vector& sum, const Vector& left, const Vector& right) {
  std::uint8_t a[64];
  std::int8_t b[64];
  std::uint32_t c[16];
  load(a, &left);
  load(b, &right);
  load(c, &sum);
  for (int i = 0; i < 16; ++i) {
    for (int t = 0; t < 4; ++t) c[i] += static_cast<std::uint32_t>(a[4 * i + t] * b[4 * i + t]);
  }
  Vector v;
  std::memcpy(v.bytes, c, 64);
  return v;
}

FAKE_CPU_AVX512 Vector dot_bf16(const Vector& sum, const Vector& left, const Vector& right) {
  std::uint16_t a[32], b[32];
  float c[16];
  load(a, &left);
  load(b, &right);
  load(c, &sum);
  set_bf16_rounding();
  for (int i = 0; i < 16; ++i) {
    for (int t : {1, 0}) {
      c[i] = __builtin_fmaf(from_bf16(a[2 * i + t]), from_bf16(b[2 * i + t]), c[i]);
    }
  }
  Vector v;
  std::memcpy(v.bytes, c, 64);
  return v;
}

/// An EVEX instruction with 32-bit elements and a sum as its destination.
void run_vector(const Instruction& i, unsigned char* frame, bool bytes) {
  const unsigned count = i.vector / 32;
  Vector right{};
  if (!i.memory) {
    right = read(frame, i.rm);
  } else {
    const auto* from =
        reinterpret_cast<const unsigned char*>(i.base + static_cast<std::uintptr_t>(i.index));
    for (unsigned e = 0; e < count; ++e) {
      std::memcpy(right.bytes + 4 * e, from + (i.broadcast ? 0 : 4 * e), 4);
    }
  }
  const Vector before = read(frame, i.reg), left = read(frame, i.vvvv);
  const Vector after = bytes ? dot_bytes(before, left, right) : dot_bf16(before, left, right);
  std::uint64_t mask = ~std::uint64_t{0};
  if (i.mask != 0) std::memcpy(&mask, component(frame, opmask) + 8 * i.mask, sizeof mask);
  Vector result{};
  for (unsigned e = 0; e < count; ++e) {
    if ((mask >> e & 1U) != 0) {
      std::memcpy(result.bytes + 4 * e, after.bytes + 4 * e, 4);
    } else if (!i.zeroing) {
      std::memcpy(result.bytes + 4 * e, before.bytes + 4 * e, 4);
    }
  }
  write(frame, i.reg, result);
}

}  // namespace

void prepare_emulator() {
  for (unsigned c = avx; c < components; ++c) {
    unsigned size = 0, offset = 0, flags = 0, reserved = 0;
    __cpuid_count(0xd, c, size, offset, flags, reserved);
    places[c] = {offset, size};
  }
}

bool emulate(ucontext_t& stopped, const char*& problem) {
  greg_t* const gregs = stopped.uc_mcontext.gregs;
  auto* const frame = reinterpret_cast<unsigned char*>(stopped.uc_mcontext.fpregs);
  Instruction i;
  problem = nullptr;
  if (!decode(reinterpret_cast<const unsigned char*>(gregs[REG_RIP]), gregs, i) || i.wide) {
    return false;
  }
  const bool bytes = i.prefix == p66 && i.opcode == 0x50, bf16 = i.prefix == f3 && i.opcode == 0x52;
  if (i.evex) {
    if (!bytes && !bf16) return false;
    run_vector(i, frame, bytes);
  } else {
    bool known = false;
    if (i.vector == 128) problem = run_tile_instruction(i, known);
    if (!known) return false;
  }
  gregs[REG_RIP] += i.bytes;
  return true;
}

}  // namespace stepwell::fake_cpu

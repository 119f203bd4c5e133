// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tile_unit.hpp"

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "arithmetic.hpp"

namespace stepwell::fake_cpu {
namespace {

struct Config {
  std::uint8_t palette, start_row, reserved[14];
  std::uint16_t row_bytes[16];
  std::uint8_t rows[16];
};
static_assert(sizeof(Config) == 64);

struct Tiles {
  Config config;
  unsigned char data[8][16][64];
};
// The handler may not allocate: static thread-local memory.
thread_local Tiles tiles __attribute__((tls_model("initial-exec")));

bool is_configured(unsigned tile) {
  return tiles.config.palette == 1 && tile < 8 && tiles.config.rows[tile] > 0 &&
         tiles.config.row_bytes[tile] > 0;
}

const char* load_config(const Instruction& i) {
  Config c;
  std::memcpy(&c, reinterpret_cast<const void*>(i.base + static_cast<std::uintptr_t>(i.index)),
              sizeof c);
  if (c.palette > 1) return "LDTILECFG: no such palette";
  for (int t = 0; t < 16; ++t) {
    const bool used = t < 8;
    if (c.rows[t] > (used ? 16 : 0) || c.row_bytes[t] > (used ? 64 : 0)) {
      return "LDTILECFG: a tile is too large";
    }
  }
  std::memset(&tiles, 0, sizeof tiles);
  if (c.palette == 1) tiles.config = c;
  return nullptr;
}

const char* load_tile(const Instruction& i) {
  if (!i.has_sib || !is_configured(i.reg)) return "TILELOADD: the tile is not configured";
  unsigned char(&tile)[16][64] = tiles.data[i.reg];
  std::memset(tile, 0, sizeof tile);
  for (int r = 0; r < tiles.config.rows[i.reg]; ++r) {
    const std::uintptr_t from = i.base + static_cast<std::uintptr_t>(r * i.index);
    std::memcpy(tile[r], reinterpret_cast<const void*>(from), tiles.config.row_bytes[i.reg]);
  }
  return nullptr;
}

const char* store_tile(const Instruction& i) {
  if (!i.has_sib || !is_configured(i.reg)) return "TILESTORED: the tile is not configured";
  for (int r = 0; r < tiles.config.rows[i.reg]; ++r) {
    const std::uintptr_t to = i.base + static_cast<std::uintptr_t>(r * i.index);
    std::memcpy(reinterpret_cast<void*>(to), tiles.data[i.reg][r], tiles.config.row_bytes[i.reg]);
  }
  return nullptr;
}

FAKE_CPU_AVX512 void multiply_bytes(const unsigned char (&left)[64],
                                    const unsigned char (&right)[16][64], int depth,
                                    unsigned char (&sums)[64]) {
  std::int32_t c[16];
  load(c, sums);
  for (int k = 0; k < depth; ++k) {
    for (int t = 0; t < 4; ++t) {
      const std::int32_t a = static_cast<std::int8_t>(left[4 * k + t]);
      for (int n = 0; n < 16; ++n) c[n] += a * static_cast<std::int8_t>(right[k][4 * n + t]);
    }
  }
  std::memcpy(sums, c, 64);
}

/// Even and odd elements have sums of their own, which are added to each other, and then to C.
FAKE_CPU_AVX512 void multiply_bf16(const unsigned char (&left)[64],
                                   const unsigned char (&right)[16][64], int depth,
                                   unsigned char (&sums)[64]) {
  std::uint16_t a[32];
  float c[16], even[16] = {}, odd[16] = {};
  load(a, left);
  load(c, sums);
  for (int k = 0; k < depth; ++k) {
    std::uint16_t b[32];
    load(b, right[k]);
    const float first = from_bf16(a[2 * k]), second = from_bf16(a[2 * k + 1]);
    for (int n = 0; n < 16; ++n) {
      even[n] = __builtin_fmaf(first, from_bf16(b[2 * n]), even[n]);
      odd[n] = __builtin_fmaf(second, from_bf16(b[2 * n + 1]), odd[n]);
    }
  }
  for (int n = 0; n < 16; ++n) c[n] += even[n] + odd[n];
  std::memcpy(sums, c, 64);
}

const char* multiply(const Instruction& i, bool bytes) {
  for (const unsigned t : {i.reg, i.rm, i.vvvv}) {
    if (!is_configured(t)) return "a product: a tile is not configured";
  }
  if (i.reg == i.rm || i.reg == i.vvvv || i.rm == i.vvvv) return "a product: a tile is used twice";
  const Config& c = tiles.config;
  const int rows = c.rows[i.reg], depth = c.row_bytes[i.rm] / 4;
  if (c.rows[i.rm] != rows || c.rows[i.vvvv] != depth ||
      c.row_bytes[i.vvvv] != c.row_bytes[i.reg]) {
    return "a product: the sizes of its tiles do not match";
  }
  if (!bytes) set_bf16_rounding();
  for (int r = 0; r < rows; ++r) {
    (bytes ? multiply_bytes : multiply_bf16)(tiles.data[i.rm][r], tiles.data[i.vvvv], depth,
                                             tiles.data[i.reg][r]);
    std::memset(tiles.data[i.reg][r] + c.row_bytes[i.reg], 0, 64U - c.row_bytes[i.reg]);
  }
  return nullptr;
}

}  // namespace

const char* run_tile_instruction(const Instruction& i, bool& known) {
  known = true;
  const auto is = [&i](Prefix prefix, unsigned opcode) {
    return i.prefix == prefix && i.opcode == opcode;
  };
  if (is(none, 0x49) && i.memory) return load_config(i);
  if (is(p66, 0x49) && i.memory) {
    std::memcpy(reinterpret_cast<void*>(i.base + static_cast<std::uintptr_t>(i.index)),
                &tiles.config, sizeof tiles.config);
    return nullptr;
  }
  if (is(none, 0x49)) {
    std::memset(&tiles, 0, sizeof tiles);
    return nullptr;
  }
  if (is(f2, 0x49) && !i.memory) {
    if (!is_configured(i.reg)) return "TILEZERO: the tile is not configured";
    std::memset(tiles.data[i.reg], 0, sizeof tiles.data[i.reg]);
    return nullptr;
  }
  if ((is(f2, 0x4b) || is(p66, 0x4b)) && i.memory) return load_tile(i);
  if (is(f3, 0x4b) && i.memory) return store_tile(i);
  if (is(f3, 0x5c) && !i.memory) return multiply(i, false);
  if (is(f2, 0x5e) && !i.memory) return multiply(i, true);
  known = false;
  return nullptr;
}

}  // namespace stepwell::fake_cpu

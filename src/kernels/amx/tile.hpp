// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// The tile instructions as functions. They are inline assembly with complete memory operands,
/// because GCC 12's intrinsics tell the optimiser about only 8 of the 64 bytes of the configuration
/// and none of the bytes of a tile, so that it deletes the stores before them. Volatile statements
/// keep their order relative to each other, which is all the ordering that tile registers need.
namespace stepwell::kernels::amx {

struct alignas(64) Config {
  std::uint8_t palette = 0;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(Config) == 64);

/// Memory of a whole tile register: 16 consecutive rows of 64 bytes.
struct TileBytes {
  char bytes[1024];
};

inline constexpr std::int64_t kRowStride = 64;

inline void load_config(const Config& config) {
  asm volatile("ldtilecfg %0" ::"m"(config));
}
inline void store_config(Config& config) {
  asm volatile("sttilecfg %0" : "=m"(config));
}
inline void release() {
  asm volatile("tilerelease" ::);
}

template <int tmm>
inline void zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(tmm));
}

template <int tmm>
inline void load(const void* p) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(p), "r"(kRowStride), "i"(tmm),
               "m"(*static_cast<const TileBytes*>(p)));
}

/// The same with a hint that the data will not be needed in L1 again.
template <int tmm>
inline void load_streamed(const void* p) {
  asm volatile("tileloaddt1 (%0,%1,1), %%tmm%c2" ::"r"(p), "r"(kRowStride), "i"(tmm),
               "m"(*static_cast<const TileBytes*>(p)));
}

template <int tmm>
inline void store(void* p) {
  asm volatile("tilestored %%tmm%c3, (%1,%2,1)"
               : "=m"(*static_cast<TileBytes*>(p))
               : "r"(p), "r"(kRowStride), "i"(tmm));
}

/// accumulator += left * right: left in rows order, right in pairs order, fp32 sums.
template <int accumulator, int left, int right>
inline void multiply() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(accumulator), "i"(left), "i"(right));
}

/// The same with int8 operands and int32 sums; right in quads order.
template <int accumulator, int left, int right>
inline void multiply_bytes() {
  asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(accumulator), "i"(left), "i"(right));
}

}  // namespace stepwell::kernels::amx

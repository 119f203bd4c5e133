// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/signatures.hpp"

/// Helpers shared by the update kernels.
namespace stepwell::kernels {

/// How the sums of one chunk of depth are combined with C.
enum class Combine : unsigned char { subtract, add, assign };

/// Calls chunk(k0, k1, combine) for runs of 'step' depth blocks: when C is assigned, the first
/// chunk assigns and the others add. A product of depth zero is zero: one empty chunk writes it.
template <class F>
void for_each_chunk(std::int64_t blocks, std::int64_t step, Write write, const F& chunk) {
  Combine combine = write == Write::assign ? Combine::assign : Combine::subtract;
  std::int64_t k0 = 0;
  do {
    chunk(k0, std::min(blocks, k0 + step), combine);
    if (combine == Combine::assign) combine = Combine::add;
    k0 += step;
  } while (k0 < blocks);
}

/// A mask of 16 lanes for rows first, first + 1, ...: set for rows in [diagonal, rows).
inline unsigned lanes_of(std::int64_t first, std::int64_t rows, std::int64_t diagonal) {
  const std::int64_t from = std::clamp<std::int64_t>(diagonal - first, 0, 16);
  const std::int64_t to = std::clamp<std::int64_t>(rows - first, 0, 16);
  return ((1U << to) - 1) & ~((1U << from) - 1);
}

}  // namespace stepwell::kernels

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace stepwell::solvers {

/// Block-cyclic distribution of the rows, or of the columns, of a matrix, as this process sees it.
struct BlockCyclicMap {
  /// 'turn': position of this process among 'count' processes, counted from the owner of the first
  /// block.
  std::int64_t size, block, turn, count;

  /// Number of rows, or columns, that this process owns (NUMROC).
  std::int64_t own() const {
    const std::int64_t blocks = size / block;
    std::int64_t own = blocks / count * block;
    if (turn < blocks % count) own += block;
    if (turn == blocks % count) own += size % block;
    return own;
  }
  /// Global index of this process's local index k.
  std::int64_t place(std::int64_t k) const {
    return (k / block * count + turn) * block + k % block;
  }
  /// Local index, on its owner, of global index i.
  std::int64_t local(std::int64_t i) const { return i / block / count * block + i % block; }
};

}  // namespace stepwell::solvers

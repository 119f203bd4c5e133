// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace stepwell::solvers {

/// How rows, or columns, are dealt out to this process: in blocks, in turn.
struct BlockCyclicMap {
  std::int64_t size, block, turn, count;  ///< 'turn': of 'count', from the one that has the first

  /// How many this process has: NUMROC.
  std::int64_t own() const {
    const std::int64_t blocks = size / block;
    std::int64_t own = blocks / count * block;
    if (turn < blocks % count) own += block;
    if (turn == blocks % count) own += size % block;
    return own;
  }
  /// Where its k-th is in the whole.
  std::int64_t place(std::int64_t k) const {
    return (k / block * count + turn) * block + k % block;
  }
  /// Which of its own that is which is i-th in the whole.
  std::int64_t local(std::int64_t i) const { return i / block / count * block + i % block; }
};

}  // namespace stepwell::solvers

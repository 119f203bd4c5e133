// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace stepwell::refine {

/// Checksums of what a pass over A has read, one for each block of columns: the bit patterns of the
/// elements, added as integers modulo 2^64. Two passes that read the same elements have the same
/// checksums in any order; one changed bit changes a checksum.
class Checksums {
 public:
  static constexpr std::int64_t kColumns = 64;  ///< columns of a block

  explicit Checksums(std::int64_t n = 0)
      : sums_(static_cast<std::size_t>((n + kColumns - 1) / kColumns)) {}

  /// Adds the sum of some elements of the block that contains 'column'. Thread-safe.
  void add(std::int64_t column, std::uint64_t sum) {
    std::atomic_ref(sums_[static_cast<std::size_t>(column / kColumns)])
        .fetch_add(sum, std::memory_order_relaxed);
  }

  /// The first column of the first block that differs; -1 if there is none.
  std::int64_t first_difference(const Checksums& other) const {
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      if (sums_[k] != other.sums_[k]) return static_cast<std::int64_t>(k) * kColumns;
    }
    return -1;
  }

 private:
  std::vector<std::uint64_t> sums_;
};

}  // namespace stepwell::refine

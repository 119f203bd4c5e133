// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stepwell::core {

/// A 64-bit checksum that detects damaged data: XXH64 (Collet), several bytes per cycle. It
/// protects against accidents, not against deliberate collisions.
class Checksum {
 public:
  explicit Checksum(std::uint64_t seed = 0);

  void add(std::span<const std::byte> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span(text.data(), text.size()))); }
  /// The checksum of all bytes added so far; more may be added later.
  std::uint64_t value() const;

 private:
  std::array<std::uint64_t, 4> lanes_;
  std::uint64_t seed_;
  std::uint64_t length_ = 0;
  std::array<std::byte, 32> rest_{};  ///< the last length_ % 32 bytes
};

inline std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0) {
  Checksum sum(seed);
  sum.add(bytes);
  return sum.value();
}

}  // namespace stepwell::core

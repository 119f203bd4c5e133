// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// All of XXH64 comes from the header, so that the library needs no libxxhash at run time.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stepwell::core {

/// A 64-bit checksum that detects damaged data: XXH64 (Collet), several bytes per cycle. It
/// protects against accidents, not against deliberate collisions.
class Checksum {
 public:
  explicit Checksum(std::uint64_t seed = 0) { XXH64_reset(&state_, seed); }

  void add(std::span<const std::byte> bytes) {
    if (!bytes.empty()) XXH64_update(&state_, bytes.data(), bytes.size());
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text.data(), text.size()))); }
  /// The checksum of all bytes added so far; more may be added later.
  std::uint64_t value() const { return XXH64_digest(&state_); }

 private:
  XXH64_state_t state_;
};

inline std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

}  // namespace stepwell::core

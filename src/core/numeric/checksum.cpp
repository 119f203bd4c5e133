// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/numeric/checksum.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace stepwell::core {
namespace {

constexpr std::uint64_t kA = 0x9e3779b185ebca87U;
constexpr std::uint64_t kB = 0xc2b2ae3d27d4eb4fU;
constexpr std::uint64_t kC = 0x165667b19e3779f9U;
constexpr std::uint64_t kD = 0x85ebca77c2b2ae63U;
constexpr std::uint64_t kE = 0x27d4eb2f165667c5U;

constexpr std::size_t kStep = 32;  ///< bytes that the four lanes process per step

template <class Word>
std::uint64_t word(const std::byte* at) {
  Word w = 0;
  std::memcpy(&w, at, sizeof(w));
  return w;
}

std::uint64_t mix(std::uint64_t lane, std::uint64_t input) {
  return std::rotl(lane + input * kB, 31) * kA;
}

void take(std::array<std::uint64_t, 4>& lanes, const std::byte* at, std::size_t steps) {
  std::array<std::uint64_t, 4> x = lanes;  // in registers
  for (; steps > 0; --steps, at += kStep) {
    for (std::size_t k = 0; k < 4; ++k) x[k] = mix(x[k], word<std::uint64_t>(at + 8 * k));
  }
  lanes = x;
}

}  // namespace

Checksum::Checksum(std::uint64_t seed)
    : lanes_{seed + kA + kB, seed + kB, seed, seed - kA}, seed_(seed) {}

void Checksum::add(std::span<const std::byte> bytes) {
  const std::size_t held = length_ % kStep;
  length_ += bytes.size();
  if (held + bytes.size() < kStep) {
    std::copy(bytes.begin(), bytes.end(), rest_.begin() + static_cast<std::ptrdiff_t>(held));
    return;
  }
  if (held > 0) {
    const auto missing = bytes.first(kStep - held);
    std::copy(missing.begin(), missing.end(), rest_.begin() + static_cast<std::ptrdiff_t>(held));
    take(lanes_, rest_.data(), 1);
    bytes = bytes.subspan(missing.size());
  }
  take(lanes_, bytes.data(), bytes.size() / kStep);
  const auto rest = bytes.last(bytes.size() % kStep);
  std::copy(rest.begin(), rest.end(), rest_.begin());
}

std::uint64_t Checksum::value() const {
  std::uint64_t h = seed_ + kE;
  if (length_ >= kStep) {
    h = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
        std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) h = (h ^ mix(0, lane)) * kA + kD;
  }
  h += length_;
  const std::byte* at = rest_.data();
  std::size_t left = length_ % kStep;
  for (; left >= 8; left -= 8, at += 8) {
    h = std::rotl(h ^ mix(0, word<std::uint64_t>(at)), 27) * kA + kD;
  }
  if (left >= 4) {
    h = std::rotl(h ^ (word<std::uint32_t>(at) * kA), 23) * kB + kC;
    left -= 4;
    at += 4;
  }
  for (; left > 0; --left, ++at) h = std::rotl(h ^ (word<std::uint8_t>(at) * kE), 11) * kA;
  h = (h ^ (h >> 33)) * kB;
  h = (h ^ (h >> 29)) * kC;
  return h ^ (h >> 32);
}

}  // namespace stepwell::core

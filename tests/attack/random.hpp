// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

namespace stepwell::attack {

/// Random numbers that are the same on every machine: a seed always names the same system.
class Random {
 public:
  /// Every kind of attack has its own stream.
  Random(std::uint64_t seed, std::string_view kind) : state_(seed) {
    for (const char c : kind) state_ = state_ * 1099511628211U + static_cast<unsigned char>(c);
    for (int k = 0; k < 4; ++k) next();
  }

  std::uint64_t next() {  // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(double probability) { return uniform() < probability; }
  /// 10^[low, high)
  double power_of_ten(double low, double high) { return std::pow(10, between(low, high)); }
  double sign() { return chance(0.5) ? 1 : -1; }

  /// Standard normal, by the method of Box and Muller.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }

  template <class Range>
  const auto& one_of(const Range& range) {
    return range[static_cast<std::size_t>(
        integer(0, static_cast<std::int64_t>(std::size(range)) - 1))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace stepwell::attack

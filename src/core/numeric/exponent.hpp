// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

/// ilogb and ldexp without a function call for normal numbers: a small solve needs a few hundred of
/// them.
namespace stepwell::core {

/// As std::ilogb, for finite nonzero x.
inline int exponent_of(double x) {
  const auto biased = static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52) & 0x7ffU);
  return biased != 0 ? biased - 1023 : std::ilogb(x);
}

/// 2^power, which must be a normal number.
inline double power_of_two(int power) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
}

/// As std::ldexp: x 2^power, rounded once.
inline double times_power_of_two(double x, int power) {
  if (power >= -1022 && power <= 1023) return x * power_of_two(power);
  return std::ldexp(x, power);
}

}  // namespace stepwell::core

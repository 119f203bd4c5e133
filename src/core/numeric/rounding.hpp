// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

#include "stepwell/rung.hpp"

/// Correctly rounded conversions between formats (round to nearest even) in integer arithmetic,
/// independent of MXCSR. Subnormal numbers are kept, numbers that are too large become infinity,
/// NaN stays NaN (sign and leading payload bits are kept; quiet after narrowing).
namespace stepwell::core {

/// Rounds an fp64 number, given by its bits, to a 16-bit format with 'fraction' stored significand
/// bits and exponents from min_exponent (of the smallest normal number) to max_exponent.
constexpr std::uint16_t narrow16(std::uint64_t bits, int fraction, int min_exponent,
                                 int max_exponent) {
  const auto sign = static_cast<std::uint16_t>((bits >> 48) & 0x8000U);
  const auto exponent_field = static_cast<std::uint16_t>((max_exponent - min_exponent + 2)
                                                         << fraction);  // all ones: infinity, NaN
  const int biased = static_cast<int>((bits >> 52) & 0x7ffU);
  const std::uint64_t stored = bits & 0xfffffffffffffU;
  if (biased == 0x7ff) {
    if (stored == 0) return static_cast<std::uint16_t>(sign | exponent_field);
    const auto payload = static_cast<std::uint16_t>(stored >> (52 - fraction));
    const auto quiet = static_cast<std::uint16_t>(1U << (fraction - 1));
    return static_cast<std::uint16_t>(sign | exponent_field | quiet | payload);
  }
  const int exponent = (biased == 0 ? 1 : biased) - 1023;
  const std::uint64_t significand = stored | (biased == 0 ? 0U : std::uint64_t{1} << 52);
  // The result's unit in the last place is 2^(quantum); drop the bits of the significand below it.
  const int quantum = (exponent < min_exponent ? min_exponent : exponent) - fraction;
  const int drop = quantum - (exponent - 52);  // at least 52 - fraction > 0
  if (drop > 54) return sign;                  // below half of the smallest number
  std::uint64_t kept = significand >> drop;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  if (rest > half || (rest == half && (kept & 1U) != 0)) ++kept;
  if (kept == 0) return sign;
  // If rounding has carried into the next binade, the addition increments the exponent field.
  std::uint64_t field = kept;
  if (exponent >= min_exponent) {
    field += static_cast<std::uint64_t>(exponent - min_exponent) << fraction;
  }
  if (field >= exponent_field) field = exponent_field;
  return static_cast<std::uint16_t>(sign | field);
}

constexpr bf16 to_bf16(double x) {
  return {narrow16(std::bit_cast<std::uint64_t>(x), 7, -126, 127)};
}
constexpr fp16 to_fp16(double x) {
  return {narrow16(std::bit_cast<std::uint64_t>(x), 10, -14, 15)};
}

/// Rounds fp32 to bf16 directly, by dropping 16 bits.
constexpr bf16 to_bf16(float x) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return {static_cast<std::uint16_t>((bits >> 16) | 0x0040U)};
  }
  bits += 0x7fffU + ((bits >> 16) & 1U);
  return {static_cast<std::uint16_t>(bits >> 16)};
}
constexpr fp16 to_fp16(float x) {
  return to_fp16(static_cast<double>(x));
}

constexpr float to_float(bf16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

/// The bits of the fp64 number with the same value as a number in a 16-bit format; see narrow16.
constexpr std::uint64_t widen16(std::uint16_t bits, int fraction, int min_exponent) {
  const std::uint64_t sign = static_cast<std::uint64_t>(bits & 0x8000U) << 48;
  const int field = (bits & 0x7fff) >> fraction;
  const std::uint64_t stored = bits & ((1U << fraction) - 1);
  const auto encode = [](int biased) { return static_cast<std::uint64_t>(biased) << 52; };
  if (field == (0x7fff >> fraction)) return sign | encode(0x7ff) | stored << (52 - fraction);
  if (field != 0) {
    return sign | encode(field - 1 + min_exponent + 1023) | stored << (52 - fraction);
  }
  if (stored == 0) return sign;
  // The number is subnormal in 16 bits and normal in fp64: its leading bit becomes implicit.
  const int leading = 63 - std::countl_zero(stored);
  const std::uint64_t below = (stored ^ std::uint64_t{1} << leading) << (52 - leading);
  return sign | encode(min_exponent - fraction + leading + 1023) | below;
}

constexpr double to_double(bf16 x) {
  return std::bit_cast<double>(widen16(x.bits, 7, -126));
}
constexpr double to_double(fp16 x) {
  return std::bit_cast<double>(widen16(x.bits, 10, -14));
}

/// Exact: every fp16 number is a normal fp32 number or zero.
constexpr float to_float(fp16 x) {
  return static_cast<float>(to_double(x));
}

}  // namespace stepwell::core

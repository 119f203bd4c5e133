// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepwell {

/// Storage formats of floating-point numbers.
enum class Format : char { fp64 = 'd', fp32 = 's', fp16 = 'h', bf16 = 'b' };

/// A bf16 number: the upper half of an fp32 number (8 exponent bits, 8 significant bits).
struct bf16 {
  std::uint16_t bits;
  friend bool operator==(bf16, bf16) = default;
};

/// An IEEE 754 binary16 number (5 exponent bits, 11 significant bits).
struct fp16 {
  std::uint16_t bits;
  friend bool operator==(fp16, fp16) = default;
};

/// The constants of a format. Round to nearest: |fl(x) - x| <= unit_roundoff * |x| for
/// smallest_normal <= |x| <= largest.
struct FormatInfo {
  std::string_view name;
  int bytes;
  int significant_bits;       ///< including the implicit bit
  double unit_roundoff;       ///< 2^-significant_bits
  double smallest_normal;     ///< below it, the rounding error is absolute
  double smallest_subnormal;  ///< also the distance between subnormal numbers
  double largest;             ///< the largest finite number
};

constexpr FormatInfo info(Format format) {
  switch (format) {
    case Format::fp64:
      return {"fp64", 8, 53, 0x1p-53, 0x1p-1022, 0x1p-1074, 0x1.fffffffffffffp+1023};
    case Format::fp32:
      return {"fp32", 4, 24, 0x1p-24, 0x1p-126, 0x1p-149, 0x1.fffffep+127};
    case Format::fp16:
      return {"fp16", 2, 11, 0x1p-11, 0x1p-14, 0x1p-24, 65504.0};
    case Format::bf16:
      break;
  }
  return {"bf16", 2, 8, 0x1p-8, 0x1p-126, 0x1p-133, 0x1.fep+127};
}

constexpr std::string_view to_string(Format format) {
  return info(format).name;
}

/// The format with this name, or nothing.
constexpr std::optional<Format> format_from_string(std::string_view name) {
  for (Format f : {Format::fp64, Format::fp32, Format::fp16, Format::bf16}) {
    if (to_string(f) == name) return f;
  }
  return std::nullopt;
}

}  // namespace stepwell

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
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

/// The arithmetic of a matrix product. From bf16 to fp64 they are listed from cheap to expensive,
/// and all except fp64 accumulate in fp32.
///
///   bf16    one product of bf16 operands
///   bf16x2  operands split into two bf16 terms, three products, relative error about 4e-6
///   bf16x3  operands split into three bf16 terms, six products, relative error about 1e-7
///   fp16    fp16 operands, exact products: four products of an exact two-term bf16 split if the
///           matrix engine has no fp16
///   fp32    CBLAS
///   fp64    CBLAS; factors of order 2048 and more at int8x14 where there is AMX
///   int8x14 fixed point of 54 bits as 14 int8 residues, 14 products, exact sums: at least as
///           accurate as fp64. For cholesky(), and there for all tiles or none
///   int8x15 the same with a redundant residue, which detects every wrong one
enum class Rung : unsigned char { bf16, bf16x2, bf16x3, fp16, fp32, fp64, int8x14, int8x15 };

inline constexpr std::array<Rung, 8> all_rungs = {Rung::bf16,    Rung::bf16x2, Rung::bf16x3,
                                                  Rung::fp16,    Rung::fp32,   Rung::fp64,
                                                  Rung::int8x14, Rung::int8x15};

/// The rungs that the tiles of one matrix can mix, and that every operation has.
inline constexpr std::array<Rung, 6> mixable_rungs = {Rung::bf16, Rung::bf16x2, Rung::bf16x3,
                                                      Rung::fp16, Rung::fp32,   Rung::fp64};

/// The properties of a rung.
struct RungInfo {
  std::string_view name;
  Format format;         ///< format of an operand or of its terms
  int planes;            ///< number of bf16 terms per operand; 0: none
  int products;          ///< bf16 products per update; 0: not on the matrix engine
  double unit_roundoff;  ///< relative error of representing an operand
  double product_error;  ///< relative error of a product, apart from rounding the operands
  int residues = 0;      ///< number of int8 residues per operand; 0: none
};

constexpr RungInfo info(Rung rung) {
  switch (rung) {
    case Rung::bf16:
      return {"bf16", Format::bf16, 1, 1, 0x1p-8, 0};
    case Rung::bf16x2:  // the product lo * lo is dropped; |lo| <= 2^-8 |x| for each operand
      return {"bf16x2", Format::bf16, 2, 3, 0x1p-16, 0x1p-16};
    case Rung::bf16x3:  // the three products below 2^-24 are dropped
      return {"bf16x3", Format::bf16, 3, 6, 0x1p-24, 0x1p-23};
    case Rung::fp16:
      return {"fp16", Format::fp16, 2, 4, 0x1p-11, 0};
    case Rung::fp32:
      return {"fp32", Format::fp32, 0, 0, 0x1p-24, 0};
    case Rung::int8x14:
      return {"int8x14", Format::fp64, 0, 0, 0x1p-53, 0, 14};
    case Rung::int8x15:
      return {"int8x15", Format::fp64, 0, 0, 0x1p-53, 0, 15};
    case Rung::fp64:
      break;
  }
  return {"fp64", Format::fp64, 0, 0, 0x1p-53, 0};
}

constexpr std::string_view to_string(Rung rung) {
  return info(rung).name;
}

/// Whether a factor at this rung is as accurate as one computed in FP64.
constexpr bool has_fp64_accuracy(Rung rung) {
  return info(rung).unit_roundoff <= 0x1p-53;
}

/// The rung with this name, or nothing.
constexpr std::optional<Rung> rung_from_string(std::string_view name) {
  for (Rung r : all_rungs) {
    if (to_string(r) == name) return r;
  }
  return std::nullopt;
}

}  // namespace stepwell

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/checked.hpp"
#include "kernels/signatures.hpp"
#include "stepwell/view.hpp"

/// Matrices in residue numbers, for products without rounding errors on an integer matrix engine.
///
/// A number x of magnitude up to 1.5 is kept in fixed point, X = round(x 2^f), by its residues
/// modulo s pairwise coprime moduli, one signed byte each ("plane"): the residue of smallest
/// magnitude, and for modulus 256 the one in [-128, 127]. Sums of products of residues are exact in
/// int32 (2^14 a term, so for any depth below 2^17), and give the residues of sum_k X_ik X_jk. By
/// the Chinese remainder theorem these determine the sum if it is smaller than half of the product
/// M of the moduli. Everything is exact, so the order of summation does not matter: no bit depends
/// on threads, chunks or the instruction set. (Ozaki, Uchino & Imamura 2025, "Ozaki scheme II".)
namespace stepwell::kernels {

/// The moduli, in the order of the planes; a system of s planes has the first s.
inline constexpr std::array<int, 15> kModuli = {256, 255, 253, 251, 247, 241, 239, 233,
                                                229, 227, 223, 217, 211, 199, 197};

/// Planes of a number of FP64 quality: M / 2 = 2.23 * 2^(2f) with f = 54 fraction bits. One more
/// plane is redundant: it shows that a residue is wrong.
inline constexpr int kResiduePlanes = 14;
inline constexpr int kVerifiedPlanes = 15;
inline constexpr int kFractionBits = 54;

/// A matrix A = L L' is scaled by powers of two such that its diagonal is in (kLargestDiagonal / 4,
/// kLargestDiagonal]. Rows of L then have at most this squared norm, and so has any sum of products
/// of two rows (Cauchy-Schwarz); the guard of the factorization allows one per cent more. With the
/// redundant plane a wrong residue is found for sums up to 1.72 (residue_constants.hpp).
inline constexpr double kLargestDiagonal = 1.68;
inline constexpr double kLargestSum = 1.7;

/// Where nothing is checked, the fifteenth plane may extend the range instead: both operands of a
/// product then have so many more bits, and sums are up to kLargestSum * 2^(2 kWideBits).
inline constexpr int kWidePlanes = 15;
inline constexpr int kWideBits = 4;

inline constexpr std::int64_t kResiduePanel = 32;    ///< rows of a panel
inline constexpr std::int64_t kResidueDepth = 64;    ///< depth of a depth block
inline constexpr std::int64_t kResidueBlock = 2048;  ///< bytes of a panel's depth block in a plane

/// The order of the bytes in an engine tile of 16 rows x 64 depth: 'quads' [16 quads of k][16
/// rows][4], the engine's right operand, in which L is stored; 'rows' [16 rows][64 k], its left
/// operand. One is the 16 x 16 dword transpose of the other, as in packed operands of bf16.
enum class ResidueOrder : unsigned char { quads, rows };

/// Bytes between two planes, so that the planes of an element are not in one set of the caches.
inline constexpr std::int64_t kPlanePadding = 9 * 64;

/// A non-owning view of rows x depth numbers, as an operand of products:
///
///   [plane][panel of 32 rows][depth block of 64][half panel][1 KiB engine tile]
///
/// Rows and depth are padded with zeros. T is std::int8_t or const std::int8_t.
template <class T>
struct ResiduesOf {
  T* data = nullptr;  ///< aligned to 64 bytes
  std::int64_t rows = 0, depth = 0;
  std::int64_t panel_stride = 0, plane_stride = 0;  ///< bytes
  int planes = kResiduePlanes;
  ResidueOrder order = ResidueOrder::quads;

  std::int64_t panels() const { return (rows + kResiduePanel - 1) / kResiduePanel; }
  std::int64_t depth_blocks() const { return (depth + kResidueDepth - 1) / kResidueDepth; }
  T* at(int plane, std::int64_t panel, std::int64_t block) const {
    return data + plane * plane_stride + panel * panel_stride + block * kResidueBlock;
  }
  /// Place of element (i, k) of a plane, from the plane's beginning.
  std::int64_t offset(std::int64_t i, std::int64_t k) const {
    const std::int64_t r = i % 16, c = k % kResidueDepth;
    const std::int64_t inner =
        order == ResidueOrder::rows ? r * 64 + c : (c / 4) * 64 + r * 4 + c % 4;
    return (i / kResiduePanel) * panel_stride + (k / kResidueDepth) * kResidueBlock +
           (i % kResiduePanel / 16) * 1024 + inner;
  }
  /// The m x n block that starts at (i, k): i is a multiple of 32 and k of 64, and so are m and n,
  /// unless the block ends where the operand ends.
  ResiduesOf block(std::int64_t i, std::int64_t k, std::int64_t m, std::int64_t n) const {
    return {at(0, i / kResiduePanel, k / kResidueDepth),
            m,
            n,
            panel_stride,
            plane_stride,
            planes,
            order};
  }
  operator ResiduesOf<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, depth, panel_stride, plane_stride, planes, order};
  }
};
using ResiduesIn = ResiduesOf<const std::int8_t>;
using ResiduesOut = ResiduesOf<std::int8_t>;

/// Bytes of such an operand. Throws Error(too_large).
inline std::int64_t residue_bytes(std::int64_t rows, std::int64_t depth, int planes) {
  const std::int64_t plane = core::size_product(core::round_up(rows, kResiduePanel),
                                                core::round_up(depth, kResidueDepth), "residues");
  return core::size_product(plane + kPlanePadding, planes, "residues");
}
inline ResiduesOut residues(std::int8_t* data, std::int64_t rows, std::int64_t depth, int planes,
                            ResidueOrder order) {
  const std::int64_t panel = core::round_up(depth, kResidueDepth) * kResiduePanel;
  const std::int64_t plane = panel * (core::round_up(rows, kResiduePanel) / kResiduePanel);
  return {data, rows, depth, panel, plane + kPlanePadding, planes, order};
}

/// The residues of rows x cols sums, in the order in which the engine stores them:
///
///   [plane][32 columns][32 rows][16 columns][16 rows][quad of columns][row][column of the quad]
///
/// so that 64 bytes are 16 rows of 4 columns.
struct ResidueSums {
  std::int8_t* data = nullptr;  ///< aligned to 64 bytes
  std::int64_t rows = 0, cols = 0;
  std::int64_t column_stride = 0, plane_stride = 0;  ///< bytes; the first of 32 columns
  int planes = kResiduePlanes;

  /// The 32 x 32 block (i, j) of a plane: 1 KiB.
  std::int8_t* at(int plane, std::int64_t i, std::int64_t j) const {
    return data + plane * plane_stride + j * column_stride + i * 1024;
  }
  std::int64_t offset(std::int64_t i, std::int64_t j) const {
    return (j / 32) * column_stride + (i / 32) * 1024 + (j % 32 / 16) * 512 + (i % 32 / 16) * 256 +
           (j % 16 / 4) * 64 + (i % 16) * 4 + j % 4;
  }
  /// From (i, j) on, multiples of 32.
  ResidueSums block(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n) const {
    return {at(0, i / 32, j / 32), m, n, column_stride, plane_stride, planes};
  }
};
inline std::int64_t residue_sums_bytes(std::int64_t rows, std::int64_t cols, int planes) {
  const std::int64_t plane =
      core::size_product(core::round_up(rows, 32), core::round_up(cols, 32), "residues of sums");
  return core::size_product(plane + kPlanePadding, planes, "residues of sums");
}
inline ResidueSums residue_sums(std::int8_t* data, std::int64_t rows, std::int64_t cols,
                                int planes) {
  const std::int64_t column = core::round_up(rows, 32) * 32;
  return {data,  rows, cols, column, column * (core::round_up(cols, 32) / 32) + kPlanePadding,
          planes};
}

/// Products that the FP64 leaves sum in one chain.
inline constexpr std::int64_t kFusedTerms = 16;

/// Converts x to residues, X = round(x 2^54) to nearest even, padding included, and replaces x by
/// the number that X stands for; 'out' in quads order. |x| <= 1.5, which is not checked. With shape
/// lower, elements above the diagonal count as zero, and are neither read nor written. Cost: 1.3 ns
/// an element and core.
using ToResiduesFn = void(MatrixView<double> x, Shape shape, ResiduesOut out) noexcept;

/// The same for numbers that are only read, times powers of two: X = round(x scale 2^54). An
/// operand in quads order has the rows of x as its rows, and one in rows order the columns of x:
/// neither way transposes single bytes. scale[i] is that of the operand's row i; null: ones. |x
/// scale| < 2^7, which is not checked; products with a NaN or an infinity are any numbers.
using ScaledToResiduesFn = void(MatrixView<const double> x, const double* scale,
                                ResiduesOut out) noexcept;

/// The reverse, from the first seven planes: out = X 2^-54, exact. With a redundant plane, compares
/// the other residues with X and returns in how many rows of groups of four columns one is wrong.
using FromResiduesFn = std::int64_t(ResiduesIn x, MatrixView<double> out) noexcept;

/// Operands of a product A B': A in quads order, m x k, and B in rows order, n x k.
struct ResidueFactors {
  ResiduesIn a, b;
};

/// Largest sum of the depths, in whole depth blocks, of the products that are added up in one call:
/// a panel of B fits in L1.
inline constexpr std::int64_t kResidueChunk = 1024;

/// sums = sums + sum of A B' modulo the plane's modulus, or without the old sums if 'first';
/// padding included. The depths of all products, each in whole depth blocks, are together at most
/// kResidueChunk. With shape lower,
/// blocks above the diagonal are left alone. 'next': what the next call will read, its first
/// products.
struct ResidueUpdate {
  int plane = 0;
  std::span<const ResidueFactors> products;
  ResidueSums sums;
  Shape shape = Shape::full;
  bool first = false;
  int next_plane = 0;
  std::span<const ResidueFactors> next;
};
using ResidueUpdateFn = void(const ResidueUpdate& args) noexcept;

/// What sums are multiplied by, rows[i] * cols[j], where cols are powers of two; null: ones. With a
/// NaN or an infinity in either, the result is one, too.
struct SumScales {
  const double* rows = nullptr;
  const double* cols = nullptr;
  bool wide = false;  ///< kWidePlanes, none of which is redundant
};

/// t <- t - S 2^-108 scale, where S are the sums that the residues stand for. |S 2^-108| must be
/// below kLargestSum, or 2^8 times that if they are wide. The result has three roundings and an
/// error of 2^-80 scale (wide: 2^-72), and the same bits in all versions. With a redundant plane,
/// returns in how many rows of groups of four columns a residue is wrong. With shape lower,
/// elements above the diagonal are left alone, and no two wrong residues of a row can cancel.
using SubtractSumsFn = std::int64_t(ResidueSums sums, Shape shape, SumScales scales,
                                    MatrixView<double> t) noexcept;

}  // namespace stepwell::kernels

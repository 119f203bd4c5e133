// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/portable/portable.hpp"
#include "kernels/residue_constants.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/residue_update.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/target-inl.hpp"

/// Products of residues where there is neither a matrix engine nor VNNI: dot products of 16-bit
/// integers. Slower than FP64's own products, so no plan chooses them, but a factor in residues is
/// then possible on any CPU.
///
/// Register budget: 8 sums (16 on ARM, whose instruction fills two), 2 of A, 1 of B.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kRows = 2, kCols = 4;
constexpr std::int64_t kTile = 16;  ///< rows of an engine tile

using Wide = hn::CappedTag<std::int16_t, 32>;
using Sum = hn::Repartition<std::int32_t, Wide>;
using Bytes = hn::Rebind<std::int8_t, Wide>;

/// 16 rows of the A of all products, one after the other in rows order: [product][depth
/// block][16][64].
void copy_rows(const ResidueUpdate& u, std::int64_t i, std::int8_t* to) {
  for (const ResidueFactors& f : u.products) {
    for (std::int64_t k = 0; k < f.a.depth_blocks(); ++k) {
      const std::int8_t* const quads = f.a.at(u.plane, 0, 0) + f.a.offset(i, k * kResidueDepth);
      for (std::int64_t r = 0; r < kTile; ++r) {
        for (std::int64_t q = 0; q < 16; ++q) {
          std::memcpy(to + r * kResidueDepth + 4 * q, quads + 64 * q + 4 * r, 4);
        }
      }
      to += kTile * kResidueDepth;
    }
  }
}

/// sums[column][row] of rows [r, r + kRows) of the copy and kCols rows of B from j on.
HWY_INLINE void add_products(const ResidueUpdate& u, const std::int8_t* a, std::int64_t r,
                             std::int64_t j, std::int32_t* sums) {
  const Wide d;
  const Sum d32;
  const Bytes d8;
  hn::Vec<Sum> low[kRows][kCols], high[kRows][kCols];
  for (int x = 0; x < kRows; ++x) {
    for (int y = 0; y < kCols; ++y) low[x][y] = high[x][y] = hn::Zero(d32);
  }
  a += r * kResidueDepth;
  for (const ResidueFactors& f : u.products) {
    for (std::int64_t k = 0; k < f.b.depth_blocks(); ++k) {
      const std::int8_t* const b = f.b.at(u.plane, 0, 0) + f.b.offset(j, k * kResidueDepth);
      for (std::int64_t c = 0; c < kResidueDepth; c += hn::MaxLanes(d)) {
        hn::Vec<Wide> left[kRows];
        HWY_UNROLL(2)
        for (int x = 0; x < kRows; ++x) {
          left[x] = hn::PromoteTo(d, hn::LoadU(d8, a + x * kResidueDepth + c));
        }
        HWY_UNROLL(4)
        for (int y = 0; y < kCols; ++y) {
          const auto right = hn::PromoteTo(d, hn::LoadU(d8, b + y * kResidueDepth + c));
          HWY_UNROLL(2)
          for (int x = 0; x < kRows; ++x) {
            low[x][y] = hn::ReorderWidenMulAccumulate(d32, left[x], right, low[x][y], high[x][y]);
          }
        }
      }
      a += kTile * kResidueDepth;
    }
  }
  for (int x = 0; x < kRows; ++x) {
    for (int y = 0; y < kCols; ++y) {
      sums[y * kTile + r + x] = hn::GetLane(hn::SumOfLanes(d32, hn::Add(low[x][y], high[x][y])));
    }
  }
}

/// The residues of 16 rows of 4 columns of sums, as ResidueSums stores them. |sum| < 2^25, and no
/// quotient is within 1 / (2 m) of a tie for an odd m, so FP64 finds the nearest integer. For the
/// modulus 256 the byte is right whatever the quotient.
void reduce(const std::int32_t* sums, bool first, int plane, std::int8_t* to) {
  const double m = kModuli[static_cast<std::size_t>(plane)];
  const double inverse = 1 / m;
  constexpr double kToInteger = 0x1.8p52;
  for (std::int64_t r = 0; r < kTile; ++r) {
    for (std::int64_t y = 0; y < kCols; ++y) {
      const std::int32_t sum = sums[y * kTile + r] + (first ? 0 : to[4 * r + y]);
      const double q = (sum * inverse + kToInteger) - kToInteger;
      to[4 * r + y] = static_cast<std::int8_t>(sum - static_cast<std::int32_t>(q * m));
    }
  }
}

void update(const ResidueUpdate& u) noexcept {
  const std::int64_t rows = core::round_up(u.sums.rows, 32);
  const std::int64_t cols = core::round_up(u.sums.cols, 32);
  alignas(64) std::int8_t a[kTile * kResidueChunk];
  std::int32_t sums[kCols * kTile];
  for (std::int64_t i = 0; i < rows; i += kTile) {
    copy_rows(u, i, a);
    const std::int64_t end = u.shape == Shape::lower ? std::min(cols, i / 32 * 32 + 32) : cols;
    for (std::int64_t j = 0; j < end; j += kCols) {
      for (std::int64_t r = 0; r < kTile; r += kRows) add_products(u, a, r, j, sums);
      reduce(sums, u.first, u.plane, u.sums.at(u.plane, 0, 0) + u.sums.offset(i, j));
    }
  }
}

}  // namespace

void fill_portable_residue_update(Table& t) {
  t.residues.update = {&update, "residue_update_" STEPWELL_TARGET_NAME, STEPWELL_TARGET_ISA};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_residue_update)
}  // namespace stepwell::kernels
#endif

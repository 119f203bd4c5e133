// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// A x for several vectors x, with sums in the order of those for a single one. Included once per
// target: hence a toggling guard instead of a pragma.
#if defined(STEPWELL_BLOCKED_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEPWELL_BLOCKED_ROWS_INL
#undef STEPWELL_BLOCKED_ROWS_INL
#else
#define STEPWELL_BLOCKED_ROWS_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/portable/columns-inl.hpp"
#include "kernels/signatures.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using DU = hn::RebindToUnsigned<D>;
using Vec = hn::Vec<D>;
using Bits = hn::Vec<DU>;

inline constexpr std::int64_t N = hn::MaxLanes(D());
// Products that are summed sequentially; such chains are added pairwise.
inline constexpr int kChain = 4;
// Vectors that are processed together. Register budget: 4 vectors x 4 chains of z, with sums in L1;
// y takes 3 x 4 vectors x 2 SIMD vectors. With 16 registers: 2 x 4 for z, and 3 x 2 x 2 for y.
inline constexpr int kTogether = HWY_TARGET == HWY_AVX3 ? 4 : 2;
// Columns whose chains are added in registers, and vectors whose x stays in L1.
inline constexpr std::int64_t kStrip = 4 * kChain;
inline constexpr std::int64_t kMany = 16;

/// Replaces the missing columns of the last group.
alignas(64) inline constexpr double kZeros[kBlockedRows] = {};

/// A copy of a block of A, of which take() returns the checksum: aligned, and with a leading
/// dimension with which columns do not compete for the same sets of L1. Rows up to whole pairs of
/// SIMD vectors and columns up to kStrip that are missing are zeros.
struct Block {
  static constexpr std::int64_t kLd = kBlockedRows + 8;
  alignas(64) double a[kBlockedColumns * kLd];

  Bits take(MatrixView<const double> from) {
    const D d;
    Bits bits = hn::Zero(DU());
    for (std::int64_t j = 0; j < (from.cols + kStrip - 1) / kStrip * kStrip; ++j) {
      const double* const column = j < from.cols ? from.column(j) : kZeros;
      double* const to = a + j * kLd;
      std::int64_t i = 0;
      for (; i + N <= from.rows; i += N) {
        const Vec as = hn::LoadU(d, column + i);
        bits = hn::Add(bits, hn::BitCast(DU(), as));
        hn::Store(as, d, to + i);
      }
      if (i < from.rows) {
        std::fill_n(to + i, N, 0.0);
        std::copy_n(column + i, from.rows - i, to + i);
        bits = hn::Add(bits, hn::BitCast(DU(), hn::Load(d, to + i)));
        i += N;
      }
      if (i % (2 * N) != 0) hn::Store(hn::Zero(d), d, to + i);
    }
    return bits;
  }
};

/// The sum of a chain of columns, for 2 SIMD vectors of rows and R vectors x.
template <int R>
HWY_INLINE void chain_of_columns(const double* a, const double* x, Vec (&sum)[R][2]) {
  const D d;
  HWY_UNROLL(4)
  for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = hn::Zero(d);
  HWY_UNROLL(4)
  for (int c = 0; c < kChain; ++c) {
    const Vec first = hn::Load(d, a + c * Block::kLd);
    const Vec second = hn::Load(d, a + c * Block::kLd + N);
    HWY_UNROLL(4)
    for (int r = 0; r < R; ++r) {
      const Vec xs = hn::Set(d, x[c * R + r]);
      sum[r][0] = hn::MulAdd(first, xs, sum[r][0]);
      sum[r][1] = hn::MulAdd(second, xs, sum[r][1]);
    }
  }
}

template <int R>
HWY_INLINE void add_pairs(const Vec (&from)[R][2], Vec (&to)[R][2]) {
  HWY_UNROLL(4)
  for (int r = 0; r < R; ++r) {
    to[r][0] = hn::Add(from[r][0], to[r][0]);
    to[r][1] = hn::Add(from[r][1], to[r][1]);
  }
}

/// y of 2 SIMD vectors of rows for R vectors. Chains are added pairwise in registers, in strips of
/// kStrip columns; the sum of a strip waits for another one of its size, as for a single vector.
template <int R>
HWY_NOINLINE void pair_of_rows(const double* a, const double* x, std::int64_t strips,
                               double* const (&y)[R]) {
  constexpr std::int64_t kStep = kChain * Block::kLd;
  static_assert(kStrip == 4 * kChain && kBlockedColumns <= 4 * kStrip);
  const D d;
  Vec part[2][R][2];
  for (std::int64_t k = 0; k < strips; ++k, a += kStrip * Block::kLd, x += kStrip * R) {
    Vec left[R][2], right[R][2], next[R][2];
    chain_of_columns<R>(a, x, left);
    chain_of_columns<R>(a + kStep, x + kChain * R, right);
    add_pairs<R>(right, left);
    chain_of_columns<R>(a + 2 * kStep, x + 2 * kChain * R, right);
    chain_of_columns<R>(a + 3 * kStep, x + 3 * kChain * R, next);
    add_pairs<R>(next, right);
    add_pairs<R>(right, left);
    const bool last = k + 1 == strips;
    if (k % 2 != 0) add_pairs<R>(part[0], left);
    if (k == 3 || (last && k == 2)) add_pairs<R>(part[1], left);
    HWY_UNROLL(4)
    for (int r = 0; r < R; ++r) {
      if (last) {
        hn::StoreU(hn::Add(left[r][0], hn::LoadU(d, y[r])), d, y[r]);
        hn::StoreU(hn::Add(left[r][1], hn::LoadU(d, y[r] + N)), d, y[r] + N);
      } else {
        part[k % 2][r][0] = left[r][0];
        part[k % 2][r][1] = left[r][1];
      }
    }
  }
}

/// Copies kTogether columns of x element by element, and zeros behind them up to 'rows'.
inline void interleave(MatrixView<const double> x, std::int64_t rows, double* to) {
  const D d;
  std::int64_t j = 0;
  for (; j + N <= x.rows; j += N) {
    const Vec first = hn::LoadU(d, x.column(0) + j), second = hn::LoadU(d, x.column(1) + j);
    if constexpr (kTogether == 4) {
      hn::StoreInterleaved4(first, second, hn::LoadU(d, x.column(2) + j),
                            hn::LoadU(d, x.column(3) + j), d, to + j * kTogether);
    } else {
      hn::StoreInterleaved2(first, second, d, to + j * kTogether);
    }
  }
  for (; j < rows; ++j) {
    for (std::int64_t r = 0; r < kTogether; ++r) {
      to[j * kTogether + r] = j < x.rows ? x(j, r) : 0.0;
    }
  }
}

/// y of a block for several vectors, a multiple of kTogether.
inline HWY_NOINLINE void rows_together(const Block& block, const Sweep<double>& s,
                                       std::int64_t vectors) {
  constexpr int R = kTogether;
  constexpr std::int64_t kRows = 2 * N;
  const std::int64_t strips = (s.x.rows + kStrip - 1) / kStrip, columns = strips * kStrip;
  alignas(64) double x[kMany * kBlockedColumns];
  for (std::int64_t first = 0; first < vectors; first += kMany) {
    const std::int64_t count = std::min(kMany, vectors - first);
    for (std::int64_t c = 0; c < count; c += R) {
      interleave(s.x.block(0, first + c, s.x.rows, R), columns, x + c * columns);
    }
    for (std::int64_t i = 0; i < s.y.rows; i += kRows) {
      const std::int64_t rows = std::min(kRows, s.y.rows - i);
      for (std::int64_t c = 0; c < count; c += R) {
        alignas(64) double padded[R][kRows];
        double* y[R];
        for (int r = 0; r < R; ++r) {
          double* const own = s.y.column(first + c + r) + i;
          y[r] = rows == kRows ? own : padded[r];
          if (rows < kRows) std::fill(std::copy_n(own, rows, padded[r]), padded[r] + kRows, 0.0);
        }
        pair_of_rows<R>(block.a + i, x + c * columns, strips, y);
        for (int r = 0; rows < kRows && r < R; ++r) {
          std::copy_n(padded[r], rows, s.y.column(first + c + r) + i);
        }
      }
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#endif  // STEPWELL_BLOCKED_ROWS_INL

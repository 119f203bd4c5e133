// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/portable/portable.hpp"
#include "kernels/scan.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/load.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/target-inl.hpp"

/// One pass over a tile, a strip of columns at a time: first column by column for everything that
/// concerns A alone, then the strip, still in L2, is compared with the tile at the transposed
/// position.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Columns of a strip: 256 bytes of each column of the tile at the transposed position.
constexpr std::int64_t kStrip = 32;
// Prefetch distance in columns: a column of a tile is one page, too short for the hardware
// prefetcher to start.
constexpr std::int64_t kColumnsAhead = 4;

/// Sums over the vectors of a column that hold an element outside the safe range, lane by lane.
/// They are separate from the sums of the usual vectors, which stay in registers.
template <class D>
struct Unusual {
  hn::Vec<D> max, big, mid, small;
};

void note_non_finite(std::int64_t i, std::int64_t j, Scan& s) {
  if (s.non_finite++ == 0) {
    s.bad_row = i;
    s.bad_col = j;
  }
}

/// Adds a vector with at least one element outside the range whose squares are safe: rare.
template <class D>
HWY_NOINLINE void add_unusual(D d, const double* a, std::int64_t i, std::int64_t j,
                              Unusual<D>& sums, Scan& s) {
  const auto size = hn::Abs(hn::LoadU(d, a + i));
  const auto finite = hn::IsFinite(size);
  const auto is_big = hn::And(finite, hn::Gt(size, hn::Set(d, kBlueBig)));
  const auto is_small = hn::Lt(size, hn::Set(d, kBlueSmall));
  const auto is_mid = hn::AndNot(hn::Or(is_big, is_small), finite);
  const auto big = hn::IfThenElseZero(is_big, hn::Mul(size, hn::Set(d, kBlueBigFactor)));
  const auto small = hn::IfThenElseZero(is_small, hn::Mul(size, hn::Set(d, kBlueSmallFactor)));
  const auto mid = hn::IfThenElseZero(is_mid, size);
  sums.big = hn::MulAdd(big, big, sums.big);
  sums.mid = hn::MulAdd(mid, mid, sums.mid);
  sums.small = hn::MulAdd(small, small, sums.small);
  sums.max = hn::Max(sums.max, hn::IfThenElseZero(finite, size));
  if (!hn::AllTrue(d, finite)) {
    for (std::int64_t t = i; t < i + static_cast<std::int64_t>(hn::Lanes(d)); ++t) {
      if (!std::isfinite(a[t])) note_non_finite(t, j, s);
    }
  }
}

/// Rows [i, end) of column j as far as they fill vectors of D; returns the row where it stopped.
/// The scaled element is (row * a) * col, with each product rounded to fp64, in every version.
template <class D>
HWY_INLINE std::int64_t load_rows(D d, const LoadArgs& g, std::int64_t j, std::int64_t i,
                                  std::int64_t end, Scan& s) {
  constexpr std::int64_t N = hn::MaxLanes(d);
  const hn::Rebind<float, D> df;
  const double* const a = g.a.column(j);
  const double* const next = a + kColumnsAhead * g.a.ld;
  const bool fetch = j + kColumnsAhead < g.a.cols;
  const auto col = hn::Set(d, g.scales.col != nullptr ? g.scales.col[j] : 1.0);
  const auto largest = hn::Set(d, kBlueBig);
  const auto least = hn::Set(d, kBlueSmall);
  const auto zero = hn::Zero(d);
  Unusual<D> unusual{zero, zero, zero, zero};
  auto sum = zero;
  auto max = zero;
  auto squares = zero;
  const hn::RebindToUnsigned<D> du;
  auto bits = hn::Zero(du);
  for (; i + N <= end; i += N) {
    const auto value = hn::LoadU(d, a + i);
    if (fetch) hwy::Prefetch(next + i);
    bits = hn::Add(bits, hn::BitCast(du, value));
    const auto size = hn::Abs(value);
    sum = hn::Add(sum, size);
    if (g.row_sums != nullptr) {
      hn::StoreU(hn::Add(hn::LoadU(d, g.row_sums + i), size), d, g.row_sums + i);
    }
    // NaN fails every comparison and is therefore unusual.
    const auto usual =
        hn::Or(hn::And(hn::Ge(size, least), hn::Le(size, largest)), hn::Eq(size, zero));
    if (HWY_LIKELY(hn::AllTrue(d, usual))) {
      max = hn::Max(max, size);
      squares = hn::MulAdd(size, size, squares);
    } else {
      add_unusual(d, a, i, j, unusual, s);
    }
    if (g.out32.data != nullptr || g.out64.data != nullptr) {
      const auto row = g.scales.row != nullptr ? hn::LoadU(d, g.scales.row + i) : hn::Set(d, 1.0);
      const auto scaled = hn::Mul(hn::Mul(row, value), col);
      if (g.out32.data != nullptr) hn::StoreU(hn::DemoteTo(df, scaled), df, g.out32.column(j) + i);
      if (g.out64.data != nullptr) hn::StoreU(scaled, d, g.out64.column(j) + i);
    }
  }
  if (g.col_sums != nullptr) g.col_sums[j] += hn::GetLane(hn::SumOfLanes(d, sum));
  s.max_abs = std::max(s.max_abs, hn::GetLane(hn::MaxOfLanes(d, hn::Max(max, unusual.max))));
  s.mid += hn::GetLane(hn::SumOfLanes(d, hn::Add(squares, unusual.mid)));
  s.big += hn::GetLane(hn::SumOfLanes(d, unusual.big));
  s.small += hn::GetLane(hn::SumOfLanes(d, unusual.small));
  s.checksum += hn::GetLane(hn::SumOfLanes(du, bits));
  return i;
}

void compare(double a, double transposed, std::int64_t i, std::int64_t j, Scan& s) {
  if (!std::isfinite(a) || !std::isfinite(transposed)) return;
  const double difference = std::abs(a - transposed);
  const bool earlier = difference == s.asymmetry && difference > 0 &&
                       std::pair{j, i} < std::pair{s.asymmetry_col, s.asymmetry_row};
  if (difference > s.asymmetry || earlier) {
    s.asymmetry = difference;
    s.asymmetry_row = i;
    s.asymmetry_col = j;
  }
}

/// Compares columns [j0, j1) with the tile at the transposed position, a few rows at a time: these
/// are columns of that tile, whose cache lines serve the whole strip. Only vectors with a
/// difference that reaches the largest so far are compared element by element.
void compare_strip(const LoadArgs& g, std::int64_t j0, std::int64_t j1, Scan& s) {
  const hn::ScalableTag<double> d;
  const hn::RebindToSigned<decltype(d)> di;
  constexpr std::int64_t N = hn::MaxLanes(d);
  const std::int64_t ld = g.transposed.ld;
  const auto across = hn::Mul(hn::Iota(di, 0), hn::Set(di, ld));
  const bool lower = g.shape == Shape::lower;
  for (std::int64_t i = lower ? j0 : 0; i < g.a.rows; i += N) {
    const std::int64_t m = std::min(N, g.a.rows - i);
    for (std::int64_t ahead = i + N; ahead < std::min(i + 2 * N, g.a.rows); ++ahead) {
      for (std::int64_t j = j0; j < j1; j += 8) {
        hwy::Prefetch(g.transposed.column(ahead) + j);
      }
    }
    for (std::int64_t j = j0; j < j1; ++j) {
      const std::int64_t first = lower ? std::max<std::int64_t>(i, j) : i;
      if (m == N && first == i) {
        const auto value = hn::LoadU(d, g.a.column(j) + i);
        const auto transposed = hn::GatherIndex(d, g.transposed.column(i) + j, across);
        const auto difference = hn::Abs(hn::Sub(value, transposed));
        const auto bar = hn::Set(d, std::max(s.asymmetry, 0x1p-1074));
        if (HWY_LIKELY(hn::AllFalse(d, hn::Ge(difference, bar)))) continue;
      }
      for (std::int64_t t = first; t < i + m; ++t) {
        compare(g.a(t, j), g.transposed(j, t), t, j, s);
      }
    }
  }
}

void load(const LoadArgs& g, Scan& scan) noexcept {
  Scan s;
  for (std::int64_t j0 = 0; j0 < g.a.cols; j0 += kStrip) {
    const std::int64_t j1 = std::min(j0 + kStrip, g.a.cols);
    for (std::int64_t j = j0; j < j1; ++j) {
      const std::int64_t first = g.shape == Shape::lower ? j : 0;
      const std::int64_t i = load_rows(hn::ScalableTag<double>(), g, j, first, g.a.rows, s);
      load_rows(hn::CappedTag<double, 1>(), g, j, i, g.a.rows, s);
    }
    if (g.transposed.data != nullptr) compare_strip(g, j0, j1, s);
  }
  combine(scan, s, 0, 0);
}

}  // namespace

void fill_portable_load(Table& t) {
  t.load = {&load, "load_" STEPWELL_TARGET_NAME, STEPWELL_TARGET_ISA};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_load)
}  // namespace stepwell::kernels
#endif

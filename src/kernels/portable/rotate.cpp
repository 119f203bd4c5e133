// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>

#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/rotate.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/target-inl.hpp"

/// A strip of 32 rows of V is copied to the L1 cache, where its columns are next to each other, and
/// rotated with the same rows of every column of L, which stay in registers meanwhile.
///
/// Register budget: 32 rows of a column of L (4 vectors of AVX-512), c and s.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kStrip = 32;

/// kVectors * lanes rows from i on.
template <int kVectors>
HWY_INLINE void rotate_strip(MatrixView<double> l, MatrixView<double> v, std::int64_t i,
                             const Rotations& r) {
  const hn::CappedTag<double, 8> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN double strip[kMostRotated * kStrip];
  for (std::int64_t t = 0; t < v.cols; ++t) {
    std::copy_n(v.column(t) + i, kVectors * lanes, strip + t * kStrip);
  }
  for (std::int64_t step = 0; step < l.cols; ++step) {
    const std::int64_t j = r.descending ? l.cols - 1 - step : step;
    double* const column = l.column(j) + i;
    const double* const cosines = r.c + j * v.cols;
    const double* const sines = r.s + j * v.cols;
    V x[kVectors];
#pragma GCC unroll 16
    for (int k = 0; k < kVectors; ++k) x[k] = hn::LoadU(d, column + k * lanes);
    for (std::int64_t t = 0; t < v.cols; ++t) {
      const V c = hn::Set(d, cosines[t]), s = hn::Set(d, sines[t]);
      double* const y = strip + t * kStrip;
#pragma GCC unroll 16
      for (int k = 0; k < kVectors; ++k) {
        const V old = hn::Load(d, y + k * lanes);
        hn::Store(hn::Sub(hn::Mul(c, old), hn::Mul(s, x[k])), d, y + k * lanes);
        x[k] = hn::Add(hn::Mul(c, x[k]), hn::Mul(s, old));
      }
    }
#pragma GCC unroll 16
    for (int k = 0; k < kVectors; ++k) hn::StoreU(x[k], d, column + k * lanes);
  }
  for (std::int64_t t = 0; t < v.cols; ++t) {
    std::copy_n(strip + t * kStrip, kVectors * lanes, v.column(t) + i);
  }
}

void rotate_row(MatrixView<double> l, MatrixView<double> v, std::int64_t i, const Rotations& r) {
  for (std::int64_t step = 0; step < l.cols; ++step) {
    const std::int64_t j = r.descending ? l.cols - 1 - step : step;
    for (std::int64_t t = 0; t < v.cols; ++t) {
      const double c = r.c[j * v.cols + t], s = r.s[j * v.cols + t];
      const double x = l(i, j), y = v(i, t);
      l(i, j) = c * x + s * y;
      v(i, t) = c * y - s * x;
    }
  }
}

void rotate(MatrixView<double> l, MatrixView<double> v, const Rotations& r) noexcept {
  const hn::CappedTag<double, 8> d;
  constexpr int kVectors = static_cast<int>(kStrip / hn::MaxLanes(d));
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + kVectors * lanes <= l.rows; i += kVectors * lanes) rotate_strip<kVectors>(l, v, i, r);
  for (; i + lanes <= l.rows; i += lanes) rotate_strip<1>(l, v, i, r);
  for (; i < l.rows; ++i) rotate_row(l, v, i, r);
}

}  // namespace

void fill_portable_rotate(Table& t) {
  t.rotate = {&rotate, "rotate_" STEPWELL_TARGET_NAME, STEPWELL_TARGET_ISA};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_rotate)
}  // namespace stepwell::kernels
#endif

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/panel.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/target-inl.hpp"
#include "kernels/portable/transpose-inl.hpp"

/// The leaf of a panel's LU factorization, and transposition.
///
/// The leaf is left-looking: a column is read and written once while all earlier columns are
/// subtracted from it, two vectors of rows at a time, and its largest element is found in the same
/// pass. 16384 rows of 16 columns are 1 MiB in fp32 and stay in L2.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;

/// The largest |x| seen, with the first row that has it, and whether all elements were finite.
template <class T>
struct Largest {
  T size = -1;
  std::int64_t row = 0;
  bool finite = true;

  void see(T x, std::int64_t i) {
    if (!std::isfinite(x)) finite = false;
    if (std::abs(x) > size || (std::abs(x) == size && i < row)) {
      size = std::abs(x);
      row = i;
    }
  }
};

/// Column j from row 'first' on -= sum over k < j of column k * u[k].
template <class T>
HWY_INLINE Largest<T> take_columns(MatrixView<T> a, std::int64_t j, std::int64_t first,
                                   const T* HWY_RESTRICT u) {
  const Tag<T> d;
  const hn::RebindToSigned<Tag<T>> di;
  using Index = hn::TFromD<decltype(di)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  T* const HWY_RESTRICT x = a.column(j);
  Largest<T> largest;
  std::int64_t i = first;
  auto best0 = hn::Set(d, T{-1});
  auto best1 = best0;
  auto at0 = hn::Zero(di);
  auto at1 = at0;
  auto poison = hn::Zero(d);  // becomes NaN at the first element that is not finite
  for (Index step = 0; i + 2 * lanes <= a.rows; i += 2 * lanes, ++step) {
    auto x0 = hn::LoadU(d, x + i);
    auto x1 = hn::LoadU(d, x + i + lanes);
    for (std::int64_t k = 0; k < j; ++k) {
      const auto f = hn::Set(d, u[k]);
      const T* const HWY_RESTRICT from = a.column(k) + i;
      x0 = hn::NegMulAdd(hn::LoadU(d, from), f, x0);
      x1 = hn::NegMulAdd(hn::LoadU(d, from + lanes), f, x1);
    }
    hn::StoreU(x0, d, x + i);
    hn::StoreU(x1, d, x + i + lanes);
    poison = hn::MulAdd(x0, hn::Zero(d), hn::MulAdd(x1, hn::Zero(d), poison));
    const auto now = hn::Set(di, step);
    const auto more0 = hn::Gt(hn::Abs(x0), best0);
    const auto more1 = hn::Gt(hn::Abs(x1), best1);
    best0 = hn::IfThenElse(more0, hn::Abs(x0), best0);
    best1 = hn::IfThenElse(more1, hn::Abs(x1), best1);
    at0 = hn::IfThenElse(hn::RebindMask(di, more0), now, at0);
    at1 = hn::IfThenElse(hn::RebindMask(di, more1), now, at1);
  }
  if (i > first) {
    HWY_ALIGN T size[2][64 / sizeof(T)];
    HWY_ALIGN Index step[2][64 / sizeof(T)];
    HWY_ALIGN T bad[64 / sizeof(T)];
    hn::Store(best0, d, size[0]);
    hn::Store(best1, d, size[1]);
    hn::Store(at0, di, step[0]);
    hn::Store(at1, di, step[1]);
    hn::Store(poison, d, bad);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      if (bad[lane] != 0) largest.finite = false;  // NaN is not 0
      for (std::int64_t v = 0; v < 2; ++v) {
        if (size[v][lane] < 0) continue;
        largest.see(size[v][lane], first + (2 * step[v][lane] + v) * lanes + lane);
      }
    }
  }
  for (; i < a.rows; ++i) {
    for (std::int64_t k = 0; k < j; ++k) x[i] -= a(i, k) * u[k];
    largest.see(x[i], i);
  }
  return largest;
}

/// By multiplication, unless the inverse of a tiny pivot would overflow, as LAPACK does.
template <class T>
HWY_INLINE void divide(T* HWY_RESTRICT x, std::int64_t count, T by) {
  std::int64_t i = 0;
  if (std::abs(by) < std::numeric_limits<T>::min()) {
    for (; i < count; ++i) x[i] /= by;
    return;
  }
  const Tag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T inverse = 1 / by;
  const auto v = hn::Set(d, inverse);
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, x + i), v), d, x + i);
  for (; i < count; ++i) x[i] *= inverse;
}

template <class T>
Pivot getrf(MatrixView<T> a, bool pivoting, std::int64_t* rows) noexcept {
  T u[kPanelLeaf];
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < j; ++i) {
      T sum = a(i, j);
      for (std::int64_t k = 0; k < i; ++k) sum -= a(i, k) * u[k];
      a(i, j) = u[i] = sum;
    }
    const Largest<T> largest = take_columns(a, j, j, u);
    const std::int64_t p = pivoting ? largest.row : j;
    rows[j] = p;
    const T pivot = a(p, j);
    if (!largest.finite) return {j, std::nan("")};
    if (pivot == 0) return {j, 0};
    for (std::int64_t k = 0; k < a.cols && p != j; ++k) std::swap(a(j, k), a(p, k));
    divide(a.column(j) + j + 1, a.rows - j - 1, pivot);
  }
  return {};
}

}  // namespace

void fill_portable_panel(Table& t) {
  constexpr auto isa = STEPWELL_TARGET_ISA;
  t.getrf_fp32 = {&getrf<float>, "getrf_fp32_" STEPWELL_TARGET_NAME, isa};
  t.getrf_fp64 = {&getrf<double>, "getrf_fp64_" STEPWELL_TARGET_NAME, isa};
  t.transpose_fp32 = {&transpose<float>, "transpose_fp32_" STEPWELL_TARGET_NAME, isa};
  t.transpose_fp64 = {&transpose<double>, "transpose_fp64_" STEPWELL_TARGET_NAME, isa};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_panel)
}  // namespace stepwell::kernels
#endif

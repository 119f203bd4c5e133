// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/batch/residual.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/exact-inl.hpp"
#include "kernels/portable/target-inl.hpp"

/// Residuals of a pack, in FP64 for either format. The triangle is read once, row by row: element
/// (i, k) is used for the sums of rows i and k.
///
/// Register budget: the sum and x of row i, an element, and the sum of row k; sums in double-double
/// take two registers, and the product three more.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr std::int64_t kLanes = hn::MaxLanes(D());

HWY_INLINE V load(const double* x) {
  return hn::Load(D(), x);
}
HWY_INLINE V load(const float* x) {
  return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<float, D>(), x));
}

/// r -= A x for one vector of systems; with 'sizes', |A| is used instead of A, and x is all ones.
template <bool sizes, class T>
HWY_INLINE void subtract_product(const BatchPack<const T>& p, const T* x, double* r,
                                 std::int64_t q) {
  const D d;
  const auto element = [&](const T* a) { return sizes ? hn::Abs(load(a)) : load(a); };
  const auto factor = [&](std::int64_t k) {
    return sizes ? hn::Set(d, 1.0) : load(x + k * p.lanes + q);
  };
  const T* a = p.data + q;
  for (std::int64_t i = 0; i < p.n; ++i) {
    V sum = load(r + i * p.lanes + q);
    const V xi = factor(i);
    for (std::int64_t k = 0; k < i; ++k, a += p.lanes) {
      const V aik = element(a);
      double* const rk = r + k * p.lanes + q;
      sum = hn::NegMulAdd(aik, factor(k), sum);
      hn::Store(hn::NegMulAdd(aik, xi, load(rk)), d, rk);
    }
    hn::Store(hn::NegMulAdd(element(a), xi, sum), d, r + i * p.lanes + q);
    a += p.lanes;
  }
}

/// The same with sums r + low in double-double.
template <class T>
HWY_INLINE void subtract_exactly(const BatchPack<const T>& p, const T* x, double* r, double* low,
                                 std::int64_t q) {
  const D d;
  const T* a = p.data + q;
  for (std::int64_t i = 0; i < p.n; ++i) {
    const std::int64_t at = i * p.lanes + q;
    V sum = load(r + at), rest = load(low + at);
    const V xi = hn::Neg(load(x + at));
    for (std::int64_t k = 0; k < i; ++k, a += p.lanes) {
      const std::int64_t other = k * p.lanes + q;
      const V aik = load(a);
      multiply_add(aik, hn::Neg(load(x + other)), sum, rest);
      V passing = load(r + other), below = load(low + other);
      multiply_add(aik, xi, passing, below);
      hn::Store(passing, d, r + other);
      hn::Store(below, d, low + other);
    }
    multiply_add(load(a), xi, sum, rest);
    a += p.lanes;
    hn::Store(sum, d, r + at);
    hn::Store(rest, d, low + at);
  }
  for (std::int64_t at = q; at < p.n * p.lanes; at += p.lanes) {
    hn::Store(hn::Add(load(r + at), load(low + at)), d, r + at);
  }
}

template <class T>
HWY_INLINE V most(const T* x, std::int64_t n, std::int64_t lanes) {
  V largest = hn::Zero(D());
  for (std::int64_t i = 0; i < n; ++i) largest = hn::Max(largest, hn::Abs(load(x + i * lanes)));
  return largest;
}

template <class T>
void norm(BatchPack<const T> p, double* workspace, double* norms) noexcept {
  const D d;
  for (std::int64_t q = 0; q < p.lanes; q += kLanes) {
    for (std::int64_t i = 0; i < p.n; ++i) hn::Store(hn::Zero(d), d, workspace + i * p.lanes + q);
    subtract_product<true, T>(p, nullptr, workspace, q);
    hn::StoreU(most(workspace + q, p.n, p.lanes), d, norms + q);
  }
}

template <class T>
void residual(BatchPack<const T> p, std::int64_t c, const T* x, double* r, double* low,
              BatchSizes sizes) noexcept {
  const D d;
  const T* const b = p.row(p.n + c);
  for (std::int64_t q = 0; q < p.lanes; q += kLanes) {
    for (std::int64_t i = 0; i < p.n; ++i) {
      hn::Store(load(b + i * p.lanes + q), d, r + i * p.lanes + q);
      if (low != nullptr) hn::Store(hn::Zero(d), d, low + i * p.lanes + q);
    }
    if (low == nullptr) {
      subtract_product<false>(p, x, r, q);
    } else {
      subtract_exactly(p, x, r, low, q);
    }
    V wrong = hn::Zero(d);  // becomes NaN if an element is not finite
    for (std::int64_t i = 0; i < p.n; ++i) {
      wrong = hn::MulAdd(load(r + i * p.lanes + q), hn::Zero(d), wrong);
    }
    hn::StoreU(hn::Add(most(r + q, p.n, p.lanes), wrong), d, sizes.residual + q);
    hn::StoreU(most(x + q, p.n, p.lanes), d, sizes.x + q);
    hn::StoreU(most(b + q, p.n, p.lanes), d, sizes.b + q);
  }
}

template <class T>
void fill(BatchEntries<T>& entries) {
  constexpr auto isa = STEPWELL_TARGET_ISA;
  entries.norm = {&norm<T>, "batch_norm_" STEPWELL_TARGET_NAME, isa};
  entries.residual = {&residual<T>, "batch_residual_" STEPWELL_TARGET_NAME, isa};
}

}  // namespace

void fill_portable_batch_residual(Table& t) {
  fill(t.batch_fp32);
  fill(t.batch_fp64);
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_batch_residual)
}  // namespace stepwell::kernels
#endif

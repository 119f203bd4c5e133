// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/batch/solve.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/batch/block-inl.hpp"
#include "kernels/portable/target-inl.hpp"

/// Substitutions of a pack. Forward: right-hand sides are rows of the factor, so the
/// factorization's own block is used. Backward: eight unknowns at a time, so that eight independent
/// sums are in flight; rows of L are read as they are stored, eight adjacent elements of each.
///
/// Register budget: 8 sums, one x, one of L.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr int kChains = 8;

/// Unknowns [j, j + cols) of one right-hand side x, for one vector of systems.
template <class T, int cols>
HWY_INLINE void backward_block(const BatchPack<T>& pack, T* x, std::int64_t j, std::int64_t at) {
  const Tag<T> d;
  const std::int64_t lanes = pack.lanes;
  Vec<T> sum[cols];
  HWY_UNROLL(8)
  for (int b = 0; b < cols; ++b) sum[b] = hn::Load(d, x + (j + b) * lanes + at);
  const T* l = pack.row(pack.n - 1) + j * lanes + at;
  for (std::int64_t k = pack.n - 1; k >= j + cols; --k) {
    const Vec<T> xk = hn::Load(d, x + k * lanes + at);
    HWY_UNROLL(8)
    for (int b = 0; b < cols; ++b) sum[b] = hn::NegMulAdd(hn::Load(d, l + b * lanes), xk, sum[b]);
    l -= k * lanes;
  }
  HWY_UNROLL(8)
  for (int k = cols - 1; k >= 0; --k) {
    sum[k] = hn::Mul(sum[k], hn::Load(d, pack.reciprocals + (j + k) * lanes + at));
    hn::Store(sum[k], d, x + (j + k) * lanes + at);
    const T* const row = pack.row(j + k) + j * lanes + at;
    HWY_UNROLL(8)
    for (int b = 0; b < k; ++b) {
      sum[b] = hn::NegMulAdd(hn::Load(d, row + b * lanes), sum[k], sum[b]);
    }
  }
}

template <class T, int cols>
HWY_INLINE void backward_rest(const BatchPack<T>& pack, T* x, std::int64_t count, std::int64_t at) {
  if constexpr (cols > 0) {
    if (count == cols) return backward_block<T, cols>(pack, x, 0, at);
    backward_rest<T, cols - 1>(pack, x, count, at);
  }
}

template <class T>
void backward(BatchPack<T> pack) noexcept {
  for (std::int64_t c = 0; c < pack.rhs; ++c) {
    T* const x = pack.row(pack.n + c);
    for (std::int64_t at = 0; at < pack.lanes; at += kLanes<T>) {
      std::int64_t j = pack.n - kChains;
      for (; j >= 0; j -= kChains) backward_block<T, kChains>(pack, x, j, at);
      backward_rest<T, kChains - 1>(pack, x, j + kChains, at);
    }
  }
}

/// Computes the reciprocals of the diagonals of loaded factors.
template <class T>
void invert_diagonal(const BatchPack<T>& pack, std::int32_t* pivots) {
  std::fill_n(pivots, pack.lanes, -1);
  for (std::int64_t j = 0; j < pack.n; ++j) {
    const T* const l = pack.row(j) + j * pack.lanes;
    for (std::int64_t q = 0; q < pack.lanes; ++q) {
      const bool good = l[q] > 0 && l[q] < std::numeric_limits<T>::infinity();
      if (!good && pivots[q] < 0) pivots[q] = static_cast<std::int32_t>(j);
      pack.reciprocals[j * pack.lanes + q] = good ? 1 / l[q] : T{1};
    }
  }
}

/// The first n % cols columns, fewer than a panel, are handled one at a time.
template <class T, int W>
HWY_INLINE void forward_by(const BatchPack<T>& pack) {
  constexpr int cols = kChains / W;
  const std::int64_t end = pack.n + pack.rhs;
  for (std::int64_t i = pack.n; i < end; ++i) {
    std::int64_t j = 0;
    for (; j < pack.n % cols; ++j) below<T, W, 1, 1>(pack, i, j, {});
    for (; j < pack.n; j += cols) below<T, W, 1, cols>(pack, i, j, {});
  }
}

template <class T>
void forward(BatchPack<T> pack, std::int32_t* pivots) noexcept {
  invert_diagonal(pack, pivots);
  pack.lanes == kLanes<T> ? forward_by<T, 1>(pack) : forward_by<T, 2>(pack);
}

template <class T>
void fill(BatchEntries<T>& entries) {
  constexpr auto isa = STEPWELL_TARGET_ISA;
  entries.forward = {&forward<T>, "batch_forward_" STEPWELL_TARGET_NAME, isa};
  entries.backward = {&backward<T>, "batch_backward_" STEPWELL_TARGET_NAME, isa};
}

}  // namespace

void fill_portable_batch_solve(Table& t) {
  fill(t.batch_fp32);
  fill(t.batch_fp64);
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_batch_solve)
}  // namespace stepwell::kernels
#endif

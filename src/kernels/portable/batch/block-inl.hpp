// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

// One register block of a pack's factor. Included once per target: hence a toggling guard instead
// of a pragma.
#if defined(STEPWELL_BATCH_BLOCK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STEPWELL_BATCH_BLOCK_INL
#undef STEPWELL_BATCH_BLOCK_INL
#else
#define STEPWELL_BATCH_BLOCK_INL
#endif

#include "kernels/portable/batch/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Cache lines of the next matrices to prefetch during the first 'steps' steps of a sum:
/// base + lines[k], and if 'two' also base + lines[steps + k].
template <class T>
struct Ahead {
  const T* base = nullptr;
  const std::int32_t* lines = nullptr;
  std::int64_t steps = 0;
  bool two = false;
};

/// c[a][b] -= x_a y_b at step k, for a block of rows x cols elements of W vectors each. The block
/// stays in registers, and so do the operands of its shorter side.
template <class T, int W, int rows, int cols>
HWY_INLINE void subtract(const T* const* x, const T* const* y, std::int64_t k,
                         Vec<T> (&c)[rows][cols][W]) {
  const Tag<T> d;
  HWY_UNROLL(2)
  for (int w = 0; w < W; ++w) {
    const std::int64_t at = (k * W + w) * kLanes<T>;
    if constexpr (rows <= cols) {
      Vec<T> xs[rows];
      HWY_UNROLL(8)
      for (int a = 0; a < rows; ++a) xs[a] = hn::Load(d, x[a] + at);
      HWY_UNROLL(8)
      for (int b = 0; b < cols; ++b) {
        const Vec<T> yb = hn::Load(d, y[b] + at);
        HWY_UNROLL(8)
        for (int a = 0; a < rows; ++a) c[a][b][w] = hn::NegMulAdd(xs[a], yb, c[a][b][w]);
      }
    } else {
      Vec<T> ys[cols];
      HWY_UNROLL(8)
      for (int b = 0; b < cols; ++b) ys[b] = hn::Load(d, y[b] + at);
      HWY_UNROLL(8)
      for (int a = 0; a < rows; ++a) {
        const Vec<T> xa = hn::Load(d, x[a] + at);
        HWY_UNROLL(8)
        for (int b = 0; b < cols; ++b) c[a][b][w] = hn::NegMulAdd(xa, ys[b], c[a][b][w]);
      }
    }
  }
}

/// 'rows' rows of the panel [j, j + cols) below its diagonal block: subtracts all earlier columns,
/// then solves with the panel's own triangle.
template <class T, int W, int rows, int cols>
HWY_INLINE void below(const BatchPack<T>& pack, std::int64_t i, std::int64_t j,
                      const Ahead<T>& ahead) {
  const Tag<T> d;
  constexpr std::int64_t lanes = W * kLanes<T>;
  const T* x[rows];
  const T* y[cols];
  HWY_UNROLL(8)
  for (int a = 0; a < rows; ++a) x[a] = pack.data + pack.before(i + a, pack.n) * lanes;
  HWY_UNROLL(8)
  for (int b = 0; b < cols; ++b) y[b] = pack.data + pack.before(j + b, pack.n) * lanes;
  Vec<T> c[rows][cols][W];
  HWY_UNROLL(8)
  for (int a = 0; a < rows; ++a) {
    HWY_UNROLL(8)
    for (int b = 0; b < cols; ++b) {
      HWY_UNROLL(2)
      for (int w = 0; w < W; ++w) {
        c[a][b][w] = hn::Load(d, x[a] + (j + b) * lanes + w * kLanes<T>);
      }
    }
  }
  std::int64_t k = 0;
  for (; k < ahead.steps; ++k) {
    __builtin_prefetch(ahead.base + ahead.lines[k], 0, 2);
    if (ahead.two) __builtin_prefetch(ahead.base + ahead.lines[ahead.steps + k], 0, 2);
    subtract<T, W, rows, cols>(x, y, k, c);
  }
  for (; k < j; ++k) subtract<T, W, rows, cols>(x, y, k, c);
  HWY_UNROLL(8)
  for (int b = 0; b < cols; ++b) {
    HWY_UNROLL(2)
    for (int w = 0; w < W; ++w) {
      HWY_UNROLL(8)
      for (int q = 0; q < b; ++q) {
        const Vec<T> l = hn::Load(d, y[b] + (j + q) * lanes + w * kLanes<T>);
        HWY_UNROLL(8)
        for (int a = 0; a < rows; ++a) c[a][b][w] = hn::NegMulAdd(c[a][q][w], l, c[a][b][w]);
      }
      const Vec<T> r = hn::Load(d, pack.reciprocals + (j + b) * lanes + w * kLanes<T>);
      HWY_UNROLL(8)
      for (int a = 0; a < rows; ++a) {
        c[a][b][w] = hn::Mul(c[a][b][w], r);
        hn::Store(c[a][b][w], d, const_cast<T*>(x[a]) + (j + b) * lanes + w * kLanes<T>);
      }
    }
  }
}

/// The last rows of the panel, from i to 'end', in one block of at most 'rows' rows.
template <class T, int W, int rows, int cols>
HWY_INLINE void below_rest(const BatchPack<T>& pack, std::int64_t i, std::int64_t end,
                           std::int64_t j) {
  if constexpr (rows > 0) {
    if (end - i == rows) return below<T, W, rows, cols>(pack, i, j, {});
    below_rest<T, W, rows - 1, cols>(pack, i, end, j);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#endif  // STEPWELL_BATCH_BLOCK_INL

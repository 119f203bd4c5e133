// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>

#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/small_update.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/target-inl.hpp"

/// C -= A B' on small plain matrices, without copies of the operands and without a BLAS: OpenBLAS
/// takes a lock in every call, and its calls for 128 x 128 run at three quarters of this speed.
///
/// Register budget: 3 vectors of rows x 8 columns of sums, 3 of a column of A and a factor of B, 28
/// of 32 (AVX-512), or 3 x 4 + 3 + 1 = 16 of 16. Eleven loads feed 24 products: one cache line of B
/// and three of A for each step of depth, which L2 can deliver.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T>
using Vector = hn::Vec<Tag<T>>;

constexpr int kVectors = 3;
constexpr int kColumns = HWY_TARGET == HWY_AVX3 ? 8 : 4;

/// V vectors of rows x Q columns of C.
template <class T>
struct Block {
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  std::int64_t depth;
  T* c;
  std::int64_t ldc;
  std::int64_t rows;  ///< the last vector may reach beyond C
  bool triangle;      ///< the first row is that of the diagonal
  Write write;
};

/// The first 'count' elements; nothing beyond them is read.
template <class T>
HWY_INLINE Vector<T> load_first(const T* from, std::int64_t count) {
  const Tag<T> d;
  if constexpr (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2) {
    return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, from);
  } else {
    HWY_ALIGN T lanes[64 / sizeof(T)] = {};
    std::copy_n(from, count, lanes);
    return hn::Load(d, lanes);
  }
}

/// Writes a block that reaches beyond C or across its diagonal, an element at a time.
template <class T>
void write_part(const Block<T>& block, const T* sums, std::int64_t ld, int columns) {
  for (int q = 0; q < columns; ++q) {
    const T* const sum = sums + q * ld;
    T* const c = block.c + q * block.ldc;
    for (std::int64_t r = block.triangle ? q : 0; r < block.rows; ++r) {
      c[r] = block.write == Write::assign ? sum[r] : c[r] - sum[r];
    }
  }
}

template <class T, int V, int Q>
void update_block(const Block<T>& block) {
  const Tag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t last = block.rows - (V - 1) * lanes;  // rows of the last vector
  const bool whole = last == lanes;
  Vector<T> sum[Q][V];
#pragma GCC unroll 8
  for (int q = 0; q < Q; ++q) {
#pragma GCC unroll 3
    for (int v = 0; v < V; ++v) sum[q][v] = hn::Zero(d);
  }
  const T* a = block.a;
  const T* b = block.b;
  for (std::int64_t k = 0; k < block.depth; ++k, a += block.lda, b += block.ldb) {
    Vector<T> column[V];
#pragma GCC unroll 3
    for (int v = 0; v + 1 < V; ++v) column[v] = hn::LoadU(d, a + v * lanes);
    const T* const end = a + (V - 1) * lanes;
    column[V - 1] = whole ? hn::LoadU(d, end) : load_first<T>(end, last);
#pragma GCC unroll 8
    for (int q = 0; q < Q; ++q) {
      const auto f = hn::Set(d, b[q]);
#pragma GCC unroll 3
      for (int v = 0; v < V; ++v) sum[q][v] = hn::MulAdd(column[v], f, sum[q][v]);
    }
  }
  if (!whole || block.triangle) {
    HWY_ALIGN T sums[Q * V * 64 / sizeof(T)];
#pragma GCC unroll 8
    for (int q = 0; q < Q; ++q) {
#pragma GCC unroll 3
      for (int v = 0; v < V; ++v) hn::Store(sum[q][v], d, sums + (q * V + v) * lanes);
    }
    return write_part<T>(block, sums, V * lanes, Q);
  }
#pragma GCC unroll 8
  for (int q = 0; q < Q; ++q) {
    T* const c = block.c + q * block.ldc;
#pragma GCC unroll 3
    for (int v = 0; v < V; ++v) {
      const auto old = hn::LoadU(d, c + v * lanes);
      hn::StoreU(block.write == Write::assign ? sum[q][v] : hn::Sub(old, sum[q][v]), d,
                 c + v * lanes);
    }
  }
}

/// Q columns of C; a lower update starts at their diagonal.
template <class T, int Q>
void update_columns(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, std::int64_t j,
                    Shape shape, Write write) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag<T>()));
  const bool lower = shape == Shape::lower;
  for (std::int64_t i = lower ? j : 0; i < c.rows;) {
    const std::int64_t vectors =
        std::min<std::int64_t>(kVectors, core::round_up(c.rows - i, lanes) / lanes);
    const Block<T> block{a.data + i,
                         a.ld,
                         b.data + j,
                         b.ld,
                         a.cols,
                         c.column(j) + i,
                         c.ld,
                         std::min(c.rows - i, vectors * lanes),
                         lower && i < j + Q,
                         write};
    if (vectors == 1) update_block<T, 1, Q>(block);
    if (vectors == 2) update_block<T, 2, Q>(block);
    if (vectors == kVectors) update_block<T, kVectors, Q>(block);
    i += vectors * lanes;
  }
}

template <class T>
void update(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, Shape shape,
            Write write) noexcept {
  std::int64_t j = 0;
  for (; j + kColumns <= c.cols; j += kColumns) {
    update_columns<T, kColumns>(a, b, c, j, shape, write);
  }
  for (; j < c.cols; ++j) update_columns<T, 1>(a, b, c, j, shape, write);
}

}  // namespace

void fill_portable_small_update(Table& t) {
  constexpr auto isa = STEPWELL_TARGET_ISA;
  t.small_update_fp32 = {&update<float>, "small_update_fp32_" STEPWELL_TARGET_NAME, isa};
  t.small_update_fp64 = {&update<double>, "small_update_fp64_" STEPWELL_TARGET_NAME, isa};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_small_update)
}  // namespace stepwell::kernels
#endif

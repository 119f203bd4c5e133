// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/product.cpp"
#include <bit>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/blocks-inl.hpp"
#include "kernels/portable/target-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

void product(MatrixView<const double> a, const Products& p) noexcept {
  sweep(a, Sweep<double>{p.x, p.y, p.w, p.z, 1.0});
}

// Order of the triangles on the diagonal; everything below them goes through product().
constexpr std::int64_t kTriangle = 32;

/// y += A x for a small block on the diagonal: once both triangles are filled in, it is a general
/// block.
void triangle(MatrixView<const double> a, MatrixView<const double> x, MatrixView<double> y) {
  alignas(64) double buffer[kTriangle * kTriangle];
  const auto full = view(buffer, a.rows, a.rows);
  for (std::int64_t j = 0; j < a.rows; ++j) {
    for (std::int64_t i = j; i < a.rows; ++i) {
      full(i, j) = full(j, i) = a(i, j);
    }
  }
  sweep(view<const double>(buffer, a.rows, a.rows), Sweep<double>{x, y, {}, {}, 1.0});
}

void symmetric_product(MatrixView<const double> a, MatrixView<const double> x,
                       MatrixView<double> y) noexcept {
  const std::int64_t n = a.rows;
  for (std::int64_t j = 0; j < n; j += kTriangle) {
    const std::int64_t k = std::min(kTriangle, n - j);
    const auto xj = x.block(j, 0, k, x.cols);
    const auto yj = y.block(j, 0, k, y.cols);
    triangle(a.block(j, j, k, k), xj, yj);
    const std::int64_t below = n - j - k;
    if (below > 0) {
      product(a.block(j + k, j, below, k),
              {xj, y.block(j + k, 0, below, y.cols), x.block(j + k, 0, below, x.cols), yj});
    }
  }
}

using D = hn::ScalableTag<double>;
using DU = hn::RebindToUnsigned<D>;
using Vec = hn::Vec<D>;
using Bits = hn::Vec<DU>;

constexpr std::int64_t N = hn::MaxLanes(D());
// Vectors of a split product that are multiplied with A together, and the number of SIMD vectors of
// rows, or of columns, of A at a time. Register budget: of 32 registers, 4 x 2 x 2 for sums; of 16,
// half as many. For one vector: 4 x 2.
constexpr int kTogether = 4;
constexpr int kAtOnce = HWY_TARGET == HWY_AVX3 ? 2 : 1;
constexpr int kAtOnceAlone = 4;
// From this many vectors on, A is split into buffers of 32 KiB.
constexpr std::int64_t kMany = 16;
constexpr std::int64_t kPartRows = 256;
constexpr std::int64_t kPartColumns = 16;

/// The leading digits of a, and the rest.
struct Split {
  Vec head, rest;
  HWY_INLINE Split(Vec a, Vec shift)
      : head(hn::Sub(hn::Add(a, shift), shift)), rest(hn::Sub(a, head)) {}
};

/// Computes head and rest of a block. Returns its checksum.
template <bool kOfRows>
HWY_INLINE std::uint64_t split_part(MatrixView<const double> a, const double* shift,
                                    MatrixView<double> head, MatrixView<double> rest) {
  const D d;
  Bits bits = hn::Zero(DU());
  std::uint64_t checksum = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    std::int64_t i = 0;
    for (; i + N <= a.rows; i += N) {
      const Vec as = hn::LoadU(d, a.column(j) + i);
      bits = hn::Add(bits, hn::BitCast(DU(), as));
      const Split s(as, kOfRows ? hn::LoadU(d, shift + i) : hn::Set(d, shift[j]));
      hn::StoreU(s.head, d, head.column(j) + i);
      hn::StoreU(s.rest, d, rest.column(j) + i);
    }
    for (; i < a.rows; ++i) {
      const double by = shift[kOfRows ? i : j];
      checksum += std::bit_cast<std::uint64_t>(a(i, j));
      head(i, j) = (a(i, j) + by) - by;
      rest(i, j) = a(i, j) - head(i, j);
    }
  }
  return checksum + sum_of_lanes(DU(), bits);
}

/// y for V SIMD vectors of rows from row i on, and for the vectors [c, c + R).
template <int V, int R, bool kOfRows>
HWY_INLINE Bits split_rows(MatrixView<const double> a, std::int64_t i, const SplitProducts& p,
                           std::int64_t c) {
  const D d;
  Bits bits = hn::Zero(DU());
  Vec high[V][R], low[V][R], shift[V];
  const double *head[R], *rest[R], *whole[R];
  HWY_UNROLL(4)
  for (int r = 0; r < R; ++r) {
    head[r] = p.x.head.column(c + r);
    rest[r] = p.x.rest.column(c + r);
    whole[r] = p.x.whole.column(c + r);
    HWY_UNROLL(4)
    for (int v = 0; v < V; ++v) {
      high[v][r] = hn::LoadU(d, p.y.column(c + r) + i + v * N);
      low[v][r] = hn::LoadU(d, p.y_low.column(c + r) + i + v * N);
    }
  }
  HWY_UNROLL(4)
  for (int v = 0; v < V; ++v) shift[v] = kOfRows ? hn::LoadU(d, p.shift + i + v * N) : hn::Zero(d);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const double* const column = a.column(j) + i;
    HWY_UNROLL(4)
    for (int v = 0; v < V; ++v) {
      const Vec as = hn::LoadU(d, column + v * N);
      bits = hn::Add(bits, hn::BitCast(DU(), as));
      const Split s(as, kOfRows ? shift[v] : hn::Set(d, p.shift[j]));
      HWY_UNROLL(4)
      for (int r = 0; r < R; ++r) {
        high[v][r] = hn::MulAdd(s.head, hn::Set(d, head[r][j]), high[v][r]);
        low[v][r] = hn::MulAdd(s.head, hn::Set(d, rest[r][j]), low[v][r]);
        low[v][r] = hn::MulAdd(s.rest, hn::Set(d, whole[r][j]), low[v][r]);
      }
    }
  }
  HWY_UNROLL(4)
  for (int r = 0; r < R; ++r) {
    HWY_UNROLL(4)
    for (int v = 0; v < V; ++v) {
      hn::StoreU(high[v][r], d, p.y.column(c + r) + i + v * N);
      hn::StoreU(low[v][r], d, p.y_low.column(c + r) + i + v * N);
    }
  }
  return bits;
}

/// z for C columns from column j on, and for the vectors [c, c + R); only whole SIMD vectors of
/// rows.
template <int C, int R, bool kOfRows>
HWY_INLINE Bits split_columns(MatrixView<const double> a, std::int64_t j, const SplitProducts& p,
                              std::int64_t c) {
  const D d;
  Bits bits = hn::Zero(DU());
  Vec high[C][R], low[C][R];
  const double *head[R], *rest[R], *whole[R], *column[C];
  HWY_UNROLL(4)
  for (int r = 0; r < R; ++r) {
    head[r] = p.w.head.column(c + r);
    rest[r] = p.w.rest.column(c + r);
    whole[r] = p.w.whole.column(c + r);
  }
  HWY_UNROLL(4)
  for (int k = 0; k < C; ++k) {
    column[k] = a.column(j + k);
    HWY_UNROLL(4)
    for (int r = 0; r < R; ++r) high[k][r] = low[k][r] = hn::Zero(d);
  }
  for (std::int64_t i = 0; i + N <= a.rows; i += N) {
    HWY_UNROLL(4)
    for (int k = 0; k < C; ++k) {
      const Vec as = hn::LoadU(d, column[k] + i);
      bits = hn::Add(bits, hn::BitCast(DU(), as));
      const Split s(as, kOfRows ? hn::LoadU(d, p.shift + i) : hn::Set(d, p.shift[j + k]));
      HWY_UNROLL(4)
      for (int r = 0; r < R; ++r) {
        high[k][r] = hn::MulAdd(s.head, hn::LoadU(d, head[r] + i), high[k][r]);
        low[k][r] = hn::MulAdd(s.head, hn::LoadU(d, rest[r] + i), low[k][r]);
        low[k][r] = hn::MulAdd(s.rest, hn::LoadU(d, whole[r] + i), low[k][r]);
      }
    }
  }
  HWY_UNROLL(4)
  for (int k = 0; k < C; ++k) {
    HWY_UNROLL(4)
    for (int r = 0; r < R; ++r) {
      p.z(j + k, c + r) += hn::GetLane(hn::SumOfLanes(d, high[k][r]));
      p.z_low(j + k, c + r) += hn::GetLane(hn::SumOfLanes(d, low[k][r]));
    }
  }
  return bits;
}

/// The rows beyond the last whole SIMD vector. Returns their checksum.
HWY_NOINLINE std::uint64_t split_last_rows(MatrixView<const double> a, const SplitProducts& p) {
  std::uint64_t checksum = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = a.rows / N * N; i < a.rows; ++i) {
      const double as = a(i, j), shift = p.shift[p.shift_of_rows ? i : j];
      const double head = (as + shift) - shift, rest = as - head;
      checksum += std::bit_cast<std::uint64_t>(as);
      for (std::int64_t c = 0; c < p.y.cols; ++c) {
        p.y(i, c) += head * p.x.head(j, c);
        p.y_low(i, c) += head * p.x.rest(j, c) + rest * p.x.whole(j, c);
      }
      for (std::int64_t c = 0; c < p.z.cols; ++c) {
        p.z(j, c) += head * p.w.head(i, c);
        p.z_low(j, c) += head * p.w.rest(i, c) + rest * p.w.whole(i, c);
      }
    }
  }
  return checksum;
}

template <int kWide, int R, bool kOfRows>
HWY_NOINLINE Bits split_some(MatrixView<const double> a, const SplitProducts& p, std::int64_t c) {
  Bits bits = hn::Zero(DU());
  std::int64_t k = 0;
  if (p.y.data != nullptr) {
    for (; k + kWide * N <= a.rows; k += kWide * N) {
      bits = hn::Add(bits, split_rows<kWide, R, kOfRows>(a, k, p, c));
    }
    for (; k + N <= a.rows; k += N) bits = hn::Add(bits, split_rows<1, R, kOfRows>(a, k, p, c));
  } else {
    for (; k + kWide <= a.cols; k += kWide) {
      bits = hn::Add(bits, split_columns<kWide, R, kOfRows>(a, k, p, c));
    }
    for (; k < a.cols; ++k) bits = hn::Add(bits, split_columns<1, R, kOfRows>(a, k, p, c));
  }
  return bits;
}

/// Many vectors: A is split once, part by part into buffers, and each part is multiplied as a
/// general block.
template <bool kOfRows>
HWY_NOINLINE std::uint64_t split_many(MatrixView<const double> a, const SplitProducts& p) {
  alignas(64) double heads[kPartRows * kPartColumns], rests[kPartRows * kPartColumns];
  std::uint64_t checksum = 0;
  for (std::int64_t j = 0; j < a.cols; j += kPartColumns) {
    for (std::int64_t i = 0; i < a.rows; i += kPartRows) {
      const std::int64_t m = std::min(kPartRows, a.rows - i),
                         n = std::min(kPartColumns, a.cols - j);
      const auto head = view(heads, m, n), rest = view(rests, m, n);
      checksum += split_part<kOfRows>(a.block(i, j, m, n), p.shift + (kOfRows ? i : j), head, rest);
      const auto add = [&](MatrixView<const double> of, MatrixView<const double> x,
                           MatrixView<double> y, MatrixView<const double> w, MatrixView<double> z) {
        sweep(of, Sweep<double>{x, y, w, z, 1.0}.block(i, m, j, n, 0,
                                                       p.y.data != nullptr ? y.cols : z.cols));
      };
      add(head, p.x.head, p.y, p.w.head, p.z);
      add(head, p.x.rest, p.y_low, p.w.rest, p.z_low);
      add(rest, p.x.whole, p.y_low, p.w.whole, p.z_low);
    }
  }
  return checksum;
}

template <bool kOfRows>
Bits split_all(MatrixView<const double> a, const SplitProducts& p) {
  const std::int64_t vectors = p.y.data != nullptr ? p.y.cols : p.z.cols;
  Bits bits = hn::Zero(DU());
  std::int64_t c = 0;
  for (; c + kTogether <= vectors; c += kTogether) {
    bits = split_some<kAtOnce, kTogether, kOfRows>(a, p, c);
  }
  for (; c < vectors; ++c) bits = split_some<kAtOnceAlone, 1, kOfRows>(a, p, c);
  return bits;
}

std::uint64_t split_product(MatrixView<const double> a, const SplitProducts& p) noexcept {
  if (std::max(p.y.cols, p.z.cols) >= kMany) {
    return p.shift_of_rows ? split_many<true>(a, p) : split_many<false>(a, p);
  }
  const Bits bits = p.shift_of_rows ? split_all<true>(a, p) : split_all<false>(a, p);
  return sum_of_lanes(DU(), bits) + split_last_rows(a, p);
}

}  // namespace

void fill_portable_product(Table& t) {
  t.product = {&product, "product_" STEPWELL_TARGET_NAME, STEPWELL_TARGET_ISA};
  t.symmetric_product = {&symmetric_product, "symmetric_product_" STEPWELL_TARGET_NAME,
                         STEPWELL_TARGET_ISA};
  t.split_product = {&split_product, "split_product_" STEPWELL_TARGET_NAME, STEPWELL_TARGET_ISA};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_product)
}  // namespace stepwell::kernels
#endif

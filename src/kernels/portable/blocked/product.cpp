// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/blocked/product.cpp"
#include <bit>
#include <utility>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/blocked/rows-inl.hpp"
#include "kernels/portable/columns-inl.hpp"
#include "kernels/portable/target-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Columns of a group for one vector. Register budget: of 32 registers, 8 for the chains of z and 8
// for their sums; of 16, half as many.
constexpr int kAlone = HWY_TARGET == HWY_AVX3 ? 8 : 4;
// Levels of partial sums of y, each waiting for another sum of its size: a binary counter over the
// groups.
constexpr int kLevels = std::bit_width(static_cast<unsigned>(kBlockedColumns / kChain)) - 1;

/// Pointers to C columns of A, of which the last may be missing, and the columns to prefetch.
template <int C>
struct Group {
  const double* column[C];
  std::int64_t columns;
  const double* next;  ///< null: nothing to prefetch
  std::int64_t ld;
};

template <int C>
Group<C> group_of(MatrixView<const double> a, std::int64_t first) {
  Group<C> g{{}, std::min<std::int64_t>(C, a.cols - first), nullptr, a.ld};
  for (int c = 0; c < C; ++c) g.column[c] = c < g.columns ? a.column(first + c) : kZeros;
  if (first + 2 * C <= a.cols) g.next = a.column(first + C);
  return g;
}

/// The partial sums that are added to a group's sum of y, in this order, and where the result goes.
struct Carry {
  const double* from[kLevels + 1];
  int count = 0;
  double* to = nullptr;

  Carry() = default;
  /// For group g of 'groups'; waiting partial sums are in part[level * kBlockedRows].
  Carry(double* part, double* y, std::int64_t g, std::int64_t groups) {
    const auto bits = static_cast<unsigned>(g);
    const int merged = std::countr_one(bits);
    for (int k = 0; k < merged; ++k) from[count++] = part + k * kBlockedRows;
    to = part + merged * kBlockedRows;
    if (g + 1 < groups) return;
    for (int k = merged; k < kLevels; ++k) {
      if ((bits >> k & 1) != 0) from[count++] = part + k * kBlockedRows;
    }
    from[count++] = y;
    to = y;
  }
};

/// Operands for R vectors: x for the columns of a group, w for the rows, and the destination of y.
template <int C, int R>
struct Vectors {
  double x[C * R];
  const double* w[R];
  Carry carry[R];
};

/// Processes 'steps' whole SIMD vectors of rows. Writes z[r * C + c], the sums over the rows; z has
/// room for N more elements. Returns the bits of A, summed lane by lane.
template <int C, int R, bool Y, bool Z>
HWY_INLINE Bits run_rows(const Group<C>& g, std::int64_t steps, const Vectors<C, R>& v, double* z) {
  constexpr int K = C * R;
  constexpr std::int64_t kLong = kChain * kChain;  // steps after which a sum is stored in 'aside'
  const D d;
  Bits bits = hn::Zero(DU());
  Vec chain[K], sum[K];
  alignas(64) double aside[kBlockedRows / kLong / N + 1][K][N];
  int done = 0;
  HWY_UNROLL(16)
  for (int k = 0; k < K; ++k) chain[k] = sum[k] = hn::Zero(d);
  for (std::int64_t s = 0; s < steps; ++s) {
    const std::int64_t i = s * N;
    Vec ys[R][2], ws[R];
    HWY_UNROLL(4)
    for (int r = 0; r < R; ++r) {
      ys[r][0] = ys[r][1] = hn::Zero(d);
      ws[r] = Z ? hn::LoadU(d, v.w[r] + i) : hn::Zero(d);
    }
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) {
      const Vec as = hn::LoadU(d, g.column[c] + i);
      if (g.next != nullptr) __builtin_prefetch(g.next + c * g.ld + i, 0, 3);
      bits = hn::Add(bits, hn::BitCast(DU(), as));
      HWY_UNROLL(4)
      for (int r = 0; r < R; ++r) {
        if constexpr (Y) {
          ys[r][c / kChain] = hn::MulAdd(as, hn::Set(d, v.x[r * C + c]), ys[r][c / kChain]);
        }
        if constexpr (Z) chain[r * C + c] = hn::MulAdd(as, ws[r], chain[r * C + c]);
      }
    }
    if constexpr (Y) {
      HWY_UNROLL(4)
      for (int r = 0; r < R; ++r) {
        Vec y = C > kChain ? hn::Add(ys[r][0], ys[r][1]) : ys[r][0];
        for (int k = 0; k < v.carry[r].count; ++k) {
          y = hn::Add(y, hn::LoadU(d, v.carry[r].from[k] + i));
        }
        hn::StoreU(y, d, v.carry[r].to + i);
      }
    }
    if (!Z || s % kChain != kChain - 1) continue;
    HWY_UNROLL(16)
    for (int k = 0; k < K; ++k) {
      sum[k] = hn::Add(sum[k], chain[k]);
      chain[k] = hn::Zero(d);
    }
    if (s % kLong != kLong - 1) continue;
    HWY_UNROLL(16)
    for (int k = 0; k < K; ++k) {
      hn::StoreU(sum[k], d, aside[done][k]);
      sum[k] = hn::Zero(d);
    }
    ++done;
  }
  if constexpr (Z) {
    HWY_UNROLL(16)
    for (int k = 0; k < K; ++k) hn::StoreU(hn::Add(sum[k], chain[k]), d, aside[done][k]);
    for (int step = 1; step <= done; step *= 2) {
      for (int m = 0; m + step <= done; m += 2 * step) {
        for (int k = 0; k < K; ++k) {
          const Vec pair = hn::Add(hn::Load(d, aside[m][k]), hn::Load(d, aside[m + step][k]));
          hn::Store(pair, d, aside[m][k]);
        }
      }
    }
    HWY_UNROLL(16)
    for (int k = 0; k < K; ++k) sum[k] = hn::Load(d, aside[0][k]);
    sums_of_lanes<K>(d, sum, z);
  }
  return bits;
}

/// The rows beyond the last whole SIMD vector, through buffers padded with zeros.
template <int C, int R, bool Y, bool Z>
HWY_NOINLINE Bits run_last_rows(Group<C> g, std::int64_t i, std::int64_t rows, Vectors<C, R> v,
                                double* z) {
  alignas(64) double a[C][N] = {}, w[R][N] = {}, carried[R][kLevels + 1][N] = {}, out[R][N];
  double* to[R];
  for (int c = 0; c < C; ++c) {
    std::copy_n(g.column[c] + i, rows, a[c]);
    g.column[c] = a[c];
  }
  g.next = nullptr;
  for (int r = 0; r < R; ++r) {
    if constexpr (Z) std::copy_n(v.w[r] + i, rows, w[r]);
    v.w[r] = w[r];
    if constexpr (!Y) continue;
    for (int k = 0; k < v.carry[r].count; ++k) {
      std::copy_n(v.carry[r].from[k] + i, rows, carried[r][k]);
      v.carry[r].from[k] = carried[r][k];
    }
    to[r] = std::exchange(v.carry[r].to, out[r]) + i;
  }
  const Bits bits = run_rows<C, R, Y, Z>(g, 1, v, z);
  for (int r = 0; Y && r < R; ++r) std::copy_n(out[r], rows, to[r]);
  return bits;
}

/// Multiplies a block by one vector. Returns the bits of A, summed lane by lane.
template <int C, bool Y, bool Z>
HWY_NOINLINE Bits run_alone(MatrixView<const double> a, const Sweep<double>& s) {
  alignas(64) double part[kLevels * kBlockedRows];
  Bits bits = hn::Zero(DU());
  const std::int64_t groups = (a.cols + C - 1) / C;
  const std::int64_t steps = a.rows / N, left = a.rows % N;
  for (std::int64_t k = 0; k < groups; ++k) {
    const Group<C> g = group_of<C>(a, k * C);
    Vectors<C, 1> v;
    for (int c = 0; c < C; ++c) v.x[c] = Y && c < g.columns ? s.x(k * C + c, 0) : 0.0;
    v.w[0] = Z ? s.w.column(0) : nullptr;
    if constexpr (Y) v.carry[0] = Carry(part, s.y.column(0), k, groups);
    double sums[C + N], more[C + N] = {};
    bits = hn::Add(bits, run_rows<C, 1, Y, Z>(g, steps, v, sums));
    if (left > 0) {
      bits = hn::Add(bits, run_last_rows<C, 1, Y, Z>(g, steps * N, left, v, more));
    }
    for (std::int64_t c = 0; Z && c < g.columns; ++c) s.z(k * C + c, 0) += sums[c] + more[c];
  }
  return bits;
}

/// z for R vectors and the columns from j on.
template <int R>
HWY_NOINLINE void chain_of_z(const Block& block, std::int64_t j, MatrixView<const double> w,
                             MatrixView<double> z) {
  const auto a = view(block.a + j * Block::kLd, w.rows, z.rows, Block::kLd);
  const Group<kChain> g = group_of<kChain>(a, 0);
  Vectors<kChain, R> v;
  for (int r = 0; r < R; ++r) v.w[r] = w.column(r);
  double sums[kChain * R + N], more[kChain * R + N] = {};
  run_rows<kChain, R, false, true>(g, w.rows / N, v, sums);
  if (const std::int64_t left = w.rows % N; left > 0) {
    run_last_rows<kChain, R, false, true>(g, w.rows - left, left, v, more);
  }
  for (std::int64_t r = 0; r < R; ++r) {
    for (std::int64_t c = 0; c < g.columns; ++c) {
      z(c, r) += sums[r * kChain + c] + more[r * kChain + c];
    }
  }
}

/// z of a block for several vectors, a multiple of kTogether.
HWY_NOINLINE void columns_together(const Block& block, const Sweep<double>& s, std::int64_t columns,
                                   std::int64_t vectors) {
  constexpr int R = kTogether;
  for (std::int64_t j = 0; j < columns; j += kChain) {
    for (std::int64_t c = 0; c < vectors; c += R) {
      chain_of_z<R>(block, j, s.w.block(0, c, s.w.rows, R),
                    s.z.block(j, c, std::min<std::int64_t>(kChain, columns - j), R));
    }
  }
}

template <bool Y, bool Z>
Bits run(MatrixView<const double> a, const Sweep<double>& s, std::int64_t vectors) {
  const auto some = [&](std::int64_t c, std::int64_t r) {
    return s.block(0, a.rows, 0, a.cols, c, r);
  };
  const std::int64_t together = vectors / kTogether * kTogether;
  Bits bits = hn::Zero(DU());
  if (together > 0) {
    Block block;
    bits = block.take(a);
    if constexpr (Y) rows_together(block, some(0, together), together);
    if constexpr (Z) columns_together(block, some(0, together), a.cols, together);
  }
  for (std::int64_t c = together; c < vectors; ++c) bits = run_alone<kAlone, Y, Z>(a, some(c, 1));
  return bits;
}

std::uint64_t blocked_product(MatrixView<const double> a, const Products& p) noexcept {
  const Sweep<double> s{p.x, p.y, p.w, p.z, 1.0};
  const bool y = p.y.data != nullptr, z = p.z.data != nullptr;
  const std::int64_t vectors = y ? p.y.cols : z ? p.z.cols : 0;
  const Bits bits = y && z ? run<true, true>(a, s, vectors)
                    : y    ? run<true, false>(a, s, vectors)
                           : run<false, true>(a, s, vectors);
  return sum_of_lanes(DU(), bits);
}

}  // namespace

void fill_portable_blocked(Table& t) {
  t.blocked_product = {&blocked_product, "blocked_product_" STEPWELL_TARGET_NAME,
                       STEPWELL_TARGET_ISA};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_blocked)
}  // namespace stepwell::kernels
#endif

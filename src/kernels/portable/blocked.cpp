// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/blocked.cpp"
#include <bit>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/columns-inl.hpp"
#include "kernels/portable/target-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using Vec = hn::Vec<D>;
using Bits = hn::Vec<hn::RebindToUnsigned<D>>;

constexpr std::int64_t N = hn::MaxLanes(D());
// A chain of so many products is summed one after the other; chains are added in pairs.
constexpr int kChain = 4;
// SIMD vectors of rows that make one partial sum of z: kChain chains.
constexpr std::int64_t kSteps = kChain * kChain;
// Columns of a group: for one vector z takes 8 sums and 8 partial sums of 32 registers; two vectors
// take half the columns, and so do 16 registers.
constexpr int kWide = HWY_TARGET == HWY_AVX3 ? 8 : 4;
constexpr int kNarrow = kWide / 2;
// Partial sums of y that wait for one of their size: a binary counter over the groups.
constexpr int kLevels = std::bit_width(static_cast<unsigned>(kBlockedColumns / kNarrow)) + 1;

/// Columns that a last group lacks.
alignas(64) constexpr double kZeros[kBlockedRows] = {};

/// C columns of A as pointers, and what comes after them.
template <int C>
struct Group {
  const double* column[C];
  std::int64_t columns;
  const double* next;  ///< null: nothing
  std::int64_t ld;
};

template <int C>
Group<C> group_of(MatrixView<const double> a, std::int64_t first) {
  Group<C> g{{}, std::min<std::int64_t>(C, a.cols - first), nullptr, a.ld};
  for (int c = 0; c < C; ++c) g.column[c] = c < g.columns ? a.column(first + c) : kZeros;
  if (first + 2 * C <= a.cols) g.next = a.column(first + C);
  return g;
}

/// What is added to a leaf of y, in this order, and where the sum goes.
struct Carry {
  const double* from[kLevels + 1];
  int count = 0;
  double* to = nullptr;

  /// Of group g of 'groups' with its waiting sums in part[level * kBlockedRows].
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

/// The sums of z for C x R pairs: chains in registers, their sums in 'part', and those of kSteps
/// steps in memory until the end.
template <int K>
struct Dots {
  Vec chain[K], part[K];
  double done[kBlockedRows / kSteps / N + 1][K][N];
  int count = 0;

  HWY_INLINE Dots() {
    HWY_UNROLL(8)
    for (int k = 0; k < K; ++k) chain[k] = part[k] = hn::Zero(D());
  }
  /// After step s.
  HWY_INLINE void carry(std::int64_t s) {
    if (s % kChain != kChain - 1) return;
    HWY_UNROLL(8)
    for (int k = 0; k < K; ++k) {
      part[k] = hn::Add(part[k], chain[k]);
      chain[k] = hn::Zero(D());
    }
    if (s % kSteps == kSteps - 1) flush();
  }
  HWY_INLINE void flush() {
    const D d;
    HWY_UNROLL(8)
    for (int k = 0; k < K; ++k) {
      hn::StoreU(part[k], d, done[count][k]);
      part[k] = hn::Zero(d);
    }
    ++count;
  }
  /// The sums, in pairs; out has room for K + N.
  HWY_INLINE void total(double* out) {
    const D d;
    for (int k = 0; k < K; ++k) part[k] = hn::Add(part[k], chain[k]);
    flush();
    for (int step = 1; step < count; step *= 2) {
      for (int m = 0; m + step < count; m += 2 * step) {
        for (int k = 0; k < K; ++k) {
          const Vec sum = hn::Add(hn::LoadU(d, done[m][k]), hn::LoadU(d, done[m + step][k]));
          hn::StoreU(sum, d, done[m][k]);
        }
      }
    }
    for (int k = 0; k < K; ++k) part[k] = hn::LoadU(d, done[0][k]);
    sums_of_lanes<K>(d, part, out);
  }
};

/// What one group of columns does for R vectors.
template <int C, int R, bool Y, bool Z>
struct GroupSums {
  const Group<C>& g;
  const Carry* carry;  ///< R of them
  const double* w[R];  ///< of z
  double x[C * R];
  Bits bits;
  Dots<C * R> dots;

  /// One SIMD vector of rows: its elements of A are a(c), of w, of what is carried and of y's sum
  /// those at row i.
  template <class LoadA>
  HWY_INLINE void step(std::int64_t s, std::int64_t i, LoadA a) {
    const D d;
    const hn::RebindToUnsigned<D> du;
    Vec chain[R][2], ws[R];
    HWY_UNROLL(2)
    for (int v = 0; v < R; ++v) {
      chain[v][0] = chain[v][1] = hn::Zero(d);
      ws[v] = Z ? hn::LoadU(d, w[v] + i) : hn::Zero(d);
    }
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) {
      const Vec as = a(c);
      bits = hn::Add(bits, hn::BitCast(du, as));
      HWY_UNROLL(2)
      for (int v = 0; v < R; ++v) {
        Vec& sum = chain[v][c / kChain % 2];
        if constexpr (Y) sum = hn::MulAdd(as, hn::Set(d, x[v * C + c]), sum);
        Vec& dot = dots.chain[v * C + c];
        if constexpr (Z) dot = hn::MulAdd(as, ws[v], dot);
      }
    }
    if constexpr (Y) {
      HWY_UNROLL(2)
      for (int v = 0; v < R; ++v) {
        Vec sum = C > kChain ? hn::Add(chain[v][0], chain[v][1]) : chain[v][0];
        for (int k = 0; k < carry[v].count; ++k) {
          sum = hn::Add(sum, hn::LoadU(d, carry[v].from[k] + i));
        }
        hn::StoreU(sum, d, carry[v].to + i);
      }
    }
    if constexpr (Z) dots.carry(s);
  }
};

/// A group and all rows; those beyond the last whole SIMD vector go through buffers.
template <int C, int R, bool Y, bool Z>
HWY_NOINLINE Bits run_group(const Group<C>& g, std::int64_t rows, const Sweep<double>& s,
                            std::int64_t first, const Carry* carry) {
  const D d;
  GroupSums<C, R, Y, Z> sums{g, carry, {}, {}, hn::Zero(hn::RebindToUnsigned<D>()), {}};
  for (int v = 0; v < R; ++v) {
    if constexpr (Z) sums.w[v] = s.w.column(v);
    for (int c = 0; c < C; ++c) {
      sums.x[v * C + c] = Y && c < g.columns ? s.x(first + c, v) : 0.0;
    }
  }
  std::int64_t i = 0, step = 0;
  for (; i + N <= rows; i += N, ++step) {
    sums.step(step, i, [&](int c) {
      if (g.next != nullptr) __builtin_prefetch(g.next + c * g.ld + i, 0, 3);
      return hn::LoadU(d, g.column[c] + i);
    });
  }
  if (i < rows) {
    const std::int64_t left = rows - i;
    double a[C][N] = {}, ws[R][N] = {}, carried[R][kLevels + 1][N] = {}, out[R][N];
    Carry last[] = {carry[0], carry[R - 1]};
    for (int c = 0; c < C; ++c) std::copy_n(g.column[c] + i, left, a[c]);
    for (int v = 0; v < R; ++v) {
      if constexpr (Z) std::copy_n(s.w.column(v) + i, left, ws[v]);
      sums.w[v] = ws[v];
      for (int k = 0; Y && k < carry[v].count; ++k) {
        std::copy_n(carry[v].from[k] + i, left, carried[v][k]);
        last[v].from[k] = carried[v][k];
      }
      last[v].to = out[v];
    }
    sums.carry = last;
    sums.step(step, 0, [&](int c) { return hn::LoadU(d, a[c]); });
    for (int v = 0; Y && v < R; ++v) std::copy_n(out[v], left, carry[v].to + i);
  }
  if constexpr (Z) {
    double z[C * R + N];
    sums.dots.total(z);
    for (int v = 0; v < R; ++v) {
      for (std::int64_t c = 0; c < g.columns; ++c) s.z(first + c, v) += z[v * C + c];
    }
  }
  return sums.bits;
}

/// A block and R vectors. Returns the sum of A's bits.
template <int C, int R, bool Y, bool Z>
Bits run_block(MatrixView<const double> a, const Sweep<double>& s) {
  alignas(64) double part[R][kLevels * kBlockedRows];
  Bits bits = hn::Zero(hn::RebindToUnsigned<D>());
  const std::int64_t groups = (a.cols + C - 1) / C;
  for (std::int64_t k = 0; k < groups; ++k) {
    const auto carry = [&](int v) {
      return Carry(part[v], Y ? s.y.column(v) : nullptr, k, groups);
    };
    const Carry carries[] = {carry(0), carry(R - 1)};
    const Group<C> g = group_of<C>(a, k * C);
    bits = hn::Add(bits, run_group<C, R, Y, Z>(g, a.rows, s, k * C, carries));
  }
  return bits;
}

template <bool Y, bool Z>
Bits run(MatrixView<const double> a, const Sweep<double>& s, std::int64_t vectors) {
  const auto some = [&](std::int64_t c, std::int64_t r) {
    return s.block(0, a.rows, 0, a.cols, c, r);
  };
  Bits bits = hn::Zero(hn::RebindToUnsigned<D>());
  std::int64_t c = 0;
  for (; c + 2 <= vectors; c += 2) bits = run_block<kNarrow, 2, Y, Z>(a, some(c, 2));
  if (c < vectors) bits = run_block<kWide, 1, Y, Z>(a, some(c, 1));
  return bits;
}

std::uint64_t blocked_product(MatrixView<const double> a, const Products& p) noexcept {
  const Sweep<double> s{p.x, p.y, p.w, p.z, 1.0};
  const bool y = p.y.data != nullptr, z = p.z.data != nullptr;
  const std::int64_t vectors = y ? p.y.cols : z ? p.z.cols : 0;
  const Bits bits = y && z ? run<true, true>(a, s, vectors)
                    : y    ? run<true, false>(a, s, vectors)
                           : run<false, true>(a, s, vectors);
  HWY_ALIGN std::uint64_t lanes[N];
  hn::StoreU(bits, hn::RebindToUnsigned<D>(), lanes);
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : lanes) sum += lane;
  return sum;
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

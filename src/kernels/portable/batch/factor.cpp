// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/batch/factor.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/batch/block-inl.hpp"
#include "kernels/portable/target-inl.hpp"

/// Cholesky of a pack: left-looking by panels, right-looking inside a panel (Kurzak et al.,
/// Algorithm 4 and figure 7). Vectors run across the systems, so that lanes are independent.
///
/// Register budget: a block of rows x cols x vectors sums, the operands of its shorter side and one
/// more operand; 24 sums of 32 registers, or 9 to 12 of 16. If the block's columns do not divide n,
/// the narrower panel comes first, where there is nothing to its left.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

/// Prefetches the matrices of the next pack, one or two cache lines with each step of a sum, so
/// that memory traffic and arithmetic overlap. Bursts of prefetches would fill the buffers that the
/// pack itself needs on its way from L2; single prefetches also trigger the hardware prefetcher,
/// which has more buffers.
template <class T>
class Fetch {
 public:
  explicit Fetch(const BatchNext<T>& next) : next_(next) {}

  /// The cache lines to prefetch during a sum of 'steps' steps.
  HWY_INLINE Ahead<T> take(std::int64_t steps) {
    if (system_ == next_.systems) return {};
    const std::int64_t lines = std::min(steps * next_.each_step, next_.count - line_);
    const bool two = next_.each_step == 2;
    const Ahead<T> ahead{next_.at[system_], next_.lines + line_, two ? (lines + 1) / 2 : lines,
                         two};
    line_ += lines;
    if (line_ == next_.count) {
      line_ = 0;
      ++system_;
    }
    return ahead;
  }

 private:
  const BatchNext<T>& next_;
  std::int64_t system_ = 0;
  std::int64_t line_ = 0;
};

/// 1 / sqrt(p) to a few units in the last place.
HWY_INLINE Vec<float> approximate_root(Tag<float> d, Vec<float> p) {
  const Vec<float> r = hn::ApproximateReciprocalSqrt(p);
  const Vec<float> e = hn::NegMulAdd(hn::Mul(p, r), r, hn::Set(d, 1.0f));  // 1 - p r^2
  return hn::MulAdd(hn::Mul(r, hn::Set(d, 0.5f)), e, r);
}
HWY_INLINE Vec<double> approximate_root(Tag<double> d, Vec<double> p) {
#if HWY_TARGET == HWY_AVX3
  Vec<double> r{_mm512_rsqrt14_pd(p.raw)};
  for (int step = 0; step < 2; ++step) {
    const Vec<double> e = hn::NegMulAdd(hn::Mul(p, r), r, hn::Set(d, 1.0));
    r = hn::MulAdd(hn::Mul(r, hn::Set(d, 0.5)), e, r);
  }
  return r;
#else
  return hn::Div(hn::Set(d, 1.0), hn::Sqrt(p));
#endif
}

/// The square root of a pivot and its reciprocal, for all systems.
template <class T>
struct Root {
  Vec<T> root;
  Vec<T> reciprocal;
};

template <class T, int W>
class Factorization {
 public:
  Factorization(BatchPack<T> pack, const BatchFactorOptions<T>& options, std::int32_t* pivots)
      : pack_(pack), options_(options), pivots_(pivots) {}

  template <int rows, int cols>
  HWY_INLINE void run() {
    constexpr int part = cols > kMostDiagonal ? cols / 2 : cols;
    Fetch<T> fetch(options_.next);
    std::int64_t j = pack_.n % part;
    first_columns(j);
    if constexpr (part < cols) {
      if (pack_.n % cols >= part) {
        panel<part, part>(j, fetch);
        j += part;
      }
    }
    for (; j < pack_.n; j += cols) panel<rows, cols>(j, fetch);
  }

 private:
  static constexpr std::int64_t lanes = W * kLanes<T>;

  /// Most columns of a diagonal block whose sums fit in the registers.
  static constexpr int kMostDiagonal = 6;

  /// Columns [j, j + cols), all rows.
  template <int rows, int cols>
  HWY_INLINE void panel(std::int64_t j, Fetch<T>& fetch) {
    if constexpr (cols > kMostDiagonal) {
      constexpr int part = cols / 2;
      diagonal<part>(j);
      below<T, W, part, part>(pack_, j + part, j, {});
      diagonal<part>(j + part);
    } else {
      diagonal<cols>(j);
    }
    const std::int64_t end = pack_.n + pack_.rhs;
    std::int64_t i = j + cols;
    for (; i + rows <= end; i += rows) below<T, W, rows, cols>(pack_, i, j, fetch.take(j));
    below_rest<T, W, rows - 1, cols>(pack_, i, end, j);
  }

  HWY_INLINE T* row(std::int64_t i) const { return pack_.data + pack_.before(i, pack_.n) * lanes; }

  HWY_INLINE Root<T> root_of(Vec<T> p, std::int64_t j, int w) {
    const Tag<T> d;
    const auto good =
        hn::And(hn::Gt(p, hn::Zero(d)), hn::Lt(p, hn::Set(d, std::numeric_limits<T>::infinity())));
    if (!hn::AllTrue(d, good)) {
      flag(hn::IfThenElseZero(good, hn::Set(d, T{1})), j, w);
      p = hn::IfThenElse(good, p, hn::Set(d, T{1}));
    }
    if (options_.fast) {
      const Vec<T> r = approximate_root(d, p);
      return {hn::Mul(p, r), r};
    }
    const Vec<T> root = hn::Sqrt(p);
    return {root, hn::Div(hn::Set(d, T{1}), root)};
  }

  HWY_NOINLINE void flag(Vec<T> good, std::int64_t j, int w) {
    HWY_ALIGN T lane[kLanes<T>];
    hn::Store(good, Tag<T>(), lane);
    for (std::int64_t q = 0; q < kLanes<T>; ++q) {
      std::int32_t& pivot = pivots_[w * kLanes<T> + q];
      if (lane[q] == 0 && pivot < 0) pivot = static_cast<std::int32_t>(j);
    }
  }

  /// The first 'cols' columns, which have nothing to their left.
  HWY_INLINE void first_columns(std::int64_t cols) {
    const Tag<T> d;
    const std::int64_t end = pack_.n + pack_.rhs;
    for (std::int64_t j = 0; j < cols; ++j) {
      for (int w = 0; w < W; ++w) {
        const std::int64_t at = w * kLanes<T>;
        T* const diagonal = row(j) + j * lanes + at;
        const Root<T> root = root_of(hn::Load(d, diagonal), j, w);
        hn::Store(root.root, d, diagonal);
        hn::Store(root.reciprocal, d, pack_.reciprocals + j * lanes + at);
        for (std::int64_t i = j + 1; i < end; ++i) {
          T* const x = row(i) + at;
          const Vec<T> l = hn::Mul(hn::Load(d, x + j * lanes), root.reciprocal);
          hn::Store(l, d, x + j * lanes);
          for (std::int64_t b = j + 1; b < std::min(cols, i + 1); ++b) {
            const Vec<T> y = b == i ? l : hn::Load(d, row(b) + at + j * lanes);
            hn::Store(hn::NegMulAdd(l, y, hn::Load(d, x + b * lanes)), d, x + b * lanes);
          }
        }
      }
    }
  }

  /// The diagonal block: updated, then factored column by column, in registers.
  template <int cols>
  HWY_INLINE void diagonal(std::int64_t j) {
    const Tag<T> d;
    T* y[cols];
    HWY_UNROLL(8)
    for (int a = 0; a < cols; ++a) y[a] = row(j + a);
    for (int w = 0; w < W; ++w) {
      const std::int64_t at = w * kLanes<T>;
      Vec<T> c[cols][cols];
      HWY_UNROLL(8)
      for (int a = 0; a < cols; ++a) {
        HWY_UNROLL(8)
        for (int b = 0; b <= a; ++b) c[a][b] = hn::Load(d, y[a] + (j + b) * lanes + at);
      }
      for (std::int64_t k = at; k < j * lanes; k += lanes) {
        Vec<T> ys[cols];
        HWY_UNROLL(8)
        for (int a = 0; a < cols; ++a) {
          ys[a] = hn::Load(d, y[a] + k);
          HWY_UNROLL(8)
          for (int b = 0; b <= a; ++b) c[a][b] = hn::NegMulAdd(ys[a], ys[b], c[a][b]);
        }
      }
      HWY_UNROLL(8)
      for (int b = 0; b < cols; ++b) {
        const Root<T> root = root_of(c[b][b], j + b, w);
        hn::Store(root.root, d, y[b] + (j + b) * lanes + at);
        hn::Store(root.reciprocal, d, pack_.reciprocals + (j + b) * lanes + at);
        HWY_UNROLL(8)
        for (int a = b + 1; a < cols; ++a) {
          c[a][b] = hn::Mul(c[a][b], root.reciprocal);
          hn::Store(c[a][b], d, y[a] + (j + b) * lanes + at);
          HWY_UNROLL(8)
          for (int q = b + 1; q <= a; ++q) c[a][q] = hn::NegMulAdd(c[a][b], c[q][b], c[a][q]);
        }
      }
    }
  }

  BatchPack<T> pack_;
  const BatchFactorOptions<T>& options_;
  std::int32_t* pivots_;
};

template <class T, int W, int rows, int cols>
HWY_NOINLINE void factor_by(BatchPack<T> pack, const BatchFactorOptions<T>& options,
                            std::int32_t* pivots) {
  Factorization<T, W>(pack, options, pivots).template run<rows, cols>();
}

template <class T>
struct Variant {
  BatchBlock block;
  void (*run)(BatchPack<T> pack, const BatchFactorOptions<T>& options, std::int32_t* pivots);
};

/// The fixed set of blocks that tuning chooses from.
template <class T>
constexpr auto variants() {
#if HWY_TARGET == HWY_AVX3
  return std::array{
      Variant<T>{{2, 2, 1}, &factor_by<T, 1, 2, 2>}, Variant<T>{{4, 4, 1}, &factor_by<T, 1, 4, 4>},
      Variant<T>{{6, 4, 1}, &factor_by<T, 1, 6, 4>}, Variant<T>{{4, 6, 1}, &factor_by<T, 1, 4, 6>},
      Variant<T>{{3, 8, 1}, &factor_by<T, 1, 3, 8>}, Variant<T>{{2, 2, 2}, &factor_by<T, 2, 2, 2>},
      Variant<T>{{4, 3, 2}, &factor_by<T, 2, 4, 3>}, Variant<T>{{3, 4, 2}, &factor_by<T, 2, 3, 4>}};
#else
  return std::array{
      Variant<T>{{2, 2, 1}, &factor_by<T, 1, 2, 2>}, Variant<T>{{3, 3, 1}, &factor_by<T, 1, 3, 3>},
      Variant<T>{{4, 2, 1}, &factor_by<T, 1, 4, 2>}, Variant<T>{{3, 4, 1}, &factor_by<T, 1, 3, 4>},
      Variant<T>{{4, 3, 1}, &factor_by<T, 1, 4, 3>}, Variant<T>{{2, 2, 2}, &factor_by<T, 2, 2, 2>}};
#endif
}
template <class T>
constexpr auto kVariants = variants<T>();

template <class T>
constexpr auto blocks_of() {
  std::array<BatchBlock, kVariants<T>.size()> blocks;
  for (std::size_t v = 0; v < blocks.size(); ++v) blocks[v] = kVariants<T>[v].block;
  return blocks;
}
template <class T>
constexpr auto kBlocks = blocks_of<T>();

template <class T>
void factor(BatchPack<T> pack, BatchBlock block, const BatchFactorOptions<T>& options,
            std::int32_t* pivots) noexcept {
  std::fill_n(pivots, pack.lanes, -1);
  for (const Variant<T>& variant : kVariants<T>) {
    if (variant.block == block) return variant.run(pack, options, pivots);
  }
}

template <class T>
void fill(BatchEntries<T>& entries) {
  entries.lanes = static_cast<int>(kLanes<T>);
  entries.blocks = kBlocks<T>;
  entries.factor = {&factor<T>, "batch_factor_" STEPWELL_TARGET_NAME, STEPWELL_TARGET_ISA};
}

}  // namespace

void fill_portable_batch_factor(Table& t) {
  fill(t.batch_fp32);
  fill(t.batch_fp64);
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_batch_factor)
}  // namespace stepwell::kernels
#endif

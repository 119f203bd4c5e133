// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>

#include "kernels/portable/portable.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/gather_gram.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/portable/target-inl.hpp"

/// The Gram matrix of gathered columns. A chunk of columns is copied to the stack, padded to whole
/// vectors; then block after block of C is held in registers while the chunk streams by from L1.
/// Blocks above the diagonal are skipped. b is treated as the column before C's first: a column's
/// coefficient is stored just before its first element.
///
/// Register budget: V vectors of rows x C columns of sums, V vectors of a column, one broadcast
/// value. 4 x 6, 3 x 8, 2 x 8 and 1 x 16 of 32 registers; 3 x 4, 2 x 4 and 1 x 8 of 16.
///
/// The bottleneck is the gather: the hardware can't predict where the next column is. Each block
/// prefetches one cache line of every column kChunk places ahead, so that the requests are spread
/// evenly.
HWY_BEFORE_NAMESPACE();
namespace stepwell::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Tag>;

constexpr std::int64_t kChunk = kGramRun;
constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64;
constexpr int kVectors = kManyRegisters ? 4 : 3;

/// Number of columns of a block with v vectors of rows.
constexpr int width(int v) {
  if (!kManyRegisters) return v == 1 ? 8 : 4;
  return v == 1 ? 16 : v == 4 ? 6 : 8;
}

struct Chunk {
  std::int64_t count;
  std::int64_t stride;   ///< between columns
  const float* rows;     ///< the columns
  const float* factors;  ///< the columns times their weights; the coefficient is at -1
  const float* ahead[kChunk];
  std::int64_t line;  ///< the offset of the cache line to fetch
};

template <int V, int C>
HWY_NOINLINE void block(const Chunk& chunk, const float* base, const GatherGram& g,
                        std::int64_t row, std::int64_t col) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const bool with_b = col < 0;
  Vector sum[C][V];
#pragma GCC unroll 16
  for (int c = 0; c < C; ++c) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sum[c][v] = hn::Zero(d);
  }
  const float* rows = chunk.rows + row;
  const float* factors = chunk.factors + col;
  for (std::int64_t e = 0; e < chunk.count; ++e) {
    __builtin_prefetch(chunk.ahead[e] + chunk.line);
    Vector x[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) x[v] = hn::Load(d, rows + v * lanes);
#pragma GCC unroll 16
    for (int c = 0; c < C; ++c) {
      const Vector factor = hn::Set(d, factors[c]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[c][v] = hn::MulAdd(x[v], factor, sum[c][v]);
    }
    rows += chunk.stride;
    factors += chunk.stride;
  }
#pragma GCC unroll 16
  for (int c = 0; c < C; ++c) {
    const std::int64_t place = row + (col + c) * g.c.ld;
    float* const to = with_b && c == 0 ? g.b + row : g.c.data + place;
    const float* const from = with_b && c == 0 ? to : base != nullptr ? base + place : nullptr;
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      if (from != nullptr) sum[c][v] = hn::Add(hn::LoadU(d, from + v * lanes), sum[c][v]);
      hn::StoreU(sum[c][v], d, to + v * lanes);
    }
  }
}

/// Columns col .. col + count - 1 of V vectors of rows, in blocks of C columns and one block for
/// the rest.
template <int V, int C = width(V)>
void blocks(Chunk& chunk, const float* base, const GatherGram& g, std::int64_t row,
            std::int64_t col, std::int64_t count) {
  for (; count >= C; col += C, count -= C) {
    block<V, C>(chunk, base, g, row, col);
    // Past the last line, that line is prefetched again, from L1.
    chunk.line = std::min(chunk.line + 16, g.items.rows - 1);
  }
  if constexpr (C > 1) {
    if (count > 0) blocks<V, C - 1>(chunk, base, g, row, col, count);
  }
}

/// Copies column y times 'weight' to 'to' in the chunk. Usually k >= lanes; then the last vector
/// overlaps the one before.
HWY_INLINE void copy_column(const float* HWY_RESTRICT y, std::int64_t k, float weight,
                            float* HWY_RESTRICT to) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (k < lanes) {
    for (std::int64_t i = 0; i < k; ++i) to[i] = weight * y[i];
    return;
  }
  const Vector w = hn::Set(d, weight);
  for (std::int64_t i = 0; i + lanes <= k; i += lanes) {
    hn::Store(hn::Mul(hn::LoadU(d, y + i), w), d, to + i);
  }
  hn::StoreU(hn::Mul(hn::LoadU(d, y + k - lanes), w), d, to + k - lanes);
}

void gather_gram(const GatherGram& g) noexcept {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag()));
  const std::int64_t k = g.items.rows;
  const std::int64_t vectors = (k + lanes - 1) / lanes;
  const std::int64_t padded = (k + kGramPad - 1) / kGramPad * kGramPad;
  const std::int64_t stride = kGramPad + padded;
  HWY_ALIGN float plain[kChunk * (kGramPad + kGramOrder)];
  HWY_ALIGN float scaled[kChunk * (kGramPad + kGramOrder)];
  const std::int64_t places = std::min(g.count, kChunk);
  for (std::int64_t e = 0; e < places; ++e) {
    std::fill(plain + e * stride + kGramPad + k, plain + (e + 1) * stride, 0.0f);
  }
  const float* base = g.base;
  std::int64_t first = 0;
  do {
    Chunk chunk;
    chunk.count = std::min(kChunk, g.count - first);
    chunk.stride = stride;
    chunk.rows = plain + kGramPad;
    chunk.factors = (g.weights != nullptr ? scaled : plain) + kGramPad;
    chunk.line = 0;
    for (std::int64_t e = 0; e < chunk.count; ++e) {
      const float* const y = g.items.column(g.columns[first + e]);
      float* const to = plain + e * stride + kGramPad;
      copy_column(y, k, 1, to);
      if (g.weights != nullptr) {
        float* const scaled_to = scaled + e * stride + kGramPad;
        copy_column(y, k, g.weights[first + e], scaled_to);
        scaled_to[-1] = g.coefficients[first + e];
      } else {
        to[-1] = g.coefficients[first + e];
      }
      const std::int64_t later = first + e + kChunk;
      chunk.ahead[e] = later < g.count + g.upcoming ? g.items.column(g.columns[later]) : y;
    }
    for (std::int64_t p = 0; p < vectors; ++p) {  // columns that begin in vector p of the rows
      const std::int64_t col = p == 0 ? -1 : p * lanes;
      const std::int64_t count = std::min((p + 1) * lanes, k) - col;
      for (std::int64_t v = p; v < vectors; v += kVectors) {
        switch (std::min<std::int64_t>(kVectors, vectors - v)) {
          case 1:
            blocks<1>(chunk, base, g, v * lanes, col, count);
            break;
          case 2:
            blocks<2>(chunk, base, g, v * lanes, col, count);
            break;
          case 3:
            blocks<3>(chunk, base, g, v * lanes, col, count);
            break;
          default:
            blocks<kVectors>(chunk, base, g, v * lanes, col, count);
        }
      }
    }
    base = g.c.data;
    first += kChunk;
  } while (first < g.count);
}

}  // namespace

void fill_portable_gather_gram(Table& t) {
  t.gather_gram = {&gather_gram, "gather_gram_" STEPWELL_TARGET_NAME, STEPWELL_TARGET_ISA};
}

}  // namespace HWY_NAMESPACE
}  // namespace stepwell::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stepwell::kernels {
STEPWELL_EXPORT_FILL(fill_portable_gather_gram)
}  // namespace stepwell::kernels
#endif

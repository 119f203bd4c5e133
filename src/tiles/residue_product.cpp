// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/residue_product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numeric/transpose.hpp"
#include "core/numeric/worst.hpp"
#include "kernels/kernels.hpp"
#include "tiles/residue_tile.hpp"

namespace stepwell::tiles {
namespace {

using kernels::ResidueFactors;
using kernels::ResidueOrder;
using kernels::ResiduesIn;
using kernels::ResiduesOut;
using kernels::ResidueSums;
using kernels::Shape;
using kernels::SumScales;

constexpr int kPlanes = kernels::kWidePlanes;
constexpr int kLargestExponent = 1020;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// An upper bound of a line's norm, infinite or NaN if an element is.
double norm_of(double max_abs, double squares, std::int64_t length) {
  if (std::isnan(squares)) return squares;
  if (squares >= 0x1p-900 && squares <= 0x1p1000) return std::sqrt(squares);
  return max_abs * std::sqrt(static_cast<double>(length));
}

/// Blocks of A that are multiplied together.
std::int64_t blocks_together(std::int64_t depth) {
  return std::max<std::int64_t>(1, kernels::kResidueChunk / core::round_up(depth, 64));
}

/// A block of A, or its transpose, in residues. 'other' is memory for the transpose.
ResiduesOut convert(const kernels::Table& t, const ProductLeft& a, std::int64_t k,
                    std::int8_t* memory, std::int8_t* other) {
  const MatrixView<const double> x = a.block(k);
  const std::int64_t rows = a.transposed ? x.cols : x.rows, depth = a.transposed ? x.rows : x.cols;
  const ResiduesOut out = kernels::residues(memory, rows, depth, kPlanes, ResidueOrder::quads);
  if (!a.transposed) {
    kernels::to_residues(t, x, a.to, out);
    return out;
  }
  const ResiduesOut columns = kernels::residues(other, rows, depth, kPlanes, ResidueOrder::rows);
  kernels::to_residues(t, x, a.to, columns);
  kernels::reorder(t, columns, out);
  return out;
}

/// Adds the products of blocks [first, first + left.size()) to all strips that they reach; 'b' has
/// the blocks from 'first' on. Neighbours that take the same steps are multiplied as one.
void sweep_strips(const kernels::Table& t, const ResidueSums& sums,
                  std::span<const ResiduesIn> left, const ProductRight& b, std::int64_t first,
                  std::span<const ProductStrip> strips) {
  const std::int64_t end = first + static_cast<std::int64_t>(left.size());
  std::vector<ResidueFactors> products;
  for (std::size_t s = 0; s < strips.size();) {
    ProductStrip whole = strips[s];
    const auto joins = [&whole, first](const ProductStrip& next) {
      const bool same = whole.block == next.block || std::max(whole.block, next.block) < first;
      return same && whole.shape == Shape::full && next.shape == Shape::full;
    };
    for (++s; s < strips.size() && joins(strips[s]); ++s) whole.count += strips[s].count;
    products.clear();
    for (std::int64_t k = std::max(first, whole.block); k < end; ++k) {
      const auto i = static_cast<std::size_t>(k - first);
      products.push_back(
          {left[i], b.blocks[i].block(whole.first, 0, whole.count, b.blocks[i].depth)});
    }
    if (products.empty()) continue;
    sweep(t, sums.block(0, whole.first, sums.rows, whole.count), products, whole.shape,
          whole.block >= first);
  }
}

SumScales from(SumScales scales, std::int64_t row, std::int64_t col) {
  return {scales.rows + row, scales.cols + col, scales.wide};
}

/// C = -sums in one strip, 32 columns at a time, which stay in the cache. 'memory': of 32 columns
/// of C, where that is stored transposed; otherwise null.
void replace(const kernels::Table& t, const ResidueSums& sums, const SumScales& scales,
             const ProductStrip& strip, MatrixView<double> c, double* memory) {
  const bool lower = strip.shape == Shape::lower;
  for (std::int64_t j = 0; j < strip.count; j += kernels::kResiduePanel) {
    const std::int64_t cols = std::min(kernels::kResiduePanel, strip.count - j);
    const std::int64_t top = lower ? j : 0, rows = sums.rows - top, col = strip.first + j;
    const MatrixView<double> to =
        memory != nullptr ? view(memory, rows, cols) : c.block(top, col, rows, cols);
    for (std::int64_t k = 0; k < cols; ++k) {
      std::fill(to.column(k) + (lower ? k : 0), to.column(k) + rows, 0.0);
    }
    kernels::subtract_sums(t, sums.block(top, col, rows, cols), to, strip.shape,
                           from(scales, top, col));
    if (memory == nullptr) continue;
    // The kernel transposes whole blocks: not the panel's own triangle.
    const std::int64_t triangle = lower ? std::min(cols, rows) : 0;
    core::transpose(to.block(0, 0, triangle, cols), c.block(col, top, cols, triangle),
                    core::Part::upper);
    kernels::transpose(t, to.block(triangle, 0, rows - triangle, cols),
                       c.block(col, top + triangle, cols, rows - triangle));
  }
}

}  // namespace

void LineSizes::add_rows(const kernels::Table& t, MatrixView<const double> x, std::int64_t first) {
  std::vector<double> most(static_cast<std::size_t>(x.rows)), sum(most.size());
  kernels::column_sizes(t, x, most.data(), sum.data());
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const auto r = static_cast<std::size_t>(i), line = static_cast<std::size_t>(first + i);
    if (!std::isfinite(sum[r])) {  // the kernel leaves the maximum open
      most[r] = 0;
      for (std::int64_t k = 0; k < x.cols; ++k) {
        most[r] = std::isfinite(x(i, k)) ? std::max(most[r], std::fabs(x(i, k))) : kInfinity;
      }
    }
    max_abs[line] = std::max(max_abs[line], most[r]);
    squares[line] += sum[r];
  }
}

void LineSizes::add_columns(const kernels::Table& t, MatrixView<const double> x,
                            std::int64_t first) {
  // A column is a matrix of so many rows, so that additions do not wait for each other.
  constexpr std::int64_t kParts = 32;
  const std::int64_t whole = x.rows / kParts * kParts;
  for (std::int64_t k = 0; k < x.cols; ++k) {
    double most[kParts] = {}, sum[kParts] = {};
    const double* const column = x.column(k);
    kernels::column_sizes(t, view(column, kParts, whole / kParts), most, sum);
    for (std::int64_t i = whole; i < x.rows; ++i) {
      most[i - whole] = std::max(most[i - whole], std::fabs(column[i]));
      sum[i - whole] += column[i] * column[i];
    }
    const auto line = static_cast<std::size_t>(first + k);
    for (const double s : sum) squares[line] += s;
    if (std::isfinite(squares[line])) {
      max_abs[line] = std::max(max_abs[line], *std::max_element(most, most + kParts));
    } else {  // the kernel leaves the maximum open
      for (std::int64_t i = 0; i < x.rows; ++i) {
        max_abs[line] =
            std::isfinite(column[i]) ? std::max(max_abs[line], std::fabs(column[i])) : kInfinity;
      }
    }
  }
}

LineScales::LineScales(const LineSizes& sizes, std::int64_t length)
    : to(sizes.squares.size(), 1), back(sizes.squares.size(), 1) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const double norm = norm_of(sizes.max_abs[i], sizes.squares[i], length);
    if (norm == 0) continue;
    int exponent = kLargestExponent + 1;
    if (std::isfinite(norm)) std::frexp(norm / kLargestNorm, &exponent);
    if (exponent > kLargestExponent) {
      back[i] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    exponent = std::max(exponent - kernels::kWideBits, -kLargestExponent);
    to[i] = std::ldexp(1, -exponent);
    back[i] = std::ldexp(1, exponent);
  }
}

double LineScales::largest_norm() const {
  double most = 0;
  for (const double of_line : back) most = core::worst(most, of_line);
  return kLargestNorm * std::ldexp(most, kernels::kWideBits);
}

std::int64_t residue_product_bytes(std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  const std::int64_t block = kernels::residue_bytes(rows, depth, kPlanes);
  return core::size_product(block, blocks_together(depth) + 1, "residues of a product") +
         kernels::residue_sums_bytes(rows, cols, kPlanes);
}

void subtract_residue_product(const kernels::Table& t, const ProductLeft& a, const ProductRight& b,
                              std::span<const ProductStrip> strips, MatrixView<double> c,
                              std::byte* scratch, ProductOut out) {
  if (c.empty() || b.blocks.empty()) return;
  const core::FpScope fp;
  const bool transposed = out == ProductOut::replace_transposed;
  const std::int64_t rows = transposed ? c.cols : c.rows, cols = transposed ? c.rows : c.cols;
  auto* memory = reinterpret_cast<std::int8_t*>(scratch);
  const kernels::ResidueSums sums = kernels::residue_sums(memory, rows, cols, kPlanes);
  memory += kernels::residue_sums_bytes(rows, cols, kPlanes);
  const std::int64_t deepest =
      std::max_element(b.blocks.begin(), b.blocks.end(), [](const auto& x, const auto& y) {
        return x.depth < y.depth;
      })->depth;
  const std::int64_t bytes = kernels::residue_bytes(rows, deepest, kPlanes);
  const std::int64_t together = blocks_together(deepest);
  const auto count = static_cast<std::int64_t>(b.blocks.size());
  std::vector<ResiduesIn> left;
  for (std::int64_t first = 0; first < count; first += together) {
    left.clear();
    for (std::int64_t k = first; k < std::min(first + together, count); ++k) {
      left.push_back(convert(t, a, k, memory + (1 + k - first) * bytes, memory));
    }
    sweep_strips(t, sums, left, {b.blocks.subspan(static_cast<std::size_t>(first)), b.back}, first,
                 strips);
  }
  const SumScales scales{a.back, b.back, true};
  for (const ProductStrip& strip : strips) {
    if (out == ProductOut::subtract) {
      kernels::subtract_sums(t, sums.block(0, strip.first, rows, strip.count),
                             c.block(0, strip.first, rows, strip.count), strip.shape,
                             from(scales, 0, strip.first));
    } else {
      // The memory of the transposed block is free, and at least as large as 32 columns of C.
      replace(t, sums, scales, strip, c, transposed ? reinterpret_cast<double*>(memory) : nullptr);
    }
  }
}

}  // namespace stepwell::tiles

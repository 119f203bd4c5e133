// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/residue_product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numeric/worst.hpp"
#include "kernels/kernels.hpp"
#include "tiles/residue_tile.hpp"

namespace stepwell::tiles {
namespace {

using kernels::ResidueFactors;
using kernels::ResidueOrder;
using kernels::ResiduesOut;

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

void LineSizes::add_columns(MatrixView<const double> x, std::int64_t first) {
  constexpr std::int64_t kParts = 8;  // so that additions do not wait for each other
  for (std::int64_t k = 0; k < x.cols; ++k) {
    double most[kParts] = {}, sum[kParts] = {};
    const double* const column = x.column(k);
    const auto add = [&](std::int64_t i, std::int64_t part) {
      most[part] = std::max(most[part], std::fabs(column[i]));
      sum[part] += column[i] * column[i];
    };
    std::int64_t i = 0;
    for (; i + kParts <= x.rows; i += kParts) {
      for (std::int64_t part = 0; part < kParts; ++part) add(i + part, part);
    }
    for (; i < x.rows; ++i) add(i, 0);
    const auto line = static_cast<std::size_t>(first + k);
    max_abs[line] = std::max(max_abs[line], *std::max_element(most, most + kParts));
    for (const double s : sum) squares[line] += s;
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
                              MatrixView<double> c, std::byte* scratch, kernels::Shape shape) {
  if (c.empty() || b.blocks.empty()) return;
  const core::FpScope fp;
  auto* memory = reinterpret_cast<std::int8_t*>(scratch);
  const kernels::ResidueSums sums = kernels::residue_sums(memory, c.rows, c.cols, kPlanes);
  memory += kernels::residue_sums_bytes(c.rows, c.cols, kPlanes);
  const std::int64_t deepest =
      std::max_element(b.blocks.begin(), b.blocks.end(), [](const auto& x, const auto& y) {
        return x.depth < y.depth;
      })->depth;
  const std::int64_t bytes = kernels::residue_bytes(c.rows, deepest, kPlanes);
  const std::int64_t together = blocks_together(deepest);
  const auto count = static_cast<std::int64_t>(b.blocks.size());
  std::vector<ResidueFactors> products;
  for (std::int64_t first = 0; first < count; first += together) {
    products.clear();
    for (std::int64_t k = first; k < std::min(first + together, count); ++k) {
      const ResiduesOut left = convert(t, a, k, memory + (1 + k - first) * bytes, memory);
      products.push_back({left, b.blocks[static_cast<std::size_t>(k)]});
    }
    sweep(t, sums, products, shape, first == 0);
  }
  kernels::subtract_sums(t, sums, c, shape, {a.back, b.back, true});
}

}  // namespace stepwell::tiles

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tiles/residue_tile.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/kernels.hpp"

namespace stepwell::tiles {
namespace {

using kernels::ResidueFactors;
using kernels::ResidueOrder;
using kernels::ResidueSums;

constexpr double kDoomed = std::numeric_limits<double>::infinity();

/// A row may exceed its diagonal element by this before it is sure that its pivot fails.
constexpr double kAllowed = kernels::kLargestSum / kernels::kLargestDiagonal;

constexpr std::int64_t kBlockElements = kExactColumns * kExactColumns;

/// L's diagonal block c of order 'order', in FP64.
MatrixView<double> diagonal_block(const ResidueDiagonal& d, std::int64_t c, std::int64_t order) {
  return {d.blocks + c * kBlockElements, order, order, kExactColumns};
}

void begin_squares(const RowSquares& rows, std::int64_t count, double* squares) {
  if (rows.before == nullptr) {
    std::fill_n(squares, count, 0.0);
  } else {
    std::copy_n(rows.before, count, squares);
  }
}

/// Adds the squares of new columns of L, and clears the rows that are too large: no sum that they
/// take part in can leave its range. NaN counts as too large.
void guard_rows(MatrixView<double> x, const double* diagonal, double* squares) {
  constexpr std::int64_t kRows = 8;  // in registers
  std::int64_t first = 0;
  for (; first + kRows <= x.rows; first += kRows) {
    double sum[kRows];
    std::copy_n(squares + first, kRows, sum);
    for (std::int64_t k = 0; k < x.cols; ++k) {
      const double* const l = x.column(k) + first;
      for (std::int64_t r = 0; r < kRows; ++r) sum[r] += l[r] * l[r];
    }
    std::copy_n(sum, kRows, squares + first);
  }
  for (; first < x.rows; ++first) {
    for (std::int64_t k = 0; k < x.cols; ++k) squares[first] += x(first, k) * x(first, k);
  }
  for (std::int64_t i = 0; i < x.rows; ++i) {
    if (squares[i] <= kAllowed * diagonal[i]) continue;
    squares[i] = kDoomed;
    for (std::int64_t k = 0; k < x.cols; ++k) x(i, k) = 0;
  }
}

/// The columns [col, col + cols) of a tile, from 'row' on, that are finished next.
struct Columns {
  std::int64_t row = 0, rows = 0, col = 0, cols = 0;
};

/// h -= sum_k L(i,k) L(j,k)' for these columns: the products with the columns inside the tile are
/// added to 'sums', which has the others.
std::int64_t subtract_products(const Table& t, const TileSums& s, const Columns& at, Shape shape,
                               const ResidueTile& tile, const ResidueDiagonal& diagonal,
                               MatrixView<double> h) {
  if (at.col == 0 && s.none) return 0;
  const ResidueSums sums = s.sums.block(at.row, at.col, at.rows, at.cols);
  if (at.col > 0) {
    const ResidueFactors inside[] = {{tile.x.block(at.row, 0, at.rows, at.col),
                                      diagonal.rows.block(at.col, 0, at.cols, at.col)}};
    sweep(t, sums, inside, shape, s.none);
  }
  return kernels::subtract_sums(t, sums, h, shape);
}

}  // namespace

std::int64_t residue_tile_bytes(std::int64_t rows, std::int64_t cols, int planes) {
  return kernels::residue_bytes(rows, cols, planes) + core::round_up(8 * rows, 64);
}

ResidueTile residue_tile(std::byte* data, std::int64_t rows, std::int64_t cols, int planes) {
  std::byte* const squares = data + kernels::residue_bytes(rows, cols, planes);
  return {kernels::residues(reinterpret_cast<std::int8_t*>(data), rows, cols, planes,
                            ResidueOrder::quads),
          reinterpret_cast<double*>(squares)};
}

std::int64_t number_tile_bytes(std::int64_t rows, std::int64_t cols) {
  const std::int64_t numbers = core::size_product(core::round_up(rows, 16), cols, 8, "tile");
  return numbers + core::round_up(8 * rows, 64);
}

NumberTile number_tile(std::byte* data, std::int64_t rows, std::int64_t cols) {
  const std::int64_t ld = core::round_up(rows, 16);
  auto* const numbers = reinterpret_cast<double*>(data);
  return {{numbers, rows, cols, ld}, numbers + ld * cols};
}

std::int64_t residue_diagonal_bytes(std::int64_t order, int planes) {
  const std::int64_t blocks = (order + kExactColumns - 1) / kExactColumns;
  return kernels::residue_bytes(order, order, planes) + 8 * blocks * kBlockElements;
}

ResidueDiagonal residue_diagonal(std::byte* data, std::int64_t order, int planes) {
  std::byte* const blocks = data + kernels::residue_bytes(order, order, planes);
  return {kernels::residues(reinterpret_cast<std::int8_t*>(data), order, order, planes,
                            ResidueOrder::rows),
          reinterpret_cast<double*>(blocks)};
}

void sweep(const Table& t, const ResidueSums& sums, std::span<const ResidueFactors> products,
           Shape shape, bool first) {
  // Products of the same plane that are added up in registers.
  const auto chunk_at = [&](std::size_t k) {
    std::int64_t depth = 0;
    std::size_t end = k;
    for (; end < products.size(); ++end) {
      depth += core::round_up(products[end].a.depth, kernels::kResidueDepth);
      if (end > k && depth > kernels::kResidueChunk) break;
    }
    return products.subspan(k, end - k);
  };
  const auto begin = chunk_at(0);
  for (int plane = 0; plane < sums.planes; ++plane) {
    for (std::size_t k = 0; k < products.size();) {
      const auto chunk = chunk_at(k);
      const bool last = k + chunk.size() == products.size();
      const bool fresh = first && k == 0;
      k += chunk.size();
      if (!last) {
        kernels::update(t, {plane, chunk, sums, shape, fresh, plane, chunk_at(k)});
      } else if (plane + 1 < sums.planes) {
        kernels::update(t, {plane, chunk, sums, shape, fresh, plane + 1, begin});
      } else {
        kernels::update(t, {plane, chunk, sums, shape, fresh, 0, {}});
      }
    }
  }
}

Pivot factor_diagonal(const Table& t, const TileSums& sums, MatrixView<double> h,
                      const RowSquares& rows, const ResidueTile& tile,
                      const ResidueDiagonal& diagonal, std::int64_t& wrong) {
  const core::FpScope fp;
  const std::int64_t n = h.rows;
  std::memset(tile.x.data, 0,
              static_cast<std::size_t>(kernels::residue_bytes(n, n, tile.x.planes)));
  begin_squares(rows, n, tile.squares);
  for (std::int64_t col = 0; col < n; col += kExactColumns) {
    const std::int64_t cols = std::min(kExactColumns, n - col), below = n - col - cols;
    const MatrixView<double> block = h.block(col, col, n - col, cols);
    wrong +=
        subtract_products(t, sums, {col, n - col, col, cols}, Shape::lower, tile, diagonal, block);
    const MatrixView<double> top = block.block(0, 0, cols, cols);
    for (std::int64_t i = 0; i < cols; ++i) {
      if (tile.squares[col + i] == kDoomed) top(i, i) = -1;
    }
    const Pivot pivot = t.residues.potrf.run(top);
    if (!pivot.ok()) return {col + pivot.index, pivot.value};
    const kernels::ResiduesOut x = tile.x.block(col, col, n - col, cols);
    kernels::to_residues(t, top, x.block(0, 0, cols, cols), Shape::lower);
    const MatrixView<double> l = diagonal_block(diagonal, col / kExactColumns, cols);
    for (std::int64_t j = 0; j < cols; ++j) {
      for (std::int64_t i = 0; i < cols; ++i) l(i, j) = i < j ? 0 : top(i, j);
    }
    if (below > 0) {
      const MatrixView<double> rest = block.block(cols, 0, below, cols);
      t.residues.trsm.run(l, rest);
      guard_rows(rest, rows.diagonal + col + cols, tile.squares + col + cols);
      kernels::to_residues(t, rest, x.block(cols, 0, below, cols));
    }
    kernels::reorder(t, x, diagonal.rows.block(col, col, n - col, cols));
  }
  return {};
}

void solve_tile(const Table& t, const TileSums& sums, MatrixView<double> h, const RowSquares& rows,
                const ResidueDiagonal& diagonal, const ResidueTile& tile, std::int64_t& wrong) {
  const core::FpScope fp;
  begin_squares(rows, h.rows, tile.squares);
  for (std::int64_t col = 0; col < h.cols; col += kExactColumns) {
    const std::int64_t cols = std::min(kExactColumns, h.cols - col);
    const MatrixView<double> block = h.block(0, col, h.rows, cols);
    wrong += subtract_products(t, sums, {0, h.rows, col, cols}, Shape::full, tile, diagonal, block);
    t.residues.trsm.run(diagonal_block(diagonal, col / kExactColumns, cols), block);
    guard_rows(block, rows.diagonal, tile.squares);
    kernels::to_residues(t, block, tile.x.block(0, col, h.rows, cols));
  }
}

std::int64_t restore_scratch(std::int64_t rows, std::int64_t cols) {
  return core::size_product(kernels::sums_ld(rows), cols, 8, "a tile");
}

std::int64_t restore_tile(const Table& t, const ResidueTile& tile, std::byte* scratch) {
  const std::int64_t rows = tile.x.rows, cols = tile.x.depth;
  const std::int64_t ld = kernels::sums_ld(rows);
  const MatrixView<double> plain{reinterpret_cast<double*>(scratch), rows, cols, ld};
  const std::int64_t wrong = kernels::from_residues(t, tile.x, plain);
  const std::int64_t column = core::round_up(rows, 16);
  auto* const to = reinterpret_cast<double*>(tile.x.data);
  for (std::int64_t j = 0; j < plain.cols; ++j) {
    std::copy_n(plain.column(j), rows, to + j * column);
  }
  return wrong;
}

}  // namespace stepwell::tiles

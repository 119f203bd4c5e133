// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "kernels/kernels.hpp"
#include "tiles/operations.hpp"

namespace stepwell::tiles {
namespace {

using kernels::Order;
using kernels::PackedIn;
using kernels::PackedOut;
using kernels::Write;

/// Rows r0.. of a stored tile as a left operand at a rung with planes.
PackedIn left_packed(const Table& t, TileIn a, Rung rung, std::int64_t r0, std::int64_t rows,
                     std::byte* scratch) {
  if (a.shape.is_packed()) return a.packed().block(r0, 0, rows, a.shape.cols);
  const PackedOut out = kernels::packed(reinterpret_cast<std::uint16_t*>(scratch), rows,
                                        a.shape.cols, rung, Order::pairs);
  if (a.shape.rung == Rung::fp64) {
    kernels::pack(t, rung, a.fp64().block(r0, 0, rows, a.shape.cols), out);
  } else {
    kernels::pack(t, rung, a.fp32().block(r0, 0, rows, a.shape.cols), out);
  }
  return out;
}

/// Rows r0.. of a stored plain tile in fp32.
MatrixView<const float> plain_fp32(TileIn a, std::int64_t r0, std::int64_t rows,
                                   std::byte* scratch) {
  if (a.shape.rung != Rung::fp64) return a.fp32().block(r0, 0, rows, a.shape.cols);
  const auto narrow = view(reinterpret_cast<float*>(scratch), rows, a.shape.cols);
  convert(a.fp64().block(r0, 0, rows, a.shape.cols), narrow);
  return narrow;
}

struct Step {
  TileIn a;
  RightTile b;
  Rung rung;  ///< rung of the product
};

/// A block of sums; 'lower' if only its lower triangle is needed.
struct SumsBlock {
  std::int64_t row = 0, col = 0, rows = 0, cols = 0;
  Shape shape = Shape::full;
};

/// c -= a b', or c = a b', where c is a block of fp32 sums.
void update_fp32(const Table& t, const Step& s, const SumsBlock& at, MatrixView<float> c,
                 Write write, const kernels::Next& next, std::byte* scratch, std::int64_t piece) {
  if (info(s.rung).planes > 0) {
    kernels::update(t, s.rung, left_packed(t, s.a, s.rung, at.row, at.rows, scratch),
                    s.b.rows.block(at.col, 0, at.cols, s.b.rows.depth), c, at.shape, write, next);
  } else {
    kernels::update(t, plain_fp32(s.a, at.row, at.rows, scratch),
                    plain_fp32(s.b.stored, at.col, at.cols, scratch + piece), c, at.shape, write);
  }
}

/// Updates all rows of fp64 sums; a product below fp64 is formed in fp32 and then subtracted.
void update_fp64(const Table& t, const Step& s, MatrixView<double> c, Shape shape,
                 std::byte* scratch, std::int64_t piece) {
  if (s.rung == Rung::fp64) {
    kernels::update(t, s.a.fp64(), s.b.stored.fp64(), c, shape);
    return;
  }
  const MatrixView<float> p{reinterpret_cast<float*>(scratch + 2 * piece), c.rows, c.cols,
                            kernels::sums_ld(c.rows)};
  update_fp32(t, s, {0, 0, c.rows, c.cols, shape}, p, Write::assign, {}, scratch, piece);
  for (std::int64_t j = 0; j < c.cols; ++j) {
    for (std::int64_t i = shape == Shape::lower ? j : 0; i < c.rows; ++i) c(i, j) -= p(i, j);
  }
}

/// The operands that the next product of the sweep will read.
kernels::Next next_operands(const Step& s, const SumsBlock& at) {
  if (info(s.rung).planes == 0 || !s.a.shape.is_packed()) return {};
  return {s.a.packed().block(at.row, 0, at.rows, s.a.shape.cols),
          s.b.rows.block(at.col, 0, at.cols, s.b.rows.depth)};
}

/// The blocks of sums that are updated one after the other, or by several threads.
class SweepBlocks {
 public:
  /// In one piece if a product may be plain: its kernel depends on the size.
  SweepBlocks(const Sums& sums, Shape shape, bool plain, std::int64_t rows)
      : sums_(sums),
        shape_(shape),
        size_(plain ? std::max({sums.rows, sums.cols, std::int64_t{1}}) : rows) {}

  std::int64_t count() const {
    const std::int64_t rows = (sums_.rows + size_ - 1) / size_;
    return shape_ == Shape::full ? rows : rows * (rows + 1) / 2;
  }
  /// The blocks of a lower triangle are counted row by row.
  SumsBlock at(std::int64_t k) const {
    std::int64_t row = 0;
    if (shape_ == Shape::full) return rows_of(k, 0, sums_.cols, Shape::full);
    for (; k > row; ++row) k -= row + 1;
    const std::int64_t cols = std::min(size_, sums_.cols - k * size_);
    return rows_of(row, k * size_, cols, k == row ? Shape::lower : Shape::full);
  }

 private:
  SumsBlock rows_of(std::int64_t k, std::int64_t col, std::int64_t cols, Shape shape) const {
    return {k * size_, col, std::min(size_, sums_.rows - k * size_), cols, shape};
  }

  const Sums& sums_;
  Shape shape_;
  std::int64_t size_;
};

}  // namespace

void sweep(const Table& t, const Sums& sums, std::span<const TileIn> a,
           std::span<const RightTile> b, Shape shape, std::byte* scratch, bool by_operands,
           const Sharing& share) {
  const core::FpScope fp;
  std::int64_t order = std::max(sums.rows, sums.cols);
  for (const TileIn& tile : a) order = std::max(order, tile.shape.cols);
  const std::int64_t piece = piece_bytes(order);
  const auto step = [&](std::size_t k) -> Step {
    const Rung operands = coarser(a[k].shape.rung, b[k].stored.shape.rung);
    return {a[k], b[k], by_operands ? operands : coarser(sums.rung, operands)};
  };
  if (sums.wide()) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      update_fp64(t, step(k), sums.fp64(), shape, scratch, piece);
    }
    return;
  }
  const bool plain = info(sums.rung).planes == 0 || (by_operands && shape == Shape::lower);
  const SweepBlocks blocks(sums, shape, plain, share.rows);
  core::run_pieces(share.run, blocks.count(), scratch, [&](std::int64_t block, std::byte* memory) {
    const SumsBlock at = blocks.at(block);
    const MatrixView<float> c = sums.fp32().block(at.row, at.col, at.rows, at.cols);
    for (std::size_t k = 0; k < a.size(); ++k) {
      const kernels::Next next =
          k + 1 < a.size() ? next_operands(step(k + 1), at) : kernels::Next{};
      update_fp32(t, step(k), at, c, Write::subtract, next, memory, piece);
    }
  });
}

}  // namespace stepwell::tiles

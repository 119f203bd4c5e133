// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/buffer.hpp"
#include "engine/threads/thread_pool.hpp"
#include "tiles/residue_product.hpp"

namespace stepwell::factor {

/// How products of FP64 quality are computed.
enum class Products : unsigned char {
  exact,  ///< with exact sums (tiles/residue_product.hpp)
  blas    ///< by the BLAS, block by block; it must be set to one thread
};

/// Whether exact products are faster than the BLAS's: on a matrix engine for bytes.
bool has_residue_engine();

/// Columns of B that are kept at a time: with fewer, converting A takes more than an eighth of the
/// time.
inline constexpr std::int64_t kResidueColumns = 2048;

/// The part of an operand's lines (rows of A, or columns of B) that has elements. What is outside,
/// in whole blocks, is not read: a triangle needs zeros only in its diagonal blocks.
struct Lines {
  enum class Part : unsigned char { whole, to_diagonal, from_diagonal };
  Part part = Part::whole;
  std::int64_t block = 0;  ///< order of the diagonal blocks, a multiple of 64

  /// The elements of the lines of one block, 'line' among them, of 'length'.
  struct Range {
    std::int64_t first = 0, count = 0;
  };
  Range of(std::int64_t line, std::int64_t length) const {
    if (part == Part::whole) return {0, length};
    const std::int64_t top = line / block * block;
    return part == Part::from_diagonal ? Range{top, length - top}
                                       : Range{0, std::min(top + block, length)};
  }
};

/// A matrix, or the transpose of one, as the left operand: the scales of its rows, which exact
/// products need, and its rows in blocks of columns.
class LeftOperand {
 public:
  /// The products are with factor * A, if they are exact or replace C.
  LeftOperand(engine::ThreadPool& pool, Products products, MatrixView<const double> a,
              bool transposed = false, double factor = 1, Lines lines = {});

  /// Rows [first, first + count) and the columns from 'column' on, in blocks of 'depth' columns.
  tiles::ProductLeft rows(std::int64_t first, std::int64_t count, std::int64_t depth,
                          std::int64_t column = 0) const;
  /// An upper bound of the norms of its rows (tiles::LineScales). Only for exact products.
  double largest_norm() const { return scales_.largest_norm(); }

 private:
  MatrixView<const double> a_;
  bool transposed_;
  double factor_;
  tiles::LineScales scales_;  ///< empty unless products are exact
};

/// C -= A B on the threads of a pool, for several A with the same B. C may be where B was, because
/// B is copied. The bits do not depend on the number of threads; with exact products nor on which
/// rows of A are multiplied together.
class BlockGemm {
 public:
  explicit BlockGemm(engine::ThreadPool& pool, Products products = Products::exact)
      : pool_(pool), products_(products) {}

  /// Copies B, in blocks of 'depth' rows, or B', in blocks of columns. The memory is kept for the
  /// next. Lines from the diagonal on have diagonal blocks of that depth, and no product is
  /// computed with the zeros above them.
  void set_right(MatrixView<const double> b, std::int64_t depth, bool transposed = false,
                 Lines lines = {});

  /// Rows of a product: C -= A B, with B's columns from 'column', a multiple of 32, on, as many as
  /// C has, and its blocks of rows from 'first_block' on, 'blocks' of them. A has as many blocks of
  /// columns. Where products are not exact, the scales of A are not used.
  struct Rows {
    tiles::ProductLeft a;
    MatrixView<double> c;  ///< or its transpose, as 'out' says
    std::int64_t column = 0;
    /// lower: the last columns of C, as many as it has rows, are a lower triangle. Only exact, or
    /// with an 'out' that replaces C.
    kernels::Shape shape = kernels::Shape::full;
    std::int64_t first_block = 0;
    std::int64_t blocks = 0;  ///< 0: all from 'first_block' on
    tiles::ProductOut out = tiles::ProductOut::subtract;
    bool in_place = false;  ///< C is where A is: one thread computes all its columns
  };
  /// Subtracts the products rows(0) .. rows(count - 1) of at most 'largest' rows each; 'rows' is
  /// called by several threads.
  void subtract(std::int64_t count, std::int64_t largest,
                const std::function<Rows(std::int64_t i)>& rows);

  /// Bytes of its workspace, with a B of rows x cols.
  static std::int64_t bytes(Products products, std::int64_t largest, std::int64_t rows,
                            std::int64_t cols, std::int64_t depth, int threads);

 private:
  std::int64_t count_blocks(const Rows& rows) const;
  void convert(MatrixView<const double> b, bool transposed, std::int64_t k, std::int64_t first,
               std::int64_t count);
  std::vector<tiles::ProductStrip> strips_of(const Rows& rows, std::int64_t first,
                                             std::int64_t width) const;
  void subtract_exactly(const Rows& rows, std::int64_t first, std::int64_t width, int thread);
  void subtract_by_blas(const Rows& rows, std::int64_t first, std::int64_t width) const;

  engine::ThreadPool& pool_;
  Products products_;
  std::int64_t depth_ = 0, rows_ = 0, cols_ = 0;  ///< of B, and of its blocks
  Lines lines_;                                   ///< the columns of B
  MatrixView<double> copy_;                       ///< B for the BLAS
  core::Buffer<double> copied_;
  std::vector<kernels::ResiduesOut> blocks_;  ///< B for exact products
  tiles::LineScales scales_;
  core::Buffer<std::int8_t> right_;
  std::int64_t scratch_bytes_ = 0;
  std::vector<core::Buffer<std::byte>> scratch_;  ///< by thread
};

}  // namespace stepwell::factor

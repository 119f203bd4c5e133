// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <utility>

#include "core/buffer.hpp"
#include "stepwell/view.hpp"

namespace stepwell::factor {

/// Position and size of a block of A.
struct Block {
  std::int64_t row = 0, col = 0, rows = 0, cols = 0;
};

/// The source of the blocks of A for a factorization.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// The block, in place or copied to 'scratch', which has room for its elements; of a diagonal
  /// block only the lower triangle is defined. May be called by several threads concurrently. If A
  /// is distributed, the block must be one of this rank's tiles. Throws what the caller's function
  /// throws.
  virtual MatrixView<const double> block(const Block& at, double* scratch) const = 0;
  /// The same block of A in the caller's order, if the source uses another order.
  virtual MatrixView<const double> block_of_a(const Block& at, double* scratch) const {
    return block(at, scratch);
  }
  /// Whether block() writes to 'scratch'. If not, blocks are in memory as long as the source
  /// exists, and a task graph has them as data.
  virtual bool needs_scratch() const = 0;
  /// The matrix whose blocks block() returns; empty if they are not parts of one matrix in memory.
  virtual MatrixView<const double> matrix() const { return {}; }
};

/// A matrix in memory, of which one triangle is read, in its own order or with permuted rows and
/// columns: 'order' holds indices into A; empty: not permuted. 'jitter' is added to the diagonal of
/// what block() returns.
class StoredBlocks : public BlockSource {
 public:
  StoredBlocks(MatrixView<const double> a, std::span<const std::int64_t> order,
               Triangle triangle = Triangle::lower, double jitter = 0)
      : a_(a), order_(order), upper_(triangle == Triangle::upper), jitter_(jitter) {}
  MatrixView<const double> block(const Block& at, double* scratch) const override;
  MatrixView<const double> block_of_a(const Block& at, double* scratch) const override;
  bool needs_scratch() const override { return upper_ || !order_.empty() || jitter_ != 0; }
  MatrixView<const double> matrix() const override {
    return needs_scratch() ? MatrixView<const double>{} : a_;
  }

 private:
  MatrixView<const double> in_order(const Block& at, double* scratch) const;

  MatrixView<const double> a_;
  std::span<const std::int64_t> order_;
  bool upper_;
  double jitter_;
};

/// A matrix that a function of the caller writes block by block.
class FilledBlocks : public BlockSource {
 public:
  using Fill = std::function<void(std::int64_t row, std::int64_t col, MatrixView<double> block)>;
  explicit FilledBlocks(Fill fill) : fill_(std::move(fill)) {}
  MatrixView<const double> block(const Block& at, double* scratch) const override;
  bool needs_scratch() const override { return true; }

 private:
  Fill fill_;
};

}  // namespace stepwell::factor

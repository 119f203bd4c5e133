// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <utility>

#include "core/buffer.hpp"
#include "stepwell/view.hpp"

namespace stepwell::factor {

/// A place and a size in A.
struct Block {
  std::int64_t row = 0, col = 0, rows = 0, cols = 0;
};

/// Where a factorization takes the blocks of A from.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// The block, where it is or in scratch, which holds as many numbers; of one on the diagonal the
  /// lower triangle. For several threads at once. Where A lies on ranks it is one of this rank's
  /// tiles. Throws what the caller's function throws.
  virtual MatrixView<const double> block(const Block& at, double* scratch) const = 0;
  /// The same of A as the caller has it, where the source has another order.
  virtual MatrixView<const double> block_of_a(const Block& at, double* scratch) const {
    return block(at, scratch);
  }
  /// Whether scratch is written.
  virtual bool needs_scratch() const = 0;
};

/// A matrix in memory, as it is or with its rows and columns in another order: indices into A;
/// empty: as A is. Its lower triangle is read.
class StoredBlocks : public BlockSource {
 public:
  StoredBlocks(MatrixView<const double> a, std::span<const std::int64_t> order)
      : a_(a), order_(order) {}
  MatrixView<const double> block(const Block& at, double* scratch) const override;
  MatrixView<const double> block_of_a(const Block& at, double*) const override {
    return a_.block(at.row, at.col, at.rows, at.cols);
  }
  bool needs_scratch() const override { return !order_.empty(); }

 private:
  MatrixView<const double> a_;
  std::span<const std::int64_t> order_;
};

/// A matrix that the caller writes block by block.
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

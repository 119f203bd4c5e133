// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/buffer.hpp"
#include "engine/threads/thread_pool.hpp"
#include "tiles/residue_product.hpp"

namespace stepwell::factor {

/// Whether products with exact sums are faster than the BLAS's: on a matrix engine for bytes.
bool has_residue_engine();

/// Columns of B whose residues are kept at a time: with fewer, converting A takes more than an
/// eighth of the time.
inline constexpr std::int64_t kResidueColumns = 2048;

/// C -= A B of FP64 quality (tiles/residue_product.hpp) on the threads of a pool, for several A
/// with the same B. Sums are exact: the bits do not depend on the number of threads, nor on which
/// rows of A are multiplied together.
class ResidueGemm {
 public:
  explicit ResidueGemm(engine::ThreadPool& pool) : pool_(pool) {}

  /// Converts B, in blocks of 'depth' rows, or B', in blocks of columns. The memory is kept for the
  /// next.
  void set_right(MatrixView<const double> b, std::int64_t depth, bool transposed = false);

  /// Rows of a product: C -= A B, with A in as many blocks of columns as B has blocks of rows, and
  /// B's columns from 'column' on, as many as C has.
  struct Rows {
    tiles::ProductLeft a;
    MatrixView<double> c;
    std::int64_t column = 0;
    kernels::Shape shape = kernels::Shape::full;
  };
  /// Subtracts the products rows(0) .. rows(count - 1) of at most 'largest' rows each; 'rows' is
  /// called by several threads.
  void subtract(std::int64_t count, std::int64_t largest,
                const std::function<Rows(std::int64_t i)>& rows);

  /// Bytes of its workspace, with a B of rows x cols.
  static std::int64_t bytes(std::int64_t largest, std::int64_t rows, std::int64_t cols,
                            std::int64_t depth, int threads);

 private:
  void convert(MatrixView<const double> b, bool transposed, std::int64_t k, std::int64_t first,
               std::int64_t count);

  engine::ThreadPool& pool_;
  std::int64_t depth_ = 0, cols_ = 0;
  std::vector<kernels::ResiduesOut> blocks_;
  tiles::LineScales scales_;
  core::Buffer<std::int8_t> right_;
  std::vector<core::Buffer<std::byte>> scratch_;  ///< by thread
};

}  // namespace stepwell::factor

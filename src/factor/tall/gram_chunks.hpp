// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/row_block.hpp"
#include "engine/threads/counter.hpp"
#include "engine/threads/thread_pool.hpp"
#include "factor/tall/column_scan.hpp"
#include "factor/tall/gram.hpp"
#include "kernels/layout.hpp"

namespace stepwell::factor {

static_assert(kColumnGroup % kernels::kPanel == 0);

/// Sizes that m, n and the rung determine.
struct GramShapes {
  std::int64_t m, n, rows, tile;
  int planes;
  std::int64_t element_bytes;  ///< bytes of an element of a plain operand

  GramShapes(std::int64_t m, std::int64_t n, Rung rung);

  std::int64_t chunks() const { return (m + rows - 1) / rows; }
  std::int64_t groups() const { return (n + kColumnGroup - 1) / kColumnGroup; }
  std::int64_t tiles() const { return (n + tile - 1) / tile; }
  std::int64_t tile_jobs() const { return tiles() * (tiles() + 1) / 2; }
  /// Bytes of one form of a chunk.
  std::int64_t form() const {
    return planes > 0 ? 2 * kernels::packed_elements(n, rows, planes)
                      : core::size_product(n, rows, element_bytes, "a chunk of A");
  }
  std::int64_t forms() const { return planes > 0 ? 2 : 1; }
  /// Bytes of scratch memory of a thread: a group of columns, stored by columns and scaled, or the
  /// sums of a tile.
  std::int64_t scratch() const {
    return std::max(2 * kColumnGroup * rows, tile * kernels::sums_ld(tile)) * 8;
  }
};

/// Chunks of rows as operands of products: two at a time, one of which is multiplied while the
/// other is narrowed. The caller synchronizes the threads.
class GramChunks {
 public:
  /// Fills out.ab, out.column and, unless it is known, out.power.
  GramChunks(core::RowReader& a, Rung rung, MatrixView<const double> b, Gram& out);

  const GramShapes& shapes() const { return s_; }
  std::int64_t rows_in(std::int64_t chunk) const {
    return std::min(s_.rows, s_.m - chunk * s_.rows);
  }
  /// Narrows a group of columns of a chunk into the operand, in both orders or as plain elements,
  /// and scans them. 'scratch' has 2 kColumnGroup x rows elements. If reading copies rows, group 0
  /// reads those of the chunk and the other groups wait for it: see give_up().
  void narrow(std::int64_t chunk, std::int64_t group, double* scratch);
  /// To be called instead of narrow() after a failure or a cancellation, so that no thread waits.
  void give_up(std::int64_t group);

  /// The operand of a rung with planes.
  kernels::PackedOut operand(std::int64_t chunk, kernels::Order order) const;
  /// The transpose of the chunk, n x rows, for a rung without planes: T is its format.
  template <class T>
  MatrixView<const T> plain(std::int64_t chunk) const {
    return view(reinterpret_cast<const T*>(operand_[parity(chunk)].data()), s_.n, rows_in(chunk),
                s_.n);
  }
  /// The factors that bring the chunk's columns to the scale of C.
  const std::vector<double>& ratio(std::int64_t chunk) const { return ratio_[parity(chunk)]; }

 private:
  static std::size_t parity(std::int64_t chunk) { return static_cast<std::size_t>(chunk % 2); }
  core::RowBlock rows_of(std::int64_t chunk, std::int64_t group);
  void narrow_columns(std::int64_t chunk, MatrixView<const double> a, std::int64_t j,
                      double* scratch);
  bool narrow_rows(std::int64_t chunk, const core::RowBlock& rows, std::int64_t j);
  void book(std::int64_t chunk, std::size_t column, const kernels::Scan& found, double local);
  void scan_part(std::int64_t chunk, MatrixView<const double> a, std::int64_t j);
  void copy_plain(std::int64_t chunk, MatrixView<const double> a, std::int64_t j,
                  const double* local, double* scratch);

  core::RowReader& a_;
  Rung rung_;
  MatrixView<const double> b_;
  Gram& out_;
  GramShapes s_;
  bool known_;  ///< whether the scale of the columns in C is known
  std::array<core::Buffer<std::byte>, 2> operand_;
  std::array<core::Buffer<double>, 2> read_;
  std::array<core::RowBlock, 2> rows_;        ///< what read_ holds
  std::array<std::vector<double>, 2> local_;  ///< scale of the columns in a chunk
  std::array<std::vector<double>, 2> ratio_;
  engine::Counter chunks_read_;
};

/// The 2^-k that brings x into [1, 2); 1 for zero.
double inverse_power(double x);

}  // namespace stepwell::factor

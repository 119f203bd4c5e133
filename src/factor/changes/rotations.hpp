// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "engine/threads/thread_pool.hpp"
#include "stepwell/view.hpp"
#include "tiles/tile_matrix.hpp"

/// Updates and downdates of a factor by plane rotations (Golub & Van Loan, section 6.5.4), 64
/// columns of V at a time. L has all tiles at fp64. The bits do not depend on the number of
/// threads.
namespace stepwell::factor {

/// L L' <- L L' + V V': rotations of the columns of L with those of V that make V zero, from the
/// first column of L to the last. V: n x k, overwritten. Rows of zeros at the top of V cost
/// nothing. Cost: 3 n^2 k.
void add_columns(engine::ThreadPool& pool, const tiles::TileMatrix& l, MatrixView<double> v);

/// Rotations of n columns of L with k columns, in slices of 64 columns: of slice s, those of column
/// i of L follow each other.
class RotationTable {
 public:
  RotationTable(std::int64_t n, std::int64_t k);

  void set(std::int64_t i, std::int64_t t, double c, double s) {
    const auto at = static_cast<std::size_t>(first_of(t) * n_ + i * width(t) + t - first_of(t));
    c_[at] = c;
    s_[at] = s;
  }
  std::int64_t columns() const { return k_; }
  /// Cosines and sines of the slice that begins with column t, from column i of L on.
  const double* cosines(std::int64_t i, std::int64_t t) const { return c_.data() + start(i, t); }
  const double* sines(std::int64_t i, std::int64_t t) const { return s_.data() + start(i, t); }
  /// Columns in the slice of column t.
  std::int64_t width(std::int64_t t) const;

  static std::int64_t bytes(std::int64_t n, std::int64_t k);

 private:
  static std::int64_t first_of(std::int64_t t);
  std::int64_t start(std::int64_t i, std::int64_t t) const { return t * n_ + i * width(t); }

  std::int64_t n_, k_;
  std::vector<double> c_, s_;
};

/// The rotations that turn [P; S], from P's last row to its first, into [0; I], where S is the
/// upper triangle of I - P'P = S'S. P: n x k; 's': k x k, S' in the lower triangle. Both are
/// overwritten. Cost: 3 n k^2.
RotationTable eliminate_rows(MatrixView<double> p, MatrixView<double> s);

/// L L' <- L L' - V V' with the rotations of P = L^-1 V. Cost: 3 n^2 k. Stack: 64 KiB. Throws
/// nothing.
void subtract_columns(engine::ThreadPool& pool, const tiles::TileMatrix& l,
                      const RotationTable& table);

}  // namespace stepwell::factor

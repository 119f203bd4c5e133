// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "factor/scaling.hpp"
#include "stepwell/factor.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell {

/// The implementation of Factor: diag(scale.row) P A P' diag(scale.col) = L L' except for rounding
/// and the shift. mu is part of the scale's gain.
struct FactorData {
  std::int64_t n = 0;
  std::vector<std::int64_t> order;  ///< row k of P A P' is row order[k] of A; empty: P = I
  tiles::TileMatrix l;
  factor::Scale scale;
  FactorReport report;
  double rotations = 0;  ///< updates, downdates and drops: rows and columns that were rotated
  /// After a downdate: the largest norms that the rows of L had; their rounding errors are of that
  /// size.
  std::vector<double> largest_row_norms;

  static const FactorData& of(const Factor& factor) { return *factor.data_; }
  static FactorData& of(Factor& factor) { return *factor.data_; }
  static Factor make(std::unique_ptr<FactorData> data) { return Factor(std::move(data)); }
};

namespace factor {

/// cholesky() of a matrix that has been checked and whose diagonal is known, without its jitter.
Factor cholesky_of(MatrixView<const double> a, const Diagonal& diagonal,
                   const FactorOptions& options, OddPowers odd = OddPowers::as_they_are);

}  // namespace factor
}  // namespace stepwell

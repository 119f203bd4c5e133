// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stepwell/export.hpp"
#include "stepwell/rung.hpp"

namespace stepwell {

/// The assignment of a rung to each tile of a matrix. The text form below is used by parse_map(),
/// on the command line and in reports:
///
///   bf16                     every tile at one rung
///   bf16,bf16,bf16x2,fp32    by the level of the recursion tree at which the tile is split off:
///                            the off-diagonal block of the first split at the first rung, those of
///                            the second split at the second rung, ..., all others and the diagonal
///                            at the last rung
///   graded:bf16x3*1,bf16x2*3,bf16
///                            by the order of elimination: one block column of tiles at bf16x3, the
///                            next three at bf16x2, the rest at bf16. For covariances of smooth
///                            fields: the first columns take the large eigenvalues, and the
///                            remaining Schur complement is small
///   adaptive:1e-8            by the norm of the tile: each tile at the cheapest rung for which the
///                            error of the whole matrix stays below 1e-8 of its norm
struct PrecisionMap {
  std::vector<Rung> layers = {Rung::bf16};  ///< not used when adaptive
  double eps = 0;                           ///< positive: adaptive
  /// Graded maps: number of block columns of each layer except the last. Empty otherwise.
  std::vector<std::int64_t> columns = {};

  bool adaptive() const { return eps > 0; }
  bool graded() const { return !columns.empty(); }
  friend bool operator==(const PrecisionMap&, const PrecisionMap&) = default;
};

/// The map with the same rung for every tile.
STEPWELL_API PrecisionMap uniform(Rung rung);

/// The map that a text in the form above describes. Throws Error(invalid_argument), with an
/// explanation, for any other text.
STEPWELL_API PrecisionMap parse_map(std::string_view text);
STEPWELL_API std::string to_string(const PrecisionMap& map);

}  // namespace stepwell

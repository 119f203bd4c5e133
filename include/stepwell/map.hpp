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

/// Which rung each tile of a matrix uses. One line of text says it, here, on the command line and
/// in reports:
///
///   bf16                     every tile at one rung
///   bf16,bf16,bf16x2,fp32    by the level at which the recursion tree splits the tile off: the
///                            first split's off-diagonal block at the first rung, those of the next
///                            split at the second, ..., the rest and the diagonal at the last
///   graded:bf16x3*1,bf16x2*3,bf16
///                            by the order of elimination: one block column of tiles at bf16x3, the
///                            next three at bf16x2, the rest at bf16. Covariances of smooth fields
///                            lose their large eigenvalues to the first columns, and what is left
///                            is small
///   adaptive:1e-8            by the tile's norm: each tile at the cheapest rung that keeps the
///                            error of the whole below 1e-8 of its norm
struct PrecisionMap {
  std::vector<Rung> layers = {Rung::bf16};  ///< not used when adaptive
  double eps = 0;                           ///< positive: adaptive
  /// Graded: how many block columns each layer but the last has. Empty otherwise.
  std::vector<std::int64_t> columns = {};

  bool adaptive() const { return eps > 0; }
  bool graded() const { return !columns.empty(); }
  friend bool operator==(const PrecisionMap&, const PrecisionMap&) = default;
};

/// The same rung everywhere.
STEPWELL_API PrecisionMap uniform(Rung rung);

/// The map that the text above means. Throws Error(invalid_argument) that says what is wrong with
/// it.
STEPWELL_API PrecisionMap parse_map(std::string_view text);
STEPWELL_API std::string to_string(const PrecisionMap& map);

}  // namespace stepwell

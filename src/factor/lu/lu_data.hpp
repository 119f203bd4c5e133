// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "factor/lu/butterfly.hpp"
#include "factor/scaling.hpp"
#include "stepwell/lu.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell {

/// The implementation of LuFactor: H P' = G L' except for rounding, where
/// H = diag(scale.row) A diag(scale.col), or with butterflies U and V: U' H V = G L'.
struct LuData {
  std::int64_t n = 0;
  std::vector<std::int64_t> order;  ///< column k of A P' is column order[k] of A
  tiles::TileMatrix g, l;
  factor::Scale scale;  ///< powers of two; the gain is 1
  std::optional<factor::Butterflies> butterflies;
  FactorReport report;

  static const LuData& of(const LuFactor& factor) { return *factor.data_; }
  static LuData& of(LuFactor& factor) { return *factor.data_; }
  static LuFactor make(std::unique_ptr<LuData> data) { return LuFactor(std::move(data)); }
};

namespace factor {

/// lu() of a matrix whose scale is known.
LuFactor lu_scaled(MatrixView<const double> a, const Scale& scale, const FactorOptions& options);

}  // namespace factor
}  // namespace stepwell

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "stepwell/factor.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell {

/// The inside of a Factor: diag(scale) A diag(scale) = L L' but for rounding and the shift. mu is
/// part of the scale.
struct FactorData {
  tiles::TileMatrix l;
  std::vector<double> scale;
  FactorReport report;
};

}  // namespace stepwell

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "factor/cholesky/codelets.hpp"
#include "factor/scaling.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::factor {

class Checkpointing;

/// What an attempt factors, how, and what it finds. A and its scale may be missing in a graph whose
/// tasks do not run (GraphOptions::dry).
struct CholeskyState {
  const BlockSource* source = nullptr;
  const Scale* scale = nullptr;  ///< in the source's order
  /// The scaled and shifted diagonal, in the source's order; only for a map in residues.
  std::span<const double> diagonal;
  double diagonal_factor = 1;  ///< 1 + c u
  tiles::Rounding rounding = tiles::Rounding::nearest;
  const tiles::TileMatrix* l = nullptr;
  int rank = 0;                          ///< the rank whose tiles L holds
  Checkpointing* checkpoints = nullptr;  ///< null: none

  CholeskyResults results;
};

}  // namespace stepwell::factor

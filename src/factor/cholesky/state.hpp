// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "factor/block_source.hpp"
#include "factor/scaling.hpp"
#include "kernels/scan.hpp"
#include "tiles/operations.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::factor {

class Checkpointing;

/// State shared by all tasks of an attempt. Tasks change only the scans (one for each tile) and the
/// pivot (written by the one diagonal tile that fails; with several ranks, by at most one on each).
struct CholeskyState {
  const BlockSource* source = nullptr;
  const Scale* scale = nullptr;  ///< in the source's order
  double diagonal_factor = 1;    ///< 1 + c u
  tiles::Rounding rounding = tiles::Rounding::nearest;
  const tiles::TileMatrix* l = nullptr;
  int rank = 0;                          ///< the rank whose tiles L holds
  Checkpointing* checkpoints = nullptr;  ///< null: none

  std::vector<kernels::Scan> scans;
  tiles::Pivot pivot;  ///< global index, in the source's order
};

}  // namespace stepwell::factor

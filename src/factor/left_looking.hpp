// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "engine/graph.hpp"
#include "factor/scaling.hpp"
#include "kernels/scan.hpp"
#include "tiles/operations.hpp"
#include "tiles/tile_matrix.hpp"

/// One attempt at the Cholesky factor, as a graph of tasks on tiles.
namespace stepwell::factor {

/// What all tasks of an attempt share and none changes, but for the scans (one for each tile) and
/// the pivot (written by the one diagonal tile that fails).
struct Attempt {
  MatrixView<const double> a;
  std::span<const std::int64_t> order;  ///< of elimination: indices into A; empty: as A is
  const Scale* scale = nullptr;         ///< in that order
  double diagonal_factor = 1;           ///< 1 + c u
  tiles::Rounding rounding = tiles::Rounding::nearest;
  const tiles::TileMatrix* l = nullptr;

  std::vector<kernels::Scan> scans;
  tiles::Pivot pivot;  ///< global index, in that order
};

/// Bytes that left_looking works in beside L, without the workers' scratch.
std::int64_t workspace_bytes(const tiles::RungMap& map, int workers);

/// How many tasks it inserts.
std::int64_t task_count(const tiles::RungMap& map);

/// L L' = diag(scale.row) A diag(scale.col), shifted. Returns when all is done, or when a pivot has
/// failed (attempt.pivot) or the caller has cancelled.
void left_looking(engine::Graph& graph, Attempt& attempt);

/// The Frobenius norms of the tiles of the scaled matrix, in the grid's order.
std::vector<double> tile_norms(engine::Graph& graph, MatrixView<const double> a,
                               const tiles::Grid& grid, const Scale& scale);

}  // namespace stepwell::factor

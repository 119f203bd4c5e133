// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "engine/graph.hpp"
#include "factor/scaling.hpp"
#include "tiles/panel.hpp"

/// The tasks of an LU factorization.
namespace stepwell::factor {

/// State shared by the tasks. The graph (factor/lu/graph.cpp) determines which task may access
/// which part of it, and when.
struct LuState {
  MatrixView<const double> a;
  const Scale* scale = nullptr;
  bool pivoting = true;
  const tiles::TileMatrix* g = nullptr;
  const tiles::TileMatrix* l = nullptr;
  std::byte* x[2] = {nullptr, nullptr};  ///< two block rows
  std::byte* l_panel = nullptr;          ///< L of one block row
  std::byte* inverses = nullptr;         ///< inverses of L's diagonal tiles

  std::vector<std::int64_t> order;           ///< column of A at each position
  std::vector<std::int64_t> exchanged;       ///< the position that each position was exchanged with
  std::vector<double> largest_g, largest_l;  ///< largest of each tile; NaN: one is not finite
  tiles::Pivot pivot;

  const tiles::RungMap& map() const { return g->map(); }
  bool wide() const { return map().uses(Rung::fp64); }
  /// Block row j from position 'first' on.
  tiles::Panel panel(std::int64_t j, std::int64_t first) const;
  /// The exchanges of block row j.
  std::span<std::int64_t> exchanges(std::int64_t j);
};

/// Bytes of a worker's scratch memory, of one block row, of its L, and of all inverses.
std::int64_t lu_scratch_bytes(const tiles::RungMap& map);
std::int64_t lu_row_bytes(const tiles::RungMap& map);
std::int64_t lu_panel_bytes(const tiles::RungMap& map);
std::int64_t lu_inverse_bytes(const tiles::RungMap& map);

/// Arguments of all tasks: block row j and a block column i.
struct LuTask {
  LuState* state;
  std::int64_t j, i;
};

/// G(j, i) from A, i < j - 1: its columns are in their final positions.
const engine::Codelet& lu_solve_codelet();
/// X(j, i) = A(j, i) - sum_{k < j-1} G(j, k) L(i, k)', i >= j - 1, with columns in the order before
/// block row j - 1 was factored.
const engine::Codelet& lu_sweep_codelet();
/// Applies the exchanges of block row j - 1 to X, then computes G(j, j - 1).
const engine::Codelet& lu_advance_codelet();
/// X(j, i) -= G(j, j - 1) L(i, j - 1)', i >= j.
const engine::Codelet& lu_last_codelet();
/// X(j) Q = G(j, j) L'.
const engine::Codelet& lu_panel_codelet();
/// L(i, j) from the panel's L, or from X and G(j, j) without pivoting.
const engine::Codelet& lu_right_codelet();
/// Applies the exchanges of block row j to L and to the order.
const engine::Codelet& lu_exchange_codelet();
/// Converts row i of L to the layout for substitution.
const engine::Codelet& lu_finish_codelet();

}  // namespace stepwell::factor

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "engine/graph.hpp"
#include "factor/lu/state.hpp"

/// The workspace of run_lu_graph in addition to G and L, and the data ids of everything that its
/// tasks use.
namespace stepwell::factor {

/// Bytes of the workspace, without the workers' scratch.
std::int64_t lu_workspace_bytes(const tiles::RungMap& map);

/// G and L are used by rows, because a task for each tile of G sweeps over a row of G and one of L:
/// a piece of data for each tile would make the engine's overhead grow with the cube of the number
/// of block rows. L(j, j) is a piece of its own, because block row j + 1 is prepared with the rest
/// of row j of L while panel j is factored.
class LuWorkspace {
 public:
  LuWorkspace(engine::Graph& graph, LuState& state);

  engine::DataId a(std::int64_t j) const { return at(a_, j); }  ///< block row j of A
  engine::DataId row_factors() const { return row_factors_; }
  engine::DataId col_factors() const { return col_factors_; }
  /// The columns of A at the positions of block i.
  engine::DataId order(std::int64_t i) const { return at(order_, i); }
  engine::DataId g(std::int64_t j) const { return at(g_, j); }  ///< row j of G
  /// Row i > 0 of L without L(i, i).
  engine::DataId l(std::int64_t i) const { return at(l_, i - 1); }
  engine::DataId diagonal(std::int64_t j) const { return at(diagonal_, j); }  ///< L(j, j)
  engine::DataId x(std::int64_t j, std::int64_t i) const {
    return at(x_, j % 2 * std::ssize(a_) + i);
  }
  engine::DataId panel() const { return panel_; }  ///< L of the newest block row
  /// What panel j results in: the inverse of L(j, j), then the exchanges.
  engine::DataId results(std::int64_t j) const { return at(results_, j); }

 private:
  static engine::DataId at(const std::vector<engine::DataId>& ids, std::int64_t k) {
    return ids[static_cast<std::size_t>(k)];
  }

  core::Buffer<std::byte> memory_;
  std::vector<engine::DataId> a_, order_, g_, l_, diagonal_, x_, results_;
  engine::DataId row_factors_, col_factors_, panel_;
};

}  // namespace stepwell::factor

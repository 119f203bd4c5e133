// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/graph.hpp"
#include "factor/cholesky/codelets.hpp"
#include "factor/scaling.hpp"

namespace stepwell::factor {

/// A and its scale factors as data of a graph. Both may be null if the tasks do not run.
///
/// A matrix in memory is added by block columns: a piece takes StarPU 5 us, and a column's tiles
/// are loaded at about the same time. Otherwise each tile has memory of its own.
class InputData {
 public:
  InputData(engine::Graph& graph, const BlockSource* source, const Scale* scale,
            const tiles::Grid& grid);

  LoadRules rules() const { return rules_; }

  /// Adds what a task reads to load A(i, j): the piece of A, unless it is computed, and the factors
  /// of the rows and of the columns. To be called once for each tile.
  void use(std::int64_t i, std::int64_t j, std::vector<engine::Use>& uses);

 private:
  engine::DataId piece_of_a(std::int64_t i, std::int64_t j);

  engine::Graph& graph_;
  const BlockSource* source_;
  tiles::Grid grid_;
  LoadRules rules_;
  std::vector<engine::Use> factors_;
  std::vector<engine::DataId> columns_;  ///< block columns of A; -1: not added yet
};

}  // namespace stepwell::factor

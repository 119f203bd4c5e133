// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "engine/graph.hpp"
#include "factor/cholesky/codelets.hpp"
#include "factor/scaling.hpp"

namespace stepwell::factor {

/// A, its scale factors and, if it is needed, the scaled diagonal as data of a graph. A and the
/// factors may be null if the tasks do not run.
///
/// A matrix in memory is added by block columns: a piece takes StarPU 5 us, and a column's tiles
/// are loaded at about the same time. Otherwise each tile has memory of its own.
class InputData {
 public:
  InputData(engine::Graph& graph, const BlockSource* source, const Scale* scale,
            std::span<const double> diagonal, const tiles::Grid& grid);

  LoadRules rules() const { return rules_; }

  /// Adds what a task reads to load A(i, j): the piece of A, unless it is computed, the factors of
  /// the rows and of the columns, and the diagonal. To be called once for each tile.
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

/// What InputData::use() added, as the task finds it: block 'at' of A, in the task's pieces of data
/// from 'next' on.
class TaskInput {
 public:
  TaskInput(const engine::Task& task, std::size_t& next, const LoadRules& rules, const Block& at);

  /// 'count' rows of the block from 'first' on, in place or computed in scratch memory.
  MatrixView<const double> rows(std::int64_t first, std::int64_t count, std::byte* scratch) const;
  /// The factors of the rows from 'first' on, and of the columns.
  kernels::Scales scales(std::int64_t first) const;
  /// The scaled diagonal elements of all rows of the block, if there are such data: the task's next
  /// piece.
  static const double* diagonal(const engine::Task& task, std::size_t& next, const Block& at) {
    return task.array<const double>(next++) + at.row;
  }

 private:
  LoadRules rules_;
  Block at_;
  MatrixView<const double> a_;  ///< empty if it is computed
  kernels::Scales scales_;
};

Block block_at(const tiles::Grid& grid, std::int64_t i, std::int64_t j);

}  // namespace stepwell::factor

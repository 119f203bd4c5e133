// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/cholesky/input_data.hpp"

namespace stepwell::factor {

using engine::Access;
using engine::DataId;

InputData::InputData(engine::Graph& graph, const BlockSource* source, const Scale* scale,
                     std::span<const double> diagonal, const tiles::Grid& grid)
    : graph_(graph), source_(source), grid_(grid) {
  if (grid.n == 0) return;
  if (source != nullptr) {
    rules_.computed = source->needs_scratch() ? source : nullptr;
    rules_.by_columns = !source->matrix().empty();
    if (rules_.by_columns) columns_.resize(static_cast<std::size_t>(grid.tiles()), -1);
  }
  if (scale == nullptr) return;
  for (const std::vector<double>* factors : {&scale->row, &scale->col}) {
    factors_.push_back({graph.add(factors->data(), 8 * grid.n), Access::read});
  }
  if (diagonal.empty()) return;
  factors_.push_back({graph.add(diagonal.data(), 8 * grid.n), Access::read});
}

void InputData::use(std::int64_t i, std::int64_t j, std::vector<engine::Use>& uses) {
  if (source_ != nullptr && rules_.computed == nullptr) {
    uses.push_back({piece_of_a(i, j), Access::read});
  }
  uses.insert(uses.end(), factors_.begin(), factors_.end());
}

DataId InputData::piece_of_a(std::int64_t i, std::int64_t j) {
  const std::int64_t row = i * grid_.tile, col = j * grid_.tile;
  if (!rules_.by_columns) {
    return graph_.add(source_->block({row, col, grid_.size(i), grid_.size(j)}, nullptr));
  }
  DataId& column = columns_[static_cast<std::size_t>(j)];
  if (column < 0) {
    column = graph_.add(source_->matrix().block(col, col, grid_.n - col, grid_.size(j)));
  }
  return column;
}

TaskInput::TaskInput(const engine::Task& task, std::size_t& next, const LoadRules& rules,
                     const Block& at)
    : rules_(rules), at_(at) {
  if (rules.computed == nullptr) {
    a_ = task.matrix<const double>(next++);
    if (rules.by_columns) a_ = a_.block(at.row - at.col, 0, at.rows, at.cols);
  }
  scales_.row = task.array<const double>(next++) + at.row;
  scales_.col = task.array<const double>(next++) + at.col;
}

MatrixView<const double> TaskInput::rows(std::int64_t first, std::int64_t count,
                                         std::byte* scratch) const {
  if (rules_.computed == nullptr) return a_.block(first, 0, count, at_.cols);
  return rules_.computed->block({at_.row + first, at_.col, count, at_.cols},
                                reinterpret_cast<double*>(scratch));
}

kernels::Scales TaskInput::scales(std::int64_t first) const {
  return {scales_.row + first, scales_.col};
}

Block block_at(const tiles::Grid& grid, std::int64_t i, std::int64_t j) {
  return {i * grid.tile, j * grid.tile, grid.size(i), grid.size(j)};
}

}  // namespace stepwell::factor

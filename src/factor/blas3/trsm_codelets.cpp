// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/blas3/trsm_codelets.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/kernels.hpp"

namespace stepwell::factor {
namespace {

using engine::Phase;
using engine::Task;
using tiles::RungMap;

void run_scale(Task& task, const void* arguments) {
  const auto& x = *static_cast<const TrsmTask*>(arguments);
  const std::int64_t rows = x.rules->down.size(x.i);
  auto* const largest = task.array<double>(0);
  const auto* col = task.array<const double>(1);
  std::fill_n(largest, rows, 0.0);
  for (std::int64_t j = 0; j < x.rules->across().tiles(); ++j) {
    const auto b = task.matrix<const double>(2 + static_cast<std::size_t>(j));
    for (std::int64_t c = 0; c < b.cols; ++c, ++col) {
      const double* const column = b.column(c);
      for (std::int64_t r = 0; r < rows; ++r) {
        const double size = std::abs(column[r]) * *col;
        largest[r] = size > largest[r] ? size : largest[r];
      }
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    const bool usable = largest[r] > 0 && std::isfinite(largest[r]);
    largest[r] = usable ? std::ldexp(1.0, -std::clamp(std::ilogb(largest[r]), -1000, 1000)) : 1;
  }
  task.lap(Phase::load);
}

void run_invert(Task& task, const void* arguments) {
  const auto& x = *static_cast<const TrsmTask*>(arguments);
  const RungMap& map = *x.rules->map;
  tiles::invert_stored(kernels::table(), {shape_of(map, x.j, x.j), task.data(1)},
                       inverse_of(map, x.j, task.data(0)), task.scratch());
  task.lap(Phase::diagonal);
}

template <class T>
void write_back(MatrixView<const T> x, const std::vector<double>& unscale, MatrixView<double> b) {
  const core::FpScope fp;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    const T* const from = x.column(c);
    double* const to = b.column(c);
    for (std::int64_t r = 0; r < b.rows; ++r) {
      to[r] = static_cast<double>(from[r]) * unscale[static_cast<std::size_t>(r)];
    }
  }
}

void run_tile(Task& task, const void* arguments) {
  const auto& x = *static_cast<const TrsmTask*>(arguments);
  const TrsmRules& rules = *x.rules;
  const kernels::Table& t = kernels::table();
  const RungMap& map = *rules.map;
  const tiles::TileShape shape = rules.shape(x.i, x.j);
  const tiles::Sums sums{shape.rung, shape.rows, shape.cols, task.scratch()};
  std::byte* const scratch = task.scratch() + core::round_up(sums.bytes(), 64);
  const auto b = task.matrix<double>(0);
  const auto* const scale = task.array<const double>(1);
  const double* const col = task.array<const double>(2) + x.j * rules.across().tile;
  kernels::Scan scan;
  tiles::load_tile(t, b, tiles::Shape::full, {scale, col}, 1, sums, scan);
  task.lap(Phase::load);

  std::size_t next = 3;
  std::byte* const copies = map.most_planes() > 0 && x.j > 0 ? task.data(next++) : nullptr;
  std::vector<tiles::TileIn> left;
  for (std::int64_t k = 0; k < x.j; ++k) left.push_back({rules.shape(x.i, k), task.data(next++)});
  std::vector<tiles::RightTile> right;
  for (std::int64_t k = 0; k < x.j; ++k) {
    tiles::TileIn stored{shape_of(map, x.j, k), nullptr};
    if (!stored.shape.is_packed()) stored.data = task.data(next++);
    right.push_back({stored, rows_of(map, x.j, k, 0, copies)});
  }
  tiles::sweep(t, sums, left, right, tiles::Shape::full, scratch);
  task.lap(Phase::update);

  tiles::solve_tile(t, inverse_of(map, x.j, task.data(next + 1)), sums, tiles::Rounding::nearest,
                    {shape, task.data(next)}, scratch);
  std::vector<double> unscale(static_cast<std::size_t>(b.rows));
  for (std::size_t r = 0; r < unscale.size(); ++r) unscale[r] = rules.gain / scale[r];
  if (sums.wide()) {
    write_back<double>(sums.fp64(), unscale, b);
  } else {
    write_back<float>(sums.fp32(), unscale, b);
  }
  task.lap(Phase::solve);
}

}  // namespace

const engine::Codelet& trsm_scale_codelet() {
  static const auto* const codelet = new engine::Codelet("trsm_scale", run_scale);
  return *codelet;
}
const engine::Codelet& trsm_invert_codelet() {
  static const auto* const codelet = new engine::Codelet("trsm_invert", run_invert);
  return *codelet;
}
const engine::Codelet& trsm_tile_codelet() {
  static const auto* const codelet = new engine::Codelet("trsm_tile", run_tile);
  return *codelet;
}

}  // namespace stepwell::factor

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/factor.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

#include "core/buffer.hpp"
#include "core/memory_error.hpp"
#include "core/numeric/transpose.hpp"
#include "engine/threads/thread_pool.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "kernels/kernels.hpp"
#include "stepwell/error.hpp"
#include "tiles/operations.hpp"

namespace stepwell {

const char* to_string(FactorOutcome outcome) {
  switch (outcome) {
    case FactorOutcome::ok:
      return "ok";
    case FactorOutcome::not_positive_definite:
      return "not positive definite";
    case FactorOutcome::breakdown:
      return "breakdown";
    case FactorOutcome::singular:
      return "singular";
    case FactorOutcome::non_finite:
      return "non-finite element";
    case FactorOutcome::cancelled:
      return "cancelled";
    case FactorOutcome::corrupted:
      break;
  }
  return "corrupted";
}

Factor::Factor() try : data_(std::make_unique<FactorData>()) {
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}
Factor::Factor(std::unique_ptr<FactorData> data) : data_(std::move(data)) {}
Factor::~Factor() = default;
Factor::Factor(Factor&& other) noexcept = default;
Factor& Factor::operator=(Factor&& other) noexcept = default;

std::int64_t Factor::order() const {
  return data_->n;
}

const FactorReport& Factor::report() const {
  return data_->report;
}

const std::vector<std::int64_t>& Factor::permutation() const {
  return data_->order;
}

namespace factor {
namespace {

/// Copies a tile of L to its place, or its transpose. Of a diagonal tile only the triangle is
/// written.
void copy_tile_to(const FactorData& f, const std::vector<double>& row, std::int64_t i,
                  std::int64_t j, MatrixView<double> l, Triangle triangle) {
  const tiles::Grid& grid = f.l.grid();
  const std::int64_t first = i * grid.tile, col = j * grid.tile;
  const std::int64_t rows = grid.size(i), cols = grid.size(j);
  const kernels::Scales scales{row.data() + first, nullptr};
  const kernels::Table& t = kernels::table();
  if (triangle == Triangle::lower && i != j) {
    return tiles::copy_tile(t, f.l.tile(i, j), scales, l.block(first, col, rows, cols));
  }
  const core::Buffer<double> memory(rows * cols, core::Contents::any);
  const MatrixView<double> tile = view(memory.data(), rows, cols);
  tiles::copy_tile(t, f.l.tile(i, j), scales, tile);
  if (triangle == Triangle::upper) {
    return core::transpose(tile, l.block(col, first, cols, rows),
                           i == j ? core::Part::upper : core::Part::all);
  }
  for (std::int64_t c = 0; c < cols; ++c) {
    std::copy(tile.column(c) + c, tile.column(c) + rows, l.column(col + c) + first + c);
  }
}

}  // namespace
}  // namespace factor

void Factor::copy_to(MatrixView<double> l, Triangle triangle) const try {
  const std::int64_t n = order();
  if (!ok()) throw Error(ErrorCode::invalid_argument, "copy_to: there is no factor to copy");
  if (l.rows != n || l.cols != n || l.ld < n || (n > 0 && l.data == nullptr)) {
    throw Error(ErrorCode::invalid_argument,
                "copy_to: the output must be " + std::to_string(n) + " x " + std::to_string(n));
  }
  const core::FpScope fp;
  std::vector<double> row;
  const double root = std::sqrt(data_->scale.gain);
  for (const double s : data_->scale.row) row.push_back(1 / (s * root));
  const std::int64_t tiles = data_->l.grid().tiles();
  engine::ThreadPool pool(engine::pool_threads(nullptr));
  pool.for_each(tiles * tiles, [&](std::int64_t k) {
    const core::FpScope of_thread;
    const std::int64_t i = k % tiles, j = k / tiles;
    if (i >= j) factor::copy_tile_to(*data_, row, i, j, l, triangle);
  });
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

void Factor::copy_to(MatrixView<double> l) const {
  copy_to(l, Triangle::lower);
  for (std::int64_t j = 0; j < l.cols; ++j) std::fill_n(l.column(j), j, 0.0);
}

}  // namespace stepwell

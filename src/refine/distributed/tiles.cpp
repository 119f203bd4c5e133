// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/distributed/tiles.hpp"

#include <algorithm>
#include <atomic>
#include <exception>

#include "core/machine/fp_scope.hpp"
#include "stepwell/error.hpp"

namespace stepwell::refine {

std::vector<std::pair<std::int64_t, std::int64_t>> own_tiles(
    const tiles::Distribution& distribution, int rank, const tiles::Grid& grid) {
  std::vector<std::pair<std::int64_t, std::int64_t>> own;
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      if (distribution.owner(i, j) == rank) own.emplace_back(i, j);
    }
  }
  return own;
}

void for_all(engine::ThreadPool& pool, std::size_t count, double* scratch, std::int64_t size,
             const std::function<void(std::size_t, double*)>& body) {
  std::vector<std::exception_ptr> errors(count);
  std::atomic<std::size_t> next{0};
  pool.run([&](int thread) {
    const core::FpScope fp;
    for (std::size_t k = next++; k < count; k = next++) {
      try {
        body(k, scratch + thread * size);
      } catch (...) {
        errors[k] = std::current_exception();
      }
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
}

KeptTiles::KeptTiles(engine::ThreadPool& pool, engine::Agreement& agreement,
                     const tiles::Distribution& distribution, const tiles::Grid& grid,
                     const factor::BlockSource& from)
    : grid_(grid) {
  agreement.attempt([&] {
    std::int64_t offset = 0;
    for (const auto& [i, j] : own_tiles(distribution, agreement.ranks().rank(), grid)) {
      own_.push_back({i, j, offset});
      offset += grid.size(i) * grid.size(j);
    }
    kept_ = core::Buffer<double>(offset, core::Contents::any);
    for_all(pool, own_.size(), nullptr, 0, [&](std::size_t k, double*) {
      const Place& at = own_[k];
      const std::int64_t rows = grid_.size(at.i), cols = grid_.size(at.j);
      double* const here = kept_.data() + at.offset;
      const MatrixView<const double> tile =
          from.block({at.i * grid_.tile, at.j * grid_.tile, rows, cols}, here);
      for (std::int64_t c = 0; tile.data != here && c < cols; ++c) {
        std::copy_n(tile.column(c), rows, here + c * rows);
      }
    });
  });
}

MatrixView<const double> KeptTiles::block(const factor::Block& at, double*) const {
  const std::pair key(at.col / grid_.tile, at.row / grid_.tile);
  const auto found = std::lower_bound(
      own_.begin(), own_.end(), key,
      [](const Place& p, const auto& wanted) { return std::pair(p.j, p.i) < wanted; });
  if (found == own_.end() || std::pair(found->j, found->i) != key) {
    throw Error(ErrorCode::internal, "a tile of A was requested that another rank owns");
  }
  return view<const double>(kept_.data() + found->offset, at.rows, at.cols);
}

std::int64_t KeptTiles::bytes(const tiles::Distribution& distribution, int rank,
                              const tiles::Grid& grid) {
  std::int64_t bytes = 0;
  for (const auto& [i, j] : own_tiles(distribution, rank, grid)) {
    bytes += 8 * grid.size(i) * grid.size(j);
  }
  return bytes;
}

}  // namespace stepwell::refine

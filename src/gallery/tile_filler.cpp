// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/tile_filler.hpp"

#include <algorithm>
#include <memory>
#include <mutex>

#include "core/buffer.hpp"
#include "gallery/basis.hpp"
#include "gallery/element_rules.hpp"
#include "stepwell/error.hpp"

namespace stepwell::gallery {
namespace {

/// Columns of Q diag(d) Q', computed in blocks of columns.
class SpectrumColumns {
 public:
  SpectrumColumns(std::int64_t n, const Recipe& recipe)
      : q_(n, recipe.seed, 0), d_(spectrum(recipe.kind, n, recipe.condition, recipe.seed)) {}

  void fill(std::int64_t row, std::int64_t col, MatrixView<double> tile) {
    const std::shared_ptr<Block> block = find(col, tile.cols);
    const std::int64_t n = q_.order();
    {
      // The first thread computes the block; the others wait for it.
      const std::lock_guard lock(block->mutex);
      if (block->columns.size() == 0) make(*block);
    }
    for (std::int64_t j = 0; j < tile.cols; ++j) {
      std::copy_n(block->columns.data() + j * n + row, tile.rows, tile.column(j));
    }
  }

 private:
  struct Block {
    std::int64_t first = 0, count = 0;
    std::mutex mutex;
    core::Buffer<double> columns;
  };

  std::shared_ptr<Block> find(std::int64_t first, std::int64_t count) {
    const std::lock_guard lock(mutex_);
    for (const auto& block : last_) {
      if (block && block->first == first && block->count == count) return block;
    }
    std::swap(last_[0], last_[1]);
    last_[0] = std::make_shared<Block>();
    last_[0]->first = first;
    last_[0]->count = count;
    return last_[0];
  }

  void make(Block& block) const {
    const std::int64_t n = q_.order();
    core::Buffer<double> columns(n * block.count, core::Contents::any);
    const core::Buffer<double> memory(2 * Basis::kLanes * n);
    for (std::int64_t j = 0; j < block.count; j += Basis::kLanes) {
      const std::int64_t count = std::min(Basis::kLanes, block.count - j);
      double* x = memory.data();
      double* scratch = x + Basis::kLanes * n;
      std::fill_n(x, Basis::kLanes * n, 0.0);
      for (std::int64_t k = 0; k < count; ++k) x[Basis::kLanes * (block.first + j + k) + k] = 1;
      double* const rows = q_.apply_transposed(x, scratch);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t k = 0; k < Basis::kLanes; ++k) {
          rows[Basis::kLanes * i + k] *= d_[static_cast<std::size_t>(i)];
        }
      }
      const double* const y = q_.apply(rows, rows == x ? scratch : x);
      for (std::int64_t k = 0; k < count; ++k) {
        double* const to = columns.data() + (j + k) * n;
        for (std::int64_t i = 0; i < n; ++i) to[i] = y[Basis::kLanes * i + k];
      }
    }
    block.columns = std::move(columns);
  }

  Basis q_;
  std::vector<double> d_;
  std::mutex mutex_;
  std::shared_ptr<Block> last_[2];
};

}  // namespace

FillTile tile_filler(std::int64_t n, const Recipe& recipe) {
  check(recipe);
  if (n < 0) throw Error(ErrorCode::invalid_argument, "gallery: a matrix of negative order");
  FillTile filler;
  if (!is_general(recipe.kind) && has_spectrum(recipe.kind)) {
    const auto columns = std::make_shared<SpectrumColumns>(n, recipe);
    return [columns](std::int64_t row, std::int64_t col, MatrixView<double> tile) {
      columns->fill(row, col, tile);
    };
  }
  const bool known = with_element_rule(n, recipe, [&filler](auto element) {
    filler = [element](std::int64_t row, std::int64_t col, MatrixView<double> tile) {
      for (std::int64_t j = 0; j < tile.cols; ++j) {
        for (std::int64_t i = std::max<std::int64_t>(0, col + j - row); i < tile.rows; ++i) {
          tile(i, j) = element(row + i, col + j);
        }
      }
    };
  });
  if (!known) {
    throw Error(ErrorCode::invalid_argument,
                "gallery: '" + std::string(to_string(recipe.kind)) +
                    "' is not symmetric positive definite, and can't be had in tiles");
  }
  return filler;
}

}  // namespace stepwell::gallery

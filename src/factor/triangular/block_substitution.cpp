// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/triangular/block_substitution.hpp"

#include <algorithm>
#include <utility>

#include "core/checked.hpp"
#include "core/machine/fp_scope.hpp"
#include "factor/blas3/block_gemm.hpp"
#include "factor/triangular/substitution_tile.hpp"

namespace stepwell::factor {
namespace {

/// Columns that one thread solves with a diagonal block at a time. The BLAS's bits depend on it.
constexpr std::int64_t kColumns = 128;

class BlockSubstitution {
 public:
  BlockSubstitution(engine::ThreadPool& pool, const BlockTriangle& t, MatrixView<double> x,
                    Products products)
      : pool_(pool), t_(t), x_(x), products_(pool, products) {
    if (products == Products::exact) scales_ = line_scales();
  }

  /// Solves with the diagonal block of blocks [first, end).
  void solve(std::int64_t first, std::int64_t end) {
    if (end - first == 1) return solve_block(first);
    const std::int64_t middle = first + (end - first + 1) / 2;
    if (t_.upper) {
      solve(middle, end);
      subtract(middle, end, first, middle);
      solve(first, middle);
    } else {
      solve(first, middle);
      subtract(first, middle, middle, end);
      solve(middle, end);
    }
  }

 private:
  void solve_block(std::int64_t i) const {
    const MatrixView<double> x = rows(i, i + 1);
    pool_.for_each(core::ceil_div(x.cols, kColumns), [&](std::int64_t part) {
      const core::FpScope fp;
      t_.solve(i, strip(x, part * kColumns, kColumns));
    });
  }

  /// X's blocks [to, to_end) lose their products with the blocks [from, from_end).
  void subtract(std::int64_t from, std::int64_t from_end, std::int64_t to, std::int64_t to_end) {
    for (std::int64_t j = 0; j < x_.cols; j += kResidueColumns) {
      products_.set_right(strip(rows(from, from_end), j, kResidueColumns), t_.grid.tile);
      products_.subtract(to_end - to, t_.grid.tile, [&](std::int64_t index) {
        const std::int64_t i = to + index;
        const auto block = [this, i, from](std::int64_t k) { return t_.block(i, from + k); };
        tiles::ProductLeft left{block, t_.transposed};
        if (!scales_.to.empty()) {
          left.to = scales_.to.data() + i * t_.grid.tile;
          left.back = scales_.back.data() + i * t_.grid.tile;
        }
        return BlockGemm::Rows{std::move(left), strip(rows(i, i + 1), j, kResidueColumns)};
      });
    }
  }

  static MatrixView<double> strip(MatrixView<double> x, std::int64_t first, std::int64_t most) {
    return x.block(0, first, x.rows, std::min(most, x.cols - first));
  }

  /// X's rows of blocks [first, end).
  MatrixView<double> rows(std::int64_t first, std::int64_t end) const {
    const std::int64_t row = first * t_.grid.tile;
    return x_.block(row, 0, std::min(end * t_.grid.tile, x_.rows) - row, x_.cols);
  }

  /// The scales of the rows of T without its diagonal blocks.
  tiles::LineScales line_scales() const {
    tiles::LineSizes sizes(t_.grid.n);
    pool_.for_each(t_.grid.tiles(), [&](std::int64_t i) {
      const std::int64_t first = t_.upper ? i + 1 : 0, end = t_.upper ? t_.grid.tiles() : i;
      for (std::int64_t k = first; k < end; ++k) {
        if (t_.transposed) {
          sizes.add_columns(kernels::table(), t_.block(i, k), i * t_.grid.tile);
        } else {
          sizes.add_rows(kernels::table(), t_.block(i, k), i * t_.grid.tile);
        }
      }
    });
    return {sizes, t_.grid.n};
  }

  engine::ThreadPool& pool_;
  const BlockTriangle& t_;
  MatrixView<double> x_;
  BlockGemm products_;
  tiles::LineScales scales_;  ///< of T's rows; empty unless products are exact
};

}  // namespace

BlockTriangle block_triangle(const tiles::TileMatrix& l, bool transposed, std::int64_t first) {
  const tiles::Grid grid{l.grid().n - first * l.grid().tile, l.grid().tile};
  BlockTriangle t{grid, transposed, transposed, {}, {}};
  t.block = [&l, transposed, first](std::int64_t i, std::int64_t k) {
    const std::int64_t row = first + i, column = first + k;
    return tiles::TileIn(transposed ? l.tile(column, row) : l.tile(row, column)).fp64();
  };
  t.solve = [&l, transposed, first](std::int64_t i, MatrixView<double> x) {
    solve_tile<double>(l.tile(first + i, first + i), transposed, x);
  };
  return t;
}

void substitute_blocks(engine::ThreadPool& pool, const BlockTriangle& t, MatrixView<double> x,
                       Products products) {
  if (!x.empty()) BlockSubstitution(pool, t, x, products).solve(0, t.grid.tiles());
}

Products fast_products(const tiles::Grid& grid, std::int64_t columns) {
  // With fewer columns, the BLAS is as fast while the engine runs at a third of its speed (n =
  // 4096, two cores of a Sapphire Rapids Xeon: 0.83 of the BLAS's at 512 columns, 1.03 at 1,024).
  constexpr std::int64_t kFewest = 1024;
  const bool large = columns >= kFewest && grid.tiles() > 1 && grid.tile >= 128;
  return large && has_residue_engine() ? Products::exact : Products::blas;
}

std::int64_t block_substitution_bytes(const tiles::Grid& grid, std::int64_t columns, int threads,
                                      Products products) {
  const std::int64_t half = (grid.tiles() + 1) / 2 * grid.tile;
  return BlockGemm::bytes(products, grid.tile, half, std::min(columns, kResidueColumns), grid.tile,
                          threads) +
         core::size_product(grid.n, 4 * 8, "scales");
}

}  // namespace stepwell::factor

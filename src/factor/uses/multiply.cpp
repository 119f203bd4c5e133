// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <new>
#include <vector>

#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "core/checks.hpp"
#include "core/memory_error.hpp"
#include "factor/triangular/substitution_tile.hpp"
#include "factor/uses/open_factor.hpp"

/// Products with L: samples of a normal distribution from its covariance.
namespace stepwell {
namespace factor {
namespace {

/// Columns that are copied and multiplied together, and those of a task.
constexpr std::int64_t kTogether = 1024;
constexpr std::int64_t kStrip = 128;

/// The lower triangle of a diagonal tile, with zeros above.
void copy_lower(MatrixView<const double> tile, MatrixView<double> to) {
  for (std::int64_t j = 0; j < to.cols; ++j) {
    std::fill_n(to.column(j), j, 0.0);
    std::copy(tile.column(j) + j, tile.column(j) + to.rows, to.column(j) + j);
  }
}

/// X <- L X from a copy of -X, of which the kernels subtract products.
class Multiplication {
 public:
  explicit Multiplication(OpenFactor& f, std::int64_t columns)
      : f_(f),
        negative_(core::size_product(f.n(), columns, "multiply: columns"), core::Contents::any) {}

  void run(MatrixView<double> x) {
    const std::int64_t strips = core::ceil_div(x.cols, kStrip), tiles = f_.grid().tiles();
    f_.pool().for_each(strips, [&](std::int64_t s) {
      const MatrixView<double> from = strip(x, s), to = strip(copy_of(x), s);
      for (std::int64_t c = 0; c < from.cols; ++c) {
        std::transform(from.column(c), from.column(c) + from.rows, to.column(c),
                       [](double e) { return -e; });
      }
    });
    f_.pool().for_each(tiles * strips, [&](std::int64_t k) {
      const core::FpScope fp;
      const std::int64_t i = tiles - 1 - k / strips;  // those with the most products first
      multiply_row(i, strip(copy_of(x), k % strips), strip(x, k % strips));
    });
  }

 private:
  void multiply_row(std::int64_t i, MatrixView<double> negative, MatrixView<double> x) const {
    const tiles::Grid& grid = f_.grid();
    const std::int64_t rows = grid.size(i);
    const auto block = [&](MatrixView<double> of, std::int64_t k) {
      return of.block(k * grid.tile, 0, grid.size(k), of.cols);
    };
    const MatrixView<double> to = block(x, i);
    for (std::int64_t c = 0; c < to.cols; ++c) std::fill_n(to.column(c), rows, 0.0);
    for (std::int64_t k = 0; k < i; ++k) {
      apply_tile<double>(f_.l().tile(i, k), false, block(negative, k), to);
    }
    const core::Buffer<double> lower(rows * rows, core::Contents::any);
    const MatrixView<double> diagonal = view(lower.data(), rows, rows);
    copy_lower(tiles::TileIn(f_.l().tile(i, i)).fp64(), diagonal);
    if (to.cols >= kWide) {
      kernels::subtract_product(diagonal, block(negative, i), to);
    } else {
      kernels::tile_product(kernels::table(), diagonal, false, block(negative, i), to);
    }
  }

  MatrixView<double> copy_of(MatrixView<double> x) const {
    return view(negative_.data(), x.rows, x.cols);
  }
  static MatrixView<double> strip(MatrixView<double> x, std::int64_t s) {
    return x.block(0, s * kStrip, x.rows, std::min(kStrip, x.cols - s * kStrip));
  }

  OpenFactor& f_;
  core::Buffer<double> negative_;
};

}  // namespace
}  // namespace factor

void Factor::multiply(MatrixView<double> b, const EngineOptions& with) const try {
  factor::OpenFactor f(*this, with, "multiply");
  f.require_rows(b);
  if (b.empty()) return;
  const std::int64_t most = std::min(b.cols, factor::kTogether);
  core::require_memory(core::size_product(f.n(), 8 * most, "multiply: columns of B"),
                       "columns of B");
  factor::Multiplication product(f, most);
  for (std::int64_t first = 0; first < b.cols; first += most) {
    const MatrixView<double> x = b.block(0, first, b.rows, std::min(most, b.cols - first));
    product.run(x);
    f.pool().for_each(x.cols, [&](std::int64_t c) {
      f.divide_by_scale(x.block(0, c, x.rows, 1));
      f.permute_back(x.block(0, c, x.rows, 1));
    });
  }
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "core/checks.hpp"
#include "core/memory_error.hpp"
#include "core/numeric/exponent.hpp"
#include "core/numeric/transpose.hpp"
#include "factor/changes/changing_factor.hpp"
#include "factor/dense/cholesky.hpp"
#include "factor/setup.hpp"
#include "factor/triangular/substitution.hpp"
#include "stepwell/error.hpp"

/// Rows are appended to A: with L21' = L11^-1 A12 and L22 L22' = A22 - L21 L21', the last block row
/// of a Cholesky factorization.
namespace stepwell {
namespace factor {
namespace {

void require_rows(MatrixView<const double> rows, std::int64_t n) {
  if (rows.rows < 0 || rows.cols < 0 || rows.cols - n != rows.rows) {
    throw Error(ErrorCode::invalid_argument,
                "append: the rows are " + std::to_string(rows.rows) + " x " +
                    std::to_string(rows.cols) + "; of k rows for a factor of order " +
                    std::to_string(n) + " each must have " + std::to_string(n) + " + k elements");
  }
  core::require_view(rows.data, rows.rows, rows.cols, rows.ld, "append: rows");
  for (std::int64_t j = 0; j < rows.cols; ++j) {
    for (std::int64_t i = std::max<std::int64_t>(0, j - n); i < rows.rows; ++i) {
      if (std::isfinite(rows(i, j))) continue;
      throw Error(ErrorCode::invalid_argument, "append: element (" + std::to_string(i) + ", " +
                                                   std::to_string(j) + ") is not finite");
    }
  }
}

/// The power of two that scales a diagonal element, after the gain, to [1/4, 1).
double scale_of(double element, double gain) {
  int exponent = 0, of_gain = 0;
  std::frexp(element, &exponent);
  std::frexp(gain, &of_gain);
  const int power = exponent + of_gain - 1;  // a power of two is 1/2 times the next
  return core::power_of_two(-(power >= 0 ? (power + 1) / 2 : -(-power / 2)));
}

/// Writes X' and S, the lower triangle of L22, to the rows of L from 'first' on.
void write_rows(OpenFactor& f, const tiles::TileMatrix& l, std::int64_t first,
                MatrixView<const double> x, MatrixView<const double> s) {
  const tiles::Grid& grid = l.grid();
  const std::int64_t top_tile = first / grid.tile;
  f.pool().for_each(grid.tiles() * (grid.tiles() - top_tile), [&](std::int64_t k) {
    const std::int64_t j = k % grid.tiles(), i = top_tile + k / grid.tiles();
    if (j > i) return;
    const std::int64_t top = std::max(first, i * grid.tile), left = j * grid.tile;
    const std::int64_t rows = i * grid.tile + grid.size(i) - top;
    const std::int64_t old = std::clamp<std::int64_t>(first - left, 0, grid.size(j));
    const MatrixView<double> to =
        l.tile(i, j).fp64().block(top - i * grid.tile, 0, rows, grid.size(j));
    core::transpose(x.block(left, top - first, old, rows), to.block(0, 0, rows, old));
    for (std::int64_t c = old; c < to.cols; ++c) {
      const std::int64_t column = left + c - first;
      for (std::int64_t r = std::max<std::int64_t>(0, column - (top - first)); r < rows; ++r) {
        to(r, c) = s(top - first + r, column);
      }
    }
  });
}

/// The first part of an append, which changes nothing.
struct NewRows {
  core::Buffer<double> x, s;
  std::vector<double> scale;

  NewRows(std::int64_t n, std::int64_t k)
      : x(core::size_product(n, k, "append: rows"), core::Contents::any),
        s(core::size_product(k, k, "append: rows"), core::Contents::any) {}
};

/// L21' in x and L22 in s. Returns false if the matrix is not positive definite.
bool factor_rows(OpenFactor& f, double gain, MatrixView<const double> rows, NewRows& out) {
  const std::int64_t n = f.n(), k = rows.rows;
  const MatrixView<double> x = view(out.x.data(), n, k), s = view(out.s.data(), k, k);
  std::vector<double> root;
  for (std::int64_t c = 0; c < k; ++c) {
    if (!(rows(c, n + c) > 0)) return false;
    out.scale.push_back(scale_of(rows(c, n + c), gain));
    root.push_back(out.scale.back() * std::sqrt(gain));
  }
  core::transpose(rows.block(0, 0, k, n), x);
  f.permute(x);
  f.multiply_by_scale(x);
  for (std::int64_t c = 0; c < k; ++c) {
    const double of_column = root[static_cast<std::size_t>(c)];
    for (std::int64_t i = 0; i < n; ++i) x(i, c) *= of_column;
    for (std::int64_t i = c; i < k; ++i) {
      s(i, c) = rows(i, n + c) * root[static_cast<std::size_t>(i)] * of_column;
    }
    std::fill_n(s.column(c), c, 0.0);
  }
  substitute_columns(f.pool(), f.l(), f.l(), Triangles::forward, x);
  subtract_gram(f.pool(), x, s);
  return dense_cholesky(f.pool(), s).ok();
}

/// A matrix for n rows, with those that there are.
tiles::TileMatrix with_other_tiles(OpenFactor& f, const tiles::Grid& grid) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(f.n()));
  std::iota(all.begin(), all.end(), 0);
  return selected(f.pool(), f.l(), all, grid);
}

}  // namespace
}  // namespace factor

bool Factor::append(MatrixView<const double> rows, const EngineOptions& with) try {
  factor::ChangingFactor f(*this, with, "append");
  factor::OpenFactor& open = f.open();
  FactorData& data = f.data();
  const std::int64_t n = open.n(), k = rows.rows;
  factor::require_rows(rows, n);
  if (k == 0) return true;
  // A matrix of one tile had one that suits its order.
  const std::int64_t default_tile = factor::choose_tile(n + k, 0);
  const bool other_tile = n == 0 || (n <= open.grid().tile && open.grid().tile < default_tile);
  const tiles::Grid grid{n + k, other_tile ? default_tile : open.grid().tile};
  core::require_memory(core::size_product(n + k, k, 8, "append: rows") +
                           factor::substitute_columns_bytes(open.grid(), k, open.pool().size()) +
                           core::size_product(n + k, k + grid.tile, 8, "append: rows"),
                       "append: rows");

  factor::NewRows added(n, k);
  if (!factor::factor_rows(open, data.scale.gain, rows, added)) return false;
  factor::Scale scale = data.scale;
  std::vector<double> norms = data.largest_row_norms;
  std::vector<std::int64_t> order = data.order;
  for (std::int64_t c = 0; c < k; ++c) {
    const double of_row = added.scale[static_cast<std::size_t>(c)];
    scale.row.push_back(of_row);
    scale.col.push_back(scale.gain * of_row);
    if (!norms.empty()) norms.push_back(0);
    if (!order.empty()) order.push_back(n + c);
  }
  if (other_tile) {
    data.l = factor::with_other_tiles(open, grid);
  } else {
    data.l.resize(n + k);
  }
  factor::write_rows(open, data.l, n, view(added.x.data(), n, k), view(added.s.data(), k, k));
  data.scale = std::move(scale);
  data.largest_row_norms = std::move(norms);
  data.order = std::move(order);
  f.report_change(0);
  return true;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell

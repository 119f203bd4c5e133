// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "core/checks.hpp"
#include "core/memory_error.hpp"
#include "core/numeric/double_double.hpp"
#include "core/numeric/transpose.hpp"
#include "factor/dense/inverse.hpp"
#include "factor/setup.hpp"
#include "factor/triangular/inverse.hpp"
#include "factor/uses/open_factor.hpp"
#include "stepwell/error.hpp"

/// The inverse of a matrix, its diagonal, and traces of products with it, from its factor: A^-1 =
/// P' D (L L')^-1 D P. (L L')^-1 is computed in the order of elimination.
namespace stepwell {
namespace factor {
namespace {

constexpr std::int64_t kBlock = 64;  ///< order of the blocks that are transposed
/// L as it is stored, in the lower triangle.
void copy_factor(OpenFactor& f, MatrixView<double> out) {
  const tiles::Grid& grid = f.grid();
  f.pool().for_each(grid.tiles(), [&](std::int64_t j) {
    for (std::int64_t c = 0; c < grid.size(j); ++c) {
      const std::int64_t column = j * grid.tile + c;
      for (std::int64_t i = j; i < grid.tiles(); ++i) {
        const std::int64_t above = i == j ? c : 0;
        const double* const from = tiles::TileIn(f.l().tile(i, j)).fp64().column(c);
        std::copy(from + above, from + grid.size(i), out.column(column) + i * grid.tile + above);
      }
    }
  });
}

/// The lower triangle of (L L')^-1. Returns false if it was cancelled.
bool invert(OpenFactor& f, MatrixView<double> out) {
  const Products products = inverse_products(f.n());
  core::require_memory(dense_inverse_bytes(products, f.n(), f.pool().size()), "the inverse");
  copy_factor(f, out);
  return dense_inverse(f.pool(), products, out, Triangle::lower, f.progress());
}

/// Calls use(strip) with all strips of L^-1 or (L L')^-1. Returns false if it was cancelled.
template <class Use>
bool for_strips(OpenFactor& f, Triangles triangles, const Use& use) {
  core::require_memory(inverse_strips_bytes(f.grid(), f.pool().size()), "columns of the inverse");
  Progress* const progress = f.progress();
  announce(progress, strip_count(f.grid()));
  bool cancelled = false;
  inverse_strips(f.pool(), f.l(), triangles, [&](const InverseStrip& strip) {
    use(strip);
    if (progress != nullptr) ++progress->done;
    cancelled = progress != nullptr && progress->cancel;
    return !cancelled;
  });
  return !cancelled;
}

/// Scales the lower triangle and copies it to the upper one, in blocks that stay in the cache.
void scale_and_mirror(OpenFactor& f, MatrixView<double> a) {
  const std::int64_t blocks = core::ceil_div(a.cols, kBlock);
  const auto size = [&a](std::int64_t block) { return std::min(kBlock, a.cols - block * kBlock); };
  f.pool().for_each(blocks, [&](std::int64_t col) {
    for (std::int64_t row = col; row < blocks; ++row) {
      const MatrixView<double> of = a.block(row * kBlock, col * kBlock, size(row), size(col));
      for (std::int64_t j = 0; j < of.cols; ++j) {
        const double scale = f.scale(col * kBlock + j);
        for (std::int64_t i = row == col ? j : 0; i < of.rows; ++i) {
          of(i, j) = of(i, j) * scale * f.scale(row * kBlock + i);
        }
      }
      const MatrixView<double> to = a.block(col * kBlock, row * kBlock, size(col), size(row));
      core::transpose(of, to, row == col ? core::Part::upper : core::Part::all);
    }
  });
}

/// Rows and columns of a symmetric matrix from the order of elimination to that of A.
void permute(OpenFactor& f, MatrixView<double> a) {
  const std::int64_t n = a.rows;
  f.pool().for_each(n, [&](std::int64_t j) {
    const std::vector<double> column(a.column(j), a.column(j) + n);
    for (std::int64_t i = 0; i < n; ++i) {
      a(f.place(i), j) = column[static_cast<std::size_t>(i)];
    }
  });
  // Row i now has the elements of one row of A^-1, in columns that are still to be moved.
  f.pool().for_each(core::ceil_div(n, kBlock), [&](std::int64_t block) {
    std::vector<double> row(static_cast<std::size_t>(n));
    for (std::int64_t i = block * kBlock; i < std::min((block + 1) * kBlock, n); ++i) {
      for (std::int64_t j = 0; j < n; ++j) row[static_cast<std::size_t>(j)] = a(i, j);
      for (std::int64_t j = 0; j < n; ++j) {
        a(i, f.place(j)) = row[static_cast<std::size_t>(j)];
      }
    }
  });
}

void require_square(MatrixView<const double> a, std::int64_t n, const std::string& what) {
  if (a.rows != n || a.cols != n) {
    throw Error(ErrorCode::invalid_argument, what + " is " + std::to_string(a.rows) + " x " +
                                                 std::to_string(a.cols) + "; it must be " +
                                                 std::to_string(n) + " x " + std::to_string(n));
  }
  core::require_view(a.data, n, n, a.ld, what);
}

}  // namespace
}  // namespace factor

bool Factor::inverse(MatrixView<double> out, const EngineOptions& with) const try {
  factor::OpenFactor f(*this, with, "inverse");
  factor::require_square(out, order(), "inverse: the matrix for the result");
  if (!factor::invert(f, out)) return false;
  factor::scale_and_mirror(f, out);
  if (f.permuted()) factor::permute(f, out);
  return true;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

std::vector<double> Factor::inverse_diagonal(const EngineOptions& with) const try {
  factor::OpenFactor f(*this, with, "inverse_diagonal");
  std::vector<double> diagonal(static_cast<std::size_t>(order()));
  const auto squares = [&](const factor::InverseStrip& strip) {
    f.pool().for_each(strip.x.cols, [&](std::int64_t c) {
      const double scale = f.scale(strip.first + c);
      double sum = 0;
      for (std::int64_t i = c; i < strip.x.rows; ++i) {
        sum += (scale * strip.x(i, c)) * (scale * strip.x(i, c));
      }
      diagonal[static_cast<std::size_t>(f.place(strip.first + c))] = sum;
    });
  };
  if (!factor::for_strips(f, factor::Triangles::forward, squares)) diagonal.clear();
  return diagonal;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

double Factor::trace_inverse_product(MatrixView<const double> s, const EngineOptions& with) const
    try {
  factor::OpenFactor f(*this, with, "trace_inverse_product");
  factor::require_square(s, order(), "trace_inverse_product: S");
  std::vector<double> of_columns(static_cast<std::size_t>(order()));
  const auto products = [&](const factor::InverseStrip& strip) {
    f.pool().for_each(strip.x.cols, [&](std::int64_t c) {
      const std::int64_t column = f.place(strip.first + c);
      const double of_column = f.scale(strip.first + c);
      double sum = 0;
      for (std::int64_t i = c; i < strip.x.rows; ++i) {
        const std::int64_t row = f.place(strip.first + i);
        const double element = strip.x(i, c) * of_column * f.scale(strip.first + i);
        // Twice: the element above the diagonal has the same product.
        sum += (i == c ? 1 : 2) * element * s(std::max(row, column), std::min(row, column));
      }
      of_columns[static_cast<std::size_t>(strip.first + c)] = sum;
    });
  };
  if (!factor::for_strips(f, factor::Triangles::both, products)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  core::DoubleDouble sum;
  for (const double x : of_columns) {
    sum = sum + core::DoubleDouble{x, 0};
  }
  return sum.value();
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/tall.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "gallery/gallery.hpp"
#include "gallery/recipe.hpp"
#include "stepwell/error.hpp"

namespace stepwell::gallery {
namespace {

constexpr std::int64_t kLanes = Basis::kLanes;
/// Random streams that bases and spectra do not use.
constexpr std::uint64_t kRows = 66, kAnswer = 67, kResidual = 68;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, "gallery: " + text);
}

void check_tall(MatrixView<const double> a) {
  if (a.cols < 0 || a.rows < a.cols) {
    refuse("a tall matrix must have at least as many rows as columns, not " +
           std::to_string(a.rows) + " x " + std::to_string(a.cols));
  }
  if (a.ld < std::max<std::int64_t>(1, a.rows)) {
    refuse("the leading dimension " + std::to_string(a.ld) + " is less than the " +
           std::to_string(a.rows) + " rows");
  }
}

std::vector<double> sizes_of(std::int64_t n, const TallRecipe& recipe) {
  return spectrum(recipe.one_small ? Kind::general_clustered : Kind::general_geometric, n,
                  recipe.condition, recipe.seed);
}

double norm_of(const double* x, std::int64_t n) {
  double squares = 0;
  for (std::int64_t i = 0; i < n; ++i) squares += x[i] * x[i];
  return std::sqrt(squares);
}

}  // namespace

void fill_tall(MatrixView<double> a, const TallRecipe& recipe, engine::ThreadPool& pool) {
  check_tall(a);
  const std::vector<double> sizes = sizes_of(a.cols, recipe);
  if (a.cols == 0) return;
  set_scaled_basis(a, Basis(a.rows, recipe.seed, 0), sizes, pool);
  multiply_transposed(a, Basis(a.cols, recipe.seed, 1), Part::all, pool);
}

void fill_problem(MatrixView<const double> a, const TallRecipe& recipe, double residual,
                  MatrixView<double> x, MatrixView<double> b, engine::ThreadPool& pool) {
  check_tall(a);
  const std::int64_t m = a.rows, n = a.cols;
  const Basis q(std::max<std::int64_t>(1, m), recipe.seed, 0);
  // One column at a time in the lanes: there are few columns, and each one is independent of the
  // others.
  const core::Buffer<double> lanes(core::size_product(2 * kLanes, m, "right-hand side"));
  for (std::int64_t c = 0; c < b.cols; ++c) {
    const auto column = static_cast<std::uint64_t>(c);
    const std::uint64_t answer = stream(recipe.seed + column, kAnswer);
    for (std::int64_t j = 0; j < n; ++j) x(j, c) = noise(answer + static_cast<std::uint64_t>(j));
    pool.for_each((m + 511) / 512, [&](std::int64_t block) {
      const std::int64_t first = 512 * block, end = std::min(m, first + 512);
      std::fill(&b(first, c), &b(first, c) + (end - first), 0.0);
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = first; i < end; ++i) b(i, c) += a(i, j) * x(j, c);
      }
    });
    if (m == n) continue;
    // Q1 [0; z] is orthogonal to all columns of Q1 [D; 0].
    std::fill(lanes.begin(), lanes.end(), 0.0);
    const std::uint64_t random = stream(recipe.seed + column, kResidual);
    double squares = 0;
    for (std::int64_t i = n; i < m; ++i) {
      const double z = noise(random + static_cast<std::uint64_t>(i));
      lanes[kLanes * i] = z;
      squares += z * z;
    }
    const double* const r = q.apply(lanes.data(), lanes.data() + kLanes * m);
    const double size = residual * norm_of(b.column(c), m) / std::sqrt(squares);
    for (std::int64_t i = 0; i < m; ++i) b(i, c) += size * r[kLanes * i];
  }
}

TallRows::TallRows(std::int64_t cols, const TallRecipe& recipe)
    : basis_(std::max<std::int64_t>(1, cols), recipe.seed, 1),
      sizes_(sizes_of(cols, recipe)),
      seed_(recipe.seed) {
  if (cols < 1) refuse("rows must have at least one element");
  for (double& size : sizes_) size *= std::sqrt(3.0);  // the variance of noise() is 1/3
}

void TallRows::fill(std::int64_t first, std::int64_t count, double* out) const {
  const std::int64_t n = cols();
  std::vector<double> lanes(static_cast<std::size_t>(2 * kLanes * n));
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const std::int64_t some = std::min(kLanes, count - i);
    for (std::int64_t k = 0; k < some; ++k) {
      const std::uint64_t random =
          stream(stream(seed_, kRows), static_cast<std::uint64_t>(first + i + k));
      for (std::int64_t j = 0; j < n; ++j) {
        lanes[static_cast<std::size_t>(kLanes * j + k)] =
            sizes_[static_cast<std::size_t>(j)] * noise(random + static_cast<std::uint64_t>(j));
      }
    }
    const double* const y = basis_.apply(lanes.data(), lanes.data() + kLanes * n);
    for (std::int64_t k = 0; k < some; ++k) {
      for (std::int64_t j = 0; j < n; ++j) out[(i + k) * n + j] = y[kLanes * j + k];
    }
  }
}

}  // namespace stepwell::gallery

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/api/checks.hpp"

#include <limits>

#include "core/checks.hpp"
#include "core/row_block.hpp"
#include "factor/setup.hpp"
#include "stepwell/error.hpp"
#include "tiles/rung_map.hpp"

namespace stepwell::solvers {
namespace {

std::string size_of(std::int64_t rows, std::int64_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

}  // namespace

bool overlap(MatrixView<const double> x, MatrixView<const double> y) {
  if (x.empty() || y.empty()) return false;
  const auto begin = [](MatrixView<const double> v) {
    return reinterpret_cast<std::uintptr_t>(v.data);
  };
  const auto end = [](MatrixView<const double> v) {
    return reinterpret_cast<std::uintptr_t>(v.column(v.cols - 1) + v.rows);
  };
  return begin(x) < end(y) && begin(y) < end(x);
}

void Checks::misuse(const std::string& text) const {
  throw Error(ErrorCode::invalid_argument, std::string(entry_) + ": " + text);
}

void Checks::matrix(MatrixView<const double> a, const SolveOptions& options) const {
  if (a.rows != a.cols) misuse("A is " + size_of(a.rows, a.cols) + "; it must be square");
  core::require_view(a.data, a.rows, a.cols, a.ld, std::string(entry_) + ": A");
  option_values(options);
}

void Checks::distributed(std::int64_t n, const SolveOptions& options, MatrixView<const double> b,
                         MatrixView<double> x) const {
  if (n < 0) misuse("A is of order " + std::to_string(n) + "; sizes can't be negative");
  core::size_product(n, n, 8, "A");
  option_values(options);
  vectors({nullptr, n, 0, n}, b, x);
}

void Checks::option_values(const SolveOptions& options) const {
  if (!(options.tolerance >= 0 && options.tolerance < 1)) {
    misuse("the tolerance must lie in [0, 1); 0 means sqrt(n) 2^-53");
  }
  if (options.refine.iterations < 0) misuse("the number of iterations can't be negative");
  if (options.refine.working != Format::fp64 && options.refine.working != Format::fp32) {
    misuse("the working precision must be fp64 or fp32");
  }
  refiner(options.refine);
  map(options.map);
}

void Checks::refiner(const RefineOptions& options) const {
  if (options.refiner == Refiner::direct) {
    misuse("the refiner 'direct' can't be requested; use the map fp64, or leave the choice open");
  }
}

void Checks::map(const std::optional<PrecisionMap>& map) const {
  if (map && !map->adaptive() && map->layers.empty()) misuse("the map has no rungs");
}

void Checks::square(Structure structure) const {
  if (structure == Structure::least_squares) {
    misuse("the structure 'least squares' is for certificates; use lstsq");
  }
}

void Checks::shapes(std::int64_t m, std::int64_t n, MatrixView<const double> b,
                    MatrixView<double> x, const char* why) const {
  core::require_view(b.data, b.rows, b.cols, b.ld, std::string(entry_) + ": B");
  core::require_view(x.data, x.rows, x.cols, x.ld, std::string(entry_) + ": X");
  if (b.rows != m) {
    misuse("B is " + size_of(b.rows, b.cols) + "; it must have " + std::to_string(m) +
           " rows, as A has");
  }
  if (x.rows != n || x.cols != b.cols) {
    misuse("X is " + size_of(x.rows, x.cols) + "; it must be " + size_of(n, b.cols) + why);
  }
}

void Checks::vectors(MatrixView<const double> a, MatrixView<const double> b,
                     MatrixView<double> x) const {
  shapes(a.rows, a.rows, b, x, ", as B is");
  if (overlap(x, a)) misuse("X overlaps A, which must not change");
  const bool same = x.data == b.data && (x.ld == b.ld || x.cols == 1);
  if (!same && overlap(x, b)) misuse("X overlaps B; it may be B itself, but not a part of it");
}

void Checks::general(const SolveOptions& options) const {
  if (options.refine.refiner == Refiner::cg || options.refine.refiner == Refiner::ir_cg) {
    misuse("the refiner " + std::string(to_string(*options.refine.refiner)) +
           " is for symmetric positive definite matrices; use fgmres or ir(gmres), or solve_spd");
  }
  if (options.check_symmetry) {
    misuse("check_symmetry is for solve_spd only, which reads one triangle; omit it");
  }
  if (options.triangle != Triangle::lower) {
    misuse("a general matrix is read in full; the option 'triangle' is for solve_spd only");
  }
}

void Checks::least_squares(std::int64_t m, std::int64_t n,
                           const LeastSquaresOptions& options) const {
  if (!(options.tolerance >= 0 && options.tolerance < 1)) {
    misuse("the tolerance must lie in [0, 1); 0 means sqrt(n) 2^-53");
  }
  if (options.refine.iterations < 0) misuse("the number of iterations can't be negative");
  if (!(options.lambda >= 0 && options.lambda <= std::numeric_limits<double>::max())) {
    misuse("lambda must be a finite number of at least 0");
  }
  refiner(options.refine);
  if (options.refine.working != Format::fp64 || options.refine.exact_residual) {
    misuse("'working' and 'exact_residual' are for square systems; omit them");
  }
  if (options.qr && options.map) misuse("the options 'map' and 'qr' exclude each other");
  map(options.map);
  if (options.map) tiles::require_mixable(*options.map, entry_);
  if (options.map && *options.map != uniform(options.map->layers[0])) {
    misuse("the map '" + to_string(*options.map) +
           "' is not possible; the Gram matrix has one rung for all tiles, as in 'bf16x2'");
  }
  const std::vector<double>& weights = options.weights;
  if (!weights.empty() && std::ssize(weights) != n) {
    misuse("there are " + std::to_string(weights.size()) + " weights; A has " + std::to_string(n) +
           " columns");
  }
  bool positive = options.lambda > 0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    if (!(weights[j] >= 0 && weights[j] <= std::numeric_limits<double>::max())) {
      misuse("weight " + std::to_string(j) + " must be a finite number of at least 0");
    }
    positive = positive && weights[j] > 0;
  }
  const bool shortest = options.minimum_norm && options.lambda == 0;
  if (m < n && !positive && !shortest) {
    misuse("A is " + size_of(m, n) +
           "; it must have at least as many rows as columns, or every column a lambda above 0, or "
           "the option minimum_norm without lambda");
  }
}

void Checks::tall(const TallMatrix& a, MatrixView<const double> b, MatrixView<double> x) const {
  if (a.rows < 0 || a.cols < 0)
    misuse("A is " + size_of(a.rows, a.cols) + "; sizes can't be negative");
  core::size_product(a.rows, a.cols, 8, "A");
  if (a.data == nullptr && !a.read && a.rows > 0 && a.cols > 0) {
    misuse("A has neither data nor a function that provides its rows");
  }
  if (a.data != nullptr) {
    const bool by_rows = core::stored_by_rows(a);
    if ((by_rows ? a.col_stride : a.row_stride) != 1) {
      misuse("the strides of A are " + std::to_string(a.row_stride) + " and " +
             std::to_string(a.col_stride) + "; one of them must be 1");
    }
    const MatrixView<const double> stored = core::rows_of(a, 0, a.rows).stored;
    core::require_view(stored.data, stored.rows, stored.cols, stored.ld,
                       std::string(entry_) + ": A");
    if (overlap(x, stored)) misuse("X overlaps A, which must not change");
  }
  shapes(a.rows, a.cols, b, x, ", a row for each column of A");
  if (overlap(x, b)) misuse("X overlaps B, which must not change");
}

void Checks::plan(std::int64_t n, std::int64_t columns) const {
  if (n < 0 || columns < 0) {
    misuse("a plan for " + size_of(n, columns) + "; sizes can't be negative");
  }
}

}  // namespace stepwell::solvers

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <utility>

#include "core/checks.hpp"
#include "core/machine/fp_scope.hpp"
#include "core/memory_error.hpp"
#include "factor/cholesky/lapack.hpp"
#include "factor/cholesky/recovery.hpp"
#include "stepwell/error.hpp"

namespace stepwell {
namespace factor {
namespace {

void check(MatrixView<const double> a, const FactorOptions& options) {
  if (a.rows != a.cols) {
    throw Error(ErrorCode::invalid_argument, "cholesky: the matrix is " + std::to_string(a.rows) +
                                                 " x " + std::to_string(a.cols) +
                                                 "; it must be square");
  }
  core::require_view(a.data, a.rows, a.cols, a.ld, "cholesky: the matrix");
  check_options(options);
}

/// Every T-th row of A from the first on, then from the second on, ... with T block columns: each
/// of them has rows from all over A.
std::vector<std::int64_t> elimination_order(const tiles::Grid& grid, const FactorOptions& options) {
  std::vector<std::int64_t> order;
  if (!options.spread || grid.tiles() < 2) return order;
  order.reserve(static_cast<std::size_t>(grid.n));
  for (std::int64_t first = 0; first < grid.tiles(); ++first) {
    for (std::int64_t i = first; i < grid.n; i += grid.tiles()) order.push_back(i);
  }
  return order;
}

/// The diagonal in the order of elimination.
Diagonal permuted(const Diagonal& diagonal, const std::vector<std::int64_t>& order) {
  Diagonal in_order = diagonal;
  for (std::size_t k = 0; k < order.size(); ++k) {
    in_order.value[k] = diagonal.value[static_cast<std::size_t>(order[k])];
  }
  return in_order;
}

/// Bytes of L if each tile has the rung at which it takes the most: fp64, or three planes of a tile
/// with few rows, which are packed in panels.
std::int64_t largest_tiles(const tiles::Grid& grid) {
  const tiles::RungMap wide(grid, uniform(Rung::fp64)), packed(grid, uniform(Rung::bf16x3));
  std::int64_t bytes = 0;
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      bytes += std::max(shape_of(wide, i, j).bytes(), shape_of(packed, i, j).bytes());
    }
  }
  return bytes;
}

/// The first attempts to factor A + jitter I; without jitter also LAPACK's.
Factor attempt(MatrixView<const double> a, const Diagonal& diagonal, double jitter,
               const FactorOptions& options, OddPowers odd) {
  const tiles::Grid grid = choose_grid(a.rows, options);
  const std::vector<std::int64_t> order = elimination_order(grid, options);
  const StoredBlocks source(a, order, options.triangle, jitter);
  Factor made = BreakdownRecovery(source, permuted(diagonal, order), order, grid, options).run(odd);
  const FactorReport report = made.report();
  const bool failed = report.outcome == FactorOutcome::not_positive_definite;
  if (!failed || !diagonal.positive || jitter != 0) return made;
  made = {};  // frees its memory
  return lapack_cholesky(a, options.triangle, grid, report, order);
}

/// The amounts that are added to the diagonal, until a factorization succeeds.
Factor with_jitter(Factor made, MatrixView<const double> a, const Diagonal& diagonal,
                   const FactorOptions& options) {
  const double sum = std::accumulate(diagonal.value.begin(), diagonal.value.end(), 0.0);
  double jitter = options.jitter.start * (sum / static_cast<double>(diagonal.value.size()));
  const auto fits = [&] {
    const double most = *std::max_element(diagonal.value.begin(), diagonal.value.end());
    return jitter > 0 && std::isfinite(most + jitter);
  };
  for (int k = 0; k < options.jitter.tries; ++k, jitter *= options.jitter.factor) {
    const bool failed = made.report().outcome == FactorOutcome::not_positive_definite;
    if (!failed || !fits()) break;
    std::vector<RecoveryStep> attempts = made.report().attempts;
    Diagonal larger = diagonal;
    for (double& element : larger.value) element += jitter;
    made = {};  // frees its memory
    made =
        attempt(a, diagonal_of(std::move(larger.value)), jitter, options, OddPowers::as_they_are);
    FactorReport& report = FactorData::of(made).report;
    report.jitter = jitter;
    for (RecoveryStep& step : report.attempts) {
      step.jitter = jitter;
      attempts.push_back(std::move(step));
    }
    report.attempts = std::move(attempts);
  }
  return made;
}

}  // namespace

Factor cholesky_of(MatrixView<const double> a, const Diagonal& diagonal,
                   const FactorOptions& options, OddPowers odd) {
  check_options(options);
  return attempt(a, diagonal, 0, options, odd);
}

}  // namespace factor

Factor cholesky(MatrixView<const double> a, const FactorOptions& options) try {
  const core::FpScope fp;
  factor::check(a, options);
  const factor::Diagonal diagonal = factor::read_diagonal(a);
  Factor made = factor::cholesky_of(a, diagonal, options);
  return factor::with_jitter(std::move(made), a, diagonal, options);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Rung fp64_rung(std::int64_t n) {
  return factor::fp64_rung({n, factor::choose_tile(n, 0)});
}

std::int64_t factor_bytes(std::int64_t n, const FactorOptions& options) try {
  const tiles::Grid grid = factor::choose_grid(n, options);
  const auto peak_of = [&](const tiles::RungMap& map) {
    const bool copied = options.triangle == Triangle::upper || (options.spread && grid.tiles() > 1);
    return factor::peak_bytes(map, factor::graph_for(map, options, {}, copied), {},
                              factor::schedule_for(map, {}, factor::Windows::by_memory), 0);
  };
  const auto peak = [&](const PrecisionMap& p) { return peak_of(tiles::RungMap(grid, p)); };
  if (factor::is_in_residues(options.map) || options.map == uniform(Rung::fp64)) {
    return peak_of(factor::choose_fp64_map(grid, options, true, peak_of));
  }
  if (!options.map.adaptive()) return peak(options.map);
  // Packed tiles with three planes take the most workspace in addition to L.
  const PrecisionMap both{{Rung::bf16x3, Rung::fp64}, 0};
  const auto workspace = [&](const PrecisionMap& p) {
    return peak(p) - tiles::tile_matrix_bytes(tiles::RungMap(grid, p));
  };
  return factor::largest_tiles(grid) +
         std::max(workspace(both), workspace({{Rung::bf16x3, Rung::bf16x3}, 0}));
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell

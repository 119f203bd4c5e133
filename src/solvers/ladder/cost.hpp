// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "solvers/ladder/ladder.hpp"
#include "stepwell/map.hpp"
#include "stepwell/solve.hpp"

/// The cost model (Haidar et al., equations 2-6): seconds of a factorization and of an iteration.
///
/// Decisions depend on it, and the bits of x depend on the decisions. So the rates depend on the
/// instruction set alone, not on the number of threads or the load of the machine: they are those
/// of the machine the library was developed on (docs/performance/solve.md), and only their ratios
/// matter.
namespace stepwell::solvers {

struct Rates {
  double bandwidth = 0;  ///< bytes per second at which a product reads A or L
  double product = 0;    ///< flop per second of FP64 products with many columns
  std::array<double, all_rungs.size()> cholesky{};  ///< flop per second of a large factorization
  std::array<double, all_rungs.size()> lu{};
};
const Rates& rates();

/// The rungs that pay on this machine, cheap to expensive; the last is fp64.
const std::vector<Rung>& ladder_rungs();

/// The map for covariances: what is left of them after the first columns is small, and bf16 is good
/// enough for it. Matern 3/2, n = 16384, condition 1e7: 11 iterations, where uniform bf16x2 breaks
/// down. For order n and the tile that was asked for: the first 512 columns are at bf16x3, the next
/// 1536 at bf16x2.
PrecisionMap covariance_map(std::int64_t n, std::int64_t tile = 0);

/// Below this order FP64 is the fastest.
std::int64_t direct_below(Structure structure = Structure::spd);

/// Seconds of a factorization: Cholesky takes n^3/3 flop and reads half of A, LU twice as much.
double factor_seconds(Rung rung, std::int64_t n, Structure structure = Structure::spd);

/// Seconds of one iteration for all right-hand sides: a product with A, of which one triangle or
/// all is read, and, if there is a factor, a solve with each of its triangles.
double iteration_seconds(std::optional<Rung> rung, std::int64_t n, std::int64_t columns,
                         Structure structure = Structure::spd);

/// Iterations to FP64 accuracy for a matrix that is suited to the rung.
int expected_iterations(Rung rung);

/// Seconds of a factorization at this rung and of the iterations of a well-conditioned matrix.
double rung_seconds(Rung rung, std::int64_t n, std::int64_t columns, Structure structure);

/// Seconds of a system with many columns, solved with an FP64 factor without refinement and
/// certified by random projections, or a general one by residuals.
double direct_seconds(std::int64_t n, std::int64_t columns, Structure structure);

/// Least squares. The rung at which the Gram matrix is factored: that takes n^3/3 flop compared
/// with m n^2 for the matrix itself, so a better rung costs little.
Rung gram_factor_rung(Rung gram, std::int64_t n);
/// Seconds of one pass over A, which is one iteration, for all right-hand sides.
double pass_seconds(std::int64_t m, std::int64_t n, std::int64_t columns);
/// Passes over A to FP64 accuracy if its columns are not nearly dependent.
int expected_passes(const Step& step);
/// Seconds of a whole step: the Gram matrix and its factor, or QR, and the expected passes.
double step_seconds(const Step& step, std::int64_t m, std::int64_t n, std::int64_t columns);

}  // namespace stepwell::solvers

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "stepwell/map.hpp"
#include "stepwell/solve.hpp"

/// The cost model (Haidar et al., equations 2-6): seconds of a factorization and of an iteration.
///
/// Decisions follow from it, and bits follow from decisions. So the rates depend on the instruction
/// set alone, not on the threads of a call or on what else the machine does: they are those of the
/// machine the library was developed on (docs/performance/solve.md), and only their ratios matter.
namespace stepwell::solvers {

struct Rates {
  double bandwidth = 0;  ///< bytes a second of A or L, while a product reads them
  double product = 0;    ///< flop a second of FP64 products with many columns
  std::array<double, all_rungs.size()> cholesky{};  ///< flop a second of a large factorization
  std::array<double, all_rungs.size()> lu{};
};
const Rates& rates();

/// The rungs that pay on this machine, cheap to dear; the last is fp64.
const std::vector<Rung>& ladder();

/// What is left of a covariance after the first columns is small, and bf16 is good enough for it:
/// Matern 3/2, n = 16384, condition 1e7: 11 iterations, where uniform bf16x2 breaks down.
PrecisionMap covariance_map();

/// Below this order nothing beats FP64 on one core.
std::int64_t direct_below(Structure structure = Structure::spd);

/// Cholesky takes n^3/3 products and reads half of A, LU twice that.
double factor_seconds(Rung rung, std::int64_t n, Structure structure = Structure::spd);

/// One iteration for so many columns: a product with A, of which one triangle is read or all of it,
/// and, if there is a factor, one with each of its triangles.
double iteration_seconds(std::optional<Rung> rung, std::int64_t n, std::int64_t columns,
                         Structure structure = Structure::spd);

/// Iterations to FP64 accuracy of a matrix that the rung suits.
int expected_iterations(Rung rung);

}  // namespace stepwell::solvers

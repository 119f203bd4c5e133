// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "stepwell/context.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/refiner.hpp"
#include "stepwell/rung.hpp"

/// Groups of options that several functions share.
namespace stepwell {

/// How a matrix is scaled before it is rounded to low precision: H = D^-1 A D^-1.
enum class Scaling : unsigned char {
  powers_of_two,  ///< D_i = sqrt(a_ii) rounded to a power of two: scaling causes no rounding
  unit_diagonal,  ///< D_i = sqrt(a_ii), as Higham & Pranesh: H has a unit diagonal
  none
};

/// How lu() avoids small pivots.
enum class Pivoting : unsigned char {
  partial,   ///< column exchanges: the largest element of each row is its pivot
  butterfly  ///< no exchanges: A is first transformed by two random butterflies, which takes 8 n^2
             ///< bytes more. For many nodes, where exchanges are more expensive than flops
};

/// Options of Cholesky factorizations.
struct CholeskyOptions {
  Scaling scaling = Scaling::powers_of_two;  ///< int8 rungs always scale by powers of two
  double shift = 0;  ///< c of the first attempt: the diagonal is multiplied by 1 + c u
};

/// Options of LU factorizations.
struct LuOptions {
  Pivoting pivoting = Pivoting::partial;
  std::uint64_t seed = 1;  ///< random seed of the butterflies
};

/// How x is refined.
struct RefineOptions {
  /// None: cg for symmetric positive definite matrices and least squares, fgmres for general ones.
  std::optional<Refiner> refiner;
  int iterations = 0;  ///< limit per column and rung; 0: while cheaper than the next rung
  Format working = Format::fp64;  ///< precision of x and of the refiner's vectors: fp64 or fp32
  bool exact_residual = false;    ///< residuals and products with A in double-double
};

/// Where a call runs and whom it tells.
struct EngineOptions {
  Context* context = nullptr;    ///< null: the shared one, with as many workers as allowed
  Progress* progress = nullptr;  ///< null: no progress reports
};

}  // namespace stepwell

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "harness.hpp"
#include "solve.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::tool {

/// Whether the request is for LU. Throws Error(invalid_argument) if its kind does not allow what
/// its structure says.
bool is_general(const SolveRequest& r);

/// A system of the gallery, solved by us and by LAPACK.
struct System {
  /// Throws Error: a kind, map or refiner that does not exist.
  explicit System(const SolveRequest& r);

  /// What comes of it, whatever that is.
  Certificate attempt(Context& workers, std::int64_t how_many);
  /// Throws Error(unsupported) if it does not converge.
  Certificate solve(Context& workers, std::int64_t how_many);

  std::int64_t n, columns;
  int threads;
  bool general;
  core::Buffer<double> a, b, x;
  Context context;
  Context one{1};
  SolveOptions options;
  Certificate last;
};

/// What LAPACK overwrites; its routines share it.
struct LapackRoom {
  core::Buffer<double> a, b, x, work;
  core::Buffer<float> narrow;
  std::vector<int> pivots;
  int iterations = 0;  ///< of dsposv and dsgesv
};

/// LAPACK's solvers for the structure, the default first.
const std::vector<std::string>& lapack_names(bool general);

/// Whether 'against' is a routine of LAPACK, and whether it is one with fp32 and refinement.
bool is_lapack(const std::string& against);
bool is_mixed(const std::string& against);

/// Bytes of the matrix, of what the baseline overwrites, and of a factor of ours.
std::int64_t system_bytes(std::int64_t n, const std::string& against, bool general = false);

/// solve_spd() or solve_general(), and one of lapack_names().
Side solver_side(const std::shared_ptr<System>& s);
Side lapack_side(const std::shared_ptr<System>& s, const std::shared_ptr<LapackRoom>& room,
                 const std::string& against);

/// Where LAPACK left its solution.
const double* lapack_solution(const LapackRoom& room, const std::string& against);

/// ||b - A x|| / (||A|| ||x|| + ||b||), infinity norms, of the worst column, the residual in long
/// double. A NaN if x has one.
double backward_error(MatrixView<const double> a, MatrixView<const double> b,
                      MatrixView<const double> x);
double backward_error(const System& s, const double* x);

}  // namespace stepwell::tool

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/harness.hpp"
#include "core/buffer.hpp"
#include "options/recipe_options.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::bench {

/// Options of `bench solve`. Empty or zero selects the default.
struct SolveRequest : tool::RecipeRequest {
  std::int64_t n = 4096;
  std::int64_t columns = 1;
  std::string map;      ///< empty: the plan's map
  std::string refiner;  ///< empty: the default of the structure
  std::string pivoting = "partial";
  std::string assume = "auto";  ///< or "spd", "general"; auto: that of the kind
  std::string against;          ///< empty: dposv or dgesv
  int threads = 0;
  int pairs = 5;
  bool allow_slow_blas = false;
  bool json = false;
  bool mpi = false;  ///< distributed over ranks
};

/// Whether the request is for LU. Throws Error(invalid_argument) if the structure is not possible
/// for the kind of matrix.
bool is_general(const SolveRequest& r);

/// A system of the gallery, solved by us and by LAPACK.
struct System {
  /// Throws Error if the kind, map or refiner does not exist.
  explicit System(const SolveRequest& r);

  /// Returns the certificate whatever the outcome is.
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

/// The arrays that LAPACK overwrites, shared by its routines.
struct LapackRoom {
  core::Buffer<double> a, b, x, work;
  core::Buffer<float> narrow;
  std::vector<int> pivots;
  int iterations = 0;  ///< of dsposv and dsgesv
};

/// LAPACK's solvers for the structure, the default first.
const std::vector<std::string>& lapack_names(bool general);

/// Whether 'against' is a routine of LAPACK, and whether it uses fp32 and refinement.
bool is_lapack(const std::string& against);
bool is_mixed(const std::string& against);

/// Bytes of the matrix, of the arrays that the baseline overwrites, and of one factor of ours.
std::int64_t system_bytes(std::int64_t n, const std::string& against, bool general = false);

/// solve_spd() or solve_general(), and one of lapack_names().
Side solver_side(const std::shared_ptr<System>& s);
Side lapack_side(const std::shared_ptr<System>& s, const std::shared_ptr<LapackRoom>& room,
                 const std::string& against);

/// Where LAPACK left its solution.
const double* lapack_solution(const LapackRoom& room, const std::string& against);

/// ||b - A x|| / (||A|| ||x|| + ||b||) of the worst column, in infinity norms, with the residual in
/// long double. NaN if x has a NaN.
double backward_error(MatrixView<const double> a, MatrixView<const double> b,
                      MatrixView<const double> x);
double backward_error(const System& s, const double* x);

}  // namespace stepwell::bench

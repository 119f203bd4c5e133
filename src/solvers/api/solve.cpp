// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/api/fallback.hpp"

#include <algorithm>
#include <new>

#include "core/memory_error.hpp"
#include "solvers/analysis/lower_triangle_copy.hpp"
#include "solvers/api/checks.hpp"
#include "solvers/small/small.hpp"
#include "solvers/systems/general.hpp"
#include "solvers/systems/spd.hpp"

namespace stepwell {
namespace solvers {

void begin_with(const Certificate& before, Certificate& c) {
  c.rungs.insert(c.rungs.begin(), before.rungs.begin(), before.rungs.end());
  c.times.analysis += before.times.analysis;
  c.times.factor += before.times.factor;
  c.times.refine += before.times.refine;
  c.times.wall += before.times.wall;
  c.peak_bytes = std::max(c.peak_bytes, before.peak_bytes);
}

SolveOptions for_both_triangles(SolveOptions options) {
  options.triangle = Triangle::lower;
  return options;
}

SolveOptions for_general(SolveOptions options) {
  options.triangle = Triangle::lower;
  options.check_symmetry = false;
  if (options.refine.refiner == Refiner::cg) options.refine.refiner = Refiner::fgmres;
  if (options.refine.refiner == Refiner::ir_cg) options.refine.refiner = Refiner::ir_gmres;
  return options;
}

}  // namespace solvers

namespace {

/// Solves with the FP64 factor of a small matrix, and climbs the ladder if that gives no solution.
Certificate solve_small_or_climb(MatrixView<const double> a, MatrixView<const double> b,
                                 MatrixView<double> x, const SolveOptions& options) {
  core::Buffer<double> kept;  // a copy of b if x overwrites b
  if (x.data == b.data) {
    kept = core::Buffer<double>(b.rows * b.cols, core::Contents::any);
    for (std::int64_t c = 0; c < b.cols; ++c) {
      std::copy_n(b.column(c), b.rows, kept.data() + c * b.rows);
    }
    b = view<const double>(kept.data(), b.rows, b.cols);
  }
  Certificate first = solvers::solve_small_general(a, b, x, options);
  const bool more = first.outcome == SolveOutcome::not_converged ||
                    first.outcome == SolveOutcome::singular ||
                    first.outcome == SolveOutcome::overflow;
  if (!more) return first;
  Certificate c = solvers::general_solver(a, options)->solve(b, x);
  solvers::begin_with(first, c);
  if (c.outcome == SolveOutcome::singular && first.outcome != SolveOutcome::singular) {
    // Only the last factor has a zero pivot. The first has written x, and its outcome stands.
    first.rungs = c.rungs;
    first.times = c.times;
    first.peak_bytes = c.peak_bytes;
    return first;
  }
  return c;
}

}  // namespace

Certificate solve_spd(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> x,
                      const SolveOptions& options) try {
  const solvers::Checks check("solve_spd");
  check.matrix(a, options);
  check.vectors(a, b, x);
  const solvers::LowerTriangleCopy lower(a, options);
  return lower.in_callers_terms(solvers::is_small(a.rows, options, Structure::spd)
                                    ? solvers::solve_small_spd(lower.view(), b, x, options)
                                    : solvers::spd_solver(lower.view(), options)->solve(b, x));
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Certificate solve_general(MatrixView<const double> a, MatrixView<const double> b,
                          MatrixView<double> x, const SolveOptions& options) try {
  const solvers::Checks check("solve_general");
  check.matrix(a, options);
  check.general(options);
  check.vectors(a, b, x);
  return solvers::is_small(a.rows, options, Structure::general)
             ? solve_small_or_climb(a, b, x, options)
             : solvers::general_solver(a, options)->solve(b, x);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Certificate solve(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> x,
                  const SolveOptions& options, Structure structure) try {
  if (structure == Structure::spd) return solve_spd(a, b, x, options);
  if (structure == Structure::general) return solve_general(a, b, x, options);
  const solvers::Checks check("solve");
  check.square(structure);
  check.matrix(a, options);
  check.vectors(a, b, x);
  const SolveOptions general = solvers::for_general(options);
  if (!solvers::is_symmetric_with_positive_diagonal(a, options.engine.context)) {
    return solve_general(a, b, x, general);
  }
  const Certificate cholesky = solve_spd(a, b, x, solvers::for_both_triangles(options));
  if (cholesky.outcome != SolveOutcome::not_positive_definite) return cholesky;
  Certificate c = solve_general(a, b, x, general);
  solvers::begin_with(cholesky, c);
  return c;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell

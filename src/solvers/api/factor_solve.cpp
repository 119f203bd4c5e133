// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <new>

#include "core/memory_error.hpp"
#include "solvers/analysis/lower_triangle_copy.hpp"
#include "solvers/api/checks.hpp"
#include "solvers/systems/general.hpp"
#include "solvers/systems/spd.hpp"
#include "stepwell/error.hpp"

/// Solves with a factor that the caller holds: one step of the ladder.
namespace stepwell {
namespace {

template <class AnyFactor>
void require_factor(const AnyFactor& factor, MatrixView<const double> a, const char* entry) {
  if (!factor.ok()) {
    throw Error(ErrorCode::invalid_argument,
                std::string(entry) + ": there is no factor: " + to_string(factor.report().outcome));
  }
  if (a.rows != factor.order()) {
    throw Error(ErrorCode::invalid_argument,
                std::string(entry) + ": A has " + std::to_string(a.rows) +
                    " rows, and the factor is that of a matrix of order " +
                    std::to_string(factor.order()));
  }
}

SolveOptions with_map_of(const FactorReport& report, SolveOptions options) {
  options.map = report.map;
  options.climb = false;
  return options;
}

}  // namespace

Certificate Factor::solve(MatrixView<const double> a, MatrixView<const double> b,
                          MatrixView<double> x, const SolveOptions& options) const try {
  const solvers::Checks check("Factor::solve");
  check.matrix(a, options);
  require_factor(*this, a, "Factor::solve");
  check.vectors(a, b, x);
  const SolveOptions with = with_map_of(report(), options);
  const solvers::LowerTriangleCopy lower(a, with);
  solvers::SquareSolver solver(
      std::make_unique<solvers::SpdMatrix>(lower.view(), *this, with.engine.context), with);
  return lower.in_callers_terms(solver.solve(b, x));
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Certificate Factor::solve(MatrixView<const double> a, MatrixView<const double> b,
                          MatrixView<double> x) const {
  return solve(a, b, x, SolveOptions{});
}

Certificate LuFactor::solve(MatrixView<const double> a, MatrixView<const double> b,
                            MatrixView<double> x, const SolveOptions& options) const try {
  const solvers::Checks check("LuFactor::solve");
  check.matrix(a, options);
  check.general(options);
  require_factor(*this, a, "LuFactor::solve");
  check.vectors(a, b, x);
  const SolveOptions with = with_map_of(report(), options);
  solvers::SquareSolver solver(
      std::make_unique<solvers::GeneralMatrix>(a, *this, with.engine.context), with);
  return solver.solve(b, x);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

Certificate LuFactor::solve(MatrixView<const double> a, MatrixView<const double> b,
                            MatrixView<double> x) const {
  return solve(a, b, x, SolveOptions{});
}

}  // namespace stepwell

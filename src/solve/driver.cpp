// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "factor/call.hpp"
#include "solve/cost.hpp"
#include "solve/spd.hpp"
#include "stepwell/error.hpp"
#include "stepwell/solve.hpp"

namespace stepwell {
namespace {

using solve::direct_below;

[[noreturn]] void misuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, "solve_spd: " + text);
}

std::string size_of(std::int64_t rows, std::int64_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

void check_matrix(MatrixView<const double> a, const SolveOptions& options) {
  if (a.rows != a.cols) misuse("A is " + size_of(a.rows, a.cols) + "; it must be square");
  factor::require_view(a.data, a.rows, a.cols, a.ld, "solve_spd: A");
  if (!(options.tolerance >= 0 && options.tolerance < 1)) {
    misuse("the tolerance must lie in [0, 1); 0 means sqrt(n) 2^-53");
  }
  if (options.iterations < 0) misuse("the number of iterations can't be negative");
  if (options.working != Format::fp64 && options.working != Format::fp32) {
    misuse("the working precision must be fp64 or fp32");
  }
}

/// Whether the memory of two views has a byte in common.
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

void check_vectors(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> x) {
  factor::require_view(b.data, b.rows, b.cols, b.ld, "solve_spd: B");
  factor::require_view(x.data, x.rows, x.cols, x.ld, "solve_spd: X");
  if (b.rows != a.rows) {
    misuse("B is " + size_of(b.rows, b.cols) + "; it must have " + std::to_string(a.rows) +
           " rows, as A has");
  }
  if (x.rows != b.rows || x.cols != b.cols) {
    misuse("X is " + size_of(x.rows, x.cols) + "; it must be " + size_of(b.rows, b.cols) +
           ", as B is");
  }
  if (overlap(x, a)) misuse("X overlaps A, which must stay as it is");
  const bool same = x.data == b.data && (x.ld == b.ld || x.cols == 1);
  if (!same && overlap(x, b)) misuse("X overlaps B; it may be B itself, but not a part of it");
}

bool plain(const SolveOptions& o) {
  return !o.map && !o.condition && !o.prove && !o.check_symmetry && o.iterations == 0 &&
         o.working == Format::fp64 && !o.exact_residual && o.refiner == Refiner::cg;
}

}  // namespace

Plan plan_spd(std::int64_t n, std::int64_t columns, const SolveOptions& options) {
  if (n < 0 || columns < 0) misuse("a plan for " + size_of(n, columns));
  Plan plan;
  const bool direct = !options.map && n < direct_below();
  const PrecisionMap map = options.map ? *options.map
                           : direct    ? uniform(Rung::fp64)
                                       : uniform(solve::ladder()[0]);
  const Rung rung = map.adaptive() ? Rung::bf16x2 : map.layers[0];
  plan.map = to_string(map);
  plan.refiner = direct ? "direct" : to_string(options.refiner);
  plan.iterations = solve::expected_iterations(rung);
  plan.seconds =
      solve::factor_seconds(rung, n) + plan.iterations * solve::iteration_seconds(rung, n, columns);
  FactorOptions f;
  f.map = map;
  f.tile = options.tile;
  f.context = options.context;
  if (direct && plain(options)) {
    plan.bytes = plan.top_bytes = solve::small_bytes(n);
    return plan;
  }
  const std::int64_t beside = solve::refinement_bytes(n, columns, options.refiner);
  plan.bytes = factor_bytes(n, f) + beside;
  plan.top_bytes = plan.bytes;
  const auto or_at = [&](const PrecisionMap& other) {
    f.map = other;
    plan.top_bytes = std::max(plan.top_bytes, factor_bytes(n, f) + beside);
  };
  if (!options.map && !direct) {  // where A may make the ladder start
    f.spread = true;
    or_at(solve::covariance_map());
    f.spread = false;
    if (solve::ladder().size() > 2) or_at(uniform(solve::ladder()[1]));
  }
  for (const Rung step : solve::ladder()) {  // small ones at low rungs take more than FP64
    if (options.climb) or_at(uniform(step));
  }
  return plan;
}

Certificate solve_spd(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> x,
                      const SolveOptions& options) {
  check_matrix(a, options);
  check_vectors(a, b, x);
  if (a.rows < direct_below() && a.rows > 0 && plain(options)) {
    return solve::solve_small(a, b, x, options);
  }
  return solve::Spd(a, options).solve(b, x);
}

struct SpdSolver::Impl {
  Impl(MatrixView<const double> matrix, const SolveOptions& options)
      : a(matrix), spd(matrix, options), factorization(spd.prepare()) {}
  MatrixView<const double> a;
  solve::Spd spd;
  Certificate factorization;
};

SpdSolver::SpdSolver(MatrixView<const double> a, const SolveOptions& options) {
  check_matrix(a, options);
  impl_ = std::make_unique<Impl>(a, options);
}
SpdSolver::~SpdSolver() = default;
SpdSolver::SpdSolver(SpdSolver&& other) noexcept = default;
SpdSolver& SpdSolver::operator=(SpdSolver&& other) noexcept = default;

std::int64_t SpdSolver::order() const {
  return impl_->a.rows;
}

const Certificate& SpdSolver::factorization() const {
  return impl_->factorization;
}

Certificate SpdSolver::solve(MatrixView<const double> b, MatrixView<double> x) {
  check_vectors(impl_->a, b, x);
  return impl_->spd.solve(b, x);
}

}  // namespace stepwell

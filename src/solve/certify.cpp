// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/fp_scope.hpp"
#include "refine/vectors.hpp"
#include "solve/inverse_norm.hpp"
#include "solve/solver.hpp"

/// What a certificate says on request: the condition number, and a bound on the forward error.
namespace stepwell::driver {
namespace {

using factor::Clock;
using factor::seconds_since;

constexpr double kUnit = 0x1p-53;

}  // namespace

bool Solver::estimate_inverse_norm(Certificate& c) {
  const std::int64_t n = order();
  Side& of = side();
  if (of.inverse_norm != 0) return true;
  if (!ensure_factor(c)) return false;
  Side& other = other_side();
  if (!other.preconditioner) other.preconditioner = precondition(other);
  if (options_.progress != nullptr) options_.progress->enter(Phase::certify);
  // Where to look is found with the factor alone; what was found is refined, in one batch.
  core::Buffer<double> y(n);
  const auto roughly = [&](Side& with) {
    return [&](std::vector<double>& v) {
      core::Buffer<double> b(n);
      const ScaledColumn column(with.exponents, v.data(), b.data());
      with.preconditioner->apply(view<const double>(b.data(), n, 1), view(y.data(), n, 1));
      column.write(with.exponents, y.data(), v.data());
    };
  };
  // The largest row of A^-1 is the largest column of A^-T.
  auto probes = inverse_probes(n, roughly(other), roughly(of));
  const auto count = static_cast<std::int64_t>(probes.size());
  core::Buffer<double> b(n * count), x(n * count), r(n * count);
  std::vector<ScaledColumn> columns;
  for (std::size_t k = 0; k < probes.size(); ++k) {
    columns.emplace_back(other.exponents, probes[k].data(),
                         b.data() + static_cast<std::int64_t>(k) * n);
  }
  refine::Request q;
  q.refiner = made_->coarsest == Rung::fp64 ? Refiner::ir : default_refiner(structure_);
  q.goal = structure_ == Structure::general ? kUnit : 0;  // GMRES that goes on ends in noise
  q.steps = 1;
  q.iterations = 4;  // an estimate within a factor of three needs no more digits
  q.norm = other.scaled_norm;
  refine::refine(other.scaled, *other.preconditioner, view<const double>(b.data(), n, count),
                 view(x.data(), n, count), view(r.data(), n, count), q);
  for (std::size_t k = 0; k < probes.size(); ++k) {
    columns[k].write(other.exponents, x.data() + static_cast<std::int64_t>(k) * n,
                     probes[k].data());
    of.inverse_norm = std::max(of.inverse_norm, sum_of_sizes(probes[k]));
  }
  return true;
}

double Solver::inverse_norm() {
  const core::FpScope fp;
  const engine::Shift shift(team_);
  if (order() == 0) return 0;
  Certificate c;
  const bool known = inspect(c) && estimate_inverse_norm(c);
  return known ? side().inverse_norm : std::numeric_limits<double>::quiet_NaN();
}

void Solver::estimate_condition(Certificate& c) {
  const auto start = Clock::now();
  const std::int64_t n = order();
  Certificate factorization;  // x may have been found without a factor, and stays what it is
  if (!estimate_inverse_norm(factorization)) return;
  c.times.factor += factorization.times.factor;
  c.peak_bytes = std::max(c.peak_bytes, factorization.peak_bytes);
  c.condition = c.norm * side().inverse_norm;
  for (ColumnCertificate& column : c.columns) {
    // ||x - A^-1 b|| <= ||A^-1|| (||r|| + what r's own rounding may hide), and b is at most as
    // large as ||A|| ||x|| and the residual.
    const double hidden = static_cast<double>(n + 1) * kUnit;
    const double backward = column.proven_backward_error > 0 ? column.proven_backward_error
                                                             : column.backward_error + hidden;
    column.forward_error = 2 * c.condition * backward;
  }
  c.times.certify += seconds_since(start);
}

}  // namespace stepwell::driver

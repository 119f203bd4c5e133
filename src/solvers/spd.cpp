// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/spd.hpp"

#include <algorithm>
#include <cmath>

#include "factor/cholesky/factor_data.hpp"
#include "solvers/cost.hpp"

namespace stepwell::solvers {

Spd::Spd(std::unique_ptr<SpdMatrix> a, const SolveOptions& options, std::int64_t priced_as)
    : Solver(Structure::spd, a->order(), a->threads(), options, priced_as),
      a_(std::move(a)),
      product_(a_->begin(pool_)),
      diagonal_(a_->diagonal()),
      scale_(factor::scale_factors(diagonal_, Scaling::powers_of_two)),
      side_(product_, scale_.row, scale_.col) {}

Spd::Spd(MatrixView<const double> a, const SolveOptions& options, std::int64_t priced_as)
    : Spd(std::make_unique<LocalMatrix>(a, options.context), options, priced_as) {}

std::int64_t Spd::held_bytes(std::int64_t columns) const {
  return a_->held_bytes(columns, refiner_);
}

std::int64_t Spd::product_bytes(std::int64_t columns) const {
  return a_->product_bytes(columns);
}

/// What the diagonal and one pass over A say. False: no factor can be made.
bool Spd::check_matrix(Certificate& c) {
  for (std::size_t i = 0; i < diagonal_.value.size(); ++i) {
    const double d = diagonal_.value[i];
    if (d > 0 && std::isfinite(d)) continue;
    const auto k = static_cast<std::int64_t>(i);
    if (!std::isfinite(d)) {
      c.outcome = SolveOutcome::non_finite;
      c.row = c.col = k;
      return false;
    }
    c.outcome = SolveOutcome::not_positive_definite;
    c.pivot = k;
    c.pivot_value = d;
    break;  // unless there is a NaN somewhere
  }
  analyze(c);
  c.norm = found_.norm_inf;
  if (found_.scan.non_finite > 0) {
    c.outcome = SolveOutcome::non_finite;
    c.row = found_.scan.bad_row;
    c.col = found_.scan.bad_col;
  } else if (options_.check_symmetry &&
             !(found_.scan.asymmetry <=
               4 * 0x1p-53 * static_cast<double>(order()) * found_.scan.max_abs)) {
    c.outcome = SolveOutcome::asymmetric;
    c.row = found_.scan.asymmetry_row;
    c.col = found_.scan.asymmetry_col;
  }
  return c.outcome == SolveOutcome::converged;
}

Solver::Made Spd::make_factor() {
  FactorOptions f;
  f.map = maps_[rung_];
  f.tile = options_.tile;
  f.scaling = options_.scaling;
  f.theta = options_.theta;
  f.shift = rung_ == start_ ? options_.shift : 0;
  // Shifts are for a map that was asked for; on the way up the next rung is cheaper than a weak
  // factor's iterations.
  f.escalate = options_.map.has_value() && rung_ == 0;
  f.spread = f.map.graded() && sorted_;
  f.context = options_.context;
  f.progress = options_.progress;
  Factor factor = a_->factor(f);
  const Made made{factor.report(), factor.ok() ? factor.data().l.map().coarsest() : Rung::fp64};
  if (factor.ok()) factor_ = std::move(factor);
  return made;
}

std::unique_ptr<refine::Preconditioner> Spd::precondition(const Side&) {
  return a_->precondition(factor_->data(), scale_.row, scale_.col);
}

/// The bottom: CG with the diagonal, or with A as it is where scaling would smear the clusters.
bool Spd::without_factor(Batch& batch, Certificate& c) {
  if (!worth_trying_without_factor()) return false;
  std::vector<double> inverse(static_cast<std::size_t>(order()));
  const bool plain = few_eigenvalues_carry_it();
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    const double h = scale_.row[i] * diagonal_.value[i] * scale_.col[i];
    const double identity = scale_.row[i] * (scale_.row[i] * scale_.gain);
    inverse[i] = 1 / (plain ? identity : h);
  }
  return refine_unpreconditioned(std::move(inverse), batch, c);
}

}  // namespace stepwell::solvers

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solve/spd.hpp"

#include <algorithm>
#include <cmath>

#include "core/fp_scope.hpp"
#include "engine/runtime.hpp"
#include "solve/cost.hpp"
#include "stepwell/error.hpp"

namespace stepwell::solve {
namespace {

using factor::Clock;
using factor::seconds_since;

/// What a residual summed in FP64 may be off, in backward error.
constexpr double kDoubt = 2 * 0x1p-53;

int threads_for(std::int64_t n, const Context* context) {
  constexpr std::int64_t kForThreads = 1024;  // below, waking them takes longer than they save
  if (n < kForThreads) return 1;
  return context != nullptr ? context->threads() : engine::resolve_threads(0);
}

std::vector<PrecisionMap> maps_of(std::int64_t n, const SolveOptions& options) {
  std::vector<PrecisionMap> maps;
  if (!options.map && n < direct_below()) return {uniform(Rung::fp64)};
  double unit = 1;
  if (options.map) {
    maps.push_back(*options.map);
    unit = options.map->eps;
    if (!options.map->adaptive()) {
      unit = 0;
      for (const Rung r : options.map->layers) unit = std::max(unit, info(r).unit_roundoff);
    }
  }
  if (options.map && !options.climb) return maps;
  for (const Rung r : ladder()) {
    if (info(r).unit_roundoff < unit) maps.push_back(uniform(r));
  }
  return maps;
}

}  // namespace

Spd::Spd(MatrixView<const double> a, const SolveOptions& options, std::int64_t priced_as)
    : a_(a),
      options_(options),
      priced_(priced_as > 0 ? priced_as : a.rows),
      diagonal_(factor::read_diagonal(a)),
      scale_(factor::scale_factors(diagonal_, Scaling::powers_of_two)),
      exponents_(scale_),
      team_(threads_for(a.rows, options.context)),
      product_(team_, a),
      operator_(product_, scale_.row, scale_.col),
      maps_(maps_of(priced_, options)) {}

namespace {

/// Vectors that a refiner keeps for a column beside those of CG: a basis of 50, and those of the
/// flexible ones.
std::int64_t basis_of(Refiner refiner) {
  switch (refiner) {
    case Refiner::gmres:
    case Refiner::ir_gmres:
      return 51;
    case Refiner::fgmres:
      return 101;
    case Refiner::gmres_gmres:
      return 156;
    default:
      return 0;
  }
}

}  // namespace

std::int64_t vector_bytes(std::int64_t n, std::int64_t columns, Refiner refiner) {
  // Of the batch, the outer loop, CG and its copies.
  const std::int64_t vectors = 16 + basis_of(refiner);
  return core::size_product(n, std::min(columns, kBatch), 8 * vectors, "vectors of the refinement");
}

std::int64_t refinement_bytes(std::int64_t n, std::int64_t columns, Refiner refiner) {
  const std::int64_t k = std::clamp<std::int64_t>(columns, 2, kBatch);
  return vector_bytes(n, columns, refiner) + refine::SymmetricProduct::workspace_bytes(n, k);
}

double Spd::tolerance() const {
  if (options_.tolerance > 0) return options_.tolerance;
  const double unit = options_.working == Format::fp32 ? 0x1p-24 : 0x1p-53;
  return std::sqrt(static_cast<double>(order())) * unit;
}

refine::Sums Spd::sums() const {
  // Where it takes no time to speak of, x is better by what plain sums lose.
  constexpr std::int64_t kCheapUpTo = 512;
  return options_.exact_residual || order() <= kCheapUpTo ? refine::Sums::double_double
                                                          : refine::Sums::fp64;
}

/// What the diagonal and one pass over A say. False: no factor can be made.
bool Spd::inspect(Certificate& c) {
  c.tolerance = tolerance();
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
  look(c);
  c.norm = survey_.norm_inf;
  if (survey_.scan.non_finite > 0) {
    c.outcome = SolveOutcome::non_finite;
    c.row = survey_.scan.bad_row;
    c.col = survey_.scan.bad_col;
  } else if (options_.check_symmetry &&
             !(survey_.scan.asymmetry <=
               4 * 0x1p-53 * static_cast<double>(order()) * survey_.scan.max_abs)) {
    c.outcome = SolveOutcome::asymmetric;
    c.row = survey_.scan.asymmetry_row;
    c.col = survey_.scan.asymmetry_col;
  }
  return c.outcome == SolveOutcome::converged;
}

std::vector<ColumnCertificate> blank_columns(std::int64_t columns) {
  try {
    return std::vector<ColumnCertificate>(static_cast<std::size_t>(columns));
  } catch (const std::exception&) {  // no such memory, or no such size
    throw Error(ErrorCode::out_of_memory, "there is no memory for the certificates of " +
                                              std::to_string(columns) + " right-hand sides");
  }
}

bool inspect_b(MatrixView<const double> b, Certificate& c) {
  for (std::int64_t j = 0; j < b.cols; ++j) {
    for (std::int64_t i = 0; i < b.rows; ++i) {
      if (std::isfinite(b(i, j))) continue;
      c.outcome = SolveOutcome::non_finite;
      c.in_b = true;
      c.row = i;
      c.col = j;
      return false;
    }
  }
  return true;
}

Batch Spd::make_batch(MatrixView<const double> b, std::int64_t first, std::int64_t count) const {
  const std::int64_t n = order();
  Batch batch;
  batch.first = first;
  batch.count = count;
  batch.b = core::Buffer<double>(n * count);
  batch.y = core::Buffer<double>(n * count);
  batch.r = core::Buffer<double>(n * count);
  batch.error.assign(static_cast<std::size_t>(count), 1.0);
  for (std::int64_t k = 0; k < count; ++k) {
    batch.column.emplace_back(exponents_, b.column(first + k), batch.b.data() + k * n);
  }
  return batch;
}

/// Writes x and certifies what was written.
void Spd::finish(Batch& batch, MatrixView<double> x, Certificate& c) {
  const std::int64_t n = order();
  bool exact = true;
  std::vector<bool> finite;
  for (std::int64_t k = 0; k < batch.count; ++k) {
    const ScaledColumn& column = batch.column[static_cast<std::size_t>(k)];
    double* const out = x.column(batch.first + k);
    double* const y = batch.y.data() + k * n;
    finite.push_back(column.write(exponents_, y, out));
    exact = column.read(exponents_, out, y) && exact;
  }
  const auto compute_residual = [&](refine::Sums how) {
    operator_.residual(batch.view_of(batch.b), batch.view_of(batch.y), batch.view_of(batch.r), how);
  };
  const auto error_of = [&](std::int64_t k) {
    return backward_error(survey_.norm_inf,
                          sizes_of(exponents_, batch.b.data() + k * n, batch.y.data() + k * n,
                                   batch.r.data() + k * n));
  };
  // What was written is what was refined, but where a number had to be rounded to FP64's range.
  if (!exact) compute_residual(sums());
  // A verdict that plain sums' own rounding could turn is passed in double-double.
  bool close = false;
  for (std::int64_t k = 0; k < batch.count; ++k) {
    close = close || std::abs(error_of(k) - tolerance()) < kDoubt;
  }
  if (close && sums() == refine::Sums::fp64) compute_residual(refine::Sums::double_double);
  for (std::int64_t k = 0; k < batch.count; ++k) {
    ColumnCertificate& column = c.columns[static_cast<std::size_t>(batch.first + k)];
    column.backward_error = error_of(k);
    const bool met = column.backward_error <= tolerance();
    column.outcome = !finite[static_cast<std::size_t>(k)] ? SolveOutcome::overflow
                     : met                                ? SolveOutcome::converged
                                                          : SolveOutcome::not_converged;
    if (column.outcome != SolveOutcome::converged && c.outcome == SolveOutcome::converged) {
      c.outcome = column.outcome;
    }
    // Written so that a NaN stays.
    if (!(column.backward_error <= c.backward_error)) c.backward_error = column.backward_error;
  }
}

Certificate Spd::prepare() {
  const core::FpScope fp;
  const auto start = Clock::now();
  Certificate c;
  if (order() > 0 && inspect(c)) ensure_factor(c);
  c.times.wall = seconds_since(start);
  explain(c);
  return c;
}

Certificate Spd::solve(MatrixView<const double> b, MatrixView<double> x) {
  const core::FpScope fp;
  const auto start = Clock::now();
  Certificate c;
  c.columns = blank_columns(b.cols);
  c.tolerance = tolerance();
  c.peak_bytes = refinement_bytes(order(), b.cols, options_.refiner);
  const bool usable = order() > 0 && b.cols > 0 && inspect_b(b, c) && inspect(c);
  if (usable) {
    std::int64_t first = 0;
    for (; first < b.cols; first += kBatch) {
      Batch batch = make_batch(b, first, std::min(kBatch, b.cols - first));
      climb(batch, c);
      if (c.outcome != SolveOutcome::converged && c.outcome != SolveOutcome::not_converged) break;
      if (c.pivot >= 0) break;  // there is no factor
      finish(batch, x, c);
      if (options_.prove) prove(batch, c);
    }
    for (; first < b.cols; ++first) c.columns[static_cast<std::size_t>(first)].outcome = c.outcome;
    c.iterations = 0;
    for (const ColumnCertificate& column : c.columns) {
      c.iterations = std::max(c.iterations, column.iterations);
    }
    if (options_.condition && c.ok()) estimate_condition(c);
  } else {
    for (ColumnCertificate& column : c.columns) {
      column.outcome = c.outcome;
      if (c.ok()) column.backward_error = 0;  // n = 0
    }
  }
  c.times.wall = seconds_since(start);
  explain(c);
  return c;
}

}  // namespace stepwell::solve

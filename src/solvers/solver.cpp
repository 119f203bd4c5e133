// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/solver.hpp"
#include "core/clock.hpp"

#include <algorithm>
#include <cmath>

#include "core/machine/fp_scope.hpp"
#include "engine/runtime.hpp"
#include "refine/operators/general_product.hpp"
#include "solvers/cost.hpp"
#include "stepwell/error.hpp"

namespace stepwell::solvers {
namespace {

using core::Clock;
using core::seconds_since;

std::vector<PrecisionMap> maps_of(std::int64_t n, const SolveOptions& options,
                                  Structure structure) {
  std::vector<PrecisionMap> maps;
  if (!options.map && n < direct_below(structure)) return {uniform(Rung::fp64)};
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

Solver::Solver(Structure structure, std::int64_t n, int threads, const SolveOptions& options,
               std::int64_t priced_as)
    : options_(options),
      structure_(structure),
      refiner_(options.refiner.value_or(default_refiner(structure))),
      n_(n),
      priced_(priced_as > 0 ? priced_as : n),
      pool_(threads),
      maps_(maps_of(priced_, options, structure)) {}

int threads_for(std::int64_t n, const Context* context) {
  constexpr std::int64_t kForThreads = 1024;  // below, waking them takes longer than they save
  if (n < kForThreads) return 1;
  return factor::threads_of(context);
}

bool is_symmetric_with_positive_diagonal(MatrixView<const double> a, const Context* context) {
  engine::ThreadPool pool(threads_for(a.rows, context));
  return refine::is_symmetric_with_positive_diagonal(pool, a);
}

Refiner default_refiner(Structure structure) {
  return structure == Structure::general ? Refiner::fgmres : Refiner::cg;
}

const char* name_of(Structure structure) {
  return structure == Structure::general ? "general" : "spd";
}

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

std::int64_t product_bytes(std::int64_t n, std::int64_t columns, Structure structure) {
  if (structure == Structure::general) return refine::scan_bytes(n);
  return refine::SymmetricProduct::workspace_bytes(n, product_columns(columns));
}

std::int64_t refinement_bytes(std::int64_t n, std::int64_t columns, Refiner refiner,
                              Structure structure) {
  return vector_bytes(n, columns, refiner) + product_bytes(n, columns, structure);
}

std::int64_t Solver::held_bytes(std::int64_t columns) const {
  return vector_bytes(order(), columns, refiner_);
}

std::int64_t Solver::product_bytes(std::int64_t columns) const {
  return solvers::product_bytes(order(), columns, structure_);
}

double Solver::tolerance() const {
  if (options_.tolerance > 0) return options_.tolerance;
  const double unit = options_.working == Format::fp32 ? 0x1p-24 : 0x1p-53;
  return std::sqrt(static_cast<double>(order())) * unit;
}

refine::Sums Solver::sums() const {
  // Where it takes no time to speak of, x is better by what plain sums lose.
  constexpr std::int64_t kCheapUpTo = 512;
  return options_.exact_residual || order() <= kCheapUpTo ? refine::Sums::double_double
                                                          : refine::Sums::fp64;
}

std::vector<ColumnCertificate> blank_columns(std::int64_t columns) {
  try {
    return std::vector<ColumnCertificate>(static_cast<std::size_t>(columns));
  } catch (const std::exception&) {  // no such memory, or no such size
    throw Error(ErrorCode::out_of_memory, "there is no memory for the certificates of " +
                                              std::to_string(columns) + " right-hand sides");
  }
}

bool scan_b(MatrixView<const double> b, Certificate& c) {
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

Batch Solver::make_batch(MatrixView<const double> b, std::int64_t first, std::int64_t count) {
  const std::int64_t n = order();
  const Exponents& exponents = side().exponents;
  Batch batch;
  batch.first = first;
  batch.count = count;
  batch.b = core::Buffer<double>(n * count);
  batch.y = core::Buffer<double>(n * count);
  batch.r = core::Buffer<double>(n * count);
  batch.measured.assign(static_cast<std::size_t>(count), {});
  for (std::int64_t k = 0; k < count; ++k) {
    double* const own = batch.b.data() + k * n;
    std::copy_n(b.column(first + k), n, own);  // read once: what is certified is what was read
    batch.column.emplace_back(exponents, own, own);
  }
  return batch;
}

/// Writes x and certifies what was written.
void Solver::finish(Batch& batch, MatrixView<double> x, Certificate& c) {
  const std::int64_t n = order();
  const Side& of = side();
  std::vector<std::int64_t> again;  // columns of which there is no residual that is good enough
  std::vector<bool> finite;
  for (std::int64_t k = 0; k < batch.count; ++k) {
    const ScaledColumn& column = batch.column[static_cast<std::size_t>(k)];
    double* const out = x.column(batch.first + k);
    double* const y = batch.y.data() + k * n;
    finite.push_back(column.write(of.exponents, y, out));
    // What was written is what was refined, but where a number had to be rounded to FP64's range.
    const bool exact = column.read(of.exponents, out, y);
    if (!exact || options_.prove) again.push_back(k);
  }
  if (!again.empty()) {
    const auto start = Clock::now();
    measure_again(batch, again, refine::Sums::double_double);
    c.times.certify += seconds_since(start);
  }
  for (std::int64_t k = 0; k < batch.count; ++k) {
    const Measured& measured = batch.measured[static_cast<std::size_t>(k)];
    ColumnCertificate& column = c.columns[static_cast<std::size_t>(batch.first + k)];
    column.backward_error = measured.error;
    if (options_.prove) column.proven_backward_error = measured.most();
    column.outcome = outcome_of(finite[static_cast<std::size_t>(k)], measured, tolerance());
    if (column.outcome != SolveOutcome::converged && c.outcome == SolveOutcome::converged) {
      c.outcome = column.outcome;
    }
    // Written so that a NaN stays.
    if (!(column.backward_error <= c.backward_error)) c.backward_error = column.backward_error;
  }
}

Certificate Solver::prepare() {
  const core::FpScope fp;
  const engine::ThreadPoolGuard guard(pool_);
  const auto start = Clock::now();
  Certificate c;
  c.structure = name_of(structure_);
  c.tolerance = tolerance();
  if (order() > 0 && check_matrix(c)) ensure_factor(c);
  c.times.wall = seconds_since(start);
  explain(c);
  return c;
}

Certificate Solver::solve(MatrixView<const double> b, MatrixView<double> x) {
  const core::FpScope fp;
  const engine::ThreadPoolGuard guard(pool_);
  const auto start = Clock::now();
  Certificate c;
  c.structure = name_of(structure_);
  c.columns = blank_columns(b.cols);
  c.tolerance = tolerance();
  c.peak_bytes = held_bytes(b.cols) + product_bytes(b.cols);
  const RightHandSums sums(b);
  if (options_.condition) expect_condition(c);
  const bool usable = order() > 0 && b.cols > 0 && scan_b(b, c) && check_matrix(c);
  if (usable) {
    std::int64_t first = 0;
    for (; first < b.cols; first += kBatch) {
      Batch batch = make_batch(b, first, std::min(kBatch, b.cols - first));
      const bool solved = climb(batch, c);
      const bool factored = solved || (made_ && c.outcome == SolveOutcome::not_converged);
      if (factored) finish(batch, x, c);
      if (factored && options_.condition) bound_errors(batch, c);
      if (solved) {
        check_unchanged(c);
      } else {
        scan_again(batch, c);
      }
      if (!factored && c.outcome == SolveOutcome::not_converged) c.backward_error = 1;
      if (!factored || c.outcome == SolveOutcome::changed) break;
    }
    for (; first < b.cols; ++first) c.columns[static_cast<std::size_t>(first)].outcome = c.outcome;
    c.iterations = 0;
    for (const ColumnCertificate& column : c.columns) {
      c.iterations = std::max(c.iterations, column.iterations);
    }
    if (options_.condition && c.ok()) estimate_condition(c);
    sums.check(b, x, c);
    if (c.outcome == SolveOutcome::changed) {  // of which no column can be trusted
      for (ColumnCertificate& column : c.columns) column.outcome = c.outcome;
    }
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

}  // namespace stepwell::solvers

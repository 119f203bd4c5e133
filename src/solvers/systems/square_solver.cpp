// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/systems/square_solver.hpp"

#include <algorithm>
#include <cmath>

#include "core/clock.hpp"
#include "core/machine/fp_scope.hpp"
#include "core/numeric/worst.hpp"
#include "stepwell/error.hpp"

namespace stepwell::solvers {

SquareSolver::SquareSolver(std::unique_ptr<SquareMatrix> a, const SolveOptions& options,
                           std::int64_t cost_order)
    : a_(std::move(a)),
      options_(options),
      refiner_(options.refine.refiner.value_or(default_refiner(a_->structure()))),
      cost_order_(cost_order > 0 ? cost_order : a_->order()),
      transposed_(options.transposed) {}

double SquareSolver::tolerance() const {
  if (options_.tolerance > 0) return options_.tolerance;
  const double unit = options_.refine.working == Format::fp32 ? 0x1p-24 : 0x1p-53;
  return std::sqrt(static_cast<double>(order())) * unit;
}

refine::Sums SquareSolver::sums() const {
  // Where double-double costs next to nothing, x is better by what plain sums lose.
  constexpr std::int64_t kCheapUpTo = 512;
  return options_.refine.exact_residual || order() <= kCheapUpTo ? refine::Sums::double_double
                                                                 : refine::Sums::fp64;
}

/// Analyzes A at the first call. False if it can't be solved with; the certificate says why.
bool SquareSolver::analyze(Certificate& c) {
  if (!analyzed_) {
    const auto start = core::Clock::now();
    if (options_.engine.progress != nullptr) options_.engine.progress->enter(Phase::analysis);
    analysis_ = a_->analyze(options_);
    const factor::Scale& scale = analysis_->scale;
    ladder_ = ladder_for(a_->structure(), cost_order_, *analysis_, options_);
    for (const bool transposed : {false, true}) {
      if (!analysis_->usable() || (transposed && !general())) break;
      Side& side = side_[transposed ? 1 : 0].emplace(a_->product(transposed),
                                                     transposed ? scale.col : scale.row,
                                                     transposed ? scale.row : scale.col);
      side.transposed = transposed;
      side.norm = transposed ? analysis_->transposed_norm : analysis_->norm;
      side.scaled_norm = analysis_->scaled_norm;
      side.scaled.expect(analysis_->found.checksums);
    }
    analyzed_ = true;
    c.times.analysis += core::seconds_since(start);
  }
  c.norm = general() && transposed_ ? analysis_->transposed_norm : analysis_->norm;
  if (analysis_->usable()) return true;
  c.outcome = analysis_->outcome;
  c.row = analysis_->row;
  c.col = analysis_->col;
  c.pivot = analysis_->pivot;
  c.pivot_value = analysis_->pivot_value;
  return false;
}

Certificate SquareSolver::blank_certificate(std::int64_t columns) const {
  Certificate c;
  c.structure = a_->structure();
  c.columns = blank_columns(columns);
  c.tolerance = tolerance();
  record_threads(a_->pool().requested(), options_.engine.context, c);
  return c;
}

std::vector<ColumnCertificate> blank_columns(std::int64_t columns) {
  try {
    return std::vector<ColumnCertificate>(static_cast<std::size_t>(columns));
  } catch (const std::exception&) {  // bad_alloc or length_error
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

Batch SquareSolver::make_batch(MatrixView<const double> b, std::int64_t first, std::int64_t count) {
  const std::int64_t n = order();
  const Exponents& exponents = side().exponents;
  Batch batch;
  batch.first = first;
  batch.count = count;
  batch.b = core::Buffer<double>(n * count);
  batch.y = core::Buffer<double>(n * count);
  batch.r = core::Buffer<double>(n * count);
  batch.measured.assign(static_cast<std::size_t>(count), {});
  batch.column.resize(static_cast<std::size_t>(count));
  a_->pool().for_each(count, [&](std::int64_t k) {
    const core::FpScope fp;
    double* const own = batch.b.data() + k * n;
    std::copy_n(b.column(first + k), n, own);  // read once: what is certified is what was read
    batch.column[static_cast<std::size_t>(k)] = ScaledColumn(exponents, own, own);
  });
  return batch;
}

/// Writes x and certifies what was written.
void SquareSolver::write(Batch& batch, MatrixView<double> x, Certificate& c) {
  const std::int64_t n = order();
  const Side& of = side();
  std::vector<char> finite(static_cast<std::size_t>(batch.count)), rounded(finite.size());
  a_->pool().for_each(batch.count, [&](std::int64_t k) {
    const core::FpScope fp;
    const auto e = static_cast<std::size_t>(k);
    double* const out = x.column(batch.first + k);
    double* const y = batch.y.data() + k * n;
    finite[e] = batch.column[e].write(of.exponents, y, out) ? 1 : 0;
    // What was written is what was refined, except where an element was rounded to FP64's range.
    rounded[e] = batch.column[e].read(of.exponents, out, y) ? 0 : 1;
  });
  std::vector<std::int64_t> again;  // columns without a residual that is good enough
  for (std::int64_t k = 0; k < batch.count; ++k) {
    if (options_.prove || rounded[static_cast<std::size_t>(k)] != 0) again.push_back(k);
  }
  if (!again.empty()) {
    const auto start = core::Clock::now();
    measure_again(batch, again, refine::Sums::double_double);
    c.times.certify += core::seconds_since(start);
  }
  for (std::int64_t k = 0; k < batch.count; ++k) {
    const Measured& measured = batch.measured[static_cast<std::size_t>(k)];
    ColumnCertificate& column = c.columns[static_cast<std::size_t>(batch.first + k)];
    column.backward_error = measured.error;
    if (options_.prove) column.proven_backward_error = measured.most();
    column.outcome = outcome_of(finite[static_cast<std::size_t>(k)] != 0, measured, tolerance());
    if (column.outcome != SolveOutcome::converged && c.outcome == SolveOutcome::converged) {
      c.outcome = column.outcome;
    }
    c.backward_error = core::worst(c.backward_error, column.backward_error);
  }
}

/// What the certificate says of a ladder that ended without a solution.
void SquareSolver::conclude(Climbed climbed, Certificate& c) const {
  if (climbed == Climbed::exhausted) c.outcome = SolveOutcome::not_converged;
  const bool broke_down =
      climbed == Climbed::stopped && (c.outcome == SolveOutcome::not_converged ||
                                      c.outcome == SolveOutcome::not_positive_definite);
  if (broke_down) {
    c.pivot = c.factor.pivot;
    c.pivot_value = c.factor.pivot_value;
  }
  if (c.outcome == SolveOutcome::not_converged && zero_pivot_ >= 0) {
    c.outcome = SolveOutcome::singular;
    c.pivot = zero_pivot_;
    c.pivot_value = 0;
  }
}

/// Climbs until the batch is solved, writes x and certifies it. False if nothing was written.
bool SquareSolver::solve_batch(Batch& batch, MatrixView<double> x, Certificate& c) {
  const Climbed climbed = climb(system_for(batch), ladder_, options_.engine.progress, c);
  if (climbed != Climbed::solved) conclude(climbed, c);
  const bool written =
      climbed == Climbed::solved || (made_ && c.outcome == SolveOutcome::not_converged);
  if (written) write(batch, x, c);
  if (written && options_.condition) bound_errors(batch, c);
  if (climbed == Climbed::solved) {
    check_unchanged(c);
  } else {
    scan_again(batch, c);
  }
  if (!written && c.outcome == SolveOutcome::not_converged) c.backward_error = 1;
  return written && c.outcome != SolveOutcome::changed;
}

Certificate SquareSolver::factorize() {
  const core::FpScope fp;
  const engine::ThreadPoolGuard guard(a_->pool());
  const auto start = core::Clock::now();
  Certificate c = blank_certificate(0);
  if (order() > 0 && analyze(c)) {
    if (ladder_.step().kind == StepKind::unpreconditioned) ++ladder_.current;
    const Climbed climbed = climb(factor_steps(), ladder_, options_.engine.progress, c);
    if (climbed != Climbed::solved) conclude(climbed, c);
  }
  c.times.wall = core::seconds_since(start);
  explain(c);
  return c;
}

Certificate SquareSolver::solve(MatrixView<const double> b, MatrixView<double> x) {
  const core::FpScope fp;
  const engine::ThreadPoolGuard guard(a_->pool());
  const auto start = core::Clock::now();
  Certificate c = blank_certificate(b.cols);
  const RefinementBytes bytes = a_->bytes(b.cols, refiner_);
  c.peak_bytes = bytes.vectors + bytes.products;
  const RightHandSums sums(b);
  if (options_.condition) expect_condition(c);
  if (order() > 0 && b.cols > 0 && scan_b(b, c) && analyze(c)) {
    std::int64_t first = 0;
    const bool many = a_->kept().a.data != nullptr &&
                      many_columns(cost_order_, b.cols, options_, a_->structure());
    if (many && (general() ? solve_many_general(b, x, c) : solve_many(b, x, c))) first = b.cols;
    for (; !many && first < b.cols; first += kBatch) {
      Batch batch = make_batch(b, first, std::min(kBatch, b.cols - first));
      if (!solve_batch(batch, x, c)) break;
    }
    for (; first < b.cols; ++first) c.columns[static_cast<std::size_t>(first)].outcome = c.outcome;
    c.iterations = 0;
    for (const ColumnCertificate& column : c.columns) {
      c.iterations = std::max(c.iterations, column.iterations);
    }
    if (options_.condition && c.ok()) estimate_condition(c);
    sums.check(b, x, c);
    if (c.outcome == SolveOutcome::changed) {  // no column can be trusted
      for (ColumnCertificate& column : c.columns) column.outcome = c.outcome;
    }
  } else {
    for (ColumnCertificate& column : c.columns) {
      column.outcome = c.outcome;
      if (c.ok()) column.backward_error = 0;  // n = 0
    }
  }
  c.times.wall = core::seconds_since(start);
  explain(c);
  return c;
}

}  // namespace stepwell::solvers

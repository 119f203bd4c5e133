// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "core/machine/fp_scope.hpp"
#include "core/numeric/worst.hpp"
#include "factor/blas3/block_gemm.hpp"
#include "kernels/kernels.hpp"
#include "solvers/systems/square_solver.hpp"

/// From residuals to verdicts. Most verdicts follow from a residual in FP64 with blocked sums, or
/// for many columns with exact sums, whose error is bounded; columns that it leaves open get one in
/// double-double.
namespace stepwell::solvers {
namespace {

/// The columns whose residual decides nothing. With exact sums it is not finite where x leaves the
/// range of these products.
std::vector<std::int64_t> open_columns(const Batch& batch, double tolerance, refine::Sums sums) {
  std::vector<std::int64_t> which;
  for (std::int64_t k = 0; k < batch.count; ++k) {
    const Measured& measured = batch.measured[static_cast<std::size_t>(k)];
    const bool none = sums == refine::Sums::exact && !std::isfinite(measured.error);
    if (none || judge(measured, tolerance) == Verdict::open) which.push_back(k);
  }
  return which;
}

}  // namespace

Batch part_of(const Batch& batch, const std::vector<std::int64_t>& which) {
  Batch part;
  part.first = batch.first;
  part.count = static_cast<std::int64_t>(which.size());
  const std::int64_t n = batch.b.size() / batch.count;
  part.b = core::Buffer<double>(n * part.count, core::Contents::any);
  part.y = core::Buffer<double>(n * part.count, core::Contents::any);
  part.r = core::Buffer<double>(n * part.count, core::Contents::any);
  for (std::int64_t k = 0; k < part.count; ++k) {
    const std::int64_t from = which[static_cast<std::size_t>(k)];
    std::copy_n(batch.b.data() + from * n, n, part.b.data() + k * n);
    std::copy_n(batch.y.data() + from * n, n, part.y.data() + k * n);
    part.column.push_back(batch.column[static_cast<std::size_t>(from)]);
    part.measured.push_back(batch.measured[static_cast<std::size_t>(from)]);
  }
  return part;
}

namespace {

void put_back(const Batch& part, const std::vector<std::int64_t>& which, Batch& batch) {
  const std::int64_t n = batch.b.size() / batch.count;
  for (std::int64_t k = 0; k < part.count; ++k) {
    const std::int64_t to = which[static_cast<std::size_t>(k)];
    std::copy_n(part.y.data() + k * n, n, batch.y.data() + to * n);
    std::copy_n(part.r.data() + k * n, n, batch.r.data() + to * n);
    batch.measured[static_cast<std::size_t>(to)] = part.measured[static_cast<std::size_t>(k)];
  }
}

}  // namespace

double worst_of(const std::vector<double>& error) {
  double worst = 0;
  for (const double e : error) worst = core::worst(worst, e);
  return worst;
}

double worst_of(const std::vector<Measured>& measured) {
  double worst = 0;
  for (const Measured& m : measured) worst = core::worst(worst, m.error);
  return worst;
}

refine::Sums residuals_for(const refine::ScaledOperator& a, double tolerance) {
  constexpr double kGood = 2 * 0x1p-53;
  const bool room = a.residual_error_bound(refine::Sums::blocked) + kGood <= tolerance;
  return room ? refine::Sums::blocked : refine::Sums::double_double;
}

refine::Sums SquareSolver::residuals(const Batch& batch) {
  if (sums() == refine::Sums::double_double) return sums();
  const bool fast = batch.count >= kForExactSums && factor::has_residue_engine();
  if (fast && side().exact_error() <= tolerance() / 4) return refine::Sums::exact;
  return residuals_for(side().scaled, tolerance());
}

void SquareSolver::measure(Batch& batch, refine::Sums sums) {
  Side& of = side();
  const std::int64_t n = order();
  const double doubt =
      sums == refine::Sums::exact ? of.exact_error() : of.scaled.residual_error_bound(sums);
  a_->pool().for_each(batch.count, [&](std::int64_t k) {
    const core::FpScope fp;
    const Sizes sizes = sizes_of(of.exponents, batch.b.data() + k * n, batch.y.data() + k * n,
                                 batch.r.data() + k * n);
    batch.measured[static_cast<std::size_t>(k)] = measured_error(of.norm, sizes, n, doubt);
  });
}

void SquareSolver::measure_again(Batch& batch, const std::vector<std::int64_t>& which,
                                 refine::Sums sums) {
  if (which.empty()) return;
  Batch part = part_of(batch, which);
  side().scaled.residual(part.view_of(part.b), part.view_of(part.y), part.view_of(part.r), sums);
  measure(part, sums);
  put_back(part, which, batch);
}

bool SquareSolver::all_met(const Batch& batch) const {
  return std::all_of(batch.measured.begin(), batch.measured.end(),
                     [&](const Measured& m) { return judge(m, tolerance()) == Verdict::met; });
}

refine::Outcome SquareSolver::refine_and_measure(refine::Preconditioner& m, refine::Request q,
                                                 Batch& batch, Certificate& c) {
  const auto run = [&](Batch& on, refine::Sums sums) {
    q.residuals = sums;
    q.error_of = request_for(on).error_of;
    refine::Outcome outcome =
        refine::refine(side().scaled, m, on.view_of(on.b), on.view_of(on.y), on.view_of(on.r), q);
    measure(on, sums);
    return outcome;
  };
  const refine::Sums sums = residuals(batch);
  refine::Outcome outcome = run(batch, sums);
  // Where the FP64 residual is falsely zero, the one in double-double shows it, and refinement
  // continues.
  const std::vector<std::int64_t> open = open_columns(batch, tolerance(), sums);
  if (sums != refine::Sums::double_double && !open.empty()) {
    measure_again(batch, open, refine::Sums::double_double);
    std::vector<std::int64_t> missed;
    for (const std::int64_t k : open) {
      const Measured& now = batch.measured[static_cast<std::size_t>(k)];
      if (judge(now, tolerance()) != Verdict::met) missed.push_back(k);
    }
    if (!missed.empty()) {
      Batch part = part_of(batch, missed);
      const refine::Outcome more = run(part, refine::Sums::double_double);
      put_back(part, missed, batch);
      for (std::size_t k = 0; k < missed.size(); ++k) {
        refine::System& system = outcome.system[static_cast<std::size_t>(missed[k])];
        const refine::System& second = more.system[k];
        system.status = second.status;
        system.iterations += second.iterations;
        system.history.insert(system.history.end(), second.history.begin(), second.history.end());
      }
    }
  }
  for (std::int64_t k = 0; k < batch.count; ++k) {
    const refine::System& system = outcome.system[static_cast<std::size_t>(k)];
    ColumnCertificate& column = c.columns[static_cast<std::size_t>(batch.first + k)];
    column.iterations = system.iterations;
    column.history.insert(column.history.end(), system.history.begin(), system.history.end());
  }
  return outcome;
}

RightHandSums::RightHandSums(MatrixView<const double> b) {
  const kernels::Table& t = kernels::table();
  for (std::int64_t c = 0; c < b.cols; ++c) {
    sums_.push_back(kernels::checksum(t, b.block(0, c, b.rows, 1)));
  }
}

void RightHandSums::check(MatrixView<const double> b, MatrixView<double> x, Certificate& c) const {
  if (b.data == x.data || c.outcome == SolveOutcome::changed) return;
  for (std::int64_t k = 0; k < b.cols; ++k) {
    const std::uint64_t now = kernels::checksum(kernels::table(), b.block(0, k, b.rows, 1));
    if (now == sums_[static_cast<std::size_t>(k)]) continue;
    c.outcome = SolveOutcome::changed;
    c.in_b = true;
    c.row = 0;
    c.col = k;
    return;
  }
}

void SquareSolver::check_unchanged(Certificate& c) {
  const std::int64_t column = side().scaled.take_changed_column();
  if (column < 0) return;
  c.outcome = SolveOutcome::changed;
  c.row = general() ? 0 : column;
  c.col = column;
  c.in_b = false;
}

/// A solve may have failed because A was modified meanwhile: one more pass over A detects this.
void SquareSolver::scan_again(const Batch& batch, Certificate& c) {
  const bool final_word = c.outcome == SolveOutcome::not_positive_definite ||
                          c.outcome == SolveOutcome::singular ||
                          c.outcome == SolveOutcome::not_converged;
  if (!final_word) return;
  const std::int64_t n = order();
  core::Buffer<double> r(n);
  side().scaled.residual(view<const double>(batch.b.data(), n, 1),
                         view<const double>(batch.y.data(), n, 1), view(r.data(), n, 1),
                         refine::Sums::blocked);
  check_unchanged(c);
}

}  // namespace stepwell::solvers

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "refine/vectors.hpp"
#include "solvers/systems/least_squares.hpp"

/// From the x that refinement has reached to an x that is proven to be good, where possible.
namespace stepwell::solvers {

/// Copies some columns of a batch into a batch of their own.
LeastSquares::Batch LeastSquares::part_of(const Batch& batch,
                                          const std::vector<std::size_t>& columns) const {
  const auto count = static_cast<std::int64_t>(columns.size());
  Batch part;
  part.right = batch.right.part(columns);
  part.x = core::Buffer<double>(n_ * count);
  part.g = core::Buffer<double>(n_ * count);
  part.state.x = view(part.x.data(), n_, count);
  part.state.g = view(part.g.data(), n_, count);
  for (std::int64_t c = 0; c < count; ++c) {
    const std::size_t k = columns[static_cast<std::size_t>(c)];
    std::copy_n(batch.state.x.column(static_cast<std::int64_t>(k)), n_, part.state.x.column(c));
    std::copy_n(batch.state.g.column(static_cast<std::int64_t>(k)), n_, part.state.g.column(c));
    part.state.squares.push_back(batch.state.squares[k]);
    part.state.error.push_back(batch.state.error[k]);
    part.state.projects.push_back(batch.state.projects[k]);
    part.state.sums.push_back(batch.state.sums[k]);
    if (!batch.proof.empty()) part.proof.push_back(batch.proof[k]);
  }
  return part;
}

/// Replaces column k of the batch by column e of the part.
void LeastSquares::take(Batch& batch, std::size_t k, const Batch& part, std::size_t e) const {
  const auto from = static_cast<std::int64_t>(e), to = static_cast<std::int64_t>(k);
  std::copy_n(part.state.x.column(from), n_, batch.state.x.column(to));
  std::copy_n(part.state.g.column(from), n_, batch.state.g.column(to));
  batch.state.squares[k] = part.state.squares[e];
  batch.state.sums[k] = part.state.sums[e];
  batch.proof[k] = part.proof[e];
}

/// Takes the columns of the part whose bound is no worse than the batch's.
void LeastSquares::put(Batch& batch, const Batch& part,
                       const std::vector<std::size_t>& columns) const {
  for (std::size_t e = 0; e < columns.size(); ++e) {
    const Proof& now = batch.proof[columns[e]];
    if (part.proof[e].measured.most() <= now.measured.most()) take(batch, columns[e], part, e);
  }
}

/// Improves digits of x that the backward error does not show. Where r is not small, rounding in
/// H'r is amplified by the condition squared; Householder QR is sqrt(m) times better than that
/// bound, because its rounding errors do not depend on r. So H'r is summed with more digits, and x
/// is corrected until the corrections no longer get smaller. Returns the previous x; empty if x was
/// not touched.
core::Buffer<double> LeastSquares::polish(Batch& batch) {
  constexpr double kWorthIt = 30;  // error of FP64 sums, in units of condition x u
  if (refiner_ != Refiner::cg || sums() == refine::Sums::double_double) return {};
  double worst = 0;
  refine::Sums sums = refine::Sums::split;
  for (std::size_t k = 0; k < batch.state.error.size(); ++k) {
    const double x = refine::norm2(n_, batch.state.x.column(static_cast<std::int64_t>(k)));
    const double r = std::sqrt(batch.state.squares[k]);
    if (x > 0) worst = std::max(worst, r / (norm_ * x));
    const double lost = h_->rounding(sums, norm_, r, x).gradient;
    if (!(lost < 0x1p-53 / 8 * norm_ * r)) sums = refine::Sums::double_double;
  }
  if (!(c_.condition * worst > kWorthIt)) return {};
  core::Buffer<double> before(batch.x.size());
  std::copy(batch.x.begin(), batch.x.end(), before.begin());
  if (*std::min_element(batch.state.sums.begin(), batch.state.sums.end()) < sums) {
    h_->residual(batch.right, batch.state.x, batch.state.g, batch.state.squares, sums);
    batch.state.sums.assign(batch.state.sums.size(), sums);
  }
  refine::NormalRequest q;
  q.corrections = true;
  q.goal = 2 * 0x1p-53;
  q.tolerance = HUGE_VAL;  // it ends after more than two steps that do not halve the correction
  q.norm = norm_;
  q.sums = sums;
  q.iterations = 20;
  q.go_on = [&](int, double) { return !a_.failed() && !cancelled(); };
  const refine::Outcome outcome =
      refine::normal_cg(*h_, *preconditioner_, batch.right, batch.state, q);
  for (std::size_t k = 0; k < outcome.system.size(); ++k) {
    c_.columns[static_cast<std::size_t>(batch.right.column[k])].iterations +=
        outcome.system[k].iterations;
  }
  return before;
}

/// Improves x where needed and proves what can be proven. 'good': refinement reports that the
/// tolerance is met. 'direct': x as QR gave it, or empty.
void LeastSquares::settle(Batch& batch, bool good, const core::Buffer<double>& direct) {
  const core::Buffer<double> before = good ? polish(batch) : core::Buffer<double>();
  examine(batch);
  // More correct digits must not cost the certificate.
  try_instead(batch, before);
  repair(batch);
  try_instead(batch, direct);
}

/// Replaces columns that are not proven to be good by those of x, where their bound is no worse.
void LeastSquares::try_instead(Batch& batch, const core::Buffer<double>& x) {
  const std::vector<std::size_t> open = unproven(batch);
  if (open.empty() || x.size() == 0 || a_.failed() || cancelled()) return;
  Batch part = part_of(batch, open);
  for (std::size_t e = 0; e < open.size(); ++e) {
    std::copy_n(x.data() + static_cast<std::int64_t>(open[e]) * n_, n_,
                part.state.x.column(static_cast<std::int64_t>(e)));
  }
  part.state.sums.assign(open.size(), refine::Sums::fp64);  // g belongs to another x
  examine(part);
  put(batch, part, open);
}

/// Residuals in FP64 may vanish where the true ones do not, and end refinement too early: columns
/// that are not proven to be good are refined further with residuals in double-double.
void LeastSquares::repair(Batch& batch) {
  constexpr int kPasses = 10;
  const std::vector<std::size_t> open = unproven(batch);
  if (sums() == refine::Sums::double_double || open.empty() || a_.failed() || cancelled()) return;
  Batch part = part_of(batch, open);
  int done = 0;
  for (const std::int64_t c : part.right.column) {
    done = std::max(done, c_.columns[static_cast<std::size_t>(c)].iterations);
  }
  refine::NormalRequest q;
  q.goal = std::min(2 * 0x1p-53, tolerance() / 2);
  q.tolerance = tolerance();
  q.norm = norm_;
  q.inverse = qr_ ? 0 : inverse_;
  q.iterations = options_.refine.iterations > 0
                     ? std::min(kPasses, options_.refine.iterations - done)
                     : kPasses;
  q.sums = refine::Sums::double_double;
  q.go_on = [&](int, double) { return !a_.failed() && !cancelled(); };
  const refine::Outcome outcome =
      refine::normal_cg(*h_, *preconditioner_, part.right, part.state, q);
  for (std::size_t e = 0; e < open.size(); ++e) {
    ColumnCertificate& column = c_.columns[static_cast<std::size_t>(part.right.column[e])];
    const refine::System& system = outcome.system[e];
    column.iterations += system.iterations;
    column.history.insert(column.history.end(), system.history.begin(), system.history.end());
  }
  examine(part);
  put(batch, part, open);
}

}  // namespace stepwell::solvers

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "core/clock.hpp"
#include "engine/runtime.hpp"
#include "factor/setup.hpp"
#include "kernels/blas/lapack.hpp"
#include "refine/normal_operator.hpp"
#include "refine/preconditioner.hpp"
#include "refine/vectors.hpp"
#include "solvers/inverse_norm.hpp"
#include "solvers/least_squares.hpp"
#include "solvers/solver.hpp"
#include "solvers/stopping_rule.hpp"

/// The ladder of least squares: Gram matrices at rungs from cheap to dear, then QR in FP64.
namespace stepwell::solvers {
namespace {

using core::Clock;
using core::seconds_since;

/// Shifts are for a rung that was asked for; on the way up the next rung is cheaper than a weak
/// factor's iterations.
constexpr double kLargestShift = 64;

}  // namespace

bool LeastSquares::climb(Step step, double alternative, bool last) {
  const auto start = Clock::now();
  const bool made = step ? make_gram(*step) && factor_gram(*step) : make_qr();
  c_.times.factor += seconds_since(start);
  c_.map = name_of(step);
  if (c_.outcome != SolveOutcome::converged || a_.failed() || cancelled()) return false;
  if (!made) {
    c_.rungs.push_back({c_.map, "", false, 0, 1,
                        step ? "the Gram matrix at this rung is not positive definite: the "
                               "condition of A, squared, is more than it can carry"
                             : "a number overflowed in QR",
                        seconds_since(start)});
    // There is no factor to go on with, and nothing was written.
    if (last) {
      c_.outcome = SolveOutcome::not_converged;
      c_.backward_error = 1;
    }
    return false;
  }
  return refine(step, alternative, last);
}

bool LeastSquares::make_gram(Rung rung) {
  preconditioner_.reset();
  factor_.reset();
  // The BLAS serves the rungs without planes, on each thread by itself.
  const engine::SingleThreadedBlas blas;
  do {
    gram_ = factor::gram(pool_, a_, rung, batch_.empty() ? b_ : MatrixView<const double>{},
                         options_.progress);
    if (gram_.cancelled || a_.failed()) return false;
  } while (rescale(gram_.column));
  if (!analyze(gram_.column)) return false;
  make_batches();
  c_.peak_bytes = std::max(c_.peak_bytes, step_bytes(rung, m_, n_, b_.cols, a_.scratch(1) == 0));
  return true;
}

/// Line 5 of Algorithm 5.1, and lines 6-8 where the rung was asked for.
bool LeastSquares::factor_gram(Rung rung) {
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& { return gram_.c[i + j * n_]; };
  std::vector<double> to_h(static_cast<std::size_t>(n_));
  for (std::size_t j = 0; j < to_h.size(); ++j) to_h[j] = power_[j] / gram_.power[j];
  std::vector<double> diagonal(to_h.size());
  for (std::int64_t j = 0; j < n_; ++j) {
    const auto e = static_cast<std::size_t>(j);
    for (std::int64_t i = j; i < n_; ++i) {
      at(i, j) *= to_h[static_cast<std::size_t>(i)] * to_h[e];
    }
    if (!tail_.empty()) at(j, j) += tail_[e];
    if (at(j, j) == 0) at(j, j) = 1;  // an empty column: its unknown stays zero
    diagonal[e] = at(j, j);
  }
  FactorOptions f;
  f.map = uniform(factor_rung(rung, n_));
  f.escalate = false;
  f.context = options_.context;
  const double most = options_.rung == rung ? kLargestShift : 0;
  for (double shift = 0; shift <= most; shift = shift == 0 ? 1 : 2 * shift) {
    for (std::int64_t j = 0; j < n_; ++j) {
      at(j, j) = diagonal[static_cast<std::size_t>(j)] * (1 + shift * info(rung).unit_roundoff);
    }
    Factor factor = cholesky(view<const double>(gram_.c.data(), n_, n_), f);
    c_.factor = factor.report();
    c_.shift = shift;
    if (!factor.ok()) continue;
    factor_ = std::move(factor);
    gram_.c = {};
    ones_.assign(static_cast<std::size_t>(n_), 1);
    preconditioner_ = std::make_unique<refine::FactorPreconditioner>(
        pool_, factor_->data(), ones_, ones_, refine::Substitution::fp64);
    return true;
  }
  return false;
}

bool LeastSquares::make_qr() {
  preconditioner_.reset();
  factor_.reset();
  gram_.c = {};
  if (!known_) {
    scan_columns();
    if (c_.outcome != SolveOutcome::converged || a_.failed() || cancelled()) return false;
    make_batches();
  }
  std::vector<double> tail;
  for (const double t : tail_) tail.push_back(std::sqrt(t));
  // b in the scale of the batches where sums of its numbers might overflow.
  core::Buffer<double> copy;
  MatrixView<const double> b = b_;
  if (!tame_b_) {
    copy = core::Buffer<double>(core::size_product(m_, b_.cols, "a scaled copy of B"));
    for (const Batch& batch : batch_) {
      for (std::size_t k = 0; k < batch.right.column.size(); ++k) {
        const std::int64_t c = batch.right.column[k];
        for (std::int64_t i = 0; i < m_; ++i) copy[i + c * m_] = b_(i, c) * batch.right.factor[k];
      }
    }
    b = view<const double>(copy.data(), m_, b_.cols);
  }
  qr_ = factor::tall_qr(pool_, a_, power_, tail, b, options_.progress);
  c_.peak_bytes = std::max(c_.peak_bytes, step_bytes({}, m_, n_, b_.cols, a_.scratch(1) == 0));
  if (qr_->cancelled || !qr_->finite) return false;
  preconditioner_ = std::make_unique<QrPreconditioner>(*qr_);
  // x = P R^-1 Q'b, where that is better than what there is.
  for (Batch& batch : batch_) {
    const auto count = static_cast<std::int64_t>(batch.right.column.size());
    for (std::int64_t k = 0; k < count; ++k) {
      const auto e = static_cast<std::size_t>(k);
      std::vector<double> y(static_cast<std::size_t>(n_));
      const double* const qb = qr_->qb.data() + batch.right.column[e] * n_;
      for (std::int64_t j = 0; j < qr_->rank; ++j) {
        y[static_cast<std::size_t>(j)] = qb[j] * (tame_b_ ? batch.right.factor[e] : 1);
      }
      kernels::solve_upper(view<const double>(qr_->r.data(), qr_->rank, qr_->rank, n_), false,
                           view(y.data(), qr_->rank, 1));
      for (std::int64_t j = 0; j < n_; ++j) {
        const auto to = qr_->order[static_cast<std::size_t>(j)];
        batch.state.x(to, k) = y[static_cast<std::size_t>(j)];
      }
    }
    batch.measured = false;
  }
  return true;
}

/// ||(H'H)^-1||, from QR of a few rows that lie evenly in A: it costs little, and tells a matrix of
/// condition 1e3 from one of 1e9, which a Gram matrix that is not positive definite does not.
double LeastSquares::sample_inverse() {
  constexpr std::int64_t kRun = 16;  // rows that are read together
  const std::int64_t runs = 2 * n_ / kRun + 1;
  core::Buffer<double> rows(core::size_product(runs * kRun, n_, "a sample of rows"));
  core::Buffer<double> scratch(a_.scratch(kRun));
  for (std::int64_t r = 0; r < runs && !a_.failed(); ++r) {
    const core::RowBlock block = a_.read((m_ - kRun) / runs * r, kRun, scratch.data());
    for (std::int64_t i = 0; i < kRun; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) rows[(r * kRun + i) * n_ + j] = block(i, j);
    }
  }
  if (a_.failed()) return 0;
  const double share = std::sqrt(static_cast<double>(m_) / static_cast<double>(runs * kRun));
  std::vector<double> tail;
  for (const double t : tail_) tail.push_back(std::sqrt(t) / share);
  const TallMatrix sample = by_rows(rows.data(), runs * kRun, n_);
  core::RowReader reader(sample);
  const factor::TallQr qr =
      factor::tall_qr(pool_, reader, power_, tail, MatrixView<const double>{}, options_.progress);
  if (qr.cancelled || !qr.finite || qr.rank < n_) return HUGE_VAL;
  QrPreconditioner with(qr);
  const auto solve_with = [&](std::vector<double>& v) {
    std::vector<double> z(v.size());
    with.apply(view<const double>(v.data(), n_, 1), view(z.data(), n_, 1));
    v = std::move(z);
  };
  return inverse_norm(n_, solve_with, solve_with) / (share * share);
}

/// Drops the rungs at which the Gram matrix can't be good enough.
void LeastSquares::skip_rungs(std::vector<Step>& left) {
  // A sample must cost little beside the rungs that it may save.
  constexpr std::int64_t kRowsForSample = 16;
  if (m_ < kRowsForSample * n_ || left.size() < 2) return;
  const auto start = Clock::now();
  const double inverse = sample_inverse();
  c_.times.analysis += seconds_since(start);
  // Roundings of A's numbers cancel in a sum over many rows, those of FP64's sums less so.
  const double spread = std::sqrt(static_cast<double>(n_) / static_cast<double>(m_));
  while (left.size() > 1 && left[0]) {
    const double error =
        info(*left[0]).unit_roundoff * (left[0] == Rung::fp64 ? 1 : spread) * inverse;
    if (error <= 2) break;
    c_.rungs.push_back({name_of(left[0]), "", false, 0, 1,
                        "not tried: by a sample of rows the condition of A, squared, is more than "
                        "it can carry",
                        0});
    left.erase(left.begin());
  }
}

void LeastSquares::estimate_condition() {
  const auto solve_with = [&](std::vector<double>& v) {
    std::vector<double> z(v.size());
    preconditioner_->apply(view<const double>(v.data(), n_, 1), view(z.data(), n_, 1));
    v = std::move(z);
  };
  inverse_ = std::max(inverse_norm(n_, solve_with, solve_with), inverse_by_power());
  c_.condition = norm_ * std::sqrt(inverse_);
}

refine::Outcome LeastSquares::refine_batch(Batch& batch, Step step, double alternative) {
  const bool direct = !step;
  // From FP64's factor x is expected to be good at once.
  const double first_error = step ? info(*step).unit_roundoff : 0;
  if (!batch.measured) {
    const bool zero = refine::max_abs(batch.x.size(), batch.x.data()) == 0;
    const refine::Sums how = direct ? std::max(sums(), refine::Sums::split) : sums();
    h_->residual(batch.right, zero ? MatrixView<const double>{} : batch.state.x, batch.state.g,
                 batch.state.squares, how);
    batch.state.sums.assign(batch.state.sums.size(), how);
    batch.measured = true;
  }
  batch.proof.clear();
  const double goal = std::min(2 * 0x1p-53, tolerance() / 2);
  const auto columns = static_cast<std::int64_t>(batch.right.column.size());
  StoppingRule stopping_rule(pass_seconds(m_, n_, columns), alternative, goal, options_.progress);
  const auto go_on = [&](int k, double error) { return !a_.failed() && stopping_rule(k, error); };
  const int most = options_.iterations > 0 ? options_.iterations : 1000;
  if (refiner_ == Refiner::cg) {
    refine::NormalRequest q;
    q.goal = goal;
    q.tolerance = tolerance();
    q.norm = norm_;
    q.inverse = direct ? 0 : inverse_;
    q.iterations = most;
    q.sums = sums();
    q.last_sums = refine::Sums::split;
    q.first_error = first_error;
    q.go_on = go_on;
    return refine::normal_cg(*h_, *preconditioner_, batch.right, batch.state, q);
  }
  refine::Request q;
  q.refiner = refiner_;
  q.goal = goal;
  q.iterations = most;
  q.sums = sums();
  q.go_on = go_on;
  return refine::refine_normal(*h_, *preconditioner_, batch.right, batch.state, norm_,
                               direct ? 0 : inverse_, q);
}

/// True when every column is proven to meet the tolerance.
bool LeastSquares::refine(Step step, double alternative, bool last) {
  const auto start = Clock::now();
  if (options_.progress != nullptr) options_.progress->enter(Phase::refine);
  estimate_condition();
  LadderStep attempt{c_.map, std::string(to_string(refiner_)), true, 0, 0, "", 0};
  std::vector<core::Buffer<double>> direct;  // what QR gave
  std::vector<double> error;
  for (Batch& batch : batch_) {
    direct.emplace_back(step ? 0 : batch.x.size());
    std::copy_n(batch.x.begin(), direct.back().size(), direct.back().begin());
    const refine::Outcome outcome = refine_batch(batch, step, alternative);
    if (a_.failed()) return false;
    std::vector<double> reached;
    for (std::size_t k = 0; k < outcome.system.size(); ++k) {
      reached.push_back(batch.state.error[k].value);
      ColumnCertificate& column = c_.columns[static_cast<std::size_t>(batch.right.column[k])];
      const refine::System& system = outcome.system[k];
      column.iterations = system.iterations;
      column.history.insert(column.history.end(), system.history.begin(), system.history.end());
    }
    attempt.iterations = std::max(attempt.iterations, most_iterations(outcome));
    error.insert(error.end(), reached.begin(), reached.end());
    if (attempt.reason.empty()) {
      attempt.reason = reason_of(outcome, reached, tolerance(), alternative < HUGE_VAL);
    }
  }
  rank_known_ =
      !step || (options_.climb && attempt.reason.empty() ? shows_rank(*step, attempt.iterations)
                                                         : factor_shows_rank(*step));
  if (options_.climb && attempt.reason.empty() && !rank_known_) {
    attempt.reason = "this rung is too coarse to tell whether columns depend on each other";
  }
  if (attempt.reason.empty() || last) {
    error.clear();
    bool all = true;
    for (std::size_t k = 0; k < batch_.size() && !a_.failed(); ++k) {
      settle(batch_[k], attempt.reason.empty(), direct[k]);
      all = all && proven(batch_[k]);
      for (const Proof& proof : batch_[k].proof) error.push_back(proof.measured.most());
    }
    if (all) attempt.reason.clear();
    if (!all && attempt.reason.empty()) {
      attempt.reason = "what was computed does not prove that x meets the tolerance";
    }
  }
  if (a_.failed()) return false;
  attempt.error = worst_of(error);
  c_.refiner = attempt.refiner;
  attempt.seconds = seconds_since(start);
  c_.times.refine += attempt.seconds;
  const bool all = attempt.reason.empty();
  c_.rungs.push_back(std::move(attempt));
  return all;
}

void QrPreconditioner::apply(MatrixView<const double> r, MatrixView<double> z) {
  const auto n = static_cast<std::int64_t>(qr_.order.size());
  core::Buffer<double> y(n * r.cols);
  const MatrixView<double> v = view(y.data(), n, r.cols);
  for (std::int64_t c = 0; c < r.cols; ++c) {
    for (std::int64_t j = 0; j < qr_.rank; ++j) {
      v(j, c) = r(qr_.order[static_cast<std::size_t>(j)], c);
    }
  }
  const auto triangle = view<const double>(qr_.r.data(), qr_.rank, qr_.rank, n);
  const MatrixView<double> part = v.block(0, 0, qr_.rank, r.cols);
  kernels::solve_upper(triangle, true, part);
  kernels::solve_upper(triangle, false, part);
  for (std::int64_t c = 0; c < r.cols; ++c) {
    for (std::int64_t j = 0; j < n; ++j) z(qr_.order[static_cast<std::size_t>(j)], c) = v(j, c);
  }
}

}  // namespace stepwell::solvers

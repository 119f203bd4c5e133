// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include "batched/pack_solver.hpp"
#include "batched/residual.hpp"
#include "core/numeric/worst.hpp"

namespace stepwell::batched {
namespace {

/// Maximum number of refinement steps. Each step gains 24 bits minus log2 of the condition number:
/// a system that does not converge in this many is better factored in FP64.
constexpr int kSteps = 4;

/// The largest register block with 'vectors' vectors: both formats must have the same lanes.
template <class T>
BatchTuning tuning_with(const kernels::BatchEntries<T>& kernel, int vectors) {
  kernels::BatchBlock best;
  for (const kernels::BatchBlock& block : kernel.blocks) {
    if (block.vectors == vectors && block.rows * block.cols > best.rows * best.cols) best = block;
  }
  return {best.rows, best.cols, vectors, 0};
}

/// Classic iterative refinement. The systems of a pack take their steps together, but each one
/// stops on its own: its bits do not depend on its neighbours.
class Mixed final : public PackSolver<double> {
 public:
  Mixed(const kernels::Table& t, std::int64_t n, std::int64_t columns, const Request& request)
      : table_(t),
        request_(request),
        narrow_(t, n, columns, tuning_with(t.batch_fp32, 1)),
        direct_(t, n, columns, tuning_with(t.batch_fp64, 2)),
        residual_(t.batch_fp64, n, columns, direct_.lanes()),
        scales_(columns * direct_.lanes()),
        kept_(columns * n * direct_.lanes(), core::Contents::any) {}

  std::int64_t lanes() const override { return direct_.lanes(); }
  std::int64_t bytes() const override {
    return narrow_.bytes() + direct_.bytes() + residual_.bytes() +
           8 * (scales_.size() + kept_.size());
  }
  void solve(const PackSystems<double>& systems, PackOutcome& outcome) noexcept override;

 private:
  void factor_narrow(const PackSystems<double>& systems, std::int32_t* pivots);
  void measure(double* errors);
  void measure_exactly(const bool* which, solvers::Measured* errors);
  void keep(std::int64_t c, const bool* which);
  void correct(const bool* active);
  void solve_in_fp64(const bool* left, PackOutcome& outcome);

  const kernels::Table& table_;
  Request request_;
  Worker<float> narrow_;
  Worker<double> direct_;  ///< its right-hand sides hold the solutions
  Residual<double> residual_;
  core::Buffer<double> scales_;  ///< scales of the residuals, one per right-hand side and system
  core::Buffer<double> kept_;
};

/// Loads the systems, factors them in fp32 and computes the solutions with these factors.
void Mixed::factor_narrow(const PackSystems<double>& systems, std::int32_t* pivots) {
  const auto& system = residual_.system();
  direct_.kernel().load.run(systems.a, request_.triangle, system);
  direct_.kernel().load_columns.run(constant(systems.b), system);
  residual_.scan();

  const auto& narrow = narrow_.pack();
  const std::int64_t size = kernels::batch_pack_size(system.n, system.rhs, system.lanes);
  kernels::LoadArgs args;
  args.a = view<const double>(system.data, size, 1);
  args.out32 = view(narrow.data, size, 1);
  kernels::Scan scan;
  table_.load.run(args, scan);
  narrow_.factor({request_.fast, {}}, pivots);
  narrow_.kernel().backward.run(narrow);
  std::copy_n(narrow.row(narrow.n), kept_.size(), direct_.pack().row(narrow.n));
}

/// Stores the residual, scaled to 1, as a right-hand side of the fp32 pack; 'which' selects the
/// systems, null: all.
void Mixed::keep(std::int64_t c, const bool* which) {
  const auto& x = direct_.pack();
  double* const scale = scales_.data() + c * x.lanes;
  float* const to = narrow_.pack().row(x.n + c);
  for (std::int64_t q = 0; q < x.lanes; ++q) {
    if (which != nullptr && !which[q]) continue;
    scale[q] = residual_.largest(q) > 0 ? residual_.largest(q) : 0;
  }
  double inverse[kMostLanes];
  for (std::int64_t q = 0; q < x.lanes; ++q) inverse[q] = scale[q] > 0 ? 1 / scale[q] : 0;
  for (std::int64_t i = 0; i < x.n * x.lanes; i += x.lanes) {
    for (std::int64_t q = 0; q < x.lanes; ++q) {
      if (which != nullptr && !which[q]) continue;
      to[i + q] = static_cast<float>(residual_.r()[i + q] * inverse[q]);
    }
  }
}

/// Computes the errors of the solutions in FP64 and stores the residuals for a correction.
void Mixed::measure(double* errors) {
  const auto& x = direct_.pack();
  std::fill_n(errors, x.lanes, 0.0);
  for (std::int64_t c = 0; c < x.rhs; ++c) {
    residual_.compute(c, x.row(x.n + c));
    for (std::int64_t q = 0; q < x.lanes; ++q)
      errors[q] = core::worst(errors[q], residual_.error(q));
    keep(c, nullptr);
  }
}

/// The same in double-double for some systems. The error of FP64 sums of n terms may be n
/// roundings, which is more than the tolerance.
void Mixed::measure_exactly(const bool* which, solvers::Measured* errors) {
  const auto& x = direct_.pack();
  std::fill_n(errors, x.lanes, solvers::Measured{0, 0});
  for (std::int64_t c = 0; c < x.rhs; ++c) {
    residual_.compute(c, x.row(x.n + c), Residual<double>::Sums::double_double);
    for (std::int64_t q = 0; q < x.lanes; ++q) {
      errors[q] = solvers::worst(errors[q], residual_.measured(q));
    }
    keep(c, which);
  }
}

/// x += L^-T L^-1 r for the active systems.
void Mixed::correct(const bool* active) {
  std::int32_t pivots[kMostLanes];
  narrow_.kernel().forward.run(narrow_.pack(), pivots);
  narrow_.kernel().backward.run(narrow_.pack());
  const auto& x = direct_.pack();
  for (std::int64_t c = 0; c < x.rhs; ++c) {
    const float* const step = narrow_.pack().row(x.n + c);
    double* const to = x.row(x.n + c);
    for (std::int64_t i = 0; i < x.n * x.lanes; i += x.lanes) {
      for (std::int64_t q = 0; q < x.lanes; ++q) {
        if (active[q]) to[i + q] += scales_[c * x.lanes + q] * static_cast<double>(step[i + q]);
      }
    }
  }
}

/// Solves the systems in 'left'; the others keep their solutions.
void Mixed::solve_in_fp64(const bool* left, PackOutcome& outcome) {
  const auto& pack = direct_.pack();
  const std::int64_t from = kernels::batch_pack_size(pack.n, 0, pack.lanes);
  std::copy_n(pack.data + from, kept_.size(), kept_.data());
  std::copy_n(residual_.system().data, from + kept_.size(), pack.data);
  std::int32_t pivots[kMostLanes];
  direct_.factor({request_.fast, {}}, pivots);
  direct_.kernel().backward.run(pack);
  for (std::int64_t at = 0; at < kept_.size(); ++at) {
    if (!left[at % pack.lanes]) pack.data[from + at] = kept_[at];
  }
  solvers::Measured errors[kMostLanes];
  measure_exactly(left, errors);
  for (std::int64_t q = 0; q < pack.lanes; ++q) {
    if (!left[q]) continue;
    outcome.pivots[q] = pivots[q];
    outcome.iterations[q] = -1;
    outcome.errors[q] = pivots[q] < 0 ? errors[q].most() : std::numeric_limits<double>::quiet_NaN();
  }
}

void Mixed::solve(const PackSystems<double>& systems, PackOutcome& outcome) noexcept {
  factor_narrow(systems, outcome.pivots);
  bool active[kMostLanes], left[kMostLanes];
  for (std::int64_t q = 0; q < lanes(); ++q) {
    active[q] = outcome.pivots[q] < 0;
    left[q] = true;
  }
  double errors[kMostLanes];
  solvers::Measured exact[kMostLanes];
  for (int step = 0; std::find(active, active + lanes(), true) != active + lanes(); ++step) {
    measure(errors);
    // FP64 only selects the systems whose error is worth computing in double-double.
    bool near[kMostLanes];
    for (std::int64_t q = 0; q < lanes(); ++q) {
      near[q] = active[q] && errors[q] <= request_.tolerance;
    }
    const bool any = std::find(near, near + lanes(), true) != near + lanes();
    if (any) measure_exactly(near, exact);
    for (std::int64_t q = 0; q < lanes(); ++q) {
      if (!active[q]) continue;
      left[q] = !near[q] || solvers::judge(exact[q], request_.tolerance) != solvers::Verdict::met;
      active[q] = left[q] && step < kSteps;
      outcome.iterations[q] = step;
      outcome.errors[q] = near[q] ? exact[q].most() : errors[q];
    }
    correct(active);
  }
  if (std::find(left, left + lanes(), true) != left + lanes()) solve_in_fp64(left, outcome);
  direct_.kernel().store_columns.run(direct_.pack(), systems.b, outcome.pivots);
}

}  // namespace

std::unique_ptr<PackSolver<double>> mixed_solver(const kernels::Table& t, std::int64_t n,
                                                 std::int64_t columns, const Request& request) {
  return std::make_unique<Mixed>(t, n, columns, request);
}

}  // namespace stepwell::batched

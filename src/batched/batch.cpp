// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/batch.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <new>

#include "batched/checks.hpp"
#include "batched/pack_solver.hpp"
#include "batched/worker.hpp"
#include "core/machine/fp_scope.hpp"
#include "core/memory_error.hpp"
#include "engine/threads/thread_pool.hpp"

namespace stepwell {
namespace batched {
namespace {

template <class T>
constexpr Format kFormat = sizeof(T) == 8 ? Format::fp64 : Format::fp32;

/// The systems of one call.
template <class T>
struct Task {
  const char* entry;
  BatchView<const T> a;
  bool factored = false;  ///< A holds factors
  BatchView<T> factor;    ///< where the factors are written; count = 0: nowhere
  BatchView<T> b;         ///< right-hand sides; no columns: none
};

/// Size of the pieces of the batch that a thread processes at a time: large enough that the next
/// pack is usually in the same piece and can be prefetched, small enough for many threads.
constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;
/// Below this many flops or moved elements, waking up threads takes longer than the work.
constexpr double kAlone = 3e5;

template <class T>
class Run {
 public:
  Run(const Task<T>& task, const BatchOptions& options, const BatchOutputs& outputs)
      : task_(task), options_(options), outputs_(outputs), n_(task.a.rows) {
    report_.tuning = options.tuning ? *options.tuning : batch_tuning(n_, kFormat<T>);
    if (options.mixed) {
      report_.tolerance =
          options.tolerance > 0 ? options.tolerance : std::sqrt(static_cast<double>(n_)) * 0x1p-53;
    }
    solvers_.push_back(make_solver());
    lanes_ = solvers_[0]->lanes();
    const std::int64_t packs = (task.a.count + lanes_ - 1) / lanes_;
    const int threads = threads_for(packs);
    // At least a few pieces for each thread, so that the threads finish together.
    const std::int64_t pack_bytes = lanes_ * n_ * n_ * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t most = std::max<std::int64_t>(1, kPieceBytes / pack_bytes);
    packs_a_piece_ = std::clamp<std::int64_t>(packs / (4 * threads), 1, most);
    pieces_ = (packs + packs_a_piece_ - 1) / packs_a_piece_;
    while (static_cast<int>(solvers_.size()) < threads) solvers_.push_back(make_solver());
    if (options.engine.progress != nullptr) options.engine.progress->enter(Phase::factor, packs);
  }

  BatchReport run() {
    engine::ThreadPool pool(static_cast<int>(solvers_.size()));
    report_.threads = pool.size();
    pool.run([&](int t) {
      const core::FpScope fp;
      for (std::int64_t piece = next_++; piece < pieces_; piece = next_++) {
        if (options_.engine.progress != nullptr && options_.engine.progress->cancel) {
          cancelled_ = true;
          return;
        }
        work(*solvers_[static_cast<std::size_t>(t)], piece);
      }
    });
    for (const auto& solver : solvers_) report_.bytes += solver->bytes();
    std::sort(report_.failures.begin(), report_.failures.end());
    report_.cancelled = cancelled_;
    return std::move(report_);
  }

 private:
  std::unique_ptr<PackSolver<T>> make_solver() const {
    Request request;
    request.factored = task_.factored;
    request.keep = task_.factor.count > 0;
    request.errors = !outputs_.backward_errors.empty();
    request.log_determinants = !outputs_.log_determinants.empty();
    request.triangle = options_.triangle;
    request.ld = task_.a.ld;
    request.step = std::max<std::int64_t>(1, task_.a.lanes);
    request.both_triangles = options_.both_triangles;
    request.fast = options_.fast;
    request.tolerance = report_.tolerance;
    const kernels::Table& table = kernels::table();
    if constexpr (sizeof(T) == 8) {
      if (options_.mixed) return mixed_solver(table, n_, task_.b.cols, request);
    }
    return direct_solver<T>(table, n_, task_.b.cols, report_.tuning, request);
  }

  int threads_for(std::int64_t packs) const {
    const auto n = static_cast<double>(n_);
    const double work = (n / 3 + 4 + 2 * static_cast<double>(task_.b.cols)) * n * n;
    if (work * static_cast<double>(task_.a.count) < kAlone) return 1;
    return static_cast<int>(
        std::min<std::int64_t>(engine::threads_of(options_.engine.context), packs));
  }

  std::int64_t count_at(std::int64_t first) const {
    return std::clamp<std::int64_t>(task_.a.count - first, 0, lanes_);
  }

  void work(PackSolver<T>& solver, std::int64_t piece) {
    const T* at[2][kMostLanes];
    T* at_factor[kMostLanes];
    T* at_b[kMostLanes];
    PackOutcome outcome;
    const std::int64_t begin = piece * packs_a_piece_ * lanes_;
    const std::int64_t end = std::min(task_.a.count, begin + packs_a_piece_ * lanes_);
    PackSystems<T> here;
    here.next = matrices(task_.a, begin, count_at(begin), at[0]);
    int which = 0;
    for (std::int64_t first = begin; first < end; first += lanes_) {
      which ^= 1;
      const std::int64_t after = first + lanes_;
      here.a = here.next;
      here.next = matrices(task_.a, after, after < end ? count_at(after) : 0, at[which]);
      if (task_.factor.count > 0)
        here.factor = matrices(task_.factor, first, here.a.count, at_factor);
      if (task_.b.cols > 0) here.b = matrices(task_.b, first, here.a.count, at_b);
      solver.solve(here, outcome);
      note(first, here.a.count, outcome);
      if (options_.engine.progress != nullptr) ++options_.engine.progress->done;
    }
  }

  /// Copies the outcome of systems first .. first + count - 1 to the outputs and the report.
  void note(std::int64_t first, std::int64_t count, const PackOutcome& outcome) {
    const auto copy = [&](const auto* from, const auto& to) {
      if (!to.empty()) std::copy_n(from, count, to.begin() + first);
    };
    copy(outcome.pivots, outputs_.pivots);
    copy(outcome.log_determinants, outputs_.log_determinants);
    const bool errors = options_.mixed || !outputs_.backward_errors.empty();
    if (errors) copy(outcome.errors, outputs_.backward_errors);
    if (options_.mixed) copy(outcome.iterations, outputs_.iterations);
    std::int64_t fp64 = 0;
    double worst = 0;
    for (std::int64_t q = 0; q < count; ++q) {
      if (errors && outcome.errors[q] > worst) worst = outcome.errors[q];
      if (options_.mixed && outcome.iterations[q] < 0) ++fp64;
      if (outcome.pivots[q] >= 0) {
        const std::lock_guard lock(mutex_);
        report_.failures.push_back(first + q);
      }
    }
    if (!errors) return;
    const std::lock_guard lock(mutex_);
    report_.backward_error = std::max(report_.backward_error, worst);
    report_.solved_in_fp64 += fp64;
  }

  const Task<T>& task_;
  const BatchOptions& options_;
  const BatchOutputs& outputs_;
  std::int64_t n_;
  std::vector<std::unique_ptr<PackSolver<T>>> solvers_;  ///< one per thread
  std::int64_t lanes_ = 0;
  std::int64_t packs_a_piece_ = 0;
  std::int64_t pieces_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;  ///< protects report_ while threads work
  BatchReport report_;
};

/// Throws for combinations of options that the entry points do not support.
template <class T>
void check_options(const Checks& checks, const Task<T>& task, const BatchOptions& options,
                   const BatchOutputs& outputs) {
  if (options.tuning) checks.tuning(*options.tuning, kFormat<T>);
  if (!(options.tolerance >= 0)) checks.misuse("tolerance must be at least 0");
  const bool solves = !task.factored && task.factor.count == 0 && task.b.cols > 0;
  if (options.mixed && (sizeof(T) != 8 || !solves)) {
    checks.misuse("mixed is for batch_solve() with fp64 systems only: it computes no fp64 factor");
  }
  if (options.mixed && !outputs.log_determinants.empty()) {
    checks.misuse(
        "mixed computes no fp64 factor, so there are no log determinants; request only one of "
        "them");
  }
  if (!options.mixed && !outputs.iterations.empty()) {
    checks.misuse("outputs.iterations needs options.mixed, which is off");
  }
  if (!outputs.backward_errors.empty() && (task.factored || task.b.cols == 0)) {
    checks.misuse("backward errors need A and B: use batch_solve() or batch_factor_solve()");
  }
}

template <class T>
BatchReport run(const Task<T>& task, const BatchOptions& options, const BatchOutputs& outputs) try {
  const Checks checks(task.entry);
  checks.view(task.a, "A", task.factor.count > 0);
  checks.square(task.a);
  checks.outputs(task.a.count, outputs);
  if (task.b.count > 0 || task.b.cols > 0) {
    checks.view(task.b, "B", true);
    checks.right_hand_sides(task.a, task.b);
  }
  check_options(checks, task, options, outputs);
  if (task.a.count == 0 || task.a.rows == 0) {
    std::fill(outputs.pivots.begin(), outputs.pivots.end(), -1);
    std::fill(outputs.log_determinants.begin(), outputs.log_determinants.end(), 0.0);
    std::fill(outputs.backward_errors.begin(), outputs.backward_errors.end(), 0.0);
    std::fill(outputs.iterations.begin(), outputs.iterations.end(), 0);
    return {};
  }
  return Run<T>(task, options, outputs).run();
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

template <class T>
BatchReport cholesky(BatchView<T> a, const BatchOptions& options, const BatchOutputs& outputs) {
  return run<T>({"batch_cholesky", a, false, a, {}}, options, outputs);
}
template <class T>
BatchReport solve(BatchView<const T> a, BatchView<T> b, const BatchOptions& options,
                  const BatchOutputs& outputs) {
  return run<T>({"batch_solve", a, false, {}, b}, options, outputs);
}
template <class T>
BatchReport factor_solve(BatchView<T> a, BatchView<T> b, const BatchOptions& options,
                         const BatchOutputs& outputs) {
  return run<T>({"batch_factor_solve", a, false, a, b}, options, outputs);
}
template <class T>
BatchReport substitute(BatchView<const T> factor, BatchView<T> b, const BatchOptions& options,
                       const BatchOutputs& outputs) {
  return run<T>({"batch_substitute", factor, true, {}, b}, options, outputs);
}

}  // namespace
}  // namespace batched

int batch_lanes(Format format) try {
  if (format != Format::fp32 && format != Format::fp64) {
    batched::Checks("batch_lanes").misuse("batches are fp32 or fp64");
  }
  const kernels::Table& t = kernels::table();
  return format == Format::fp32 ? t.batch_fp32.lanes : t.batch_fp64.lanes;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

BatchReport batch_cholesky(BatchView<double> a, const BatchOptions& options,
                           const BatchOutputs& outputs) {
  return batched::cholesky(a, options, outputs);
}
BatchReport batch_cholesky(BatchView<float> a, const BatchOptions& options,
                           const BatchOutputs& outputs) {
  return batched::cholesky(a, options, outputs);
}
BatchReport batch_solve(BatchView<const double> a, BatchView<double> b, const BatchOptions& options,
                        const BatchOutputs& outputs) {
  return batched::solve(a, b, options, outputs);
}
BatchReport batch_solve(BatchView<const float> a, BatchView<float> b, const BatchOptions& options,
                        const BatchOutputs& outputs) {
  return batched::solve(a, b, options, outputs);
}
BatchReport batch_factor_solve(BatchView<double> a, BatchView<double> b,
                               const BatchOptions& options, const BatchOutputs& outputs) {
  return batched::factor_solve(a, b, options, outputs);
}
BatchReport batch_factor_solve(BatchView<float> a, BatchView<float> b, const BatchOptions& options,
                               const BatchOutputs& outputs) {
  return batched::factor_solve(a, b, options, outputs);
}
BatchReport batch_substitute(BatchView<const double> factor, BatchView<double> b,
                             const BatchOptions& options, const BatchOutputs& outputs) {
  return batched::substitute(factor, b, options, outputs);
}
BatchReport batch_substitute(BatchView<const float> factor, BatchView<float> b,
                             const BatchOptions& options, const BatchOutputs& outputs) {
  return batched::substitute(factor, b, options, outputs);
}

}  // namespace stepwell

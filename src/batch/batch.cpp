// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/batch.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>

#include "batch/checks.hpp"
#include "batch/worker.hpp"
#include "core/fp_scope.hpp"
#include "engine/team_pool.hpp"
#include "factor/call.hpp"

namespace stepwell {
namespace batched {
namespace {

template <class T>
constexpr Format kFormat = sizeof(T) == 8 ? Format::fp64 : Format::fp32;

/// What one call does to its systems.
template <class T>
struct Task {
  BatchView<const T> a;
  bool factored = false;  ///< A holds factors
  BatchView<T> factor;    ///< where they go; without data: nowhere
  BatchView<T> b;         ///< without columns: none
};

/// A piece of the batch that one thread takes at a time: long enough that the next pack is mostly
/// its own and can be fetched ahead, short enough for many threads.
constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;
/// Below so many flop, or numbers moved, threads take longer to wake up.
constexpr double kAlone = 3e5;

template <class T>
class Run {
 public:
  Run(const Task<T>& task, const BatchOptions& options, const BatchOutputs& outputs)
      : task_(task),
        options_(options),
        outputs_(outputs),
        n_(task.a.rows),
        table_(kernels::table()) {
    report_.tuning = options.tuning ? *options.tuning : batch_tuning(n_, kFormat<T>);
    lanes_ = std::int64_t{entries<T>(table_).lanes} * report_.tuning.vectors;
    const std::int64_t packs = (task.a.count + lanes_ - 1) / lanes_;
    const std::int64_t pack_bytes = lanes_ * n_ * n_ * static_cast<std::int64_t>(sizeof(T));
    packs_a_piece_ = std::max<std::int64_t>(1, kPieceBytes / pack_bytes);
    // At least a few pieces for each thread, so that they end together.
    report_.threads = factor::threads_of(options.context);
    packs_a_piece_ = std::clamp<std::int64_t>(packs / (4 * report_.threads), 1, packs_a_piece_);
    pieces_ = (packs + packs_a_piece_ - 1) / packs_a_piece_;
    const auto n = static_cast<double>(n_);
    const double work = (n / 3 + 4 + 2 * static_cast<double>(task.b.cols)) * n * n;
    if (work * static_cast<double>(task.a.count) < kAlone) report_.threads = 1;
    report_.threads = static_cast<int>(std::min<std::int64_t>(report_.threads, pieces_));
    if (options.progress != nullptr) options.progress->enter(Phase::factor, packs);
  }

  BatchReport run() {
    std::vector<std::unique_ptr<Worker<T>>> workers;
    for (int t = 0; t < report_.threads; ++t) {
      workers.push_back(std::make_unique<Worker<T>>(table_, n_, task_.b.cols, report_.tuning));
      report_.bytes += workers.back()->bytes();
    }
    const engine::BorrowedTeam team(report_.threads);
    team->run([&](int t) {
      const core::FpScope fp;
      for (std::int64_t piece = next_++; piece < pieces_; piece = next_++) {
        if (options_.progress != nullptr && options_.progress->cancel) {
          cancelled_ = true;
          return;
        }
        work(*workers[static_cast<std::size_t>(t)], piece);
      }
    });
    std::sort(report_.failures.begin(), report_.failures.end());
    report_.cancelled = cancelled_;
    return std::move(report_);
  }

 private:
  std::int64_t count_at(std::int64_t first) const {
    return std::clamp<std::int64_t>(task_.a.count - first, 0, lanes_);
  }

  void work(const Worker<T>& worker, std::int64_t piece) {
    constexpr std::int64_t kMost = 64;  // lanes
    const T* at[2][kMost];
    const std::int64_t begin = piece * packs_a_piece_ * lanes_;
    const std::int64_t end = std::min(task_.a.count, begin + packs_a_piece_ * lanes_);
    kernels::BatchHow<T> how;
    how.fast = options_.fast;
    how.triangle = options_.triangle;
    how.next = places(task_.a, begin, count_at(begin), at[0]);
    int which = 0;
    for (std::int64_t first = begin; first < end; first += lanes_) {
      const kernels::BatchPlaces<const T> here = how.next;
      which ^= 1;
      how.next = first + lanes_ < end
                     ? places(task_.a, first + lanes_, count_at(first + lanes_), at[which])
                     : kernels::BatchPlaces<const T>{};
      solve(worker, first, here, how);
      if (options_.progress != nullptr) ++options_.progress->done;
    }
  }

  /// One pack.
  void solve(const Worker<T>& worker, std::int64_t first, const kernels::BatchPlaces<const T>& a,
             const kernels::BatchHow<T>& how) {
    constexpr std::int64_t kMost = 64;
    T* at[kMost];
    std::int32_t pivots[kMost];
    const kernels::BatchEntries<T>& kernel = worker.kernel();
    const kernels::BatchPack<T>& pack = worker.pack();
    kernel.load.run(a, options_.triangle, pack);
    kernels::BatchPlaces<T> b;
    if (pack.rhs > 0) {
      b = places(task_.b, first, a.count, at);
      kernel.load_columns.run({const_cast<const T* const*>(b.at), b.count, b.ld, b.step}, pack);
    }
    if (task_.factored) {
      kernel.forward.run(pack, pivots);
    } else {
      worker.factor(how, pivots);
    }
    if (pack.rhs > 0) {
      kernel.backward.run(pack);
      kernel.store_columns.run(pack, b, pivots);
    }
    if (task_.factor.count > 0) {
      kernel.store.run(pack, places(task_.factor, first, a.count, at), options_.triangle,
                       options_.both_triangles, pivots);
    }
    note(worker, first, a.count, pivots);
  }

  void note(const Worker<T>& worker, std::int64_t first, std::int64_t count,
            const std::int32_t* pivots) {
    if (!outputs_.pivots.empty()) std::copy_n(pivots, count, &outputs_.pivots[index(first)]);
    for (std::int64_t q = 0; q < count; ++q) {
      if (!outputs_.log_determinants.empty()) {
        outputs_.log_determinants[index(first + q)] =
            pivots[q] < 0 ? worker.log_determinant(q) : std::numeric_limits<double>::quiet_NaN();
      }
      if (pivots[q] >= 0) {
        const std::lock_guard lock(mutex_);
        report_.failures.push_back(first + q);
      }
    }
  }

  static std::size_t index(std::int64_t m) { return static_cast<std::size_t>(m); }

  const Task<T>& task_;
  const BatchOptions& options_;
  const BatchOutputs& outputs_;
  std::int64_t n_;
  const kernels::Table& table_;
  std::int64_t lanes_ = 0;
  std::int64_t packs_a_piece_ = 0;
  std::int64_t pieces_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;  ///< of report_.failures
  BatchReport report_;
};

template <class T>
BatchReport run(const char* entry, const Task<T>& task, const BatchOptions& options,
                const BatchOutputs& outputs) {
  const Checks checks(entry);
  checks.view(task.a, "A", task.factor.count > 0);
  checks.square(task.a);
  checks.outputs(task.a.count, outputs);
  if (task.b.count > 0 || task.b.cols > 0) {
    checks.view(task.b, "B", true);
    checks.right_hand_sides(task.a, task.b);
  }
  if (options.tuning) checks.tuning(*options.tuning, kFormat<T>);
  if (task.a.count == 0 || task.a.rows == 0) {
    std::fill(outputs.pivots.begin(), outputs.pivots.end(), -1);
    std::fill(outputs.log_determinants.begin(), outputs.log_determinants.end(), 0.0);
    return {};
  }
  return Run<T>(task, options, outputs).run();
}

template <class T>
BatchReport cholesky(BatchView<T> a, const BatchOptions& options, const BatchOutputs& outputs) {
  return run<T>("batch_cholesky", {a, false, a, {}}, options, outputs);
}
template <class T>
BatchReport solve(BatchView<const T> a, BatchView<T> b, const BatchOptions& options,
                  const BatchOutputs& outputs) {
  return run<T>("batch_solve", {a, false, {}, b}, options, outputs);
}
template <class T>
BatchReport factor_solve(BatchView<T> a, BatchView<T> b, const BatchOptions& options,
                         const BatchOutputs& outputs) {
  return run<T>("batch_factor_solve", {a, false, a, b}, options, outputs);
}
template <class T>
BatchReport substitute(BatchView<const T> factor, BatchView<T> b, const BatchOptions& options,
                       const BatchOutputs& outputs) {
  return run<T>("batch_substitute", {factor, true, {}, b}, options, outputs);
}

}  // namespace
}  // namespace batched

int batch_lanes(Format format) {
  if (format != Format::fp32 && format != Format::fp64) {
    batched::Checks("batch_lanes").misuse("batches are fp32 or fp64");
  }
  const kernels::Table& t = kernels::table();
  return format == Format::fp32 ? t.batch_fp32.lanes : t.batch_fp64.lanes;
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

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/als.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>

#include "batched/sparse.hpp"
#include "batched/worker.hpp"
#include "core/buffer.hpp"
#include "core/machine/fp_scope.hpp"
#include "core/memory_error.hpp"
#include "engine/threads/thread_pool.hpp"
#include "kernels/kernels.hpp"
#include "stepwell/batch.hpp"
#include "stepwell/error.hpp"

/// A half step of alternating least squares. Rows are processed in groups as large as a pack of the
/// batch solver: their Gram matrices are formed one after the other in L2, then solved together.
namespace stepwell {
namespace batched {
namespace {

/// Number of entries whose weights are computed at a time: a multiple of the kernel's run length.
constexpr std::int64_t kPiece = 16 * kernels::kGramRun;

/// Number of columns whose Gram matrix is summed in fp32; these sums are added in fp64.
constexpr std::int64_t kRun = 128;

/// Data that all threads read.
struct Step {
  const SparseRows& ratings;
  MatrixView<const float> items;
  MatrixView<float> users;
  const AlsOptions& options;
  const kernels::Table& table;
  std::int64_t k;
  std::int64_t ld;    ///< leading dimension of the Gram matrices
  const float* base;  ///< Y'Y, or null
  BatchTuning tuning;
};

/// One thread's scratch memory and the rows on which it failed.
class ThreadWorkspace {
 public:
  explicit ThreadWorkspace(const Step& step)
      : s_(step),
        worker_(step.table, step.k, 1, step.tuning),
        lanes_(worker_.lanes()),
        grams_(core::size_product(lanes_, step.ld, step.k, "Gram matrices")),
        right_(lanes_ * step.ld),
        weights_(kPiece),
        coefficients_(kPiece),
        rows_(static_cast<std::size_t>(lanes_)),
        pivots_(rows_.size()) {
    for (std::int64_t q = 0; q < lanes_; ++q) {
      a_.push_back(grams_.data() + q * s_.ld * s_.k);
      b_.push_back(right_.data() + q * s_.ld);
    }
  }

  std::int64_t bytes() const {
    return worker_.bytes() +
           4 * (grams_.size() + right_.size() + weights_.size() + coefficients_.size());
  }

  /// Adds a row to the group; entries up to 'last' will be needed soon and are prefetched.
  void add(std::int64_t row, std::int64_t last) {
    const std::int64_t first = s_.ratings.starts[row];
    const std::int64_t end = s_.ratings.starts[row + 1];
    if (first == end) {
      std::fill_n(s_.users.column(row), s_.k, 0.0f);
      return;
    }
    form(first, end, last);
    rows_[static_cast<std::size_t>(count_++)] = row;
    if (count_ == lanes_) flush();
  }

  /// Solves the rows of the group.
  void flush() {
    if (count_ == 0) return;
    worker_.solve(count_, a_.data(), s_.ld, b_.data(), s_.ld, pivots_.data());
    for (std::int64_t q = 0; q < count_; ++q) {
      const auto place = static_cast<std::size_t>(q);
      const float* const x = b_[place];
      const bool good =
          pivots_[place] < 0 && std::all_of(x, x + s_.k, [](float v) { return std::isfinite(v); });
      if (good) {
        std::copy_n(x, s_.k, s_.users.column(rows_[place]));
      } else {
        failures.push_back(rows_[place]);
      }
    }
    count_ = 0;
  }

  std::vector<std::int64_t> failures;

 private:
  /// Forms the normal equations of entries first .. end - 1 as the group's next system.
  void form(std::int64_t first, std::int64_t end, std::int64_t last) {
    const auto place = static_cast<std::size_t>(count_);
    kernels::GatherGram g;
    g.items = s_.items;
    g.base = s_.base;
    g.c = {grams_.data() + count_ * s_.ld * s_.k, s_.k, s_.k, s_.ld};
    g.b = b_[place];
    std::fill_n(g.b, s_.ld, 0.0f);
    const float* const values = s_.ratings.values;
    const bool counts = s_.options.feedback == Feedback::implicit_counts;
    for (std::int64_t e = first; e < end; e += g.count) {
      g.columns = s_.ratings.columns + e;
      g.count = counts ? std::min(kPiece, end - e) : end - e;
      g.upcoming = last - e - g.count;
      g.coefficients = values + e;
      if (counts) {
        for (std::int64_t i = 0; i < g.count; ++i) {
          weights_[i] = s_.options.alpha * values[e + i];
          coefficients_[i] = 1 + weights_[i];
        }
        g.weights = weights_.data();
        g.coefficients = coefficients_.data();
      }
      kernels::gather_gram(s_.table, g);
      g.base = g.c.data;
    }
    const float lambda =
        s_.options.lambda * (s_.options.weighted ? static_cast<float>(end - first) : 1);
    for (std::int64_t i = 0; i < s_.k; ++i) g.c(i, i) += lambda;
  }

  const Step& s_;
  Worker<float> worker_;
  std::int64_t lanes_;
  std::int64_t count_ = 0;  ///< rows in the group
  core::Buffer<float> grams_, right_, weights_, coefficients_;
  std::vector<const float*> a_;
  std::vector<float*> b_;
  std::vector<std::int64_t> rows_;
  std::vector<std::int32_t> pivots_;
};

/// Computes Y'Y as a Gram matrix with leading dimension ld. The columns are divided in a way that
/// depends on their number alone, so the bits do not depend on the number of threads.
core::Buffer<float> gram_of(const kernels::Table& table, MatrixView<const float> y, std::int64_t ld,
                            engine::ThreadPool& pool) {
  const std::int64_t k = y.rows;
  const std::int64_t size = ld * k;
  const std::int64_t part = std::max<std::int64_t>(16 * kRun, core::round_up(y.cols / 32, kRun));
  const std::int64_t parts = (y.cols + part - 1) / part;
  core::Buffer<double> sums(parts * size);
  core::Buffer<float> runs(parts * (size + ld));
  pool.for_each(parts, [&](std::int64_t p) {
    std::int32_t columns[kRun];
    float zeros[kRun] = {};
    for (std::int32_t i = 0; i < kRun; ++i) columns[i] = i;
    kernels::GatherGram g;
    g.c = {runs.data() + p * (size + ld), k, k, ld};
    g.b = g.c.data + size;
    g.columns = columns;
    g.coefficients = zeros;
    const std::int64_t last = std::min((p + 1) * part, y.cols);
    for (std::int64_t first = p * part; first < last; first += kRun) {
      g.count = std::min(kRun, last - first);
      g.items = y.block(0, first, k, g.count);
      kernels::gather_gram(table, g);
      for (std::int64_t j = 0; j < k; ++j) {
        for (std::int64_t i = j; i < k; ++i) sums[p * size + i + j * ld] += g.c(i, j);
      }
    }
  });
  core::Buffer<float> out(size);
  for (std::int64_t i = 0; i < size; ++i) {
    double sum = 0;
    for (std::int64_t p = 0; p < parts; ++p) sum += sums[p * size + i];
    out[i] = static_cast<float>(sum);
  }
  return out;
}

void check_apart(MatrixView<const float> a, MatrixView<const float> b) {
  const auto end = [](MatrixView<const float> v) {
    return v.empty() ? v.data : v.column(v.cols - 1) + v.rows;
  };
  if (a.data < end(b) && b.data < end(a)) {
    throw Error(ErrorCode::invalid_argument,
                "users and items overlap; they must be separate arrays");
  }
}

/// The number of threads that have enough work to outweigh their start.
int useful_threads(double entries, double rows, double k, const Context* context) {
  constexpr double kFlop = 4e6;  // flop per thread: some 100 microseconds
  const double work = entries * k * k + rows * k * k * k / 3;
  const int most = engine::threads_of(context);
  return std::clamp(static_cast<int>(std::min(work / kFlop, 1e6)), 1, most);
}

}  // namespace
}  // namespace batched

AlsReport als_step(const SparseRows& ratings, MatrixView<const float> items,
                   MatrixView<float> users, const AlsOptions& options) try {
  const std::int64_t entries = batched::check_starts(ratings, "ratings");
  batched::check_vectors(ratings, users, items, "users", "items");
  batched::check_apart(users, items);
  batched::check_options(options);
  AlsReport report;
  Progress* const progress = options.engine.progress;
  if (progress != nullptr) progress->enter(Phase::analysis);

  const std::int64_t k = items.rows;
  const int threads =
      batched::useful_threads(static_cast<double>(entries), static_cast<double>(ratings.rows),
                              static_cast<double>(k), options.engine.context);
  engine::ThreadPool pool(threads);
  report.threads = pool.size();
  batched::check_columns(ratings, "ratings", pool);

  const kernels::Table& table = kernels::table();
  const std::int64_t ld = core::round_up(k, kernels::kGramPad);
  core::Buffer<float> base;
  if (options.feedback == Feedback::implicit_counts) {
    base = batched::gram_of(table, items, ld, pool);
  }
  const batched::Step step{
      ratings, items, users, options, table, k, ld, base.data(), batch_tuning(k, Format::fp32)};
  std::vector<std::unique_ptr<batched::ThreadWorkspace>> workspaces;
  for (int t = 0; t < pool.size(); ++t)
    workspaces.push_back(std::make_unique<batched::ThreadWorkspace>(step));
  report.bytes = 4 * base.size() + pool.size() * workspaces[0]->bytes();

  // Runs of rows of about equal cost, enough of them for the threads to finish together.
  const double overhead = static_cast<double>(k) / 3 + 4;
  const double cost =
      (static_cast<double>(entries) + overhead * static_cast<double>(ratings.rows)) /
      (32 * pool.size());
  const std::vector<std::int64_t> firsts = batched::cut_rows(ratings, overhead, cost);
  if (progress != nullptr) progress->enter(Phase::factor, ratings.rows);
  std::atomic<std::size_t> next{1};
  pool.run([&](int thread) {
    const core::FpScope fp;
    batched::ThreadWorkspace& workspace = *workspaces[static_cast<std::size_t>(thread)];
    for (std::size_t run = next++; run < firsts.size(); run = next++) {
      const std::int64_t last = ratings.starts[firsts[run]];
      for (std::int64_t u = firsts[run - 1]; u < firsts[run]; ++u) {
        if (progress != nullptr && progress->cancel) return;
        workspace.add(u, last);
      }
      if (progress != nullptr) progress->done += firsts[run] - firsts[run - 1];
    }
    workspace.flush();
  });
  report.cancelled = progress != nullptr && progress->cancel;
  for (const auto& workspace : workspaces) {
    report.failures.insert(report.failures.end(), workspace->failures.begin(),
                           workspace->failures.end());
  }
  std::sort(report.failures.begin(), report.failures.end());
  return report;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell

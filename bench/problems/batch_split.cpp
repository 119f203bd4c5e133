// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/problems/batch_split.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <vector>

#include "batched/worker.hpp"
#include "bench/harness/data.hpp"
#include "core/buffer.hpp"
#include "kernels/table.hpp"

namespace stepwell::bench {
namespace {

constexpr int kSplitRounds = 5;
constexpr std::size_t kSplitParts = 6;
/// Seconds of load, factor without b, factor with b, backward, store, and factor with fast roots.
using SplitTimes = std::array<double, kSplitParts>;

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class T>
class Splitter {
 public:
  Splitter(std::int64_t n, std::int64_t count, Format format, bool cached)
      : t_(kernels::table()),
        n_(n),
        count_(count),
        with_(t_, n, 1, batch_tuning(n, format)),
        without_(t_, n, 0, batch_tuning(n, format)),
        places_(cached ? with_.lanes() : count),
        a_(places_ * n * n),
        b_(places_ * n),
        a_out_(cached ? a_.size() : 0),
        b_out_(cached ? b_.size() : 0),
        pivots_(static_cast<std::size_t>(with_.lanes())) {}

  SplitTimes best() {
    SplitTimes least;
    least.fill(std::numeric_limits<double>::infinity());
    for (int round = 0; round < kSplitRounds; ++round) {
      fill();
      SplitTimes sum{};
      for (std::int64_t first = 0; first < count_; first += with_.lanes()) {
        const std::int64_t at = first % places_;
        const SplitTimes pack = time_pack(at, std::min(with_.lanes(), places_ - at));
        for (std::size_t k = 0; k < kSplitParts; ++k) sum[k] += pack[k];
      }
      for (std::size_t k = 0; k < kSplitParts; ++k) least[k] = std::min(least[k], sum[k]);
    }
    return least;
  }

 private:
  void fill() {
    for (std::int64_t k = 0; k < a_.size(); ++k) {
      a_[k] = static_cast<T>(noise(static_cast<std::uint64_t>(k)) * 0.5 +
                             (k % (n_ * n_) % (n_ + 1) == 0 ? static_cast<double>(n_) : 0.0));
    }
    std::fill(b_.begin(), b_.end(), T{1});
  }

  kernels::BatchMatrices<T> matrices(const core::Buffer<T>& data, std::int64_t cols,
                                     std::int64_t first, std::int64_t here, T** at) const {
    return batched::matrices(batch(data.data(), places_, n_, cols), first, here, at);
  }

  SplitTimes time_pack(std::int64_t first, std::int64_t here) {
    T* at[4][64];  // at most 64 lanes
    const auto a = matrices(a_, n_, first, here, at[0]), b = matrices(b_, 1, first, here, at[1]);
    const bool apart = a_out_.size() > 0;
    const auto a_out = apart ? matrices(a_out_, n_, first, here, at[2]) : a;
    const auto b_out = apart ? matrices(b_out_, 1, first, here, at[3]) : b;
    const kernels::BatchEntries<T>& kernel = with_.kernel();
    std::int32_t* const pivots = pivots_.data();
    SplitTimes parts;
    const auto time = [&](std::size_t part, const auto& body) {
      const double begin = clock_seconds();
      body();
      parts[part] = clock_seconds() - begin;
    };
    const auto load_a = [&](const batched::Worker<T>& worker) {
      kernel.load.run(batched::constant(a), Triangle::lower, worker.pack());
    };
    time(0, [&] {
      load_a(with_);
      kernel.load_columns.run(batched::constant(b), with_.pack());
    });
    load_a(without_);
    time(1, [&] { without_.factor({}, pivots); });
    load_a(without_);
    time(5, [&] { without_.factor({true, {}}, pivots); });
    time(2, [&] { with_.factor({}, pivots); });
    time(3, [&] { kernel.backward.run(with_.pack()); });
    time(4, [&] {
      kernel.store_columns.run(with_.pack(), b_out, pivots);
      kernel.store.run(with_.pack(), a_out, Triangle::lower, false, pivots);
    });
    return parts;
  }

  const kernels::Table& t_;
  std::int64_t n_, count_;
  batched::Worker<T> with_, without_;  ///< with and without a right-hand side
  std::int64_t places_;                ///< systems in memory
  core::Buffer<T> a_, b_, a_out_, b_out_;
  std::vector<std::int32_t> pivots_;
};

}  // namespace

BatchSplit batch_split(std::int64_t n, std::int64_t count, Format format, bool cached) {
  const SplitTimes s = format == Format::fp32 ? Splitter<float>(n, count, format, cached).best()
                                              : Splitter<double>(n, count, format, cached).best();
  return {s[0], s[1], std::max(0.0, s[2] - s[1]), s[3], s[4], s[5]};
}

}  // namespace stepwell::bench

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/experiments/batch_sweep.hpp"

#include <algorithm>

#include "batched/tuning.hpp"
#include "kernels/table.hpp"

namespace stepwell::bench {
namespace {

constexpr std::int64_t kBeyondCaches = std::int64_t{48} << 20;  ///< bytes of matrices
constexpr std::int64_t kLeastCount = 256;  ///< a few packs for each of many threads
constexpr double kWindow = 0.001;
constexpr std::size_t kFew = 5;

/// Adds 'runs' runs to each of the variants, in turn.
void measure(BatchBench& bench, int threads, std::span<VariantRuns* const> variants, int runs) {
  std::vector<Side> sides;
  for (const VariantRuns* v : variants) {
    BatchOptions options;
    options.tuning = v->tuning;
    sides.push_back(bench.ours(threads, options));
  }
  RotateOptions options;
  options.rounds = runs;
  options.warm_up = false;
  options.window = kWindow;
  const auto seconds = rotate(sides, Clock::wall, options);
  for (std::size_t k = 0; k < variants.size(); ++k) {
    variants[k]->seconds.insert(variants[k]->seconds.end(), seconds[k].begin(), seconds[k].end());
  }
}

/// The fastest 'count' of the variants with the most runs, and the plain variant.
std::vector<VariantRuns*> fastest(std::vector<VariantRuns>& all, std::size_t count) {
  std::size_t most = 0;
  for (const VariantRuns& v : all) most = std::max(most, v.seconds.size());
  std::vector<VariantRuns*> kept, plain;
  for (VariantRuns& v : all) {
    if (v.tuning == batched::plain_tuning(kernels::table().cap)) {
      plain.push_back(&v);
    } else if (v.seconds.size() == most) {
      kept.push_back(&v);
    }
  }
  std::sort(kept.begin(), kept.end(),
            [](const VariantRuns* a, const VariantRuns* b) { return a->median() < b->median(); });
  if (kept.size() > count) kept.resize(count);
  kept.insert(kept.end(), plain.begin(), plain.end());
  return kept;
}

}  // namespace

double VariantRuns::median() const {
  return summarize(seconds).median;
}

const VariantRuns& OrderSweep::best() const {
  const auto better = [](const VariantRuns& a, const VariantRuns& b) {
    if (a.seconds.size() != b.seconds.size()) return a.seconds.size() > b.seconds.size();
    return a.median() < b.median();
  };
  return *std::min_element(variants.begin(), variants.end(), better);
}

const VariantRuns& OrderSweep::plain() const {
  return *std::find_if(variants.begin(), variants.end(), [](const VariantRuns& v) {
    return v.tuning == batched::plain_tuning(kernels::table().cap);
  });
}

std::int64_t sweep_count(std::int64_t n, Format format, std::int64_t most) {
  const std::int64_t beyond = kBeyondCaches / (n * n * info(format).bytes);
  return std::min(most, std::max(beyond, kLeastCount));
}

OrderSweep sweep_order(const BatchCase& c, const SweepEffort& effort) {
  const std::unique_ptr<BatchBench> bench = make_batch_bench(c);
  OrderSweep sweep{c.n, c.format, c.count, bench->flops(), {}};
  for (const BatchTuning& t : batch_tunings(c.format)) sweep.variants.push_back({t, {}});
  std::vector<VariantRuns*> all;
  for (VariantRuns& v : sweep.variants) all.push_back(&v);
  measure(*bench, c.threads, {all.data(), 1}, 1);  // memory and clock warm up
  all[0]->seconds.clear();
  measure(*bench, c.threads, all, effort.all);
  if (effort.half > 0) {
    measure(*bench, c.threads, fastest(sweep.variants, all.size() / 2), effort.half);
  }
  if (effort.few > 0) measure(*bench, c.threads, fastest(sweep.variants, kFew), effort.few);
  return sweep;
}

void sweep_again(const BatchCase& c, OrderSweep& sweep, const SweepEffort& effort) {
  const std::unique_ptr<BatchBench> bench = make_batch_bench(c);
  std::vector<VariantRuns*> few = fastest(sweep.variants, kFew);
  VariantRuns warm{few[0]->tuning, {}};
  VariantRuns* const first[] = {&warm};
  measure(*bench, c.threads, first, 1);
  measure(*bench, c.threads, few, effort.all + effort.half + effort.few);
}

}  // namespace stepwell::bench

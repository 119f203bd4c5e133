// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <map>

#include <nlohmann/json.hpp>
#include "bench/baselines/baseline_mkl.hpp"
#include "bench/experiments/batch_sweep.hpp"
#include "bench/harness/guards.hpp"
#include "bench/harness/report.hpp"
#include "bench/papers/paper.hpp"
#include "bench/problems/batch_problem.hpp"
#include "bench/problems/batch_split.hpp"
#include "kernels/table.hpp"

/// `bench paper`, part batch: figures 13 to 23 of Kurzak, Anzt, Gates & Dongarra (2016). The sweep
/// over all variants, and the speed of factorization, substitution and whole solves by order.
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

constexpr std::array kFormats = {Format::fp32, Format::fp64};  // the paper's format first

/// A small --max-n selects a short trial of everything, although these orders are at most 128.
bool trial(const PaperRun& run) {
  return run.max_n <= 1024;
}

std::vector<std::int64_t> sweep_orders(const PaperRun& run) {
  if (trial(run)) return {5, 32};
  std::vector<std::int64_t> orders;
  for (std::int64_t n = 5; n <= 100; ++n) orders.push_back(n);
  return orders;
}

std::vector<std::int64_t> heat_orders(const PaperRun& run) {
  if (trial(run)) return {32};
  return {32, 33, 95};
}

std::vector<std::int64_t> rate_orders(const PaperRun& run) {
  if (trial(run)) return {5, 16};
  return {5, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 72, 80, 88, 96, 100};
}

std::int64_t batch_count(const PaperRun& run) {
  return trial(run) ? 200 : 10000;
}

BatchCase case_of(const PaperRun& run, std::int64_t n, Format format, BatchOperation operation) {
  BatchCase c;
  c.n = n;
  c.count = batch_count(run);
  c.format = format;
  c.operation = operation;
  c.threads = run.threads;
  return c;
}

/// Gflop/s of the variants, in their order.
ordered_json rates_json(const OrderSweep& s) {
  ordered_json rates = ordered_json::array();
  for (const VariantRuns& v : s.variants) rates.push_back(rounded(s.rate(v)));
  return {{"n", s.n}, {"rates", rates}};
}

/// Figures 13 to 16.
ordered_json sweep_section(const PaperRun& run, Format format) {
  ordered_json section = {{"variant", "[rows, columns, registers, prefetch]"},
                          {"variants", ordered_json::array()},
                          {"heat", ordered_json::array()},
                          {"orders", ordered_json::array()}};
  for (const BatchTuning& t : batch_tunings(format)) {
    section["variants"].push_back({t.rows, t.cols, t.vectors, t.prefetch});
  }
  const auto sweep = [&](std::int64_t n, int runs) {
    BatchCase c = case_of(run, n, format, BatchOperation::factor_solve);
    c.count = sweep_count(n, format, c.count);
    return sweep_order(c, {runs, 0, 0});
  };
  for (const std::int64_t n : sweep_orders(run)) {
    run.progress->begin(fmt::format("batch, variants, {}, n = {}", to_string(format), n), 1);
    section["orders"].push_back(rates_json(sweep(n, trial(run) ? 1 : 2)));
  }
  for (const std::int64_t n : heat_orders(run)) {
    run.progress->begin(fmt::format("batch, variants, {}, n = {}", to_string(format), n), 3);
    section["heat"].push_back(rates_json(sweep(n, trial(run) ? 1 : 5)));
  }
  return section;
}

/// Gflop/s of our routine with each set of options and of the baselines, measured in turn.
ordered_json rates_of(const PaperRun& run, const BatchCase& c,
                      const std::map<std::string, BatchOptions>& ours, ordered_json& identities) {
  const std::unique_ptr<BatchBench> bench = make_batch_bench(c);
  std::vector<std::string> names;
  std::vector<Side> sides;
  for (const auto& [name, options] : ours) {
    names.push_back(name);
    sides.push_back(bench->ours(run.threads, options));
  }
  std::vector<std::string> baselines = {"lapack-loop"};
  if (run.mkl) baselines.insert(baselines.end(), {"mkl-loop", "mkl-compact"});
  for (const std::string& name : baselines) {
    names.push_back(name);
    sides.push_back(bench->baseline(name));
    identities[name] = identity_json(sides.back());
  }
  RotateOptions options;
  options.rounds = trial(run) ? 1 : c.n <= 32 ? 5 : 3;
  const auto seconds = rotate(sides, Clock::wall, options);
  ordered_json rates = {{"flops", bench->flops()}};
  for (std::size_t k = 0; k < names.size(); ++k) {
    rates[names[k]] = rounded(bench->flops() / summarize(seconds[k]).median * 1e-9);
  }
  return rates;
}

ordered_json shares_json(const BatchSplit& s) {
  return {{"load", rounded(s.load)},
          {"factor", rounded(s.factor)},
          {"forward", rounded(s.forward)},
          {"backward", rounded(s.backward)},
          {"store", rounded(s.store)}};
}

/// Figures 17 to 23.
ordered_json rates_section(const PaperRun& run, Format format, ordered_json& identities) {
  ordered_json rows = ordered_json::array();
  for (const std::int64_t n : rate_orders(run)) {
    run.progress->begin(fmt::format("batch, rates, {}, n = {}", to_string(format), n),
                        0.1 * static_cast<double>(n));
    BatchOptions fast, both, both_fast;
    fast.fast = both_fast.fast = true;
    both.both_triangles = both_fast.both_triangles = true;
    ordered_json row = {{"n", n}};
    row["cholesky"] = rates_of(
        run, case_of(run, n, format, BatchOperation::cholesky),
        {{"ours", {}}, {"fast", fast}, {"both", both}, {"both-fast", both_fast}}, identities);
    row["substitute"] = rates_of(run, case_of(run, n, format, BatchOperation::substitute),
                                 {{"ours", {}}}, identities);
    row["factor-solve"] = rates_of(run, case_of(run, n, format, BatchOperation::factor_solve),
                                   {{"ours", {}}, {"fast", fast}}, identities);
    row["solve"] =
        rates_of(run, case_of(run, n, format, BatchOperation::solve), {{"ours", {}}}, identities);
    const std::int64_t count = batch_count(run) / 5;
    row["seconds"] = shares_json(batch_split(n, count, format, false));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

double batch_cost(const PaperRun& run) {
  return trial(run) ? 5 : 2 * (96 + 9 + 80);
}

ordered_json paper_batch(const PaperRun& run) {
  const BlasThreads one_thread(1);  // per call: the batch is what is distributed over threads
  ordered_json section = {{"figure", "Kurzak, Anzt, Gates & Dongarra (2016), figures 13 to 23"},
                          {"count", batch_count(run)},
                          {"isa", to_string(kernels::table().cap)}};
  ordered_json identities;
  for (const Format format : kFormats) {
    const std::string name(to_string(format));
    section[name]["sweep"] = sweep_section(run, format);
    section[name]["rates"] = rates_section(run, format, identities);
  }
  section["sides"] = identities;
  if (run.mkl) mkl().set_threads(run.threads);  // as in the other parts
  return section;
}

}  // namespace stepwell::bench

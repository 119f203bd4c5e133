// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/experiments/batch.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>
#include "batched/tuning.hpp"
#include "bench/harness/compete.hpp"
#include "bench/harness/guards.hpp"
#include "bench/harness/report.hpp"
#include "bench/problems/batch_problem.hpp"
#include "core/machine/threads.hpp"
#include "kernels/table.hpp"
#include "stepwell/error.hpp"

/// `bench batch`: many small systems at once, compared with a loop of LAPACK calls, with oneMKL's
/// compact routines and with the limit that memory bandwidth sets.
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

/// Adds the orders that a text such as "16" or "5..100" denotes. Returns false if the text is
/// invalid.
bool append_orders(std::string_view text, std::set<std::int64_t>& orders) {
  const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc() || stop != end || value < 1 || value > kBatchOrder) return {};
    return value;
  };
  const std::size_t dots = text.find("..");
  const auto first = number(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : number(text.substr(dots + 2));
  if (!first || !last || *last < *first) return false;
  for (std::int64_t n = *first; n <= *last; ++n) orders.insert(n);
  return true;
}

/// The measurements of one order.
struct BatchResult {
  Contest contest;
  ContestResult result;
  ordered_json details;
};

/// Rates and their ratio from the seconds of each round.
ContestResult result_of(const Contest& contest, const std::vector<double>& ours,
                        const std::vector<double>& theirs) {
  const auto side = [](const Side& s, const std::vector<double>& seconds) {
    std::vector<double> rates;
    for (const double t : seconds) rates.push_back(s.work / t * 1e-9);
    return SideResult{summarize(seconds).median, summarize(rates)};
  };
  std::vector<double> pairs;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    pairs.push_back(theirs[k] / ours[k] * contest.candidate.work / contest.baseline.work);
  }
  return {side(contest.candidate, ours), side(contest.baseline, theirs), summarize(pairs), pairs};
}

BatchResult measure_order(const BatchBenchRequest& r, std::int64_t n) {
  BatchCase c;
  c.n = n;
  c.count = r.count;
  c.columns = r.columns;
  c.format = r.type == "fp32" ? Format::fp32 : Format::fp64;
  c.operation = batch_operation(r.operation);
  c.layout = batch_layout(r.layout);
  c.triangle = r.uplo == "upper" ? Triangle::upper : Triangle::lower;
  c.both_triangles = r.both_triangles;
  c.mixed = r.mixed;
  c.fast = r.fast;
  c.threads = r.threads;
  const std::unique_ptr<BatchBench> bench = make_batch_bench(c);

  BatchResult b;
  b.contest.clock = Clock::wall;
  b.contest.rate_unit = "Gflop/s";
  b.contest.candidate = bench->ours(r.threads);
  if (r.against == "one-thread") {
    b.contest.baseline = bench->ours(1);
  } else if (r.against == "untuned") {
    BatchOptions plain;
    plain.tuning = batched::plain_tuning(kernels::table().cap);
    b.contest.baseline = bench->ours(r.threads, plain);
    b.contest.baseline.name += ", untuned";
  } else {
    b.contest.baseline = bench->baseline(r.against);
  }
  refuse_slow_blas(b.contest.baseline, r.allow_slow_blas);
  RotateOptions options;
  options.rounds = r.pairs;
  const auto seconds =
      rotate({b.contest.candidate, b.contest.baseline, bench->copy(), bench->in_place()},
             Clock::wall, options);
  b.result = result_of(b.contest, seconds[0], seconds[1]);

  const BatchBytes bytes = bench->bytes();
  const auto moved = static_cast<double>(bytes.read + bytes.written);
  const auto rate = [&](const std::vector<double>& s) {
    return rounded(moved / summarize(s).median * 1e-9);
  };
  const auto share = [&](const std::vector<double>& limit) {
    std::vector<double> shares;
    for (std::size_t k = 0; k < limit.size(); ++k) shares.push_back(limit[k] / seconds[0][k]);
    return rounded(summarize(shares).median);
  };
  const BatchTuning t = batch_tuning(n, c.format);
  b.details = {
      {"bytes", {{"read", bytes.read}, {"written", bytes.written}}},
      {"gigabytes_per_second", rate(seconds[0])},
      {"copy", {{"gigabytes_per_second", rate(seconds[2])}, {"share", share(seconds[2])}}},
      {"in_place", {{"gigabytes_per_second", rate(seconds[3])}, {"share", share(seconds[3])}}},
      {"error_in_u", rounded(bench->error(b.contest.candidate))},
      {"baseline_error_in_u", rounded(bench->error(b.contest.baseline))},
      {"fewest_threads", bench->fewest_threads()},
      {"tuning",
       {{"rows", t.rows}, {"cols", t.cols}, {"vectors", t.vectors}, {"prefetch", t.prefetch}}}};
  return b;
}

ordered_json request_json(const BatchBenchRequest& r) {
  return {{"bench", "batch"},         {"count", r.count},
          {"columns", r.columns},     {"type", r.type},
          {"operation", r.operation}, {"layout", r.layout},
          {"uplo", r.uplo},           {"both_triangles", r.both_triangles},
          {"mixed", r.mixed},         {"fast", r.fast},
          {"against", r.against}};
}

double number_at(const ordered_json& details, const char* key, const char* inner) {
  return details[key][inner].get<double>();
}

void print_one(const BatchBenchRequest& r, std::int64_t n, const BatchResult& b) {
  const ordered_json& d = b.details;
  fmt::print("{}", bench_text(fmt::format("batch {}, {}, n = {}, {} systems, {} column{}, {}, {}",
                                          r.operation, r.type, n, r.count, r.columns,
                                          r.columns == 1 ? "" : "s", r.layout, r.uplo),
                              b.contest, b.result));
  fmt::print("  memory    {:.1f} MB read, {:.1f} MB written, {:.3g} GB/s\n",
             number_at(d, "bytes", "read") * 1e-6, number_at(d, "bytes", "written") * 1e-6,
             d["gigabytes_per_second"].get<double>());
  fmt::print("  limit     {:.0f} % of a copy ({:.3g} GB/s), {:.0f} % of a pass in place ({:.3g})\n",
             100 * number_at(d, "copy", "share"), number_at(d, "copy", "gigabytes_per_second"),
             100 * number_at(d, "in_place", "share"),
             number_at(d, "in_place", "gigabytes_per_second"));
  fmt::print("  error     {:.3g} u, the baseline's {:.3g} u (the worst of the batch)\n",
             d["error_in_u"].get<double>(), d["baseline_error_in_u"].get<double>());
  const BatchTuning t = batch_tuning(n, r.type == "fp32" ? Format::fp32 : Format::fp64);
  fmt::print("  tuning    {}x{} in {} register{}, prefetch {}\n", t.rows, t.cols, t.vectors,
             t.vectors == 1 ? "" : "s", t.prefetch);
}

void print_head(const BatchBenchRequest& r) {
  fmt::print("batch {}, {}, {} systems, {} column{}, {}, {}, against {}\n", r.operation, r.type,
             r.count, r.columns, r.columns == 1 ? "" : "s", r.layout, r.uplo, r.against);
  fmt::print("{:>5}{:>10}{:>10}{:>10}{:>8}{:>8}{:>8}{:>8}{:>9}{:>9}{:>9}\n", "n", "ms", "Gflop/s",
             "baseline", "ratio", "p10", "GB/s", "copy", "in place", "error u", "theirs");
}

void print_row(std::int64_t n, const BatchResult& b) {
  const ordered_json& d = b.details;
  fmt::print(
      "{:>5}{:>10.3f}{:>10.2f}{:>10.2f}{:>8.2f}{:>8.2f}{:>8.1f}{:>7.0f}%{:>8.0f}%{:>9.2f}"
      "{:>9.2f}\n",
      n, b.result.candidate.seconds * 1e3, b.result.candidate.rate.median,
      b.result.baseline.rate.median, b.result.ratio.median, b.result.ratio.p10,
      d["gigabytes_per_second"].get<double>(), 100 * number_at(d, "copy", "share"),
      100 * number_at(d, "in_place", "share"), d["error_in_u"].get<double>(),
      d["baseline_error_in_u"].get<double>());
  std::fflush(stdout);
}

}  // namespace

std::vector<std::int64_t> orders_of(const std::string& text) {
  std::set<std::int64_t> orders;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    if (!append_orders(rest.substr(0, comma), orders)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--n '{}': orders are written '16', '5,8,16' or '5..100', each from "
                              "1 to {}",
                              text, kBatchOrder));
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return {orders.begin(), orders.end()};
}

const std::vector<std::string>& batch_baselines() {
  static const std::vector<std::string> names = {"lapack-loop", "mkl-loop", "mkl-compact",
                                                 "one-thread", "untuned"};
  return names;
}

std::string batch_bench_help() {
  return "Baselines: lapack-loop (a potrf and a potrs for each matrix, all threads over the "
         "batch),\n"
         "mkl-loop (oneMKL's, see --mkl), mkl-compact (its compact routines, packing included,\n"
         "chunks of the best size), one-thread, untuned (ours with a square register block, no\n"
         "prefetch). The times do not include restoring A and B between runs.\n"
         "Limits: 'copy' copies as many bytes as the cache lines of A's triangle and B have, from\n"
         "one half of as much memory to the other; 'in place' reads and writes as many in place.\n"
         "\nExamples:\n  stepwell bench batch --n 32 --type fp32\n"
         "  stepwell bench batch --n 5,8,16,24,32,48,64,96,100 --against mkl-compact\n";
}

void bench_batch(const BatchBenchRequest& asked) {
  BatchBenchRequest r = asked;
  if (r.threads == 0) r.threads = core::default_threads();
  if (r.mixed && (r.operation != "solve" || r.type != "fp64")) {
    throw Error(ErrorCode::invalid_argument,
                "--mixed needs --op solve and --type fp64: it refines x in fp64");
  }
  if (r.split) return bench_batch_split(r);
  const std::vector<std::int64_t> orders = orders_of(r.orders);
  const BlasThreads one_thread(1);  // per call: the batch is what is distributed over threads
  ordered_json cases = ordered_json::array();
  double logarithms = 0, least = INFINITY;
  if (!r.json && orders.size() > 1) print_head(r);
  for (const std::int64_t n : orders) {
    const BatchResult b = measure_order(r, n);
    logarithms += std::log(b.result.ratio.median);
    least = std::min(least, b.result.ratio.median);
    ordered_json what = request_json(r);
    what["n"] = n;
    ordered_json one = bench_json(std::move(what), b.contest, b.result);
    one.update(b.details);
    cases.push_back(std::move(one));
    if (r.json) continue;
    orders.size() == 1 ? print_one(r, n, b) : print_row(n, b);
  }
  const double mean = std::exp(logarithms / static_cast<double>(orders.size()));
  if (r.json && orders.size() == 1) {
    fmt::print("{}\n", pretty(cases[0]));
  } else if (r.json) {
    ordered_json all = request_json(r);
    all["geometric_mean"] = rounded(mean);
    all["least"] = rounded(least);
    all["cases"] = std::move(cases);
    fmt::print("{}\n", pretty(all));
  } else if (orders.size() > 1) {
    fmt::print("ratio: geometric mean {:.2f}, smallest {:.2f}\n", mean, least);
  }
}

}  // namespace stepwell::bench

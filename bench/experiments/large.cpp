// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/experiments/large.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/harness/compete.hpp"
#include "bench/harness/guards.hpp"
#include "bench/harness/report.hpp"
#include "core/machine/threads.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

struct LargeOp {
  std::string_view name;
  std::vector<std::string> baselines;
  LargeBench (*make)(const LargeRequest&);
};

const LargeOp& find_op(const std::string& name) {
  static const std::vector<LargeOp> ops = {
      {"factor", {"dpotrf", "spotrf", "mkl-dpotrf", "one-worker"}, make_factor_bench},
      {"syrk", {"dsyrk", "ssyrk", "one-worker"}, make_syrk_bench},
      {"trsm", {"dtrsm", "strsm", "one-worker"}, make_trsm_bench}};
  return *std::find_if(ops.begin(), ops.end(), [&](const LargeOp& op) { return op.name == name; });
}

/// Seconds by phase, summed over the workers; 'waiting' is the rest of workers x wall.
ordered_json phases_json(const PhaseTimes& t) {
  const double busy = t.load + t.update + t.diagonal + t.solve + t.reorder;
  return {{"wall", t.wall},     {"workers", t.workers},
          {"tasks", t.tasks},   {"load", t.load},
          {"update", t.update}, {"diagonal", t.diagonal},
          {"solve", t.solve},   {"reorder", t.reorder},
          {"norms", t.norms},   {"waiting", std::max(0.0, t.workers * t.wall - busy)}};
}

std::string phases_text(const PhaseTimes& t) {
  const double all = t.workers * t.wall;
  const auto share = [&](double s) { return 100 * s / all; };
  const double busy = t.load + t.update + t.diagonal + t.solve + t.reorder;
  return fmt::format(
      "  phases    update {:.1f} %, solve {:.1f} %, diagonal {:.1f} %, load {:.1f} %, reorder "
      "{:.1f} %, waiting {:.1f} %\n            of {} worker{} x {:.4g} s, {} tasks (last run)\n",
      share(t.update), share(t.solve), share(t.diagonal), share(t.load), share(t.reorder),
      share(all - busy), t.workers, t.workers == 1 ? "" : "s", t.wall, t.tasks);
}

std::string details_text(const ordered_json& details) {
  std::string text;
  for (const auto& [key, value] : details.items()) {
    text += fmt::format("  {:<10}{}\n", key,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

}  // namespace

std::string large_help(const std::string& op) {
  return fmt::format(
      "Baselines: {} (the default first). The libraries' routines run with as many threads;\n"
      "one-worker is the same operation on the calling thread alone{}.\n"
      "Maps: a rung (bf16, bf16x2, bf16x3, fp16, fp32, fp64, int8x14, int8x15), rungs by level of "
      "the recursion\n"
      "(bf16,bf16x2,fp32){}.\n\n"
      "Example:\n  stepwell bench {} --n 8192 --map bf16 --json",
      fmt::join(find_op(op).baselines, ", "),
      op == "factor" ? ",\nmap:<map> the same at another map, mkl-dpotrf that of oneMKL (--mkl)"
                     : "",
      op == "factor" ? ", or adaptive:<eps>" : "", op);
}

void bench_large(const std::string& name, const LargeRequest& asked) {
  const LargeOp& op = find_op(name);
  LargeRequest request = asked;
  if (request.against.empty()) request.against = op.baselines[0];
  const bool other_map = name == "factor" && request.against.starts_with(kAgainstMap);
  if (!other_map &&
      std::find(op.baselines.begin(), op.baselines.end(), request.against) == op.baselines.end()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("'{}' can't be compared with '{}'; the baselines are {}", name,
                            request.against, fmt::join(op.baselines, ", ")));
  }
  if (request.k == 0) request.k = request.n;
  if (request.threads == 0) request.threads = core::default_threads();
  const BlasThreads blas_threads(request.threads);
  const LargeBench bench = op.make(request);
  Contest contest;
  contest.clock = Clock::wall;
  contest.rate_unit = "Gflop/s";
  contest.candidate = bench.candidate(request.map);
  contest.baseline = bench.baseline(request.against);
  const ContestResult result = compete(contest, request.pairs, request.allow_slow_blas);
  const PhaseTimes times = bench.times();
  const ordered_json details = bench.details();
  if (request.json) {
    ordered_json what = {{"bench", name},
                         {"n", request.n},
                         {"k", request.k},
                         {"map", request.map},
                         {"against", request.against}};
    if (name == "factor") what.erase("k");
    what = bench_json(std::move(what), contest, result);
    what["phases"] = phases_json(times);
    what.update(details);
    fmt::print("{}\n", pretty(what));
    return;
  }
  const std::string title = fmt::format("{} {}, n = {}", name, request.map, request.n);
  fmt::print("{}{}{}", bench_text(title, contest, result), phases_text(times),
             details_text(details));
}

}  // namespace stepwell::bench

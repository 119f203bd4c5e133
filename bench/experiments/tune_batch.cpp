// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/experiments/tune_batch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include "batched/tuning.hpp"
#include "bench/experiments/batch.hpp"
#include "bench/experiments/batch_sweep.hpp"
#include "bench/harness/report.hpp"
#include "core/machine/threads.hpp"
#include "io/sink.hpp"
#include "kernels/table.hpp"
#include "options/verb.hpp"
#include "stepwell/error.hpp"
#include "stepwell/machine.hpp"

namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

struct TuneBatchRequest {
  std::string orders = "5..100";
  std::string type = "both";
  std::int64_t count = 10000;
  int threads = 0;
  bool dry_run = false;
  bool json = false;
};

/// A gain below this is noise: the shipped choice stays.
constexpr double kLeastGain = 1.01;

void announce(const std::string& what) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K{} ", what);
}

std::string text_of(const BatchTuning& t) {
  return fmt::format("{}x{} {} {}", t.rows, t.cols, t.vectors, t.prefetch);
}

/// The path of the saved table. Checks that it can be written before the work starts.
std::string place_to_keep() {
  const std::string path = batched::tuning_path();
  if (path.empty()) {
    throw Error(ErrorCode::cannot_open,
                "there is no directory for the tuning: set HOME or XDG_CACHE_HOME, and not "
                "STEPWELL_BATCH_TUNING=off; or measure with --dry-run");
  }
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  { const io::Sink probe(path); }  // reports what is wrong with the directory
  return path;
}

BatchCase case_of(const TuneBatchRequest& r, std::int64_t n, Format format) {
  BatchCase c;
  c.n = n;
  c.format = format;
  c.count = sweep_count(n, format, r.count);
  c.threads = r.threads;
  return c;
}

std::vector<OrderSweep> sweep_all(const TuneBatchRequest& r) {
  const std::vector<std::int64_t> orders = orders_of(r.orders);
  std::vector<OrderSweep> sweeps;
  for (const Format format : {Format::fp32, Format::fp64}) {
    if (r.type != "both" && r.type != to_string(format)) continue;
    fmt::print(stderr, "measuring {} variants, {}, {} orders\n", batch_tunings(format).size(),
               to_string(format), orders.size());
    for (const std::int64_t n : orders) {
      announce(fmt::format("{}, n = {}", to_string(format), n));
      sweeps.push_back(sweep_order(case_of(r, n, format)));
    }
  }
  announce("");
  // Measures the best variants again, because the machine may have been busy with something else.
  fmt::print(stderr, "measuring the best variants again\n");
  for (OrderSweep& s : sweeps) {
    announce(fmt::format("{}, n = {}", to_string(s.format), s.n));
    sweep_again(case_of(r, s.n, s.format), s);
  }
  announce("");
  return sweeps;
}

ordered_json sweep_json(const OrderSweep& s) {
  ordered_json variants = ordered_json::array();
  for (const VariantRuns& v : s.variants) {
    variants.push_back({v.tuning.rows, v.tuning.cols, v.tuning.vectors, v.tuning.prefetch,
                        v.seconds.size(), rounded(s.rate(v))});
  }
  return {{"type", to_string(s.format)},
          {"n", s.n},
          {"count", s.count},
          {"best", text_of(s.best().tuning)},
          {"gain", rounded(s.plain().median() / s.best().median())},
          {"variants", variants}};
}

void print_table(const std::vector<OrderSweep>& sweeps) {
  fmt::print("{:<6}{:>5}{:>10}  {:<14}{:>10}{:>10}{:>8}\n", "type", "n", "systems", "best",
             "Gflop/s", "plain", "gain");
  double logarithms = 0;
  for (const OrderSweep& s : sweeps) {
    const double gain = s.plain().median() / s.best().median();
    logarithms += std::log(gain);
    fmt::print("{:<6}{:>5}{:>10}  {:<14}{:>10.2f}{:>10.2f}{:>8.3f}\n", to_string(s.format), s.n,
               s.count, text_of(s.best().tuning), s.rate(s.best()), s.rate(s.plain()), gain);
  }
  fmt::print(
      "best: rows x columns of the register block, registers, prefetch; gain over {}: {:.3f} "
      "as geometric mean\n",
      text_of(batched::plain_tuning(kernels::table().cap)),
      std::exp(logarithms / static_cast<double>(sweeps.size())));
}

/// The previous table, updated with the fastest variants.
batched::TuningTable updated(const std::vector<OrderSweep>& sweeps) {
  const core::Isa isa = kernels::table().cap;
  batched::TuningTable table = batched::load_tuning_table(isa);
  const batched::TuningTable shipped = batched::shipped_table(isa);
  for (const OrderSweep& s : sweeps) {
    const BatchTuning before = shipped.at(s.n, s.format);
    BatchTuning& now = table.at(s.n, s.format);
    now = s.best().tuning;
    for (const VariantRuns& v : s.variants) {
      const bool measured_as_often = v.seconds.size() == s.best().seconds.size();
      if (v.tuning == before && measured_as_often &&
          !(v.median() > kLeastGain * s.best().median())) {
        now = before;
      }
    }
  }
  return table;
}

void tune_batch(const TuneBatchRequest& asked) {
  TuneBatchRequest r = asked;
  if (r.threads == 0) r.threads = core::default_threads();
  orders_of(r.orders);  // checks the orders before the work
  const std::string path = r.dry_run ? "" : place_to_keep();
  const std::vector<OrderSweep> sweeps = sweep_all(r);
  if (!r.dry_run) {
    io::Sink sink(path);
    sink.write(batched::to_text(updated(sweeps), kernels::table().cap));
    sink.commit();
  }
  if (!r.json) {
    print_table(sweeps);
    if (!r.dry_run) fmt::print("saved in {}; batches use it from now on\n", path);
    return;
  }
  const MachineReport machine = describe_machine();
  ordered_json out = {{"tune", "batch"},
                      {"cpu_model", machine.cpu_model},
                      {"isa", machine.isa},
                      {"threads", r.threads},
                      {"plain", text_of(batched::plain_tuning(kernels::table().cap))},
                      {"variant", "[rows, columns, registers, prefetch, runs, Gflop/s]"},
                      {"kept_in", path},
                      {"orders", ordered_json::array()}};
  for (const OrderSweep& s : sweeps) out["orders"].push_back(sweep_json(s));
  fmt::print("{}\n", pretty(out));
}

}  // namespace

void add_tune_batch(tool::Verb tune) {
  const tool::Verb verb = tune.add_subcommand("batch", "Find the fastest kernels for batches");
  const auto r = std::make_shared<TuneBatchRequest>();
  verb.add_option("--n", r->orders, "Orders of the matrices: 5..100, or 8,16,32")
      .capture_default_str();
  verb.add_option("--type", r->type, "Format of the elements")
      .check(tool::OneOf{"both", "fp32", "fp64"})
      .capture_default_str();
  verb.add_option("--count", r->count, "Maximum number of systems in a run")
      .check(tool::Range(std::int64_t{1}, std::int64_t{1} << 31))
      .capture_default_str();
  verb.add_option("--threads", r->threads, "Threads; default: as many as the process may use")
      .check(tool::Range(1, 1024));
  verb.add_flag("--dry-run", r->dry_run, "Measure without saving the result");
  verb.add_flag("--json", r->json, "Print one JSON object with all measurements");
  verb.callback([r] { tune_batch(*r); });
  verb.footer(
      "It takes five minutes. The result is saved in stepwell/batch.txt below $XDG_CACHE_HOME or\n"
      "~/.cache, or in the file that STEPWELL_BATCH_TUNING names; STEPWELL_BATCH_TUNING=off uses\n"
      "the shipped choices. A choice changes the time of a batch, never its bits.\n"
      "\nExamples:\n  stepwell tune batch\n  stepwell tune batch --n 12 --type fp64 --dry-run");
}

}  // namespace stepwell::bench

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include "bench/experiments/large.hpp"
#include "bench/papers/paper.hpp"
#include "stepwell/error.hpp"

/// `bench paper`, part layers: speed and accuracy of precision maps by level of the recursion
/// (Carrica et al., Figs. 4 to 8 and 10), their fp16 maps and the bf16 analogues.
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;
using Maps = std::vector<std::string>;

struct Operation {
  const char* name;
  const char* against;
  LargeBench (*make)(const LargeRequest&);
  std::int64_t largest;
  double work;  ///< flops, divided by n^3/3
  Maps maps;
};

/// Longest time of a run in seconds. Slower maps are left out, because there are many.
constexpr double kLongest = 8;

/// The errors take n^3/3 FP64 flops per map and are computed up to this order.
constexpr std::int64_t kLargestError = 8192;

const std::vector<Operation>& operations() {
  static const Maps level3 = {"fp64",   "fp32",           "fp16",
                              "bf16",   "fp16,fp16,fp32", "fp16,fp16,fp16,fp16,fp32",
                              "bf16x2", "bf16,bf16,fp32", "bf16,bf16,bf16,bf16,fp32"};
  static const std::vector<Operation> list = {
      {"factor",
       "dpotrf",
       make_factor_bench,
       16384,
       1,
       {"fp64", "fp32,fp32,fp32,fp64", "fp32", "fp16,fp32", "fp16,fp16,fp16,fp32",
        "fp16,fp16,fp16,fp16,fp16,fp32", "fp16", "bf16x3", "bf16x2,bf16x3",
        "bf16x2,bf16x2,bf16x2,bf16x3", "bf16x2", "bf16,fp32", "bf16,bf16,bf16,fp32",
        "bf16,bf16,bf16,bf16,bf16,fp32", "bf16"}},
      {"syrk", "dsyrk", make_syrk_bench, 8192, 3, level3},
      {"trsm", "dtrsm", make_trsm_bench, 8192, 3, level3}};
  return list;
}

double cost_at(const PaperRun& run, const Operation& op, std::int64_t n) {
  double seconds = op.work * guess(n, "fp64") * run.runs(n);
  for (const std::string& map : op.maps) {
    const double once = op.work * guess(n, map);
    if (once <= kLongest) seconds += once * (run.runs(n) + 1);
  }
  if (op.largest > kLargestError && n <= kLargestError) {
    seconds += 1.2 * static_cast<double>(op.maps.size()) * guess(n, "fp64");
  }
  return seconds;
}

void measure_size(const PaperRun& run, const Operation& op, std::int64_t n, Budget& budget,
                  ordered_json& section) {
  LargeRequest request;
  request.n = request.k = n;
  request.threads = run.threads;
  request.against = op.against;
  request.map = "fp64";  // of the factor in the baseline of trsm
  request.errors = n <= kLargestError;
  const LargeBench bench = op.make(request);
  std::vector<Side> sides = {bench.baseline(op.against)};
  std::vector<ordered_json> cases;
  for (const std::string& map : op.maps) {
    if (!budget.allows(fmt::format("{} {}", op.name, map), n)) continue;
    sides.push_back(bench.candidate(map));
    cases.push_back({{"bench", op.name}, {"map", map}, {"n", n}});
    if (bench.errors && request.errors) cases.back()["error"] = bench.errors();
  }
  const std::vector<Timing> timings = measure(run, n, sides);
  section["sides"][op.against] = identity_json(timings[0].side);
  section["baselines"].push_back(case_json({{"baseline", op.against}, {"n", n}}, timings[0], {}));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Timing& ours = timings[i + 1];
    budget.record(fmt::format("{} {}", op.name, cases[i]["map"].get<std::string>()), n,
                  ours.seconds);
    section["sides"][op.name] = identity_json(ours.side);
    section["cases"].push_back(case_json(cases[i], ours, {{op.against, timings[0]}}));
  }
}

ordered_json published() {
  const char* const h200 = "H200 against cuBLAS or cuSOLVER FP64, n = 65,536";
  return {{{"bench", "syrk"}, {"map", "fp64"}, {"ratio", 14}, {"where", "Sect. IV-B a, Fig. 4"}},
          {{"bench", "syrk"}, {"map", "fp16"}, {"ratio", 149}, {"where", "Sect. IV-B a, Fig. 4"}},
          {{"bench", "syrk"},
           {"map", "fp16,fp16,fp32"},
           {"ratio", 19},
           {"where", "Sect. IV-B a, Fig. 4"}},
          {{"bench", "syrk"},
           {"map", "fp16,fp16,fp16,fp16,fp32"},
           {"ratio", 27},
           {"where", "Sect. IV-B a, Fig. 4"}},
          {{"bench", "trsm"}, {"map", "fp16"}, {"ratio", 6}, {"where", "Sect. IV-B b, Fig. 5"}},
          {{"bench", "trsm"},
           {"map", "fp16,fp16,fp16,fp16,fp32"},
           {"ratio", 5.3},
           {"where", "Sect. IV-B b, Fig. 5"}},
          {{"bench", "factor"},
           {"map", "fp16,fp16,fp16,fp32"},
           {"ratio", 4},
           {"where", "Sect. IV-B d, Fig. 7: 'over 4x'"}},
          {{"bench", "factor"},
           {"map", "fp16,fp16,fp16,fp16,fp16,fp32"},
           {"ratio", 5.32},
           {"where", "Sect. IV-D, Fig. 10"}},
          {{"bench", "factor"},
           {"map", "fp16"},
           {"ratio", 6},
           {"where", "Sect. IV-B d, Fig. 7: 'nearly 6x'"}},
          {{"machine", h200}}};
}

/// Digits of the factor: -log10 of the relative error.
ordered_json published_digits() {
  return {{{"map", "fp64"}, {"digits", "more than 15"}},
          {{"map", "fp32,fp32,fp32,fp64"}, {"digits", "about 12"}},
          {{"map", "fp32"}, {"digits", "about 8"}},
          {{"map", "fp16,fp32"}, {"digits", "7 to 8"}},
          {{"map", "fp16,fp16,fp16,fp32"}, {"digits", "5 to 6"}},
          {{"map", "fp16,fp16,fp16,fp16,fp16,fp32"}, {"digits", "5 to 6"}},
          {{"map", "fp16"}, {"digits", "below 4"}}};
}

}  // namespace

double layers_cost(const PaperRun& run) {
  double seconds = 0;
  for (const Operation& op : operations()) {
    for (const std::int64_t n : run.sizes) {
      if (n <= op.largest) seconds += cost_at(run, op, n);
    }
  }
  return seconds;
}

ordered_json paper_layers(const PaperRun& run) {
  ordered_json section = {{"figure", "Carrica et al. (2026), Figs. 4 to 8 and 10"},
                          {"matrix", "uniform random elements, n on the diagonal"},
                          {"paper", published()},
                          {"paper_digits", published_digits()},
                          {"sides", ordered_json::object()},
                          {"baselines", ordered_json::array()},
                          {"cases", ordered_json::array()}};
  Budget budget(*run.progress, kLongest);
  for (const Operation& op : operations()) {
    for (const std::int64_t n : run.sizes) {
      if (n > op.largest) {
        budget.skip(fmt::format("{} at n = {}", op.name, n),
                    fmt::format("measured up to {}, to keep the run short", op.largest));
        continue;
      }
      run.progress->begin(fmt::format("layers, {}, n = {}", op.name, n), cost_at(run, op, n));
      try {
        measure_size(run, op, n, budget, section);
      } catch (const Error& e) {
        if (e.code() != ErrorCode::out_of_memory) throw;
        budget.skip(fmt::format("{} at n = {}", op.name, n), e.what());
      }
    }
  }
  section["skipped"] = budget.skipped();
  return section;
}

}  // namespace stepwell::bench

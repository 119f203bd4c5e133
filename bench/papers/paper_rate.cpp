// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include "bench/experiments/large.hpp"
#include "bench/harness/data.hpp"
#include "bench/kernels/kernel.hpp"
#include "bench/papers/paper.hpp"
#include "kernels/table.hpp"
#include "stepwell/error.hpp"
#include "stepwell/factor.hpp"

/// `bench paper`, part rate: the factorization at each rung by size, compared with LAPACK's and
/// with the bare matrix engine as its upper limit (Abdelfattah et al., Fig. 2).
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

/// Products on each thread: about 20 ms if the engine has the core to itself.
constexpr std::int64_t kBareProducts = 3'000'000;

bool has_engine() {
  return kernels::table().update_at(Rung::bf16).isa == core::Isa::amx;
}

/// Above this order only dpotrf is measured, to keep the run short.
constexpr std::int64_t kAllBaselines = 24000;

std::vector<std::string> baseline_names(const PaperRun& run, std::int64_t n) {
  std::vector<std::string> names = {"dpotrf"};
  if (n > kAllBaselines) return names;
  names.emplace_back("spotrf");
  if (run.mkl) names.emplace_back("mkl-dpotrf");
  return names;
}

double cost_at(const PaperRun& run, std::int64_t n) {
  double seconds = 0;
  for (const Rung rung : mixable_rungs) {
    const double once = guess(n, std::string(to_string(rung)));
    if (once <= kLongestRun) seconds += once * (run.runs(n) + 1);
  }
  for (const std::string& name : baseline_names(run, n)) {
    seconds += guess(n, name == "spotrf" ? "fp32" : "fp64") * run.runs(n);
  }
  return seconds;
}

ordered_json measure_size(const PaperRun& run, std::int64_t n, Budget& budget,
                          ordered_json& section) {
  LargeRequest request;
  request.n = n;
  request.threads = run.threads;
  request.against = "dpotrf";
  const LargeBench bench = make_factor_bench(request);
  std::vector<Side> sides;
  std::vector<std::string> names = baseline_names(run, n);
  for (const std::string& name : names) sides.push_back(bench.baseline(name));
  if (has_engine()) {
    names.emplace_back("raw");
    sides.push_back(engine_loop(kBareProducts, false, run.threads));
  }
  const std::size_t baselines = sides.size();
  std::vector<std::string> rungs;
  for (const Rung rung : mixable_rungs) {
    const std::string name(to_string(rung));
    if (!budget.allows(name, n)) continue;
    rungs.push_back(name);
    sides.push_back(bench.candidate(name));
  }
  const std::vector<Timing> timings = measure(run, n, sides);
  std::map<std::string, Timing> theirs;
  for (std::size_t i = 0; i < baselines; ++i) {
    theirs[names[i]] = timings[i];
    section["sides"][names[i]] = identity_json(timings[i].side);
    section["baselines"].push_back(case_json({{"baseline", names[i]}, {"n", n}}, timings[i], {}));
  }
  ordered_json cases = ordered_json::array();
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const Timing& ours = timings[baselines + i];
    budget.record(rungs[i], n, ours.seconds);
    section["sides"]["cholesky"] = identity_json(ours.side);
    cases.push_back(case_json({{"bench", "factor"}, {"map", rungs[i]}, {"n", n}}, ours, theirs));
  }
  return cases;
}

}  // namespace

double rate_cost(const PaperRun& run) {
  double seconds = 0;
  for (const std::int64_t n : run.sizes) seconds += cost_at(run, n);
  return seconds;
}

ordered_json paper_rate(const PaperRun& run) {
  ordered_json section = {
      {"figure", "Abdelfattah et al. (2020), Fig. 2"},
      {"matrix", "uniform random elements, n on the diagonal"},
      {"counts", "n^3/3 flop for every rung; 'raw': the bf16 products of the bare matrix engine"},
      {"paper",
       {{{"what", "fp16 products on tensor cores against dpotrf, V100"},
         {"ratio", 6},
         {"where", "Sect. 4: 'approaches ... 6x compared to double precision'"}},
        {{"what", "the same against spotrf"},
         {"ratio", 3},
         {"where", "Sect. 4: 'approaches 3x against single precision'"}}}},
      {"sides", ordered_json::object()},
      {"baselines", ordered_json::array()},
      {"cases", ordered_json::array()}};
  Budget budget(*run.progress);
  if (!has_engine())
    budget.skip("the bare matrix engine", "there is no usable matrix engine on this machine");
  for (const std::int64_t n : run.sizes) {
    run.progress->begin(fmt::format("rate, n = {}", n), cost_at(run, n));
    try {
      if (n > kAllBaselines) {
        budget.skip(fmt::format("spotrf and oneMKL at n = {}", n), "to keep the run short");
      }
      for (const ordered_json& c : measure_size(run, n, budget, section)) {
        section["cases"].push_back(c);
      }
    } catch (const Error& e) {
      if (e.code() != ErrorCode::out_of_memory) throw;
      budget.skip(fmt::format("n = {}", n), e.what());
    }
  }
  section["skipped"] = budget.skipped();
  return section;
}

}  // namespace stepwell::bench

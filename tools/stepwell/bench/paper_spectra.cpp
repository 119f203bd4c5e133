// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "data.hpp"
#include "memory.hpp"
#include "paper.hpp"
#include "report.hpp"
#include "stepwell/error.hpp"
#include "system.hpp"

/// `bench paper`, part spectra: solves of matrices with given eigenvalues against LAPACK by size
/// (Abdelfattah et al., Figs. 4 to 7), and two kinds that users have.
namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

struct Spectrum {
  const char* figure;
  const char* kind;
  double condition;
  bool condition_in_text;     ///< false: only the plot's caption has it, and ours is a choice
  double ratio, mixed_ratio;  ///< the paper's, against dposv and dsposv; 0: none
  const char* iterations;
  const char* where;
};

constexpr Spectrum kSpectra[] = {
    {"Fig. 4a", "arithmetic", 1e2, false, 4.7, 2.7, "3 at most", "Sect. 7, text"},
    {"Fig. 4b", "arithmetic", 1e4, false, 4.0, 2.3, "7 to 8", "Sect. 7, text"},
    {"Fig. 5a", "clustered", 1e2, false, 4.5, 2.6, "3 to 4", "Sect. 7, text"},
    {"Fig. 5b", "clustered", 1e8, true, 4.4, 0, "5", "Sect. 7, text; dsposv does not converge"},
    {"Fig. 6a", "logarithmic", 1e5, false, 2.5, 1.56, "27", "Sect. 7, text"},
    {"Fig. 6b", "geometric", 1.7e5, true, 2.3, 1.46, "32", "Sect. 7, text"},
    {"Fig. 7", "custom-clustered", 1e4, true, 3.3, 1.96, "15 to 16", "Sect. 7, text"},
    {"", "matern", 0, true, 0, 0, "", "not in the paper: a covariance, length 0.3, nugget 1e-4"},
    {"", "dominant", 0, true, 0, 0, "", "not in the paper: random numbers, n on the diagonal"},
};

/// From here on a LAPACK run takes so long that it is measured beside the first matrix only.
constexpr std::int64_t kShared = 12000;
/// dsposv's time depends on the matrix: measured up to here, to keep the run short.
constexpr std::int64_t kLargestMixed = 12000;
constexpr std::int64_t kLargestCondition = 24000;

SolveRequest request_of(const PaperRun& run, const Spectrum& spectrum, std::int64_t n) {
  SolveRequest request;
  request.n = n;
  request.kind = spectrum.kind;
  if (spectrum.condition > 0) request.condition = spectrum.condition;
  request.length = 0.3;
  request.nugget = 1e-4;
  request.threads = run.threads;
  return request;
}

double cost_at(const PaperRun& run, std::int64_t n, bool first) {
  const bool lapack = n < kShared || first;
  double seconds = 0.6 * guess(n, "bf16x2");
  if (lapack) seconds += guess(n, "fp64") * (run.mkl ? 2 : 1);
  if (n <= kLargestMixed) seconds += 1.3 * guess(n, "fp32");
  const auto d = static_cast<double>(n);
  return seconds * run.runs(n) + 2e-8 * d * d;  // and making the matrix, looking at the answer
}

ordered_json path_json(const Certificate& c) {
  ordered_json left = ordered_json::array();
  for (const RungAttempt& r : c.rungs) {
    if (!r.reason.empty()) left.push_back({{"map", r.map}, {"because", r.reason}});
  }
  return {{"map", c.map},
          {"refiner", c.refiner},
          {"iterations", c.iterations},
          {"shift", c.shift},
          {"left", left},
          {"seconds",
           {{"survey", rounded(c.times.survey)},
            {"factor", rounded(c.times.factor)},
            {"refine", rounded(c.times.refine)}}}};
}

/// LAPACK's routines that do not depend on the matrix, once for a size. Empty where each case has
/// its own.
using Shared = std::map<std::string, Timing>;

ordered_json measure_case(const PaperRun& run, const Spectrum& spectrum, std::int64_t n,
                          Shared& shared, ordered_json& section) {
  const SolveRequest request = request_of(run, spectrum, n);
  const auto s = std::make_shared<System>(request);
  const auto room = std::make_shared<LapackRoom>();
  std::vector<std::string> names;
  if (shared.empty()) {
    names.emplace_back("dposv");
    if (run.mkl) names.emplace_back("mkl-dposv");
  }
  if (n <= kLargestMixed) names.emplace_back("dsposv");
  std::vector<Side> sides = {solver_side(s)};
  for (const std::string& name : names) sides.push_back(lapack_side(s, room, name));
  const std::vector<Timing> timings = measure(run, n, sides);

  std::map<std::string, Timing> theirs = shared;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Timing& timing = timings[i + 1];
    theirs[names[i]] = timing;
    section["sides"][names[i]] = identity_json(timing.side);
    if (n >= kShared && names[i] != "dsposv") shared[names[i]] = timing;
    section["baselines"].push_back(case_json({{"baseline", names[i]},
                                              {"kind", spectrum.kind},
                                              {"condition", spectrum.condition},
                                              {"n", n}},
                                             timing, {}));
  }
  section["sides"]["solve_spd"] = identity_json(timings[0].side);
  ordered_json c = {{"bench", "solve"}, {"figure", spectrum.figure}, {"kind", spectrum.kind}};
  c["condition"] = spectrum.condition;
  c["n"] = n;
  c = case_json(std::move(c), timings[0], theirs);
  c["path"] = path_json(s->last);
  c["backward_error"] = rounded(backward_error(*s, s->x.data()));
  c["tolerance"] = rounded(s->last.tolerance);
  if (n <= kLargestCondition) {
    s->options.condition = true;
    c["condition_inf"] = rounded(s->solve(s->context, 1).condition);
  }
  return c;
}

ordered_json published() {
  ordered_json list = ordered_json::array();
  for (const Spectrum& s : kSpectra) {
    ordered_json row = {{"figure", s.figure}, {"kind", s.kind}, {"condition", s.condition}};
    if (s.ratio > 0) row["dposv"] = s.ratio;
    if (s.mixed_ratio > 0) row["dsposv"] = s.mixed_ratio;
    row["iterations"] = s.iterations;
    row["where"] = s.where;
    row["condition_from"] =
        s.condition_in_text ? "the text" : "our choice: the text does not give it, only the plot";
    list.push_back(row);
  }
  return list;
}

}  // namespace

double spectra_cost(const PaperRun& run) {
  double seconds = 0;
  for (const std::int64_t n : run.sizes) {
    for (const Spectrum& s : kSpectra) seconds += cost_at(run, n, &s == kSpectra);
  }
  return seconds;
}

ordered_json paper_spectra(const PaperRun& run) {
  ordered_json section = {
      {"figure", "Abdelfattah et al. (2020), Figs. 4 to 7"},
      {"paper_machine", "V100 GPU; ratios are asymptotic, of the largest matrices (n to 42,000)"},
      {"paper", published()},
      {"note", fmt::format("dposv does not depend on the spectrum: from n = {} on it is measured "
                           "beside the first matrix of a size only, and ratios are to its median; "
                           "dsposv depends on it and is measured to n = {}; condition_inf is an "
                           "estimate",
                           kShared, kLargestMixed)},
      {"sides", ordered_json::object()},
      {"baselines", ordered_json::array()},
      {"cases", ordered_json::array()}};
  Budget budget(*run.progress);
  for (const std::int64_t n : run.sizes) {
    Shared shared;
    for (const Spectrum& s : kSpectra) {
      const std::string condition = s.condition > 0 ? fmt::format(" {:g}", s.condition) : "";
      const std::string what = fmt::format("spectra, {}{}, n = {}", s.kind, condition, n);
      run.progress->begin(what, cost_at(run, n, &s == kSpectra));
      try {
        require_memory(system_bytes(n, n <= kLargestMixed ? "dsposv" : "dposv"));
        section["cases"].push_back(measure_case(run, s, n, shared, section));
      } catch (const Error& e) {
        if (e.code() != ErrorCode::out_of_memory && e.code() != ErrorCode::unsupported) throw;
        budget.skip(what, e.what());
      }
    }
  }
  section["skipped"] = budget.skipped();
  return section;
}

}  // namespace stepwell::tool

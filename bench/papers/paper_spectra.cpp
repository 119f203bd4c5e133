// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include "bench/harness/report.hpp"
#include "bench/papers/paper_solve.hpp"

/// `bench paper`, part spectra: solves of matrices with given eigenvalues against LAPACK by size
/// (Abdelfattah et al., Figs. 4 to 7), and of two kinds of matrices that users have.
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

struct Spectrum {
  const char* figure;
  const char* kind;
  double condition;
  bool condition_in_text;     ///< false: only in the plot's caption; ours is a choice
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
    {"", "dominant", 0, true, 0, 0, "", "not in the paper: random elements, n on the diagonal"},
};

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

ordered_json measure_case(const PaperRun& run, const Spectrum& spectrum, std::int64_t n,
                          Shared& shared, ordered_json& section) {
  const auto s = std::make_shared<System>(request_of(run, spectrum, n));
  ordered_json c = measure_solve(run,
                                 {{"bench", "solve"},
                                  {"figure", spectrum.figure},
                                  {"kind", spectrum.kind},
                                  {"condition", spectrum.condition},
                                  {"n", n}},
                                 s, shared, section);
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
    for (const Spectrum& s : kSpectra) seconds += solve_cost(run, n, &s == kSpectra, false);
  }
  return seconds;
}

ordered_json paper_spectra(const PaperRun& run) {
  ordered_json section = {
      {"figure", "Abdelfattah et al. (2020), Figs. 4 to 7"},
      {"paper_machine", "V100 GPU; ratios are asymptotic, of the largest matrices (n to 42,000)"},
      {"paper", published()},
      {"note", fmt::format("dposv does not depend on the spectrum: from n = {} on it is measured "
                           "only with the first matrix of a size, and ratios are to its median; "
                           "dsposv depends on it and is measured to n = {}; condition_inf is an "
                           "estimate",
                           kSharedFrom, kLargestMixed)},
      {"sides", ordered_json::object()},
      {"baselines", ordered_json::array()},
      {"cases", ordered_json::array()}};
  Budget budget(*run.progress);
  for (const std::int64_t n : run.sizes) {
    Shared shared;
    for (const Spectrum& s : kSpectra) {
      const std::string condition = s.condition > 0 ? fmt::format(" {:g}", s.condition) : "";
      const std::string what = fmt::format("spectra, {}{}, n = {}", s.kind, condition, n);
      run.progress->begin(what, solve_cost(run, n, &s == kSpectra, false));
      add_case(budget, what, section, system_bytes(n, n <= kLargestMixed ? "dsposv" : "dposv"),
               [&] { return measure_case(run, s, n, shared, section); });
    }
  }
  section["skipped"] = budget.skipped();
  return section;
}

}  // namespace stepwell::bench

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>
#include "bench/harness/report.hpp"
#include "bench/papers/paper_model.hpp"
#include "bench/papers/paper_solve.hpp"
#include "gallery/recipe.hpp"

/// `bench paper`, part general: Haidar et al. (2017), Fig. 3, convergence of four refiners with a
/// low-precision LU factor, and Fig. 4, solves against LAPACK by size, with the prediction of the
/// paper's performance model.
namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kPaperOrder = 10240;
constexpr double kCondition = 1e2;
constexpr int kIterations = 300;  // the paper's limit

struct Type {
  const char* letter;  ///< of the paper's Figs. 3 and 4
  const char* kind;
  const char* iterations;     ///< the paper's, with FP16 factors; from the text of Sect. 5
  double ratio, mixed_ratio;  ///< the paper's dhgesv and dsgesv against dgesv; 0: it fails
};

constexpr Type kTypes[] = {
    {"a", "general-dominant", "every method within 5", 3, 1.8},
    {"b", "positive-logarithmic", "GMRES and IR(GMRES) fastest", 2.6, 1.7},
    {"c", "positive-clustered", "GMRES 7, IR very slow", 2.6, 1.7},
    {"d", "general-clustered", "GMRES 24, the others about 30", 0, 1.7},
    {"e", "positive-arithmetic", "GMRES 6", 2.7, 1.7},
    {"f", "general-arithmetic", "GMRES about 200, IR(GMRES) 900", 0, 1.7},
};

// bf16x3 stands for the paper's FP32: its products have the accuracy of fp32.
constexpr const char* kMaps[] = {"bf16", "bf16x3"};
// The paper's GM is flexible GMRES.
constexpr const char* kRefiners[] = {"ir", "gmres", "fgmres", "ir(gmres)", "gmres(gmres)"};

SolveRequest request_of(const PaperRun& run, const Type& type, std::int64_t n) {
  SolveRequest request;
  request.n = n;
  request.kind = type.kind;
  request.condition = kCondition;
  request.threads = run.threads;
  return request;
}

std::int64_t history_order(const PaperRun& run) {
  return std::min(run.max_n, kPaperOrder);
}

double history_cost(const PaperRun& run) {
  const auto n = static_cast<double>(history_order(run));
  return 10 * (2 * guess(history_order(run), "bf16x2") + 60 * 12 * n * n / 20e9);
}

void add_histories(const PaperRun& run, const Type& type, ordered_json& section, Budget& budget) {
  const std::int64_t n = history_order(run);
  const std::string what = fmt::format("general, histories of {}, n = {}", type.kind, n);
  run.progress->begin(what, history_cost(run));
  if (!fits(budget, what, system_bytes(n, "one-worker", true))) return;
  System s(request_of(run, type, n));
  for (const char* const map : kMaps) {
    for (const char* const refiner : kRefiners) {
      ordered_json h = {{"kind", type.kind}, {"condition", kCondition}};
      h.update(refinement_history(s, map, refiner, kIterations));
      section["histories"].push_back(h);
    }
  }
}

ordered_json measure_case(const PaperRun& run, const Type& type, std::int64_t n,
                          const LuModel& model, Shared& shared, ordered_json& section) {
  const auto s = std::make_shared<System>(request_of(run, type, n));
  ordered_json c = measure_solve(run,
                                 {{"bench", "solve"},
                                  {"figure", std::string("Fig. 4") + type.letter},
                                  {"kind", type.kind},
                                  {"condition", kCondition},
                                  {"n", n}},
                                 s, shared, section);
  c["growth"] = rounded(s->last.factor.growth);
  c["predicted_seconds"] = rounded(model.seconds(s->last));
  return c;
}

ordered_json published() {
  ordered_json list = ordered_json::array();
  for (const Type& t : kTypes) {
    ordered_json row = {{"figure", std::string("Fig. 3") + t.letter + ", 4" + t.letter},
                        {"kind", t.kind},
                        {"condition", kCondition},
                        {"iterations", t.iterations},
                        {"dsgesv", t.mixed_ratio}};
    if (t.ratio > 0) row["dgesv"] = t.ratio;
    list.push_back(row);
  }
  return list;
}

}  // namespace

double general_cost(const PaperRun& run) {
  double seconds = static_cast<double>(std::size(kTypes)) * history_cost(run);
  for (const std::int64_t n : run.sizes) {
    seconds += model_cost(run, n);
    for (const Type& t : kTypes) seconds += solve_cost(run, n, &t == kTypes, true);
  }
  return seconds;
}

ordered_json paper_general(const PaperRun& run) {
  ordered_json section = {
      {"figure", "Haidar et al. (2017), Figs. 3 and 4"},
      {"paper_machine", "P100 GPU, FP16 and FP32 factors; order 10,240 in Fig. 3"},
      {"paper", published()},
      {"note", fmt::format("dgesv does not depend on the matrix: from n = {} on it is measured "
                           "only with the first matrix of a size, and ratios are to its median; "
                           "dsgesv is measured to n = {}",
                           kSharedFrom, kLargestMixed)},
      {"history_order", history_order(run)},
      {"histories", ordered_json::array()},
      {"model", ordered_json::array()},
      {"sides", ordered_json::object()},
      {"baselines", ordered_json::array()},
      {"cases", ordered_json::array()}};
  Budget budget(*run.progress);
  for (const Type& t : kTypes) add_histories(run, t, section, budget);
  for (const std::int64_t n : run.sizes) {
    Shared shared;
    run.progress->begin(fmt::format("general, rates of the model, n = {}", n), model_cost(run, n));
    const LuModel model = measure_model(run, n);
    section["model"].push_back(model.json());
    for (const Type& t : kTypes) {
      const std::string what = fmt::format("general, {}, n = {}", t.kind, n);
      run.progress->begin(what, solve_cost(run, n, &t == kTypes, true));
      add_case(budget, what, section,
               system_bytes(n, n <= kLargestMixed ? "dsgesv" : "dgesv", true),
               [&] { return measure_case(run, t, n, model, shared, section); });
    }
  }
  section["skipped"] = budget.skipped();
  return section;
}

}  // namespace stepwell::bench

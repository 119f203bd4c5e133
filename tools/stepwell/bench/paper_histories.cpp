// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "data.hpp"
#include "memory.hpp"
#include "paper.hpp"
#include "report.hpp"
#include "stepwell/error.hpp"
#include "system.hpp"

/// `bench paper`, part histories: the error after each iteration of classic refinement, of GMRES
/// and of CG with the same low-precision factor (Abdelfattah et al., Fig. 3).
namespace stepwell::tool {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kPaperOrder = 10000;
constexpr int kIterations = 60;

struct Matrix {
  const char* kind;
  double condition;
};
constexpr Matrix kMatrices[] = {{"clustered", 1e2}, {"clustered", 1e4}, {"arithmetic", 1e4}};
constexpr const char* kMaps[] = {"fp16", "bf16"};
constexpr const char* kRefiners[] = {"ir", "ir(gmres)", "cg"};

double cost_of_matrix(const PaperRun& run) {
  const auto n = static_cast<double>(std::min(run.max_n, kPaperOrder));
  // Six factorizations, and iterations that read 6 n^2 bytes.
  return 3 * (guess(std::min(run.max_n, kPaperOrder), "fp16") + kIterations * 6 * n * n / 20e9) * 2;
}

ordered_json history(System& s, const char* map, const char* refiner) {
  s.options.map = parse_map(map);
  s.options.refiner = *refiner_from_string(refiner);
  s.options.climb = false;
  s.options.iterations = kIterations;
  const Certificate c = s.attempt(s.context, 1);
  ordered_json errors = ordered_json::array();
  for (const double e : c.columns.empty() ? std::vector<double>{} : c.columns[0].history) {
    errors.push_back(rounded(e));
  }
  return {{"map", map},
          {"refiner", refiner},
          {"outcome", to_string(c.outcome)},
          {"iterations", c.iterations},
          {"factor", c.map},
          {"shift", c.shift},
          {"backward_error", rounded(c.backward_error)},
          {"tolerance", rounded(c.tolerance)},
          {"history", errors}};
}

}  // namespace

double histories_cost(const PaperRun& run) {
  return static_cast<double>(std::size(kMatrices)) * cost_of_matrix(run);
}

ordered_json paper_histories(const PaperRun& run) {
  const std::int64_t n = std::min(run.max_n, kPaperOrder);
  ordered_json section = {
      {"figure", "Abdelfattah et al. (2020), Fig. 3"},
      {"paper",
       "two matrices of order 10,000 with a clustered spectrum; IRGMRES converges faster than IR, "
       "and IR fails at the larger condition number (Sect. 5). The numbers are in the plot only."},
      {"n", n},
      {"histories", ordered_json::array()}};
  Budget budget(*run.progress);
  for (const Matrix& matrix : kMatrices) {
    const std::string what =
        fmt::format("histories, {} {:g}, n = {}", matrix.kind, matrix.condition, n);
    run.progress->begin(what, cost_of_matrix(run));
    SolveRequest request;
    request.n = n;
    request.kind = matrix.kind;
    request.condition = matrix.condition;
    request.threads = run.threads;
    try {
      require_memory(system_bytes(n, "one-worker"));
    } catch (const Error& e) {
      budget.skip(what, e.what());
      continue;
    }
    System s(request);
    for (const char* const map : kMaps) {
      for (const char* const refiner : kRefiners) {
        ordered_json h = {{"kind", matrix.kind}, {"condition", matrix.condition}};
        h.update(history(s, map, refiner));
        section["histories"].push_back(h);
      }
    }
  }
  section["skipped"] = budget.skipped();
  return section;
}

}  // namespace stepwell::tool

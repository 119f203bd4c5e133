// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>
#include "bench/papers/paper_solve.hpp"

/// `bench paper`, part histories: the error after each iteration of classic refinement, of GMRES
/// and of CG with the same low-precision factor (Abdelfattah et al., Fig. 3).
namespace stepwell::bench {
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
       "and IR fails at the larger condition number (Sect. 5). The values are in the plot only."},
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
    if (!fits(budget, what, system_bytes(n, "one-worker"))) continue;
    System s(request);
    for (const char* const map : kMaps) {
      for (const char* const refiner : kRefiners) {
        ordered_json h = {{"kind", matrix.kind}, {"condition", matrix.condition}};
        h.update(refinement_history(s, map, refiner, kIterations));
        section["histories"].push_back(h);
      }
    }
  }
  section["skipped"] = budget.skipped();
  return section;
}

}  // namespace stepwell::bench

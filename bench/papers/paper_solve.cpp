// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/papers/paper_solve.hpp"

#include <nlohmann/json.hpp>
#include "bench/harness/report.hpp"
#include "options/requirements.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {
namespace {

using nlohmann::ordered_json;

ordered_json path_json(const Certificate& c) {
  ordered_json left = ordered_json::array();
  for (const LadderStep& r : c.rungs) {
    if (!r.reason.empty()) left.push_back({{"map", map_text(r.method)}, {"because", r.reason}});
  }
  return {{"map", map_text(c.method)},
          {"refiner", refiner_text(c.method)},
          {"iterations", c.iterations},
          {"shift", c.shift},
          {"left", left},
          {"seconds",
           {{"analysis", rounded(c.times.analysis)},
            {"factor", rounded(c.times.factor)},
            {"refine", rounded(c.times.refine)}}}};
}

}  // namespace

ordered_json refinement_history(System& s, const char* map, const char* refiner, int iterations) {
  s.options.map = parse_map(map);
  s.options.refine.refiner = *refiner_from_string(refiner);
  s.options.climb = false;
  s.options.refine.iterations = iterations;
  const Certificate c = s.attempt(s.context, 1);
  ordered_json errors = ordered_json::array();
  for (const double e : c.columns.empty() ? std::vector<double>{} : c.columns[0].history) {
    errors.push_back(rounded(e));
  }
  return {{"map", map},
          {"refiner", refiner},
          {"outcome", to_string(c.outcome)},
          {"iterations", c.iterations},
          {"factor", map_text(c.method)},
          {"shift", c.shift},
          {"backward_error", rounded(c.backward_error)},
          {"tolerance", rounded(c.tolerance)},
          {"history", errors}};
}

double solve_cost(const PaperRun& run, std::int64_t n, bool first, bool general) {
  const bool lapack = n < kSharedFrom || first;
  double seconds = 0.6 * guess(n, "bf16x2");
  if (lapack) seconds += guess(n, "fp64") * (run.mkl ? 2 : 1);
  if (n <= kLargestMixed) seconds += 1.3 * guess(n, "fp32");
  if (general) seconds *= 2;
  const auto d = static_cast<double>(n);
  return seconds * run.runs(n) + 2e-8 * d * d;  // and making the matrix, checking the answer
}

ordered_json measure_solve(const PaperRun& run, ordered_json what, const std::shared_ptr<System>& s,
                           Shared& shared, ordered_json& section) {
  const auto room = std::make_shared<LapackRoom>();
  std::vector<std::string> names;
  for (const std::string& name : lapack_names(s->general)) {
    const bool mixed = is_mixed(name);
    if (mixed ? s->n > kLargestMixed : !shared.empty()) continue;
    if (run.mkl || !name.starts_with("mkl-")) names.push_back(name);
  }
  std::vector<Side> sides = {solver_side(s)};
  for (const std::string& name : names) sides.push_back(lapack_side(s, room, name));
  const std::vector<Timing> timings = measure(run, s->n, sides);

  std::map<std::string, Timing> theirs = shared;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Timing& timing = timings[i + 1];
    theirs[names[i]] = timing;
    section["sides"][names[i]] = identity_json(timing.side);
    if (s->n >= kSharedFrom && !is_mixed(names[i])) shared[names[i]] = timing;
    ordered_json baseline = {{"baseline", names[i]}};
    baseline.update(what);
    baseline.erase("bench");
    baseline.erase("figure");
    section["baselines"].push_back(case_json(std::move(baseline), timing, {}));
  }
  section["sides"][timings[0].side.name] = identity_json(timings[0].side);
  ordered_json c = case_json(std::move(what), timings[0], theirs);
  c["path"] = path_json(s->last);
  c["backward_error"] = rounded(backward_error(*s, s->x.data()));
  c["tolerance"] = rounded(s->last.tolerance);
  return c;
}

bool fits(Budget& budget, const std::string& what, std::int64_t bytes) {
  try {
    tool::require_memory(bytes);
    return true;
  } catch (const Error& e) {
    budget.skip(what, e.what());
    return false;
  }
}

void add_case(Budget& budget, const std::string& what, ordered_json& section, std::int64_t bytes,
              const std::function<ordered_json()>& make) {
  if (!fits(budget, what, bytes)) return;
  try {
    section["cases"].push_back(make());
  } catch (const Error& e) {
    if (e.code() != ErrorCode::out_of_memory && e.code() != ErrorCode::unsupported) throw;
    budget.skip(what, e.what());
  }
}

}  // namespace stepwell::bench

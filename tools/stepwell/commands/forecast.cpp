// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "commands/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "core/machine/system.hpp"
#include "core/machine/threads.hpp"
#include "gallery/gallery.hpp"
#include "report/certificate.hpp"
#include "report/ending.hpp"
#include "solvers/ladder/cost.hpp"
#include "solvers/simulation/simulated_solve.hpp"
#include "solvers/systems/general.hpp"
#include "solvers/systems/spd.hpp"

namespace stepwell::tool {
namespace {

/// Large enough to show how the lowest rung of the ladder behaves, and solved in a tenth of a
/// second.
constexpr std::int64_t kRehearsal = 1536;

/// A system to measure with, and the tasks of the largest factorization that is simulated.
constexpr std::int64_t kSimulationBytes = std::int64_t{3} << 30;

Plan plan_of(std::int64_t n, std::int64_t columns, bool general, const SolveOptions& options) {
  return general ? plan_general(n, columns, options) : plan_spd(n, columns, options);
}

Certificate rehearse(std::int64_t n, bool general, SolveOptions options,
                     const gallery::Recipe& recipe) {
  const std::int64_t m = std::min(n, kRehearsal);
  const core::Buffer<double> a(m * m), b(m), x(m);
  gallery::fill(view(a.data(), m, m), recipe, core::default_threads());
  for (std::int64_t i = 0; i < m; ++i) b[i] = gallery::noise(static_cast<std::uint64_t>(i));
  // Six tiles, so that all steps of a graded map occur.
  if (options.tile == 0) options.tile = kRehearsal / 6;
  options.condition = options.prove = false;
  const MatrixView<const double> matrix = view<const double>(a.data(), m, m);
  const auto solver = general ? solvers::general_solver(matrix, options, n)
                              : solvers::spd_solver(matrix, options, n);
  return solver->solve(view<const double>(b.data(), m, 1), view(x.data(), m, 1));
}

bool in_tiles(const Method& method) {
  return method.factorization != Factorization::none && method.refiner != Refiner::direct;
}

factor::SimulatedFactor simulated_factor(const Forecast& f, std::int64_t n, bool general) {
  return {general ? Factorization::lu : Factorization::cholesky, f.method.map.layers.back(), n, 0};
}

/// The memory of a solve that ends with this map, as the library will count it.
std::int64_t bytes_with(const Method& method, std::int64_t n, std::int64_t columns, bool general,
                        SolveOptions options) {
  if (method.factorization == Factorization::none) {
    const solvers::RefinementBytes bytes = solvers::refinement_bytes(
        n, columns, options.refine.refiner.value_or(Refiner::cg), Structure::spd);
    return bytes.vectors + bytes.products;
  }
  options.map = method.map;
  return plan_of(n, columns, general, options).bytes;
}

}  // namespace

Forecast forecast(std::int64_t n, std::int64_t columns, bool general, const SolveOptions& options,
                  const std::optional<gallery::Recipe>& recipe, const Timetable& table) {
  const Plan plan = plan_of(n, columns, general, options);
  Forecast f;
  f.data_bytes = core::size_product(n, n, 8, "A") + core::size_product(n, columns, 16, "b and x");
  f.top_bytes = plan.top_bytes;
  const auto add = [&](const LadderStep& r) {
    const SolveSeconds t = seconds_at(table, map_text(r.method), n, columns, general);
    // A factorization that fails does so about half-way.
    f.factor += r.factored ? t.factor : t.factor / 2;
    f.refine += r.iterations * t.iteration;
    f.method = r.method;
    f.iterations = r.iterations;
  };
  if (recipe && plan.method.refiner != Refiner::direct) {
    const Certificate c = rehearse(n, general, options, *recipe);
    if (!c.ok()) {
      throw Failure{exit_code(c.outcome),
                    "a small matrix of this kind was not solved: " + c.reason};
    }
    f.rehearsed = std::min(n, kRehearsal);
    f.bytes = bytes_with(c.method, n, columns, general, options);
    for (const LadderStep& r : c.rungs) {
      add(r);
      if (!r.reason.empty()) f.left.push_back(r);
    }
  } else {
    f.bytes = plan.bytes;
    add({plan.method, true, plan.iterations, 0, "", 0});
  }
  f.analysis = seconds_at(table, map_text(f.method), n, columns, general).analysis;
  // The workers are started only for a factorization in tiles.
  if (in_tiles(f.method)) f.analysis += table.start;
  return f;
}

bool can_simulate(const Forecast& f, std::int64_t n, std::int64_t columns, bool general) {
  return in_tiles(f.method) && columns == 1 && !f.method.map.layers.empty() &&
         n <= factor::largest_simulated(simulated_factor(f, n, general)) &&
         core::memory_allowance().available > kSimulationBytes;
}

void simulate_times(Forecast& f, std::int64_t n, bool general, int cores) {
  const factor::SimulatedFactor factor = simulated_factor(f, n, general);
  const engine::TaskTimes tasks = factor::measure_tasks(factor);
  const solvers::SimulatedSolve s = solvers::simulate_solve(
      factor, engine::SimulatedMachine::server(cores), tasks, solvers::measure_solve(factor));
  f.analysis = s.analysis;
  f.factor = s.factor.seconds;
  f.refine = f.iterations * s.iteration;
  f.simulated = cores;
}

std::string reason_text(const Forecast& f) {
  if (f.rehearsed > 0) {
    return fmt::format("found by solving a matrix of this kind with n = {}", f.rehearsed);
  }
  if (f.method.refiner == Refiner::direct) return "for any matrix: at this size nothing is faster";
  return "if the matrix is well conditioned; --kind specifies its kind";
}

}  // namespace stepwell::tool

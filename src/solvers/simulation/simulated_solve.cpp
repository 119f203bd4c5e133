// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/simulation/simulated_solve.hpp"

#include <algorithm>
#include <vector>

#include "core/buffer.hpp"
#include "core/clock.hpp"
#include "core/numeric/hash.hpp"
#include "factor/triangular/substitution.hpp"
#include "factor/triangular/substitution_tile.hpp"
#include "solvers/systems/square_matrix.hpp"
#include "stepwell/error.hpp"
#include "tiles/tile.hpp"

namespace stepwell::solvers {
namespace {

constexpr std::int64_t kLargestMeasured = 8192;
/// Seconds until another core sees that a counter has changed, twice in a step of substitution.
constexpr double kSignal = 0.5e-6;

bool is_general(const factor::SimulatedFactor& f) {
  return f.kind == Factorization::lu;
}

/// H D H with a Householder reflection H and eigenvalues D from 1 to 1/100, evenly spaced.
void fill(MatrixView<double> a) {
  const auto n = static_cast<double>(a.rows);
  std::vector<double> v(static_cast<std::size_t>(a.rows)), d = v;
  double length = 0, middle = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    v[i] = 0x1p-64 * static_cast<double>(core::hash(i)) - 0.5;
    d[i] = 1 - 0.99 * static_cast<double>(i) / n;
    length += v[i] * v[i];
    middle += v[i] * d[i] * v[i];
  }
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const auto p = static_cast<std::size_t>(i), q = static_cast<std::size_t>(j);
      a(i, j) =
          (i == j ? d[p] : 0) + v[p] * v[q] * (4 * middle / length - 2 * (d[p] + d[q])) / length;
    }
  }
}

Certificate solve_alone(const factor::SimulatedFactor& f, MatrixView<const double> a) {
  core::Buffer<double> b(a.rows), x(a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) b[i] = 0x1p-64 * static_cast<double>(core::hash(i + 1));
  Context one(1);
  SolveOptions options;
  options.map = uniform(f.rung);
  options.climb = false;
  options.engine.context = &one;
  const auto from = view<const double>(b.data(), a.rows, 1);
  return is_general(f) ? solve_general(a, from, view(x.data(), a.rows, 1), options)
                       : solve_spd(a, from, view(x.data(), a.rows, 1), options);
}

template <class F>
double median_seconds(const F& f) {
  std::vector<double> seconds(101);
  for (double& s : seconds) {
    const auto start = core::Clock::now();
    f();
    s = core::seconds_since(start);
  }
  std::nth_element(seconds.begin(), seconds.begin() + 50, seconds.end());
  return seconds[50];
}

void measure_substitution(const factor::SimulatedFactor& f, SolveCosts& costs) {
  const std::int64_t order = factor::tile_of(f);
  const tiles::TileShape shape{f.rung, order, order};
  const core::Buffer<std::byte> memory(shape.bytes());  // zeros: no element of x grows
  const tiles::TileIn tile{shape, memory.data()};
  const core::Buffer<double> x(order), y(order);
  const auto from = view<const double>(x.data(), order, 1);
  tiles::TileShape part = shape;
  part.rows = std::min(factor::kSubstitutionPart, order);
  costs.solve_tile =
      median_seconds([&] { factor::solve_tile<double>(tile, false, view(y.data(), order, 1)); });
  costs.apply_part = median_seconds([&] {
    factor::apply_tile<double>({part, memory.data()}, false, from, view(y.data(), part.rows, 1));
  });
}

/// Bytes that an iteration reads: of A, or of its fp32 copy, and of the factor.
struct Bytes {
  double matrix = 0, factor = 0;
};
Bytes iteration_bytes(const factor::SimulatedFactor& f) {
  const auto squared = static_cast<double>(f.n) * static_cast<double>(f.n);
  const auto element = static_cast<double>(tiles::TileShape{f.rung, 32, 32}.bytes()) / 1024;
  const bool copy = !is_general(f) && wants_copy(uniform(f.rung)) &&
                    refinement_bytes(f.n, 1, Refiner::cg, Structure::spd).copy > 0;
  return {(is_general(f) ? 8 : copy ? 2 : 4) * squared, element * squared};
}

}  // namespace

std::int64_t measured_order(std::int64_t n) {
  return std::min(n, kLargestMeasured);
}

SolveCosts measure_solve(const factor::SimulatedFactor& f) {
  SolveCosts costs;
  costs.n = measured_order(f.n);
  {
    core::Buffer<double> memory(core::size_product(costs.n, costs.n, "a matrix to measure with"),
                                core::Contents::any);
    const MatrixView<double> a = view(memory.data(), costs.n, costs.n);
    fill(a);
    std::vector<Certificate> runs;
    for (int run = 0; run < 3; ++run) runs.push_back(solve_alone(f, a));
    const auto fastest =
        std::min_element(runs.begin(), runs.end(),
                         [](const auto& s, const auto& t) { return s.times.wall < t.times.wall; });
    const SolveTimes& times = fastest->times;
    if (!fastest->ok()) throw Error(ErrorCode::internal, "a test system was not solved");
    costs.iteration = times.refine / std::max(1, fastest->iterations);
    costs.analysis = times.wall - times.factor - times.refine;
  }
  measure_substitution(f, costs);
  return costs;
}

SimulatedSolve simulate_solve(const factor::SimulatedFactor& f,
                              const engine::SimulatedMachine& machine,
                              const engine::TaskTimes& tasks, const SolveCosts& costs) {
  SimulatedSolve s;
  s.factor = factor::simulate(f, machine, tasks);
  const double larger = static_cast<double>(f.n) / static_cast<double>(costs.n);
  const double share = larger * larger / machine.workers;
  const auto n = static_cast<double>(f.n);
  const double seconds_per_byte = machine.bandwidth > 0 ? 1 / machine.bandwidth : 0;
  s.analysis = std::max(costs.analysis * share, (is_general(f) ? 8 : 4) * n * n * seconds_per_byte);
  const Bytes bytes = iteration_bytes(f);
  const double total = bytes.matrix + bytes.factor;
  const double streamed = total > machine.cache ? seconds_per_byte : 0;
  s.cores = costs.iteration * share;
  s.memory = total * streamed;
  const std::int64_t tile = factor::tile_of(f), steps = (f.n + tile - 1) / tile - 1;
  if (machine.workers > 1) {
    const double step = costs.solve_tile + costs.apply_part + 2 * kSignal;
    s.chain = 2 * static_cast<double>(steps) * step;
  }
  // First a product with A, then substitution.
  const double of_matrix = bytes.matrix / total;
  s.iteration = std::max(s.cores, s.memory) * of_matrix +
                std::max(std::max(s.cores, s.memory) * (1 - of_matrix), s.chain);
  return s;
}

}  // namespace stepwell::solvers

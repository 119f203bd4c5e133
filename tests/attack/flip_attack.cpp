// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <thread>

#include "attack/attacks.hpp"
#include "attack/oracle/oracle.hpp"
#include "attack/seeds.hpp"
#include "stepwell/lstsq.hpp"

/// One bit of A or b changes during a solve, as by faulty memory or another thread. The outcome is
/// 'changed', or the answer is right for A and b as they were before or after the change.
namespace stepwell::attack {
namespace {

using Clock = std::chrono::steady_clock;

struct System {
  Matrix a;
  std::vector<double> b;
  Structure structure = Structure::spd;
  SolveOptions options;
  bool tall = false;  ///< least squares
};

System random_tall_system(Random& random) {
  System system;
  const std::int64_t n = random.integer(5, 60), m = n + random.integer(1, 400);
  system.tall = true;
  system.structure = Structure::general;
  system.a = Matrix(m, n);
  for (double& x : system.a.data) x = random.normal();
  system.b.resize(m);
  for (double& x : system.b) x = random.normal();
  system.options.engine.context = &random_context(random);
  return system;
}

System random_system(Random& random) {
  if (random.chance(0.25)) return random_tall_system(random);
  System system;
  const bool spd = random.chance(0.5);
  const std::int64_t n = random.integer(60, 260);
  system.structure = spd ? Structure::spd : Structure::general;
  system.a = Matrix(n, n);
  const double condition = random.power_of_ten(1, 7);
  for (std::int64_t i = 0; i < n; ++i) system.a(i, i) = spectrum(0, i, n, condition, random);
  reflect(system.a, 2, spd ? Sides::both : Sides::left, random);
  if (spd) {
    copy_to_upper(system.a);
  } else {
    reflect(system.a, 2, Sides::right, random);
  }
  system.b.resize(n);
  for (double& x : system.b) x = random.normal();
  constexpr const char* kMaps[] = {"", "bf16", "bf16x2", "fp32", "fp64"};
  const std::string map = random.one_of(kMaps);
  if (!map.empty()) system.options.map = parse_map(map);
  system.options.engine.context = &random_context(random);
  return system;
}

Certificate solved(const System& system, std::vector<double>& x) {
  const auto b = view(system.b.data(), system.a.rows, 1);
  const auto to = view(x.data(), system.a.cols, 1);
  if (system.tall) {
    LeastSquaresOptions options;
    options.engine.context = system.options.engine.context;
    return lstsq(TallMatrix(system.a.view()), b, to, options);
  }
  return solve(system.a.view(), b, to, system.options, system.structure);
}

/// A random element that the solver reads: in the lower triangle if A is symmetric.
double& random_element(System& system, Random& random, bool in_b) {
  const std::int64_t n = system.a.rows;
  const std::int64_t i = random.integer(0, n - 1);
  if (in_b) return system.b[i];
  const bool symmetric = system.structure == Structure::spd;
  return system.a(i, random.integer(0, symmetric ? i : system.a.cols - 1));
}

/// Whether x solves the system as the solver sees it (one triangle if symmetric). For least
/// squares: whether x has the bits of a solve without changes.
bool is_right(System system, const std::vector<double>& x, double tolerance) {
  if (system.tall) {
    std::vector<double> expected(x.size());
    return solved(system, expected).ok() && x == expected;
  }
  if (system.structure == Structure::spd) copy_to_upper(system.a);
  for (const double e : system.a.data) {
    if (!std::isfinite(e)) return false;
  }
  const SquareOracle oracle(system.a, false);
  return !ColumnTruth(oracle, system.b.data(), x.data()).above(tolerance);
}

void attack_flip(std::uint64_t seed, Report& report) {
  Random random(seed, "flip");
  const System original = random_system(random);
  std::vector<double> x(original.a.cols);
  (void)solved(original, x);  // also starts the threads
  const Clock::time_point start = Clock::now();
  (void)solved(original, x);
  const double duration = std::chrono::duration<double>(Clock::now() - start).count();

  System system = original;
  const bool in_b = random.chance(0.3);
  const auto bit = static_cast<int>(random.integer(0, 63));
  double& element = random_element(system, random, in_b);
  const std::chrono::duration<double> delay(random.between(-0.05, 1) * duration);
  report.describe(text("n %zu, %s, bit %d of %s after %.3g of %.3g ms", x.size(),
                       original.tall                          ? "least squares"
                       : original.structure == Structure::spd ? "spd"
                                                              : "general",
                       bit, in_b ? "b" : "A", 1e3 * delay.count(), 1e3 * duration));
  std::atomic<bool> begun = false;
  std::thread vandal([&] {
    while (!begun) {
    }
    const auto moment = Clock::now() + delay;
    while (Clock::now() < moment) {
    }
    const auto bits = std::bit_cast<std::uint64_t>(element) ^ (std::uint64_t{1} << bit);
    std::atomic_ref<double>(element).store(std::bit_cast<double>(bits));
  });
  Certificate certificate;
  begun = true;
  const bool survived = survives([&] { certificate = solved(system, x); }, report);
  vandal.join();
  if (!survived) return;
  if (certificate.outcome == SolveOutcome::changed) {
    report.count("detected");
  } else if (!certificate.ok()) {
    report.count("refused");
  } else if (is_right(original, x, certificate.tolerance)) {
    report.count("right_for_the_original");
  } else if (is_right(system, x, certificate.tolerance)) {
    report.count("right_for_the_changed_one");
  } else {
    report.found(Finding::above_tolerance, "converged, but right for neither system");
  }
}

}  // namespace
}  // namespace stepwell::attack

int main(int argc, char** argv) {
  using namespace stepwell::attack;
  return attack_seeds("flip_attack", argc, argv, {}, 600, [](const Request&, std::uint64_t seed) {
    return Attack{"", [seed](Report& report) { attack_flip(seed, report); }};
  });
}

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cmath>

#include "attack/attacks.hpp"
#include "attack/seeds.hpp"
#include "stepwell/lstsq.hpp"

/// (s A, t b) with powers of two s and t takes the same path as (A, b), bit by bit, as long as
/// nothing over- or underflows.
namespace stepwell::attack {
namespace {

constexpr int kEnd = 940;  ///< exponents for which products with a few other values stay in range

/// The smallest and largest binary exponents of the nonzero elements.
struct Powers {
  int low = 0, high = 0;
};

Powers powers_of(const std::vector<double>& values) {
  Powers powers{kEnd, -kEnd};
  for (const double x : values) {
    if (x == 0) continue;
    powers.low = std::min(powers.low, std::ilogb(x));
    powers.high = std::max(powers.high, std::ilogb(x));
  }
  return powers.low > powers.high ? Powers{} : powers;
}

bool inside(Powers p, int shift) {
  return p.low + shift >= -kEnd && p.high + shift <= kEnd;
}

std::vector<double> shifted(std::vector<double> values, int power) {
  for (double& x : values) x = std::ldexp(x, power);
  return values;
}

struct System {
  Named named;
  std::vector<double> b;
  Choice choice;
  bool tall = false;
};

struct Solved {
  Certificate certificate;
  std::vector<double> x;
};

System random_system(std::uint64_t seed) {
  Random random(seed, "scale");
  System system;
  const std::int64_t kind = random.integer(0, 2);
  if (kind == 2) {
    const std::int64_t n = random.integer(1, 40), m = n + random.integer(0, 100);
    system.named = random_tall(m, n, random);
    system.choice.options.engine.context = &random_context(random);
    system.tall = true;
  } else {
    const std::int64_t n = random_order(random.chance(0.9) ? Size::small : Size::medium, random);
    system.named = kind == 0 ? random_spd(n, random) : random_general(n, random);
    system.choice = random_choice(random_structure(kind == 0, random), random);
    system.choice.options.cholesky.scaling =
        Scaling::powers_of_two;  // other scalings round, or do nothing
  }
  system.b.resize(system.named.a.rows);
  for (double& x : system.b) x = random.normal();
  return system;
}

Solved solved(const System& system, int s, int t) {
  const Matrix& m = system.named.a;
  const std::vector<double> a = shifted(m.data, s), b = shifted(system.b, t);
  Solved answer{{}, std::vector<double>(m.cols)};
  const auto va = view(a.data(), m.rows, m.cols);
  const auto vb = view(b.data(), m.rows, 1);
  const auto vx = view(answer.x.data(), m.cols, 1);
  if (system.tall) {
    LeastSquaresOptions options;
    options.engine.context = system.choice.options.engine.context;
    answer.certificate = lstsq(TallMatrix(va), vb, vx, options);
  } else {
    answer.certificate = solve(va, vb, vx, system.choice.options, system.choice.structure);
  }
  return answer;
}

void compare(const Solved& first, const Solved& other, int power, Report& report) {
  const Certificate &p = first.certificate, &q = other.certificate;
  if (p.outcome != q.outcome || map_text(p.method) != map_text(q.method) ||
      refiner_text(p.method) != refiner_text(q.method) || p.iterations != q.iterations ||
      p.rungs.size() != q.rungs.size()) {
    report.found(Finding::certificate,
                 text("another path: %s at %s by %s, %d iterations; and %s at %s by %s, %d",
                      to_string(p.outcome), map_text(p.method).c_str(),
                      refiner_text(p.method).c_str(), p.iterations, to_string(q.outcome),
                      map_text(q.method).c_str(), refiner_text(q.method).c_str(), q.iterations));
    return;
  }
  if (std::bit_cast<std::uint64_t>(p.backward_error) !=
      std::bit_cast<std::uint64_t>(q.backward_error)) {
    report.found(Finding::certificate,
                 text("backward error %.17g, and %.17g", p.backward_error, q.backward_error));
  }
  if (p.ok() && shifted(first.x, power) != other.x) report.found(Finding::bits, "x has other bits");
}

void attack_scale(std::uint64_t seed, Report& report) {
  const System system = random_system(seed);
  const Matrix& m = system.named.a;
  Solved first;
  report.describe(text("%lld x %lld, %s, %s", static_cast<long long>(m.rows),
                       static_cast<long long>(m.cols), system.named.name.c_str(),
                       system.choice.name.c_str()));
  if (!survives([&] { first = solved(system, 0, 0); }, report)) return;
  const Powers a = powers_of(m.data), b = powers_of(system.b), x = powers_of(first.x);
  if (!inside(a, 0) || !inside(b, 0) || !inside(x, 0)) return;
  Random random(seed, "powers");
  for (int attempt = 0, tried = 0; attempt < 50 && tried < 3; ++attempt) {
    const int s = static_cast<int>(random.integer(-900, 900));
    const int t = static_cast<int>(random.integer(-900, 900));
    if (!inside(a, s) || !inside(b, t) || !inside(x, t - s) || !inside(x, t)) continue;
    ++tried;
    report.count("scaled");
    report.describe(text("%lld x %lld, %s, %s, s 2^%d t 2^%d", static_cast<long long>(m.rows),
                         static_cast<long long>(m.cols), system.named.name.c_str(),
                         system.choice.name.c_str(), s, t));
    Solved other;
    if (survives([&] { other = solved(system, s, t); }, report)) {
      compare(first, other, t - s, report);
    }
  }
}

}  // namespace
}  // namespace stepwell::attack

int main(int argc, char** argv) {
  using namespace stepwell::attack;
  return attack_seeds("scale_attack", argc, argv, {}, 600, [](const Request&, std::uint64_t seed) {
    return Attack{"", [seed](Report& report) { attack_scale(seed, report); }};
  });
}

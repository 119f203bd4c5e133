// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "attack/attacks.hpp"

/// A Solver that is factored beforehand or not, with its calls in any order.
namespace stepwell::attack {

void attack_reuse(std::uint64_t seed, Size size, Report& report) {
  Random random(seed, "reuse");
  const bool spd = random.chance(0.5);
  const std::int64_t n = random_order(size, random);
  Named named = spd ? random_spd(n, random) : random_general(n, random);
  scale_at_random(named, spd, random);
  Choice choice = random_choice(random_structure(spd, random), random);
  const std::string system =
      text("n %lld, %s, %s", static_cast<long long>(n), named.name.c_str(), choice.name.c_str());
  report.describe(system);
  const Matrix a_before(named.a);
  std::unique_ptr<Solver> solver;
  if (!survives(
          [&] {
            solver = std::make_unique<Solver>(named.a.view(), choice.options, choice.structure);
          },
          report)) {
    return;
  }
  const std::int64_t steps = random.integer(1, size == Size::small ? 6 : 3);
  for (std::int64_t step = 0; step < steps; ++step) {
    report.describe(system + text(", step %lld", static_cast<long long>(step)));
    const std::int64_t what = random.integer(0, 5);
    if (what == 0) {
      survives([&] { (void)solver->factor(); }, report);
      continue;
    }
    if (what == 1) {
      const bool transposed = random.chance(0.5);
      survives([&] { (void)solver->inverse_norm(transposed); }, report);
      continue;
    }
    const std::int64_t columns = random.integer(1, 3);
    const bool by_transpose = what >= 4;
    Padded b(n, columns, random), x(n, columns, random);
    for (std::int64_t k = 0; k < columns; ++k) fill_right_side(named.a, b.view().column(k), random);
    const Padded b_before(b), x_before(x);
    Certificate certificate;
    const auto call = [&] {
      certificate = by_transpose ? solver->solve_transposed(b.view(), x.view())
                                 : solver->solve(b.view(), x.view());
    };
    if (!survives(call, report)) continue;
    report.count("solves");
    judge_outcome(certificate, columns, report);
    if (!b.same(b_before)) report.found(Finding::memory, "b was written");
    if (!x.same_padding(x_before)) report.found(Finding::memory, "the padding of x was written");
    if (leaves_x_alone(certificate.outcome) && !x.same(x_before)) {
      report.found(Finding::memory,
                   std::string("x was written, outcome ") + to_string(certificate.outcome));
    }
    if (certificate.columns.size() != static_cast<std::size_t>(columns)) continue;
    // For a symmetric matrix, A and its transpose are the same.
    const bool transposed = by_transpose || choice.options.transposed;
    judge_columns({named.a, transposed, b.view(), x.view(), choice.options, certificate}, report);
  }
  if (named.a.data != a_before.data) report.found(Finding::memory, "A was written");
}

}  // namespace stepwell::attack

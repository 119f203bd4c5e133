// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "attack/attacks.hpp"

/// solve_spd(), solve_general() and solve(), once each.
namespace stepwell::attack {
namespace {

Certificate solve_as(Structure structure, MatrixView<const double> a, MatrixView<const double> b,
                     MatrixView<double> x, const SolveOptions& options) {
  switch (structure) {
    case Structure::spd:
      return solve_spd(a, b, x, options);
    case Structure::general:
      return solve_general(a, b, x, options);
    default:
      return solve(a, b, x, options);
  }
}

/// A as the caller stores it: the elements that the library must not read are NaN.
Padded stored(const Matrix& a, const Choice& choice, Random& random) {
  Padded padded(a.rows, a.cols, random);
  const MatrixView<double> v = padded.view();
  const bool half = choice.structure == Structure::spd && !choice.options.check_symmetry;
  const bool upper = choice.options.triangle == Triangle::upper;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (!half || (upper ? i <= j : i >= j)) v(i, j) = a(i, j);
    }
  }
  return padded;
}

std::int64_t random_columns(std::int64_t n, Random& random) {
  if (random.chance(0.6)) return 1;
  return random.integer(1, n > 64 ? 4 : random.chance(0.1) ? 70 : 12);
}

void attack_square(bool spd, std::uint64_t seed, Size size, Report& report) {
  Random random(seed, spd ? "spd" : "general");
  const std::int64_t n = random_order(size, random);
  Named named = spd ? random_spd(n, random) : random_general(n, random);
  scale_at_random(named, spd, random);
  const Matrix& m = named.a;
  const Choice choice = random_choice(random_structure(spd, random), random);
  const std::int64_t columns = random_columns(n, random);
  const bool in_place = random.chance(0.2);
  report.describe(text("n %lld, %lld columns, %s, %s%s", static_cast<long long>(n),
                       static_cast<long long>(columns), named.name.c_str(), choice.name.c_str(),
                       in_place ? " in-place" : ""));

  const Padded a = stored(m, choice, random);
  Padded b(n, columns, random);
  for (std::int64_t k = 0; k < columns; ++k) fill_right_side(m, b.view().column(k), random);
  Padded x = in_place ? b : Padded(n, columns, random);
  const Padded a_before(a), b_before(b), x_before(x);
  const MatrixView<const double> rhs = in_place ? x.view() : b.view();

  Certificate certificate;
  if (!survives(
          [&] {
            certificate = solve_as(choice.structure, a.view(), rhs, x.view(), choice.options);
          },
          report)) {
    if (!x.same(x_before)) report.found(Finding::memory, "x was written by a call that throws");
    return;
  }
  judge_outcome(certificate, columns, report);
  if (!a.same(a_before)) report.found(Finding::memory, "A was written");
  if (!b.same(b_before)) report.found(Finding::memory, "b was written");
  if (!x.same_padding(x_before)) report.found(Finding::memory, "the padding of x was written");
  if (leaves_x_alone(certificate.outcome) && columns <= 64 && !x.same(x_before)) {
    report.found(Finding::memory,
                 std::string("x was written, outcome ") + to_string(certificate.outcome));
  }
  if (certificate.columns.size() != static_cast<std::size_t>(columns)) return;
  const Padded& before = b_before;
  const bool transposed = choice.options.transposed && choice.structure != Structure::spd;
  judge_columns({m, transposed, before.view(), x.view(), choice.options, certificate}, report);
  if (choice.structure == Structure::spd) {
    judge_definiteness(m, choice.options, certificate, report);
  }
}

}  // namespace

void attack_spd(std::uint64_t seed, Size size, Report& report) {
  attack_square(true, seed, size, report);
}

void attack_general(std::uint64_t seed, Size size, Report& report) {
  attack_square(false, seed, size, report);
}

}  // namespace stepwell::attack

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "attack/attacks.hpp"
#include "solvers/least_squares/exact_least_squares.hpp"
#include "stepwell/lstsq.hpp"

/// lstsq() and ridge(), against the optimal backward error.
namespace stepwell::attack {
namespace {

struct Shape {
  std::int64_t m, n;
};

/// The oracle takes m n^2 products of 50 ns.
Shape random_shape(Size size, Random& random) {
  std::int64_t n = 0, more = 0;
  switch (size) {
    case Size::small:
      n = random.chance(0.97) ? random.integer(1, 20) : random.integer(21, 60);
      more = random.chance(0.9) ? random.integer(0, 60) : random.integer(0, 300);
      break;
    case Size::medium:
      n = random.integer(20, 80);
      more = random.integer(0, 1000);
      break;
    default:
      n = random.integer(60, 140);
      more = random.integer(500, 4000);
  }
  return {random.chance(0.15) ? n : n + more, n};
}

struct TallChoice {
  LeastSquaresOptions options;
  bool by_rows = false;
  std::string name;
};

TallChoice random_tall_choice(std::int64_t n, Random& random) {
  constexpr Rung kRungs[] = {Rung::bf16, Rung::bf16x2, Rung::bf16x3, Rung::fp32, Rung::fp64};
  TallChoice choice;
  LeastSquaresOptions& o = choice.options;
  o.engine.context = &random_context(random);
  choice.by_rows = random.chance(0.5);
  choice.name = choice.by_rows ? "by-rows" : "by-columns";
  if (o.engine.context->threads() > 1) choice.name += " 2-threads";
  const auto with = [&](double probability, const std::string& name) {
    const bool yes = random.chance(probability);
    if (yes) choice.name += " " + name;
    return yes;
  };
  if (with(0.15, "qr")) {
    o.qr = true;
  } else if (with(0.4, "rung")) {
    o.map = uniform(random.one_of(kRungs));
    choice.name += "=" + std::string(to_string(*o.map));
  }
  if (with(0.3, "no-climb")) o.climb = false;
  if (with(0.15, "iterations")) {
    o.refine.iterations = static_cast<int>(random.integer(1, 3));
    choice.name += text("=%d", o.refine.iterations);
  }
  if (with(0.1, "tolerance")) {
    o.tolerance = random.chance(0.5) ? 1e-10 : 1e-15;
    choice.name += text("=%g", o.tolerance);
  }
  if (with(0.2, "refiner")) {
    o.refine.refiner = random.one_of(all_refiners);
    choice.name += "=" + std::string(to_string(*o.refine.refiner));
  }
  if (with(0.2, "ridge")) {
    // Squares, so that the rows appended below A are exact.
    o.lambda = std::ldexp(1, 2 * static_cast<int>(random.integer(-30, 10)));
    choice.name += text("=%g", o.lambda);
    if (with(0.5, "weights")) {
      constexpr double kSquares[] = {0, 0.25, 1, 2.25, 16};
      for (std::int64_t j = 0; j < n; ++j) o.weights.push_back(random.one_of(kSquares));
    }
  }
  return choice;
}

int power_above(double x) {
  int power = 0;
  std::frexp(x, &power);
  return x == 0 ? -2000 : power;
}

/// The oracle of a system whose columns were first scaled to 1, with b and x scaled accordingly: a
/// column-wise backward error is invariant under this scaling, and all values stay far from the
/// ends of FP64's range.
class ScaledOracle {
 public:
  ScaledOracle(const Matrix& a, const std::vector<double>& tail)
      : power_(a.cols), oracle_(scaled(a, tail, power_), scaled_tail_) {}

  double backward_error(const double* b, const double* x, std::int64_t m) const {
    const auto n = static_cast<std::int64_t>(power_.size());
    int largest = -2000;
    for (std::int64_t i = 0; i < m; ++i) largest = std::max(largest, power_above(b[i]));
    for (std::int64_t j = 0; j < n; ++j) {
      largest = std::max(largest, power_above(x[j]) + power_[j]);
    }
    std::vector<double> rhs(b, b + m), y(x, x + n);
    for (double& e : rhs) e = std::ldexp(e, -largest);
    for (std::int64_t j = 0; j < n; ++j) y[j] = std::ldexp(y[j], power_[j] - largest);
    return oracle_.backward_error(rhs.data(), y.data(), test::Measured::scaled);
  }

 private:
  MatrixView<const double> scaled(const Matrix& a, const std::vector<double>& tail,
                                  std::vector<int>& power) {
    scaled_ = a;
    scaled_tail_ = tail;
    for (std::int64_t j = 0; j < a.cols; ++j) {
      double largest = tail.empty() ? 0 : tail[j];
      for (std::int64_t i = 0; i < a.rows; ++i) largest = std::max(largest, std::abs(a(i, j)));
      power[j] = largest > 0 ? power_above(largest) : 0;
      for (std::int64_t i = 0; i < a.rows; ++i) scaled_(i, j) = std::ldexp(a(i, j), -power[j]);
      if (!tail.empty()) scaled_tail_[j] = std::ldexp(tail[j], -power[j]);
    }
    return scaled_.view();
  }

  std::vector<int> power_;
  Matrix scaled_;
  std::vector<double> scaled_tail_;
  test::ExactLeastSquares oracle_;
};

void judge(const Matrix& a, const LeastSquaresOptions& options, MatrixView<const double> b,
           MatrixView<const double> x, const Certificate& c, Report& report) {
  std::vector<double> tail;
  if (options.lambda > 0) {
    tail.assign(a.cols, std::sqrt(options.lambda));
    for (std::size_t j = 0; j < options.weights.size(); ++j)
      tail[j] *= std::sqrt(options.weights[j]);
  }
  const bool any = std::any_of(c.columns.begin(), c.columns.end(), [](const auto& column) {
    return column.outcome == SolveOutcome::converged;
  });
  if (!any) return;
  const ScaledOracle oracle(a, tail);
  for (std::int64_t k = 0; k < b.cols; ++k) {
    const ColumnCertificate& column = c.columns[static_cast<std::size_t>(k)];
    if (column.outcome != SolveOutcome::converged) continue;
    report.count("converged");
    const bool finite =
        std::all_of(x.column(k), x.column(k) + x.rows, [](double e) { return std::isfinite(e); });
    if (!finite) {
      report.found(Finding::above_tolerance,
                   text("column %lld: x is not finite", static_cast<long long>(k)));
      continue;
    }
    const double truth = oracle.backward_error(b.column(k), x.column(k), b.rows);
    if (std::isnan(truth)) {
      report.count("least_squares_not_judged");
      continue;
    }
    // The oracle is accurate to six digits.
    if (!(truth * (1 - 1e-5) <= c.tolerance)) {
      report.found(
          Finding::above_tolerance,
          text("column %lld: true %.4g, reported %.4g by %s, tolerance %.4g, %.3g times "
               "it, %s, outcome %s",
               static_cast<long long>(k), truth, column.backward_error, to_string(column.measure),
               c.tolerance, truth / c.tolerance, map_text(c.method).c_str(), to_string(c.outcome)));
    } else if (truth > column.backward_error * (1 + 1e-5) + 0x1p-53) {
      report.count("reported_low_but_met");
    }
  }
}

}  // namespace

void attack_least_squares(std::uint64_t seed, Size size, Report& report) {
  Random random(seed, "lstsq");
  const auto [m, n] = random_shape(size, random);
  const Named named = random_tall(m, n, random);
  const TallChoice choice = random_tall_choice(n, random);
  const std::int64_t columns = random.integer(1, 3);
  report.describe(text("%lld x %lld, %lld columns, %s, %s", static_cast<long long>(m),
                       static_cast<long long>(n), static_cast<long long>(columns),
                       named.name.c_str(), choice.name.c_str()));
  // A stored by rows is its transpose stored by columns.
  Padded a = choice.by_rows ? Padded(n, m, random) : Padded(m, n, random);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) {
      (choice.by_rows ? a.view()(j, i) : a.view()(i, j)) = named.a(i, j);
    }
  }
  const MatrixView<const double> elements = a.view();
  const TallMatrix tall =
      choice.by_rows ? by_rows(elements.data, m, n, elements.ld) : TallMatrix(elements);
  Padded b(m, columns, random), x(n, columns, random);
  for (std::int64_t k = 0; k < columns; ++k) fill_right_side(named.a, b.view().column(k), random);
  const Padded a_before(a), b_before(b), x_before(x);

  Certificate certificate;
  const auto call = [&] { certificate = lstsq(tall, b.view(), x.view(), choice.options); };
  if (!survives(call, report)) return;
  judge_outcome(certificate, columns, report);
  if (!a.same(a_before)) report.found(Finding::memory, "A was written");
  if (!b.same(b_before)) report.found(Finding::memory, "b was written");
  if (!x.same_padding(x_before)) report.found(Finding::memory, "the padding of x was written");
  if (leaves_x_alone(certificate.outcome) && !x.same(x_before)) {
    report.found(Finding::memory,
                 std::string("x was written, outcome ") + to_string(certificate.outcome));
  }
  if (certificate.columns.size() != static_cast<std::size_t>(columns)) return;
  judge(named.a, choice.options, b.view(), x.view(), certificate, report);
}

}  // namespace stepwell::attack

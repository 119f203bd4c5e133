// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/certify/probes.hpp"

#include <algorithm>
#include <cmath>

#include "core/numeric/exponent.hpp"
#include "core/numeric/roundoff.hpp"
#include "solvers/certify/inverse_norm.hpp"

namespace stepwell::solvers {
namespace {

using core::kUnit;

/// A probe has converged if its residual is at most this fraction of its right-hand side: the bound
/// is too low by about that fraction.
constexpr double kConverged = 0.1;

/// Maximum number of steps of the search with converged probes. Two are usual.
constexpr int kSteps = 4;

/// ||r||_1 / ||b||_1 in the caller's scale, for vectors in the scale of H. Their common power of
/// two cancels.
double relative_residual(const Exponents& e, const double* r, const double* b) {
  const int least = *std::min_element(e.row.begin(), e.row.end());
  double of_r = 0, of_b = 0;
  for (std::size_t i = 0; i < e.row.size(); ++i) {
    const double weight = core::times_power_of_two(1, least - e.row[i]);
    of_r += weight * std::abs(r[i]);
    of_b += weight * std::abs(b[i]);
  }
  return of_r / of_b;
}

}  // namespace

Probes::Probes(Side& of, Side& other, refine::Request request)
    : of_(of), other_(other), request_(std::move(request)), largest_(of.exponents.largest()) {}

bool Probes::Probe::converged() const {
  return residual <= kConverged && std::isfinite(sum);
}

void Probes::write(const Side& with, const ScaledColumn& column, const double* y,
                   std::vector<double>& x) const {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const int power = with.exponents.col[i] + column.exponent() - largest_;
    x[i] = core::times_power_of_two(y[i], power);
  }
}

void Probes::apply_preconditioner(Side& with, std::vector<double>& v) const {
  const auto n = std::ssize(v);
  const core::Buffer<double> b(n), y(n);
  const ScaledColumn column(with.exponents, v.data(), b.data());
  with.preconditioner->apply(view<const double>(b.data(), n, 1), view(y.data(), n, 1));
  write(with, column, y.data(), v);
}

bool Probes::solve(bool transposed, std::vector<Probe>& probes) const {
  Side& with = transposed ? other_ : of_;
  const std::int64_t n = with.scaled.order();
  const auto count = std::ssize(probes);
  const core::Buffer<double> b(n * count), y(n * count), r(n * count);
  const auto all = [&](const core::Buffer<double>& x) { return view(x.data(), n, count); };
  std::vector<ScaledColumn> columns;
  for (std::int64_t k = 0; k < count; ++k) {
    columns.emplace_back(with.exponents, probes[static_cast<std::size_t>(k)].v.data(),
                         b.data() + k * n);
  }
  refine::Request request = request_;
  request.norm = with.scaled_norm;
  refine::refine(with.scaled, *with.preconditioner, all(b), all(y), all(r), request);
  // The rounding error of a residual is at most 'hidden' times the sum of the sizes of its terms,
  // which is at most ||M||_1 ||x||_1 + ||v||_1; ||M||_1 is the infinity norm of the other side.
  const double norm = (transposed ? of_ : other_).norm;
  const auto measure = [&](double hidden) {
    bool converged = true;
    for (std::int64_t k = 0; k < count; ++k) {
      Probe& probe = probes[static_cast<std::size_t>(k)];
      probe.x.resize(probe.v.size());
      write(with, columns[static_cast<std::size_t>(k)], y.data() + k * n, probe.x);
      probe.sum = sum_of_sizes(probe.x);
      const double terms = condition_of(norm, probe.sum, largest_) / sum_of_sizes(probe.v) + 1;
      probe.residual =
          relative_residual(with.exponents, r.data() + k * n, b.data() + k * n) + hidden * terms;
      converged = converged && probe.converged();
    }
    return converged;
  };
  const auto d = static_cast<double>(n + 6);
  if (measure(d * kUnit)) return true;
  with.scaled.residual(all(b), all(y), all(r), refine::Sums::double_double);
  return measure(8 * d * d * kUnit * kUnit);
}

InverseNorm Probes::search() {
  const std::int64_t n = of_.scaled.order();
  const auto rough = inverse_probes(
      n, [&](std::vector<double>& v) { apply_preconditioner(other_, v); },
      [&](std::vector<double>& v) { apply_preconditioner(of_, v); });
  std::vector<Probe> probes;
  for (const std::vector<double>& v : rough) probes.push_back({v, {}});
  bool converged = solve(true, probes);
  const auto better = [](const Probe& a, const Probe& b) { return a.bound() < b.bound(); };
  Probe best = *std::max_element(probes.begin(), probes.end(), better);
  for (int k = 0; converged && k < kSteps; ++k) {
    std::vector<Probe> signs(1), next(1);
    for (const double x : best.x) signs[0].v.push_back(x < 0 ? -1 : 1);
    converged = solve(false, signs);
    const std::vector<double>& z = signs[0].x;
    const auto largest = std::max_element(
        z.begin(), z.end(), [](double x, double y) { return std::abs(x) < std::abs(y); });
    if (!(std::abs(*largest) > best.sum)) break;  // no unit vector gives more
    next[0].v.assign(z.size(), 0.0);
    next[0].v[static_cast<std::size_t>(largest - z.begin())] = 1;
    converged = solve(true, next) && converged;
    if (!better(best, next[0])) break;
    best = std::move(next[0]);
  }
  return {best.bound(), converged};
}

}  // namespace stepwell::solvers

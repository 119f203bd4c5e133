// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include "attack/environment.hpp"
#include "engine/runtime.hpp"
#include "kernels/quad.hpp"
#include "solvers/fixture.hpp"

/// Covariances at the edge of definiteness are called 'not positive definite' only where LAPACK's
/// dpotrf says so too. A seed names a matrix. STEPWELL_ATTACK_FIRST and STEPWELL_ATTACK_COUNT
/// select the seeds; the full attack is 0 and 10000.
namespace stepwell::solvers::test {
namespace {

using attack::from_environment;

struct Point {
  double x = 0, y = 0;
};

/// Points on a line (sorted or random) or in the plane (random or on a grid), some of them twice.
std::vector<Point> points(std::int64_t n, std::int64_t layout, Random& random) {
  const auto uniform = [&] { return static_cast<double>(random.bits() >> 11) * 0x1p-53; };
  std::vector<Point> p(static_cast<std::size_t>(n));
  const auto side = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(n))));
  for (std::int64_t i = 0; i < n; ++i) {
    Point& at = p[static_cast<std::size_t>(i)];
    switch (layout) {
      case 0:
        at.x = static_cast<double>(i) / static_cast<double>(n);
        break;
      case 1:
        at.x = uniform();
        break;
      case 2:
        at = {static_cast<double>(i % side) / static_cast<double>(side),
              static_cast<double>(i / side) / static_cast<double>(side)};
        break;
      default:
        at = {uniform(), uniform()};
        if (layout == 4 && i > 0 && random.integer(0, 9) == 0) {
          at = p[static_cast<std::size_t>(random.integer(0, i - 1))];
        }
    }
  }
  return p;
}

double covariance(std::int64_t kernel, double r) {
  const double s3 = std::sqrt(3.0) * r, s5 = std::sqrt(5.0) * r;
  switch (kernel) {
    case 0:
      return std::exp(-r * r);
    case 1:
      return std::exp(-r);
    case 2:
      return (1 + s3) * std::exp(-s3);
    case 3:
      return (1 + s5 + s5 * s5 / 3) * std::exp(-s5);
    default:
      return 1 / (1 + r * r);  // rational quadratic
  }
}

struct Case {
  Dense<double> a;
  SolveOptions options;
  std::string text;
};

Case make_case(std::int64_t seed, std::int64_t most) {
  Random random(static_cast<std::uint64_t>(seed));
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random.bits() >> 11) * 0x1p-53;
  };
  const auto n = static_cast<std::int64_t>(
      std::exp(uniform(std::log(50.0), std::log(static_cast<double>(most)))));
  const std::int64_t kernel = random.integer(0, 4), layout = random.integer(0, 4);
  // Some nuggets are below the rounding errors, otherwise no matrix would be refused.
  const bool hopeless = random.integer(0, 3) == 0;
  const double nugget = std::pow(10, hopeless ? uniform(-18, -14) : uniform(-14, -8));
  const double length = std::pow(10, uniform(-1, 0.5));
  const std::vector<Point> p = points(n, layout, random);
  Case c;
  c.a = Dense<double>(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const Point a = p[static_cast<std::size_t>(i)], b = p[static_cast<std::size_t>(j)];
      c.a(i, j) =
          covariance(kernel, std::hypot(a.x - b.x, a.y - b.y) / length) + (i == j ? nugget : 0);
    }
  }
  const std::string maps[] = {"", "", "fp64", "fp64", "bf16x3"};
  const std::string map = maps[random.integer(0, 4)];
  if (!map.empty()) c.options.map = parse_map(map);
  c.options.tile = map.empty() ? 0 : std::vector<std::int64_t>{0, 64, 256}[random.integer(0, 2)];
  char text[160];
  std::snprintf(text, sizeof text, "seed %lld: n %lld kernel %lld layout %lld nugget %.2g map '%s'",
                static_cast<long long>(seed), static_cast<long long>(n),
                static_cast<long long>(kernel), static_cast<long long>(layout), nugget,
                map.c_str());
  c.text = text;
  return c;
}

TEST(DefiniteTest, OnlyWhatDpotrfRefusesIsNotPositiveDefinite) {
  const std::int64_t first = from_environment("STEPWELL_ATTACK_FIRST", 0);
  const std::int64_t all = from_environment("STEPWELL_ATTACK_COUNT", 0);
  const std::int64_t count = all > 0 ? all : kSanitized ? 40 : 300;
  const std::int64_t most = all > 0 ? 2000 : kSanitized ? 300 : 700;
  std::int64_t refused = 0, by_lapack = 0;
  Context context(1);
  for (std::int64_t seed = first; seed < first + count; ++seed) {
    Case c = make_case(seed, most);
    c.options.engine.context = &context;
    const std::int64_t n = c.a.rows;
    const Dense<double> b = gaussian_columns(n, 1);
    Dense<double> x(n, 1);
    const Certificate got = solve_spd(c.a.view(), b.view(), x.view(), c.options);
    if (got.outcome != SolveOutcome::not_positive_definite) continue;
    ++refused;
    const engine::SingleThreadedBlas blas;  // the library calls BLAS this way, too
    const std::int64_t pivot = lapack_pivot(scaled(c.a.view(), Scaling::powers_of_two).view());
    by_lapack += pivot >= 0 ? 1 : 0;
    EXPECT_GE(pivot, 0) << c.text << ": pivot " << got.pivot << " is " << got.pivot_value;
  }
  std::printf("seeds %lld to %lld: %lld refused, %lld of them by dpotrf\n",
              static_cast<long long>(first), static_cast<long long>(first + count - 1),
              static_cast<long long>(refused), static_cast<long long>(by_lapack));
  EXPECT_GT(refused, 0);  // otherwise the matrices are too well conditioned for this test
  EXPECT_LT(refused, count);
}

}  // namespace
}  // namespace stepwell::solvers::test

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include "attack/environment.hpp"
#include "kernels/quad.hpp"
#include "solvers/general_fixture.hpp"

/// Condition numbers and forward errors against A^-1 and x in quad precision: a forward error is
/// never below the truth, a condition number never above it and at most three times below, and
/// neither is ever zero. A seed names a system; STEPWELL_ATTACK_FIRST and STEPWELL_ATTACK_COUNT
/// select the seeds.
namespace stepwell::solvers::test {
namespace {

using attack::from_environment;
using stepwell::test::abs_of;
using stepwell::test::Quad;

struct System {
  Dense<double> a, b;
  bool spd = false;
  SolveOptions options;
};

double uniform(Random& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random.bits() >> 11) * 0x1p-53;
}

/// A singular value of a spectrum that is geometric, arithmetic, or has one small or one large
/// value.
double spectrum(std::int64_t kind, double place, double condition) {
  if (kind == 0) return std::pow(condition, -place);
  if (kind == 1) return 1 - place * (1 - 1 / condition);
  if (kind == 2) return place == 1 ? 1 / condition : 1;
  return place == 0 ? 1 : 1 / condition;
}

/// A <- (I - 2vv') A for a unit vector v; A (I - 2vv') if 'right'.
void reflect(Dense<double>& a, const std::vector<double>& v, bool right) {
  const std::int64_t n = a.rows;
  for (std::int64_t k = 0; k < n; ++k) {
    const auto at = [&](std::int64_t i) -> double& { return right ? a(k, i) : a(i, k); };
    double dot = 0;
    for (std::int64_t i = 0; i < n; ++i) dot += v[static_cast<std::size_t>(i)] * at(i);
    for (std::int64_t i = 0; i < n; ++i) at(i) -= 2 * dot * v[static_cast<std::size_t>(i)];
  }
}

double norm_inf(const Dense<double>& a) {
  double largest = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < a.cols; ++j) sum += std::abs(a(i, j));
    largest = std::max(largest, sum);
  }
  return largest;
}

std::vector<double> unit_vector(std::int64_t n, Random& random) {
  std::vector<double> v(static_cast<std::size_t>(n));
  double squares = 0;
  for (double& x : v) {
    x = random.gaussian();
    squares += x * x;
  }
  for (double& x : v) x /= std::sqrt(squares);
  return v;
}

System make_system(std::int64_t seed, std::int64_t most) {
  Random random(static_cast<std::uint64_t>(seed));
  System s;
  s.spd = random.integer(0, 1) == 0;
  const std::int64_t n = random.integer(2, most), kind = random.integer(0, 3);
  const double condition = std::pow(10, uniform(random, 0, 17));
  s.a = Dense<double>(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    s.a(i, i) = spectrum(kind, static_cast<double>(i) / static_cast<double>(n - 1), condition);
  }
  for (int k = 0; k < 3; ++k) {
    const std::vector<double> v = unit_vector(n, random);
    reflect(s.a, v, false);
    reflect(s.a, s.spd ? v : unit_vector(n, random), true);
  }
  // Badly scaled rows and columns, and the whole matrix near an end of FP64's range.
  const double decades = random.integer(0, 2) == 0 ? uniform(random, 0, 20) : 0;
  const auto power = static_cast<int>(random.integer(0, 3) == 0 ? random.integer(-800, 800) : 0);
  std::vector<double> row(static_cast<std::size_t>(n)), col(row);
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = std::pow(10, uniform(random, -decades, decades));
    col[i] = s.spd ? row[i] : std::pow(10, uniform(random, -decades, decades));
  }
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double x = s.spd && i < j ? s.a(j, i) : s.a(i, j);
      s.a(i, j) = std::ldexp(
          x * row[static_cast<std::size_t>(i)] * col[static_cast<std::size_t>(j)], power);
    }
  }
  for (std::int64_t j = 0; j < n && s.spd; ++j) {
    for (std::int64_t i = 0; i < j; ++i) s.a(i, j) = s.a(j, i);
  }
  s.b = Dense<double>(n, 1);
  for (double& x : s.b.data) x = random.gaussian();
  const std::string maps[] = {"", "", "bf16", "bf16x3", "fp32", "fp64"};
  const std::string map = maps[random.integer(0, 5)];
  if (!map.empty()) s.options.map = parse_map(map);
  s.options.climb = random.integer(0, 3) > 0;
  s.options.prove = random.integer(0, 1) == 0;
  s.options.condition = true;
  return s;
}

struct Truth {
  bool known = false;  ///< false if A is singular
  double condition = 0;
  std::vector<Quad> x;
};

/// Gauss-Jordan elimination with row pivoting, after scaling the rows to 1.
Truth truth_of(const System& s) {
  const std::int64_t n = s.a.rows;
  const std::int64_t width = 2 * n + 1;  // A, b and the identity
  std::vector<Quad> m(static_cast<std::size_t>(n * width));
  const auto at = [&](std::int64_t i, std::int64_t j) -> Quad& {
    return m[static_cast<std::size_t>(i * width + j)];
  };
  double norm = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    double largest = 0, sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      largest = std::max(largest, std::abs(s.a(i, j)));
      sum += std::abs(s.a(i, j));
    }
    norm = std::max(norm, sum);
    const Quad scale = 1 / static_cast<Quad>(largest);
    for (std::int64_t j = 0; j < n; ++j) at(i, j) = s.a(i, j) * scale;
    at(i, n) = s.b(i, 0) * scale;
    at(i, n + 1 + i) = scale;
  }
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k; i < n; ++i) {
      if (abs_of(at(i, k)) > abs_of(at(pivot, k))) pivot = i;
    }
    if (at(pivot, k) == 0) return {};
    for (std::int64_t j = 0; j < width; ++j) std::swap(at(k, j), at(pivot, j));
    const Quad by = 1 / at(k, k);
    for (std::int64_t j = k; j < width; ++j) at(k, j) *= by;
    for (std::int64_t i = 0; i < n; ++i) {
      const Quad f = at(i, k);
      if (i == k || f == 0) continue;
      for (std::int64_t j = k; j < width; ++j) at(i, j) -= f * at(k, j);
    }
  }
  Truth t{true, 0, {}};
  Quad inverse = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    Quad sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += abs_of(at(i, n + 1 + j));
    inverse = std::max(inverse, sum);
    t.x.push_back(at(i, n));
  }
  t.condition = static_cast<double>(inverse * norm);
  return t;
}

TEST(ConditionTest, ForwardErrorsAreNeverBelowTheTruth) {
  const std::int64_t first = from_environment("STEPWELL_ATTACK_FIRST", 0);
  const std::int64_t all = from_environment("STEPWELL_ATTACK_COUNT", 0);
  const std::int64_t count = all > 0 ? all : kSanitized ? 100 : 600;
  std::int64_t known = 0, unknown = 0;
  Context context(1);
  for (std::int64_t seed = first; seed < first + count; ++seed) {
    System s = make_system(seed, all > 0 ? 60 : 30);
    s.options.engine.context = &context;
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", n " << s.a.rows);
    Dense<double> x(s.a.rows, 1);
    const Certificate c = s.spd ? solve_spd(s.a.view(), s.b.view(), x.view(), s.options)
                                : solve_general(s.a.view(), s.b.view(), x.view(), s.options);
    const double bound = c.columns[0].forward_error;
    EXPECT_NE(c.condition, 0);
    EXPECT_NE(bound, 0);
    if (!c.ok()) continue;
    const Truth t = truth_of(s);
    if (!t.known || !(t.condition < 1e28)) continue;  // beyond what quad precision can resolve
    if (!std::isnan(c.condition)) {
      EXPECT_LE(c.condition, t.condition * (1 + 1e-10));
      EXPECT_TRUE(c.condition >= t.condition / 3 || t.condition >= 1e15) << t.condition;
    }
    Quad error = 0, size = 0;
    for (std::int64_t i = 0; i < s.a.rows; ++i) {
      error = std::max(error, abs_of(x(i, 0) - t.x[static_cast<std::size_t>(i)]));
      size = std::max(size, abs_of(static_cast<Quad>(x(i, 0))));
    }
    ++(std::isnan(bound) ? unknown : known);
    EXPECT_FALSE(static_cast<double>(error / size) > bound) << bound;
    // A matrix far from singular must not get an unknown condition number or forward error.
    const bool clear = t.condition < 1e10;
    EXPECT_FALSE(clear && (std::isnan(bound) || std::isnan(c.condition))) << t.condition;
  }
  std::printf("seeds %lld to %lld: %lld forward errors, %lld unknown\n",
              static_cast<long long>(first), static_cast<long long>(first + count - 1),
              static_cast<long long>(known), static_cast<long long>(unknown));
  EXPECT_GT(known, unknown);
  EXPECT_GT(unknown, 0);
}

// Above the order up to which A is inverted, the probes converge: also with a coarse factor that
// gives no useful direction, and with one that is replaced by a better one.
TEST(ConditionTest, LargeSystemsAreProbedUntilProbesConverge) {
  const std::int64_t n = kSanitized ? 520 : 600;
  Random random(5);
  for (const double small : {1e-3, 1e-9, 1e-12}) {
    Dense<double> a(n, n);
    for (std::int64_t i = 0; i < n; ++i) a(i, i) = i == n / 2 ? small : 1;
    const std::vector<double> u = unit_vector(n, random), v = unit_vector(n, random);
    reflect(a, u, false);
    reflect(a, v, true);
    // A^-1 = V D^-1 U, where U = I - 2uu' and V = I - 2vv'.
    Dense<double> inverse(n, n);
    for (std::int64_t i = 0; i < n; ++i) inverse(i, i) = i == n / 2 ? 1 / small : 1;
    reflect(inverse, v, false);
    reflect(inverse, u, true);
    const double truth = norm_inf(a) * norm_inf(inverse);
    for (const char* map : {"bf16", "fp64"}) {
      SolveOptions options = with_map(map);
      options.condition = options.prove = true;
      const Dense<double> b = gaussian_columns(n, 1);
      Dense<double> x(n, 1);
      const Certificate c = solve_general(a.view(), b.view(), x.view(), options);
      ASSERT_TRUE(c.ok()) << small << map;
      EXPECT_LE(c.condition / truth, 1.001) << small << map;
      EXPECT_GE(c.condition / truth, 1.0 / 3) << small << map;
      EXPECT_GT(c.columns[0].forward_error, 0) << small << map;
      // With a requested map and without climbing, the condition number is right or unknown.
      options.climb = false;
      const Certificate stuck = solve_general(a.view(), b.view(), x.view(), options);
      if (std::isnan(stuck.condition)) continue;
      EXPECT_GE(stuck.condition / truth, 1.0 / 3) << small << map;
    }
  }
}

}  // namespace
}  // namespace stepwell::solvers::test

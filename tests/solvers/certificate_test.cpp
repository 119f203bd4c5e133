// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "kernels/quad.hpp"
#include "solvers/fixture.hpp"

extern "C" void dsyev_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda,
                       double* w, double* work, const int* lwork, int* info);

/// Certificates and plans are correct: condition numbers, error bounds, proofs, memory.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;
using stepwell::test::abs_of;
using stepwell::test::Quad;

double infinity_norm(const Dense<double>& a) {
  double norm = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < a.cols; ++j) sum += std::abs(a(i, j));
    norm = std::max(norm, sum);
  }
  return norm;
}

/// ||A|| ||A^-1|| in the infinity norm, from the eigenvectors.
double condition_of(const Dense<double>& a) {
  const int n = static_cast<int>(a.rows), size = 34 * n;
  Dense<double> v(a);
  std::vector<double> w(n), work(size);
  int info = 0;
  dsyev_("V", "L", &n, v.data.data(), &n, w.data(), work.data(), &size, &info);
  EXPECT_EQ(info, 0);
  Dense<double> inverse(n, n);
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) inverse(i, j) += v(i, k) * v(j, k) / w[k];
    }
  }
  return infinity_norm(a) * infinity_norm(inverse);
}

/// The solution of A x = b by Cholesky in 113 bits.
std::vector<Quad> quad_solution(const Dense<double>& a, const double* b) {
  const std::int64_t n = a.rows;
  Dense<Quad> l(n, n);
  std::vector<Quad> d(n), x(b, b + n);  // L D L', so that no square root is needed
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      Quad s = a(i, j);
      for (std::int64_t k = 0; k < j; ++k) s -= l(i, k) * d[k] * l(j, k);
      if (i == j) d[j] = s;
      l(i, j) = s / d[j];
    }
  }
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j + 1; i < n; ++i) x[i] -= l(i, j) * x[j];
  }
  for (std::int64_t j = n - 1; j >= 0; --j) {
    x[j] /= d[j];
    for (std::int64_t i = j + 1; i < n; ++i) x[j] -= l(i, j) * x[i];
  }
  return x;
}

Quad quad_max(const std::vector<Quad>& x) {
  Quad largest = 0;
  for (const Quad e : x) largest = std::max(largest, abs_of(e));
  return largest;
}

class Conditions : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Solve, Conditions,
                         ::testing::Values(Kind::arithmetic, Kind::clustered, Kind::logarithmic,
                                           Kind::geometric, Kind::custom_clustered));

TEST_P(Conditions, AreEstimatedFromBelowWithinAFactorOfTen) {
  for (const std::int64_t n : {2, 10, 60, 150}) {
    for (int decade = 1; decade <= 12; decade += kSanitized && n == 150 ? 4 : 1) {
      const Dense<double> a = gallery_matrix(GetParam(), n, std::pow(10, decade), 3);
      const double exact = condition_of(a);
      for (const char* const map : {"default", "bf16", "fp32"}) {
        SolveOptions options = with_map(map);
        options.condition = true;
        const Solved s = solve(a, gaussian_columns(n, 1), options);
        ASSERT_TRUE(s.certificate.ok()) << s.certificate.reason;
        const double slack = 1 + std::pow(10, decade - 14);  // the error of dsyev
        EXPECT_LE(s.certificate.condition, exact * 1.1 * slack) << n << ", 1e" << decade << map;
        EXPECT_GE(s.certificate.condition, exact / 10) << n << ", 1e" << decade << map;
      }
    }
  }
}

TEST_P(Conditions, MakeABoundOnTheForwardError) {
  for (const std::int64_t n : {1, 2, 5, 30, 100}) {
    for (int decade = 0; decade <= 14; decade += n == 100 ? 4 : 1) {
      const Dense<double> a = gallery_matrix(GetParam(), n, std::pow(10, decade), 4);
      const Dense<double> b = gaussian_columns(n, 2);
      for (const bool prove : {false, true}) {
        SolveOptions options = with_map(decade % 2 == 0 ? "default" : "bf16x2");
        options.condition = true;
        options.prove = prove;
        const Solved s = solve(a, b, options);
        if (!s.certificate.ok()) continue;
        for (std::int64_t c = 0; c < 2; ++c) {
          const std::vector<Quad> exact = quad_solution(a, b.view().column(c));
          Quad error = 0, size = 0;
          for (std::int64_t i = 0; i < n; ++i) {
            error = std::max(error, abs_of(exact[i] - s.x(i, c)));
            size = std::max(size, abs_of(static_cast<Quad>(s.x(i, c))));
          }
          const double bound = s.certificate.columns[static_cast<std::size_t>(c)].forward_error;
          EXPECT_GT(bound, 0);
          EXPECT_LE(static_cast<double>(error / size), bound)
              << n << ", 1e" << decade << ", proof " << prove;
        }
      }
    }
  }
}

TEST(Proof, IsABoundOnTheExactBackwardErrorAndClose) {
  for (const std::int64_t n : {1, 2, 9, 33, 64, 200}) {
    for (const auto& [scale, map] : std::vector<std::pair<double, const char*>>{
             {1, "default"}, {0x1p-900, "bf16"}, {0x1p900, "fp32"}, {1, "bf16x2"}}) {
      Dense<double> a = gallery_matrix(Kind::geometric, n, 1e4, 8);
      for (double& e : a.data) e *= scale;
      const Dense<double> b = gaussian_columns(n, 3);
      SolveOptions options = with_map(map);
      options.prove = true;
      const Solved s = solve(a, b, options);
      ASSERT_TRUE(s.certificate.ok()) << s.certificate.reason;
      for (std::int64_t c = 0; c < 3; ++c) {
        std::vector<Quad> r(b.view().column(c), b.view().column(c) + n);
        std::vector<Quad> x(s.x.view().column(c), s.x.view().column(c) + n);
        std::vector<Quad> right = r, sums(n);
        for (std::int64_t j = 0; j < n; ++j) {
          for (std::int64_t i = 0; i < n; ++i) {
            r[i] -= static_cast<Quad>(a(i, j)) * x[j];
            sums[i] += abs_of(static_cast<Quad>(a(i, j)));
          }
        }
        const auto exact =
            static_cast<double>(quad_max(r) / (quad_max(sums) * quad_max(x) + quad_max(right)));
        const double proven =
            s.certificate.columns[static_cast<std::size_t>(c)].proven_backward_error;
        EXPECT_GE(proven, exact * (1 - 1e-12)) << n << ", " << map;
        EXPECT_LE(proven, exact * (1 + 1e-9) + 1e-3 * kU64) << n << ", " << map;
      }
    }
  }
}

TEST(Plan, KnowsItsMemory) {
  for (const std::int64_t n : {10, 64, 65, 300, 767, 768, 1024, 1500}) {
    for (const std::int64_t columns : {1, 17}) {
      for (const char* const map : {"default", "bf16", "fp32", "bf16x2", "fp64"}) {
        if (n > 1000 && columns > 1) continue;
        SolveOptions options = with_map(map);
        const Plan plan = plan_spd(n, columns, options);
        const Solved s =
            solve(gallery_matrix(Kind::geometric, n, 30, 2), gaussian_columns(n, columns), options);
        ASSERT_TRUE(s.certificate.ok()) << s.certificate.reason;
        if (map_text(s.certificate.method) != map_text(plan.method))
          continue;  // it was easier or harder than planned
        const auto used = static_cast<double>(s.certificate.peak_bytes);
        EXPECT_GE(static_cast<double>(plan.bytes), used) << n << ", " << columns << ", " << map;
        EXPECT_LE(static_cast<double>(plan.bytes), 1.1 * used)
            << n << ", " << columns << ", " << map;
        EXPECT_GE(plan.top_bytes, plan.bytes);
        EXPECT_GT(plan.seconds, 0);
        EXPECT_GT(used, static_cast<double>(n * n)) << "at least a factor of one byte a number";
      }
    }
  }
}

TEST(Plan, IsDirectWhereNothingBeatsIt) {
  for (const std::int64_t n : {1, 50, 500, 767}) {
    EXPECT_EQ(plan_spd(n, 1).method.refiner, Refiner::direct) << n;
    EXPECT_EQ(map_text(plan_spd(n, 1).method), "fp64") << n;
  }
  const Plan large = plan_spd(20000, 1);
  EXPECT_NE(map_text(large.method), "fp64");
  EXPECT_NE(large.method.refiner, Refiner::direct);
  EXPECT_LT(plan_spd(5000, 1).seconds, plan_spd(10000, 1).seconds);
}

TEST(Plan, CountsTheBasesOfGmres) {
  SolveOptions options = with_map("bf16");
  const std::int64_t cg = plan_spd(2000, 16, options).bytes;
  options.refine.refiner = Refiner::gmres;
  EXPECT_GT(plan_spd(2000, 16, options).bytes, cg + std::int64_t{40} * 2000 * 16 * 8);
}

TEST(Certificates, OfManyColumnsNameTheSlowest) {
  const Dense<double> a = gallery_matrix(Kind::geometric, 100, 1e3), b = gaussian_columns(100, 150);
  const Solved s = solve(a, b, with_map("bf16"));
  ASSERT_TRUE(s.certificate.ok()) << s.certificate.reason;
  int most = 0;
  for (const ColumnCertificate& c : s.certificate.columns) most = std::max(most, c.iterations);
  EXPECT_EQ(s.certificate.iterations, most);
  EXPECT_EQ(s.certificate.rungs.size(), 1u);
}

TEST(Certificates, KeepMapAndOutcomeWhenTheConditionIsEstimatedLater) {
  // A narrow spectrum: CG needs no factor, the estimate does.
  const std::int64_t n = 1000;
  if (plan_spd(n, 1).method.refiner == Refiner::direct) GTEST_SKIP() << "direct at this size here";
  const Dense<double> a = gallery_matrix(Kind::arithmetic, n, 1.2), b = gaussian_columns(n, 1);
  SolveOptions options;
  const Solved without = solve(a, b, options);
  options.condition = true;
  const Solved with = solve(a, b, options);
  EXPECT_EQ(map_text(with.certificate.method), map_text(without.certificate.method));
  EXPECT_TRUE(with.certificate.ok());
  EXPECT_GT(with.certificate.condition, 1);
  EXPECT_TRUE(same_bits(with.x.view(), without.x.view()));
}

TEST(Certificates, SayWhatWorkingPrecisionReached) {
  const Dense<double> a = gallery_matrix(Kind::geometric, 200, 1e2), b = gaussian_columns(200, 2);
  SolveOptions options = with_map("bf16");
  options.refine.working = Format::fp32;
  const Solved s = solve(a, b, options);
  EXPECT_TRUE(s.certificate.ok()) << s.certificate.reason;
  EXPECT_EQ(s.certificate.tolerance, std::sqrt(200.0) * 0x1p-24);
  EXPECT_LE(backward_error(a.view(), b.view(), s.x.view()), 2 * 0x1p-24);
  options.refine.working = Format::fp64;
  options.refine.exact_residual = true;
  EXPECT_LE(backward_error(a.view(), b.view(), solve(a, b, options).x.view()), 1.5 * kU64);
}

}  // namespace
}  // namespace stepwell::solvers::test

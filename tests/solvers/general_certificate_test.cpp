// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "kernels/quad.hpp"
#include "solvers/general_fixture.hpp"

/// Certificates and plans of general solves are correct: condition numbers, error bounds, memory.
namespace stepwell::solvers::test {
namespace {

using gallery::Kind;
using stepwell::test::abs_of;
using stepwell::test::Quad;

/// Gauss-Jordan inversion in 113 bits.
Dense<Quad> quad_inverse(const Dense<double>& a) {
  const std::int64_t n = a.rows;
  Dense<Quad> w(n, 2 * n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) w(i, j) = a(i, j);
    w(i, n + i) = 1;
  }
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k; i < n; ++i) {
      if (abs_of(w(i, k)) > abs_of(w(best, k))) best = i;
    }
    for (std::int64_t j = 0; j < 2 * n; ++j) std::swap(w(k, j), w(best, j));
    for (std::int64_t i = 0; i < n; ++i) {
      const Quad f = w(i, k) / w(k, k);
      for (std::int64_t j = k; j < 2 * n && i != k; ++j) w(i, j) -= f * w(k, j);
    }
  }
  Dense<Quad> inverse(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) inverse(i, j) = w(i, n + j) / w(i, i);
  }
  return inverse;
}

/// ||A|| ||A^-1|| in the infinity norm.
double general_condition(const Dense<double>& a) {
  const Dense<Quad> w = quad_inverse(a);
  Quad norm = 0, inverse = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    Quad row = 0, of_inverse = 0;
    for (std::int64_t j = 0; j < a.cols; ++j) {
      row += abs_of(static_cast<Quad>(a(i, j)));
      of_inverse += abs_of(w(i, j));
    }
    norm = std::max(norm, row);
    inverse = std::max(inverse, of_inverse);
  }
  return static_cast<double>(norm * inverse);
}

TEST(GeneralConditions, AreEstimatedFromBelowWithinAFactorOfTen) {
  for (const Kind kind : {Kind::general_geometric, Kind::triw, Kind::chebspec, Kind::randn}) {
    for (const std::int64_t n : {2, 10, 40}) {
      const Dense<double> a = gallery_matrix(kind, n, 1e6, 3);
      const double exact = general_condition(a), of_transposed = general_condition(transpose(a));
      for (const char* const map : {"default", "bf16x2", "fp32"}) {
        for (const bool transposed : {false, true}) {
          SolveOptions options = with_map(map);
          options.condition = true;
          options.transposed = transposed;
          const Solved s = solve_general(a, gaussian_columns(n, 1), options);
          ASSERT_TRUE(s.certificate.ok()) << s.certificate.reason;
          const double expected = transposed ? of_transposed : exact;
          EXPECT_LE(s.certificate.condition, expected * 1.1)
              << gallery::to_string(kind) << " " << n << ", " << map << ", " << transposed;
          EXPECT_GE(s.certificate.condition, expected / 10)
              << gallery::to_string(kind) << " " << n << ", " << map << ", " << transposed;
        }
      }
    }
  }
}

TEST(GeneralConditions, MakeABoundOnTheForwardError) {
  for (const Kind kind : {Kind::general_geometric, Kind::positive_logarithmic}) {
    for (const std::int64_t n : {1, 2, 5, 40}) {
      for (int decade = 0; decade <= 12; decade += n == 40 ? 4 : 2) {
        const Dense<double> a = gallery_matrix(kind, n, std::pow(10, decade), 4);
        const Dense<double> b = gaussian_columns(n, 2);
        for (const bool transposed : {false, true}) {
          const Dense<Quad> inverse = quad_inverse(transposed ? transpose(a) : a);
          SolveOptions options = with_map(decade % 4 == 0 ? "default" : "bf16x2");
          options.condition = true;
          options.prove = n % 2 == 0;
          options.transposed = transposed;
          const Solved s = solve_general(a, b, options);
          ASSERT_TRUE(s.certificate.ok()) << s.certificate.reason;
          for (std::int64_t c = 0; c < 2; ++c) {
            Quad error = 0, size = 0;
            for (std::int64_t i = 0; i < n; ++i) {
              Quad exact = 0;
              for (std::int64_t j = 0; j < n; ++j) exact += inverse(i, j) * b(j, c);
              error = std::max(error, abs_of(exact - s.x(i, c)));
              size = std::max(size, abs_of(static_cast<Quad>(s.x(i, c))));
            }
            const double bound = s.certificate.columns[static_cast<std::size_t>(c)].forward_error;
            EXPECT_GT(bound, 0);
            EXPECT_LE(static_cast<double>(error / size), bound)
                << gallery::to_string(kind) << " " << n << ", 1e" << decade << ", " << transposed;
          }
        }
      }
    }
  }
}

TEST(GeneralPlan, KnowsItsMemory) {
  for (const std::int64_t n : {10, 65, 300, 1024, 1535, 1600}) {
    for (const std::int64_t columns : {1, 17}) {
      for (const char* const map : {"default", "bf16", "fp32", "fp64"}) {
        if (n > 1000 && columns > 1) continue;
        const SolveOptions options = with_map(map);
        const Plan plan = plan_general(n, columns, options);
        const Solved s = solve_general(gallery_matrix(Kind::positive_arithmetic, n, 30, 2),
                                       gaussian_columns(n, columns), options);
        ASSERT_TRUE(s.certificate.ok()) << s.certificate.reason;
        if (map_text(s.certificate.method) != map_text(plan.method))
          continue;  // the system was harder than planned
        const auto used = static_cast<double>(s.certificate.peak_bytes);
        EXPECT_GE(static_cast<double>(plan.bytes), used) << n << ", " << columns << ", " << map;
        EXPECT_LE(static_cast<double>(plan.bytes), 1.1 * used)
            << n << ", " << columns << ", " << map;
        EXPECT_GE(plan.top_bytes, plan.bytes);
        EXPECT_GT(plan.seconds, 0);
      }
    }
  }
  EXPECT_EQ(plan_general(50, 1).method.refiner, Refiner::direct);
  EXPECT_EQ(map_text(plan_general(50, 1).method), "fp64");
  EXPECT_EQ(refiner_text(plan_general(20000, 1).method), "fgmres");
  EXPECT_LT(plan_general(5000, 1).seconds, plan_general(10000, 1).seconds);
}

}  // namespace
}  // namespace stepwell::solvers::test

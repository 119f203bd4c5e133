// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batched/batch_fixture.hpp"
#include "sanitized.hpp"

/// Backward errors of each system, fp32 factors refined in FP64, and the option 'fast'.
namespace stepwell::test {
namespace {

/// max over columns of ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity norm, in long double.
template <class T>
double true_error(const Plain<T>& a, const Plain<T>& b, const Plain<T>& x, std::int64_t m) {
  const std::int64_t n = a.rows;
  long double worst = 0;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    long double residual = 0, norm = 0, of_x = 0, of_b = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      long double r = b[m][i + c * n], row = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        r -= static_cast<long double>(a[m][i + j * n]) * x[m][j + c * n];
        row += std::abs(static_cast<long double>(a[m][i + j * n]));
      }
      residual = std::max(residual, std::abs(r));
      norm = std::max(norm, row);
      of_x = std::max(of_x, std::abs(static_cast<long double>(x[m][i + c * n])));
      of_b = std::max(of_b, std::abs(static_cast<long double>(b[m][i + c * n])));
      if (std::isnan(x[m][i + c * n])) return std::numeric_limits<double>::quiet_NaN();
    }
    worst = std::max(worst, residual / (norm * of_x + of_b));
  }
  return static_cast<double>(worst);
}

/// Both values may differ by what n + 3 roundings of a residual and its norms explain.
template <class T>
void expect_certified(double claimed, double true_one, std::int64_t n, const std::string& where) {
  const double noise = static_cast<double>(n + 3) * kRoundoff<T>;
  EXPECT_TRUE(claimed >= true_one - noise) << where << ": " << claimed << ", in truth " << true_one;
  EXPECT_TRUE(claimed <= true_one + noise) << where << ": " << claimed << ", in truth " << true_one;
}

template <class T>
class BatchErrors : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BatchErrors, Types);

TYPED_TEST(BatchErrors, AreThoseOfTheAnswers) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 5, 16, 33, 64, 100, 128}) {
    const std::int64_t count = 2 * batch_lanes(kFormat<T>) + 3;
    Plain<T> a = definite<T>(count, n, 71);
    const Plain<T> b = right_hand_sides<T>(count, n, 3, 72);
    a[5][(n - 1) * (n + 1)] = -1;  // not positive definite
    for (const Layout layout : kLayouts) {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        for (const bool keep : {false, true}) {
          Stored<T> stored(layout, only(triangle, a)), right(layout, b);
          std::vector<double> errors(static_cast<std::size_t>(count), -1);
          BatchOptions options;
          options.triangle = triangle;
          BatchOutputs outputs;
          outputs.backward_errors = errors;
          const BatchReport report =
              keep ? batch_factor_solve(stored.view(), right.view(), options, outputs)
                   : batch_solve(stored.view(), right.view(), options, outputs);
          EXPECT_EQ(report.failures, std::vector<std::int64_t>{5});
          const Plain<T> x = right.plain();
          double worst = 0;
          for (std::int64_t m = 0; m < count; ++m) {
            const double error = errors[static_cast<std::size_t>(m)];
            if (m == 5) {
              EXPECT_TRUE(std::isnan(error)) << n;
              continue;
            }
            worst = std::max(worst, error);
            expect_certified<T>(error, true_error(a, b, x, m), n, "n = " + std::to_string(n));
          }
          EXPECT_EQ(report.backward_error, worst) << n;
        }
      }
    }
  }
}

struct MixedAnswer {
  MixedAnswer(const Plain<double>& a, const Plain<double>& b, BatchOptions options = {})
      : x(b), errors(size(a)), pivots(size(a), 77), iterations(size(a), 77) {
    options.mixed = true;
    BatchOutputs outputs;
    outputs.pivots = pivots;
    outputs.backward_errors = errors;
    outputs.iterations = iterations;
    report = batch_solve(a.view(), x.view(), options, outputs);
  }
  static std::size_t size(const Plain<double>& a) { return static_cast<std::size_t>(a.count); }

  Plain<double> x;
  std::vector<double> errors;
  std::vector<std::int32_t> pivots, iterations;
  BatchReport report;
};

/// a + scale v v', whose condition number is about scale.
void make_ill_conditioned(Plain<double>& a, std::int64_t m, double scale) {
  const std::int64_t n = a.rows;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double u = 1 + 0.3 * std::sin(static_cast<double>(3 * i + m));
      const double v = 1 + 0.3 * std::sin(static_cast<double>(3 * j + m));
      a[m][i + j * n] += scale * (u * v);
    }
  }
}

TEST(BatchMixed, WellConditionedSystemsReachTheTolerance) {
  for (std::int64_t n = 1; n <= kBatchOrder; n += n < 20 ? 1 : 9) {
    const Plain<double> a = definite<double>(50, n, 73), b = right_hand_sides<double>(50, n, 2, 74);
    const MixedAnswer answer(a, b);
    EXPECT_TRUE(answer.report.ok());
    EXPECT_EQ(answer.report.tolerance, std::sqrt(static_cast<double>(n)) * 0x1p-53);
    EXPECT_EQ(answer.report.solved_in_fp64, 0) << n;
    EXPECT_LE(answer.report.backward_error, answer.report.tolerance) << n;
    for (std::int64_t m = 0; m < 50; ++m) {
      const auto place = static_cast<std::size_t>(m);
      EXPECT_EQ(answer.pivots[place], -1);
      EXPECT_GE(answer.iterations[place], 0);
      EXPECT_LE(answer.iterations[place], 4);
      EXPECT_LE(answer.errors[place], answer.report.tolerance);
      expect_certified<double>(answer.errors[place], true_error(a, b, answer.x, m), n,
                               "n = " + std::to_string(n));
    }
  }
}

/// The true backward error meets the tolerance, although FP64 residuals may hide n roundings, which
/// is more than the tolerance.
TEST(BatchMixed, MeetsTheToleranceInTruth) {
  std::int64_t refined = 0;
  for (const std::int64_t n : {2, 3, 5, 20, 40, 128}) {
    const std::int64_t count = n < 100 ? 400 : 40;
    Plain<double> a = definite<double>(count, n, 87);
    const Plain<double> b = right_hand_sides<double>(count, n, 1, 88);
    for (std::int64_t m = 0; m < count; ++m) {
      // Equal elements off the diagonal: all rounding errors have the same sign.
      const double equal = 0.1 + 0.01 * static_cast<double>(m % 90);
      for (std::int64_t e = 0; e < n * n && m % 2 == 0; ++e) a[m][e] = equal;
      for (std::int64_t i = 0; i < n; ++i) a[m][i * (n + 1)] += static_cast<double>(1 + i % 3);
    }
    const MixedAnswer answer(a, b);
    for (std::int64_t m = 0; m < count; ++m) {
      const auto place = static_cast<std::size_t>(m);
      if (answer.iterations[place] < 0) continue;
      ++refined;
      const double truth = true_error(a, b, answer.x, m);
      const double noise = static_cast<double>(n + 3) * 0x1p-63;  // of long double
      EXPECT_LE(truth, answer.report.tolerance + noise) << n << ", system " << m;
      EXPECT_LE(truth, answer.errors[place] + noise) << n << ", system " << m;
    }
  }
  EXPECT_GT(refined, 1000);
}

TEST(BatchMixed, IllConditionedSystemsAreSolvedInFp64AndDoNotAffectOthers) {
  for (const std::int64_t n : {2, 5, 16, 30, 64, 100}) {
    const Plain<double> good = definite<double>(60, n, 75);
    const Plain<double> b = right_hand_sides<double>(60, n, 1, 76);
    const MixedAnswer before(good, b);
    Plain<double> a = good;
    for (std::int64_t m = 3; m < 60; m += 7) make_ill_conditioned(a, m, 1e11);
    const MixedAnswer answer(a, b);
    EXPECT_TRUE(answer.report.ok());
    EXPECT_EQ(answer.report.solved_in_fp64,
              std::count(answer.iterations.begin(), answer.iterations.end(), -1));
    EXPECT_GT(answer.report.solved_in_fp64, 0) << n;
    for (std::int64_t m = 0; m < 60; ++m) {
      const auto place = static_cast<std::size_t>(m);
      const std::string where = "n = " + std::to_string(n) + ", system " + std::to_string(m);
      expect_certified<double>(answer.errors[place], true_error(a, b, answer.x, m), n, where);
      // FP64's guarantee (Higham, Theorem 10.4): a factor n for the norm of |L||L'|.
      EXPECT_LE(answer.errors[place], static_cast<double>(n * (3 * n + 8)) * 0x1p-53) << where;
      if (m % 7 != 3) {
        EXPECT_TRUE(same_bits(answer.x[m], before.x[m], n)) << where;
        EXPECT_EQ(answer.iterations[place], before.iterations[place]) << where;
      }
    }
  }
}

TEST(BatchMixed, WhatFp32CanNotHoldIsSolved) {
  for (const std::int64_t n : {1, 8, 40}) {
    const Plain<double> a = definite<double>(40, n, 77), b = right_hand_sides<double>(40, n, 1, 78);
    for (const double scale : {0x1p-300, 0x1p-140, 0x1p140, 0x1p300}) {
      for (const double right : {0x1p-400, 1.0, 0x1p400}) {
        Plain<double> scaled = a, rhs = b;
        for (double& x : scaled.data) x *= scale;
        for (double& x : rhs.data) x *= right;
        const MixedAnswer answer(scaled, rhs);
        EXPECT_TRUE(answer.report.ok());
        for (std::int64_t m = 0; m < 40; ++m) {
          const double error = true_error(scaled, rhs, answer.x, m);
          EXPECT_TRUE(error <= static_cast<double>(3 * n + 8) * 0x1p-53)
              << n << ", A times " << scale << ", b times " << right << ": " << error;
        }
      }
    }
  }
}

TEST(BatchMixed, FailingSystemsHaveLapacksIndexAndKeepTheirB) {
  for (const std::int64_t n : {1, 7, 16, 50}) {
    Plain<double> a = definite<double>(60, n, 79);
    const Plain<double> b = right_hand_sides<double>(60, n, 2, 80);
    const MixedAnswer good(a, b);
    const double bad[] = {-1, 0, std::numeric_limits<double>::quiet_NaN(),
                          -std::numeric_limits<double>::infinity()};
    std::vector<std::int32_t> expected(60, -1);
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::int64_t m = 13 * i + 5, p = (2 * i) % n;
      a[m][p + p * n] = bad[i];
      std::vector<double> copy(a[m], a[m] + n * n);
      expected[static_cast<std::size_t>(m)] = lapack_factor(copy.data(), n);
    }
    const MixedAnswer answer(a, b);
    EXPECT_EQ(answer.pivots, expected) << n;
    for (std::int64_t m = 0; m < 60; ++m) {
      const auto place = static_cast<std::size_t>(m);
      const bool failed = expected[place] >= 0;
      EXPECT_EQ(std::isnan(answer.errors[place]), failed) << n;
      EXPECT_TRUE(same_bits(answer.x[m], failed ? b[m] : good.x[m], 2 * n)) << n << ", " << m;
    }
  }
}

TEST(BatchMixed, HasTheSameBitsForAnyNumberOfThreadsAndAnyPlace) {
  const std::int64_t n = 24, count = 1500;
  Plain<double> a = definite<double>(count, n, 81);
  const Plain<double> b = right_hand_sides<double>(count, n, 1, 82);
  for (std::int64_t m = 0; m < count; m += 11) make_ill_conditioned(a, m, 1e6 + 1e7 * m);
  const MixedAnswer all(a, b);
  for (const int threads : {1, 2, 5}) {
    Context context(threads);
    BatchOptions options;
    options.engine.context = &context;
    const MixedAnswer answer(a, b, options);
    EXPECT_TRUE(same_bits(answer.x[0], all.x[0], count * n)) << threads;
    EXPECT_EQ(answer.iterations, all.iterations) << threads;
  }
  for (std::int64_t m = 0; m < count; m += 37) {
    Plain<double> one(1, n, n), right(1, n, 1);
    std::copy_n(a[m], n * n, one[0]);
    std::copy_n(b[m], n, right[0]);
    EXPECT_TRUE(same_bits(MixedAnswer(one, right).x[0], all.x[m], n)) << m;
  }
}

TEST(BatchMixed, ATightToleranceIsFp64AndALooseOneTakesNoStep) {
  const Plain<double> a = definite<double>(40, 12, 83), b = right_hand_sides<double>(40, 12, 1, 84);
  BatchOptions options;
  options.tolerance = 1e-30;
  const MixedAnswer tight(a, b, options);
  EXPECT_TRUE(tight.report.ok());
  EXPECT_EQ(tight.report.tolerance, 1e-30);
  EXPECT_GT(tight.report.solved_in_fp64, 0);
  options.tolerance = 1e-3;
  const MixedAnswer loose(a, b, options);
  EXPECT_EQ(loose.iterations, std::vector<std::int32_t>(40, 0));
  EXPECT_LE(loose.report.backward_error, 1e-3);
  EXPECT_GT(loose.report.backward_error, 0x1p-40) << "that was not fp32";
}

TYPED_TEST(BatchErrors, OfFastAreAFewRoundingsMore) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 3, 16, 50, 128}) {
    Plain<T> a = definite<T>(100, n, 85);
    const Plain<T> b = right_hand_sides<T>(100, n, 1, 86);
    a[17][0] = -1;
    a[41][(n - 1) * (n + 1)] = std::numeric_limits<T>::quiet_NaN();
    Plain<T> x = b;
    BatchOptions options;
    options.fast = true;
    const BatchReport report = batch_solve(std::as_const(a).view(), x.view(), options);
    EXPECT_EQ(report.failures, (std::vector<std::int64_t>{17, 41})) << n;
    for (std::int64_t m = 0; m < 100; ++m) {
      if (m == 17 || m == 41) continue;
      // The reciprocals of the pivots have an additional error of 4 u.
      const double bound = static_cast<double>(3 * n + 8 + 8 * n) * kRoundoff<T>;
      EXPECT_LE(true_error(a, b, x, m), bound) << n << ", system " << m;
    }
  }
}

}  // namespace
}  // namespace stepwell::test

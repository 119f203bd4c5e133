// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include "factor/fixture.hpp"
#include "kernels/blas/blas.hpp"

extern "C" void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
extern "C" void dsymv_(const char* uplo, const int* n, const double* alpha, const double* a,
                       const int* lda, const double* x, const int* incx, const double* beta,
                       double* y, const int* incy);
extern "C" void dpotrs_(const char* uplo, const int* n, const int* columns, const double* a,
                        const int* lda, double* b, const int* ldb, int* info);

/// Failing pivots: ill-conditioned matrices are shifted, for indefinite ones the right pivot is
/// reported, and for non-finite ones the position.
namespace stepwell::factor::test {
namespace {

using Vector = std::vector<double>;

// ---- breakdown: positive definite, but not at the map's rungs

double dot(const Vector& x, const Vector& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// Iterations of conjugate gradients from zero to a residual of 1e-10, preconditioned by L L' if l
/// is given; 'most' if it takes more.
int cg_steps(const Dense<double>& a, const Dense<double>* l, int most) {
  const int n = static_cast<int>(a.rows), one = 1;
  const double unit = 1, zero = 0;
  const auto precondition = [&](Vector r) {
    int status = 0;
    if (l != nullptr) dpotrs_("L", &n, &one, l->data.data(), &n, r.data(), &n, &status);
    EXPECT_EQ(status, 0);
    return r;
  };
  Random random(5);
  Vector r(a.rows);
  for (double& x : r) x = random.gaussian();
  const double start = std::sqrt(dot(r, r));
  Vector z = precondition(r), p = z, q(a.rows);
  double rho = dot(r, z);
  for (int step = 1; step < most; ++step) {
    dsymv_("L", &n, &unit, a.data.data(), &n, p.data(), &one, &zero, q.data(), &one);
    const double alpha = rho / dot(p, q);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= alpha * q[i];
    if (std::sqrt(dot(r, r)) <= 1e-10 * start) return step;
    z = precondition(r);
    const double next = dot(r, z);
    for (std::size_t i = 0; i < r.size(); ++i) p[i] = z[i] + next / rho * p[i];
    rho = next;
  }
  return most;
}

void expect_growing_attempts(const FactorReport& report) {
  ASSERT_GE(report.attempts.size(), 2U);
  EXPECT_EQ(report.attempts[0].shift, 0);
  EXPECT_FALSE(report.attempts[0].toward_zero);
  EXPECT_TRUE(report.attempts[1].toward_zero);
  for (std::size_t i = 0; i < report.attempts.size(); ++i) {
    const RecoveryStep& step = report.attempts[i];
    const bool last = i + 1 == report.attempts.size();
    EXPECT_EQ(step.pivot >= 0, !last);
    EXPECT_FALSE(!last && step.pivot_value > 0 && std::isfinite(step.pivot_value));
    EXPECT_TRUE(i <= 1 || step.shift > report.attempts[i - 1].shift);
  }
  EXPECT_EQ(report.attempts.back().shift, report.shift);
  EXPECT_EQ(report.attempts.back().toward_zero, report.toward_zero);
}

class Breakdown : public ::testing::TestWithParam<std::tuple<const char*, double>> {};
INSTANTIATE_TEST_SUITE_P(Factor, Breakdown,
                         ::testing::Combine(::testing::Values("bf16", "fp16", "bf16,bf16x2"),
                                            ::testing::Values(1e5, 1e6, 1e7, 1e9)));

// A shifted factor of low precision is still a good preconditioner (Higham & Pranesh).
TEST_P(Breakdown, EndsWithAFactorThatSpeedsUpConjugateGradients) {
  const auto [map, condition] = GetParam();
  const int blas_threads = kernels::set_blas_threads(1);  // BLAS threads would wait for each other
  for (const std::int64_t n : {300, 450}) {
    const Dense<double> a = geometric(n, condition);
    const Factor factor = factor_of(a, options_for(map));
    ASSERT_TRUE(factor.ok()) << to_string(factor.report().outcome);
    EXPECT_EQ(to_string(factor.report().map), map);
    if (factor.report().attempts.size() > 1) expect_growing_attempts(factor.report());
    const Dense<double> l = lower_factor(factor);
    const int plain = cg_steps(a, nullptr, 4000);
    const int preconditioned = cg_steps(a, &l, 4000);
    EXPECT_LT(preconditioned, plain / 2) << factor.report().shift;
  }
  if (blas_threads > 0) kernels::set_blas_threads(blas_threads);
}

// The error of the factor is at most the rounding error plus the reported shift.
TEST_P(Breakdown, LeavesAnErrorOfTheShiftsSize) {
  const auto [map, condition] = GetParam();
  const Dense<double> a = geometric(300, condition);
  const Factor factor = factor_of(a, options_for(map));
  const FactorReport& report = factor.report();
  const double bound = residual_bound(report, 300) + report.shift * report.unit_roundoff;
  EXPECT_LT(residual(a, lower_factor(factor)) / bound, 1);
}

TEST(FactorBreakdown, HappensToIllConditionedMatrices) {
  const Factor factor = factor_of(geometric(450, 1e9), options_for("bf16"));
  expect_growing_attempts(factor.report());
  EXPECT_EQ(factor.report().pivot, -1);
  EXPECT_GT(factor.report().shift, 0);
}

TEST(FactorBreakdown, IsTheOutcomeWhenNothingElseIsAllowed) {
  for (const char* map : {"bf16", "fp16", "bf16,bf16x2"}) {
    FactorOptions options = options_for(map);
    options.climb = false;
    const Factor factor = factor_of(geometric(450, 1e9), options);
    EXPECT_EQ(factor.report().outcome, FactorOutcome::breakdown) << map;
    EXPECT_EQ(factor.report().attempts.size(), 1U);
    EXPECT_EQ(factor.report().pivot, factor.report().attempts[0].pivot);
    EXPECT_GE(factor.report().pivot, 0);
    EXPECT_LT(factor.report().pivot, 450);
  }
}

// The matrix is a single tile that contains the coarse layers: a failing pivot there does not prove
// that A is indefinite.
TEST(FactorBreakdown, InsideATileIsNotTakenForIndefinite) {
  const Dense<double> a = geometric(450, 1e9);
  for (const char* map : {"bf16,fp64", "bf16,fp32,fp64", "fp16,fp64"}) {
    const Factor factor = factor_of(a, options_for(map, 512));
    EXPECT_TRUE(factor.ok()) << map << ": " << to_string(factor.report().outcome);
  }
}

// Without scaling the matrix underflows to zero in fp32: only fp64 can factor it.
TEST(FactorBreakdown, EndsInFp64AndSaysSo) {
  Dense<double> a = well_conditioned(300);
  for (double& x : a.data) x *= 1e-60;
  for (const char* map : {"bf16", "bf16x3", "fp32", "bf16,fp32", "adaptive:1e-4"}) {
    FactorOptions options = options_for(map);
    options.cholesky.scaling = Scaling::none;
    const Factor factor = factor_of(a, options);
    const FactorReport& report = factor.report();
    ASSERT_TRUE(factor.ok()) << map;
    EXPECT_GT(report.attempts.size(), 2U) << map;
    EXPECT_EQ(report.attempts.front().map, options.map);
    EXPECT_EQ(report.attempts.back().map, uniform(Rung::fp64)) << map;
    EXPECT_EQ(report.map, uniform(Rung::fp64)) << map;
    EXPECT_EQ(report.shift, 0);
    EXPECT_FALSE(report.toward_zero);
    EXPECT_EQ(report.unit_roundoff, kU64);
    EXPECT_LT(residual(a, lower_factor(factor)) / residual_bound(report, 300), 1) << map;
  }
}

// ---- not positive definite

/// The failing pivot that LAPACK finds, counted from 0; -1: none.
std::int64_t lapack_pivot(Dense<double> a) {
  const int n = static_cast<int>(a.rows);
  int info = 0;
  dpotrf_("L", &n, a.data.data(), &n, &info);
  return info - 1;
}

class NotPositiveDefinite : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Factor, NotPositiveDefinite,
                         ::testing::Values("bf16", "fp16", "bf16x2", "fp32", "fp64", "int8x14",
                                           "bf16,fp32", "bf16,fp64", "adaptive:1e-4"));

void expect_lapacks_pivot(const Dense<double>& a, const char* map) {
  const std::int64_t expected = lapack_pivot(a);
  ASSERT_GE(expected, 0);
  const Factor factor = factor_of(a, options_for(map));
  EXPECT_EQ(factor.report().outcome, FactorOutcome::not_positive_definite);
  EXPECT_EQ(factor.report().pivot, expected);
  EXPECT_FALSE(factor.report().pivot_value > 0);
  EXPECT_EQ(factor.report().attempts.back().pivot, expected);
  EXPECT_EQ(factor.report().attempts.back().map, factor.report().map);
  const Rung last = map == std::string_view("int8x14") ? Rung::int8x14 : Rung::fp64;
  EXPECT_EQ(factor.report().tiles[static_cast<std::size_t>(last)], 15);
  EXPECT_EQ(factor.report().map, uniform(last));
}

// The smallest eigenvalue is below -1/16, and the largest shift adds 1/16 of the diagonal: no shift
// that is tried makes the matrix definite.
TEST_P(NotPositiveDefinite, IsFoundAtLapacksPivot) {
  for (const std::int64_t pivot : {1, 2, 31, 63, 64, 65, 127, 128, 200, 298, 299}) {
    if (kSanitized && pivot % 2 == 0) continue;
    SCOPED_TRACE(pivot);
    for (const double schur : {-9.0, -1.0, -0.5}) {  // smallest eigenvalues -2.2, -0.41, -0.22
      const Dense<double> a = indefinite(300, pivot, schur);
      ASSERT_EQ(lapack_pivot(a), pivot);
      expect_lapacks_pivot(a, GetParam());
    }
  }
}

TEST_P(NotPositiveDefinite, ShowsOnTheDiagonal) {
  for (const std::int64_t pivot : {0, 1, 63, 64, 150, 299}) {
    for (const double value : {0.0, -0.0, -1e-300, -1.0, -1e300}) {
      SCOPED_TRACE(std::to_string(pivot) + ": " + std::to_string(value));
      Dense<double> a = symmetric_copy(well_conditioned(300));
      a(pivot, pivot) = value;
      expect_lapacks_pivot(a, GetParam());
    }
  }
}

TEST_P(NotPositiveDefinite, IsFoundAtTheFirstOfSeveralPivots) {
  Dense<double> a = indefinite(300, 70, -9);
  a(200, 200) = -1;
  expect_lapacks_pivot(a, GetParam());
  a(10, 10) = 0;
  expect_lapacks_pivot(a, GetParam());
  expect_lapacks_pivot(Dense<double>(300, 300), GetParam());
}

TEST_P(NotPositiveDefinite, DoesNotDependOnTheScaling) {
  for (const Scaling scaling : {Scaling::powers_of_two, Scaling::unit_diagonal, Scaling::none}) {
    FactorOptions options = options_for(GetParam());
    options.cholesky.scaling = scaling;
    const Factor factor = factor_of(indefinite(300, 200, -9), options);
    EXPECT_EQ(factor.report().outcome, FactorOutcome::not_positive_definite);
    EXPECT_EQ(factor.report().pivot, 200);
  }
}

TEST_P(NotPositiveDefinite, IsABreakdownWhileFp64IsNotAllowed) {
  FactorOptions options = options_for(GetParam());
  options.climb = false;
  const std::string map = GetParam();
  const bool fp64 = map == "fp64" || map == "int8x14";
  for (const std::int64_t pivot : {0, 64, 200}) {
    const Factor factor = factor_of(indefinite(300, pivot, -9), options);
    EXPECT_EQ(factor.report().outcome,
              fp64 ? FactorOutcome::not_positive_definite : FactorOutcome::breakdown);
    EXPECT_EQ(factor.report().pivot, pivot);
    EXPECT_EQ(factor.report().attempts.size(), 1U);
  }
}

// The largest shift, 4096 u, is far too small to make this matrix definite at any of these rungs.
TEST(FactorIndefinite, IsFoundAtFineRungsWhenItIsSlight) {
  for (const char* map : {"bf16x2", "bf16x3", "fp32", "fp64", "int8x14"}) {
    expect_lapacks_pivot(indefinite(300, 100, -1), map);
  }
}

// The matrix is indefinite by less than the largest shift that is tried: a factor does not prove
// definiteness. The report has the first failing pivot, and the shift shows that L is the factor of
// the shifted matrix.
TEST(FactorIndefinite, IsReportedWhereAShiftMakesItDefinite) {
  const Dense<double> a = indefinite(300, 100, -0.05);
  ASSERT_EQ(lapack_pivot(a), 100);
  const FactorReport report = factor_of(a, options_for("bf16")).report();
  EXPECT_EQ(report.attempts.front().pivot, 100);
  EXPECT_EQ(report.outcome, FactorOutcome::ok);
  EXPECT_GT(report.shift, 0);
}

// ---- not finite

class NonFinite : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Factor, NonFinite,
                         ::testing::Values("bf16", "fp16", "bf16x2", "fp32", "fp64", "int8x14",
                                           "bf16,fp64", "adaptive:1e-4"));

void expect_position(const Dense<double>& a, const FactorOptions& options, std::int64_t row,
                     std::int64_t col) {
  const Factor factor = factor_of(a, options);
  EXPECT_EQ(factor.report().outcome, FactorOutcome::non_finite);
  EXPECT_EQ(factor.report().row, row);
  EXPECT_EQ(factor.report().col, col);
  EXPECT_EQ(factor.report().pivot, -1);
}

TEST_P(NonFinite, IsFoundWhereverItIs) {
  const std::int64_t n = 300;
  const Dense<double> good = well_conditioned(n);
  const std::int64_t last = n - 1;
  for (const auto& [row, col] : std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0},
                                                                                   {1, 0},
                                                                                   {last, 0},
                                                                                   {63, 63},
                                                                                   {64, 63},
                                                                                   {64, 64},
                                                                                   {150, 100},
                                                                                   {last, last - 1},
                                                                                   {last, last}}) {
    for (const double value :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity()}) {
      for (const bool escalate : {true, false}) {
        SCOPED_TRACE(std::to_string(row) + ", " + std::to_string(col) + (escalate ? "" : ", once"));
        Dense<double> a(good);
        a(row, col) = value;
        FactorOptions options = options_for(GetParam());
        options.climb = escalate;
        expect_position(a, options, row, col);
      }
    }
  }
}

TEST_P(NonFinite, IsTheFirstInColumnOrder) {
  Dense<double> a = well_conditioned(300);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  a(200, 200) = nan;
  expect_position(a, options_for(GetParam()), 200, 200);
  a(150, 90) = nan;
  expect_position(a, options_for(GetParam()), 150, 90);
  a(290, 70) = nan;
  expect_position(a, options_for(GetParam()), 290, 70);
  a(100, 70) = nan;
  expect_position(a, options_for(GetParam()), 100, 70);
}

// A's non-finite element is reported even if a pivot fails earlier: it must be fixed first.
TEST_P(NonFinite, ComesBeforeIndefinite) {
  Dense<double> a = indefinite(300, 64, -9);
  a(250, 200) = std::numeric_limits<double>::quiet_NaN();
  expect_position(a, options_for(GetParam()), 250, 200);
  a(10, 10) = -1;
  expect_position(a, options_for(GetParam()), 250, 200);
}

}  // namespace
}  // namespace stepwell::factor::test

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "refine/fixture.hpp"
#include "refine/vectors.hpp"

/// Every refiner reaches FP64 accuracy from every coarse factor, treats each column independently,
/// and reports success only when it is true.
namespace stepwell::refine::test {
namespace {

struct Case {
  Refiner refiner;
  const char* map;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << to_string(c.refiner) << " from " << c.map;
}

std::vector<Case> every_case() {
  std::vector<Case> cases;
  for (const Refiner refiner : all_refiners) {
    for (const char* const map : {"bf16", "fp16", "bf16x2", "fp32"})
      cases.push_back({refiner, map});
  }
  return cases;
}

class Refiners : public ::testing::TestWithParam<Case> {
 protected:
  Request request() const {
    Request q;
    q.refiner = GetParam().refiner;
    return q;
  }
  Setting easy(std::int64_t n) const { return {well_conditioned(n), GetParam().map}; }
};
INSTANTIATE_TEST_SUITE_P(Refine, Refiners, ::testing::ValuesIn(every_case()));

/// Bound of the true error when the refiner reports 'done': twice the goal, plus the rounding of
/// the residual, which is n u in the worst case and typically sqrt(n) u.
double done_bound(std::int64_t n, double goal = kU64) {
  return 2 * goal + (2 + std::sqrt(static_cast<double>(n))) * kU64;
}

TEST_P(Refiners, ReachTheirGoal) {
  for (const std::int64_t n : {1, 2, 33, 64, 200}) {
    Setting setting = easy(n);
    const Dense<double> b = right_hand_sides(n, 2);
    Dense<double> x(n, 2);
    const Outcome outcome = setting.refine(b, x, request());
    for (std::int64_t c = 0; c < 2; ++c) {
      const System& s = outcome.system[static_cast<std::size_t>(c)];
      // At the limit of accuracy the last step may bring no improvement.
      EXPECT_TRUE(s.status == Status::done || s.status == Status::stagnated) << n;
      const double error = setting.error(b, x, c, outcome.norm);
      EXPECT_LE(error, done_bound(n)) << n;
      EXPECT_LE(s.error, done_bound(n)) << n;
      EXPECT_LE(s.iterations, 60) << n;
      // Iterations inside an inner solver are not recorded.
      const auto booked = static_cast<int>(s.history.size());
      EXPECT_TRUE(GetParam().refiner == Refiner::gmres_gmres ? booked > 0 && booked < s.iterations
                                                             : booked == s.iterations)
          << booked << " of " << s.iterations;
    }
  }
}

TEST_P(Refiners, TreatColumnsAsIfEachWereAlone) {
  const std::int64_t n = 150;
  Setting setting(geometric(n, 30), GetParam().map);
  Dense<double> b = right_hand_sides(n, 6);
  // Column 1 is zero, 2 equals 0, 3 is small, 4 is easy: A times a vector of ones, 5 is unchanged.
  for (std::int64_t i = 0; i < n; ++i) {
    b(i, 1) = 0;
    b(i, 2) = b(i, 0);
    b(i, 3) *= 0x1p-300;
    b(i, 4) = 0;
    for (std::int64_t j = 0; j < n; ++j) b(i, 4) += setting.matrix()(i, j);
  }
  Dense<double> x(n, 6);
  const Outcome outcome = setting.refine(b, x, request());
  for (std::int64_t c = 0; c < 6; ++c) {
    SCOPED_TRACE(c);
    const System& s = outcome.system[static_cast<std::size_t>(c)];
    if (c == 1) {
      EXPECT_EQ(s.status, Status::done);
      EXPECT_EQ(s.iterations, 0);
      for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(x(i, c), 0);
      continue;
    }
    EXPECT_LE(setting.error(b, x, c, outcome.norm), done_bound(n));
    Dense<double> b1(n, 1), x1(n, 1);
    std::copy_n(b.view().column(c), n, b1.data.begin());
    const Outcome alone = setting.refine(b1, x1, request());
    EXPECT_LE(setting.error(b1, x1, 0, alone.norm), done_bound(n));
    // Products with more columns give a better estimate of ||A||: one solve may stop a step
    // earlier.
    const int iterations = alone.system[0].iterations;
    EXPECT_LE(s.iterations, 2 * iterations + 6);
    EXPECT_LE(iterations, 2 * s.iterations + 6);
  }
  EXPECT_EQ(outcome.system[0].iterations, outcome.system[2].iterations);
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(x(i, 0), x(i, 2)) << "identical columns";
}

TEST_P(Refiners, StartFromWhatIsThere) {
  const std::int64_t n = 100;
  Setting setting = easy(n);
  const Dense<double> b = right_hand_sides(n, 1);
  Dense<double> x(n, 1), again(n, 1);
  const Outcome cold = setting.refine(b, x, request());
  again = x;
  const Outcome warm = setting.refine(b, again, request());
  EXPECT_LE(setting.error(b, again, 0, cold.norm), done_bound(n));
  EXPECT_LE(warm.system[0].steps, cold.system[0].steps + 1);
}

TEST_P(Refiners, KeepTheLimitOfIterationsAndSteps) {
  Setting setting(geometric(120, 1e3), GetParam().map);
  const Dense<double> b = right_hand_sides(120, 2);
  for (const int limit : {1, 2, 3}) {
    Request q = request();
    q.iterations = limit;
    q.inner_iterations = 3;
    Dense<double> x(120, 2);
    const Outcome outcome = setting.refine(b, x, q);
    for (const System& s : outcome.system) {
      // gmres(gmres) also counts inner iterations, and can't stop within them.
      const int slack = q.refiner == Refiner::gmres_gmres ? q.inner_iterations + 1 : 1;
      EXPECT_LE(s.iterations, limit * slack) << limit;
      EXPECT_NE(s.status, Status::running);
    }
    q = request();
    q.steps = limit;
    std::fill(x.data.begin(), x.data.end(), 0.0);
    for (const System& s : setting.refine(b, x, q).system) EXPECT_LE(s.steps, limit);
  }
}

TEST_P(Refiners, StopWhenTold) {
  Setting setting(geometric(120, 1e3), GetParam().map);
  const Dense<double> b = right_hand_sides(120, 2);
  for (const int stop : {1, 2}) {
    Request q = request();
    q.goal = 0;
    int asked = 0;
    q.go_on = [&](int k, double error) {
      EXPECT_EQ(k, asked + 1);
      EXPECT_TRUE(error >= 0) << error;
      asked = k;
      return k < stop;
    };
    Dense<double> x(120, 2);
    const Outcome outcome = setting.refine(b, x, q);
    EXPECT_LE(asked, stop);
    for (std::int64_t c = 0; c < 2; ++c) {
      const System& s = outcome.system[static_cast<std::size_t>(c)];
      EXPECT_NE(s.status, Status::done);
      EXPECT_NE(s.status, Status::running);
      EXPECT_NEAR(s.error, setting.error(b, x, c, outcome.norm),
                  setting.rounding(b, x, c, outcome.norm))
          << "x and what is said of it belong together";
    }
  }
}

TEST_P(Refiners, ReachFp32AccuracyInFp32) {
  const std::int64_t n = 150;
  Setting setting = easy(n);
  const Dense<double> b = right_hand_sides(n, 2);
  Request q = request();
  q.fp32 = true;
  q.goal = kU32;
  Dense<double> x(n, 2);
  const Outcome outcome = setting.refine(b, x, q);
  for (std::int64_t c = 0; c < 2; ++c) {
    EXPECT_LE(setting.error(b, x, c, outcome.norm), 2 * kU32);
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(x(i, c), static_cast<double>(static_cast<float>(x(i, c)))) << "a number of fp32";
    }
  }
}

TEST_P(Refiners, GetAtLeastAsFarWithExactSums) {
  const std::int64_t n = 150;
  Setting setting(geometric(n, 1e2), GetParam().map);
  const Dense<double> b = right_hand_sides(n, 3);
  Request q = request();
  q.sums = Sums::double_double;
  Dense<double> x(n, 3);
  const Outcome outcome = setting.refine(b, x, q);
  for (std::int64_t c = 0; c < 3; ++c) {
    const System& s = outcome.system[static_cast<std::size_t>(c)];
    const double error = setting.error(b, x, c, 1);  // ||A|| is 1
    EXPECT_LE(error, 2 * kU64);
    // The residual is correct to its last digits, and ||A|| was estimated from below.
    EXPECT_GE(s.error, error * (1 - 1e-3));
  }
}

TEST_P(Refiners, NeverCallAWrongSolutionDone) {
  const std::int64_t n = 90;
  for (const double negative : {-1e-3, -0.5, -4.0}) {
    // The factor is that of a definite matrix, but the operator is indefinite.
    Setting definite = easy(n);
    Dense<double> a = well_conditioned(n);
    for (const std::int64_t i : {std::int64_t{0}, n / 2, n - 1}) a(i, i) = negative;
    engine::ThreadPool pool(1);
    SymmetricProduct product(pool, a.view());
    const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
    ScaledOperator op(product, ones, ones);
    const Dense<double> b = right_hand_sides(n, 3);
    Dense<double> x(n, 3), r(n, 3);
    const Outcome outcome = refine(op, definite.m(), b.view(), x.view(), r.view(), request());
    for (std::int64_t c = 0; c < 3; ++c) {
      const System& s = outcome.system[static_cast<std::size_t>(c)];
      EXPECT_NE(s.status, Status::running);
      Dense<double> rc(n, 1);
      op.residual(b.view().block(0, c, n, 1), x.view().block(0, c, n, 1), rc.view(),
                  Sums::double_double);
      const double error =
          norm2(n, rc.data.data()) / (outcome.norm * norm2(n, x.view().column(c)) + s.b_norm);
      EXPECT_TRUE(s.status != Status::done || error <= done_bound(n)) << negative << ": " << error;
      EXPECT_TRUE(std::isfinite(s.error));
    }
  }
}

TEST(ConjugateGradients, NoticeAnIndefiniteMatrix) {
  const std::int64_t n = 90;
  Setting setting(well_conditioned(n), "bf16");
  Dense<double> a = well_conditioned(n);
  for (std::int64_t i = 0; i < n; i += 2) a(i, i) = -2;
  engine::ThreadPool pool(1);
  SymmetricProduct product(pool, a.view());
  const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
  ScaledOperator op(product, ones, ones);
  const Dense<double> b = right_hand_sides(n, 1);
  Dense<double> x(n, 1), r(n, 1);
  const Outcome outcome = refine(op, setting.m(), b.view(), x.view(), r.view(), {});
  EXPECT_EQ(outcome.system[0].status, Status::indefinite);
}

TEST(Refinement, EndsWhereElementsAreNotFinite) {
  const std::int64_t n = 70;
  for (const Refiner refiner : all_refiners) {
    Setting setting(well_conditioned(n), "bf16");
    Dense<double> b = right_hand_sides(n, 3);
    b(n / 2, 1) = HUGE_VAL;
    Dense<double> x(n, 3);
    Request q;
    q.refiner = refiner;
    const Outcome outcome = setting.refine(b, x, q);
    EXPECT_NE(outcome.system[1].status, Status::done) << to_string(refiner);
    for (const std::int64_t c : {0, 2}) {
      EXPECT_LE(setting.error(b, x, c, outcome.norm), done_bound(n)) << to_string(refiner);
    }
  }
}

TEST(Refinement, HasTheSameBitsForAnyNumberOfThreads) {
  const std::int64_t n = 700;
  const Dense<double> b = right_hand_sides(n, 3);
  for (const Refiner refiner : all_refiners) {
    Request q;
    q.refiner = refiner;
    Dense<double> first(n, 3);
    Outcome expected;
    for (const int threads : {1, 2, 3, 4}) {
      Setting setting(well_conditioned(n), "bf16", threads);
      Dense<double> x(n, 3);
      const Outcome outcome = setting.refine(b, x, q);
      if (threads == 1) {
        first = x;
        expected = outcome;
      }
      EXPECT_TRUE(kernels::test::same_bits(x.view(), first.view())) << to_string(refiner);
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(outcome.system[c].history, expected.system[c].history) << to_string(refiner);
      }
    }
  }
}

/// Counts what the products read.
class CountingOperator : public Operator {
 public:
  explicit CountingOperator(Operator& a) : a_(a) {}
  std::int64_t order() const override { return a_.order(); }
  void apply(MatrixView<const double> x, MatrixView<double> y, Sums sums, Reads reads) override {
    ++(reads == Reads::copy ? copy : fp64);
    a_.apply(x, y, sums, reads);
  }
  void residual(MatrixView<const double> b, MatrixView<const double> x, MatrixView<double> r,
                Sums sums) override {
    a_.residual(b, x, r, sums);
  }
  int fp64 = 0, copy = 0;

 private:
  Operator& a_;
};

/// The outcomes without and with a copy of A.
struct BothOutcomes {
  Outcome plain, copy;
  int fp64 = 0, copied = 0;  ///< products with A itself and with the copy
  double error = 0;          ///< of the solution with the copy
};

BothOutcomes with_and_without_copy(Dense<double> matrix, const char* map) {
  const std::int64_t n = matrix.rows;
  Setting setting(std::move(matrix), map);
  const Dense<double> b = right_hand_sides(n, 1);
  Dense<double> x(n, 1), y(n, 1), r(n, 1);
  Request q;
  q.norm = 1;
  BothOutcomes both;
  both.plain = setting.refine(b, x, q);
  q.copy = true;
  CountingOperator a(setting.a());
  both.copy = refine(a, setting.m(), b.view(), y.view(), r.view(), q);
  both.fp64 = a.fp64;
  both.copied = a.copy;
  both.error = setting.error(b, y, 0, both.copy.norm);
  return both;
}

TEST(CgWithACopy, ReachesTheGoalInAsManyIterations) {
  for (const double condition : {3.0, 30.0, 300.0}) {
    const std::int64_t n = 300;
    const BothOutcomes both = with_and_without_copy(geometric(n, condition), "bf16");
    EXPECT_EQ(both.copy.system[0].status, Status::done);
    EXPECT_LE(both.error, done_bound(n));
    EXPECT_LE(both.copy.system[0].iterations, both.plain.system[0].iterations + 2) << condition;
    EXPECT_GT(both.copied, both.fp64 / 2) << condition << ": " << both.fp64 << " with A itself";
  }
}

/// Far beyond what fp32 can represent: the copy is not used, and nothing is worse for it.
TEST(CgWithACopy, DoesNotUseItWhereItsErrorsWouldMatter) {
  const std::int64_t n = 200;
  const BothOutcomes both = with_and_without_copy(geometric(n, 1e9), "fp64");
  EXPECT_LE(both.copy.system[0].iterations, both.plain.system[0].iterations + 2);
  EXPECT_LE(both.error, done_bound(n));
}

/// A solver that is used again has the copy from the start; its bits do not show it.
TEST(CgWithACopy, HasTheSameBitsTheSecondTime) {
  const std::int64_t n = 300;
  Setting setting(well_conditioned(n), "bf16");
  const Dense<double> b = right_hand_sides(n, 1);
  Dense<double> x(n, 1), y(n, 1);
  Request q;
  q.norm = 1;
  q.copy = true;
  setting.refine(b, x, q);
  setting.refine(b, y, q);
  EXPECT_EQ(x.data, y.data);
}

}  // namespace
}  // namespace stepwell::refine::test

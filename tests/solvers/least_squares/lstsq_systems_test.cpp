// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "solvers/least_squares/lstsq_fixture.hpp"

/// Never silently wrong: two thousand least squares problems of all condition numbers, scales,
/// shapes, defects, residuals, storages and rungs against 113-bit arithmetic. A problem called
/// converged has the reported backward error and is as close to the solution as the condition
/// number allows; one called rank deficient is so; every problem that FP64 can solve is solved.
namespace stepwell::solvers::test {
namespace {

enum class Rows { plain, all, each };                 ///< 10^+-100: none, for all rows, per row
enum class Columns { plain, each };                   ///< times 10^-100 .. 10^100
enum class Defect { none, zero, twin, combination };  ///< of a column

/// All parameters of a problem: printed, they are the recipe to make it again.
struct Variant {
  std::int64_t m = 1, n = 1, columns = 1;
  double condition = 1, residual = 0;
  std::uint64_t seed = 1;
  Rows rows = Rows::plain;
  Columns cols = Columns::plain;
  Defect defect = Defect::none;
  Storage storage = Storage::columns;
  std::optional<Rung> rung;
  std::optional<Refiner> refiner;
  bool qr = false;
  double lambda = 0;
  bool weights = false;

  std::string text() const {
    std::ostringstream out;
    out << m << " x " << n << ", columns " << columns << ", condition " << condition
        << ", residual " << residual << ", seed " << seed << ", rows " << static_cast<int>(rows)
        << ", columns' scale " << static_cast<int>(cols) << ", defect " << static_cast<int>(defect)
        << ", storage " << static_cast<int>(storage) << ", rung "
        << (rung ? to_string(*rung) : "default") << ", refiner "
        << (refiner ? to_string(*refiner) : "default") << ", qr " << qr << ", lambda " << lambda
        << ", weights " << weights;
    return out.str();
  }
};

struct Problem {
  Dense<double> a, b;
  LeastSquaresOptions options;
  std::int64_t other = -1, twin = -1;  ///< columns involved in a defect

  explicit Problem(const Variant& v) {
    Random random(v.seed * 3);
    a = tall_matrix(v.m, v.n, v.condition, v.seed);
    b = right_hand_sides(a, v.columns, v.residual, v.seed);
    twin = random.integer(0, v.n - 1);
    other = v.n > 1 ? (twin + random.integer(1, v.n - 1)) % v.n : twin;
    for (std::int64_t i = 0; i < v.m; ++i) {
      if (v.defect == Defect::zero) a(i, twin) = 0;
      if (v.defect == Defect::twin) a(i, twin) = a(i, other);
      if (v.defect == Defect::combination) {
        a(i, twin) = 0;
        for (std::int64_t j = 0; j < v.n; ++j) a(i, twin) += j == twin ? 0 : a(i, j);
      }
    }
    const double all = std::pow(10, static_cast<double>(random.integer(0, 1) == 0 ? 100 : -100));
    for (std::int64_t i = 0; i < v.m && v.rows != Rows::plain; ++i) {
      const double each = std::pow(10, static_cast<double>(random.integer(-100, 100)));
      const double f = v.rows == Rows::all ? all : each;
      for (std::int64_t j = 0; j < v.n; ++j) a(i, j) *= f;
      for (std::int64_t c = 0; c < v.columns; ++c) b(i, c) *= f;
    }
    options.lambda = v.lambda * (v.rows == Rows::all ? all * all : 1);
    for (std::int64_t j = 0; j < v.n; ++j) {
      const double f = v.cols == Columns::plain
                           ? 1
                           : std::pow(10, static_cast<double>(random.integer(-100, 100)));
      for (std::int64_t i = 0; i < v.m; ++i) a(i, j) *= f;
      // The first column is an intercept, which is not penalised.
      if (v.weights) options.weights.push_back(j == 0 ? 0 : f * f * (1 + 0.5 * (j % 3)));
    }
    if (v.rung) options.map = uniform(*v.rung);
    options.refine.refiner = v.refiner;
    options.qr = v.qr;
  }
};

struct Tally {
  int converged = 0, deficient = 0, other = 0;
  int missed = 0;    ///< by one rounding, where LAPACK meets the tolerance
  double worst = 0;  ///< true backward error divided by the tolerance
};

double root_of(std::int64_t n) {
  return std::sqrt(static_cast<double>(n));
}

/// The certificate of a column against the truth. Karlson & Walden's estimate is within sqrt(2) of
/// the optimal backward error, the other bounds are above it; they are computed in FP64, from a
/// residual with an error of about sqrt(n) u.
void check_column(const ExactLeastSquares& exact, const Certificate& c, std::int64_t k,
                  const double* b, const double* x, Tally& tally) {
  const ColumnCertificate& said = c.columns[static_cast<std::size_t>(k)];
  const double truth = exact.backward_error(b, x, Measured::scaled);
  const double noise = 2 * root_of(exact.cols()) * kU64;
  ASSERT_TRUE(truth <= 1.5 * said.backward_error + noise)
      << truth / kU64 << " u, said " << said.backward_error / kU64 << " u by "
      << to_string(said.measure);
  tally.worst = std::max(tally.worst, truth / c.tolerance);
  const double residual = exact.residual_norm(b, x);
  const double size = exact.norm() * exact.size(x) + residual;
  ASSERT_NEAR(said.residual_norm, residual, 4 * root_of(exact.cols() + 8) * kU64 * size);
}

void check_converged(const ExactLeastSquares& exact, const Certificate& c, const Problem& p,
                     const Dense<double>& x, Tally& tally) {
  ++tally.converged;
  const Dense<double> solution = exact.solve(p.b.view());
  const double error = 4 * root_of(exact.cols() + 2) * kU64;
  for (std::int64_t k = 0; k < x.cols; ++k) {
    check_column(exact, c, k, &p.b(0, k), &x(0, k), tally);
    if (::testing::Test::HasFatalFailure()) return;
    const double bound = forward_bound(exact, &p.b(0, k), &x(0, k), error);
    const double difference = exact.difference(&x(0, k), &solution(0, k));
    ASSERT_TRUE(bound == std::numeric_limits<double>::infinity() || difference <= bound)
        << difference << ", allowed " << bound;
  }
}

/// x minimises up to the rounding of a rank decision, and is zero for the columns named as
/// dependent.
void check_deficient(const ExactLeastSquares& exact, const Certificate& c, const Variant& v,
                     const Problem& p, const Dense<double>& x, Tally& tally) {
  ++tally.deficient;
  for (const std::int64_t j : c.dependent) {
    ASSERT_TRUE(j >= 0 && j < v.n);
    for (std::int64_t k = 0; k < x.cols; ++k) ASSERT_EQ(x(j, k), 0) << "column " << j;
  }
  if (v.defect == Defect::zero || v.defect == Defect::twin) {
    if (c.dependent.size() == 1) {
      const std::int64_t j = c.dependent[0];
      ASSERT_TRUE(j == p.twin || (v.defect == Defect::twin && j == p.other)) << j;
    }
  }
  const double threshold = 2 * kU64 * static_cast<double>(std::max({v.m, v.n, std::int64_t{8}}));
  for (std::int64_t k = 0; k < x.cols; ++k) {
    ASSERT_LE(exact.backward_error(&p.b(0, k), &x(0, k), Measured::scaled),
              4 * root_of(v.n) * threshold);
  }
}

/// Whether dgels meets the tolerance: with few columns sqrt(n) u is less than its rounding error.
bool lapack_solves(const ExactLeastSquares& exact, const Problem& p, double tolerance) {
  const std::vector<double> tail = tail_of(p.options, p.a.cols);
  const auto below = static_cast<std::int64_t>(tail.size());
  Dense<double> a(p.a.rows + below, p.a.cols), b(p.b.rows + below, p.b.cols);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < p.a.rows; ++i) a(i, j) = p.a(i, j) * exact.scale()[j];
    if (below > 0) a(p.a.rows + j, j) = tail[j] * exact.scale()[j];
  }
  for (std::int64_t c = 0; c < b.cols; ++c) std::copy_n(&p.b(0, c), p.b.rows, &b(0, c));
  Dense<double> x = lapack_lstsq(a, b);
  bool all = true;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    for (std::int64_t j = 0; j < a.cols; ++j) x(j, c) *= exact.scale()[j];
    all = all && exact.backward_error(&p.b(0, c), &x(0, c), Measured::scaled) <= tolerance;
  }
  return all;
}

void check(const Variant& v, Tally& tally) {
  SCOPED_TRACE(v.text());
  const Problem p(v);
  const Stored stored(p.a, v.storage, static_cast<std::int64_t>(v.seed % 3));
  Padded x(v.n, v.columns, 2);
  x.seal();
  const Certificate c =
      v.lambda > 0 && v.seed % 2 == 0
          ? ridge(stored.matrix(), p.b.view(), x.view(), p.options.lambda, p.options)
          : lstsq(stored.matrix(), p.b.view(), x.view(), p.options);
  ASSERT_TRUE(stored.unchanged()) << "A was written to";
  ASSERT_TRUE(x.padding_unchanged()) << "wrote outside x";
  ASSERT_TRUE(consistent_lstsq(c, v.n, v.columns)) << path_of(c);
  SCOPED_TRACE(path_of(c));
  Dense<double> got(v.n, v.columns);
  for (std::int64_t k = 0; k < v.columns; ++k) std::copy_n(&x(0, k), v.n, &got(0, k));
  const ExactLeastSquares exact(p.a.view(), tail_of(p.options, v.n));
  const double condition = exact.condition();
  if (c.ok()) {
    check_converged(exact, c, p, got, tally);
  } else if (c.outcome == SolveOutcome::rank_deficient) {
    ASSERT_FALSE(condition <= 1e12) << "condition " << condition;
    check_deficient(exact, c, v, p, got, tally);
  } else {
    ++tally.other;
    ASSERT_EQ(c.outcome, SolveOutcome::not_converged);
    if (condition <= 1e12 && lapack_solves(exact, p, c.tolerance)) {
      ++tally.missed;
      ASSERT_LE(c.backward_error, 2 * c.tolerance);
    }
  }
  ASSERT_FALSE(c.ok() && v.defect != Defect::none && v.lambda == 0) << "of a defect";
}

constexpr std::array<std::int64_t, 12> kOrders = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 25, 33};

Variant draw(std::uint64_t seed) {
  Random random(seed);
  const auto any = [&](const auto& list) { return any_of(list, random); };
  Variant v;
  v.seed = seed;
  v.n = any(kOrders);
  const std::array<std::int64_t, 6> heights = {v.n, v.n + 1, 2 * v.n, 3 * v.n + 5, 60, 100};
  v.m = std::max(v.n, any(heights));
  v.columns = random.integer(1, 5);
  v.condition = std::pow(10, static_cast<double>(random.integer(0, 12)));
  v.residual = any(std::array<double, 6>{0, 0, 1e-8, 1e-2, 1, 1e4});
  v.rows = any(std::array<Rows, 5>{Rows::plain, Rows::plain, Rows::plain, Rows::all, Rows::each});
  v.cols = any(std::array<Columns, 3>{Columns::plain, Columns::plain, Columns::each});
  if (v.n > 1 && random.integer(0, 7) == 0) v.defect = static_cast<Defect>(random.integer(1, 3));
  v.storage = static_cast<Storage>(random.integer(0, 2));
  v.qr = random.integer(0, 7) == 0;
  if (!v.qr && random.integer(0, 3) != 0) v.rung = any(mixable_rungs);
  if (random.integer(0, 2) == 0) v.refiner = any(all_refiners);
  if (random.integer(0, 4) == 0 && v.rows != Rows::each) {
    v.lambda = any(std::array<double, 4>{1e-12, 1e-4, 0.1, 10});
    v.weights = v.cols == Columns::each || random.integer(0, 1) == 0;
    if (!v.weights && random.integer(0, 1) == 0) v.m = std::max<std::int64_t>(1, v.n / 2);
  }
  return v;
}

class LeastSquaresSystems : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Solve, LeastSquaresSystems, ::testing::Range(0, 20));

TEST_P(LeastSquaresSystems, AreSolvedOrRefusedButNeverWrong) {
  Tally tally;
  for (int k = 0; k < 100; ++k) {
    check(draw(static_cast<std::uint64_t>(1000 * GetParam() + k + 1)), tally);
  }
  EXPECT_GT(tally.converged, 60);
  EXPECT_GT(tally.deficient, 3);
  EXPECT_LE(tally.missed, 1);
  RecordProperty("worst", std::to_string(tally.worst));
}

TEST(LeastSquaresSystems, LargerOnesAreSolvedToo) {
  Tally tally;
  for (const std::optional<Rung> rung :
       {std::optional<Rung>{}, std::optional(Rung::bf16), std::optional(Rung::bf16x2)}) {
    Variant v;
    v.m = kSanitized ? 160 : 320;
    v.n = kSanitized ? 70 : 120;
    v.columns = 2;
    v.condition = 100;
    v.residual = 0.1;
    v.storage = Storage::rows;
    v.rung = rung;
    check(v, tally);
  }
  EXPECT_EQ(tally.converged, 3);
}

}  // namespace
}  // namespace stepwell::solvers::test

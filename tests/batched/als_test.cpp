// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/als.hpp"

#include <limits>
#include <map>
#include <utility>

#include "batched/als_fixture.hpp"
#include "sanitized.hpp"

/// A half step of alternating least squares against normal equations in FP64.
namespace stepwell::test {
namespace {

constexpr double kU32 = 0x1p-24;

using Matrix = std::vector<std::vector<double>>;

/// The system of one row, with the sums of the magnitudes of all terms.
struct System {
  Matrix a, sizes;
  std::vector<double> b, b_sizes;
};

System system_of(const AlsProblem& p, std::int64_t u, const AlsOptions& options) {
  const MatrixView<const float> y = p.items();
  const auto k = static_cast<std::size_t>(y.rows);
  const std::vector<double> zeros(k);
  System s{Matrix(k, zeros), Matrix(k, zeros), zeros, zeros};
  const auto add = [&](std::int64_t column, double weight, double right) {
    const float* const v = y.column(column);
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < k; ++j) {
        s.a[i][j] += weight * v[i] * v[j];
        s.sizes[i][j] += std::abs(weight * v[i] * v[j]);
      }
      s.b[i] += right * v[i];
      s.b_sizes[i] += std::abs(right * v[i]);
    }
  };
  const SparseRows r = p.ratings();
  const bool counts = options.feedback == Feedback::implicit_counts;
  if (counts) {
    for (std::int64_t c = 0; c < r.cols; ++c) add(c, 1, 0);
  }
  for (std::int64_t e = r.starts[u]; e < r.starts[u + 1]; ++e) {
    const double value = r.values[e];
    add(r.columns[e], counts ? options.alpha * value : 1,
        counts ? 1 + options.alpha * value : value);
  }
  const double lambda = options.lambda * (options.weighted ? static_cast<double>(p.count(u)) : 1.0);
  for (std::size_t i = 0; i < k; ++i) {
    s.a[i][i] += lambda;
    s.sizes[i][i] += lambda;
  }
  return s;
}

double norm(const Matrix& a) {
  double most = 0;
  for (const auto& row : a) {
    double sum = 0;
    for (const double x : row) sum += std::abs(x);
    most = std::max(most, sum);
  }
  return most;
}

double norm(const std::vector<double>& x) {
  double most = 0;
  for (const double v : x) most = std::max(most, std::abs(v));
  return most;
}

/// Gauss-Jordan inversion of a definite matrix.
Matrix inverse(Matrix a) {
  const std::size_t n = a.size();
  for (std::size_t p = 0; p < n; ++p) {
    const double pivot = 1 / a[p][p];
    a[p][p] = 1;
    for (double& x : a[p]) x *= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const double factor = std::exchange(a[i][p], 0);
      for (std::size_t j = 0; j < n; ++j) a[i][j] -= factor * a[p][j];
    }
  }
  return a;
}

/// Error of 'terms' fp32 additions (Higham & Mary 2019, with lambda = 6).
double summation_error(double terms) {
  return std::min(terms, 6 * std::sqrt(terms)) * kU32;
}

/// x solves a system near this one: its perturbation is the errors of the sums plus 4 k u of the
/// factorization and the substitutions. The error of x is bounded by ||A^-1|| times that, doubled
/// for the second-order terms, which the caller's condition numbers keep small.
::testing::AssertionResult solves(const System& s, double terms, const float* x) {
  const std::size_t k = s.b.size();
  const Matrix inverted = inverse(s.a);
  std::vector<double> exact(k);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j) exact[i] += inverted[i][j] * s.b[j];
  }
  const double matrix_error =
      summation_error(terms + 4) * norm(s.sizes) + 4 * static_cast<double>(k) * kU32 * norm(s.a);
  const double growth = norm(inverted) * matrix_error;
  if (!(growth < 0.3)) {
    return ::testing::AssertionFailure() << "too ill-conditioned for a test: " << growth;
  }
  const double bound =
      2 * (growth * norm(exact) + norm(inverted) * summation_error(terms + 2) * norm(s.b_sizes));
  for (std::size_t i = 0; i < k; ++i) {
    const double error = std::abs(x[i] - exact[i]);
    if (!(error <= bound)) {
      return ::testing::AssertionFailure()
             << "x[" << i << "] = " << x[i] << " instead of " << exact[i] << ", allowed " << bound;
    }
  }
  return ::testing::AssertionSuccess();
}

/// Options with a lambda that keeps the condition number of k x k systems low.
AlsOptions choose(Feedback feedback, bool weighted, std::int64_t k = 20) {
  AlsOptions o;
  o.feedback = feedback;
  o.weighted = weighted;
  o.lambda = static_cast<float>(k) / (weighted ? 10 : 4);
  o.alpha = 0.5f;
  return o;
}

TEST(AlsStep, SolvesTheNormalEquationsOfEveryRow) {
  for (const std::int64_t k : {1, 2, 5, 16, 17, 33, 64, 100, 128}) {
    if (kSanitized && k > 64) continue;
    for (const Feedback feedback : {Feedback::explicit_ratings, Feedback::implicit_counts}) {
      for (const bool weighted : {false, true}) {
        AlsProblem p(k > 40 ? 24 : 60, 90, k, 80, static_cast<std::uint64_t>(k));
        const AlsOptions options = choose(feedback, weighted, k);
        const AlsReport report = p.step(options);
        EXPECT_TRUE(report.ok());
        for (std::int64_t u = 0; u < p.users().cols; ++u) {
          const float* const x = p.users().column(u);
          if (p.count(u) == 0) {
            EXPECT_EQ(std::count(x, x + k, 0.0f), k) << "row without ratings";
          } else {
            const double terms =
                static_cast<double>(p.count(u)) +
                (feedback == Feedback::implicit_counts ? static_cast<double>(p.items().cols) : 0.0);
            EXPECT_TRUE(solves(system_of(p, u, options), terms, x))
                << "k = " << k << ", row " << u << " with " << p.count(u) << ", weighted "
                << weighted << ", feedback " << static_cast<int>(feedback);
          }
          EXPECT_EQ(std::count(x + k, x + p.ld(), AlsProblem::kBefore), p.ld() - k) << "padding";
        }
      }
    }
  }
}

TEST(AlsStep, TakesRowsOfManyRatings) {
  for (const Feedback feedback : {Feedback::explicit_ratings, Feedback::implicit_counts}) {
    AlsProblem p(3, 400, 20, 2, 5);
    for (std::int32_t e = 0; e < 3000; ++e) {  // more than one block of weights
      p.columns().push_back(e % 400);
      p.values().push_back(static_cast<float>(1 + e % 3));
    }
    p.starts()[3] += 3000;
    const AlsOptions options = choose(feedback, false);
    EXPECT_TRUE(p.step(options).ok());
    EXPECT_TRUE(solves(system_of(p, 2, options), 3500, p.users().column(2)));
  }
}

TEST(AlsStep, KeepsAndListsFailingRowsAndDisturbsNoOther) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Feedback feedback : {Feedback::explicit_ratings, Feedback::implicit_counts}) {
    AlsProblem p(200, 50, 21, 40, 8);
    const AlsOptions options = choose(feedback, false);
    ASSERT_TRUE(p.step(options).ok());
    const std::vector<float> good = p.result();
    std::vector<std::int64_t> bad;
    for (const std::int64_t u : {0, 1, 16, 40, 198}) {
      ASSERT_GT(p.count(u), 0) << "choose another row";
      const auto last = static_cast<std::size_t>(p.ratings().starts[u + 1] - 1);
      p.values()[last] = bad.size() % 2 == 0 ? nan : infinity;
      bad.push_back(u);
    }
    const AlsReport report = p.step(options);
    EXPECT_EQ(report.failures, bad);
    EXPECT_FALSE(report.ok());
    std::vector<float> expected = good;
    for (const std::int64_t u : bad) {
      std::fill_n(expected.begin() + u * p.ld(), 21, AlsProblem::kBefore);
    }
    EXPECT_TRUE(same_bits(p.result(), expected));
  }
}

TEST(AlsStep, ListsRowsThatAreNotDefinite) {
  AlsProblem p(40, 30, 6, 20, 9);
  for (std::int64_t c = 0; c < 30; ++c) p.item_elements()[static_cast<std::size_t>(c * 9 + 4)] = 0;
  AlsOptions options;
  options.lambda = 0;
  const AlsReport report = p.step(options);
  std::vector<std::int64_t> rated;
  for (std::int64_t u = 0; u < 40; ++u) {
    if (p.count(u) > 0) rated.push_back(u);
  }
  EXPECT_EQ(report.failures, rated);
  options.lambda = 1;
  EXPECT_TRUE(p.step(options).ok());
}

TEST(AlsStep, HasTheSameBitsForAnyNumberOfThreads) {
  for (const Feedback feedback : {Feedback::explicit_ratings, Feedback::implicit_counts}) {
    AlsProblem p(3000, 5000, 40, 60, 10);
    std::vector<float> first;
    for (const int threads : {1, 2, 5, 8}) {
      Context context(threads);
      AlsOptions options = choose(feedback, true);
      options.engine.context = &context;
      const AlsReport report = p.step(options);
      EXPECT_TRUE(report.ok());
      EXPECT_EQ(report.threads, context.threads());
      if (threads == 1) first = p.result();
      EXPECT_TRUE(same_bits(p.result(), first)) << threads;
    }
  }
}

TEST(AlsStep, ARowHasTheSameBitsAlone) {
  AlsProblem p(50, 60, 33, 50, 11);
  ASSERT_TRUE(p.step({}).ok());
  const SparseRows all = p.ratings();
  for (std::int64_t u = 0; u < 50; ++u) {
    const std::int64_t starts[2] = {0, p.count(u)};
    std::vector<float> x(33);
    const SparseRows one{1, 60, starts, all.columns + all.starts[u], all.values + all.starts[u]};
    ASSERT_TRUE(als_step(one, p.items(), view(x.data(), 33, 1)).ok());
    EXPECT_EQ(std::memcmp(x.data(), p.users().column(u), 33 * 4), 0) << u;
  }
}

TEST(AlsTranspose, HasEveryEntryInTheOrderOfRows) {
  const AlsProblem p(100, 40, 1, 30, 12);
  const SparseRows a = p.ratings();
  const OwnedSparseRows t = transpose(a);
  EXPECT_EQ(t.rows, 40);
  EXPECT_EQ(t.cols, 100);
  std::map<std::int32_t, std::vector<std::pair<std::int32_t, float>>> expected;
  for (std::int32_t u = 0; u < 100; ++u) {
    for (std::int64_t e = a.starts[u]; e < a.starts[u + 1]; ++e) {
      expected[a.columns[e]].emplace_back(u, a.values[e]);
    }
  }
  for (std::int32_t i = 0; i < 40; ++i) {
    const SparseRows v = t.view();
    std::vector<std::pair<std::int32_t, float>> row;
    for (std::int64_t e = v.starts[i]; e < v.starts[i + 1]; ++e) {
      row.emplace_back(v.columns[e], v.values[e]);
    }
    EXPECT_EQ(row, expected[i]) << i;
  }
  const OwnedSparseRows nothing = transpose({});
  EXPECT_EQ(nothing.starts, std::vector<std::int64_t>{0});
}

/// The loss by its definition, summed over all pairs.
double plain_loss(AlsProblem& p, const AlsOptions& options) {
  const SparseRows r = p.ratings();
  const auto k = p.items().rows;
  const auto product = [&](const float* x, const float* y) {
    double sum = 0;
    for (std::int64_t i = 0; i < k; ++i) sum += static_cast<double>(x[i]) * y[i];
    return sum;
  };
  std::vector<double> of_item(static_cast<std::size_t>(r.cols));
  double loss = 0;
  for (std::int64_t u = 0; u < r.rows; ++u) {
    const float* const x = p.users().column(u);
    for (std::int64_t c = 0; options.feedback == Feedback::implicit_counts && c < r.cols; ++c) {
      loss += std::pow(product(x, p.items().column(c)), 2);
    }
    for (std::int64_t e = r.starts[u]; e < r.starts[u + 1]; ++e) {
      const double s = product(x, p.items().column(r.columns[e]));
      if (options.feedback == Feedback::explicit_ratings) {
        loss += std::pow(r.values[e] - s, 2);
      } else {
        loss += (1.0 + options.alpha * r.values[e]) * std::pow(1 - s, 2) - s * s;
      }
      ++of_item[static_cast<std::size_t>(r.columns[e])];
    }
    loss +=
        options.lambda * product(x, x) * (options.weighted ? static_cast<double>(p.count(u)) : 1.0);
  }
  for (std::int64_t c = 0; c < r.cols; ++c) {
    const float* const y = p.items().column(c);
    loss += options.lambda * product(y, y) *
            (options.weighted ? of_item[static_cast<std::size_t>(c)] : 1.0);
  }
  return loss;
}

TEST(AlsLoss, IsWhatTheDefinitionSays) {
  for (const Feedback feedback : {Feedback::explicit_ratings, Feedback::implicit_counts}) {
    for (const bool weighted : {false, true}) {
      AlsProblem p(5000, 30, 13, 10, 13);
      const AlsOptions options = choose(feedback, weighted);
      ASSERT_TRUE(p.step(options).ok());
      const double expected = plain_loss(p, options);
      // Terms have both signs, but none is larger than the sum; there are some 3e6 additions.
      const double loss = als_loss(p.ratings(), p.users(), p.items(), options);
      EXPECT_NEAR(loss, expected, 1e6 * 0x1p-53 * expected);
      for (const int threads : {1, 2, 5}) {
        Context context(threads);
        AlsOptions with = options;
        with.engine.context = &context;
        EXPECT_EQ(als_loss(p.ratings(), p.users(), p.items(), with), loss) << threads;
      }
    }
  }
}

TEST(AlsLoss, FallsWithEveryHalfStep) {
  for (const Feedback feedback : {Feedback::explicit_ratings, Feedback::implicit_counts}) {
    for (const bool weighted : {false, true}) {
      AlsProblem p(300, 80, 8, 40, 14);
      const AlsOptions options = choose(feedback, weighted);
      const OwnedSparseRows by_item = transpose(p.ratings());
      const MatrixView<float> items{p.item_elements().data(), 8, 80, p.ld()};
      double before = std::numeric_limits<double>::infinity();
      for (int half = 0; half < 8; ++half) {
        const AlsReport report = half % 2 == 0
                                     ? als_step(p.ratings(), items, p.users(), options)
                                     : als_step(by_item.view(), p.users(), items, options);
        ASSERT_TRUE(report.ok());
        const double loss = als_loss(p.ratings(), p.users(), p.items(), options);
        EXPECT_LE(loss, before * (1 + 100 * kU32)) << half;
        before = loss;
      }
    }
  }
}

}  // namespace
}  // namespace stepwell::test

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/lu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "factor/fixture.hpp"
#include "factor/lu/equilibrate.hpp"
#include "factor/lu/graph.hpp"
#include "factor/lu/lu_data.hpp"
#include "refine/preconditioner.hpp"

/// LU with column pivoting: A P' = G L' up to the rung's rounding, with the same bits for every
/// schedule and every power-of-two scale of A, and correct reports of matrices that can't be
/// factored.
namespace stepwell::factor::test {
namespace {

Dense<double> general(std::int64_t n, std::uint64_t seed = 1) {
  Random random(seed);
  return kernels::test::gaussian(n, n, random);
}

/// ||A P' - G L'||_F / || |G| |L'| ||_F.
double lu_residual(const Dense<double>& a, const LuFactor& factor) {
  const std::int64_t n = a.rows;
  Dense<double> g(n, n), l(n, n);
  factor.copy_to(g.view(), l.view());
  double error = 0, scale = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t column = factor.permutation()[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = -a(i, column), magnitude = 0;
      for (std::int64_t k = 0; k <= std::min(i, j); ++k) {
        sum += g(i, k) * l(j, k);
        magnitude += std::abs(g(i, k) * l(j, k));
      }
      error += sum * sum;
      scale += magnitude * magnitude;
    }
  }
  return std::sqrt(error / scale);
}

bool is_permutation_of_n(std::vector<std::int64_t> order) {
  std::sort(order.begin(), order.end());
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (order[k] != static_cast<std::int64_t>(k)) return false;
  }
  return true;
}

class Lu : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Factor, Lu,
                         ::testing::Values("bf16", "bf16x2", "bf16x3", "fp16", "fp32", "fp64",
                                           "graded:bf16x3*1,bf16x2*2,bf16"));

TEST_P(Lu, IsAsAccurateAsItsRung) {
  for (const std::int64_t n : {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 321}) {
    SCOPED_TRACE(n);
    const Dense<double> a = general(n, static_cast<std::uint64_t>(n));
    const LuFactor factor = lu(a.view(), options_for(GetParam()));
    ASSERT_TRUE(factor.ok()) << to_string(factor.report().outcome);
    EXPECT_EQ(factor.order(), n);
    EXPECT_TRUE(is_permutation_of_n(factor.permutation()));
    const double found = lu_residual(a, factor);
    EXPECT_TRUE(found <= residual_bound(factor.report(), n))
        << found << " of " << residual_bound(factor.report(), n);
    EXPECT_LE(factor.report().growth, 64);
  }
}

/// The factor, as a preconditioner, solves with A or A'.
void expect_solves(const Dense<double>& a, const LuFactor& factor, bool transposed) {
  const std::int64_t n = a.rows;
  const LuData& data = LuData::of(factor);
  engine::ThreadPool pool(2);
  const Scale scale = equilibrate(a.view(), pool).scale;
  refine::FactorPreconditioner m(pool, data, scale.row, scale.col, transposed);
  Random random(3);
  const Dense<double> z = kernels::test::gaussian(n, 2, random);
  Dense<double> r(n, 2), got(n, 2);
  for (std::int64_t c = 0; c < 2; ++c) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const double h = transposed ? scale.col[i] * a(j, i) * scale.row[j]
                                    : scale.row[i] * a(i, j) * scale.col[j];
        r(i, c) += h * z(j, c);
      }
    }
  }
  m.apply(r.view(), got.view());
  // The condition number of A is about 3; substitution with both factors includes the growth twice.
  const double growth = std::max(1.0, factor.report().growth);
  const double bound = 8 * residual_bound(factor.report(), n) * growth * growth;
  const double found = kernels::test::relative_frobenius(got.view(), z);
  EXPECT_TRUE(found <= bound) << found << " of " << bound << ", growth " << growth
                              << ", transposed " << transposed;
}

TEST_P(Lu, PreconditionsAAndItsTranspose) {
  for (const Pivoting pivoting : {Pivoting::partial, Pivoting::butterfly}) {
    FactorOptions options = options_for(GetParam());
    options.lu.pivoting = pivoting;
    for (const std::int64_t n : {1, 3, 4, 65, 203}) {
      SCOPED_TRACE(n);
      Dense<double> a = general(n, 5);
      for (double& x : a.data) x /= 2 * std::sqrt(static_cast<double>(n));
      for (std::int64_t i = 0; i < n; ++i) a(i, (i + n / 2) % n) += 2;
      const LuFactor factor = lu(a.view(), options);
      // Without pivoting the growth may exceed fp16's range.
      const bool too_narrow =
          pivoting == Pivoting::butterfly && LuData::of(factor).g.map().uses(Rung::fp16);
      if (too_narrow && factor.report().outcome == FactorOutcome::breakdown) continue;
      ASSERT_TRUE(factor.ok());
      expect_solves(a, factor, false);
      expect_solves(a, factor, true);
    }
  }
}

/// Wilkinson's matrix for column pivoting: the last row of G doubles from column to column.
TEST_P(Lu, TellsOfAGrowthThatItsTilesCanNotHold) {
  const std::int64_t n = 30;
  Dense<double> a(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = -1;
    a(j, j) = a(n - 1, j) = 1;
  }
  const LuFactor factor = lu(a.view(), options_for(GetParam()));
  EXPECT_GE(factor.report().growth, std::ldexp(1, n - 2));  // A is scaled to elements of 1/2 to 1
  EXPECT_EQ(factor.report().outcome,
            std::string_view(GetParam()) == "fp16" ? FactorOutcome::breakdown : FactorOutcome::ok);
}

/// 2 I plus a matrix of norm about 1: the pivots are about 1 or more, so LU without pivoting stays
/// in the range of every format, in any order of summation.
Dense<double> diagonally_heavy(std::int64_t n, std::uint64_t seed) {
  Dense<double> a = general(n, seed);
  for (double& x : a.data) x /= 2 * std::sqrt(static_cast<double>(n));
  for (std::int64_t i = 0; i < n; ++i) a(i, i) += 2;
  return a;
}

/// All elements of a factor as they are stored.
std::vector<double> elements_of(const tiles::TileMatrix& m) {
  std::vector<double> elements;
  for (std::int64_t j = 0; j < m.grid().tiles(); ++j) {
    for (std::int64_t i = j; i < m.grid().tiles(); ++i) {
      Dense<double> tile(m.grid().size(i), m.grid().size(j));
      tiles::copy_tile(kernels::table(), m.tile(i, j), {}, tile.view());
      elements.insert(elements.end(), tile.data.begin(), tile.data.end());
    }
  }
  return elements;
}

TEST_P(Lu, HasTheSameBitsForAnyNumberOfWorkersAndScale) {
  const std::int64_t n = 450;
  const Dense<double> a = general(n);
  FactorOptions options = options_for(GetParam());
  Context one(1);
  options.engine.context = &one;
  const LuFactor expected = lu(a.view(), options);
  ASSERT_TRUE(expected.ok());
  for (const int threads : {2, 3, 4}) {
    for (const int power : {0, -3, 900, -900}) {
      Dense<double> scaled(a);
      for (double& x : scaled.data) x = std::ldexp(x, power);
      Context context(threads);
      options.engine.context = &context;
      const LuFactor got = lu(scaled.view(), options);
      ASSERT_EQ(got.report().times.workers, threads);
      EXPECT_TRUE(got.permutation() == expected.permutation());
      EXPECT_TRUE(elements_of(LuData::of(got).g) == elements_of(LuData::of(expected).g)) << threads;
      EXPECT_TRUE(elements_of(LuData::of(got).l) == elements_of(LuData::of(expected).l)) << threads;
    }
  }
}

// Tiles of several blocks of rows, which threads share: two for few workers, more for many.
TEST_P(Lu, HasTheSameBitsForTilesThatThreadsShare) {
  const Dense<double> a = general(1100);
  FactorOptions options = options_for(GetParam(), 320);
  Context one(1);
  options.engine.context = &one;
  const LuFactor expected = lu(a.view(), options);
  ASSERT_TRUE(expected.ok());
  for (const int threads : {2, 8, 64}) {
    Context context(threads);
    options.engine.context = &context;
    const LuFactor got = lu(a.view(), options);
    EXPECT_TRUE(got.permutation() == expected.permutation());
    EXPECT_TRUE(elements_of(LuData::of(got).g) == elements_of(LuData::of(expected).g)) << threads;
    EXPECT_TRUE(elements_of(LuData::of(got).l) == elements_of(LuData::of(expected).l)) << threads;
  }
}

TEST_P(Lu, HasTheSameBitsForRandomSchedulesAndInOtherMemory) {
  const Dense<double> any = general(500, 2), heavy = diagonally_heavy(500, 2);
  Scale scale;
  scale.row.assign(500, 1.0);
  scale.col = scale.row;
  const auto run = [&](const engine::GraphOptions& options, bool pivoting) {
    const tiles::RungMap map({500, 64}, parse_map(GetParam()));
    const auto rows = tiles::TileOrder::by_rows;
    const tiles::TileMatrix g(map, {}, 0, rows), l(map, {}, 0, rows);
    LuState state;
    state.a = pivoting ? any.view() : heavy.view();
    state.scale = &scale;
    state.pivoting = pivoting;
    state.g = &g;
    state.l = &l;
    engine::Graph graph(options);
    run_lu_graph(graph, state);
    EXPECT_TRUE(state.results.pivot.ok());
    EXPECT_EQ(graph.times().tasks, lu_task_count(map));
    std::vector<double> all = elements_of(g);
    const std::vector<double> right = elements_of(l);
    all.insert(all.end(), right.begin(), right.end());
    return all;
  };
  engine::GraphOptions options;
  options.scratch_bytes = lu_scratch_bytes(tiles::RungMap({500, 64}, parse_map(GetParam())));
  options.run_by = engine::RunBy::caller;
  const std::vector<double> pivoted = run(options, true), plain = run(options, false);
  options.copied_data = true;
  EXPECT_TRUE(run(options, true) == pivoted && run(options, false) == plain);
  options.run_by = engine::RunBy::starpu;
  for (int seed = 1; seed <= (kSanitized ? 2 : 6); ++seed) {
    options.settings = {2 + seed % 3, static_cast<std::uint64_t>(seed)};
    for (int k = 0; k < 4; ++k) {
      ASSERT_TRUE(run(options, true) == pivoted) << seed;
      ASSERT_TRUE(run(options, false) == plain) << seed;
    }
  }
  engine::stop_workers(options.settings);
}

TEST_P(Lu, TellsWhatCanNotBeFactored) {
  for (const std::int64_t n : {1, 70, 200}) {
    for (const std::int64_t zero : {std::int64_t{0}, n / 2, n - 1}) {
      Dense<double> a = general(n, 4);
      for (std::int64_t j = 0; j < n; ++j) a(zero, j) = 0;
      const LuFactor factor = lu(a.view(), options_for(GetParam()));
      EXPECT_EQ(factor.report().outcome, std::string_view(GetParam()) == "fp64"
                                             ? FactorOutcome::singular
                                             : FactorOutcome::breakdown);
      EXPECT_EQ(factor.report().pivot, zero);
    }
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      Dense<double> a = general(n, 4);
      a(n / 3, n / 2) = bad;
      const LuFactor factor = lu(a.view(), options_for(GetParam()));
      EXPECT_EQ(factor.report().outcome, FactorOutcome::non_finite);
      EXPECT_EQ(factor.report().row, n / 3);
      EXPECT_EQ(factor.report().col, n / 2);
    }
  }
}

TEST_P(Lu, TakesTheMemoryItSays) {
  for (const std::int64_t n : {0, 5, 300}) {
    const FactorOptions options = options_for(GetParam());
    const Dense<double> a = general(n, 4);
    EXPECT_EQ(lu_bytes(n, options), lu(a.view(), options).report().peak_bytes);
  }
}

TEST(LuMisuse, IsExplained) {
  const Dense<double> a = general(40), wide = Dense<double>(3, 4);
  const auto with = [&](const char* map) {
    return message_of(ErrorCode::invalid_argument, [&] { (void)lu(a.view(), options_for(map)); });
  };
  EXPECT_NE(with("adaptive:1e-3").find("graded"), std::string::npos);
  EXPECT_NE(with("bf16,fp32").find("one rung"), std::string::npos);
  EXPECT_NE(with("graded:fp64*1,bf16").find("mixes fp64"), std::string::npos);
  EXPECT_NE(message_of(ErrorCode::invalid_argument, [&] { (void)lu(wide.view()); }).find("3 x 4"),
            std::string::npos);
  Dense<double> small(3, 3);
  const LuFactor factor = lu(a.view());
  message_of(ErrorCode::invalid_argument, [&] { factor.copy_to(small.view(), small.view()); });
}

TEST(LuScale, BringsRowsAndColumnsToOne) {
  Random random(9);
  const std::int64_t n = 90;
  Dense<double> a = general(n, 8);
  for (std::int64_t j = 0; j < n; ++j) {
    const double col = std::pow(10.0, static_cast<double>(random.integer(-150, 150)));
    for (std::int64_t i = 0; i < n; ++i) a(i, j) *= col * std::pow(10.0, 3 * (i % 41) - 60);
  }
  engine::ThreadPool pool(3);
  const Equilibration e = equilibrate(a.view(), pool);
  EXPECT_EQ(e.row, -1);
  for (std::int64_t j = 0; j < n; ++j) {
    double largest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      largest = std::max(largest, std::abs(e.scale.row[i] * a(i, j) * e.scale.col[j]));
    }
    EXPECT_TRUE(largest >= 0.5 && largest < 1) << j << ": " << largest;
  }
}

TEST(LuProgress, CanBeCancelled) {
  Progress progress;
  progress.cancel = true;
  FactorOptions options = options_for("bf16");
  options.engine.progress = &progress;
  EXPECT_EQ(lu(general(300).view(), options).report().outcome, FactorOutcome::cancelled);
}

}  // namespace
}  // namespace stepwell::factor::test

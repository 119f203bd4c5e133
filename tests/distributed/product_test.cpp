// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <stdexcept>

#include "distributed/fixture.hpp"
#include "refine/distributed/product.hpp"

/// Distributed products: errors are within the bound for sums of n terms, all ranks get the same
/// bits, and an error on one rank is reported on all.
namespace stepwell::refine::test {
namespace {

using namespace stepwell::distributed::test;

constexpr std::int64_t kTile = 64;
const std::int64_t kOrders[] = {1, 63, 64, 200, 450};

/// The lower triangle of A; the other triangle is NaN because it must not be read.
Dense<double> lower_of(Dense<double> a) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = std::numeric_limits<double>::quiet_NaN();
  }
  return a;
}

/// Calls body(product, A) for all orders and distributions, with tiles that are kept, recomputed,
/// or read from the caller's memory.
template <class Body>
void for_products(Body body) {
  for (const std::int64_t n : kOrders) {
    const Dense<double> a = symmetric(n, 0);
    const Dense<double> lower = lower_of(a);
    for (const tiles::Distribution& distribution : distributions()) {
      const tiles::Grid grid{n, kTile};
      engine::ThreadPool pool(2);
      engine::Agreement agreement(communicator());
      const factor::FilledBlocks recomputed(tiles_of(a));
      const KeptTiles kept(pool, agreement, distribution, grid, recomputed);
      const factor::StoredBlocks in_place(lower.view(), {});
      const std::pair<const factor::BlockSource*, const char*> all[] = {
          {&kept, " kept"}, {&recomputed, " recomputed"}, {&in_place, " in place"}};
      for (const auto& [source, name] : all) {
        SCOPED_TRACE(distribution.name() + " n = " + std::to_string(n) + name);
        DistributedProduct product(pool, agreement, distribution, grid, *source);
        body(product, a);
      }
    }
  }
}

long double exact(const Dense<double>& a, const Dense<double>& x, std::int64_t i, std::int64_t c,
                  long double& size) {
  long double sum = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const long double term = static_cast<long double>(a(i, j)) * x(j, c);
    sum += term;
    size += std::abs(term);
  }
  return sum;
}

Dense<double> vectors(std::int64_t n, std::int64_t r) {
  Random random(7);
  return kernels::test::gaussian(n, r, random);
}

TEST(DistributedProduct, ErrsByRoundingOnly) {
  for_products([](DistributedProduct& product, const Dense<double>& a) {
    const std::int64_t n = a.rows;
    for (const std::int64_t r : {1, 3}) {
      const Dense<double> x = vectors(n, r);
      Dense<double> y(n, r);
      product.apply(x.view(), y.view());
      for (std::int64_t c = 0; c < r; ++c) {
        for (std::int64_t i = 0; i < n; ++i) {
          long double size = 0;
          const auto error = static_cast<double>(std::abs(y(i, c) - exact(a, x, i, c, size)));
          ASSERT_LE(error, static_cast<double>(n + 2) * kU64 * static_cast<double>(size));
        }
      }
      ASSERT_TRUE(same_everywhere(y.data));
      product.release();
    }
  });
}

TEST(DistributedProduct, HasTheSameBitsWithAnyNumberOfThreadsAndWhereverTilesAre) {
  const std::int64_t n = 450;
  const Dense<double> a = symmetric(n, 0);
  const Dense<double> lower = lower_of(a);
  const Dense<double> x = vectors(n, 2);
  for (const tiles::Distribution& distribution : distributions()) {
    Dense<double> first(n, 2), low(n, 2), exact_first(n, 2);
    for (const int threads : {1, 2, 3}) {
      engine::ThreadPool pool(threads);
      engine::Agreement agreement(communicator());
      const factor::FilledBlocks recomputed(tiles_of(a));
      const factor::StoredBlocks in_place(lower.view(), {});
      for (const factor::BlockSource* const source :
           std::initializer_list<const factor::BlockSource*>{&recomputed, &in_place}) {
        DistributedProduct product(pool, agreement, distribution, {n, kTile}, *source);
        Dense<double> y(n, 2), exactly(n, 2);
        product.apply(x.view(), y.view());
        Checksums checksums(n);
        product.apply_exactly(x.view(), {}, exactly.view(), low.view(), checksums);
        if (threads == 1 && source == &recomputed) first = y, exact_first = exactly;
        ASSERT_EQ(y.data, first.data);
        ASSERT_EQ(exactly.data, exact_first.data);
      }
    }
  }
}

/// In double-double the error is at most 4 (n + 6)^2 2^-106 times the magnitudes of the terms,
/// although all digits of FP64 cancel.
TEST(DistributedProduct, IsExactToTwiceTheDigits) {
  for_products([](DistributedProduct& product, const Dense<double>& a) {
    const std::int64_t n = a.rows;
    const Dense<double> x = vectors(n, 1);
    Dense<double> y(n, 1), b(n, 1), r(n, 1), low(n, 1);
    product.apply(x.view(), y.view());
    for (std::int64_t i = 0; i < n; ++i) b(i, 0) = -y(i, 0);
    Checksums checksums(n);
    product.apply_exactly(x.view(), b.view(), r.view(), low.view(), checksums);
    for (std::int64_t i = 0; i < n; ++i) {
      __float128 sum = b(i, 0);
      double size = std::abs(b(i, 0));
      for (std::int64_t j = 0; j < n; ++j) {
        sum += static_cast<__float128>(a(i, j)) * x(j, 0);
        size += std::abs(a(i, j) * x(j, 0));
      }
      const __float128 error = static_cast<__float128>(r(i, 0)) + low(i, 0) - sum;
      const double bound = 4 * std::pow(static_cast<double>(n + 6), 2) * kU64 * kU64 * size;
      ASSERT_LE(std::abs(static_cast<double>(error)), bound);
    }
    ASSERT_TRUE(same_everywhere(r.data));
    ASSERT_TRUE(same_everywhere(low.data));
  });
}

TEST(DistributedProduct, SeesWhatOneRankWouldSee) {
  for_products([](DistributedProduct& product, const Dense<double>& a) {
    const std::int64_t n = a.rows;
    const Dense<double> x = vectors(n, 1);
    Dense<double> y(n, 1), plain(n, 1);
    std::vector<Element> elements;
    for (std::int64_t i = 0; i < n; ++i) {
      elements.push_back({i, i / 2});
      elements.push_back({n - 1, i});
    }
    MatrixScan analysis;
    product.scan(x.view(), y.view(), analysis, elements);
    product.apply(x.view(), plain.view());
    EXPECT_TRUE(same_everywhere(y.data));
    double largest = 0, norm = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        sum += std::abs(a(i, j));
        largest = std::max(largest, std::abs(a(i, j)));
      }
      norm = std::max(norm, sum);
    }
    EXPECT_EQ(analysis.scan.max_abs, largest);
    EXPECT_LE(std::abs(analysis.norm_inf - norm), static_cast<double>(n + 2) * kU64 * norm);
    EXPECT_EQ(analysis.scan.non_finite, 0);
    EXPECT_EQ(analysis.scan.bad_row, -1);
    for (const Element& e : elements) ASSERT_EQ(e.value, a(e.row, e.col));
    const std::vector<double> diagonal = product.diagonal();
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(diagonal[static_cast<std::size_t>(i)], a(i, i));
  });
}

TEST(DistributedProduct, FindsTheFirstThatIsNotFinite) {
  const std::int64_t n = 300;
  Dense<double> a = symmetric(n, 0);
  a(290, 70) = a(100, 71) = a(299, 200) = std::numeric_limits<double>::infinity();
  const Dense<double> x = vectors(n, 1);
  Dense<double> y(n, 1);
  for (const tiles::Distribution& distribution : distributions()) {
    engine::ThreadPool pool(2);
    engine::Agreement agreement(communicator());
    const factor::FilledBlocks recomputed(tiles_of(a));
    const KeptTiles kept(pool, agreement, distribution, {n, kTile}, recomputed);
    DistributedProduct product(pool, agreement, distribution, {n, kTile}, kept);
    MatrixScan analysis;
    product.scan(x.view(), y.view(), analysis, {});
    EXPECT_EQ(analysis.scan.non_finite, 3);
    EXPECT_EQ(analysis.scan.bad_row, 290);
    EXPECT_EQ(analysis.scan.bad_col, 70);
  }
}

/// A user's function that fails on one rank raises the error on all ranks, and the next product
/// succeeds.
TEST(DistributedProduct, TellsAllRanksOfAnError) {
  const std::int64_t n = 300;
  const Dense<double> a = symmetric(n, 0);
  const Dense<double> x = vectors(n, 1);
  Dense<double> y(n, 1);
  const int last = world().size() - 1;
  const tiles::Distribution distribution = distributions()[0];
  bool fails = true;
  const factor::FilledBlocks recomputed(
      [&](std::int64_t row, std::int64_t col, MatrixView<double> tile) {
        if (fails && world().rank() == last) throw std::runtime_error("no points");
        tiles_of(a)(row, col, tile);
      });
  engine::ThreadPool pool(2);
  engine::Agreement agreement(communicator());
  const auto expect_error = [&](const auto& call) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const engine::AgreedError& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      const std::string text = e.what();
      EXPECT_NE(text.find("rank " + std::to_string(last)), std::string::npos) << text;
      EXPECT_NE(text.find("no points"), std::string::npos) << text;
    }
  };
  expect_error([&] { KeptTiles(pool, agreement, distribution, {n, kTile}, recomputed); });
  DistributedProduct product(pool, agreement, distribution, {n, kTile}, recomputed);
  expect_error([&] { product.apply(x.view(), y.view()); });
  fails = false;
  product.apply(x.view(), y.view());
  EXPECT_TRUE(same_everywhere(y.data));
}

TEST(Agreement, OneCancelIsAllRanksCancel) {
  Progress progress;
  progress.cancel = world().rank() == world().size() - 1;
  engine::Agreement agreement(communicator(), &progress);
  agreement.agreed().enter(Phase::refine, 5);
  EXPECT_FALSE(agreement.agreed().cancel);
  agreement.agree();
  EXPECT_TRUE(agreement.agreed().cancel);
  EXPECT_EQ(progress.phase, Phase::refine);
  EXPECT_EQ(progress.total, 5);
}

}  // namespace
}  // namespace stepwell::refine::test

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "gallery/fixture.hpp"
#include "gallery/gallery.hpp"
#include "stepwell/error.hpp"

/// Properties that fill() guarantees for every kind, and kinds with known elements.
namespace stepwell::gallery::test {
namespace {

std::string kind_name(const ::testing::TestParamInfo<Kind>& info) {
  std::string name(to_string(info.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class EveryKind : public ::testing::TestWithParam<Kind> {
 protected:
  Recipe recipe(std::uint64_t seed = 1) const {
    Recipe r;
    r.kind = GetParam();
    r.seed = seed;
    return r;
  }
};
INSTANTIATE_TEST_SUITE_P(Gallery, EveryKind, ::testing::ValuesIn(all_kinds), kind_name);

TEST_P(EveryKind, IsExactlySymmetricOrNotAndKeepsToItsColumns) {
  for (const std::int64_t n : {0, 1, 2, 3, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100}) {
    const Square a(n, recipe(), 2, 3);
    EXPECT_TRUE(a.padding_untouched()) << n;
    bool symmetric = true;
    for (std::int64_t j = 0; j < n; ++j) {
      ASSERT_TRUE(is_general(GetParam()) || a(j, j) > 0) << n;
      for (std::int64_t i = 0; i < n; ++i) {
        ASSERT_TRUE(std::isfinite(a(i, j)));
        if (a(i, j) != a(j, i)) symmetric = false;
      }
    }
    // A pair of off-diagonal elements may be equal by chance or by definition.
    EXPECT_TRUE(symmetric == is_symmetric(GetParam()) || (symmetric && n <= 2)) << n;
  }
}

TEST_P(EveryKind, IsTheSameForEveryNumberOfThreads) {
  for (const std::int64_t n : {1, 7, 64, 130, 257}) {
    const Square one(n, recipe());
    for (const int threads : {2, 3, 5}) {
      EXPECT_EQ(Square(n, recipe(), threads).data, one.data) << n << " " << threads;
    }
  }
}

TEST_P(EveryKind, DependsOnTheSeedWhereItIsRandom) {
  const bool random =
      is_general(GetParam()) ? GetParam() < Kind::orthog : GetParam() < Kind::hilbert;
  for (const std::uint64_t seed : {2U, 3U, 1U << 20, 1U << 30}) {
    EXPECT_EQ(Square(20, recipe(seed)).data != Square(20, recipe(1)).data, random) << seed;
  }
}

TEST_P(EveryKind, IsPositiveDefiniteUnlessItIsGeneral) {
  if (!is_symmetric(GetParam())) return;  // symmetry is checked above
  const std::int64_t n = GetParam() == Kind::hilbert ? 8 : 120;
  const std::vector<double> lambda = eigenvalues(Square(n, recipe()));
  const double roundoff = static_cast<double>(n) * kU64 * lambda.front();
  EXPECT_EQ(lambda.back() > roundoff, !is_general(GetParam()));
}

TEST_P(EveryKind, HasANameThatFindsIt) {
  EXPECT_EQ(kind_from_string(to_string(GetParam())), GetParam());
}

TEST(GalleryNames, HaveDashesAndNothingElseIsOne) {
  EXPECT_EQ(to_string(Kind::custom_clustered), "custom-clustered");
  for (const char* name : {"", "custom_clustered", "Matern", "matern ", "moler"}) {
    EXPECT_EQ(kind_from_string(name), std::nullopt) << name;
  }
}

void expect_elements(Kind kind, const std::vector<double>& expected) {
  Recipe recipe;
  recipe.kind = kind;
  const auto n = static_cast<std::int64_t>(std::sqrt(static_cast<double>(expected.size())));
  EXPECT_EQ(Square(n, recipe).data, expected) << to_string(kind);
}

TEST(GalleryClassics, AreWhatTheBooksSay) {
  expect_elements(Kind::hilbert,
                  {1, 1.0 / 2, 1.0 / 3, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 3, 1.0 / 4, 1.0 / 5});
  expect_elements(Kind::minij, {1, 1, 1, 1, 2, 2, 1, 2, 3});
  expect_elements(Kind::lehmer, {1, 1.0 / 2, 1.0 / 3, 1.0 / 2, 1, 2.0 / 3, 1.0 / 3, 2.0 / 3, 1});
  expect_elements(Kind::laplacian, {2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2});
  expect_elements(Kind::trefethen, {2, 1, 1, 0, 1,  0,  0,  //
                                    1, 3, 1, 1, 0,  1,  0,  //
                                    1, 1, 5, 1, 1,  0,  1,  //
                                    0, 1, 1, 7, 1,  1,  0,  //
                                    1, 0, 1, 1, 11, 1,  1,  //
                                    0, 1, 0, 1, 1,  13, 1,  //
                                    0, 0, 1, 0, 1,  1,  17});
}

TEST(GalleryClassics, KnowTheThousandthPrime) {
  Recipe recipe;
  recipe.kind = Kind::trefethen;
  EXPECT_EQ(Square(1000, recipe)(999, 999), 7919);
}

TEST(GalleryCovariances, HaveTheNuggetOnTheDiagonalAndFallOffFromIt) {
  for (const Kind kind : {Kind::matern, Kind::exponential, Kind::gaussian}) {
    const std::int64_t n = 400;
    const Square a(n, {kind, 1e2, 0.1, 0.25, 1, true});
    double near = 0, far = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      EXPECT_EQ(a(j, j), 1.25);
      for (std::int64_t i = 0; i < j; ++i) {
        EXPECT_GE(a(i, j), 0);
        EXPECT_LE(a(i, j), 1);
        if (j - i <= 10) near += a(i, j) / (10 * n);
        if (j - i >= n / 2) far += a(i, j) / (n * n / 8);
      }
    }
    // The points are sorted: neighbours in the matrix are close in space.
    EXPECT_GT(near, 5 * far) << to_string(kind);
  }
}

TEST(GalleryCovariances, GoFromTheIdentityToOnesWithTheLength) {
  for (const Kind kind : {Kind::matern, Kind::exponential, Kind::gaussian}) {
    const Square narrow(50, {kind, 1e2, 1e-6, 0, 1, false});
    const Square wide(50, {kind, 1e2, 1e6, 0, 1, false});
    for (std::int64_t j = 0; j < 50; ++j) {
      for (std::int64_t i = 0; i < 50; ++i) {
        EXPECT_LT(std::abs(narrow(i, j) - (i == j ? 1 : 0)), 1e-12);
        EXPECT_LT(std::abs(wide(i, j) - 1), 1e-5);
      }
    }
  }
}

TEST(GalleryDominant, IsTheOldOneInBothTriangles) {
  Recipe recipe;
  recipe.kind = Kind::dominant;
  recipe.seed = 5;
  const Square whole(30, recipe);
  Square lower(30);
  fill_dominant(lower.view(), 5);
  for (std::int64_t j = 0; j < 30; ++j) {
    for (std::int64_t i = j; i < 30; ++i) EXPECT_EQ(whole(i, j), lower(i, j));
  }
}

template <class F>
void expect_refused(F&& call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument) << e.what();
  }
}

TEST(GalleryMisuse, IsRefused) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Square a(4);
  const MatrixView<double> v = a.view();
  const auto with = [](auto change) {
    Recipe recipe;
    change(recipe);
    return recipe;
  };
  expect_refused([&] { fill({v.data, 3, 4, 4}, {}); });
  expect_refused([&] { fill({v.data, 4, 4, 3}, {}); });
  expect_refused([&] { fill({v.data, -1, -1, 4}, {}); });
  expect_refused([&] { fill(v, {}, 0); });
  for (const double bad : {0.0, 0.5, -1.0, kNaN, kInfinity}) {
    expect_refused([&] { fill(v, with([&](Recipe& r) { r.condition = bad; })); });
    expect_refused([&] { spectrum(Kind::geometric, 4, bad, 1); });
  }
  for (const double bad : {0.0, -1.0, kNaN, kInfinity}) {
    expect_refused([&] { fill(v, with([&](Recipe& r) { r.length = bad; })); });
  }
  for (const double bad : {-1.0, kNaN, kInfinity}) {
    expect_refused([&] { fill(v, with([&](Recipe& r) { r.nugget = bad; })); });
  }
  expect_refused([] { spectrum(Kind::geometric, -1, 10, 1); });
  for (const Kind kind : all_kinds) {
    if (has_spectrum(kind)) continue;
    expect_refused([&] { spectrum(kind, 4, 10, 1); });
  }
}

}  // namespace
}  // namespace stepwell::gallery::test

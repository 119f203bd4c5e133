// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstring>

#include "distributed/fixture.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "factor/distributed/substitution.hpp"
#include "factor/fixture.hpp"
#include "factor/triangular/substitution.hpp"

/// Distributed substitution against substitution on one rank with the same tiles.
namespace stepwell::factor::test {
namespace {

using distributed::test::communicator;
using distributed::test::distributions;
using distributed::test::same_everywhere;
using distributed::test::world;

/// This rank's tiles of a factor that every rank has computed.
tiles::TileMatrix own_tiles(const tiles::TileMatrix& l, const tiles::Distribution& distribution) {
  tiles::TileMatrix own(l.map(), distribution, world().rank());
  for (std::int64_t j = 0; j < l.grid().tiles(); ++j) {
    for (std::int64_t i = j; i < l.grid().tiles(); ++i) {
      if (!own.owns(i, j)) continue;
      const tiles::Tile from = l.tile(i, j);
      std::memcpy(own.tile(i, j).data, from.data, static_cast<std::size_t>(from.shape.bytes()));
    }
  }
  return own;
}

template <class V>
void compare(const std::string& map, std::int64_t n, std::int64_t r) {
  const Dense<double> a = well_conditioned(n);
  FactorOptions options = options_for(map, 64);
  const Factor factor = factor_of(a, options);
  Random random(3);
  const Dense<double> b = kernels::test::gaussian(n, r, random);
  const auto right_hand_side = [&] {
    std::vector<V> x(static_cast<std::size_t>(n * r));
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<V>(b.data[k]);
    return x;
  };
  engine::ThreadPool pool(2), alone(1);
  std::vector<V> expected = right_hand_side();
  substitute(pool, FactorData::of(factor).l, FactorData::of(factor).l, view(expected.data(), n, r));
  double size = 0;
  for (const V x : expected) size = std::max(size, std::abs(static_cast<double>(x)));
  for (const tiles::Distribution& distribution : distributions()) {
    SCOPED_TRACE(map + " n = " + std::to_string(n) + " " + distribution.name());
    const tiles::TileMatrix own = own_tiles(FactorData::of(factor).l, distribution);
    const DistributedSubstitution substitution(pool, communicator(), own);
    std::vector<V> x = right_hand_side();
    substitution.run(view(x.data(), n, r));
    // Both have an error of n u times L's condition number, which is below 3.
    const double bound = 4 * 9 * static_cast<double>(n + 4) * kernels::test::kRoundoff<V> * size;
    std::vector<double> wide(x.begin(), x.end());
    for (std::size_t k = 0; k < x.size(); ++k) {
      ASSERT_LE(std::abs(wide[k] - static_cast<double>(expected[k])), bound) << k;
    }
    EXPECT_TRUE(same_everywhere(wide));
    std::vector<V> again = right_hand_side();
    DistributedSubstitution(alone, communicator(), own).run(view(again.data(), n, r));
    EXPECT_EQ(x, again) << "another number of threads";
  }
}

TEST(DistributedSubstitution, SolvesAsOneRankDoes) {
  for (const std::int64_t n : {1, 64, 200, 600}) {
    for (const char* const map : {"bf16", "bf16x3", "bf16,bf16x2,fp32"}) {
      compare<float>(map, n, 1);
    }
    compare<float>("bf16x2", n, 5);
    compare<double>("fp64", n, 3);
    compare<double>("fp32,fp64", n, 2);
    compare<double>("bf16x3", n, 1);
  }
}

}  // namespace
}  // namespace stepwell::factor::test

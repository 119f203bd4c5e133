// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/blas/lapack.hpp"
#include "kernels/quad.hpp"
#include "sanitized.hpp"
#include "tiles/fixture.hpp"
#include "tiles/residue_factor.hpp"

/// A Cholesky factor with exact sums, tile by tile: as accurate as 64 columns in FP64, whatever n
/// is; the same bits for any tile and any instruction set; LAPACK's info for indefinite matrices.
namespace stepwell::tiles::test {
namespace {

using core::Isa;
using stepwell::test::Quad;

/// V D V' with a product V of Householder reflections, eigenvalues from 1 to 1 / condition.
Problem spectrum(std::int64_t n, double condition, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Problem p{n, std::vector<double>(static_cast<std::size_t>(n * n))};
  for (std::int64_t i = 0; i < n; ++i) {
    p.at(i, i) = std::pow(condition, -static_cast<double>(i) / static_cast<double>(n - 1));
  }
  for (int reflections = 0; reflections < 3; ++reflections) {
    std::vector<double> v(static_cast<std::size_t>(n)), w = v;
    double length = 0, middle = 0;
    for (double& x : v) {
      x = normal(random);
      length += x * x;
    }
    for (std::size_t i = 0; i < v.size(); ++i) {
      for (std::size_t k = 0; k < v.size(); ++k) {
        w[i] += p.at(static_cast<std::int64_t>(i), static_cast<std::int64_t>(k)) * v[k];
      }
      middle += w[i] * v[i];
    }
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) {
        const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
        p.at(i, j) +=
            (4 * middle / length * v[a] * v[b] - 2 * (w[a] * v[b] + v[a] * w[b])) / length;
        p.at(j, i) = p.at(i, j);
      }
    }
  }
  scale(p);
  return p;
}

/// A smooth covariance of points on a line, with a nugget.
Problem covariance(std::int64_t n, double length, double nugget, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> place;
  std::vector<double> x(static_cast<std::size_t>(n));
  for (double& v : x) v = place(random);
  Problem p{n, std::vector<double>(static_cast<std::size_t>(n * n))};
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double d = (x[static_cast<std::size_t>(i)] - x[static_cast<std::size_t>(j)]) / length;
      p.at(i, j) = std::exp(-d * d) + (i == j ? nugget : 0);
    }
  }
  scale(p);
  return p;
}

/// The largest |h_ij - (L L')_ij| / sqrt(h_ii h_jj), in units of u.
double residual(const Problem& p, const std::vector<double>& l) {
  double worst = 0;
  for (std::int64_t j = 0; j < p.n; ++j) {
    for (std::int64_t i = j; i < p.n; ++i) {
      Quad rest = p.at(i, j);
      for (std::int64_t k = 0; k <= j; ++k) {
        rest -= static_cast<Quad>(l[static_cast<std::size_t>(k * p.n + i)]) *
                l[static_cast<std::size_t>(k * p.n + j)];
      }
      const double e = std::fabs(static_cast<double>(rest)) / std::sqrt(p.at(i, i) * p.at(j, j));
      if (!(e <= worst)) worst = e;
    }
  }
  return worst / kU64;
}

std::vector<double> lapack(const Problem& p) {
  std::vector<double> l = p.h;
  EXPECT_EQ(kernels::potrf(view(l.data(), p.n, p.n)), -1);
  return l;
}

TEST(ResidueTile, TheResidualIsThatOf64Columns) {
  const Table& t = kernels::table();
  const std::int64_t n = 200;
  for (const Problem& p : {spectrum(n, 10, 1), spectrum(n, 1e6, 2), spectrum(n, 1e12, 3),
                           covariance(n, 0.3, 1e-10, 4), covariance(n, 0.01, 1e-6, 5)}) {
    const Factored f = factor(t, p, 128);
    ASSERT_EQ(f.info, -1);
    EXPECT_EQ(f.wrong, 0);
    // 64 products, a difference and a product with a reciprocal, none larger than sqrt(h_ii h_jj),
    // each rounded by u: sqrt(64) + 3, if the signs of the errors are random.
    const double ours = residual(p, f.l), theirs = residual(p, lapack(p));
    EXPECT_TRUE(ours <= 11) << ours;
    EXPECT_TRUE(ours <= 1.5 * theirs) << ours << " u, dpotrf " << theirs;
  }
}

TEST(ResidueTile, HasTheSameBitsForAnyTileAndInstructionSet) {
  const Problem p = covariance(260, 0.2, 1e-8, 6);
  const Table loops = kernels::make_table(Isa::reference);
  const Factored first = factor(stepwell::test::kSanitized ? kernels::table() : loops, p, 128);
  ASSERT_EQ(first.info, -1);
  for (const Isa isa : core::all_isas) {
    if (!kernels::usable()[static_cast<unsigned>(isa)].yes) continue;
    for (const std::int64_t tile : {64, 192, 512}) {
      for (const int planes : {kernels::kResiduePlanes, kernels::kVerifiedPlanes}) {
        // The plain loops take long, and all the longer under the sanitizers.
        const bool slow = kernels::make_table(isa).residues.update.isa == Isa::reference;
        if (slow && (planes == kernels::kVerifiedPlanes || stepwell::test::kSanitized)) continue;
        const Factored f = factor(kernels::make_table(isa), p, tile, planes);
        for (std::int64_t j = 0; j < p.n; ++j) {
          for (std::int64_t i = j; i < p.n; ++i) {
            const auto e = static_cast<std::size_t>(j * p.n + i);
            ASSERT_EQ(f.l[e], first.l[e]) << core::to_string(isa) << ' ' << tile << ' ' << planes;
          }
        }
      }
    }
  }
}

TEST(ResidueTile, FindsThePivotThatLapackFinds) {
  const Table& t = kernels::table();
  std::mt19937_64 random(7);
  const bool slow = stepwell::test::kSanitized || t.residues.update.isa == Isa::reference;
  for (int run = 0; run < (slow ? 20 : 150); ++run) {
    const std::int64_t n = 70 + static_cast<std::int64_t>(random() % 130);
    Problem p = spectrum(n, std::pow(10.0, static_cast<double>(random() % 10)), random());
    // Cut a diagonal element far enough that rounding does not decide.
    for (std::uint64_t cuts = 1 + random() % 3; cuts > 0; --cuts) {
      const auto i = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
      p.at(i, i) *= run % 3 == 0 ? 0.01 : 0.7;
    }
    scale(p);
    std::vector<double> l = p.h;
    EXPECT_EQ(factor(t, p, 128).info, kernels::potrf(view(l.data(), n, n))) << run;
  }
}

TEST(ResidueTile, TheRedundantPlaneFindsWrongSums) {
  const Table& t = kernels::table();
  const Problem p = spectrum(200, 1e4, 8);
  std::mt19937_64 random(9);
  for (int run = 0; run < 50; ++run) {
    bool harmless = true;
    const Factored f = factor(t, p, 64, kernels::kVerifiedPlanes, [&](const Live& live) {
      if (live.i != 3 || live.j != 2 || !live.has_sums) return;
      const kernels::ResidueSums& sums = live.sums;
      const int plane = static_cast<int>(random() % 15);
      const auto row = static_cast<std::int64_t>(random() % 8);
      const auto col = static_cast<std::int64_t>(random() % 64);
      std::int8_t& r = sums.at(plane, 0, 0)[sums.offset(row, col)];
      const int before = r;
      r = static_cast<std::int8_t>(r ^ (1 << random() % 8));
      const int m = kernels::kModuli[static_cast<std::size_t>(plane)];
      harmless = (r - before) % m == 0;
    });
    EXPECT_EQ(f.wrong > 0, !harmless) << run;
  }
}

}  // namespace
}  // namespace stepwell::tiles::test

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "factor/cholesky/factor_data.hpp"
#include "factor/cholesky/graph.hpp"
#include "factor/cholesky/recovery.hpp"
#include "factor/fixture.hpp"
#include "kernels/blas/lapack.hpp"
#include "kernels/quad.hpp"
#include "stepwell/level3.hpp"
#include "stepwell/lu.hpp"

/// Factors at int8x14 and int8x15: as accurate as dpotrf's or better, the same bits for any tile,
/// and wrong residues are found.
namespace stepwell::factor::test {
namespace {

using stepwell::test::Quad;

/// max |A - LL'|_ij / (u sqrt(a_ii a_jj)), sums in Quad.
double error_of(const Dense<double>& a, const Dense<double>& l) {
  double worst = 0;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = j; i < a.rows; ++i) {
      Quad sum = a(i, j);
      for (std::int64_t k = 0; k <= j; ++k) sum -= Quad(l(i, k)) * l(j, k);
      const double size = std::sqrt(a(i, i) * a(j, j));
      const double error = std::abs(static_cast<double>(sum)) / (kU64 * size);
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

Dense<double> lapack_factor(const Dense<double>& a) {
  Dense<double> l(a);
  EXPECT_LT(kernels::potrf(l.view()), 0);
  for (std::int64_t j = 0; j < l.cols; ++j) {
    for (std::int64_t i = 0; i < j; ++i) l(i, j) = 0;
  }
  return l;
}

TEST(ResidueFactor, IsAsAccurateAsLapacks) {
  for (const double condition : {10.0, 1e6, 1e12}) {
    const Dense<double> a = geometric(260, condition, 3);
    const double ours = error_of(a, lower_factor(factor_of(a, options_for("int8x14", 128))));
    const double lapacks = error_of(a, lapack_factor(a));
    EXPECT_LT(ours / (1.5 * lapacks), 1) << condition << ": " << ours << ", dpotrf " << lapacks;
  }
}

TEST(ResidueFactor, HasTheSameBitsForAnyTile) {
  const Dense<double> a = well_conditioned(600);
  const Dense<double> expected = lower_factor(factor_of(a, options_for("int8x14", 64)));
  for (const char* map : {"int8x14", "int8x15"}) {
    for (const std::int64_t tile : {128, 192, 512, 1024, 0}) {
      const Dense<double> l = lower_factor(factor_of(a, options_for(map, tile)));
      EXPECT_TRUE(kernels::test::same_bits(l.view(), expected.view())) << map << " " << tile;
    }
  }
}

TEST(ResidueFactor, HasTheSameBitsInLessMemory) {
  const Dense<double> a = well_conditioned(700);
  const auto factor_with = [&](bool low_memory, std::int64_t tile, int threads, bool spread) {
    FactorOptions options = options_for("int8x14", tile);
    Context workers(threads);
    options.engine.context = &workers;
    options.low_memory = low_memory;
    options.spread = spread;
    const Factor f = factor_of(a, options);
    EXPECT_EQ(f.report().peak_bytes, factor_bytes(700, options));
    return lower_factor(f);
  };
  for (const bool spread : {false, true}) {
    // In a spread order the tile decides which row is eliminated when.
    for (const std::int64_t tile : {64, 192}) {
      const Dense<double> expected = factor_with(false, tile, 1, spread);
      for (const int threads : {1, 2, 16}) {
        const Dense<double> l = factor_with(true, tile, threads, spread);
        EXPECT_TRUE(kernels::test::same_bits(l.view(), expected.view()))
            << tile << " " << threads << " " << spread;
      }
    }
  }
}

TEST(ResidueFactor, HandlesTheSmallestOrdersInLessMemory) {
  FactorOptions options = options_for("int8x14", 64);
  options.low_memory = true;
  for (const std::int64_t n : {0, 1, 2, 65}) {
    const Dense<double> a = well_conditioned(n);
    const Dense<double> l = lower_factor(factor_of(a, options));
    const Dense<double> expected = lower_factor(factor_of(a, options_for("int8x14", 64)));
    EXPECT_TRUE(kernels::test::same_bits(l.view(), expected.view())) << n;
  }
  Dense<double> a = well_conditioned(130);
  a(100, 70) = a(70, 100) = NAN;
  EXPECT_EQ(cholesky(a.view(), options).report().outcome, FactorOutcome::non_finite);
}

TEST(ResidueFactor, HasADeterminantAndHalfSolves) {
  const Dense<double> a = well_conditioned(200);
  const Factor ours = factor_of(a, options_for("int8x14"));
  const Factor other = factor_of(a, options_for("fp64"));
  EXPECT_LT(std::abs(ours.log_det() - other.log_det()) / (200 * 8 * kU64 * 200), 1);
  Dense<double> x(200, 1), y(200, 1);
  for (std::int64_t i = 0; i < 200; ++i) x(i, 0) = y(i, 0) = 1 + static_cast<double>(i % 7);
  ours.half_solve(x.view());
  other.half_solve(y.view());
  for (std::int64_t i = 0; i < 200; ++i) {
    EXPECT_LT(std::abs(x(i, 0) - y(i, 0)) / (200 * 64 * kU64), 1) << i;
  }
}

TEST(ResidueFactor, TakesTheMemoryThatItPromises) {
  FactorOptions options = options_for("int8x14", 0);
  Context two(2);
  options.engine.context = &two;
  const auto per_square = [&](std::int64_t n) {
    const auto d = static_cast<double>(n);
    return static_cast<double>(factor_bytes(n, options)) / (d * d);
  };
  EXPECT_LT(per_square(32768), 7.6);
  EXPECT_LT(per_square(65536), 7.4);
  options.map = uniform(Rung::int8x15);
  EXPECT_LT(per_square(32768), 8.2);
  options.map = uniform(Rung::int8x14);
  options.low_memory = true;
  EXPECT_LT(per_square(32768), 4.32);
  EXPECT_LT(per_square(65536), 4.2);
}

TEST(ResidueFactor, IsRefusedWhereItDoesNotExist) {
  const Dense<double> a = symmetric_copy(well_conditioned(64));
  for (const char* map : {"bf16,int8x14", "int8x14,int8x14", "graded:int8x14*1,bf16"}) {
    const std::string message = message_of(ErrorCode::invalid_argument,
                                           [&] { (void)cholesky(a.view(), options_for(map)); });
    EXPECT_NE(message.find("int8x14 is only for Cholesky"), std::string::npos) << message;
  }
  message_of(ErrorCode::invalid_argument, [&] { (void)lu(a.view(), options_for("int8x14")); });
  FactorOptions both = options_for("int8x15");
  both.low_memory = true;
  message_of(ErrorCode::invalid_argument, [&] { (void)cholesky(a.view(), both); });
  Dense<double> c(64, 64);
  Level3Options level3;
  level3.map = uniform(Rung::int8x15);
  message_of(ErrorCode::invalid_argument, [&] { (void)syrk(1, a.view(), 0, c.view(), level3); });
  message_of(ErrorCode::invalid_argument,
             [&] { (void)cholesky(a.view(), options_for("int8x14", 2048)); });
}

// ---- wrong residues

/// A matrix that flips a bit of its own factor when a diagonal tile below the first one is read.
class Saboteur : public BlockSource {
 public:
  Saboteur(const Dense<double>& a, std::byte* target, int flips)
      : a_(a), target_(target), flips_(flips) {}
  MatrixView<const double> block(const Block& at, double* scratch) const override {
    const MatrixView<double> to = view(scratch, at.rows, at.cols);
    tiles::convert<double, double>(a_.view().block(at.row, at.col, at.rows, at.cols), to);
    if (at.row == at.col && at.row > 0 && flips_-- > 0) *target_ ^= std::byte{4};
    return to;
  }
  bool needs_scratch() const override { return true; }

 private:
  const Dense<double>& a_;
  std::byte* target_;
  mutable int flips_;
};

/// What is found if a byte of tile (row, 0) changes while the tiles are 64 x 64.
WrongSums found_in(const Dense<double>& a, std::int64_t row, std::int64_t offset, int flips) {
  const tiles::TileMatrix l(tiles::RungMap({a.rows, 64}, uniform(Rung::int8x15)));
  const Diagonal diagonal = read_diagonal(a.view());
  const Scale scale = fixed_point_scale(diagonal);
  const std::vector<double> scaled = scaled_diagonal(diagonal, scale, 1);
  const Saboteur source(a, l.tile(row, 0).data + offset, flips);
  CholeskyState state;
  state.source = &source;
  state.scale = &scale;
  state.diagonal = scaled;
  state.l = &l;
  engine::GraphOptions options = graph_for(l.map(), options_for("int8x15"), {}, true);
  options.run_by = engine::RunBy::caller;
  engine::Graph graph(options);
  left_looking(graph, state, {l.grid(), l.grid().tiles()});
  return state.results.wrong_sums;
}

// Column 0 is finished by then. Sums with the residue follow, except for row 1, which is only
// restored.
TEST(WrongResidue, IsFoundDuringAFactorization) {
  const Dense<double> a = well_conditioned(256);
  constexpr std::int64_t plane = 64 * 64;
  Random random(5);
  for (int trial = 0; trial < 40; ++trial) {
    const std::int64_t row = random.integer(1, 3);
    const std::int64_t offset =
        random.integer(0, 14) * (plane + kernels::kPlanePadding) + random.integer(0, plane - 1);
    const WrongSums found = found_in(a, row, offset, 1);
    EXPECT_GT(found.count, 0) << row << ", " << offset;
    EXPECT_GE(found.row, row);
    EXPECT_EQ(found.worker, 0);
    EXPECT_EQ(found.task == "restore", row == 1) << found.task;
  }
  EXPECT_EQ(found_in(a, 1, 0, 0).count, 0);
}

}  // namespace
}  // namespace stepwell::factor::test

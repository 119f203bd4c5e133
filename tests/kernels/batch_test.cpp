// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "kernels/fixture/fixture.hpp"

/// Batched small systems, for every instruction set: the same results as plain loops, bit by bit
/// where there are fused multiply-adds.
namespace stepwell::kernels::test {
namespace {

template <class T>
const BatchEntries<T>& entries(const Table& t) {
  if constexpr (sizeof(T) == 8) {
    return t.batch_fp64;
  } else {
    return t.batch_fp32;
  }
}

/// A pack of positive definite systems, as loaded.
template <class T>
struct Pack {
  core::Buffer<T> data;
  core::Buffer<T> reciprocals;
  BatchPack<T> pack;

  Pack(std::int64_t n, std::int64_t rhs, std::int64_t lanes)
      : data(batch_pack_size(n, rhs, lanes)),
        reciprocals(n * lanes),
        pack{data.data(), reciprocals.data(), n, rhs, lanes} {}

  void fill(std::uint64_t seed) {
    Random random(seed);
    for (T& number : data) number = static_cast<T>(random.gaussian());
    for (std::int64_t i = 0; i < pack.n; ++i) {
      for (std::int64_t q = 0; q < pack.lanes; ++q) {
        pack.row(i)[i * pack.lanes + q] = static_cast<T>(3 * pack.n);
      }
    }
  }
};

template <class T>
void expect_same(const core::Buffer<T>& got, const core::Buffer<T>& twin, bool fused, double bound,
                 const std::string& what) {
  for (std::int64_t e = 0; e < got.size(); ++e) {
    if (fused) {
      ASSERT_EQ(got[e], twin[e]) << what << ", number " << e;
    } else {
      ASSERT_NEAR(got[e], twin[e], bound) << what << ", number " << e;
    }
  }
}

constexpr std::int64_t kOrders[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 24, 31, 32, 33, 47, 64, 65};

class BatchTest : public PerIsa {
 protected:
  bool fused() const { return GetParam() != core::Isa::baseline; }

  /// Factor, substitutions and residual for every block.
  template <class T>
  void factors() {
    const BatchEntries<T>& kernel = entries<T>(table_);
    const BatchEntries<T>& plain = entries<T>(reference_table());
    for (const BatchBlock& block : kernel.blocks) {
      const std::int64_t lanes = std::int64_t{kernel.lanes} * block.vectors;
      for (const std::int64_t n : kOrders) {
        const std::int64_t rhs = n % 3;
        const std::string what = std::to_string(n) + ", block " + std::to_string(block.rows) + "x" +
                                 std::to_string(block.cols) + "x" + std::to_string(block.vectors);
        Pack<T> got(n, rhs, lanes), twin(n, rhs, lanes), system(n, rhs, lanes);
        got.fill(n);
        std::copy(got.data.begin(), got.data.end(), twin.data.begin());
        std::copy(got.data.begin(), got.data.end(), system.data.begin());
        std::vector<std::int32_t> pivots(lanes), twin_pivots(lanes);
        kernel.factor.run(got.pack, block, {}, pivots.data());
        plain.factor.run(twin.pack, block, {}, twin_pivots.data());
        EXPECT_EQ(pivots, twin_pivots) << what;
        EXPECT_EQ(pivots, std::vector<std::int32_t>(lanes, -1)) << what;
        const double bound = 64.0 * n * kRoundoff<T>;
        expect_same(got.data, twin.data, fused(), bound * n, "factor " + what);
        expect_same(got.reciprocals, twin.reciprocals, fused(), bound, "reciprocals " + what);

        // The rows after L are L^-1 b; forward substitution must reproduce them.
        Pack<T> again(n, rhs, lanes);
        std::copy(got.data.begin(), got.data.end(), again.data.begin());
        for (std::int64_t c = 0; c < rhs; ++c) {
          std::copy_n(system.pack.row(n + c), n * lanes, again.pack.row(n + c));
        }
        kernel.forward.run(again.pack, pivots.data());
        expect_same(again.data, got.data, true, 0, "forward " + what);

        kernel.backward.run(got.pack);
        plain.backward.run(twin.pack);
        expect_same(got.data, twin.data, fused(), bound * n, "backward " + what);
        residuals(system, got, what);
      }
    }
  }

  /// One system fails at its last pivot, another at its first: the others are unaffected.
  template <class T>
  void failures() {
    const BatchEntries<T>& kernel = entries<T>(table_);
    for (const BatchBlock& block : kernel.blocks) {
      const std::int64_t lanes = std::int64_t{kernel.lanes} * block.vectors;
      for (const std::int64_t n : kOrders) {
        Pack<T> good(n, 1, lanes), spoiled(n, 1, lanes);
        good.fill(n);
        std::copy(good.data.begin(), good.data.end(), spoiled.data.begin());
        spoiled.pack.row(n - 1)[(n - 1) * lanes] = -1;
        spoiled.pack.row(0)[lanes - 1] = std::numeric_limits<T>::infinity();
        std::vector<std::int32_t> pivots(lanes);
        kernel.factor.run(good.pack, block, {}, pivots.data());
        kernel.factor.run(spoiled.pack, block, {}, pivots.data());
        EXPECT_EQ(pivots.front(), n - 1);
        EXPECT_EQ(pivots.back(), 0);
        for (std::int64_t e = 0; e < good.data.size(); ++e) {
          if (e % lanes == 0 || e % lanes == lanes - 1) continue;
          EXPECT_LT(pivots[e % lanes], 0);
          ASSERT_EQ(good.data[e], spoiled.data[e]) << n << ", number " << e;
        }
      }
    }
  }

  template <class T>
  void residuals(const Pack<T>& system, const Pack<T>& answer, const std::string& what) {
    const std::int64_t n = system.pack.n, lanes = system.pack.lanes;
    const BatchEntries<T>* const both[] = {&entries<T>(table_), &entries<T>(reference_table())};
    std::vector<double> norm[2], size[2];
    for (int k = 0; k < 2; ++k) {
      norm[k].resize(lanes);
      core::Buffer<double> workspace(n * lanes);
      both[k]->norm.run(system.pack, workspace.data(), norm[k].data());
    }
    for (std::int64_t q = 0; q < lanes; ++q) {
      EXPECT_NEAR(norm[0][q], norm[1][q], n * kU64 * norm[1][q]) << what;
    }
    for (std::int64_t c = 0; c < system.pack.rhs; ++c) {
      for (const bool exact : {false, true}) {
        core::Buffer<double> r(n * lanes), twin(n * lanes), low(n * lanes), unused(2 * lanes);
        double* const rs[] = {r.data(), twin.data()};
        for (int k = 0; k < 2; ++k) {
          size[k].resize(lanes);
          both[k]->residual.run(system.pack, c, answer.pack.row(n + c), rs[k],
                                exact ? low.data() : nullptr,
                                {size[k].data(), unused.data(), unused.data() + lanes});
        }
        for (std::int64_t q = 0; q < lanes; ++q) {
          // The sums are in another order: n terms of at most the norm times x, and x is about
          // b / n. In double-double their errors are squared, and both results are rounded once.
          const double terms = 4.0 * (n + 3) * kU64 * 8;
          const double bound = exact ? terms * terms : terms;
          EXPECT_NEAR(size[0][q], size[1][q], bound + 2 * kU64 * size[1][q]) << what;
          for (std::int64_t i = 0; i < n; ++i) {
            const double twin_r = twin[i * lanes + q];
            ASSERT_NEAR(r[i * lanes + q], twin_r, bound + 2 * kU64 * std::abs(twin_r)) << what;
          }
        }
      }
    }
  }

  /// Copies matrices into a pack and back, separate and interleaved, some missing, some failed.
  template <class T>
  void moves() {
    const BatchEntries<T>& kernel = entries<T>(table_);
    const BatchEntries<T>& plain = entries<T>(reference_table());
    for (const std::int64_t n : kOrders) {
      for (const std::int64_t lanes : {1 * kernel.lanes, 2 * kernel.lanes}) {
        for (const std::int64_t gap : {0, 3}) {
          for (const bool together : {false, true}) {
            for (const std::int64_t count : {lanes, lanes - 1}) {
              move<T>(kernel, plain, {n, lanes, n + gap, together, count});
            }
          }
        }
      }
    }
  }

  struct Case {
    std::int64_t n, lanes, ld;
    bool together;
    std::int64_t count;
  };
  template <class T>
  void move(const BatchEntries<T>& kernel, const BatchEntries<T>& plain, const Case& c) {
    const std::int64_t stride = c.ld * c.n + 1;
    core::Buffer<T> a(stride * c.lanes), out(stride * c.lanes), twin_out(stride * c.lanes);
    Random random(c.n);
    for (T& number : a) number = static_cast<T>(random.gaussian());
    std::vector<const T*> at(c.lanes);
    std::vector<T*> to(c.lanes), twin_to(c.lanes);
    for (std::int64_t q = 0; q < c.lanes; ++q) {
      const std::int64_t offset = c.together ? q : q * stride;
      at[q] = a.data() + offset;
      to[q] = out.data() + offset;
      twin_to[q] = twin_out.data() + offset;
    }
    const std::int64_t step = c.together ? c.lanes : 1;
    std::vector<std::int32_t> pivots(c.lanes, -1);
    if (c.n % 2 == 0) pivots[0] = 3;
    const BatchMatrices<const T> from{at.data(), c.count, c.ld, step};
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      for (const bool both : {false, true}) {
        const std::string what = std::to_string(c.n) + ", ld " + std::to_string(c.ld) + ", " +
                                 std::to_string(c.count) + " of " + std::to_string(c.lanes) +
                                 (c.together ? " interleaved" : "") +
                                 (triangle == Triangle::lower ? ", lower" : ", upper");
        Pack<T> got(c.n, 1, c.lanes), twin(c.n, 1, c.lanes);
        kernel.load.run(from, triangle, got.pack);
        plain.load.run(from, triangle, twin.pack);
        kernel.load_columns.run(from, got.pack);
        plain.load_columns.run(from, twin.pack);
        expect_same(got.data, twin.data, true, 0, "load " + what);
        std::fill(out.begin(), out.end(), T{7});
        std::fill(twin_out.begin(), twin_out.end(), T{7});
        kernel.store.run(got.pack, {to.data(), c.count, c.ld, step}, triangle, both, pivots.data());
        plain.store.run(got.pack, {twin_to.data(), c.count, c.ld, step}, triangle, both,
                        pivots.data());
        expect_same(out, twin_out, true, 0, "store " + what);
        kernel.store_columns.run(got.pack, {to.data(), c.count, c.ld, step}, pivots.data());
        plain.store_columns.run(got.pack, {twin_to.data(), c.count, c.ld, step}, pivots.data());
        expect_same(out, twin_out, true, 0, "store columns " + what);
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, BatchTest, every_vector_isa(), isa_name);

TEST_P(BatchTest, FactorsAndSolvesFp64LikeThePlainLoops) {
  factors<double>();
}
TEST_P(BatchTest, FactorsAndSolvesFp32LikeThePlainLoops) {
  factors<float>();
}
TEST_P(BatchTest, FlagsFailingPivotsAndNothingElse) {
  failures<double>();
  failures<float>();
}
TEST_P(BatchTest, MovesFp64LikeThePlainLoops) {
  moves<double>();
}
TEST_P(BatchTest, MovesFp32LikeThePlainLoops) {
  moves<float>();
}

}  // namespace
}  // namespace stepwell::kernels::test

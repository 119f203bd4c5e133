// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "solvers/least_squares/lstsq_fixture.hpp"

/// The bits of a least squares solution depend on the data only; a function that throws or a
/// cancellation ends a call, and nothing hangs.
namespace stepwell::solvers::test {
namespace {

class LeastSquaresBits : public ::testing::TestWithParam<LeastSquaresPath> {
 protected:
  LeastSquaresOptions options() const { return GetParam().options(); }
  Dense<double> a_ = tall_matrix(GetParam().m, GetParam().n, 1e3);
  Dense<double> b_ = right_hand_sides(a_, 3, 0.2);

  Solved run(const TallMatrix& a, int threads) const {
    Context context(threads);
    LeastSquaresOptions o = options();
    o.engine.context = &context;
    Solved s{Dense<double>(a_.cols, b_.cols), {}};
    s.certificate = lstsq(a, b_.view(), s.x.view(), o);
    EXPECT_TRUE(s.certificate.ok()) << path_of(s.certificate);
    return s;
  }
};
INSTANTIATE_TEST_SUITE_P(Solve, LeastSquaresBits,
                         ::testing::Values(LeastSquaresPath{3000, 90, {}, false, 0},
                                           LeastSquaresPath{3000, 90, Rung::bf16, false, 0},
                                           LeastSquaresPath{2000, 300, Rung::bf16x2, false, 1e-3},
                                           LeastSquaresPath{2500, 64, Rung::fp32, false, 0},
                                           LeastSquaresPath{2500, 33, Rung::fp64, false, 0},
                                           LeastSquaresPath{3000, 90, {}, true, 0.5},
                                           LeastSquaresPath{700, 600, Rung::bf16x3, false, 0},
                                           LeastSquaresPath{20000, 3, Rung::bf16, false, 0}));

TEST_P(LeastSquaresBits, AreTheSameForAnyNumberOfThreads) {
  for (const Storage storage : {Storage::columns, Storage::rows}) {
    const Stored a(a_, storage);
    const Solved one = run(a.matrix(), 1);
    for (const int threads : {2, 3, 4}) {
      const Solved many = run(a.matrix(), threads);
      ASSERT_TRUE(same_bits(many.x.view(), one.x.view())) << threads << " threads";
      ASSERT_EQ(many.certificate.backward_error, one.certificate.backward_error);
      ASSERT_EQ(many.certificate.iterations, one.certificate.iterations);
    }
  }
}

TEST_P(LeastSquaresBits, OfAFunctionAreThoseOfRows) {
  const Solved rows = run(Stored(a_, Storage::rows).matrix(), 2);
  const Solved padded = run(Stored(a_, Storage::rows, 3).matrix(), 2);
  const Solved function = run(Stored(a_, Storage::function).matrix(), 2);
  EXPECT_TRUE(same_bits(padded.x.view(), rows.x.view()));
  EXPECT_TRUE(same_bits(function.x.view(), rows.x.view()));
  EXPECT_EQ(function.certificate.backward_error, rows.certificate.backward_error);
}

TEST_P(LeastSquaresBits, AreTheSameInTwentyRuns) {
  const Stored a(a_, Storage::rows);
  const Solved first = run(a.matrix(), 2);
  for (int k = 0; k < repetitions(20); ++k) {
    ASSERT_TRUE(same_bits(run(a.matrix(), 1 + k % 4).x.view(), first.x.view())) << k;
  }
}

TEST_P(LeastSquaresBits, AFunctionIsCalledByOneThreadAtATimeWithRowsThatExist) {
  const Dense<double> rows = kernels::test::transposed(a_);
  const std::int64_t m = a_.rows, n = a_.cols;
  std::atomic<int> inside{0}, together{0}, outside{0};
  const TallMatrix a = from_function(m, n, [&](auto first, auto count, double* out) {
    if (++inside > 1) ++together;
    if (first < 0 || count <= 0 || first + count > m) ++outside;
    std::copy_n(rows.data.data() + first * n, count * n, out);
    --inside;
  });
  run(a, 4);
  EXPECT_EQ(together, 0);
  EXPECT_EQ(outside, 0);
}

/// At any call: in the first pass, in between, or during refinement.
TEST_P(LeastSquaresBits, WhatAFunctionThrowsReachesTheCaller) {
  const Dense<double> rows = kernels::test::transposed(a_);
  const std::int64_t n = a_.cols;
  int calls = 0, limit = 0;
  const TallMatrix a = from_function(a_.rows, n, [&](auto first, auto count, double* out) {
    if (++calls > limit) throw std::runtime_error("the disk is gone");
    std::copy_n(rows.data.data() + first * n, count * n, out);
  });
  limit = 1 << 30;
  const Solved whole = run(a, 2);
  const int all = calls;
  for (const int after : {0, 1, all / 4, all / 2, all - 1}) {
    for (const int threads : {1, 2, 4}) {
      calls = 0;
      limit = after;
      Context context(threads);
      LeastSquaresOptions o = options();
      o.engine.context = &context;
      Dense<double> x(n, b_.cols);
      try {
        (void)lstsq(a, b_.view(), x.view(), o);
        FAIL() << "nothing was thrown after " << after << " of " << all << " calls";
      } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "the disk is gone");
      }
    }
  }
  calls = 0;
  limit = 1 << 30;
  EXPECT_TRUE(same_bits(run(a, 2).x.view(), whole.x.view())) << "the library is as it was";
}

/// The function itself cancels, at any call.
TEST_P(LeastSquaresBits, ACancelledCallEnds) {
  const Dense<double> rows = kernels::test::transposed(a_);
  const std::int64_t n = a_.cols;
  int calls = 0, limit = 1 << 30;
  Progress progress;
  const TallMatrix a = from_function(a_.rows, n, [&](auto first, auto count, double* out) {
    if (++calls == limit) progress.cancel = true;
    std::copy_n(rows.data.data() + first * n, count * n, out);
  });
  run(a, 2);
  const int all = calls;
  for (const int at : {1, all / 3}) {
    calls = 0;
    limit = at;
    progress.cancel = false;
    LeastSquaresOptions o = options();
    o.engine.progress = &progress;
    Dense<double> x = gaussian_columns(n, b_.cols, 5);
    const Dense<double> before(x);
    const Certificate c = lstsq(a, b_.view(), x.view(), o);
    EXPECT_EQ(c.outcome, SolveOutcome::cancelled) << at << " of " << all << ", " << path_of(c);
    EXPECT_FALSE(c.reason.empty());
    EXPECT_TRUE(same_bits(x.view(), before.view())) << "x was written";
  }
}

}  // namespace
}  // namespace stepwell::solvers::test

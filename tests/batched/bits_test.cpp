// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batched/batch_fixture.hpp"
#include "sanitized.hpp"

/// The bits of a system's solution do not depend on threads, tuning, the batch or the position in
/// it; progress and cancellation.
namespace stepwell::test {
namespace {

template <class T>
class BatchBits : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BatchBits, Types);

template <class T>
struct Answer {
  Answer(const Plain<T>& a, const Plain<T>& b, const BatchOptions& options)
      : factor(a), x(b), report(batch_factor_solve(factor.view(), x.view(), options)) {}
  bool operator==(const Answer& other) const {
    return same_bits(factor[0], other.factor[0], factor.count * factor.rows * factor.rows) &&
           same_bits(x[0], other.x[0], x.count * x.rows * x.cols);
  }
  Plain<T> factor, x;
  BatchReport report;
};

TYPED_TEST(BatchBits, AreTheSameForAnyNumberOfThreads) {
  using T = TypeParam;
  for (const std::int64_t n : {3, 16, 50}) {
    const std::int64_t count = 3000;
    const Plain<T> a = definite<T>(count, n, 41), b = right_hand_sides<T>(count, n, 1, 42);
    Context one(1);
    BatchOptions options;
    options.engine.context = &one;
    const Answer<T> expected(a, b, options);
    EXPECT_EQ(expected.report.threads, 1);
    for (const int threads : {2, 5, 8}) {
      Context context(threads);
      options.engine.context = &context;
      const Answer<T> answer(a, b, options);
      if (n == 50) {  // enough work for all threads
        EXPECT_EQ(answer.report.threads, context.threads());
      }
      EXPECT_TRUE(answer == expected) << n << ", threads " << threads;
    }
  }
}

TYPED_TEST(BatchBits, AreTheSameForEveryTuning) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 11, 16, 17, 24, 33, 48, 65, 100, 127, 128}) {
    if (kSanitized && n > 40) continue;
    const std::int64_t count = 4 * batch_lanes(kFormat<T>) + 1;
    const Plain<T> a = definite<T>(count, n, 43), b = right_hand_sides<T>(count, n, 2, 44);
    const Answer<T> expected(a, b, {});
    for (const BatchTuning& tuning : batch_tunings(kFormat<T>)) {
      BatchOptions options;
      options.tuning = tuning;
      const Answer<T> answer(a, b, options);
      EXPECT_EQ(answer.report.tuning, tuning);
      EXPECT_TRUE(answer == expected) << n << ": " << tuning.rows << " x " << tuning.cols << ", "
                                      << tuning.vectors << ", " << tuning.prefetch;
    }
  }
}

TYPED_TEST(BatchBits, AreTheSameForAnyCountAndPlace) {
  using T = TypeParam;
  const std::int64_t lanes = batch_lanes(kFormat<T>);
  for (const std::int64_t n : {1, 4, 9, 30, 64}) {
    const Plain<T> a = definite<T>(5 * lanes, n, 45), b = right_hand_sides<T>(5 * lanes, n, 1, 46);
    const Answer<T> expected(a, b, {});
    for (const std::int64_t count : {std::int64_t{1}, lanes - 1, lanes, lanes + 1, 2 * lanes + 1}) {
      for (const std::int64_t first : {std::int64_t{0}, std::int64_t{1}, lanes / 2, 2 * lanes}) {
        Plain<T> part(count, n, n), right(count, n, 1);
        std::copy_n(a[first], count * n * n, part[0]);
        std::copy_n(b[first], count * n, right[0]);
        const Answer<T> answer(part, right, {});
        EXPECT_TRUE(same_bits(answer.factor[0], expected.factor[first], count * n * n))
            << n << ": " << count << " from " << first;
        EXPECT_TRUE(same_bits(answer.x[0], expected.x[first], count * n))
            << n << ": " << count << " from " << first;
      }
    }
  }
}

TYPED_TEST(BatchBits, ARightHandSideHasTheSameBitsAlone) {
  using T = TypeParam;
  for (const std::int64_t n : {2, 16, 37}) {
    const Plain<T> a = definite<T>(40, n, 47), b = right_hand_sides<T>(40, n, 9, 48);
    const Answer<T> all(a, b, {});
    for (std::int64_t c = 0; c < 9; ++c) {
      Plain<T> one(40, n, 1);
      for (std::int64_t m = 0; m < 40; ++m) std::copy_n(b[m] + c * n, n, one[m]);
      const Answer<T> answer(a, one, {});
      for (std::int64_t m = 0; m < 40; ++m) {
        ASSERT_TRUE(same_bits(answer.x[m], all.x[m] + c * n, n)) << n << ", column " << c;
      }
    }
  }
}

TEST(BatchProgress, CountsAndIsCancelled) {
  const Plain<double> a = definite<double>(500, 12, 49),
                      b = right_hand_sides<double>(500, 12, 1, 5);
  Progress progress;
  BatchOptions options;
  options.engine.progress = &progress;
  const Answer<double> done(a, b, options);
  EXPECT_TRUE(done.report.ok());
  EXPECT_EQ(progress.phase, Phase::factor);
  EXPECT_GT(progress.total, 0);
  EXPECT_EQ(progress.done, progress.total);
  progress.cancel = true;
  const Answer<double> cancelled(a, b, options);
  EXPECT_TRUE(cancelled.report.cancelled);
  EXPECT_FALSE(cancelled.report.ok());
  EXPECT_TRUE(same_bits(cancelled.factor[0], a[0], 500 * 144));
  EXPECT_TRUE(same_bits(cancelled.x[0], b[0], 500 * 12));
}

TEST(BatchReport, SaysWhatItTook) {
  const Plain<float> a = definite<float>(100, 30, 50), b = right_hand_sides<float>(100, 30, 1, 5);
  const Answer<float> answer(a, b, {});
  EXPECT_EQ(answer.report.tuning, batch_tuning(30, Format::fp32));
  EXPECT_GT(answer.report.bytes, 0);
  EXPECT_GE(answer.report.threads, 1);
}

}  // namespace
}  // namespace stepwell::test

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "engine/fixture.hpp"
#include "factor/fixture.hpp"
#include "in_child.hpp"
#include "stepwell/solve.hpp"

/// A forked child never hangs. Calls run there on threads of the child's own; StarPU's workers,
/// which calls over ranks need, do not exist there, and such a call gets an error.
namespace stepwell::engine::test {
namespace {

using factor::test::Dense;
using factor::test::well_conditioned;
using stepwell::test::in_child;

constexpr int kForks = kSanitized ? 10 : 100;

/// L of a matrix of five tiles, for comparison in a child.
Dense<double> factor_with(const Dense<double>& a, int threads) {
  Context context(threads);
  FactorOptions options = factor::test::options_for("bf16,fp32");
  options.tile = 32;
  options.engine.context = &context;
  const Factor factor = cholesky(a.view(), options);
  Dense<double> l(a.rows, a.cols);
  factor.copy_to(l.view());
  return l;
}

class ForkTest : public ::testing::Test {
 protected:
  ForkTest() : a_(well_conditioned(17 * 32)), expected_(factor_with(a_, 1)) {}

  /// Returns 0 if L has the right bits.
  int is_right(int threads) const {
    return factor_with(a_, threads).data == expected_.data ? 0 : 1;
  }
  /// Returns 0 if StarPU is refused with a helpful message.
  static int is_refused() {
    try {
      const Session session({2, 0});
    } catch (const Error& error) {
      const std::string text = error.what();
      if (error.code() != ErrorCode::unsupported) return 2;
      if (text.find("fork") == std::string::npos) return 3;
      return text.find("new process") == std::string::npos ? 4 : 0;
    }
    return 1;
  }

  Dense<double> a_;
  Dense<double> expected_;
};

TEST_F(ForkTest, LetsAChildHaveItsOwnThreads) {
  ASSERT_EQ(is_right(2), 0);
  for (int i = 0; i < kForks; ++i) {
    ASSERT_EQ(in_child([&] { return is_right(1) + is_right(2) + is_right(4); }), 0) << i;
    ASSERT_EQ(i % 10 == 0 ? is_right(2) : 0, 0) << "the parent's threads";
  }
}

TEST_F(ForkTest, LetsAGrandchildHaveThem) {
  ASSERT_EQ(is_right(2), 0);
  const auto grandchild = [&] { return in_child([&] { return is_right(2); }); };
  for (int i = 0; i < 5; ++i) ASSERT_EQ(in_child([&] { return is_right(2) + grandchild(); }), 0);
}

TEST_F(ForkTest, RefusesStarpusWorkersToAChildOfTheirProcess) {
  const Session session({2, 0});  // the workers run, and are awake
  for (int i = 0; i < kForks; ++i) ASSERT_EQ(in_child([] { return is_refused(); }), 0) << i;
}

TEST_F(ForkTest, RefusesSleepingWorkersToo) {
  { const Session session({2, 0}); }
  ASSERT_EQ(in_child([] { return is_refused(); }), 0);
  ASSERT_EQ(in_child([] { return is_refused() + in_child([] { return is_refused(); }); }), 0);
}

TEST_F(ForkTest, LetsAChildHaveWorkersThatTheParentHasNot) {
  stop_all_workers();
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(in_child([] { return Session({2, 0}).workers() == 2 ? 0 : 1; }), 0) << i;
  }
}

/// Forks while another thread factors repeatedly on 'threads' threads.
void fork_during(const Dense<double>& a, int threads, const std::function<int()>& child) {
  std::atomic<bool> stop{false};
  std::atomic<int> calls{0};
  std::thread busy([&] {
    while (!stop) {
      factor_with(a, threads);
      ++calls;
    }
  });
  while (calls == 0) std::this_thread::yield();
  int failed = 0;
  for (int i = 0; i < kForks && failed == 0; ++i) failed = in_child(child);
  stop = true;
  busy.join();
  EXPECT_EQ(failed, 0);
}

/// A child that is forked while another thread is in a call. Not with AddressSanitizer, whose
/// allocator (before LLVM 17) leaves its locks to the child as they are: operator new hangs there.
class ForkDuringCalls : public ForkTest {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the sanitizer's allocator hangs in such a child";
  }
};

TEST_F(ForkDuringCalls, DoesNotHangWhileThreadsFactor) {
  fork_during(a_, 2, [&] { return is_right(1) + is_right(2); });
}

// In small calls half of the time is spent under a lock, setting the number of BLAS threads.
TEST_F(ForkDuringCalls, DoesNotHangInManySmallCalls) {
  fork_during(well_conditioned(20), 1, [&] { return is_right(1) + is_right(2); });
}

TEST_F(ForkTest, LetsAChildSolveWithASolverOfItsParent) {
  const std::int64_t n = 1200;  // large enough for several threads
  const Dense<double> a = well_conditioned(n);
  const auto b = Dense<double>::generate(n, 1, [] { return 1.0; });
  Dense<double> x(n, 1);
  stepwell::Solver solver(a.view(), {}, Structure::spd);
  ASSERT_TRUE(solver.solve(b.view(), x.view()).ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(in_child([&] {
                Dense<double> again(n, 1);
                const bool solved = solver.solve(b.view(), again.view()).ok();
                return solved && again.data == x.data ? 0 : 1;
              }),
              0);
  }
  EXPECT_TRUE(solver.solve(b.view(), x.view()).ok());
}

}  // namespace
}  // namespace stepwell::engine::test

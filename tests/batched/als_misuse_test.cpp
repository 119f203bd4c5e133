// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <sched.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <limits>

#include "batched/als_fixture.hpp"
#include "batched/refusal.hpp"
#include "sanitized.hpp"
#include "stepwell/error.hpp"

/// Arguments that als_step(), als_loss() and transpose() refuse; progress, cancellation and threads
/// of a step.
namespace stepwell::test {
namespace {

TEST(AlsMisuse, RefusesSparseMatricesThatAreNone) {
  AlsProblem p(10, 12, 4, 9, 20);
  const SparseRows good = p.ratings();
  const auto refuse = [&](const std::string& text, const std::function<void(SparseRows&)>& spoil) {
    SparseRows bad = good;
    spoil(bad);
    const auto code = ErrorCode::invalid_argument;
    expect_refusal(code, text, [&] { (void)als_step(bad, p.items(), p.users()); });
    expect_refusal(code, text, [&] { (void)als_loss(bad, p.users(), p.items()); });
    expect_refusal(code, text, [&] { (void)transpose(bad); });
  };
  refuse("negative", [](SparseRows& a) { a.rows = -1; });
  refuse("negative", [](SparseRows& a) { a.cols = -1; });
  refuse("no starts", [](SparseRows& a) { a.starts = nullptr; });
  refuse("no columns", [](SparseRows& a) { a.columns = nullptr; });
  refuse("no values", [](SparseRows& a) { a.values = nullptr; });
  std::vector<std::int64_t> starts = p.starts();
  starts[0] = 1;
  refuse("starts[0] is 1", [&](SparseRows& a) { a.starts = starts.data(); });
  starts = p.starts();
  starts[5] = starts[4] - 1;
  refuse("starts[5]", [&](SparseRows& a) { a.starts = starts.data(); });
  const std::vector<std::int32_t> right = p.columns();
  for (const std::int32_t index : {-1, 12, std::numeric_limits<std::int32_t>::max()}) {
    p.columns() = right;
    p.columns().back() = index;
    refuse("row 9, is " + std::to_string(index), [](SparseRows&) {});
  }
  p.columns() = right;
  EXPECT_TRUE(als_step(p.ratings(), p.items(), p.users()).ok());
}

TEST(AlsMisuse, RefusesVectorsThatDoNotFit) {
  AlsProblem p(10, 12, 4, 9, 21);
  const auto refuse = [&](ErrorCode code, const std::string& text, MatrixView<const float> items,
                          MatrixView<float> users) {
    expect_refusal(code, text, [&] { (void)als_step(p.ratings(), items, users); });
    expect_refusal(code, text, [&] { (void)als_loss(p.ratings(), users, items); });
  };
  const MatrixView<const float> items = p.items();
  const MatrixView<float> users = p.users();
  const auto wrong = ErrorCode::invalid_argument;
  refuse(wrong, "1 to 128", {items.data, 0, 12, items.ld}, users);
  refuse(wrong, "1 to 128", {items.data, 129, 12, 200}, users);
  refuse(wrong, "leading dimension", {items.data, 4, 12, 3}, users);
  refuse(wrong, "leading dimension", items, {users.data, 4, 10, 3});
  refuse(wrong, "items is 4 x 12 and has no data", {nullptr, 4, 12, 4}, users);
  refuse(wrong, "users is 4 x 10 and has no data", items, {nullptr, 4, 10, 4});
  refuse(ErrorCode::shape, "must be 4 x 12", {items.data, 4, 11, items.ld}, users);
  refuse(ErrorCode::shape, "must be 4 x 10", items, {users.data, 4, 11, users.ld});
  refuse(ErrorCode::shape, "must be 4 x 10", items, {users.data, 3, 10, users.ld});
  refuse(ErrorCode::too_large, "64 bits", items,
         {users.data, 4, 10, std::numeric_limits<std::int64_t>::max() / 4});
  const MatrixView<float> inside{p.item_elements().data() + 11, 4, 10, 4};
  expect_refusal(wrong, "overlap", [&] { (void)als_step(p.ratings(), items, inside); });
}

TEST(AlsMisuse, RefusesWeightsThatAreNone) {
  AlsProblem p(10, 12, 4, 9, 22);
  for (const float bad :
       {-1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    AlsOptions options;
    options.lambda = bad;
    const auto code = ErrorCode::invalid_argument;
    expect_refusal(code, "lambda",
                   [&] { (void)als_step(p.ratings(), p.items(), p.users(), options); });
    options = {};
    options.alpha = bad;
    expect_refusal(code, "alpha",
                   [&] { (void)als_loss(p.ratings(), p.users(), p.items(), options); });
  }
}

TEST(AlsMisuse, TakesMatricesWithoutRows) {
  AlsProblem p(1, 12, 4, 9, 23);
  float none = 0;
  EXPECT_TRUE(als_step({0, 12, nullptr, nullptr, nullptr}, p.items(), {&none, 4, 0, 4}).ok());
  const std::int64_t starts[2] = {0, 0};
  EXPECT_TRUE(als_step({1, 0, starts, nullptr, nullptr}, {nullptr, 4, 0, 4}, p.users()).ok());
  EXPECT_EQ(p.users()(3, 0), 0);
}

TEST(AlsProgress, CountsRowsAndIsCancelled) {
  AlsProblem p(500, 40, 10, 30, 24);
  Progress progress;
  AlsOptions options;
  options.engine.progress = &progress;
  EXPECT_TRUE(p.step(options).ok());
  EXPECT_EQ(progress.phase, Phase::factor);
  EXPECT_EQ(progress.done, 500);
  EXPECT_EQ(progress.total, 500);
  progress.cancel = true;
  const AlsReport report = p.step(options);
  EXPECT_TRUE(report.cancelled);
  EXPECT_FALSE(report.ok());
  const std::vector<float> before(p.result().size(), AlsProblem::kBefore);
  EXPECT_TRUE(same_bits(p.result(), before));
}

volatile std::sig_atomic_t most_threads = 0;
volatile std::sig_atomic_t looks = 0;

/// The number of threads of this process, using only functions that a signal handler may call.
extern "C" void count_threads(int) {
  char text[4096] = {};
  const int file = open("/proc/self/status", O_RDONLY);
  const ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  const char* const line = size > 0 ? std::strstr(text, "\nThreads:") : nullptr;
  if (line == nullptr) return;
  looks = looks + 1;
  const int threads = std::atoi(line + 9);
  if (threads > most_threads) most_threads = threads;
}

/// In a process that may use one CPU: returns 0 if a step reports one thread and never has more.
int step_on_one_cpu() {
  AlsProblem p(4000, 500, 48, 60, 25);
  std::signal(SIGPROF, count_threads);
  const itimerval often{{0, 500}, {0, 500}};
  setitimer(ITIMER_PROF, &often, nullptr);
  AlsReport report;
  for (int turn = 0; turn < 100 && (turn == 0 || looks < 5); ++turn) report = p.step({});
  const itimerval never{};
  setitimer(ITIMER_PROF, &never, nullptr);
  if (!report.ok() || report.threads != 1) return 3;
  return looks >= 5 && most_threads == 1 ? 0 : 4;
}

TEST(AlsThreads, ArePlentyOnlyWhereThereAreCpus) {
  if (kSanitized) GTEST_SKIP() << "the sanitizers have threads of their own";
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process, which inherits the affinity
  EXPECT_EXIT(std::exit(step_on_one_cpu()), ::testing::ExitedWithCode(0), "");
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace
}  // namespace stepwell::test

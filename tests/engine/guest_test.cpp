// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>
#include <signal.h>

#include <cstring>

#include "engine/fixture.hpp"
#include "factor/fixture.hpp"
#include "kernels/blas/blas.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/// A call restores the caller's BLAS threads, floating-point state, affinity and signal handlers,
/// and its result does not depend on them.
namespace stepwell::engine::test {
namespace {

using factor::test::Dense;
using factor::test::same_factor;
using factor::test::well_conditioned;

Factor factor_with(const Dense<double>& a, const char* map, int threads,
                   Scaling scaling = Scaling::powers_of_two) {
  Context context(threads);
  FactorOptions options = factor::test::options_for(map);
  options.engine.context = &context;
  options.cholesky.scaling = scaling;
  return cholesky(a.view(), options);
}

TEST(Guest, RestoresTheNumberOfBlasThreads) {
  const int before = kernels::set_blas_threads(2);
  if (kernels::blas_identity().threads != 2) GTEST_SKIP() << "this BLAS has no threads to set";
  {
    const Graph outer(options_for(1));
    EXPECT_EQ(kernels::blas_identity().threads, 1);
    { const Graph inner(options_for(2)); }
    EXPECT_EQ(kernels::blas_identity().threads, 1);
  }
  EXPECT_EQ(kernels::blas_identity().threads, 2);
  for (const int threads : {1, 2}) {
    EXPECT_TRUE(factor_with(well_conditioned(300), "fp64", threads).ok());
    EXPECT_EQ(kernels::blas_identity().threads, 2);
  }
  kernels::set_blas_threads(before);
}

TEST(Guest, RestoresTheNumberOfBlasThreadsAfterAFailure) {
  const int before = kernels::set_blas_threads(2);
  if (kernels::blas_identity().threads != 2) GTEST_SKIP() << "this BLAS has no threads to set";
  EXPECT_FALSE(factor_with(factor::test::indefinite(300, 64, -9), "fp64", 2).ok());
  const Work fail = [](Task&) { throw 1; };
  {
    Graph graph(options_for(2));
    insert(graph, fail);
    EXPECT_THROW(graph.wait(), int);
  }
  EXPECT_EQ(kernels::blas_identity().threads, 2);
  kernels::set_blas_threads(before);
}

TEST(Guest, LeavesTheCallersAffinityAndGivesItToTheWorkers) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  std::atomic<int> others{0};
  const Work check_affinity = [&](Task&) {
    cpu_set_t own;
    sched_getaffinity(0, sizeof(own), &own);
    if (!CPU_EQUAL(&own, &before)) ++others;
    linger();
  };
  Graph graph(options_for(3));
  for (int i = 0; i < 30; ++i) insert(graph, check_affinity);
  graph.wait();
  ASSERT_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_EQ(others, 0);
}

TEST(Guest, LeavesSignalHandlersAlone) {
  const auto handlers = [] {
    std::vector<void (*)(int)> h;
    for (const int signal : {SIGINT, SIGTERM, SIGSEGV, SIGTRAP, SIGFPE, SIGCHLD}) {
      struct sigaction action {};
      sigaction(signal, nullptr, &action);
      h.push_back(action.sa_handler);
    }
    return h;
  };
  stop_all_workers();
  const auto before = handlers();
  (void)factor_with(well_conditioned(300), "bf16", 2);
  EXPECT_EQ(handlers(), before);
}

#if defined(__x86_64__)
/// For its lifetime, the caller flushes subnormals to zero and rounds up.
class OddFloatingPoint {
 public:
  OddFloatingPoint() : before_(_mm_getcsr()) { _mm_setcsr(kOdd); }
  ~OddFloatingPoint() { _mm_setcsr(before_); }
  OddFloatingPoint(const OddFloatingPoint&) = delete;
  OddFloatingPoint& operator=(const OddFloatingPoint&) = delete;
  static constexpr unsigned kOdd = 0x1f80 | 0x8000 | 0x4000 | 0x0040;  // FTZ, rounding up, DAZ

 private:
  unsigned before_;
};

class OddCaller : public ::testing::TestWithParam<std::tuple<const char*, int>> {};
INSTANTIATE_TEST_SUITE_P(Engine, OddCaller,
                         ::testing::Combine(::testing::Values("bf16", "fp32", "fp64", "int8x14",
                                                              "fp32,fp64", "bf16x2,fp64",
                                                              "adaptive:1e-6"),
                                            ::testing::Values(1, 2)));

// Workers inherit the floating-point state of the thread that starts them: here they start within
// the call.
TEST_P(OddCaller, GetsTheSameBitsAndKeepsItsState) {
  const auto [map, threads] = GetParam();
  for (const Scaling scaling : {Scaling::powers_of_two, Scaling::unit_diagonal}) {
    for (const int exponent : {0, -1030}) {  // below 2^-1022 the elements are subnormal
      Dense<double> a = well_conditioned(300);
      for (double& x : a.data) x = std::ldexp(x, exponent);
      const Factor expected = factor_with(a, map, threads, scaling);
      stop_all_workers();
      Context context(threads);
      FactorOptions options = factor::test::options_for(map);
      options.engine.context = &context;
      options.cholesky.scaling = scaling;
      Factor got;
      unsigned state = 0;
      {
        const OddFloatingPoint odd;
        got = cholesky(a.view(), options);
        state = _mm_getcsr();
      }
      EXPECT_EQ(state, OddFloatingPoint::kOdd);  // no exception flag is raised either
      EXPECT_TRUE(same_factor(got, expected)) << exponent;
      EXPECT_EQ(got.report().norm, expected.report().norm);
      EXPECT_EQ(got.report().tiles, expected.report().tiles);
    }
  }
  stop_all_workers();
}
#endif

}  // namespace
}  // namespace stepwell::engine::test

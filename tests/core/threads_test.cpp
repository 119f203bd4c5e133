// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine/threads.hpp"

#include <gtest/gtest.h>

#include "core/machine/environment.hpp"

namespace stepwell::core {
namespace {

/// A machine with 8 CPUs, 6 of them by affinity.
CpuAllowance eight() {
  CpuAllowance allowed;
  allowed.online = 8;
  allowed.by_affinity = allowed.threads = 6;
  return allowed;
}

/// None of the variables is set, except these.
ThreadCount with(Variables set, const CpuAllowance& allowed = eight()) {
  for (const char* name :
       {"STEPWELL_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"}) {
    bool given = false;
    for (const auto& variable : set) given = given || variable.first == name;
    if (!given) set.emplace_back(name, "");
  }
  const EnvironmentScope scope(set);
  return thread_count(allowed);
}

void expect(const ThreadCount& count, int threads, ThreadSource source) {
  EXPECT_EQ(count.threads, threads);
  EXPECT_STREQ(to_string(count.source), to_string(source));
}

TEST(Threads, TheSystemDecidesIfNobodyElseDoes) {
  expect(with({}), 6, ThreadSource::affinity);
  CpuAllowance allowed = eight();
  allowed.by_quota = 2.5;
  allowed.threads = 2;
  expect(with({}, allowed), 2, ThreadSource::quota);
  allowed = eight();
  allowed.by_affinity = allowed.threads = 8;
  expect(with({}, allowed), 8, ThreadSource::online);
}

TEST(Threads, OurVariableComesFirstAndMayExceedTheAffinityButNotTheMachine) {
  expect(with({{"STEPWELL_THREADS", "3"}, {"OMP_NUM_THREADS", "1"}}), 3,
         ThreadSource::stepwell_threads);
  expect(with({{"STEPWELL_THREADS", "7"}}), 7, ThreadSource::stepwell_threads);
  expect(with({{"STEPWELL_THREADS", "1000000"}}), 8, ThreadSource::stepwell_threads);
}

TEST(Threads, TheVariablesOfOtherLibrariesOnlyLowerTheNumber) {
  expect(with({{"OMP_NUM_THREADS", "1"}}), 1, ThreadSource::omp_num_threads);
  expect(with({{"OMP_NUM_THREADS", " 4 ,2"}}), 4, ThreadSource::omp_num_threads);
  expect(with({{"OMP_NUM_THREADS", "64"}}), 6, ThreadSource::affinity);
  expect(with({{"OMP_NUM_THREADS", "1"}, {"MKL_NUM_THREADS", "5"}}), 5,
         ThreadSource::mkl_num_threads);
  expect(with({{"OPENBLAS_NUM_THREADS", "2"}, {"MKL_NUM_THREADS", "5"}}), 2,
         ThreadSource::openblas_num_threads);
}

TEST(Threads, AValueThatIsNoNumberIsIgnoredAndNamed) {
  for (const char* text : {"0", "-1", "two", "2x", "1.5", "99999999999", ",2", " "}) {
    expect(with({{"STEPWELL_THREADS", text}, {"OMP_NUM_THREADS", "2"}}), 2,
           ThreadSource::omp_num_threads);
    const EnvironmentScope scope(Variables{{"STEPWELL_THREADS", text}});
    EXPECT_EQ(ignored_thread_variable(), "STEPWELL_THREADS=" + std::string(text) +
                                             " is not a number of threads, and is ignored");
  }
  const EnvironmentScope scope(Variables{{"STEPWELL_THREADS", "2"}});
  EXPECT_EQ(ignored_thread_variable(), "");
}

TEST(Threads, TheProgramDecidesBeforeAllVariables) {
  const int before = default_threads();
  set_threads(1);
  expect(with({{"STEPWELL_THREADS", "3"}}), 1, ThreadSource::program);
  expect(thread_count(), 1, ThreadSource::program);
  set_threads(1 << 30);
  EXPECT_EQ(default_threads(), cpu_allowance().online);
  set_threads(0);
  EXPECT_EQ(default_threads(), before);
}

}  // namespace
}  // namespace stepwell::core

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "tools/run_command.hpp"

/// If one allocation of the command fails, from the first that the loader makes on, the command
/// either succeeds or exits with 30, and leaves no unfinished file. A sample of the allocations is
/// tried; all if STEPWELL_EVERY_ALLOCATION is set, which takes an hour.
namespace stepwell::tool {
namespace {

class CommandMemoryTest : public ::testing::Test {
 protected:
  Outcome run_failing(const std::string& arguments, long k) const {
    return run(arguments, "STEPWELL_TEST_FAIL_ALLOCATION=" + std::to_string(k) +
                              " STEPWELL_TEST_COUNT='" + count_ +
                              "' LD_PRELOAD='" STEPWELL_FAILING_ALLOCATIONS "'");
  }

  void expect_all_survived(const std::string& arguments) const {
    const Outcome whole = run_failing(arguments, 0);
    ASSERT_EQ(whole.code, 0) << whole.err;
    const long count = std::stol(contents(count_));
    ASSERT_GT(count, 100);
    const bool every = std::getenv("STEPWELL_EVERY_ALLOCATION") != nullptr;
    std::map<int, int> ends;
    for (long k = 1; k <= count; k += every ? 1 : 1 + k / 2) {
      std::filesystem::remove(outputs_ / "a.npy");
      const Outcome o = run_failing(arguments, k);
      ++ends[o.code];
      EXPECT_TRUE(o.code == 0 || o.code == 30)
          << "allocation " << k << " of " << count << ": code " << o.code << ", " << o.err;
      EXPECT_TRUE(outputs_.list() == "a.npy" || outputs_.list().empty()) << outputs_.list();
    }
    EXPECT_GT(ends[30], 0) << "nothing has failed";
    if (!every) return;
    std::printf("%s: %ld allocations\n", arguments.c_str(), count);
    for (const auto& [code, times] : ends) std::printf("  %5d  exit code %d\n", times, code);
  }

  Directory work_, outputs_;
  std::string count_ = work_ / "count";
};

TEST_F(CommandMemoryTest, AsksForItsVersion) {
  expect_all_survived("--version");
}

TEST_F(CommandMemoryTest, WritesAFile) {
  expect_all_survived("gen arithmetic --n 40 --quiet -o '" + outputs_ / "a.npy" + "'");
}

}  // namespace
}  // namespace stepwell::tool

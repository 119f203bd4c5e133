// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tools/run_command.hpp"

/// The command in adverse conditions: no space for a file, and a cache that is not a file.
namespace stepwell::tool {
namespace {

namespace fs = std::filesystem;

class ProcessTest : public ::testing::Test {
 protected:
  Directory work_, outputs_;
};

TEST_F(ProcessTest, TakesACacheThatIsNoFileForNone) {
  const std::string cache = "XDG_CACHE_HOME='" + work_.path() + "' timeout 20";
  const std::string plan = "plan --n 3000 --json";
  const auto plan_of = [](const Outcome& o) {  // except for the available memory
    return o.out.substr(0, o.out.find("bytes_available"));
  };
  const Outcome without = run(plan, cache);
  ASSERT_EQ(without.code, 0) << without.err;
  const std::string rates = work_ / "stepwell/rates.json";
  fs::create_directory(work_ / "stepwell");
  ASSERT_EQ(mkfifo(rates.c_str(), 0600), 0);
  const Outcome pipe = run(plan, cache);
  EXPECT_EQ(pipe.code, 0);
  EXPECT_NE(pipe.err.find("rates.json' can't be read"), std::string::npos) << pipe.err;
  fs::remove(rates);
  fs::create_directory(rates);
  const Outcome directory = run(plan, cache);
  EXPECT_EQ(directory.code, 0);
  EXPECT_NE(directory.err.find("rates.json' can't be read"), std::string::npos) << directory.err;
  EXPECT_EQ(plan_of(directory), plan_of(pipe));
  EXPECT_EQ(plan_of(directory), plan_of(without));
}

TEST_F(ProcessTest, SaysThatAFileMayNotGrowAndLeavesNone) {
  expect_error(
      run("gen arithmetic --n 300 --quiet -o '" + outputs_ / "a.npy" + "'", "ulimit -f 1;"), 10,
      "can't be written");
  EXPECT_EQ(outputs_.list(), "");
}

}  // namespace
}  // namespace stepwell::tool

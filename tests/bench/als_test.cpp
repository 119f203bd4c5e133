// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/run_command.hpp"

/// bench als: its measurements, and the arguments that it refuses.
namespace stepwell::tool {
namespace {

using nlohmann::json;

TEST(BenchAls, SaysWhatItMeasured) {
  for (const char* arguments :
       {"--users 300 --items 40 --factors 5", "--users 500 --items 70 --factors 33 --implicit",
        "--users 50 --items 2000 --factors 64 --ratings-per-user 3 --threads 2"}) {
    const Outcome o =
        run(std::string("bench als ") + arguments + " --pairs 2 --json --allow-slow-blas");
    ASSERT_EQ(o.code, 0) << arguments << ": " << o.err;
    const json j = json::parse(o.out);
    EXPECT_EQ(j.at("bench"), "als");
    for (const char* side : {"candidate", "baseline"}) {
      EXPECT_GT(j.at(side).at("seconds"), 0) << side;
      EXPECT_GT(j.at(side).at("rate").at("median"), 0) << side;
    }
    EXPECT_EQ(j.at("ratio").at("windows"), 2);
    EXPECT_GE(j.at("ratings"), j.at("users"));
    // In units of roundoff times condition number: the largest of the rows' sums, and 4 k of the
    // solver.
    const double k = j.at("factors");
    for (const char* key : {"error", "baseline_error"}) {
      EXPECT_GT(j.at(key), 0) << arguments;
      EXPECT_LT(j.at(key), 60 + 4 * k) << arguments;
    }
    EXPECT_GT(j.at("difference"), 0) << arguments;
    EXPECT_LT(j.at("difference"), 0.01) << arguments;
  }
}

TEST(BenchAls, PrintsForPeople) {
  const Outcome o = run("bench als --users 100 --items 20 --factors 4 --pairs 1 --allow-slow-blas");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("times roundoff and condition"), std::string::npos) << o.out;
}

TEST(BenchAls, RefusesWhatItCanNotDo) {
  for (const char* arguments : {"--factors 0", "--factors 129", "--users 0", "--against dposv"}) {
    const Outcome o = run(std::string("bench als ") + arguments);
    EXPECT_EQ(o.code, 2) << arguments;
    EXPECT_EQ(o.out, "") << arguments;
  }
}

}  // namespace
}  // namespace stepwell::tool

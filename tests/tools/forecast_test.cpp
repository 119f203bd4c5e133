// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>
#include "run_command.hpp"
#include "tools/stepwell/commands/timetable.hpp"
#include "tools/stepwell/report/progress_line.hpp"

namespace stepwell::tool {
namespace {

Timetable cubic() {
  Timetable table;
  table.measured_on = "2026-01-02";
  for (const std::int64_t n : {1024, 2048, 4096}) {
    const auto d = static_cast<double>(n);
    table.rows.push_back({"bf16", n, 1e-9 * d * d, 1e-12 * d * d * d, 2e-9 * d * d});
  }
  return table;
}

TEST(Timetable, IsRightAtBetweenAndBeyondItsRows) {
  for (const std::int64_t n : {100, 1024, 1500, 2048, 3000, 4096, 16384}) {
    const auto d = static_cast<double>(n);
    const SolveSeconds t = seconds_at(cubic(), "bf16", n, 1);
    const double bound = 100 * 0x1p-53;  // a few logarithms and powers
    EXPECT_LT(std::abs(t.factor / (1e-12 * d * d * d) - 1), bound) << n;
    EXPECT_LT(std::abs(t.analysis / (1e-9 * d * d) - 1), bound) << n;
    EXPECT_LT(std::abs(t.iteration / (2e-9 * d * d) - 1), bound) << n;
  }
}

TEST(Timetable, WithoutRowsIsTheCostModel) {
  const SolveSeconds small = seconds_at({}, "bf16", 1000, 1);
  const SolveSeconds large = seconds_at({}, "bf16", 10000, 1);
  EXPECT_GT(small.factor, 0);
  EXPECT_GT(large.factor, 10 * small.factor);
  EXPECT_GT(seconds_at({}, "bf16", 10000, 64).iteration, large.iteration);
  EXPECT_EQ(seconds_at({}, "none", 10000, 1).factor, 0);
  EXPECT_GT(seconds_at({}, "graded:bf16x3*1,bf16", 10000, 1).factor, 0);
  EXPECT_EQ(seconds_at({}, "bf16", 10000, 1, true).factor, 2 * large.factor);
}

TEST(Timetable, IsReadBackOnTheMachineItWasMeasuredOn) {
  const Directory d;
  ::setenv("XDG_CACHE_HOME", d.path().c_str(), 1);
  EXPECT_TRUE(load_timetable(2).rows.empty());
  save(cubic(), timetable_path(), 2);
  EXPECT_EQ(load_timetable(2).rows.size(), 3U);
  EXPECT_EQ(load_timetable(2).measured_on, "2026-01-02");
  EXPECT_TRUE(load_timetable(3).rows.empty());  // another number of threads has other times
  const std::string good = contents(timetable_path());
  for (const std::string& bad :
       {std::string(), good.substr(0, good.size() / 2), std::string("[]"),
        std::string(good).replace(good.find("1024"), 4, "-124"),
        std::string(good).replace(good.find("\"analysis\""), 10, "\"other\""),
        std::string(good).replace(good.find("\"rows\""), 6, "\"kept\"")}) {
    std::ofstream(timetable_path()) << bad;
    EXPECT_TRUE(load_timetable(2).rows.empty()) << bad;
  }
  ::unsetenv("XDG_CACHE_HOME");
}

/// For ranks the compute time is known if it was measured with a rank's threads, the network time
/// never.
TEST(Timetable, TellsTheLeastTimeOfRanks) {
  const Directory d;
  ::setenv("XDG_CACHE_HOME", d.path().c_str(), 1);
  save(cubic(), timetable_path(), 3);
  ::unsetenv("XDG_CACHE_HOME");
  const std::string cache = "XDG_CACHE_HOME=" + d.path();
  const auto plan = [&](const std::string& more) {
    return run("plan --n 4096 --map bf16 " + more, cache);
  };
  const auto seconds = [&](const std::string& more) {
    return nlohmann::json::parse(plan("--json " + more).out).at("seconds");
  };
  const double one = seconds("--threads 3").at("wall");
  for (const int ranks : {1, 2, 8}) {
    const nlohmann::json over = seconds("--threads 3 --ranks " + std::to_string(ranks));
    EXPECT_EQ(over.at("one_process"), one);
    EXPECT_EQ(over.at("at_least"), one / ranks);
  }
  EXPECT_TRUE(seconds("--threads 2 --ranks 2").is_null());  // not measured with 2 threads
  const std::string known = plan("--threads 3 --ranks 2").out,
                    unknown = plan("--threads 2 --ranks 2").out;
  EXPECT_NE(known.find("at least"), std::string::npos) << known;
  EXPECT_NE(known.find("rates of 2026-01-02"), std::string::npos) << known;
  EXPECT_NE(unknown.find("not predicted: 'stepwell tune --threads 2'"), std::string::npos)
      << unknown;
  for (const std::string& text : {known, unknown}) {
    EXPECT_NE(text.find("the time of the network is not included"), std::string::npos) << text;
  }
  EXPECT_EQ(plan("--threads 3 --ranks 1").out.find("network"), std::string::npos);
}

TEST(ProgressLine, TellsTheTimeLeft) {
  EXPECT_EQ(duration_text(0.2), "1 s");
  EXPECT_EQ(duration_text(61), "1 min 1 s");
  EXPECT_EQ(duration_text(3700), "1 h 1 min");
  EXPECT_EQ(duration_text(NAN), "0 s");
  const std::vector<Stage> stages = {{Phase::factor, "factoring", 8},
                                     {Phase::refine, "refining", 2}};
  // Too early to extrapolate: the forecast minus the elapsed time.
  EXPECT_NE(progress_text(stages, 0, 0.01, 1).find(" 9 s left"), std::string::npos);
  // A quarter in five seconds: fifteen more seconds, plus the other stages.
  EXPECT_NE(progress_text(stages, 0, 0.25, 5).find(" 17 s left"), std::string::npos);
  EXPECT_NE(progress_text(stages, 0, 0.25, 5).find("25 %"), std::string::npos);
  EXPECT_NE(progress_text(stages, 1, 0.5, 1).find("refining"), std::string::npos);
}

}  // namespace
}  // namespace stepwell::tool

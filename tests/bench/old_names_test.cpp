// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tools/run_command.hpp"

/// Former names of options: they work, warn once and are not shown.
namespace stepwell::tool {
namespace {

using nlohmann::json;

std::string warning(const std::string& before, const std::string& now) {
  return "stepwell: " + before + " is now called " + now +
         "; the old name will be removed in 0.3\n";
}

int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(OldNames, WorkAndWarn) {
  struct Case {
    const char* arguments;
    const char* before;
    const char* now;
    json expected;
  };
  for (const Case& c : {
           Case{"solve --gen minij --n 32 --quiet --json", "--gen", "--kind", {{"n", 32}}},
           Case{"bench kernel --op update --rung fp64 --size 32 --pairs 2 --json",
                "--size",
                "--n",
                {{"size", 32}}},
           Case{"bench factor --n 64 --matrix=matern --pairs 1 --json --allow-slow-blas",
                "--matrix",
                "--kind",
                {{"matrix", "matern"}}},
           Case{"bench solve --n 64 --structure general --pairs 1 --json --allow-slow-blas",
                "--structure",
                "--assume",
                {{"structure", "general"}}},
           Case{"bench lstsq --m 200 --n 9 --clustered --pairs 1 --json --allow-slow-blas",
                "--clustered",
                "--kind=tall-clustered",
                {{"clustered", true}}},
       }) {
    const Outcome o = run(c.arguments);
    ASSERT_EQ(o.code, 0) << c.arguments << ": " << o.err;
    EXPECT_EQ(times(o.err, warning(c.before, c.now)), 1) << o.err;
    EXPECT_EQ(times(o.err, "is now called"), 1) << o.err;
    const json j = json::parse(o.out);
    for (const auto& [key, value] : c.expected.items()) EXPECT_EQ(j.at(key), value) << key;
  }
}

TEST(OldNames, WarnOnceIfRepeated) {
  const Outcome o = run("bench kernel --op update --size 32 --size 33 --windows x");
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(times(o.err, warning("--size", "--n")), 1) << o.err;
  EXPECT_EQ(times(o.err, warning("--windows", "--pairs")), 1) << o.err;
}

TEST(OldNames, BelongToTheirVerb) {
  expect_error(run("lstsq A.npy b.npy --columns 3"), 2, "--columns");
  expect_error(run("bench lstsq --rhs 3"), 2, "--rhs");
  expect_error(run("solve -- --gen b.npy"), 10, "--gen");  // a file
}

TEST(OldNames, AreNotShown) {
  const std::string help = run("solve --help").out + run("bench kernel --help").out +
                           run("bench batch --help").out + run("bench lstsq --help").out;
  const std::string everywhere = help + run("man").out + run("completion bash").out;
  for (const char* name : {"--gen ", "--size ", "--windows ", "--operation ", "--columns ",
                           "-\\-gen", "-\\-windows", "-\\-operation"}) {
    EXPECT_EQ(everywhere.find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace stepwell::tool

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tools/run_command.hpp"

/// How the command starts stepwell-bench.
namespace stepwell::tool {
namespace {

TEST(BenchProgram, IsFoundThroughALink) {
  const Directory d;
  std::filesystem::create_symlink(STEPWELL_TOOL, d / "stepwell");
  const Outcome o =
      run_program(d / "stepwell", "bench kernel --op update --rung fp64 --n 32 --pairs 2 --json");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("\"bench\": \"kernel\""), std::string::npos) << o.out;
}

TEST(BenchProgram, IsNamedWhereItIsMissing) {
  const Directory d;
  const std::string alone = d / "stepwell";
  std::filesystem::copy_file(STEPWELL_TOOL, alone);
  expect_error(run_program(alone, "bench kernel --op update"), 14, "package stepwell-bench");
  expect_error(run_program(alone, "bench --help"), 14, "'stepwell bench' needs");
  expect_error(run_program(alone, "tune batch"), 14, "'stepwell tune batch' needs");
  // The rest of the command works without it.
  const Outcome page = run_program(alone, "man");
  EXPECT_EQ(page.code, 0) << page.err;
  EXPECT_NE(page.out.find(".SS bench\n"), std::string::npos);
  EXPECT_NE(page.out.find(".SS tune batch\n"), std::string::npos);
  EXPECT_EQ(run_program(alone, "completion bash").code, 0);
}

TEST(BenchProgram, HelpsWithExamplesOfItsOwn) {
  const Outcome o = run("bench --help");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("stepwell bench solve --n"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("stepwell gen"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("stepwell solve"), std::string::npos) << o.out;
}

TEST(BenchProgram, DecidesTheExitCode) {
  const Directory d;
  expect_error(run("bench compare " + (d / "a.json") + " " + (d / "b.json")), 10, "a.json");
  expect_error(run("bench kernel --op dance"), 2, "dance");
  expect_error(run("tune batch --type fp8"), 2, "--type");
}

TEST(BenchProgram, IsInterrupted) {
  // In the foreground timeout sends one signal; a second one would end the process unheard.
  const Outcome o = run("bench kernel --op update --rung fp64 --n 64 --seconds 60 --pairs 1000000",
                        "timeout --foreground --preserve-status -s INT 1");
  EXPECT_EQ(o.code, 128 + 2) << o.err;
  EXPECT_NE(o.err.find("stepwell: interrupted"), std::string::npos) << o.err;
}

}  // namespace
}  // namespace stepwell::tool

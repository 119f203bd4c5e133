// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "run_command.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace stepwell::tool {

Outcome run(const std::string& arguments, const std::string& before) {
  return run_program(STEPWELL_TOOL, arguments, before);
}

Outcome run_program(const std::string& path, const std::string& arguments,
                    const std::string& before) {
  const std::string err =
      ::testing::TempDir() + "stepwell_command_test." + std::to_string(::getpid()) + ".err";
  const std::string line = before + " '" + path + "' " + arguments + " 2>'" + err + "'";
  Outcome outcome;
  FILE* const pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    outcome.out.append(buffer, n);
  }
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  outcome.err = contents(err);
  std::remove(err.c_str());
  return outcome;
}

void expect_error(const Outcome& o, int code, const std::string& mentions) {
  EXPECT_EQ(o.code, code) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(o.err.rfind("stepwell: error: ", 0), 0U) << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  EXPECT_NE(o.err.find(mentions), std::string::npos) << o.err;
}

std::string completed(const std::string& words) {
  const Directory d;
  std::ofstream(d / "script") << run("completion bash").out << "COMP_WORDS=(" << words << ")\n"
                              << "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                              << "_stepwell\necho \"${COMPREPLY[@]}\" >'" << (d / "out") << "'\n";
  EXPECT_EQ(std::system(("bash '" + (d / "script") + "'").c_str()), 0);
  const std::string text = contents(d / "out");
  return text.substr(0, text.find('\n'));
}

}  // namespace stepwell::tool

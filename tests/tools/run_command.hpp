// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "directory.hpp"

/// The stepwell command, run by a shell.
namespace stepwell::tool {

using test::contents;
using test::Directory;

struct Outcome {
  int code = -1;  ///< exit code, or minus the signal that ended it
  std::string out;
  std::string err;
};

/// Runs the command; 'before' (variables, cd) precedes it in the shell's line, 'arguments' follow
/// it.
Outcome run(const std::string& arguments, const std::string& before = "");

/// The same for another path of the command.
Outcome run_program(const std::string& path, const std::string& arguments,
                    const std::string& before = "");

/// The completions that bash offers for the last word.
std::string completed(const std::string& words);

/// Expects this exit code, nothing on standard output, and one line on standard error with this
/// text.
void expect_error(const Outcome& o, int code, const std::string& mentions);

}  // namespace stepwell::tool

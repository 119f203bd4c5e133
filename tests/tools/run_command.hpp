// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

/// The stepwell command, run by a shell.
namespace stepwell::tool {

struct Outcome {
  int code = -1;  ///< exit code, or minus the signal that ended it
  std::string out;
  std::string err;
};

/// Runs the command with what the shell takes before it (variables, cd) and after it.
Outcome run(const std::string& arguments, const std::string& before = "");

/// Exit code, nothing on standard output, and one line on standard error that mentions something.
void expect_error(const Outcome& o, int code, const std::string& mentions);

std::string contents(const std::string& path);

/// A directory of its own that goes away with everything in it.
class Directory {
 public:
  Directory();
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const std::string& path() const { return path_; }
  /// The name of a file in it.
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// The names of all files in it, sorted, with spaces between.
  std::string list() const;

 private:
  std::string path_;
};

}  // namespace stepwell::tool

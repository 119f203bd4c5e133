// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

/// Files for tests.
namespace stepwell::test {

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
  /// Writes a file and returns its name.
  std::string file(const std::string& name, std::string_view contents) const;
  /// The names of all files in it, sorted, with spaces between.
  std::string list() const;

 private:
  std::string path_;
};

/// All bytes of a file; none if there is no such file.
std::string contents(const std::string& path);

}  // namespace stepwell::test

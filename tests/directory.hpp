// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

/// Files for tests.
namespace stepwell::test {

/// A temporary directory that is removed with its contents by the destructor.
class Directory {
 public:
  Directory();
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  const std::string& path() const { return path_; }
  /// The path of a file in the directory.
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file and returns its path.
  std::string file(const std::string& name, std::string_view contents) const;
  /// The names of all files in the directory, sorted and separated by spaces.
  std::string list() const;

 private:
  std::string path_;
};

/// All bytes of a file; an empty string if the file does not exist.
std::string contents(const std::string& path);

}  // namespace stepwell::test

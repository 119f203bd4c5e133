// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/matrix_file.hpp"
#include "stepwell/error.hpp"

/// What the tests of files share: a directory that goes away, files from text, and the one error
/// that a bad one must give.
namespace stepwell::io::test {

class Directory {
 public:
  Directory();
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file and returns its path.
  std::string file(const std::string& name, std::string_view contents) const;
  std::vector<std::string> names() const;

 private:
  std::string path_;
};

std::string contents_of(const std::string& path);

/// The elements, column by column.
std::vector<double> elements(const DenseMatrix& matrix);

/// The same bits, NaNs and signs of zeros included.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b);

/// The code and text of the error that f throws. Fails the test if it throws none or another kind.
template <class F>
std::pair<ErrorCode, std::string> error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorCode::internal, ""};
}

}  // namespace stepwell::io::test

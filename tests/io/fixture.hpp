// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "directory.hpp"
#include "io/matrix_file.hpp"
#include "stepwell/error.hpp"

/// Code shared by the tests of files: elements, bits, and the error that a bad file must cause.
namespace stepwell::io::test {

using stepwell::test::contents;
using stepwell::test::Directory;

/// The elements, column by column.
std::vector<double> elements(const DenseMatrix& matrix);

/// The values as a file holds them.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}
inline const std::string kSix = bytes_of<double>({1, 2, 3, 4, 5, 6});

/// Whether all bits are the same, including NaNs and signs of zeros.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b);

/// The code and message of the Error that f throws. Fails the test if it throws none or another
/// type.
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

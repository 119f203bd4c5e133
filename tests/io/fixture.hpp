// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "directory.hpp"
#include "io/matrix_file.hpp"
#include "stepwell/error.hpp"

/// What the tests of files share: elements, bits, and the one error that a bad file must give.
namespace stepwell::io::test {

using stepwell::test::contents;
using stepwell::test::Directory;

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

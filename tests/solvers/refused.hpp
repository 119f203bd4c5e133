// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "stepwell/error.hpp"

namespace stepwell::solvers::test {

/// Expects an Error with this code whose message contains 'text'.
template <class Call>
void expect_refused(Call call, ErrorCode code, const char* text) {
  try {
    call();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

}  // namespace stepwell::solvers::test

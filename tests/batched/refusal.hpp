// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "stepwell/error.hpp"

namespace stepwell::test {

/// The call throws an Error with this code and a message that contains the text.
inline void expect_refusal(ErrorCode code, const std::string& text,
                           const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "accepted: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

}  // namespace stepwell::test

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory_error.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/first_error.hpp"
#include "stepwell/error.hpp"

namespace stepwell::core {
namespace {

TEST(MemoryError, IsAnErrorLikeAllOthers) {
  for (int time = 0; time < 2; ++time) {
    try {
      throw_out_of_memory();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::out_of_memory);
      EXPECT_STREQ(e.what(), "out of memory");
    }
  }
}

TEST(FirstError, KeepsTheFirst) {
  FirstError error;
  error.attempt([] {});
  EXPECT_FALSE(error.failed());
  EXPECT_NO_THROW(error.rethrow());
  error.attempt([] { throw 1; });
  error.attempt([] { throw std::string("later"); });
  EXPECT_TRUE(error.failed());
  EXPECT_THROW(error.rethrow(), int);
}

}  // namespace
}  // namespace stepwell::core

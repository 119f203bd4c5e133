// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/log.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace stepwell::core {
namespace {

class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* value = std::getenv("STEPWELL_LOG")) before_ = value;
    unsetenv("STEPWELL_LOG");
  }
  void TearDown() override {
    unsetenv("STEPWELL_LOG");
    if (before_) setenv("STEPWELL_LOG", before_->c_str(), 1);
  }
  template <class F>
  static std::string said_by(F&& call) {
    testing::internal::CaptureStderr();
    call();
    return testing::internal::GetCapturedStderr();
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(LogTest, ALibraryDoesNotChat) {
  EXPECT_EQ(said_by([] { log("hello"); }), "");
  setenv("STEPWELL_LOG", "0", 1);
  EXPECT_EQ(said_by([] { log("hello"); }), "");
}

TEST_F(LogTest, SpeaksWhenAsked) {
  setenv("STEPWELL_LOG", "1", 1);
  EXPECT_EQ(said_by([] { log("hello"); }), "stepwell: hello\n");
}

TEST_F(LogTest, WarnsOncePerText) {
  const auto warn = [] {
    warn_once("log_test: the first");
    warn_once("log_test: the first");
    warn_once("log_test: the second");
  };
  EXPECT_EQ(said_by(warn), "stepwell: log_test: the first\nstepwell: log_test: the second\n");
  EXPECT_EQ(said_by(warn), "");
}

TEST_F(LogTest, DoesNotEvenWarnWhenSwitchedOff) {
  setenv("STEPWELL_LOG", "0", 1);
  EXPECT_EQ(said_by([] { warn_once("log_test: the third"); }), "");
}

}  // namespace
}  // namespace stepwell::core

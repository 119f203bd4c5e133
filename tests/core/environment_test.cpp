// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/machine/environment.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

namespace stepwell::core {
namespace {

constexpr const char* kName = "STEPWELL_ENVIRONMENT_TEST";

std::string value_of(const char* name) {
  const char* const value = variable(name);
  return value == nullptr ? "(none)" : value;
}

class EnvironmentTest : public testing::Test {
 protected:
  EnvironmentTest() { unsetenv(kName); }
  ~EnvironmentTest() override { unsetenv(kName); }
};

TEST_F(EnvironmentTest, TellsAnEmptyVariableFromNone) {
  EXPECT_EQ(variable(kName), nullptr);
  EXPECT_EQ(non_empty_variable(kName), nullptr);
  setenv(kName, "", 1);
  EXPECT_EQ(value_of(kName), "");
  EXPECT_EQ(non_empty_variable(kName), nullptr);
  setenv(kName, "x", 1);
  EXPECT_STREQ(non_empty_variable(kName), "x");
}

TEST_F(EnvironmentTest, IsAsBeforeAtTheEndOfAScope) {
  setenv(kName, "mine", 1);
  char** const before = environ;
  {
    const EnvironmentScope scope({{kName, "theirs"}, {"STEPWELL_ENVIRONMENT_TEST_2", "a=b"}});
    EXPECT_EQ(value_of(kName), "theirs");
    EXPECT_EQ(value_of("STEPWELL_ENVIRONMENT_TEST_2"), "a=b");
    EXPECT_NE(value_of("PATH"), "(none)");
    const EnvironmentScope inner(Variables{{kName, ""}});
    EXPECT_EQ(value_of(kName), "");
  }
  EXPECT_EQ(environ, before);
  EXPECT_EQ(value_of(kName), "mine");
  EXPECT_EQ(value_of("STEPWELL_ENVIRONMENT_TEST_2"), "(none)");
}

TEST_F(EnvironmentTest, KeepsWhatTheProgramSetsMeanwhile) {
  {
    const EnvironmentScope scope(Variables{{"STEPWELL_ENVIRONMENT_TEST_2", "1"}});
    setenv(kName, "set inside", 1);
  }
  EXPECT_EQ(value_of(kName), "set inside");
  unsetenv("STEPWELL_ENVIRONMENT_TEST_2");
}

TEST_F(EnvironmentTest, SetsADefaultOnce) {
  set_default_variable(kName, "first");
  set_default_variable(kName, "second");
  EXPECT_EQ(value_of(kName), "first");
}

// Other threads can read variables while a scope changes them; with setenv() instead of the scope,
// they would read freed memory.
TEST_F(EnvironmentTest, LetsOtherThreadsReadTheirs) {
  setenv(kName, "mine", 1);
  std::atomic<bool> end{false};
  std::atomic<int> wrong{0}, read{0};
  std::thread reader([&] {
    while (!end) {
      const std::string value = value_of(kName);
      if (value != "mine" && value != "theirs") ++wrong;
      ++read;
    }
  });
  for (int i = 0; i < 200 || read < 200; ++i) {
    const EnvironmentScope scope(Variables{{kName, "theirs"}});
  }
  end = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace stepwell::core

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "commands/selftest/selftest.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "run_command.hpp"

namespace stepwell::tool {
namespace {

using nlohmann::json;

TEST(Selftest, FindsThisMachineGood) {
  const Outcome o = run("selftest --json");
  ASSERT_TRUE(json::accept(o.out)) << o.err;
  const json result = json::parse(o.out);
  std::set<std::string> names;
  for (const json& check : result.at("checks")) {
    names.insert(check.at("check"));
    EXPECT_TRUE(check.at("ok")) << check;
  }
  EXPECT_EQ(result.at("misses"), 0);
  EXPECT_EQ(o.code, 0) << o.err;
  for (const char* name :
       {"kernels reference", "spd", "general", "least squares", "batch of 50, mixed",
        "equal off-diagonals, spd", "denormal elements, lstsq", "spd, 1 and all threads",
        "lstsq, environment"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Selftest, PrintsATable) {
  const Outcome o = run("selftest");
  EXPECT_NE(o.out.find("measured"), std::string::npos);
  EXPECT_NE(o.out.find("kernels reference"), std::string::npos);
  EXPECT_EQ(o.out.find("FAIL") == std::string::npos, o.code == 0) << o.out;
}

TEST(Selftest, AcceptsNoNumberThatIsNone) {
  selftest::Check check{"", 1, 1, "", ""};
  EXPECT_TRUE(check.ok());
  check.measured = 1.001;
  EXPECT_FALSE(check.ok());
  check.measured = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(check.ok());
}

/// [2 1; 1 2] x = b has the solution x = (1, 1) for b = (3, 3).
TEST(Selftest, OracleSeesWhatIsWrong) {
  for (const int power : {0, -1060, 1000}) {
    std::vector<double> a = {2, 1, 1, 2}, b = {3, 3};
    for (double& e : a) e = std::ldexp(e, power);
    const auto matrix = view<const double>(a.data(), 2, 2);
    for (double& e : b) e = std::ldexp(e, power);
    EXPECT_EQ(selftest::backward_error(matrix, b, {1, 1}), 0);
    // The residual is 2^-40 times 2 and 1, relative to 3 + 3.
    EXPECT_NEAR(selftest::backward_error(matrix, b, {1 + 0x1p-40, 1}), 0x1p-40 / 3, 0x1p-60);
    EXPECT_FALSE(selftest::backward_error(matrix, b, {std::nan(""), 1}) <= 1);
  }
}

/// The mean of 1 and 3 is 2; at 2 + e the gradient is 2 e, relative to a norm of sqrt(2) and a
/// residual of about sqrt(2).
TEST(Selftest, OracleSeesABadFit) {
  for (const int power : {0, -1060, 1000}) {
    std::vector<double> a = {1, 1}, b = {1, 3};
    for (double& e : a) e = std::ldexp(e, power);
    for (double& e : b) e = std::ldexp(e, power);
    const auto matrix = view<const double>(a.data(), 2, 1);
    EXPECT_EQ(selftest::least_squares_error(matrix, b, {2}), 0);
    EXPECT_NEAR(selftest::least_squares_error(matrix, b, {2 + 0x1p-30}), 0x1p-30, 0x1p-50);
  }
}

}  // namespace
}  // namespace stepwell::tool

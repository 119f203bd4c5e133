// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "run_command.hpp"

/// The manual page and the completion script, which are made from the option table.
namespace stepwell::tool {
namespace {

TEST(Completion, OfBashKnowsVerbsOptionsAndChoices) {
  EXPECT_EQ(completed("stepwell so"), "solve");
  EXPECT_EQ(completed("stepwell solve --con"), "--condition --cond");
  EXPECT_EQ(completed("stepwell solve A.npy b.npy --pro"), "--prove");
  EXPECT_EQ(completed("stepwell solve --refiner gm"), "gmres gmres(gmres)");
  EXPECT_EQ(completed("stepwell gen mat"), "matern");
  EXPECT_EQ(completed("stepwell gen tal"), "tall tall-clustered");
  EXPECT_EQ(completed("stepwell l"), "lstsq");
  EXPECT_EQ(completed("stepwell lstsq --ri"), "--ridge");
  EXPECT_EQ(completed("stepwell lstsq --map bf16x"), "bf16x2 bf16x3");
  EXPECT_EQ(completed("stepwell plan --kind dom"), "dominant");
  EXPECT_EQ(completed("stepwell tune b"), "batch");
  EXPECT_EQ(completed("stepwell solve x"), "");
}

TEST(Completion, OfOtherShellsIsThere) {
  EXPECT_NE(run("completion zsh").out.find("bashcompinit"), std::string::npos);
  EXPECT_NE(run("completion fish").out.find("-l nugget"), std::string::npos);
  expect_error(run("completion tcsh"), 2, "fish");
}

TEST(Manual, HasEveryVerbAndOption) {
  const Outcome o = run("man");
  ASSERT_EQ(o.code, 0);
  EXPECT_EQ(o.out.rfind(".TH STEPWELL 1", 0), 0U);
  for (const char* text : {".SS solve", ".SS lstsq", ".SS tune\n", ".SS bench", "\\-\\-nugget",
                           "STEPWELL_ISA", "rates.json", "21 not converged"}) {
    EXPECT_NE(o.out.find(text), std::string::npos) << text;
  }
  // No line that troff would take for a request.
  for (std::size_t at = 0; (at = o.out.find("\n.", at)) != std::string::npos; ++at) {
    const std::string request = o.out.substr(at + 2, o.out.find_first_of(" \n", at + 2) - at - 2);
    const std::string known = " SH SS TP PP B I br nf fi ";
    EXPECT_NE(known.find(" " + request + " "), std::string::npos) << request;
  }
}

}  // namespace
}  // namespace stepwell::tool

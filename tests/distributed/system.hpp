// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "distributed/fixture.hpp"
#include "gallery/recipe.hpp"
#include "stepwell/error.hpp"

namespace stepwell::distributed::test {

/// A system of the gallery, complete on every rank, for a distributed solve.
struct System {
  Dense<double> a, b, x;
  System(std::int64_t n, const gallery::Recipe& recipe, std::int64_t columns = 1);
  Certificate solve(const SolveOptions& options, const DistributedOptions& distributed);
  /// The largest backward error of any column, in long double; NaN if x has a NaN.
  double error() const;
};

SolveOptions with_tile(std::int64_t tile);
gallery::Recipe recipe(gallery::Kind kind, double condition = 1e2);

/// Whether all decisions and results in a certificate are the same on all ranks.
bool same_certificate(const Certificate& c);

/// The solve has converged, within the tolerance, to the same x on all ranks.
void expect_solved(const System& s, const Certificate& c);

template <class Call>
void expect_error(ErrorCode code, const std::string& text, Call call) {
  try {
    call();
    ADD_FAILURE() << "no error: " << text;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
}

}  // namespace stepwell::distributed::test

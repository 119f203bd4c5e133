// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/fixture.hpp"
#include "stepwell/error.hpp"
#include "stepwell/factor.hpp"

/// What the factorization's tests share: matrices whose properties are known, residuals against the
/// unit roundoff, and factors compared bit by bit.
namespace stepwell::factor::test {

using kernels::test::Dense;
using kernels::test::kSanitized;
using kernels::test::kU32;
using kernels::test::kU64;
using kernels::test::Random;

// ---- matrices

/// Diagonal about 2, the rest Gaussian with deviation 1/(2 sqrt(n)): eigenvalues in [1, 3] but for
/// a little (the semicircle's radius is 1). The strict upper triangle is NaN: it is not to be read.
Dense<double> well_conditioned(std::int64_t n, std::uint64_t seed = 1);

/// Q diag(lambda) Q' with lambda geometric from 1 down to 1/condition, and Q a product of three
/// reflections. Both triangles.
Dense<double> geometric(std::int64_t n, double condition, std::uint64_t seed = 1);

/// Unit diagonal, positive definite in its first 'pivot' rows and columns; there the Schur
/// complement is negative, about 'schur', and the smallest eigenvalue about 1 - sqrt(1 - schur).
/// (pivot 0: the diagonal element itself is.) Both triangles.
Dense<double> indefinite(std::int64_t n, std::int64_t pivot, double schur);

/// Both triangles from the lower one.
Dense<double> mirrored(const Dense<double>& lower);

// ---- calls

FactorOptions options_for(const std::string& map, std::int64_t tile = 64);

/// L in the scale of A. Fails the test if there is none.
Dense<double> lower_factor(const Factor& factor);

Factor factor_of(const Dense<double>& a, const FactorOptions& options);

// ---- checks

/// ||A - L L'||_F over || |L| |L|' ||_F, lower triangles; NaN if anything is.
double residual(const Dense<double>& a, const Dense<double>& l);

/// What 'residual' may be for a well-conditioned matrix: rounding of a tile, of the right-hand side
/// and of the inverse it was solved with (u each, and the dropped products), and of sums of n terms
/// (v each); the diagonal blocks' condition, below 3, is in the 8.
double residual_bound(const FactorReport& report, std::int64_t n);

/// The same bits in every element of L as it is stored.
::testing::AssertionResult same_tiles(const Factor& got, const Factor& expected);

/// And the same scaling and path.
::testing::AssertionResult same_factor(const Factor& got, const Factor& expected);

/// Runs f and returns the error it throws; fails the test if it throws none or another one.
template <class F>
std::string message_of(ErrorCode code, F&& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

}  // namespace stepwell::factor::test

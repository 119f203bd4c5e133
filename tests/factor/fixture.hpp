// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/fixture/fixture.hpp"
#include "stepwell/error.hpp"
#include "stepwell/factor.hpp"

/// Code shared by the factorization's tests: matrices with known properties, residuals relative to
/// the unit roundoff, and bitwise comparison of factors.
namespace stepwell::factor::test {

using kernels::test::Dense;
using kernels::test::kSanitized;
using kernels::test::kU32;
using kernels::test::kU64;
using kernels::test::Random;
using stepwell::test::repetitions;

// ---- matrices

/// Diagonal about 2, the rest Gaussian with deviation 1/(2 sqrt(n)): nearly all eigenvalues are in
/// [1, 3] (the semicircle's radius is 1). The strict upper triangle is NaN because it must not be
/// read.
Dense<double> well_conditioned(std::int64_t n, std::uint64_t seed = 1);

/// Q diag(lambda) Q' with lambda geometric from 1 down to 1/condition, and Q a product of three
/// reflections. Both triangles are stored.
Dense<double> geometric(std::int64_t n, double condition, std::uint64_t seed = 1);

/// Unit diagonal, positive definite in its first 'pivot' rows and columns; there the Schur
/// complement is negative, about 'schur', and the smallest eigenvalue about 1 - sqrt(1 - schur).
/// (pivot 0: the diagonal element itself is 'schur'.) Both triangles are stored.
Dense<double> indefinite(std::int64_t n, std::int64_t pivot, double schur);

/// Copies the lower triangle to the upper one.
Dense<double> symmetric_copy(const Dense<double>& lower);

// ---- calls

FactorOptions options_for(const std::string& map, std::int64_t tile = 64);

/// L in the scale of A. Fails the test if there is no factor.
Dense<double> lower_factor(const Factor& factor);

Factor factor_of(const Dense<double>& a, const FactorOptions& options);

// ---- checks

/// ||A - L L'||_F / || |L| |L|' ||_F, lower triangles; NaN if any element is NaN.
double residual(const Dense<double>& a, const Dense<double>& l);

/// Bound of residual() for a well-conditioned matrix: rounding of a tile, of the right-hand side
/// and of the inverse it was solved with (u each, plus the dropped products), and of sums of n
/// terms (v each); the factor 8 includes the condition number of the diagonal blocks, which is
/// below 3.
double residual_bound(const FactorReport& report, std::int64_t n);

/// Whether every stored element of L has the same bits.
::testing::AssertionResult same_tiles(const Factor& got, const Factor& expected);

/// Whether tiles, scaling and path are all the same.
::testing::AssertionResult same_factor(const Factor& got, const Factor& expected);

/// Runs f and returns the message of the error it throws; fails the test if it throws none or
/// another one.
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

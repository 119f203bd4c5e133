// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "factor/fixture.hpp"
#include "gallery/recipe.hpp"
#include "stepwell/solve.hpp"

/// Code shared by the tests of the solvers: systems in padded memory full of NaN, backward errors
/// in double-double that are independent of the scale, LAPACK's answers.
namespace stepwell::solvers::test {

using factor::test::message_of;
using kernels::test::Dense;
using kernels::test::kNaN;
using kernels::test::kSanitized;
using kernels::test::kU64;
using kernels::test::Random;
using kernels::test::same_bits;
using stepwell::test::repetitions;

/// A matrix in memory with padded columns, NaN outside its elements, and a copy of the memory taken
/// by seal().
class Padded {
 public:
  Padded() = default;
  Padded(std::int64_t rows, std::int64_t cols, std::int64_t pad = 0);

  MatrixView<double> view() { return {memory_.data(), rows_, cols_, ld_}; }
  MatrixView<const double> view() const { return {memory_.data(), rows_, cols_, ld_}; }
  double& operator()(std::int64_t i, std::int64_t j) { return memory_[i + j * ld_]; }
  double operator()(std::int64_t i, std::int64_t j) const { return memory_[i + j * ld_]; }

  void seal() { sealed_ = memory_; }
  /// Whether every byte is unchanged, including the padding.
  bool unchanged() const { return same(memory_, sealed_); }
  /// Whether the padding is unchanged.
  bool padding_unchanged() const;

 private:
  static bool same(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
  }
  std::int64_t rows_ = 0, cols_ = 0, ld_ = 1;
  std::vector<double> memory_, sealed_;
};

/// ||b - A x|| / (||A|| ||x|| + ||b||) in infinity norms, from A's lower triangle, in double-double
/// and after scaling everything to 1. NaN if x is not finite.
double backward_error(MatrixView<const double> a, const double* b, const double* x);
/// The largest of all columns.
double backward_error(MatrixView<const double> a, MatrixView<const double> b,
                      MatrixView<const double> x);

/// LAPACK's dposv on a copy. False if it fails.
bool lapack_solve(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> x);
/// The failing pivot of LAPACK's dpotrf, counted from 0; -1: none.
std::int64_t lapack_pivot(MatrixView<const double> a);
/// H = diag(row) A diag(col), as the library factors it.
Dense<double> scaled(MatrixView<const double> a, Scaling scaling);

/// A matrix of the gallery, both triangles stored.
Dense<double> gallery_matrix(gallery::Kind kind, std::int64_t n, double condition,
                             std::uint64_t seed = 1);
Dense<double> gaussian_columns(std::int64_t n, std::int64_t columns, std::uint64_t seed = 1);

/// One of the elements of a list.
template <class List>
auto any_of(const List& list, Random& random) {
  return list[static_cast<std::size_t>(
      random.integer(0, static_cast<std::int64_t>(list.size()) - 1))];
}

/// x times a power of two.
Dense<double> times(const Dense<double>& x, int power);

SolveOptions with_map(const std::string& map);
/// A solve with a factor at FP64 quality, and such a factor.
SolveOptions at_fp64(std::int64_t tile = 64);
FactorOptions factor_at_fp64(std::int64_t tile = 64, bool spread = false);

/// A path through the solver: an order and a map that lead to it.
struct Path {
  std::int64_t n;
  const char* map;
};
void PrintTo(const Path& p, std::ostream* out);

/// A solve with copies: x and the certificate. Fails the test if the certificate contradicts
/// itself.
struct Solved {
  Dense<double> x;
  Certificate certificate;
};
Solved solve(const Dense<double>& a, const Dense<double>& b, const SolveOptions& options = {});

/// The tolerance of a solve: no column that is called converged has a larger backward error.
inline double tolerance_of(std::int64_t n) {
  return std::sqrt(static_cast<double>(n)) * kU64;
}

/// Expects the same path, and x with the same bits up to a power of two.
void expect_same_path(const Solved& got, const Solved& expected, int power);

/// Whether all parts of a certificate agree.
::testing::AssertionResult consistent(const Certificate& c, std::int64_t columns);

}  // namespace stepwell::solvers::test

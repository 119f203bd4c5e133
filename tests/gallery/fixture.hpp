// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "gallery/recipe.hpp"
#include "sanitized.hpp"

/// Code shared by the gallery's tests: a square matrix with padded columns, and LAPACK calls for
/// it.
namespace stepwell::gallery::test {

using stepwell::test::kSanitized;

inline constexpr double kU64 = 0x1p-53;

/// n x n, column-major; the padding rows hold kPadding and must not be touched.
class Square {
 public:
  static constexpr double kPadding = -777;

  explicit Square(std::int64_t n, std::int64_t padding = 0);
  Square(std::int64_t n, const Recipe& recipe, int threads = 1, std::int64_t padding = 0);

  std::int64_t order() const { return n_; }
  MatrixView<double> view() { return {data.data(), n_, n_, ld_}; }
  double operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i + j * ld_)];
  }
  double& operator()(std::int64_t i, std::int64_t j) {
    return data[static_cast<std::size_t>(i + j * ld_)];
  }
  bool padding_untouched() const;

 private:
  std::int64_t n_;
  std::int64_t ld_;

 public:
  std::vector<double> data;
};

/// Spectrum of a matrix without padding, in decreasing order.
std::vector<double> eigenvalues(Square a);
std::vector<double> singular_values(Square a);
std::vector<std::complex<double>> complex_eigenvalues(Square a);  ///< in LAPACK's order

/// The result of dgetrf for a matrix without padding.
struct Lu {
  double growth = 0;       ///< largest element of U divided by the largest of A
  double determinant = 0;  ///< with its sign
  int info = -1;           ///< LAPACK's: the first zero pivot, counted from 1
};
Lu lu(Square a);

/// Q diag(d) Q' with a Haar distributed Q: from the QR factorization of a Gaussian matrix.
Square with_haar_basis(const std::vector<double>& d, std::uint64_t seed);

}  // namespace stepwell::gallery::test

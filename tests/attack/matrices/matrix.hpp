// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attack/random.hpp"
#include "stepwell/view.hpp"

/// Matrices designed to break a solver.
namespace stepwell::attack {

/// Column-major, without gaps.
struct Matrix {
  Matrix() = default;
  Matrix(std::int64_t m, std::int64_t n)
      : rows(m), cols(n), data(static_cast<std::size_t>(m * n)) {}
  double& operator()(std::int64_t i, std::int64_t j) {
    return data[static_cast<std::size_t>(i + j * rows)];
  }
  double operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i + j * rows)];
  }
  MatrixView<const double> view() const { return stepwell::view(data.data(), rows, cols); }

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<double> data;
};

/// A matrix and its name in a report.
struct Named {
  Matrix a;
  std::string name;
};

/// Exactly symmetric; mostly positive definite, at least nearly.
Named random_spd(std::int64_t n, Random& random);
/// Square.
Named random_general(std::int64_t n, Random& random);
/// m x n with m >= n, of full rank or not.
Named random_tall(std::int64_t m, std::int64_t n, Random& random);

/// Grades rows and columns, and shifts the whole matrix near an end of FP64's range; appends what
/// was done to the name. 'symmetric': keeps the matrix symmetric.
void scale_at_random(Named& named, bool symmetric, Random& random);

/// A right-hand side for a, of any kind and any scale; finite.
void fill_right_side(const Matrix& a, double* b, Random& random);

/// Multiplies by 'count' random reflections from the left, the right or both sides (the same ones:
/// a symmetric matrix stays symmetric, up to rounding).
enum class Sides { left, right, both };
void reflect(Matrix& a, int count, Sides sides, Random& random);

/// A singular value of a random spectrum with this condition number: 'kind' 0 .. 4.
double spectrum(int kind, std::int64_t k, std::int64_t n, double condition, Random& random);

/// Copies the lower triangle to the upper one.
void copy_to_upper(Matrix& a);

/// All off-diagonal elements are equal, and all diagonal ones: the rounding errors of a sum have
/// one sign.
Matrix equal_off_diagonals(std::int64_t n, double off_diagonal, double diagonal);

}  // namespace stepwell::attack

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attack/random.hpp"
#include "stepwell/view.hpp"

/// Matrices that were made to break a solver.
namespace stepwell::attack {

/// By columns, without gaps.
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

/// A matrix and what it is called in a report.
struct Named {
  Matrix a;
  std::string name;
};

/// Symmetric to the bit; mostly positive definite, at least nearly.
Named random_spd(std::int64_t n, Random& random);
/// Square.
Named random_general(std::int64_t n, Random& random);
/// m x n with m >= n, of full rank or not.
Named random_tall(std::int64_t m, std::int64_t n, Random& random);

/// Grades rows and columns, and brings all of it near one of FP64's ends; adds to the name what was
/// done. 'symmetric': stays so.
void scale_at_random(Named& named, bool symmetric, Random& random);

/// A right-hand side for a, of any kind and any scale; finite.
void fill_right_side(const Matrix& a, double* b, Random& random);

/// Multiplies by 'count' random reflections from the left, the right or both sides (the same ones:
/// a symmetric matrix stays symmetric, up to rounding).
enum class Sides { left, right, both };
void reflect(Matrix& a, int count, Sides sides, Random& random);

/// A singular value of a random spectrum of that condition number: 'kind' 0 .. 4.
double spectrum(int kind, std::int64_t k, std::int64_t n, double condition, Random& random);

/// Lower triangle -> upper.
void mirror(Matrix& a);

/// All numbers but equal ones on the diagonal are equal: rounding errors of a sum have one sign.
Matrix equal_off_diagonals(std::int64_t n, double off_diagonal, double diagonal);

}  // namespace stepwell::attack

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "lapack_names.hpp"

namespace stepwell::test {

/// A column-major matrix, with padding below each column that must stay unchanged.
struct Matrix {
  Matrix(int m, int n, int padding = 0)
      : rows(m), cols(n), ld(m + padding), data(static_cast<std::size_t>(ld) * n, kPadding) {}
  double& operator()(int i, int j) { return data[static_cast<std::size_t>(j) * ld + i]; }
  double operator()(int i, int j) const { return data[static_cast<std::size_t>(j) * ld + i]; }
  double* get() { return data.data(); }
  bool padding_is_intact() const;

  static constexpr double kPadding = 12345.678;
  int rows, cols, ld;
  std::vector<double> data;
};

Matrix random_matrix(int m, int n, unsigned seed, int padding = 0);
/// Symmetric, with eigenvalues from about 1 upwards.
Matrix random_spd(int n, unsigned seed, int padding = 0);
Matrix transposed(const Matrix& a);

/// max_j ||b_j - A x_j|| / (||A|| ||x_j|| + ||b_j||) in the infinity norm.
double backward_error(const Matrix& a, const Matrix& x, const Matrix& b);
/// The backward error that a stable solver may have for this order.
double allowed(int n);

bool all_nan(const Matrix& a);
bool same_bits(const Matrix& a, const Matrix& b);
double norm_one(const Matrix& a);

/// The routine of the LAPACK behind the drop-in, bypassing the drop-in.
void* real_symbol(const char* name);
template <class F>
F* real(F*, const char* name) {
  return reinterpret_cast<F*>(real_symbol(name));
}

/// The last call of xerbla_; this program defines its own, like LAPACK's test programs.
struct Xerbla {
  std::string name;
  int info = 0;
  int calls = 0;
  friend bool operator==(const Xerbla&, const Xerbla&) = default;
};
Xerbla take_xerbla();

/// The settings are read once per process: ctest runs each suite with its own.
void require_setting(const char* name, const char* value);

}  // namespace stepwell::test

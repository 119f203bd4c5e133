// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "stepwell/view.hpp"

/// LAPACK's own factorizations: the field's standard for deciding that a matrix is singular or not
/// positive definite. They run on as many threads as the BLAS is set to.
namespace stepwell::kernels {

/// Converts a size to LAPACK's int. Throws Error(too_large) when it does not fit.
int as_int(std::int64_t size);

/// dpotrf: A = L L' in place; the strict upper triangle is not touched. Returns the zero-based
/// index of the first pivot that is not positive, or -1 if there is none. Throws Error(too_large).
std::int64_t potrf(MatrixView<double> a);

/// dgetrf: A = P L U in place, m x n with m >= n; pivots: n, one-based. Returns the zero-based
/// index of the first pivot that is exactly zero, or -1 if there is none. Throws Error(too_large)
/// for sizes that its int can't hold.
std::int64_t getrf(MatrixView<double> a, int* pivots);

/// dgetrs: B <- A^-1 B, or A^-T B.
void getrs(MatrixView<const double> lu, const int* pivots, bool transposed, MatrixView<double> b);

/// dtrsm: B <- L^-1 B, L unit lower triangular.
void solve_unit_lower(MatrixView<const double> l, MatrixView<double> b);

/// dtrsm: B <- R^-1 B, or R^-T B, R upper triangular.
void solve_upper(MatrixView<const double> r, bool transposed, MatrixView<double> b);

/// Which triangle of a matrix is meant, and how it is used.
struct Triangle {
  bool upper = false;
  bool transposed = false;
  bool unit = false;  ///< its diagonal counts as ones
};

/// B <- T^-1 B, or T^-T B, B with many columns: blocks of 64 rows by gemm and trsm, because
/// OpenBLAS's trsm alone runs at a quarter of gemm's rate.
void solve_triangle(MatrixView<const double> t, Triangle triangle, MatrixView<double> b);

/// Which operands of a product are transposed.
struct Transposed {
  bool a = false, b = false;
};

/// dgemm: C -= A B.
void subtract_product(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c,
                      Transposed transposed = {});

}  // namespace stepwell::kernels

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "stepwell/view.hpp"

/// Householder QR of a block of rows, and of a block below a triangle: what one thread does of the
/// QR of a tall matrix. Columns beyond the first n are carried along: what comes out beside R is Q'
/// times them. On as many threads as the BLAS is set to. Throws Error(too_large) for sizes above
/// what LAPACK's int can hold.
namespace stepwell::kernels {

/// Numbers of scratch that each function below takes, for n columns of 'width' in all.
std::int64_t qr_scratch(std::int64_t n, std::int64_t width);

/// dgeqrt: A = Q R of the first n columns, in place, Q' applied to the rest. At least n rows; below
/// the diagonal of R stands what Q is made from.
void qr_block(MatrixView<double> a, std::int64_t n, double* scratch);

/// What 'block' is below R: all of it numbers, or an upper triangle with zeros below.
enum class Below : unsigned char { rectangle, triangle };

/// [R; B] = Q [R'; 0] of the first n columns, n the rows of R, Q' applied to the rest of both. Of R
/// only the upper triangle is read and written; B is overwritten. What LAPACK's dtpqrt does, with
/// panels by recursion: 1.4 times as fast.
void qr_fold(MatrixView<double> r, MatrixView<double> b, Below below, double* scratch);

/// dtrcon: an estimate of 1 / (||R|| ||R^-1||) in the 1-norm, 0 for a singular one. R: n x n upper
/// triangular, finite. 'numbers' is scratch of n.
double reciprocal_condition(MatrixView<const double> r, double* scratch, int* numbers);

/// dgeqp3 and dormqr: R P = Q S with column pivoting, in place, zeros below the diagonal, and
/// C <- Q'C. pivots[k] is the column of R that became column k, from 1.
void pivoted_qr(MatrixView<double> r, int* pivots, MatrixView<double> c, double* scratch);

}  // namespace stepwell::kernels

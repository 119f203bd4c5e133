// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "stepwell/view.hpp"

/// Householder QR of a block of rows, and of a block below a triangle: the operations that one
/// thread does in the QR factorization of a tall matrix. Q' is also applied to the columns after
/// the first n. Runs on as many threads as the BLAS is set to. Throws Error(too_large) for sizes
/// that LAPACK's int can't hold.
namespace stepwell::kernels {

/// Elements of scratch that each function below takes, for n columns out of 'width' in all.
std::int64_t qr_scratch(std::int64_t n, std::int64_t width);

/// dgeqrt: A = Q R of the first n columns, in place, with Q' applied to the rest. A has at least n
/// rows; below the diagonal of R are the reflectors that define Q.
void qr_block(MatrixView<double> a, std::int64_t n, double* scratch);

/// The structure of the block B below R: a full rectangle, or an upper triangle with zeros below.
enum class Below : unsigned char { rectangle, triangle };

/// [R; B] = Q [R1; 0] for the first n columns, n the number of rows of R; R1 replaces R, and Q' is
/// applied to the remaining columns of both. Only the upper triangle of R is read and written; B is
/// overwritten. Does the same as LAPACK's dtpqrt, but factors panels recursively: 1.4 times as
/// fast.
void qr_fold(MatrixView<double> r, MatrixView<double> b, Below below, double* scratch);

/// dtrcon: an estimate of 1 / (||R|| ||R^-1||) in the 1-norm, 0 for a singular R. R: n x n upper
/// triangular, finite. 'iwork' is integer workspace of n elements.
double reciprocal_condition(MatrixView<const double> r, double* scratch, int* iwork);

/// dgeqp3 and dormqr: R P = Q S with column pivoting, in place, with zeros below the diagonal, and
/// C <- Q'C. pivots[k] is the one-based index of the column of R that became column k.
void pivoted_qr(MatrixView<double> r, int* pivots, MatrixView<double> c, double* scratch);

/// dtzrzf and dormrz: for each column c the x of least norm with T x = c. T: r x n, r <= n, upper
/// trapezoidal with a diagonal of nonzeros; overwritten. X: n x columns, with c in its first r rows
/// at entry.
void least_norm(MatrixView<double> t, MatrixView<double> x);

/// dgelsy: for each column b the x of least norm that minimises ||b - A x||, by a complete
/// orthogonal factorization. A: m x n, overwritten. X: max(m, n) x columns, with b in its first m
/// rows at entry and x in its first n at exit. pivots: n elements, as of pivoted_qr(). Returns the
/// rank: the order of the largest leading triangle of R whose estimated condition is below
/// 1 / smallest.
std::int64_t minimum_norm(MatrixView<double> a, MatrixView<double> x, double smallest, int* pivots);

}  // namespace stepwell::kernels

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// Vector operations of the refiners. The order of summation depends on n alone; norms and maxima
/// are NaN if an element is NaN. The caller keeps vectors near 1: nothing guards against overflow.
namespace stepwell::refine {

double dot(std::int64_t n, const double* x, const double* y);
double norm2(std::int64_t n, const double* x);
/// max |x_i|
double max_abs(std::int64_t n, const double* x);
/// y += alpha x
void axpy(std::int64_t n, double alpha, const double* x, double* y);
/// y = x + beta y
void xpby(std::int64_t n, const double* x, double beta, double* y);
void scale(std::int64_t n, double alpha, double* x);
/// Rounds the elements to fp32 and back, for fp32 as the working precision.
void round_to_fp32(std::int64_t n, double* x);

/// The power of two that brings 'size' into [1, 2); 1 if 'size' is zero or not finite.
double normalizer(double size);

}  // namespace stepwell::refine

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

/// 113-bit arithmetic for the sums of the tests: products of two doubles are exact.
namespace stepwell::test {

__extension__ using Quad = __float128;

inline Quad abs_of(Quad x) {
  return x < 0 ? -x : x;
}

/// The error of sums of k terms in Quad, relative to the sum of magnitudes.
inline double quad_error(double k) {
  return (k + 2) * 0x1p-112;
}

}  // namespace stepwell::test

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

/// Double-double arithmetic: numbers with twice the digits of FP64 as unevaluated sums hi + lo
/// (Dekker 1971, Knuth 4.2.2). Only the operations that residuals need; each has a relative error
/// of a few units of 2^-106.
namespace stepwell::core {

struct DoubleDouble {
  double hi = 0;
  double lo = 0;
  double value() const { return hi + lo; }
};

/// a + b exactly.
inline DoubleDouble two_sum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

/// a b exactly, unless it overflows or underflows.
inline DoubleDouble two_product(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble s = two_sum(a.hi, b.hi);
  return two_sum(s.hi, s.lo + (a.lo + b.lo));
}

/// sum + a b
inline DoubleDouble multiply_add(DoubleDouble sum, double a, double b) {
  return sum + two_product(a, b);
}

}  // namespace stepwell::core

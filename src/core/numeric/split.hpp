// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>

#include "core/numeric/rounding.hpp"
#include "stepwell/rung.hpp"

namespace stepwell::core {

/// A number as the sum of up to three bf16 terms, largest first; unused terms are zero.
struct Terms {
  std::array<bf16, 3> term;
};

/// Splits x as an operand of 'rung' (one of the rungs with planes). Each term is the rounded
/// remainder after the earlier terms; the remainder is exact in fp64. For fp16, x is first rounded
/// to fp16, and the two terms represent that number exactly. After a term that is not finite, all
/// terms are zero.
constexpr Terms split(double x, Rung rung) {
  Terms t{};
  double rest = rung == Rung::fp16 ? to_double(to_fp16(x)) : x;
  for (int p = 0; p < info(rung).planes; ++p) {
    t.term[p] = to_bf16(rest);
    const double taken = to_double(t.term[p]);
    if (!(taken - taken == 0)) break;  // infinity or NaN: the remainder would be NaN
    rest -= taken;
  }
  return t;
}

/// The sum of the terms, exact in fp64.
constexpr double join(const Terms& t) {
  return (to_double(t.term[0]) + to_double(t.term[1])) + to_double(t.term[2]);
}

}  // namespace stepwell::core

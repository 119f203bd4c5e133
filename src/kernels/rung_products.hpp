// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "stepwell/rung.hpp"

namespace stepwell::kernels {

/// One product of a rung: term 'a' of the left operand times term 'b' of the right one.
struct TermPair {
  int a;
  int b;
};

/// The products of a rung, in the order for an engine that holds one term of each operand:
/// consecutive products share a term, so that only the other term is loaded. All pairs (a, b) with
/// a + b < planes; fp16's split is exact and needs all four.
struct RungProducts {
  std::array<TermPair, 6> pair;
  int count;
};

constexpr RungProducts rung_products(Rung rung) {
  switch (rung) {
    case Rung::bf16x2:
      return {{{{1, 0}, {0, 0}, {0, 1}}}, 3};
    case Rung::bf16x3:
      return {{{{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}, {0, 2}}}, 6};
    case Rung::fp16:
      return {{{{1, 1}, {1, 0}, {0, 0}, {0, 1}}}, 4};
    default:
      return {{{{0, 0}}}, 1};
  }
}

}  // namespace stepwell::kernels

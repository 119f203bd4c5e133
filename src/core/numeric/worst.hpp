// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

namespace stepwell::core {

/// The larger of two errors, and NaN if one of them is: std::max() forgets a NaN, and so does
/// `if (!(b <= a)) a = b` when a finite error follows it.
inline double worst(double a, double b) {
  return std::isnan(a) || b <= a ? a : b;
}

}  // namespace stepwell::core

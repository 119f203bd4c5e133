// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "stepwell/lu.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::factor {

/// Adds up logarithms of many factors with the rounding error of one sum.
class LogSum {
 public:
  /// Multiplies the determinant by this factor.
  void multiply(double factor);
  /// Divides it by this factor.
  void divide(double factor);
  LogDet value() const { return {sum_ + rest_, sign_}; }

 private:
  void add(double term);

  double sum_ = 0, rest_ = 0;
  int sign_ = 1;
};

/// Throws Error(unsupported) unless every tile is at fp64. 'what' is the name of the operation.
void require_fp64(const tiles::TileMatrix& l, const char* what);

/// The diagonal of a factor at fp64.
std::vector<double> diagonal_of(const tiles::TileMatrix& l);

/// The sign of a permutation.
int sign_of(const std::vector<std::int64_t>& order);

}  // namespace stepwell::factor

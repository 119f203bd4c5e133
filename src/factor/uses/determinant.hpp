// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/numeric/double_double.hpp"
#include "factor/uses/open_factor.hpp"
#include "stepwell/lu.hpp"
#include "tiles/tile_matrix.hpp"

namespace stepwell::factor {

/// Adds up logarithms of many factors.
class LogSum {
 public:
  /// Multiplies the determinant by this factor.
  void multiply(double factor) { add(factor, 1); }
  /// Divides it by this factor.
  void divide(double factor) { add(factor, -1); }
  /// Besides rounding the sum, an error of kTermError for each factor that is not a power of two.
  LogDet value() const;

  static constexpr double kTermError = 0x1p-54;  ///< one unit of std::log up to 0.36

 private:
  void add(double factor, int direction);

  core::DoubleDouble sum_;
  std::int64_t exponents_ = 0;
  int sign_ = 1;
};

/// The diagonal of a factor at fp64.
std::vector<double> diagonal_of(const tiles::TileMatrix& l);

/// sqrt(h_ii) of H = L L', or the largest that a row has had.
std::vector<double> row_norms(OpenFactor& f);

/// The sign of a permutation.
int sign_of(const std::vector<std::int64_t>& order);

}  // namespace stepwell::factor

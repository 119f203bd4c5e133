// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/equilibrate.hpp"

#include <algorithm>
#include <cmath>

#include "core/exponent.hpp"

namespace stepwell::factor {

Scale equilibrate(MatrixView<const double> a, engine::Team*) {
  const auto n = static_cast<std::size_t>(a.rows);
  Scale s;
  s.row.assign(n, 0.0);
  s.col.assign(n, 0.0);
  const auto power = [](double x) {
    return x > 0 && std::isfinite(x)
               ? core::power_of_two(std::clamp(-core::exponent_of(x), -1022, 1022))
               : 1.0;
  };
  for (std::int64_t j = 0; j < a.cols; ++j)
    for (std::int64_t i = 0; i < a.rows; ++i)
      s.row[static_cast<std::size_t>(i)] =
          std::max(s.row[static_cast<std::size_t>(i)], std::abs(a(i, j)));
  for (double& r : s.row) r = power(r);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    double m = 0;
    for (std::int64_t i = 0; i < a.rows; ++i)
      m = std::max(m, std::abs(s.row[static_cast<std::size_t>(i)] * a(i, j)));
    s.col[static_cast<std::size_t>(j)] = power(m);
  }
  return s;
}

}  // namespace stepwell::factor

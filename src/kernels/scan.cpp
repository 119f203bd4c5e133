// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

#include "kernels/scan.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stepwell::kernels {

double frobenius(const Scan& s) {
  if (s.big > 0) {
    // The small sum is below the last digit; the middle sum may be too, and then it underflows.
    const double big = s.big + (s.mid * kBlueBigFactor) * kBlueBigFactor;
    return std::sqrt(big) / kBlueBigFactor;
  }
  if (s.small > 0) {
    return std::hypot(std::sqrt(s.mid), std::sqrt(s.small) / kBlueSmallFactor);
  }
  return std::sqrt(s.mid);
}

void combine(Scan& total, const Scan& tile, std::int64_t row, std::int64_t col) {
  total.max_abs = std::max(total.max_abs, tile.max_abs);
  total.big += tile.big;
  total.mid += tile.mid;
  total.small += tile.small;
  total.checksum += tile.checksum;
  if (tile.non_finite > 0) {
    const std::pair first{tile.bad_col + col, tile.bad_row + row};
    if (total.non_finite == 0 || first < std::pair{total.bad_col, total.bad_row}) {
      total.bad_row = first.second;
      total.bad_col = first.first;
    }
    total.non_finite += tile.non_finite;
  }
  if (tile.asymmetry > total.asymmetry) {
    total.asymmetry = tile.asymmetry;
    total.asymmetry_row = tile.asymmetry_row + row;
    total.asymmetry_col = tile.asymmetry_col + col;
  }
}

}  // namespace stepwell::kernels

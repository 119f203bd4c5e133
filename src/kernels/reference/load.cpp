// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause

#include <bit>
#include <cmath>

#include "kernels/reference/reference.hpp"
#include "kernels/scan.hpp"

namespace stepwell::kernels {
namespace {

void scan_element(double a, std::int64_t i, std::int64_t j, Scan& s) {
  const double size = std::abs(a);
  if (!std::isfinite(a)) {
    if (s.non_finite++ == 0) {
      s.bad_row = i;
      s.bad_col = j;
    }
    return;
  }
  if (size > s.max_abs) {
    s.max_abs = size;
  }
  if (size > kBlueBig) {
    s.big += (size * kBlueBigFactor) * (size * kBlueBigFactor);
  } else if (size < kBlueSmall) {
    s.small += (size * kBlueSmallFactor) * (size * kBlueSmallFactor);
  } else {
    s.mid += size * size;
  }
}

void compare(double a, double transposed, std::int64_t i, std::int64_t j, Scan& s) {
  if (!std::isfinite(a) || !std::isfinite(transposed)) {
    return;
  }
  const double difference = std::abs(a - transposed);
  if (difference > s.asymmetry) {
    s.asymmetry = difference;
    s.asymmetry_row = i;
    s.asymmetry_col = j;
  }
}

/// The scaled element is (row * a) * col, with each product rounded to fp64, in every version.
void load(const LoadArgs& g, Scan& scan) noexcept {
  Scan s;
  for (std::int64_t j = 0; j < g.a.cols; ++j) {
    for (std::int64_t i = g.shape == Shape::lower ? j : 0; i < g.a.rows; ++i) {
      const double a = g.a(i, j);
      const double row = g.scales.row != nullptr ? g.scales.row[i] : 1;
      const double col = g.scales.col != nullptr ? g.scales.col[j] : 1;
      const double scaled = (row * a) * col;
      if (g.out32.data != nullptr) {
        g.out32(i, j) = static_cast<float>(scaled);
      }
      if (g.out64.data != nullptr) {
        g.out64(i, j) = scaled;
      }
      if (g.row_sums != nullptr) {
        g.row_sums[i] += std::abs(a);
      }
      if (g.col_sums != nullptr) {
        g.col_sums[j] += std::abs(a);
      }
      s.checksum += std::bit_cast<std::uint64_t>(a);
      scan_element(a, i, j, s);
      if (g.transposed.data != nullptr) {
        compare(a, g.transposed(j, i), i, j, s);
      }
    }
  }
  combine(scan, s, 0, 0);
}

void column_sizes(MatrixView<const double> a, double* max_abs, double* squares) noexcept {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    max_abs[i] = squares[i] = 0;
    for (std::int64_t k = 0; k < a.cols; ++k) {
      max_abs[i] = std::max(max_abs[i], std::abs(a(i, k)));
      squares[i] += a(i, k) * a(i, k);
    }
  }
}

}  // namespace

void fill_reference_load(Table& t) {
  t.load = {&load, "load_reference", core::Isa::reference};
}

void fill_reference_column_sizes(Table& t) {
  t.column_sizes = {&column_sizes, "column_sizes_reference", core::Isa::reference};
}

}  // namespace stepwell::kernels

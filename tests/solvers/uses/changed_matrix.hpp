// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "stepwell/factor.hpp"

namespace stepwell::test {

/// What a factor that is changed should be the factor of: a symmetric matrix in long double, and
/// how large its rows have been.
class ChangedMatrix {
 public:
  explicit ChangedMatrix(MatrixView<const double> a) { append(a); }

  std::int64_t order() const { return static_cast<std::int64_t>(size_.size()); }
  long double operator()(std::int64_t i, std::int64_t j) const {
    return rows_[static_cast<std::size_t>(std::max(i, j))]
                [static_cast<std::size_t>(std::min(i, j))];
  }
  /// The largest sqrt(a_ii) that row i has had.
  double size(std::int64_t i) const { return size_[static_cast<std::size_t>(i)]; }

  /// The last rows of the larger matrix, of which the lower triangle is read.
  void append(MatrixView<const double> rows) {
    const std::int64_t n = order();
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      std::vector<long double> row;
      for (std::int64_t j = 0; j <= n + i; ++j) row.push_back(rows(i, j));
      rows_.push_back(std::move(row));
      size_.push_back(std::sqrt(rows(i, n + i)));
    }
    allowance_ = std::max(allowance_, static_cast<double>(order() + 6));
  }

  /// A + sign V V'.
  void add(MatrixView<const double> v, int sign) {
    rotated(v.cols);
    for (std::int64_t i = 0; i < order(); ++i) {
      std::vector<long double>& row = rows_[static_cast<std::size_t>(i)];
      for (std::int64_t c = 0; c < v.cols; ++c) {
        const long double of_row = sign * static_cast<long double>(v(i, c));
        for (std::int64_t j = 0; j <= i; ++j) row[static_cast<std::size_t>(j)] += of_row * v(j, c);
      }
      double& size = size_[static_cast<std::size_t>(i)];
      size = std::max(size, static_cast<double>(std::sqrt(row.back())));
    }
  }

  void drop(std::vector<std::int64_t> dropped) {
    rotated(static_cast<std::int64_t>(dropped.size()));
    std::sort(dropped.rbegin(), dropped.rend());
    for (const std::int64_t d : dropped) {
      rows_.erase(rows_.begin() + d);
      size_.erase(size_.begin() + d);
      for (auto i = static_cast<std::size_t>(d); i < rows_.size(); ++i) {
        rows_[i].erase(rows_[i].begin() + d);
      }
    }
  }

  /// max |A - L L'|_ij / (size_i size_j), in units of u.
  double error(const Factor& factor) const {
    const std::int64_t n = order();
    std::vector<double> l(static_cast<std::size_t>(n * n));
    factor.copy_to(view(l.data(), n, n));
    const std::vector<std::int64_t>& order_of = factor.permutation();
    const auto place = [&](std::int64_t k) {
      return order_of.empty() ? k : order_of[static_cast<std::size_t>(k)];
    };
    double worst = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) {
        long double sum = (*this)(place(i), place(j));
        for (std::int64_t k = 0; k <= j; ++k) {
          sum -= static_cast<long double>(l[static_cast<std::size_t>(k * n + i)]) *
                 l[static_cast<std::size_t>(k * n + j)];
        }
        const double gap = std::abs(static_cast<double>(sum)) / size(place(i)) / size(place(j));
        if (!(gap <= worst)) worst = gap;  // a NaN stays
      }
    }
    return worst / 0x1p-53;
  }

  /// What rounding may have made of error(): n + 1 from a factorization (Higham, Accuracy and
  /// Stability, Theorem 10.3), and 5 from the scale in which L is copied out, which may be a
  /// multiple of sqrt(2). A change rotates an element of L k times and one of V n times, and of
  /// each rotation the error is at most 6 u of the row (Lemma 19.9).
  double allowance() const { return allowance_; }

 private:
  void rotated(std::int64_t columns) { allowance_ += 6 * static_cast<double>(order() + columns); }

  std::vector<std::vector<long double>> rows_;  ///< the lower triangle
  std::vector<double> size_;
  double allowance_ = 0;
};

}  // namespace stepwell::test

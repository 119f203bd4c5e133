// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/operators/operator.hpp"

#include "core/numeric/double_double.hpp"
#include "core/numeric/roundoff.hpp"

namespace stepwell::refine {

MatrixView<double> ScaledOperator::scaled(MatrixView<const double> x, double sign) {
  const std::int64_t n = x.rows;
  if (scaled_.size() < n * x.cols) scaled_ = core::Buffer<double>(n * x.cols);
  const MatrixView<double> out = view(scaled_.data(), n, x.cols);
  for (std::int64_t c = 0; c < x.cols; ++c) {
    const double* const from = x.column(c);
    double* const to = out.column(c);
    for (std::int64_t i = 0; i < n; ++i) to[i] = sign * from[i] * col_[static_cast<std::size_t>(i)];
  }
  return out;
}

void ScaledOperator::apply(MatrixView<const double> x, MatrixView<double> y, Sums sums,
                           Reads reads) {
  const std::int64_t n = order();
  if (reads == Reads::copy && a_.has_copy()) return a_.apply_copy(x, y);
  if (sums == Sums::double_double) {
    if (low_.size() < n * y.cols) low_ = core::Buffer<double>(n * y.cols);
    Checksums checksums(n);
    a_.apply_exactly(scaled(x, 1), {}, y, view(low_.data(), n, y.cols), checksums);
  } else if (reads == Reads::and_copy) {
    a_.apply_and_copy(scaled(x, 1), y, {row_.data(), col_.data()});
  } else {
    a_.apply(scaled(x, 1), y);
  }
  for (std::int64_t c = 0; c < y.cols; ++c) {
    double* const to = y.column(c);
    for (std::int64_t i = 0; i < n; ++i) to[i] *= row_[static_cast<std::size_t>(i)];
  }
}

void ScaledOperator::residual(MatrixView<const double> b, MatrixView<const double> x,
                              MatrixView<double> r, Sums sums) {
  const std::int64_t n = order();
  Checksums checksums(n);
  if (sums == Sums::double_double) {
    if (low_.size() < n * r.cols) low_ = core::Buffer<double>(n * r.cols);
    const MatrixView<double> low = view(low_.data(), n, r.cols);
    a_.apply_exactly(scaled(x, -1), {}, r, low, checksums);
    for (std::int64_t c = 0; c < r.cols; ++c) {
      for (std::int64_t i = 0; i < n; ++i) {
        const double s = row_[static_cast<std::size_t>(i)];
        const core::DoubleDouble sum{r(i, c) * s, low(i, c) * s};
        r(i, c) = (core::DoubleDouble{b(i, c), 0} + sum).value();
      }
    }
  } else if (sums == Sums::exact) {
    // Both scalings are by powers of two.
    for (std::int64_t c = 0; c < r.cols; ++c) {
      for (std::int64_t i = 0; i < n; ++i) r(i, c) = b(i, c) / row_[static_cast<std::size_t>(i)];
    }
    a_.subtract_exact(scaled(x, 1), r, checksums);
    for (std::int64_t c = 0; c < r.cols; ++c) {
      for (std::int64_t i = 0; i < n; ++i) r(i, c) *= row_[static_cast<std::size_t>(i)];
    }
  } else {
    a_.apply_blocked(scaled(x, -1), r, checksums);
    for (std::int64_t c = 0; c < r.cols; ++c) {
      const double* const from = b.column(c);
      double* const to = r.column(c);
      for (std::int64_t i = 0; i < n; ++i) {
        to[i] = from[i] + to[i] * row_[static_cast<std::size_t>(i)];
      }
    }
  }
  if (expected_ != nullptr && changed_column_ < 0) {
    changed_column_ = a_.first_difference(*expected_, checksums);
  }
}

/// In double-double the error of an element of k = n + 1 terms is at most 4 (k + 5)^2 u^2 times the
/// sum of their magnitudes (kernels::ExactProducts, plus adding up strips and b). Its rounding to
/// FP64 adds u times its own magnitude, which callers that know this magnitude account for.
double ScaledOperator::residual_error_bound(Sums sums) const {
  using core::kUnit;
  const auto n = static_cast<double>(order());
  if (sums == Sums::double_double) return 8 * (n + 6) * (n + 6) * kUnit * kUnit;
  const auto roundings = static_cast<double>(a_.depth() + 1);  // one more for adding b
  return roundings * kUnit / (1 - roundings * kUnit);
}

}  // namespace stepwell::refine

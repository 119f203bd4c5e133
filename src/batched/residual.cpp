// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batched/residual.hpp"
#include "core/numeric/roundoff.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepwell::batched {

template <class T>
Residual<T>::Residual(const kernels::BatchEntries<T>& kernel, std::int64_t n, std::int64_t columns,
                      std::int64_t lanes)
    : kernel_(&kernel),
      data_(kernels::batch_pack_size(n, columns, lanes), core::Contents::any),
      room_(2 * n * lanes, core::Contents::any),
      system_{data_.data(), nullptr, n, columns, lanes} {}

template <class T>
void Residual<T>::scan() {
  kernel_->norm.run(system_, room_.data(), norm_);
}

template <class T>
void Residual<T>::compute(std::int64_t c, const T* x, Sums sums) {
  double* const low = sums == Sums::fp64 ? nullptr : room_.data() + system_.n * system_.lanes;
  kernel_->residual.run(system_, c, x, room_.data(), low, {residual_, x_, b_});
}

/// ||A|| ||x|| + ||b||, which neither overflows nor underflows in the range of long double. A norm
/// that overflows FP64 is replaced by the largest finite FP64 value: errors only get larger.
template <class T>
long double Residual<T>::size(std::int64_t q) const {
  constexpr double kLargest = std::numeric_limits<double>::max();
  return static_cast<long double>(std::min(norm_[q], kLargest)) * x_[q] + b_[q];
}

/// Bound on the error due to products that underflow: half the smallest FP64 number for each
/// product and as much for its error. It matters only near the end of FP64's range.
template <class T>
double Residual<T>::hidden_by_underflow(std::int64_t q) const {
  const long double of = size(q);
  if (of == 0 || of > 0x1p-900L) return 0;
  return static_cast<double>(2 * static_cast<long double>(system_.n) * 0x1p-1074L / of);
}

template <class T>
double Residual<T>::error(std::int64_t q) const {
  if (!std::isfinite(residual_[q])) return std::numeric_limits<double>::infinity();
  const double hidden = hidden_by_underflow(q);
  return residual_[q] == 0 ? hidden : static_cast<double>(residual_[q] / size(q)) + hidden;
}

/// The error of r is at most 2 (n + 3)^2 u^2 times |b| + |A| |x|, plus u times r, plus what
/// underflows. ||A|| is a sum of n terms.
template <class T>
solvers::Measured Residual<T>::measured(std::int64_t q) const {
  using core::kUnit;
  const double found = error(q);
  if (!std::isfinite(found) || size(q) == 0) return {found, 0};
  const auto n = static_cast<double>(system_.n);
  return {found, 2 * (n + 3) * (n + 3) * kUnit * kUnit + (2 * n + 8) * kUnit * found};
}

template <class T>
std::int64_t Residual<T>::bytes() const {
  return data_.size() * static_cast<std::int64_t>(sizeof(T)) + room_.size() * 8;
}

template class Residual<float>;
template class Residual<double>;

}  // namespace stepwell::batched

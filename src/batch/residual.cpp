// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batch/residual.hpp"

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
void Residual<T>::look() {
  kernel_->norm.run(system_, room_.data(), norm_);
}

template <class T>
void Residual<T>::compute(std::int64_t c, const T* x, Sums sums) {
  double* const low = sums == Sums::fp64 ? nullptr : room_.data() + system_.n * system_.lanes;
  kernel_->residual.run(system_, c, x, room_.data(), low, {residual_, x_, b_});
}

namespace {

constexpr double kSmallest = 0x1p-1074;

/// What products that underflow hide, half the smallest number each and as much of its error; only
/// near the end of FP64's range is it anything.
double underflow(std::int64_t n, double scale) {
  return scale > 0 && scale < 0x1p-900 ? 2 * static_cast<double>(n) * kSmallest / scale : 0;
}

}  // namespace

template <class T>
double Residual<T>::error(std::int64_t q) const {
  if (!std::isfinite(residual_[q])) return std::numeric_limits<double>::infinity();
  const double hidden = underflow(system_.n, norm_[q] * x_[q] + b_[q]);
  if (residual_[q] == 0) return hidden;
  // Each is divided on its own: their products may be too large or too small.
  const double of_b = b_[q] / residual_[q];
  const double of_x = norm_[q] * (x_[q] / residual_[q]);
  return 1 / (of_x + of_b) + hidden;
}

/// r errs by 2 (n + 3)^2 u^2 of |b| + |A| |x|, by u of itself, and by what underflows. ||A|| is a
/// sum of n numbers.
template <class T>
driver::Measured Residual<T>::measured(std::int64_t q) const {
  constexpr double kU = 0x1p-53;
  const double found = error(q);
  const double scale = norm_[q] * x_[q] + b_[q];
  if (!std::isfinite(found) || (scale == 0 && found == 0)) return {found, 0};
  const auto n = static_cast<double>(system_.n);
  return {found,
          2 * (n + 3) * (n + 3) * kU * kU + (2 * n + 8) * kU * found + underflow(system_.n, scale)};
}

template <class T>
std::int64_t Residual<T>::bytes() const {
  return data_.size() * static_cast<std::int64_t>(sizeof(T)) + room_.size() * 8;
}

template class Residual<float>;
template class Residual<double>;

}  // namespace stepwell::batched

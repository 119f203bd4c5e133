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
      room_(n * lanes, core::Contents::any),
      system_{data_.data(), nullptr, n, columns, lanes} {}

template <class T>
void Residual<T>::look() {
  kernel_->norm.run(system_, room_.data(), norm_);
}

template <class T>
void Residual<T>::compute(std::int64_t c, const T* x) {
  kernel_->residual.run(system_, c, x, room_.data(), {residual_, x_, b_});
}

template <class T>
double Residual<T>::error(std::int64_t q) const {
  if (!std::isfinite(residual_[q])) return std::numeric_limits<double>::infinity();
  if (residual_[q] == 0) return 0;
  // Each is divided on its own: their products may be too large or too small.
  const double of_b = b_[q] / residual_[q];
  const double of_x = norm_[q] * (x_[q] / residual_[q]);
  return 1 / (of_x + of_b);
}

template <class T>
std::int64_t Residual<T>::bytes() const {
  return data_.size() * static_cast<std::int64_t>(sizeof(T)) + room_.size() * 8;
}

template class Residual<float>;
template class Residual<double>;

}  // namespace stepwell::batched

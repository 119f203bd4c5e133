// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batched/worker.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace stepwell::batched {

template <>
const kernels::BatchEntries<float>& entries(const kernels::Table& t) {
  return t.batch_fp32;
}
template <>
const kernels::BatchEntries<double>& entries(const kernels::Table& t) {
  return t.batch_fp64;
}

template <class T>
kernels::BatchMatrices<T> matrices(const BatchView<T>& view, std::int64_t first, std::int64_t count,
                                   T** at) {
  const std::int64_t lanes = view.lanes == 0 ? 1 : view.lanes;
  if (view.pointers != nullptr) {
    for (std::int64_t q = 0; q < count; ++q) at[q] = view.pointers[first + q];
  } else if (lanes == 1) {  // divisions would take a tenth of the time of small systems
    for (std::int64_t q = 0; q < count; ++q) at[q] = view.data + (first + q) * view.stride;
  } else {
    for (std::int64_t q = 0; q < count; ++q) {
      const std::int64_t m = first + q;
      at[q] = view.data + m / lanes * view.stride * lanes + m % lanes;
    }
  }
  return {at, count, view.ld, lanes};
}

template <class T>
Worker<T>::Worker(const kernels::Table& t, std::int64_t n, std::int64_t columns,
                  const BatchTuning& tuning)
    : kernel_(&entries<T>(t)), tuning_(tuning) {
  const std::int64_t lanes = std::int64_t{kernel_->lanes} * tuning.vectors;
  const std::int64_t size = kernels::batch_pack_size(n, columns, lanes);
  memory_ = core::Buffer<T>(size + n * lanes, core::Contents::any);
  pack_ = {memory_.data(), memory_.data() + size, n, columns, lanes};
}

template <class T>
void Worker<T>::factor(const kernels::BatchFactorOptions<T>& options, std::int32_t* pivots) const {
  kernel_->factor.run(pack_, {tuning_.rows, tuning_.cols, tuning_.vectors}, options, pivots);
}

template <class T>
void Worker<T>::expect(std::int64_t ld, std::int64_t step, Triangle triangle) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();
  lines_.clear();
  if (tuning_.prefetch == 0 || ld > kFar / pack_.n / step) return;
  const bool lower = triangle == Triangle::lower;
  for (std::int64_t j = 0; j < pack_.n; ++j) {
    const std::int64_t begin = (j * ld + (lower ? j : 0)) * step;
    const std::int64_t end = (j * ld + (lower ? pack_.n : j + 1)) * step;
    for (std::int64_t e = begin / kLine * kLine; e < end; e += kLine) {
      // Columns of small matrices share lines.
      if (lines_.empty() || e > lines_.back()) lines_.push_back(static_cast<std::int32_t>(e));
    }
  }
  lines_.push_back(lines_.back());  // BatchNext needs one more readable element
}

// The factorization of small matrices has too few steps to prefetch one or two lines with each: at
// order 8 in fp64 it prefetched none. Three bursts make orders 5 to 8 in fp64 and 8 to 10 in fp32
// 5 to 8 % faster; larger orders gain nothing, or lose in the factorization what they gain.
template <class T>
bool Worker<T>::fetches_in_parts(const kernels::BatchMatrices<const T>& matrices) const {
  constexpr std::int64_t kMost = 512;  // bytes of a matrix
  return pack_.n * pack_.n * static_cast<std::int64_t>(sizeof(T)) <= kMost && matrices.step == 1;
}

template <class T>
void Worker<T>::fetch(const kernels::BatchMatrices<const T>& matrices, int part) const {
  if (lines_.empty() || !fetches_in_parts(matrices)) return;
  const std::int64_t begin = matrices.count * part / kFetchParts;
  const std::int64_t end = matrices.count * (part + 1) / kFetchParts;
  for (std::int64_t q = begin; q < end; ++q) {
    for (std::size_t k = 0; k + 1 < lines_.size(); ++k) {
      __builtin_prefetch(matrices.at[q] + lines_[k], 0, 2);
    }
  }
}

template <class T>
kernels::BatchNext<T> Worker<T>::next(const kernels::BatchMatrices<const T>& matrices) const {
  if (lines_.empty() || matrices.count == 0 || fetches_in_parts(matrices)) return {};
  return {matrices.at, matrices.step > 1 ? 1 : matrices.count, lines_.data(),
          static_cast<std::int64_t>(lines_.size()) - 1, tuning_.prefetch};
}

template <class T>
double Worker<T>::log_determinant(std::int64_t q) const {
  double product = 1;  // product of at most 128 values, each at least 1/2
  std::int64_t exponent = 0;
  for (std::int64_t i = 0; i < pack_.n; ++i) {
    int e = 0;
    product *= std::frexp(static_cast<double>(pack_.row(i)[i * pack_.lanes + q]), &e);
    exponent += e;
  }
  return 2 * (std::log(product) + static_cast<double>(exponent) * std::numbers::ln2);
}

template <class T>
void Worker<T>::solve(std::int64_t count, const T* const* a, std::int64_t lda, T* const* b,
                      std::int64_t ldb, std::int32_t* pivots) const {
  kernel_->load.run({a, count, lda, 1}, Triangle::lower, pack_);
  kernel_->load_columns.run({b, count, ldb, 1}, pack_);
  factor({}, pivots);
  kernel_->backward.run(pack_);
  kernel_->store_columns.run(pack_, {b, count, ldb, 1}, pivots);
}

template kernels::BatchMatrices<float> matrices(const BatchView<float>&, std::int64_t, std::int64_t,
                                                float**);
template kernels::BatchMatrices<double> matrices(const BatchView<double>&, std::int64_t,
                                                 std::int64_t, double**);
template kernels::BatchMatrices<const float> matrices(const BatchView<const float>&, std::int64_t,
                                                      std::int64_t, const float**);
template kernels::BatchMatrices<const double> matrices(const BatchView<const double>&, std::int64_t,
                                                       std::int64_t, const double**);
template class Worker<float>;
template class Worker<double>;

}  // namespace stepwell::batched

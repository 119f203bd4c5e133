// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/reference.hpp"

namespace stepwell::kernels {
namespace {

/// Number of interleaved systems when there are no vectors.
template <class T>
constexpr int kLanes = 32 / sizeof(T);
/// The reference loops ignore blocks; these are the blocks of the instruction sets with 16
/// registers.
constexpr BatchBlock kBlocks[] = {{2, 2, 1}, {3, 3, 1}, {4, 2, 1}, {3, 4, 1}, {4, 3, 1}, {2, 2, 2}};

template <class T>
bool usable(T pivot) {
  return pivot > 0 && pivot < std::numeric_limits<T>::infinity();
}

/// Offset of element (i, j) of the lower triangle in the caller's matrix.
std::int64_t offset(std::int64_t i, std::int64_t j, std::int64_t ld, Triangle triangle) {
  return triangle == Triangle::lower ? i + j * ld : j + i * ld;
}

/// For system q: multiplies row i >= n by L^-1, or computes row i < n of L except its diagonal
/// element.
template <class T>
void eliminate(const BatchPack<T>& p, std::int64_t i, std::int64_t q) {
  for (std::int64_t j = 0; j < std::min(i, p.n); ++j) {
    T sum = p.row(i)[j * p.lanes + q];
    for (std::int64_t k = 0; k < j; ++k) {
      sum = std::fma(-p.row(i)[k * p.lanes + q], p.row(j)[k * p.lanes + q], sum);
    }
    p.row(i)[j * p.lanes + q] = sum * p.reciprocals[j * p.lanes + q];
  }
}

template <class T>
void factor(BatchPack<T> p, BatchBlock, const BatchFactorOptions<T>&,
            std::int32_t* pivots) noexcept {
  for (std::int64_t q = 0; q < p.lanes; ++q) {
    pivots[q] = -1;
    for (std::int64_t i = 0; i < p.n; ++i) {
      eliminate(p, i, q);
      T pivot = p.row(i)[i * p.lanes + q];
      for (std::int64_t k = 0; k < i; ++k) {
        pivot = std::fma(-p.row(i)[k * p.lanes + q], p.row(i)[k * p.lanes + q], pivot);
      }
      if (!usable(pivot)) {
        if (pivots[q] < 0) pivots[q] = static_cast<std::int32_t>(i);
        pivot = 1;
      }
      const T root = std::sqrt(pivot);
      p.row(i)[i * p.lanes + q] = root;
      p.reciprocals[i * p.lanes + q] = 1 / root;
    }
    for (std::int64_t i = p.n; i < p.n + p.rhs; ++i) eliminate(p, i, q);
  }
}

template <class T>
void forward(BatchPack<T> p, std::int32_t* pivots) noexcept {
  for (std::int64_t q = 0; q < p.lanes; ++q) {
    pivots[q] = -1;
    for (std::int64_t j = 0; j < p.n; ++j) {
      const T root = p.row(j)[j * p.lanes + q];
      if (!usable(root) && pivots[q] < 0) pivots[q] = static_cast<std::int32_t>(j);
      p.reciprocals[j * p.lanes + q] = usable(root) ? 1 / root : T{1};
    }
    for (std::int64_t i = p.n; i < p.n + p.rhs; ++i) eliminate(p, i, q);
  }
}

template <class T>
void backward(BatchPack<T> p) noexcept {
  for (std::int64_t q = 0; q < p.lanes; ++q) {
    for (std::int64_t c = 0; c < p.rhs; ++c) {
      T* const x = p.row(p.n + c) + q;
      for (std::int64_t j = p.n - 1; j >= 0; --j) {
        T sum = x[j * p.lanes];
        for (std::int64_t k = p.n - 1; k > j; --k) {
          sum = std::fma(-p.row(k)[j * p.lanes + q], x[k * p.lanes], sum);
        }
        x[j * p.lanes] = sum * p.reciprocals[j * p.lanes + q];
      }
    }
  }
}

template <class T>
void fill(BatchEntries<T>& entries) {
  constexpr auto isa = core::Isa::reference;
  entries.lanes = kLanes<T>;
  entries.blocks = kBlocks;
  entries.load = {&reference_batch_load<T>, "batch_load_reference", isa};
  entries.store = {&reference_batch_store<T>, "batch_store_reference", isa};
  entries.load_columns = {&reference_batch_load_columns<T>, "batch_load_columns_reference", isa};
  entries.store_columns = {&reference_batch_store_columns<T>, "batch_store_columns_reference", isa};
  entries.factor = {&factor<T>, "batch_factor_reference", isa};
  entries.forward = {&forward<T>, "batch_forward_reference", isa};
  entries.backward = {&backward<T>, "batch_backward_reference", isa};
}

}  // namespace

template <class T>
void reference_batch_load(BatchMatrices<const T> a, Triangle triangle, BatchPack<T> p) noexcept {
  for (std::int64_t i = 0; i < p.n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      for (std::int64_t q = 0; q < p.lanes; ++q) {
        p.row(i)[j * p.lanes + q] =
            q < a.count ? a.at[q][offset(i, j, a.ld, triangle) * a.step] : static_cast<T>(i == j);
      }
    }
  }
}

template <class T>
void reference_batch_store(BatchPack<T> p, BatchMatrices<T> a, Triangle triangle, bool both,
                           const std::int32_t* pivots) noexcept {
  for (std::int64_t i = 0; i < p.n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      for (std::int64_t q = 0; q < a.count; ++q) {
        if (pivots[q] >= 0) continue;
        const T element = p.row(i)[j * p.lanes + q];
        a.at[q][offset(i, j, a.ld, triangle) * a.step] = element;
        if (both) a.at[q][offset(j, i, a.ld, triangle) * a.step] = element;
      }
    }
  }
}

template <class T>
void reference_batch_load_columns(BatchMatrices<const T> b, BatchPack<T> p) noexcept {
  for (std::int64_t c = 0; c < p.rhs; ++c) {
    for (std::int64_t i = 0; i < p.n; ++i) {
      for (std::int64_t q = 0; q < p.lanes; ++q) {
        p.row(p.n + c)[i * p.lanes + q] = q < b.count ? b.at[q][(i + c * b.ld) * b.step] : T{0};
      }
    }
  }
}

template <class T>
void reference_batch_store_columns(BatchPack<T> p, BatchMatrices<T> b,
                                   const std::int32_t* pivots) noexcept {
  for (std::int64_t c = 0; c < p.rhs; ++c) {
    for (std::int64_t i = 0; i < p.n; ++i) {
      for (std::int64_t q = 0; q < b.count; ++q) {
        if (pivots[q] < 0) b.at[q][(i + c * b.ld) * b.step] = p.row(p.n + c)[i * p.lanes + q];
      }
    }
  }
}

void fill_reference_batch(Table& t) {
  fill(t.batch_fp32);
  fill(t.batch_fp64);
}

template BatchLoadFn<float> reference_batch_load;
template BatchLoadFn<double> reference_batch_load;
template BatchStoreFn<float> reference_batch_store;
template BatchStoreFn<double> reference_batch_store;
template BatchLoadColumnsFn<float> reference_batch_load_columns;
template BatchLoadColumnsFn<double> reference_batch_load_columns;
template BatchStoreColumnsFn<float> reference_batch_store_columns;
template BatchStoreColumnsFn<double> reference_batch_store_columns;

}  // namespace stepwell::kernels

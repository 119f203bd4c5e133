// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/reference/reference.hpp"

namespace stepwell::kernels {
namespace {

template <class T>
Pivot potrf(MatrixView<T> a) noexcept {
  const std::int64_t n = a.rows;
  for (std::int64_t j = 0; j < n; ++j) {
    const T pivot = a(j, j);
    if (!(pivot > 0) || !std::isfinite(pivot)) return {j, static_cast<double>(pivot)};
    const T root = std::sqrt(pivot);
    a(j, j) = root;
    for (std::int64_t i = j + 1; i < n; ++i) a(i, j) /= root;
    for (std::int64_t k = j + 1; k < n; ++k) {
      for (std::int64_t i = k; i < n; ++i) a(i, k) -= a(i, j) * a(k, j);
    }
  }
  return {};
}

template <class T>
void trsm(MatrixView<const T> l, MatrixView<T> b) noexcept {
  for (std::int64_t j = 0; j < l.rows; ++j) {
    for (std::int64_t i = 0; i < b.rows; ++i) {
      T sum = b(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= b(i, k) * l(j, k);
      b(i, j) = sum / l(j, j);
    }
  }
}

template <class T>
void invert(MatrixView<const T> l, MatrixView<T> w) noexcept {
  const std::int64_t n = l.rows;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < j; ++i) w(i, j) = 0;
    w(j, j) = 1 / l(j, j);
    for (std::int64_t i = j + 1; i < n; ++i) {
      T sum = 0;
      for (std::int64_t k = j; k < i; ++k) sum -= l(i, k) * w(k, j);
      w(i, j) = sum / l(i, i);
    }
  }
}

}  // namespace

void fill_reference_leaf(Table& t) {
  constexpr auto isa = core::Isa::reference;
  t.potrf_fp32 = {&potrf<float>, "potrf_fp32_reference", isa};
  t.potrf_fp64 = {&potrf<double>, "potrf_fp64_reference", isa};
  t.trsm_fp32 = {&trsm<float>, "trsm_fp32_reference", isa};
  t.trsm_fp64 = {&trsm<double>, "trsm_fp64_reference", isa};
  t.invert_fp32 = {&invert<float>, "invert_fp32_reference", isa};
  t.invert_fp64 = {&invert<double>, "invert_fp64_reference", isa};
}

}  // namespace stepwell::kernels

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <utility>

#include "kernels/reference/reference.hpp"

namespace stepwell::kernels {
namespace {

template <class T>
Pivot getrf(MatrixView<T> a, bool pivoting, std::int64_t* rows) noexcept {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    std::int64_t p = j;
    for (std::int64_t i = j; i < a.rows; ++i) {
      if (!std::isfinite(a(i, j))) return {j, static_cast<double>(a(i, j))};
      if (pivoting && std::abs(a(i, j)) > std::abs(a(p, j))) p = i;
    }
    rows[j] = p;
    const T pivot = a(p, j);
    if (pivot == 0) return {j, 0};
    for (std::int64_t k = 0; k < a.cols && p != j; ++k) std::swap(a(j, k), a(p, k));
    for (std::int64_t i = j + 1; i < a.rows; ++i) a(i, j) /= pivot;
    for (std::int64_t k = j + 1; k < a.cols; ++k) {
      for (std::int64_t i = j + 1; i < a.rows; ++i) a(i, k) -= a(i, j) * a(j, k);
    }
  }
  return {};
}

template <class T>
void transpose(MatrixView<const T> a, MatrixView<T> out) noexcept {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) out(j, i) = a(i, j);
  }
}

}  // namespace

void fill_reference_panel(Table& t) {
  constexpr auto isa = core::Isa::reference;
  t.getrf_fp32 = {&getrf<float>, "getrf_fp32_reference", isa};
  t.getrf_fp64 = {&getrf<double>, "getrf_fp64_reference", isa};
  t.transpose_fp32 = {&transpose<float>, "transpose_fp32_reference", isa};
  t.transpose_fp64 = {&transpose<double>, "transpose_fp64_reference", isa};
}

}  // namespace stepwell::kernels

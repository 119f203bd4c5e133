// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "core/numeric/double_double.hpp"
#include "kernels/reference/reference.hpp"

namespace stepwell::kernels {
namespace {

/// Element (i, k) of the symmetric matrix of system q.
template <class T>
double element(const BatchPack<const T>& p, std::int64_t i, std::int64_t k, std::int64_t q) {
  return p.row(std::max(i, k))[std::min(i, k) * p.lanes + q];
}

template <class T>
void norm(BatchPack<const T> p, double*, double* norms) noexcept {
  for (std::int64_t q = 0; q < p.lanes; ++q) {
    norms[q] = 0;
    for (std::int64_t i = 0; i < p.n; ++i) {
      double sum = 0;
      for (std::int64_t k = 0; k < p.n; ++k) sum += std::abs(element(p, i, k, q));
      norms[q] = std::max(norms[q], sum);
    }
  }
}

template <class T>
void residual(BatchPack<const T> p, std::int64_t c, const T* x, double* r, double* low,
              BatchSizes sizes) noexcept {
  for (std::int64_t q = 0; q < p.lanes; ++q) {
    double most = 0, most_x = 0, most_b = 0, wrong = 0;
    for (std::int64_t i = 0; i < p.n; ++i) {
      const double b = p.row(p.n + c)[i * p.lanes + q];
      double sum = b;
      core::DoubleDouble exact{b, 0};
      for (std::int64_t k = 0; k < p.n; ++k) {
        const double a = -element(p, i, k, q), xk = x[k * p.lanes + q];
        if (low == nullptr) {
          sum = std::fma(a, xk, sum);
        } else {
          exact = core::multiply_add(exact, a, xk);
        }
      }
      if (low != nullptr) sum = exact.value();
      r[i * p.lanes + q] = sum;
      most = std::max(most, std::abs(sum));
      wrong += sum * 0;
      most_x = std::max(most_x, std::abs(static_cast<double>(x[i * p.lanes + q])));
      most_b = std::max(most_b, std::abs(b));
    }
    sizes.residual[q] = most + wrong;
    sizes.x[q] = most_x;
    sizes.b[q] = most_b;
  }
}

template <class T>
void fill(BatchEntries<T>& entries) {
  entries.norm = {&norm<T>, "batch_norm_reference", core::Isa::reference};
  entries.residual = {&residual<T>, "batch_residual_reference", core::Isa::reference};
}

}  // namespace

void fill_reference_batch_residual(Table& t) {
  fill(t.batch_fp32);
  fill(t.batch_fp64);
}

}  // namespace stepwell::kernels

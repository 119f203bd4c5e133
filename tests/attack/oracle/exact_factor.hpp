// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "attack/attacks.hpp"
#include "kernels/quad.hpp"

namespace stepwell::attack {

using test::Quad;

/// A Cholesky factorization with 113 bits, up to the first pivot that is not positive.
struct ExactFactor {
  std::vector<Quad> l;     ///< column-major; columns before the failing one
  std::int64_t info = -1;  ///< the failing pivot
  long double log_det = 0;
  /// The smallest relative change of A, |change_ij| <= margin sqrt(a_ii a_jj), that changes the
  /// sign of a pivot up to the failing one.
  double margin = HUGE_VAL;
};

/// Pivot k is e' S e with the Schur complement S, and d = w'A w with w = (-A11^-1 a, 1): a change
/// of relative size r changes it by at most r (sum_i |w_i| sqrt(a_ii))^2.
template <class M>
double margin_of(const M& a, std::int64_t n, const std::vector<Quad>& l, std::int64_t k,
                 Quad pivot) {
  std::vector<Quad> w(static_cast<std::size_t>(k));
  double size = std::sqrt(std::abs(a(k, k)));
  for (std::int64_t i = k - 1; i >= 0; --i) {
    Quad sum = l[static_cast<std::size_t>(i * n + k)];
    for (std::int64_t j = i + 1; j < k; ++j) {
      sum -= l[static_cast<std::size_t>(i * n + j)] * w[static_cast<std::size_t>(j)];
    }
    w[static_cast<std::size_t>(i)] = sum / l[static_cast<std::size_t>(i * n + i)];
    size += std::abs(static_cast<double>(w[static_cast<std::size_t>(i)])) *
            std::sqrt(std::abs(a(i, i)));
  }
  return std::abs(static_cast<double>(pivot)) / (size * size);
}

inline Quad root_of(Quad x) {
  Quad r = std::sqrt(static_cast<double>(x));
  for (int step = 0; step < 2; ++step) r = (r + x / r) / 2;
  return r;
}

template <class M>
ExactFactor exact_factor(const M& a, std::int64_t n) {
  ExactFactor f;
  f.l.assign(static_cast<std::size_t>(n * n), 0);
  const auto at = [&](std::int64_t i, std::int64_t j) -> Quad& {
    return f.l[static_cast<std::size_t>(j * n + i)];
  };
  // Row by row, so that row k of L is known when pivot k is judged.
  for (std::int64_t k = 0; k < n; ++k) {
    Quad pivot = a(k, k);
    for (std::int64_t j = 0; j < k; ++j) {
      Quad sum = a(k, j);
      for (std::int64_t p = 0; p < j; ++p) sum -= at(k, p) * at(j, p);
      at(k, j) = sum / at(j, j);
      pivot -= at(k, j) * at(k, j);
    }
    f.margin = std::min(f.margin, margin_of(a, n, f.l, k, pivot));
    if (!(pivot > 0)) {
      f.info = k;
      return f;
    }
    at(k, k) = root_of(pivot);
    f.log_det += std::log(static_cast<long double>(pivot));
  }
  return f;
}

inline ExactFactor exact_factor(const Matrix& a) {
  return exact_factor(a, a.rows);
}

}  // namespace stepwell::attack

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/lu/butterfly.hpp"

#include <cmath>
#include <numbers>

#include "core/numeric/hash.hpp"

namespace stepwell::factor {
namespace {

/// [x; y] <- [r x + s y; r x - s y] = B [x; y], or B'.
template <class V>
void mix(std::int64_t half, const double* r, const double* s, bool transposed, V* x, V* y) {
  for (std::int64_t i = 0; i < half; ++i) {
    const auto p = static_cast<V>(r[i]);
    const auto q = static_cast<V>(s[i]);
    const V a = transposed ? x[i] : p * x[i];
    const V b = transposed ? y[i] : q * y[i];
    x[i] = transposed ? p * (a + b) : a + b;
    y[i] = transposed ? q * (a - b) : a - b;
  }
}

/// A diagonal element of R or S, 1/sqrt(2) included.
double draw(std::uint64_t index) {
  const double unit = static_cast<double>(core::hash(index) >> 11) * 0x1p-53;
  return std::exp((unit - 0.5) / 10) / std::numbers::sqrt2;
}

}  // namespace

Butterfly::Butterfly(std::int64_t n, std::uint64_t seed) : half_(n / 4 * 2) {
  const std::uint64_t first = seed << 32;
  for (std::int64_t i = 0; i < 2 * half_; ++i) {
    outer_.push_back(draw(first + static_cast<std::uint64_t>(i)));
    inner_.push_back(draw(first + static_cast<std::uint64_t>(2 * half_ + i)));
  }
}

/// W = diag(B1, B2) B: the outer butterfly B comes first in W x and last in W' x.
template <class V>
void Butterfly::apply(bool transposed, V* x) const {
  const std::int64_t q = half_ / 2;
  const auto outer = [&] {
    mix(half_, outer_.data(), outer_.data() + half_, transposed, x, x + half_);
  };
  if (!transposed) outer();
  mix(q, inner_.data(), inner_.data() + q, transposed, x, x + q);
  mix(q, inner_.data() + half_, inner_.data() + half_ + q, transposed, x + half_, x + half_ + q);
  if (transposed) outer();
}

template void Butterfly::apply(bool, float*) const;
template void Butterfly::apply(bool, double*) const;

void Butterfly::apply_right(engine::ThreadPool& pool, MatrixView<double> a) const {
  // A W = (W'A')': what W' does to elements i and k of a vector is done to columns i and k.
  const auto mix_columns = [&](std::int64_t i, std::int64_t k, double r, double s) {
    double* const x = a.column(i);
    double* const y = a.column(k);
    for (std::int64_t e = 0; e < a.rows; ++e) {
      const double sum = x[e] + y[e];
      const double difference = x[e] - y[e];
      x[e] = r * sum;
      y[e] = s * difference;
    }
  };
  const std::int64_t q = half_ / 2;
  pool.for_each(half_, [&](std::int64_t i) {
    const std::int64_t first = i < q ? i : half_ + i - q;
    mix_columns(first, first + q, inner_[static_cast<std::size_t>(first)],
                inner_[static_cast<std::size_t>(first + q)]);
  });
  pool.for_each(half_, [&](std::int64_t i) {
    mix_columns(i, i + half_, outer_[static_cast<std::size_t>(i)],
                outer_[static_cast<std::size_t>(i + half_)]);
  });
}

void transform(engine::ThreadPool& pool, MatrixView<const double> a, const Scale& scale,
               const Butterflies& butterflies, MatrixView<double> out) {
  pool.for_each(a.cols, [&](std::int64_t j) {
    const double* const from = a.column(j);
    double* const to = out.column(j);
    const double col = scale.col[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; i < a.rows; ++i) {
      to[i] = scale.row[static_cast<std::size_t>(i)] * from[i] * col;
    }
    butterflies.u.apply(true, to);
  });
  butterflies.v.apply_right(pool, out);
}

}  // namespace stepwell::factor

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solve/exact_least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

extern "C" void dgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a,
                        const int* lda, double* s, double* u, const int* ldu, double* vt,
                        const int* ldvt, double* work, const int* lwork, int* info, std::size_t,
                        std::size_t);

namespace stepwell::test {
namespace {

/// Newton's iteration from FP64's root, in a range where that has one.
Quad root(Quad x) {
  if (!(x > 0)) return 0;
  Quad scale = 1;
  for (; x > 1e200; x *= 0x1p-400) scale *= 0x1p200;
  for (; x < 1e-200; x *= 0x1p400) scale *= 0x1p-200;
  Quad y = std::sqrt(static_cast<double>(x));
  for (int k = 0; k < 2; ++k) y = (y + x / y) / 2;
  return y * scale;
}

Quad sum_of_products(const Quad* x, const Quad* y, std::int64_t n) {
  Quad sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

Quad norm_of(const std::vector<Quad>& x) {
  return root(sum_of_products(x.data(), x.data(), static_cast<std::int64_t>(x.size())));
}

struct Singular {
  std::vector<double> values;
  Dense<double> left;
};

Singular singular_values(Dense<double> a) {
  const int n = static_cast<int>(a.rows), size = 10 * n + 64;
  Singular s{std::vector<double>(static_cast<std::size_t>(n)), Dense<double>(n, n)};
  std::vector<double> work(static_cast<std::size_t>(size));
  int info = 0;
  dgesvd_("A", "N", &n, &n, a.data.data(), &n, s.values.data(), s.left.data.data(), &n, nullptr, &n,
          work.data(), &size, &info, 1, 1);
  if (info != 0) s.values.assign(s.values.size(), std::numeric_limits<double>::quiet_NaN());
  return s;
}

}  // namespace

ExactLeastSquares::ExactLeastSquares(MatrixView<const double> a, const std::vector<double>& tail)
    : rows_(a.rows),
      m_(a.rows + static_cast<std::int64_t>(tail.size())),
      n_(a.cols),
      scale_(n_),
      a_(m_ * n_),
      diagonal_(n_),
      beta_(n_) {
  for (std::int64_t j = 0; j < n_; ++j) {
    Quad* const x = a_.data() + j * m_;
    for (std::int64_t i = 0; i < rows_; ++i) x[i] = a(i, j);
    if (!tail.empty()) x[rows_ + j] = tail[j];
    const double norm = static_cast<double>(root(sum_of_products(x, x, m_)));
    scale_[j] = norm > 0 ? std::ldexp(1, -std::ilogb(norm)) : 0;
    for (std::int64_t i = 0; i < m_; ++i) x[i] *= scale_[j];
  }
  v_ = a_;
  for (std::int64_t k = 0; k < std::min(m_, n_); ++k) {
    Quad* const v = v_.data() + k * m_;
    const Quad norm = root(sum_of_products(v + k, v + k, m_ - k));
    diagonal_[k] = v[k] > 0 ? -norm : norm;
    v[k] -= diagonal_[k];
    const Quad size = sum_of_products(v + k, v + k, m_ - k);
    beta_[k] = size > 0 ? 2 / size : Quad(0);
    for (std::int64_t j = k + 1; j < n_; ++j) {
      Quad* const x = v_.data() + j * m_;
      const Quad f = beta_[k] * sum_of_products(v + k, x + k, m_ - k);
      for (std::int64_t i = k; i < m_; ++i) x[i] -= f * v[i];
    }
  }
}

Dense<double> ExactLeastSquares::solve(MatrixView<const double> b) const {
  Dense<double> x(n_, b.cols);
  for (std::int64_t c = 0; c < b.cols; ++c) {
    std::vector<Quad> y(m_);
    std::copy_n(b.column(c), rows_, y.begin());
    reflect(y);
    for (std::int64_t k = n_ - 1; k >= 0; --k) {
      y[k] /= diagonal_[k];
      for (std::int64_t i = 0; i < k; ++i) y[i] -= v_[i + k * m_] * y[k];
      x(k, c) = static_cast<double>(y[k] * scale_[k]);
    }
  }
  return x;
}

double ExactLeastSquares::condition() const {
  Dense<double> r(n_, n_);
  for (std::int64_t j = 0; j < n_; ++j) {
    for (std::int64_t i = 0; i < j; ++i) r(i, j) = static_cast<double>(v_[i + j * m_]);
    r(j, j) = static_cast<double>(diagonal_[j]);
  }
  const std::vector<double> s = singular_values(r).values;
  const bool regular = s.back() > static_cast<double>(n_) * 0x1p-53 * s.front();
  return regular ? s.front() / s.back() : std::numeric_limits<double>::infinity();
}

double ExactLeastSquares::norm() const {
  Quad sum = 0;
  for (const Quad& x : a_) sum += x * x;
  return static_cast<double>(root(sum));
}

std::vector<Quad> ExactLeastSquares::residual(const double* b, const double* x) const {
  std::vector<Quad> r(m_);
  std::copy_n(b, rows_, r.begin());
  for (std::int64_t j = 0; j < n_; ++j) {
    if (scale_[j] == 0) continue;
    const Quad y = Quad(x[j]) / scale_[j];
    for (std::int64_t i = 0; i < m_; ++i) r[i] -= a_[i + j * m_] * y;
  }
  return r;
}

double ExactLeastSquares::residual_norm(const double* b, const double* x) const {
  return static_cast<double>(norm_of(residual(b, x)));
}

void ExactLeastSquares::reflect(std::vector<Quad>& y) const {
  for (std::int64_t k = 0; k < std::min(m_, n_); ++k) {
    const Quad* const v = v_.data() + k * m_;
    const Quad f = beta_[k] * sum_of_products(v + k, y.data() + k, m_ - k);
    for (std::int64_t i = k; i < m_; ++i) y[i] -= f * v[i];
  }
}

double ExactLeastSquares::backward_error(const double* b, const double* x,
                                         Measured measured) const {
  const auto finite = [](double e) { return std::isfinite(e); };
  if (!std::all_of(x, x + n_, finite)) return std::numeric_limits<double>::quiet_NaN();
  // R's columns as they are measured, with a Frobenius norm of 1, and x to it.
  std::vector<Quad> factor(n_), y(n_);
  Quad sum = 0;
  for (std::int64_t j = 0; j < n_; ++j) {
    factor[j] = measured == Measured::scaled ? Quad(1) : 1 / Quad(scale_[j] != 0 ? scale_[j] : 1);
    const Quad* const column = a_.data() + j * m_;
    sum += factor[j] * factor[j] * sum_of_products(column, column, m_);
    y[j] = scale_[j] != 0 ? x[j] / scale_[j] / factor[j] : Quad(0);
  }
  const Quad norm = root(sum);
  const std::vector<Quad> r = residual(b, x);
  const Quad of_r = norm_of(r), of_x = norm_of(y);
  if (of_r == 0) return 0;
  Dense<double> scaled(n_, n_);
  for (std::int64_t j = 0; j < n_; ++j) {
    const Quad f = norm > 0 ? factor[j] / norm : Quad(0);
    for (std::int64_t i = 0; i < j; ++i) scaled(i, j) = static_cast<double>(v_[i + j * m_] * f);
    scaled(j, j) = static_cast<double>(diagonal_[j] * f);
  }
  const Singular s = singular_values(scaled);
  if (!std::isfinite(s.values.front())) return std::numeric_limits<double>::quiet_NaN();
  // g = U'r / ||r||, and what of r no column reaches. Q'r errs by 2^-110 of r: g of 2^-54 has all
  // digits that are needed.
  std::vector<Quad> z(r);
  reflect(z);
  std::vector<double> g(n_);
  for (std::int64_t i = 0; i < n_; ++i) {
    for (std::int64_t k = 0; k < n_; ++k) g[i] += s.left(k, i) * static_cast<double>(z[k] / of_r);
  }
  double rest = 0;
  for (std::int64_t i = n_; i < m_; ++i) {
    const auto e = static_cast<double>(z[i] / of_r);
    rest += e * e;
  }
  // x = 0: no change of A adds to A x, and the limit of phi is infinity.
  const double phi = of_x > 0 ? static_cast<double>(of_r / (of_x * norm)) : 1e30;
  // The smallest eigenvalue l of A A' + phi^2 (I - r r^+), below phi^2: the sum of
  // g_i^2 (s_i^2 - l) / (s_i^2 + phi^2 - l) is rest l / (phi^2 - l). One side falls, the other
  // grows.
  const auto too_small = [&](double root_of_l) {
    const double l = root_of_l * root_of_l, p = phi * phi;
    double left = 0;
    for (std::int64_t i = 0; i < n_; ++i) {
      const double q = s.values[i] * s.values[i];
      left += g[i] * g[i] * (q - l) / (q + p - l);
    }
    return left > rest * l / (p - l);
  };
  double low = 0, high = phi;
  for (int k = 0; k < 200 && high - low > 1e-6 * high; ++k) {
    const double middle = low > 0 ? std::sqrt(low * high) : high * 1e-10;
    if (middle < 1e-40) return middle;
    (too_small(middle) ? low : high) = middle;
  }
  return high;
}

double ExactLeastSquares::size(const double* x) const {
  std::vector<Quad> y(n_);
  for (std::int64_t j = 0; j < n_; ++j) y[j] = scale_[j] != 0 ? Quad(x[j]) / scale_[j] : Quad(0);
  return static_cast<double>(norm_of(y));
}

double ExactLeastSquares::difference(const double* x, const double* y) const {
  std::vector<Quad> d(n_);
  for (std::int64_t j = 0; j < n_; ++j) {
    d[j] = scale_[j] != 0 ? (Quad(x[j]) - y[j]) / scale_[j] : Quad(0);
  }
  const double by = static_cast<double>(norm_of(d));
  return by == 0 ? 0 : by / size(y);
}

}  // namespace stepwell::test

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/least_squares/exact_least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

extern "C" void dgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a,
                        const int* lda, double* s, double* u, const int* ldu, double* vt,
                        const int* ldvt, double* work, const int* lwork, int* info, std::size_t,
                        std::size_t);

namespace stepwell::test {
namespace {

/// Newton's iteration from FP64's root, in a range where FP64 has one.
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

/// Squared singular values below this, relative to the largest, count as 0: the backward errors of
/// interest are larger, and smaller values are only rounding errors.
constexpr double kNothing = 0x1p-400;

/// Rotates two columns so that they are orthogonal. False if they already were, or one is
/// negligible.
bool make_orthogonal(Quad* x, Quad* y, std::int64_t n) {
  const Quad of_x = sum_of_products(x, x, n), of_y = sum_of_products(y, y, n);
  const Quad between = sum_of_products(x, y, n);
  if (std::min(of_x, of_y) <= kNothing * std::max(of_x, of_y)) return false;
  if (abs_of(between) <= 0x1p-100 * root(of_x) * root(of_y)) return false;
  const Quad zeta = (of_y - of_x) / (2 * between);
  const Quad t = (zeta < 0 ? -1 : 1) / (abs_of(zeta) + root(1 + zeta * zeta));
  const Quad c = 1 / root(1 + t * t), s = c * t;
  for (std::int64_t i = 0; i < n; ++i) {
    const Quad xi = x[i];
    x[i] = c * xi - s * y[i];
    y[i] = s * xi + c * y[i];
  }
  return true;
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

/// One-sided Jacobi in 113 bits, applied to A V with LAPACK's V: a singular value of 2^-53 of the
/// largest, of which FP64 has no digit, gets 50 bits.
void ExactLeastSquares::find_singular_values(const Dense<Quad>& a, Singular& s) {
  const std::int64_t n = a.rows;
  const int order = static_cast<int>(n), size = 10 * order + 64;
  Dense<double> rounded(n, n), vt(n, n);
  std::transform(a.data.begin(), a.data.end(), rounded.data.begin(),
                 [](Quad x) { return static_cast<double>(x); });
  s.values.resize(static_cast<std::size_t>(n));
  s.left = Dense<Quad>(n, n);
  std::vector<double> work(static_cast<std::size_t>(size)), values(static_cast<std::size_t>(n));
  int info = 0;
  dgesvd_("N", "A", &order, &order, rounded.data.data(), &order, values.data(), nullptr, &order,
          vt.data.data(), &order, work.data(), &size, &info, 1, 1);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t i = 0; i <= k; ++i) s.left(i, j) += a(i, k) * vt(j, k);
    }
  }
  bool turned = true;
  for (int sweep = 0; turned && sweep < 40; ++sweep) {
    turned = false;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        turned |= make_orthogonal(&s.left(0, p), &s.left(0, q), n);
      }
    }
  }
  for (std::int64_t j = 0; j < n; ++j) {
    s.values[j] = root(sum_of_products(&s.left(0, j), &s.left(0, j), n));
  }
  const Quad nothing = root(kNothing) * *std::max_element(s.values.begin(), s.values.end());
  for (std::int64_t j = 0; j < n; ++j) {
    if (s.values[j] <= nothing) s.values[j] = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      s.left(i, j) = s.values[j] > 0 ? s.left(i, j) / s.values[j] : Quad(0);
    }
  }
  // A failure must not look like a result: NaN meets no bound.
  const bool failed = info != 0 || turned;
  if (failed) s.values.assign(s.values.size(), Quad(std::numeric_limits<double>::quiet_NaN()));
}

const ExactLeastSquares::Singular& ExactLeastSquares::singular(Measured measured) const {
  Singular& s = singular_[measured];
  if (!s.values.empty()) return s;
  Quad sum = 0;
  for (std::int64_t j = 0; j < n_; ++j) {
    const double back = scale_[j] != 0 ? scale_[j] : 1;
    s.factor.push_back(measured == Measured::scaled ? Quad(1) : 1 / Quad(back));
    const Quad* const column = a_.data() + j * m_;
    sum += s.factor[j] * s.factor[j] * sum_of_products(column, column, m_);
  }
  s.norm = root(sum);
  Dense<Quad> r(n_, n_);
  for (std::int64_t j = 0; j < n_; ++j) {
    const Quad f = s.norm > 0 ? s.factor[j] / s.norm : Quad(0);
    for (std::int64_t i = 0; i < j; ++i) r(i, j) = v_[i + j * m_] * f;
    r(j, j) = diagonal_[j] * f;
  }
  find_singular_values(r, s);
  return s;
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
  const std::vector<Quad>& s = singular(Measured::scaled).values;
  const auto [least, most] = std::minmax_element(s.begin(), s.end());
  const bool regular = *least > static_cast<double>(n_) * 0x1p-53 * *most;
  return regular ? static_cast<double>(*most / *least) : std::numeric_limits<double>::infinity();
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
  const Singular& s = singular(measured);
  std::vector<Quad> y(n_);
  for (std::int64_t j = 0; j < n_; ++j) {
    y[j] = scale_[j] != 0 ? x[j] / scale_[j] / s.factor[j] : Quad(0);
  }
  const std::vector<Quad> r = residual(b, x);
  const Quad of_r = norm_of(r), of_x = norm_of(y);
  if (of_r == 0) return 0;
  if (!std::isfinite(static_cast<double>(s.values.front())))
    return std::numeric_limits<double>::quiet_NaN();
  // g = U'r / ||r||, and the part orthogonal to U. Q'r has an error of 2^-110 of r: a g of 2^-54
  // has all the digits that are needed.
  std::vector<Quad> z(r);
  reflect(z);
  for (Quad& e : z) e /= of_r;
  std::vector<double> g(n_);
  for (std::int64_t i = 0; i < n_; ++i) {
    const Quad along = sum_of_products(&s.left(0, i), z.data(), n_);
    for (std::int64_t k = 0; k < n_; ++k) z[k] -= along * s.left(k, i);
    g[i] = static_cast<double>(along);
  }
  const double rest = static_cast<double>(sum_of_products(z.data(), z.data(), m_));
  // x = 0: no change of A changes A x, and the limit of phi is infinity. Above 1e30 the result
  // stays the same, but the square of phi would overflow.
  const double phi = of_x > 0 ? std::min(static_cast<double>(of_r / (of_x * s.norm)), 1e30) : 1e30;
  // The smallest eigenvalue l of A A' + phi^2 (I - r r^+), below phi^2: the sum of
  // g_i^2 (s_i^2 - l) / (s_i^2 + phi^2 - l) equals rest l / (phi^2 - l). One side decreases, the
  // other increases.
  const auto too_small = [&](double root_of_l) {
    const double l = root_of_l * root_of_l, p = phi * phi;
    double left = 0;
    for (std::int64_t i = 0; i < n_; ++i) {
      const auto q = static_cast<double>(s.values[i] * s.values[i]);
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

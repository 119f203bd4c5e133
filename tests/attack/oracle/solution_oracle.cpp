// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "attack/oracle/oracle.hpp"

extern "C" {
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);
void dgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* lda,
             const int* ipiv, double* b, const int* ldb, int* info, std::size_t);
void dgecon_(const char* norm, const int* n, const double* a, const int* lda, const double* anorm,
             double* rcond, double* work, int* iwork, int* info, std::size_t);
void dgetri_(const int* n, double* a, const int* lda, const int* ipiv, double* work,
             const int* lwork, int* info);
}

namespace stepwell::attack {
namespace {

constexpr std::int64_t kEliminate = 64;  ///< n^3/3 products of 60 ns: 5 ms
constexpr std::int64_t kInvert = 300;
constexpr double kExact = 1e-22;  ///< far below what any bound may claim for an FP64 x
constexpr int kSteps = 12;

Quad size_of(const std::vector<Quad>& x) {
  Quad largest = 0;
  for (const Quad& e : x) {
    if (e != e) return e;
    largest = std::max(largest, test::abs_of(e));
  }
  return largest;
}

bool finite(Quad x) {
  return x - x == 0;
}

/// x 2^power, also where the result is outside the range of a double.
Quad shifted(Quad x, int power) {
  for (; power > 1000; power -= 1000) x *= 0x1p1000;
  for (; power < -1000; power += 1000) x *= 0x1p-1000;
  return x * std::ldexp(1, power);
}

int power_above(double x) {
  int power = 0;
  std::frexp(x, &power);
  return power;
}

}  // namespace

SolutionOracle::SolutionOracle(const SquareOracle& oracle)
    : oracle_(oracle),
      row_power_(oracle.order()),
      column_power_(oracle.order()),
      factor_(oracle.matrix().data),
      pivots_(oracle.order()) {
  const std::int64_t n = oracle.order();
  const auto element = [&](std::int64_t i, std::int64_t j) -> double& {
    return factor_[static_cast<std::size_t>(i + j * n)];
  };
  if (oracle.transposed()) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) std::swap(element(i, j), element(j, i));
    }
  }
  std::vector<double> largest(n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) largest[i] = std::max(largest[i], std::abs(element(i, j)));
  }
  for (std::int64_t i = 0; i < n; ++i) row_power_[i] = power_above(largest[i]);
  for (std::int64_t j = 0; j < n; ++j) {
    double column = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      element(i, j) = std::ldexp(element(i, j), -row_power_[i]);
      column = std::max(column, std::abs(element(i, j)));
    }
    column_power_[j] = power_above(column);
    for (std::int64_t i = 0; i < n; ++i) {
      element(i, j) = std::ldexp(element(i, j), -column_power_[j]);
    }
  }
  const int order = static_cast<int>(n);
  int info = 0;
  double norm = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::abs(element(i, j));
    norm = std::max(norm, sum);
  }
  dgetrf_(&order, &order, factor_.data(), &order, pivots_.data(), &info);
  if (info != 0) return;
  // The factor of a matrix that is singular in FP64 gives corrections that miss the critical
  // direction and shrink nevertheless.
  constexpr double kRegular = 1e-12;
  std::vector<double> work(4 * n);
  std::vector<int> more(n);
  double reciprocal = 0;
  dgecon_("1", &order, factor_.data(), &order, &norm, &reciprocal, work.data(), more.data(), &info,
          1);
  usable_ = true;
  regular_ = reciprocal > kRegular;
}

std::vector<Quad> SolutionOracle::correction(const std::vector<Quad>& r) const {
  const std::int64_t n = oracle_.order();
  std::vector<Quad> scaled(n);
  for (std::int64_t i = 0; i < n; ++i) scaled[i] = shifted(r[i], -row_power_[i]);
  const Quad size = size_of(scaled);
  std::vector<double> d(n);
  for (std::int64_t i = 0; i < n; ++i) d[i] = static_cast<double>(scaled[i] / size);
  const int order = static_cast<int>(n), one = 1;
  int info = 0;
  dgetrs_("N", &order, &one, factor_.data(), &order, pivots_.data(), d.data(), &order, &info, 1);
  for (std::int64_t j = 0; j < n; ++j) scaled[j] = shifted(size * d[j], -column_power_[j]);
  return scaled;
}

std::optional<std::vector<Quad>> SolutionOracle::refined(const double* b, const double* x) const {
  std::vector<Quad> y(x, x + oracle_.order());
  Quad last = -1;
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<Quad> r = oracle_.residual(b, y);
    if (size_of(r) == 0) return y;
    const std::vector<Quad> d = correction(r);
    const Quad change = size_of(d);
    if (!finite(change) || (last >= 0 && change > last / 4)) return std::nullopt;
    for (std::size_t j = 0; j < y.size(); ++j) y[j] += d[j];
    // The first correction alone does not show that corrections shrink.
    if (last >= 0 && change <= kExact * size_of(y)) return y;
    last = change;
  }
  return std::nullopt;
}

std::optional<std::vector<Quad>> SolutionOracle::eliminated(const double* b, Quad& doubt) const {
  const std::int64_t n = oracle_.order();
  if (n > kEliminate) return std::nullopt;
  Quad largest = 1, smallest = 1;  // intermediate elements, and pivots
  const Matrix& a = oracle_.matrix();
  // Rows of [A b], scaled as in the constructor.
  std::vector<std::vector<Quad>> rows(n, std::vector<Quad>(n + 1));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double element = oracle_.transposed() ? a(j, i) : a(i, j);
      rows[i][j] = shifted(element, -row_power_[i] - column_power_[j]);
    }
    rows[i][n] = shifted(b[i], -row_power_[i]);
  }
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i) {
      if (test::abs_of(rows[i][k]) > test::abs_of(rows[pivot][k])) pivot = i;
    }
    if (!(test::abs_of(rows[pivot][k]) > 0x1p-85)) return std::nullopt;
    std::swap(rows[k], rows[pivot]);
    smallest = std::min(smallest, test::abs_of(rows[k][k]));
    for (std::int64_t j = k; j < n; ++j) largest = std::max(largest, test::abs_of(rows[k][j]));
    for (std::int64_t i = k + 1; i < n; ++i) {
      const Quad factor = rows[i][k] / rows[k][k];
      if (factor == 0) continue;
      for (std::int64_t j = k + 1; j <= n; ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  std::vector<Quad> y(n);
  for (std::int64_t k = n - 1; k >= 0; --k) {
    Quad sum = rows[k][n];
    for (std::int64_t j = k + 1; j < n; ++j) sum -= rows[k][j] * y[j];
    y[k] = sum / rows[k][k];
  }
  // The rounding error of the elimination, amplified by its growth and its smallest pivot.
  const Quad rounding = 64 * static_cast<Quad>(n * n) * 0x1p-113 * largest / smallest * size_of(y);
  doubt = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    y[j] = shifted(y[j], -column_power_[j]);
    doubt = std::max(doubt, shifted(rounding, -column_power_[j]));
  }
  return y;
}

std::optional<double> SolutionOracle::forward_error(const double* b, const double* x) const {
  std::optional<std::vector<Quad>> y;
  if (regular_) y = refined(b, x);
  Quad doubt = 0;
  if (!y) y = eliminated(b, doubt);
  if (!y) return std::nullopt;
  Quad difference = 0, size = 0;
  for (std::size_t j = 0; j < y->size(); ++j) {
    difference = std::max(difference, test::abs_of((*y)[j] - x[j]));
    size = std::max(size, test::abs_of(Quad(x[j])));
  }
  if (!(difference - doubt > kExact * size)) return 0.0;
  return static_cast<double>((difference - doubt) / size);
}

std::optional<double> SolutionOracle::condition() const {
  const std::int64_t n = oracle_.order();
  if (!usable_ || n > kInvert) return std::nullopt;
  std::vector<double> inverse(factor_), work(static_cast<std::size_t>(64 * n));
  const int order = static_cast<int>(n), size = static_cast<int>(work.size());
  int info = 0;
  dgetri_(&order, inverse.data(), &order, pivots_.data(), work.data(), &size, &info);
  long double scaled_norm = 0, norm = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    long double scaled_sum = 0, sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const long double e = std::abs(inverse[static_cast<std::size_t>(i + j * n)]);
      scaled_sum += e;
      sum += std::ldexp(e, -row_power_[j] - column_power_[i]);
    }
    scaled_norm = std::max(scaled_norm, scaled_sum);
    norm = std::max(norm, sum);
  }
  // The scaled matrix has a norm of at most n; beyond this limit its inverse has no correct digits.
  if (info != 0 || !(scaled_norm * static_cast<long double>(n) < 1e13L)) return std::nullopt;
  return static_cast<double>(norm * oracle_.norm());
}

}  // namespace stepwell::attack

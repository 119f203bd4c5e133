// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <mutex>

namespace stepwell::test {
namespace {

std::mutex mutex;
Xerbla last;

}  // namespace

bool Matrix::padding_is_intact() const {
  for (int j = 0; j < cols; ++j) {
    for (int i = rows; i < ld; ++i) {
      if ((*this)(i, j) != kPadding) return false;
    }
  }
  return true;
}

Matrix random_matrix(int m, int n, unsigned seed, int padding) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  Matrix a(m, n, padding);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) a(i, j) = normal(engine);
  }
  return a;
}

Matrix random_spd(int n, unsigned seed, int padding) {
  const Matrix g = random_matrix(n, n, seed);
  Matrix a(n, n, padding);
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      // ||(G + G') / 2|| is about sqrt(2 n).
      a(i, j) = a(j, i) = (g(i, j) + g(j, i)) / 2 + (i == j ? 2 * std::sqrt(2.0 * n) + 1 : 0);
    }
  }
  return a;
}

Matrix transposed(const Matrix& a) {
  Matrix t(a.cols, a.rows);
  for (int j = 0; j < a.cols; ++j) {
    for (int i = 0; i < a.rows; ++i) t(j, i) = a(i, j);
  }
  return t;
}

double backward_error(const Matrix& a, const Matrix& x, const Matrix& b) {
  double norm = 0;
  for (int i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (int j = 0; j < a.cols; ++j) sum += std::abs(a(i, j));
    norm = std::max(norm, sum);
  }
  double worst = 0;
  for (int c = 0; c < b.cols; ++c) {
    double residual = 0, x_norm = 0, b_norm = 0;
    for (int i = 0; i < a.rows; ++i) {
      long double r = b(i, c);
      for (int j = 0; j < a.cols; ++j) r -= static_cast<long double>(a(i, j)) * x(j, c);
      if (!(std::abs(static_cast<double>(r)) <= residual)) residual = static_cast<double>(fabsl(r));
      b_norm = std::max(b_norm, std::abs(b(i, c)));
    }
    for (int j = 0; j < a.cols; ++j) x_norm = std::max(x_norm, std::abs(x(j, c)));
    const double error = residual / (norm * x_norm + b_norm);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

double allowed(int n) {
  return 4 * std::max(1.0, std::sqrt(n)) * 0x1p-53;
}

bool all_nan(const Matrix& a) {
  const auto first = std::bit_cast<std::uint64_t>(a(0, 0));
  for (int j = 0; j < a.cols; ++j) {
    for (int i = 0; i < a.rows; ++i) {
      if (!std::isnan(a(i, j)) || std::bit_cast<std::uint64_t>(a(i, j)) != first) return false;
    }
  }
  return true;
}

bool same_bits(const Matrix& a, const Matrix& b) {
  return std::equal(a.data.begin(), a.data.end(), b.data.begin(), b.data.end(),
                    [](double x, double y) {
                      return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
                    });
}

double norm_one(const Matrix& a) {
  double norm = 0;
  for (int j = 0; j < a.cols; ++j) {
    double sum = 0;
    for (int i = 0; i < a.rows; ++i) sum += std::abs(a(i, j));
    norm = std::max(norm, sum);
  }
  return norm;
}

void* real_symbol(const char* name) {
  static void* const library = dlopen(STEPWELL_REAL_LAPACK, RTLD_LAZY | RTLD_LOCAL);
  void* const found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr) {
    ADD_FAILURE() << name << " is not in " << STEPWELL_REAL_LAPACK;
    std::abort();
  }
  return found;
}

Xerbla take_xerbla() {
  const std::lock_guard lock(mutex);
  return std::exchange(last, Xerbla{});
}

void require_setting(const char* name, const char* value) {
  const char* const found = std::getenv(name);
  ASSERT_STREQ(found != nullptr ? found : "", value) << "run it by ctest, which sets " << name;
}

}  // namespace stepwell::test

extern "C" __attribute__((visibility("default"))) void xerbla_(const char* name, const int* info,
                                                               std::size_t length) {
  using namespace stepwell::test;
  const std::lock_guard lock(mutex);
  last.name.assign(name, length);
  while (!last.name.empty() && (last.name.back() == ' ' || last.name.back() == '\0')) {
    last.name.pop_back();
  }
  last.info = *info;
  ++last.calls;
}

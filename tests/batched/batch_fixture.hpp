// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "stepwell/batch.hpp"

/// Batches in every layout, with gaps that must stay unchanged, and LAPACK for comparison.
namespace stepwell::test {

template <class T>
inline constexpr double kRoundoff = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
template <class T>
inline constexpr Format kFormat = sizeof(T) == 4 ? Format::fp32 : Format::fp64;
/// The precision of the reference: a 64-bit significand to check fp64.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;

enum class Layout { gaps, pointers, lanes, odd_lanes };
inline constexpr Layout kLayouts[] = {Layout::gaps, Layout::pointers, Layout::lanes,
                                      Layout::odd_lanes};

/// Plain column-major matrices without gaps, with which the test computes.
template <class T>
struct Plain {
  Plain(std::int64_t count_, std::int64_t rows_, std::int64_t cols_)
      : count(count_), rows(rows_), cols(cols_), data(at(count_)) {}
  T* operator[](std::int64_t m) { return data.data() + at(m); }
  const T* operator[](std::int64_t m) const { return data.data() + at(m); }
  std::size_t at(std::int64_t m) const { return static_cast<std::size_t>(m * rows * cols); }
  BatchView<T> view() { return batch(data.data(), count, rows, cols); }
  BatchView<const T> view() const { return batch(data.data(), count, rows, cols); }

  std::int64_t count, rows, cols;
  std::vector<T> data;
};

/// The same matrices in a layout of the library, with gaps filled with NaN.
template <class T>
class Stored {
 public:
  Stored(Layout layout, const Plain<T>& from)
      : count_(from.count),
        rows_(from.rows),
        cols_(from.cols),
        ld_(from.rows + 2),
        reversed_(layout == Layout::pointers) {
    if (layout == Layout::lanes) lanes_ = batch_lanes(kFormat<T>);
    if (layout == Layout::odd_lanes) lanes_ = 3;
    stride_ = ld_ * cols_ + 5;
    const std::int64_t group = std::max<std::int64_t>(1, lanes_);
    const std::int64_t groups = (count_ + group - 1) / group;
    memory_.assign(static_cast<std::size_t>(groups * group * stride_),
                   std::numeric_limits<T>::quiet_NaN());
    for (std::int64_t m = 0; reversed_ && m < count_; ++m) {
      pointers_.push_back(&memory_[place(m, 0, 0)]);
    }
    for (std::int64_t m = 0; m < count_; ++m) {
      for (std::int64_t j = 0; j < cols_; ++j) {
        for (std::int64_t i = 0; i < rows_; ++i) (*this)(m, i, j) = from[m][i + j * rows_];
      }
    }
  }
  Stored(const Stored&) = delete;
  Stored& operator=(const Stored&) = delete;

  T& operator()(std::int64_t m, std::int64_t i, std::int64_t j) { return memory_[place(m, i, j)]; }

  BatchView<T> view() {
    if (reversed_) return batch(pointers_.data(), count_, rows_, cols_, ld_);
    return {memory_.data(), nullptr, count_, rows_, cols_, ld_, stride_, lanes_};
  }

  Plain<T> plain() {
    Plain<T> out(count_, rows_, cols_);
    for (std::int64_t m = 0; m < count_; ++m) {
      for (std::int64_t j = 0; j < cols_; ++j) {
        for (std::int64_t i = 0; i < rows_; ++i) out[m][i + j * rows_] = (*this)(m, i, j);
      }
    }
    return out;
  }

  const std::vector<T>& memory() const { return memory_; }

  /// Whether only elements with may_change(m, i, j) differ from 'before'.
  template <class F>
  ::testing::AssertionResult unchanged(const std::vector<T>& before, const F& may_change) {
    std::vector<T> now = memory_;
    for (std::int64_t m = 0; m < count_; ++m) {
      for (std::int64_t j = 0; j < cols_; ++j) {
        for (std::int64_t i = 0; i < rows_; ++i) {
          if (may_change(m, i, j)) now[place(m, i, j)] = before[place(m, i, j)];
        }
      }
    }
    for (std::size_t p = 0; p < now.size(); ++p) {
      if (std::memcmp(&now[p], &before[p], sizeof(T)) != 0) {
        return ::testing::AssertionFailure() << "element " << p << " of the memory was written";
      }
    }
    return ::testing::AssertionSuccess();
  }

 private:
  /// The index of an element, as batch.hpp defines it; pointers are stored from the last matrix to
  /// the first.
  std::size_t place(std::int64_t m, std::int64_t i, std::int64_t j) const {
    const std::int64_t within = i + j * ld_;
    if (lanes_ > 0) {
      return static_cast<std::size_t>(((m / lanes_) * stride_ + within) * lanes_ + m % lanes_);
    }
    return static_cast<std::size_t>((reversed_ ? count_ - 1 - m : m) * stride_ + within);
  }

  std::int64_t count_, rows_, cols_, ld_, stride_ = 0, lanes_ = 0;
  bool reversed_;
  std::vector<T> memory_;
  std::vector<T*> pointers_;
};

/// Symmetric matrices with a condition number of about ten, graded by factors of up to 16.
template <class T>
Plain<T> definite(std::int64_t count, std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const double small = 0.7 / std::sqrt(static_cast<double>(n));
  Plain<T> a(count, n, n);
  std::vector<double> scale(static_cast<std::size_t>(n));
  for (std::int64_t m = 0; m < count; ++m) {
    for (double& s : scale) s = std::exp2(2 * uniform(random));
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j; i < n; ++i) {
        const double x = i == j ? 1.5 + 0.2 * uniform(random) : small * uniform(random);
        const auto scaled = static_cast<T>(x * scale[static_cast<std::size_t>(i)] *
                                           scale[static_cast<std::size_t>(j)]);
        a[m][i + j * n] = a[m][j + i * n] = scaled;
      }
    }
  }
  return a;
}

template <class T>
Plain<T> right_hand_sides(std::int64_t count, std::int64_t n, std::int64_t columns,
                          std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<T> normal;
  Plain<T> b(count, n, columns);
  for (T& x : b.data) x = normal(random);
  return b;
}

inline bool inside(Triangle triangle, std::int64_t i, std::int64_t j) {
  return triangle == Triangle::lower ? i >= j : i <= j;
}

/// Sets the other triangle to NaN: it must not be read.
template <class T>
Plain<T> only(Triangle triangle, Plain<T> a) {
  for (std::int64_t m = 0; m < a.count; ++m) {
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t i = 0; i < a.rows; ++i) {
        if (!inside(triangle, i, j)) {
          a[m][i + j * a.rows] = std::numeric_limits<T>::quiet_NaN();
        }
      }
    }
  }
  return a;
}

/// An element of L of matrix m, stored in either triangle.
template <class T>
T factor_element(const Plain<T>& f, Triangle triangle, std::int64_t m, std::int64_t i,
                 std::int64_t j) {
  return f[m][triangle == Triangle::lower ? i + j * f.rows : j + i * f.rows];
}

template <class T>
bool same_bits(const T* a, const T* b, std::int64_t count) {
  return std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(T)) == 0;
}

/// LAPACK's recursive factorization of the lower triangle, which detects NaN. Returns the failing
/// pivot, counted from 0, or -1.
std::int32_t lapack_factor(double* a, std::int64_t n);
std::int32_t lapack_factor(float* a, std::int64_t n);

/// |A - L L'| <= (n + 4) u |L| |L|' for each element of the lower triangle: n + 1 from Cholesky
/// (Higham, Theorem 10.3), the rest from the reciprocals of the pivots.
template <class T>
::testing::AssertionResult is_factor(const Plain<T>& a, const Plain<T>& f, Triangle triangle,
                                     std::int64_t m) {
  const std::int64_t n = a.rows;
  std::vector<Wide<T>> l(static_cast<std::size_t>(n * n));  // by rows
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      l[static_cast<std::size_t>(i * n + j)] = factor_element(f, triangle, m, i, j);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      const Wide<T>* const x = &l[static_cast<std::size_t>(i * n)];
      const Wide<T>* const y = &l[static_cast<std::size_t>(j * n)];
      Wide<T> off = a[m][i + j * n], size = 0;
      for (std::int64_t k = 0; k <= j; ++k) {
        off -= x[k] * y[k];
        size += std::abs(x[k] * y[k]);
      }
      if (!(std::abs(off) <=
            static_cast<Wide<T>>(static_cast<double>(n + 4) * kRoundoff<T>) * size)) {
        return ::testing::AssertionFailure() << "matrix " << m << ", (" << i << ", " << j
                                             << "): A - LL' = " << static_cast<double>(off)
                                             << ", |L||L'| = " << static_cast<double>(size);
      }
    }
  }
  return ::testing::AssertionSuccess();
}

/// |b - A x| <= (3n + 8) u |L| |L|' |x| (Higham, Theorem 10.4, plus the reciprocals).
template <class T>
::testing::AssertionResult is_solution(const Plain<T>& a, const Plain<T>& f, Triangle triangle,
                                       const Plain<T>& b, const Plain<T>& x, std::int64_t m) {
  const std::int64_t n = a.rows;
  for (std::int64_t c = 0; c < b.cols; ++c) {
    const T* const answer = x[m] + c * n;
    std::vector<Wide<T>> sizes(static_cast<std::size_t>(n));  // |L|' |x|
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t k = 0; k <= i; ++k) {
        sizes[static_cast<std::size_t>(k)] +=
            std::abs(static_cast<Wide<T>>(factor_element(f, triangle, m, i, k)) * answer[i]);
      }
    }
    for (std::int64_t i = 0; i < n; ++i) {
      Wide<T> off = b[m][i + c * n], size = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        off -= static_cast<Wide<T>>(a[m][i + j * n]) * answer[j];
      }
      for (std::int64_t k = 0; k <= i; ++k) {
        size += std::abs(static_cast<Wide<T>>(factor_element(f, triangle, m, i, k))) *
                sizes[static_cast<std::size_t>(k)];
      }
      if (!(std::abs(off) <=
            static_cast<Wide<T>>(static_cast<double>(3 * n + 8) * kRoundoff<T>) * size)) {
        return ::testing::AssertionFailure()
               << "system " << m << ", row " << i << ": b - Ax = " << static_cast<double>(off)
               << ", |L||L'||x| = " << static_cast<double>(size);
      }
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace stepwell::test

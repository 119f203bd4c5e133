// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "core/buffer.hpp"
#include "core/numeric/split.hpp"
#include "kernels/kernels.hpp"
#include "sanitized.hpp"

/// Code shared by the kernel tests: one run per instruction set, seeded data, operands packed
/// without the pack kernels, exact products, and checks that are element-wise, two-sided and fail
/// on NaN.
namespace stepwell::kernels::test {

using stepwell::test::kSanitized;

inline constexpr double kU32 = 0x1p-24;
inline constexpr double kU64 = 0x1p-53;
template <class T>
inline constexpr double kRoundoff = sizeof(T) == 4 ? kU32 : kU64;

// ---- one run per instruction set

std::string isa_name(const ::testing::TestParamInfo<core::Isa>& info);
std::string isa_rung_name(const ::testing::TestParamInfo<std::tuple<core::Isa, Rung>>& info);

inline auto every_isa() {
  return ::testing::ValuesIn(core::all_isas);
}
inline auto every_isa_and_packed_rung() {
  return ::testing::Combine(every_isa(),
                            ::testing::Values(Rung::bf16, Rung::bf16x2, Rung::bf16x3, Rung::fp16));
}

const Table& reference_table();

/// Runs a test with the kernels of one instruction set, or skips it with the reason.
class PerIsa : public ::testing::TestWithParam<core::Isa> {
 protected:
  void SetUp() override;
  Table table_;
};

class PerIsaAndRung : public ::testing::TestWithParam<std::tuple<core::Isa, Rung>> {
 protected:
  void SetUp() override;
  core::Isa isa() const { return std::get<0>(GetParam()); }
  Rung rung() const { return std::get<1>(GetParam()); }
  Table table_;
};

// ---- sizes

struct Sizes {
  std::int64_t m, n, k;
};

/// 1..70 in every dimension (71 is a prime: multiplication permutes them), then the neighbours of
/// 128 and 512, each in every dimension; for plain loops only one large dimension at a time. Under
/// the sanitizers only a third of the small ones.
std::vector<Sizes> contract_sizes(bool plain_loops);
/// Pairs of sizes for the two dimensions of a matrix.
std::vector<std::pair<std::int64_t, std::int64_t>> contract_pairs();

// ---- data

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double gaussian() { return normal_(engine_); }
  /// Gaussian times exp(Gaussian): about five decades.
  double wide() {
    const double x = gaussian();
    return x * std::exp(gaussian());
  }
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  std::uint64_t bits() { return engine_(); }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
};

/// A plain column-major matrix for the arithmetic of the tests.
template <class T>
struct Dense {
  std::int64_t rows = 0, cols = 0;
  std::vector<T> data;

  Dense() = default;
  Dense(std::int64_t m, std::int64_t n) : rows(m), cols(n), data(m * n) {}
  template <class F>
  static Dense generate(std::int64_t m, std::int64_t n, F&& f) {
    Dense d(m, n);
    for (T& x : d.data) x = static_cast<T>(f());
    return d;
  }
  T& operator()(std::int64_t i, std::int64_t j) { return data[i + j * rows]; }
  const T& operator()(std::int64_t i, std::int64_t j) const { return data[i + j * rows]; }
  MatrixView<T> view() { return stepwell::view(data.data(), rows, cols); }
  MatrixView<const T> view() const { return stepwell::view(data.data(), rows, cols); }
};

inline Dense<double> gaussian(std::int64_t m, std::int64_t n, Random& random) {
  return Dense<double>::generate(m, n, [&] { return random.gaussian(); });
}

/// Marks memory that must not be written: finite, unlikely, and changed by subtracting any nonzero.
template <class T>
inline constexpr T kSentinel = static_cast<T>(-1234.567);

/// A matrix inside a larger array: columns are padded by ld_pad elements, the first element is
/// 'offset' elements past a 64-byte boundary, and everything outside the matrix is a sentinel.
template <class T>
class Guarded {
 public:
  Guarded(std::int64_t m, std::int64_t n, std::int64_t ld_pad = 0, std::int64_t offset = 0,
          T outside = kSentinel<T>)
      : outside_(outside), memory_(2 * kZone + offset + (m + ld_pad) * n) {
    std::fill(memory_.begin(), memory_.end(), outside);
    view_ = {memory_.data() + kZone + offset, m, n, std::max<std::int64_t>(m + ld_pad, 1)};
  }

  MatrixView<T> view() const { return view_; }
  T& operator()(std::int64_t i, std::int64_t j) const { return view_(i, j); }

  template <class F>
  void fill(F&& f, Shape shape = Shape::full) const {
    for (std::int64_t j = 0; j < view_.cols; ++j) {
      for (std::int64_t i = shape == Shape::lower ? j : 0; i < view_.rows; ++i) {
        view_(i, j) = static_cast<T>(f(i, j));
      }
    }
  }

  /// Whether every element outside the matrix (for lower also above the diagonal) is unchanged.
  ::testing::AssertionResult untouched_outside(Shape shape = Shape::full) const {
    const std::int64_t first = view_.data - memory_.data();
    for (std::int64_t p = 0; p < memory_.size(); ++p) {
      const std::int64_t i = (p - first) % view_.ld;
      const std::int64_t j = (p - first) / view_.ld;
      const bool inside =
          p >= first && i < view_.rows && j < view_.cols && (shape == Shape::full || i >= j);
      if (!inside && std::memcmp(&memory_[p], &outside_, sizeof(T)) != 0) {
        return ::testing::AssertionFailure()
               << "wrote " << memory_[p] << " outside, at (" << i << ", " << j << ")";
      }
    }
    return ::testing::AssertionSuccess();
  }

 private:
  static constexpr std::int64_t kZone = 64;
  T outside_;
  core::Buffer<T> memory_;
  MatrixView<T> view_;
};

template <class T>
Dense<double> copy(MatrixView<T> a, Shape shape = Shape::full) {
  Dense<double> d(a.rows, a.cols);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = shape == Shape::lower ? j : 0; i < a.rows; ++i) d(i, j) = a(i, j);
  }
  return d;
}

/// Fills a lower triangle whose condition number stays below about ten at every order.
template <class T>
void fill_triangle(const Guarded<T>& l, Random& random) {
  const double small = 0.5 / std::sqrt(static_cast<double>(l.view().rows));
  l.fill(
      [&](auto i, auto j) {
        const double x = random.gaussian();
        return i == j ? 1 + std::min(1.0, std::abs(x)) : small * x;
      },
      Shape::lower);
}

/// Memory that ends at an unmapped page: a read or write past the end crashes.
class PageEnd {
 public:
  explicit PageEnd(std::int64_t bytes);
  PageEnd(const PageEnd&) = delete;
  PageEnd& operator=(const PageEnd&) = delete;
  ~PageEnd();
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  void* map_;
  std::int64_t map_bytes_;
  std::byte* data_;
};

/// Scratch memory of exactly 'bytes', initialized with garbage, with red zones around it.
class Scratch {
 public:
  explicit Scratch(std::int64_t bytes);
  std::byte* data() const { return memory_.data() + kZone; }
  ::testing::AssertionResult zones_untouched() const;

 private:
  static constexpr std::int64_t kZone = 4096;
  std::int64_t bytes_;
  core::Buffer<std::byte> memory_;
};

// ---- packed operands

/// An operand packed by the test itself, and the values that its terms represent.
struct Operand {
  core::Buffer<std::uint16_t> memory;
  PackedOut packed;
  Dense<double> value;
};

Operand make_operand(const Dense<double>& x, Rung rung, Order order);

// ---- exact products

/// A B' and |A| |B|' in fp64.
struct Product {
  Dense<double> value;
  Dense<double> magnitude;
};
Product exact_product(const Dense<double>& a, const Dense<double>& b);

/// The inverse of a lower triangle, computed in long double.
Dense<double> inverse_of(const Dense<double>& l);
Dense<double> transposed(const Dense<double>& a);

/// Error of 'terms' fp32 additions in any order, relative to the sum of magnitudes: (terms) u in
/// the worst case; for long sums 6 sqrt(terms) u, which holds with probability 1 - 3e-8 for each
/// element (Higham & Mary 2019, Theorem 3.1 with lambda = 6) and still detects a lost term.
inline double summation_error(std::int64_t terms) {
  const double t = static_cast<double>(terms);
  return std::min(t, 6 * std::sqrt(t)) * kU32;
}

/// Error of an update at 'rung' with depth k, relative to |C| + |A| |B|': the dropped products, the
/// additions of the other ones, and the last subtraction.
inline double update_error(Rung rung, std::int64_t k) {
  return info(rung).product_error + summation_error(k * info(rung).products + 2);
}

// ---- checks

/// |got - expected| <= bound everywhere in the shape, both given as functions of (i, j); any NaN
/// fails.
template <class T, class Expected, class Bound>
::testing::AssertionResult within(MatrixView<T> got, const Expected& expected, const Bound& bound,
                                  Shape shape = Shape::full) {
  for (std::int64_t j = 0; j < got.cols; ++j) {
    for (std::int64_t i = shape == Shape::lower ? j : 0; i < got.rows; ++i) {
      const double difference = std::abs(static_cast<double>(got(i, j)) - expected(i, j));
      if (!(difference <= bound(i, j))) {
        return ::testing::AssertionFailure()
               << "(" << i << ", " << j << "): " << got(i, j) << " instead of " << expected(i, j)
               << ", off by " << difference << ", allowed " << bound(i, j);
      }
    }
  }
  return ::testing::AssertionSuccess();
}

/// Whether the bits are the same everywhere in the shape.
template <class T, class U>
::testing::AssertionResult same_bits(MatrixView<T> got, MatrixView<U> expected,
                                     Shape shape = Shape::full) {
  static_assert(sizeof(T) == sizeof(U));
  for (std::int64_t j = 0; j < got.cols; ++j) {
    for (std::int64_t i = shape == Shape::lower ? j : 0; i < got.rows; ++i) {
      if (std::memcmp(&got(i, j), &expected(i, j), sizeof(T)) != 0) {
        return ::testing::AssertionFailure()
               << "(" << i << ", " << j << "): " << got(i, j) << " instead of " << expected(i, j);
      }
    }
  }
  return ::testing::AssertionSuccess();
}

/// ||got - expected||_F / ||expected||_F.
template <class T>
double relative_frobenius(MatrixView<T> got, const Dense<double>& expected) {
  double error = 0, norm = 0;
  for (std::int64_t j = 0; j < got.cols; ++j) {
    for (std::int64_t i = 0; i < got.rows; ++i) {
      const double difference = static_cast<double>(got(i, j)) - expected(i, j);
      error += difference * difference;
      norm += expected(i, j) * expected(i, j);
    }
  }
  return std::sqrt(error / norm);
}

}  // namespace stepwell::kernels::test

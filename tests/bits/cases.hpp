// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/numeric/checksum.hpp"
#include "stepwell/certificate.hpp"
#include "stepwell/context.hpp"

/// The systems of the bit manifest. Their elements are made from integers with IEEE operations, so
/// they are the same on every machine.
namespace stepwell::bits {

/// A checksum of results. It includes sizes and signs of zero, and treats all NaNs as equal.
class Digest {
 public:
  void add(double value);
  void add(float value) { add(static_cast<double>(value)); }
  void add(std::int64_t value);
  void add(const std::string& text);
  /// All numerical results, but no times, memory sizes or messages.
  void add(const FactorReport& report);
  void add(const Certificate& certificate);
  template <class T>
  void add(const std::vector<T>& values) {
    add(static_cast<std::int64_t>(values.size()));
    for (const T& value : values) add(value);
  }
  std::uint64_t value() const { return sum_.value(); }

 private:
  core::Checksum sum_;
};

/// Column-major, without gaps.
struct Matrix {
  Matrix(std::int64_t m, std::int64_t n)
      : rows(m), cols(n), data(static_cast<std::size_t>(m * n)) {}
  double& operator()(std::int64_t i, std::int64_t j) {
    return data[static_cast<std::size_t>(i + j * rows)];
  }
  MatrixView<const double> view() const { return stepwell::view(data.data(), rows, cols); }
  MatrixView<double> view() { return stepwell::view(data.data(), rows, cols); }

  std::int64_t rows, cols;
  std::vector<double> data;
};

/// Elements in [-1, 1).
Matrix noise(std::int64_t m, std::int64_t n, std::uint64_t seed);
/// min(i, j), from 1: the covariance of a random walk. Its condition number is about n^2 / 0.6.
Matrix random_walk(std::int64_t n);
/// Noise with its rows multiplied by powers of two and a diagonal of 3: partial pivoting exchanges
/// rows.
Matrix mixed(std::int64_t n);

struct Case {
  std::string name;
  std::function<void(Context& context, Digest& digest)> run;
};

void add_spd_cases(std::vector<Case>& cases);
void add_general_cases(std::vector<Case>& cases);
void add_factor_cases(std::vector<Case>& cases);
void add_least_squares_cases(std::vector<Case>& cases);
void add_batch_cases(std::vector<Case>& cases);

}  // namespace stepwell::bits

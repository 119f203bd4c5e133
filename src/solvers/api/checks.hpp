// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "stepwell/lstsq.hpp"
#include "stepwell/solve.hpp"

namespace stepwell::solvers {

/// Whether two arrays have memory in common.
bool overlap(MatrixView<const double> x, MatrixView<const double> y);

/// Checks the arguments of an entry point. On misuse all checks throw Error(invalid_argument) with
/// a message that begins with the name of the entry point.
class Checks {
 public:
  explicit Checks(const char* entry) : entry_(entry) {}

  void matrix(MatrixView<const double> a, const SolveOptions& options) const;
  /// All arguments of a system whose A, of order n, is given in tiles.
  void distributed(std::int64_t n, const SolveOptions& options, MatrixView<const double> b,
                   MatrixView<double> x) const;
  void vectors(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> x) const;
  /// Options that a general matrix can't have.
  void general(const SolveOptions& options) const;
  /// Least squares: sizes and options here, arrays in tall().
  void least_squares(std::int64_t m, std::int64_t n, const LeastSquaresOptions& options) const;
  void tall(const TallMatrix& a, MatrixView<const double> b, MatrixView<double> x) const;
  /// The structure of a square system.
  void square(Structure structure) const;
  void map(const std::optional<PrecisionMap>& map) const;
  void plan(std::int64_t n, std::int64_t columns) const;

 private:
  /// Shapes of B and X for an m x n matrix A. 'why': ends the message about the shape of X.
  void shapes(std::int64_t m, std::int64_t n, MatrixView<const double> b, MatrixView<double> x,
              const char* why) const;
  void option_values(const SolveOptions& options) const;
  void refiner(const RefineOptions& options) const;
  [[noreturn]] void misuse(const std::string& text) const;

  const char* entry_;
};

}  // namespace stepwell::solvers

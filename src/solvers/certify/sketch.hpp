// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/buffer.hpp"
#include "engine/threads/thread_pool.hpp"
#include "refine/operators/checksums.hpp"
#include "solvers/analysis/scaled.hpp"
#include "stepwell/view.hpp"

/// Bounds on the residuals of many columns without a product with A for each of them. With a random
/// n x s matrix W, W'r = W'b - (A'W)'x: A is multiplied by s columns once, and each column of X
/// costs 2 n s flop instead of 2 n^2.
///
/// The elements of W are independent and uniform. By Ball's theorem on sections of the cube, the
/// density of w'r / (sigma ||r||) is then at most sqrt(2) / sqrt(12), whatever r is, and Chernoff's
/// bound gives, for s = 32 and n <= 2^16,
///     P(||r|| > 6.25 ||W'r|| / (sigma sqrt(s))) < (1.69 (1 / 6.25 + 0.014))^s < 1e-17,
/// where 0.014 allows for elements of W that are integers of 15 bits.
/// W is drawn from a hash of X, so that the bits are always the same, and nobody can choose A and B
/// for a W that is known before X is.
///
/// A and the columns are first multiplied by powers of two, so that their largest elements are near
/// 1. All sums that matter are exact: operands are split into parts of so few bits that their
/// products and sums are integers below 2^53 times a power of two (Ozaki et al.).
namespace stepwell::solvers {

/// A as it is stored.
struct SketchedMatrix {
  MatrixView<const double> a;
  bool symmetric = false;   ///< only the lower triangle is read
  bool transposed = false;  ///< the system is A'X = B
  double max_abs = 0;       ///< largest element of A
};

class Sketch {
 public:
  static constexpr std::int64_t kProbes = 32;
  static constexpr double kSlack = 6.25;
  static constexpr std::int64_t kLargest = 1 << 16;  ///< the largest order for which this holds

  /// Draws W and computes A'W. The BLAS must be set to one thread. Adds what was read of A to the
  /// checksums. Cost: 6 n^2 s flop. Memory: 4 n s elements.
  Sketch(engine::ThreadPool& pool, const SketchedMatrix& a, std::uint64_t seed,
         refine::Checksums& checksums);

  /// The sizes of a column's b and x, and in place of that of r an upper bound on ||b - A x||_2,
  /// all times 2^-exponent.
  struct Bound {
    Sizes sizes;
    int exponent = 0;
  };
  /// For each column a bound that holds with the probability above; NaN if the column is not
  /// finite. May be called by several threads at once. Cost: 18 n s flop a column.
  void bound(MatrixView<const double> b, MatrixView<const double> x, Bound* bounds) const;

 private:
  std::int64_t n_;
  int exponent_ = 0;           ///< A was multiplied by 2^-exponent
  double vmax_ = 0;            ///< largest element of A'W
  double v_error_ = 0;         ///< bound on the rounding error of such an element
  core::Buffer<double> w_;     ///< W', kProbes x n
  core::Buffer<double> v_[3];  ///< -W'A in three parts, kProbes x n each
};

}  // namespace stepwell::solvers

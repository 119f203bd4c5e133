// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/thread_pool.hpp"
#include "stepwell/view.hpp"

/// Orthogonal matrices that mix all coordinates and cost n log n to apply.
namespace stepwell::gallery {

/// A random orthogonal Q of order n: three rounds of a random permutation, random signs and a
/// Walsh-Hadamard transform, then signs again. Two rounds are not enough: the elements are
/// multiples of 2/n, some are zero, and conjugate gradients don't see those eigenvectors. Without
/// the last signs a vector of ones, which the transform takes to a unit vector, would have two
/// rounds only.
///
/// The transform needs a power of two. Of any other n the first p elements are transformed, p the
/// largest power of two that fits, and then, with new signs, the last p; the permutation of the
/// next round deals the two halves out to each other.
class Basis {
 public:
  /// A basis of its own for each seed and part.
  Basis(std::int64_t n, std::uint64_t seed, std::uint64_t part);

  std::int64_t order() const { return n_; }

  /// Vectors side by side, as many as make a cache line: element i of vector k at [8 i + k].
  static constexpr std::int64_t kLanes = 8;

  /// Q x for kLanes vectors x. Both arrays hold 8 n numbers and are overwritten; the result is in
  /// the one that is returned.
  double* apply(double* x, double* scratch) const noexcept;
  /// Q' x.
  double* apply_transposed(double* x, double* scratch) const noexcept;

 private:
  struct Round {
    std::vector<std::int64_t> from;   ///< element i comes from from[i]
    std::vector<double> first_signs;  ///< of the first p, over sqrt(p)
    std::vector<double> last_signs;   ///< of the last p, over sqrt(p); none if p is n
  };
  std::int64_t n_;
  std::int64_t p_;
  std::array<Round, 3> rounds_;
  std::vector<double> signs_;  ///< of n, after the rounds
};

/// A <- Q diag(d), or as many of its first columns as A has. The same bits for any pool.
void set_scaled_basis(MatrixView<double> a, const Basis& q, std::span<const double> d,
                      engine::ThreadPool& pool);

enum class Part : unsigned char { lower, all };

/// A <- A Q', or only its lower triangle; the rest is then undefined. A may have any number of
/// rows. The same bits for any pool.
void multiply_transposed(MatrixView<double> a, const Basis& q, Part part, engine::ThreadPool& pool);

}  // namespace stepwell::gallery

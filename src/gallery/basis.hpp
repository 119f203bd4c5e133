// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/threads/thread_pool.hpp"
#include "stepwell/view.hpp"

/// Random orthogonal matrices that mix all coordinates and cost n log n to apply.
namespace stepwell::gallery {

/// A random orthogonal Q of order n: three rounds of a random permutation, random signs and a
/// Walsh-Hadamard transform, then signs again. Two rounds are not enough: the elements of Q would
/// be multiples of 2/n, some of them zero, and conjugate gradients would not see those
/// eigenvectors. Without the last signs, a vector of ones, which the transform maps to a unit
/// vector, would go through only two rounds.
///
/// The transform needs a power of two. For any other n, the first p elements are transformed, where
/// p is the largest power of two below n, and then, with new signs, the last p elements; the
/// permutation of the next round mixes the two parts.
class Basis {
 public:
  /// Each seed and part gives a different basis.
  Basis(std::int64_t n, std::uint64_t seed, std::uint64_t part);

  std::int64_t order() const { return n_; }

  /// Number of vectors that are interleaved, one cache line: element i of vector k is at [8 i + k].
  static constexpr std::int64_t kLanes = 8;

  /// Q x for kLanes vectors x. Both arrays have 8 n elements and are overwritten; the returned
  /// pointer is the one that holds the result.
  double* apply(double* x, double* scratch) const noexcept;
  /// Q' x.
  double* apply_transposed(double* x, double* scratch) const noexcept;

 private:
  struct Round {
    std::vector<std::int64_t> from;   ///< permutation: element i comes from from[i]
    std::vector<double> first_signs;  ///< signs of the first p elements, divided by sqrt(p)
    std::vector<double> last_signs;   ///< signs of the last p, divided by sqrt(p); empty if p = n
  };
  std::int64_t n_;
  std::int64_t p_;
  std::array<Round, 3> rounds_;
  std::vector<double> signs_;  ///< signs of all n elements, applied after the rounds
};

/// A <- Q diag(d), or the first columns of it if A has fewer. The bits do not depend on the pool.
void set_scaled_basis(MatrixView<double> a, const Basis& q, std::span<const double> d,
                      engine::ThreadPool& pool);

enum class Part : unsigned char { lower, all };

/// A <- A Q', or only its lower triangle; the other elements are then undefined. A may have any
/// number of rows. The bits do not depend on the pool.
void multiply_transposed(MatrixView<double> a, const Basis& q, Part part, engine::ThreadPool& pool);

}  // namespace stepwell::gallery

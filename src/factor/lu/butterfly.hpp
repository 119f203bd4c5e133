// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "engine/threads/thread_pool.hpp"
#include "factor/scaling.hpp"
#include "stepwell/view.hpp"

/// Random butterfly transformations (Parker 1995; Baboulin et al. 2013): for a nonsingular A, U'A V
/// has small leading minors only with a negligible probability, and needs no pivoting.
namespace stepwell::factor {

/// A recursive butterfly of depth two, W = diag(B1, B2) B, where each butterfly is
/// 1/sqrt(2) [R S; R -S] with random diagonals R and S, drawn as exp(r / 10), |r| <= 1/2. If the
/// order is not a multiple of four, the last one to three elements are left unchanged.
class Butterfly {
 public:
  Butterfly(std::int64_t n, std::uint64_t seed);

  /// x <- W x or W' x, x with n elements, V float or double. Cost 6 n.
  template <class V>
  void apply(bool transposed, V* x) const;

  /// A <- A W. Cost 6 n^2, in place.
  void apply_right(engine::ThreadPool& pool, MatrixView<double> a) const;

  std::int64_t half() const { return half_; }

 private:
  std::int64_t half_;          ///< half of the elements that are transformed; a multiple of two
  std::vector<double> outer_;  ///< R and S of B, 1/sqrt(2) included
  std::vector<double> inner_;  ///< R and S of B1 and B2
};

struct Butterflies {
  Butterfly u, v;
  Butterflies(std::int64_t n, std::uint64_t seed) : u(n, 2 * seed), v(n, 2 * seed + 1) {}
};

/// out = U' H V, H = diag(row) A diag(col).
void transform(engine::ThreadPool& pool, MatrixView<const double> a, const Scale& scale,
               const Butterflies& butterflies, MatrixView<double> out);

}  // namespace stepwell::factor

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "engine/thread_pool.hpp"
#include "factor/scaling.hpp"
#include "stepwell/view.hpp"

/// Random butterfly transformations (Parker 1995; Baboulin et al. 2013): U'A V of a nonsingular A
/// has no small leading minors but with a probability that is negligible, and needs no pivoting.
namespace stepwell::factor {

/// A recursive butterfly of depth two: half of one is B = 1/sqrt(2) [R S; R -S] with random
/// diagonals R and S, drawn as exp(r / 10), |r| <= 1/2. Of an order that is no multiple of four the
/// last one to three elements are left alone.
class Butterfly {
 public:
  Butterfly(std::int64_t n, std::uint64_t seed);

  /// x <- W x or W' x, x n numbers, V float or double. Cost 6 n.
  template <class V>
  void apply(bool transposed, V* x) const;

  /// A <- A W. Cost 6 n^2, in place.
  void apply_right(engine::ThreadPool& pool, MatrixView<double> a) const;

  std::int64_t half() const { return half_; }

 private:
  std::int64_t half_;          ///< of what is mixed: a multiple of two
  std::vector<double> outer_;  ///< R and S of the whole, 1/sqrt(2) included
  std::vector<double> inner_;  ///< R and S of both halves
};

struct Butterflies {
  Butterfly u, v;
  Butterflies(std::int64_t n, std::uint64_t seed) : u(n, 2 * seed), v(n, 2 * seed + 1) {}
};

/// out = U' H V, H = diag(row) A diag(col).
void transform(engine::ThreadPool& pool, MatrixView<const double> a, const Scale& scale,
               const Butterflies& butterflies, MatrixView<double> out);

}  // namespace stepwell::factor

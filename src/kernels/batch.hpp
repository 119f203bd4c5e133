// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "stepwell/batch.hpp"

/// Batched small systems: the work of one core on one pack of systems. Kernels do not allocate and
/// do not throw.
namespace stepwell::kernels {

/// 'lanes' systems of order n with 'rhs' right-hand sides, interleaved in scratch memory that fits
/// in the cache. An element is 'lanes' values, one of each system. Row i < n holds elements 0 .. i
/// of row i of the lower triangle. Each later row holds one right-hand side of n elements: a
/// right-hand side is one more row of the factor, so that the factorization also does the forward
/// substitution.
template <class T>
struct BatchPack {
  T* data = nullptr;         ///< aligned to 64 bytes, like reciprocals
  T* reciprocals = nullptr;  ///< n elements: reciprocals of the diagonal of the factor
  std::int64_t n = 0;
  std::int64_t rhs = 0;
  std::int64_t lanes = 0;

  /// Number of elements before row i.
  static std::int64_t before(std::int64_t i, std::int64_t n) {
    return i < n ? i * (i + 1) / 2 : n * (n + 1) / 2 + (i - n) * n;
  }
  T* row(std::int64_t i) const { return data + before(i, n) * lanes; }

  operator BatchPack<const T>() const requires(!std::is_const_v<T>) {
    return {data, reciprocals, n, rhs, lanes};
  }
};

/// Size of a pack in values of T. Its reciprocals take n * lanes values.
inline std::int64_t batch_pack_size(std::int64_t n, std::int64_t rhs, std::int64_t lanes) {
  return BatchPack<double>::before(n + rhs, n) * lanes;
}

/// The caller's matrices of one pack: element (i, j) of system q is at[q][(i + j * ld) * step].
/// Systems q >= count do not exist.
template <class T>
struct BatchMatrices {
  T* const* at = nullptr;
  std::int64_t count = 0;
  std::int64_t ld = 0;
  std::int64_t step = 1;
};

/// Reads the triangle of each matrix into the first n rows of the pack; a system that does not
/// exist becomes the identity. The other triangle is not read.
template <class T>
using BatchLoadFn = void(BatchMatrices<const T> a, Triangle triangle, BatchPack<T> pack) noexcept;

/// Writes the first n rows back for the systems whose pivots[q] is negative; if 'both', into the
/// other triangle too.
template <class T>
using BatchStoreFn = void(BatchPack<T> pack, BatchMatrices<T> a, Triangle triangle, bool both,
                          const std::int32_t* pivots) noexcept;

/// Copy the columns of b into the rows from n on, and back.
template <class T>
using BatchLoadColumnsFn = void(BatchMatrices<const T> b, BatchPack<T> pack) noexcept;
template <class T>
using BatchStoreColumnsFn = void(BatchPack<T> pack, BatchMatrices<T> b,
                                 const std::int32_t* pivots) noexcept;

/// A register block of rows x cols elements, each of 'vectors' registers.
struct BatchBlock {
  int rows = 0;
  int cols = 0;
  int vectors = 1;
  friend bool operator==(const BatchBlock&, const BatchBlock&) = default;
};

/// The matrices of the next pack, prefetched while this one is factored: for each system q, the
/// cache lines that hold the elements at[q][lines[k]], k < count. lines[count] must be readable
/// too.
template <class T>
struct BatchNext {
  const T* const* at = nullptr;
  std::int64_t systems = 0;
  const std::int32_t* lines = nullptr;
  std::int64_t count = 0;
  int each_step = 1;  ///< cache lines prefetched per step of a sum: 1 or 2
};

/// Further options of the factorization.
template <class T>
struct BatchFactorOptions {
  bool fast = false;
  BatchNext<T> next;
};

/// Cholesky factorization in place, left-looking by panels of the block's columns (Kurzak et al.,
/// Algorithm 4); the rows from n on become L^-1 b. pivots[q] ('lanes' of them) becomes the index of
/// the first pivot that is not positive and finite, or -1; the values of a system with such a pivot
/// are undefined.
/// Each element is l_ij = (a_ij - sum_k l_ik l_jk) / l_jj, computed with fused multiply-adds in the
/// order of k and a multiplication by the rounded reciprocal: the same bits for every block.
/// pack.lanes must be 'vectors' times the table's batch lanes.
template <class T>
using BatchFactorFn = void(BatchPack<T> pack, BatchBlock block,
                           const BatchFactorOptions<T>& options, std::int32_t* pivots) noexcept;

/// Multiplies the rows from n on by L^-1, with factors that were loaded: the reciprocals are
/// computed here. pivots as above, for the diagonal of L.
template <class T>
using BatchForwardFn = void(BatchPack<T> pack, std::int32_t* pivots) noexcept;

/// Multiplies the rows from n on by L^-T; sums are in descending order of k.
template <class T>
using BatchBackwardFn = void(BatchPack<T> pack) noexcept;

/// norms[q] = ||A||_inf for a pack that was loaded and not yet factored. 'workspace' has n
/// elements.
template <class T>
using BatchNormFn = void(BatchPack<const T> system, double* workspace, double* norms) noexcept;

/// Max-norms of r, x and b for one right-hand side, one value for each system. residual[q] is not
/// finite if an element of r is not finite.
struct BatchSizes {
  double* residual = nullptr;
  double* x = nullptr;
  double* b = nullptr;
};

/// r = b - A x in FP64 (n elements), and the max-norms of r, x and b. 'system' is as above; b is
/// its right-hand side c. 'low', if not null, is workspace of n elements: then the sums are in
/// double-double and r is rounded once, so that its error is at most 2 (n + 3)^2 2^-106
/// (|b| + |A| |x|) + 2^-53 |r|, if nothing over- or underflows (see ExactProducts).
template <class T>
using BatchResidualFn = void(BatchPack<const T> system, std::int64_t c, const T* x, double* r,
                             double* low, BatchSizes sizes) noexcept;

}  // namespace stepwell::kernels

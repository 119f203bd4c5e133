// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "stepwell/batch.hpp"

/// Small systems side by side: what one core does to one pack of them. Kernels allocate nothing and
/// throw nothing.
namespace stepwell::kernels {

/// 'lanes' systems of order n with 'rhs' right-hand sides, interleaved in cache scratch. An element
/// is 'lanes' numbers, one of each system. Row i < n holds elements 0 .. i of row i of the lower
/// triangle, the rows after that one right-hand side each, n elements: a right-hand side is one
/// more row of the factor, so that the factorization does the forward substitution too.
template <class T>
struct BatchPack {
  T* data = nullptr;         ///< aligned to 64 bytes, as reciprocals
  T* reciprocals = nullptr;  ///< n elements: of the factor's diagonal
  std::int64_t n = 0;
  std::int64_t rhs = 0;
  std::int64_t lanes = 0;

  /// The number of elements before row i.
  static std::int64_t before(std::int64_t i, std::int64_t n) {
    return i < n ? i * (i + 1) / 2 : n * (n + 1) / 2 + (i - n) * n;
  }
  T* row(std::int64_t i) const { return data + before(i, n) * lanes; }

  operator BatchPack<const T>() const requires(!std::is_const_v<T>) {
    return {data, reciprocals, n, rhs, lanes};
  }
};

/// The numbers of a pack with n and rhs; of its reciprocals n * lanes.
inline std::int64_t batch_pack_size(std::int64_t n, std::int64_t rhs, std::int64_t lanes) {
  return BatchPack<double>::before(n + rhs, n) * lanes;
}

/// The caller's matrices of one pack: element (i, j) of system q is at[q][(i + j * ld) * step].
/// Systems from 'count' on do not exist.
template <class T>
struct BatchPlaces {
  T* const* at = nullptr;
  std::int64_t count = 0;
  std::int64_t ld = 0;
  std::int64_t step = 1;
};

/// Reads the triangle of each matrix into the pack's first n rows; a system that does not exist is
/// the identity. The other triangle is not read.
template <class T>
using BatchLoadFn = void(BatchPlaces<const T> a, Triangle triangle, BatchPack<T> pack) noexcept;

/// Writes the first n rows back, of the systems whose pivots[q] is negative; 'both': their
/// transpose too.
template <class T>
using BatchStoreFn = void(BatchPack<T> pack, BatchPlaces<T> a, Triangle triangle, bool both,
                          const std::int32_t* pivots) noexcept;

/// Columns of b into the rows from n on, and back.
template <class T>
using BatchLoadColumnsFn = void(BatchPlaces<const T> b, BatchPack<T> pack) noexcept;
template <class T>
using BatchStoreColumnsFn = void(BatchPack<T> pack, BatchPlaces<T> b,
                                 const std::int32_t* pivots) noexcept;

/// A register block: rows x cols elements of 'vectors' registers each.
struct BatchBlock {
  int rows = 0;
  int cols = 0;
  int vectors = 1;
  friend bool operator==(const BatchBlock&, const BatchBlock&) = default;
};

/// The matrices to come, fetched while these are factored: lines[k] elements from at[q] on there is
/// one to be fetched, k < count; one more may be read from 'lines'.
template <class T>
struct BatchNext {
  const T* const* at = nullptr;
  std::int64_t systems = 0;
  const std::int32_t* lines = nullptr;
  std::int64_t count = 0;
  int each_step = 1;  ///< so many with each step of a sum: 1 or 2
};

/// What else the factorization is told.
template <class T>
struct BatchHow {
  bool fast = false;
  BatchNext<T> next;
};

/// The Cholesky factors in place, left-looking by panels of the block's columns (Kurzak et al.,
/// Algorithm 4), and L^-1 b in the rows from n on. pivots[q] (lanes of them) becomes the first
/// pivot that is not positive and finite, or -1; that system's numbers are undefined.
/// Each element is l_ij = (a_ij - sum_k l_ik l_jk) / l_jj with fused multiply-adds in the order of
/// k and a product with the rounded reciprocal: the same bits for every block.
/// pack.lanes: 'vectors' times the table's batch lanes.
template <class T>
using BatchFactorFn = void(BatchPack<T> pack, BatchBlock block, const BatchHow<T>& how,
                           std::int32_t* pivots) noexcept;

/// The rows from n on -> L^-1 times them, with factors that were loaded: the reciprocals are made
/// here. pivots as above, of the diagonal of L.
template <class T>
using BatchForwardFn = void(BatchPack<T> pack, std::int32_t* pivots) noexcept;

/// The rows from n on -> L^-T times them: sums in descending order of k.
template <class T>
using BatchBackwardFn = void(BatchPack<T> pack) noexcept;

/// norms[q] = ||A||_inf of a pack that was loaded and not yet factored. 'room': n elements.
template <class T>
using BatchNormFn = void(BatchPack<const T> system, double* room, double* norms) noexcept;

/// The largest numbers of one right-hand side, of each system; residual is not finite where one of
/// its numbers is not.
struct BatchSizes {
  double* residual = nullptr;
  double* x = nullptr;
  double* b = nullptr;
};

/// r = b - A x in FP64 (n elements), and the sizes of the three. 'system' as above; b is its
/// right-hand side c. 'low', if not null, is room for n elements: then sums are in double-double
/// and r is rounded once, so that it errs by at most 2 (n + 3)^2 2^-106 of |b| + |A| |x| and by
/// 2^-53 of itself, where nothing over- or underflows (see ExactProducts).
template <class T>
using BatchResidualFn = void(BatchPack<const T> system, std::int64_t c, const T* x, double* r,
                             double* low, BatchSizes sizes) noexcept;

}  // namespace stepwell::kernels

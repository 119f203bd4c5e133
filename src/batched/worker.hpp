// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "kernels/table.hpp"
#include "stepwell/batch.hpp"

namespace stepwell::batched {

template <class T>
const kernels::BatchEntries<T>& entries(const kernels::Table& t);

/// The matrices first .. first + count - 1 of a view; their addresses are stored in at[0 .. count).
template <class T>
kernels::BatchMatrices<T> matrices(const BatchView<T>& view, std::int64_t first, std::int64_t count,
                                   T** at);

template <class T>
kernels::BatchMatrices<const T> constant(const kernels::BatchMatrices<T>& matrices) {
  return {const_cast<const T* const*>(matrices.at), matrices.count, matrices.ld, matrices.step};
}

/// Parts in which small matrices are prefetched: before a pack is loaded, factored and stored.
inline constexpr int kFetchParts = 3;

/// One thread's pack and the kernels that work on it.
template <class T>
class Worker {
 public:
  /// Throws Error(out_of_memory).
  Worker(const kernels::Table& t, std::int64_t n, std::int64_t columns, const BatchTuning& tuning);

  /// Maximum number of systems in the pack.
  std::int64_t lanes() const { return pack_.lanes; }
  const kernels::BatchPack<T>& pack() const { return pack_; }
  std::int64_t bytes() const { return memory_.size() * static_cast<std::int64_t>(sizeof(T)); }

  /// Overwrites the pack's triangles with the factors and its right-hand sides with L^-1 b.
  void factor(const kernels::BatchFactorOptions<T>& options, std::int32_t* pivots) const;
  /// ln det A of system q, from its factor.
  double log_determinant(std::int64_t q) const;

  /// Solves systems q = 0 .. count - 1, count <= lanes(): a[q] is n x n column-major, and its lower
  /// triangle is read; b[q] is n x columns and is overwritten by x if pivots[q] becomes -1.
  /// 'pivots' has lanes() elements.
  void solve(std::int64_t count, const T* const* a, std::int64_t lda, T* const* b, std::int64_t ldb,
             std::int32_t* pivots) const;

  /// Sets the leading dimension and step of all matrices, so that the next ones can be prefetched.
  void expect(std::int64_t ld, std::int64_t step, Triangle triangle);
  /// The matrices of the next pack, to be prefetched by the factorization. Empty for small orders.
  kernels::BatchNext<T> next(const kernels::BatchMatrices<const T>& matrices) const;
  /// Prefetches a part (0 to kFetchParts - 1) of the matrices of the next pack, for small orders.
  void fetch(const kernels::BatchMatrices<const T>& matrices, int part) const;

  const kernels::BatchEntries<T>& kernel() const { return *kernel_; }

 private:
  bool fetches_in_parts(const kernels::BatchMatrices<const T>& matrices) const;

  const kernels::BatchEntries<T>* kernel_;
  BatchTuning tuning_;
  core::Buffer<T> memory_;
  kernels::BatchPack<T> pack_;
  std::vector<std::int32_t> lines_;
};

}  // namespace stepwell::batched

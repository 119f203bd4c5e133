// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/threads/thread_pool.hpp"
#include "stepwell/view.hpp"

/// Filling matrices from a formula for their elements with a thread pool. The bits do not depend on
/// the pool.
namespace stepwell::gallery {

inline constexpr std::int64_t kBlock = 32;

/// Calls body(first, end) for blocks of kBlock indices out of n.
template <class Body>
void for_blocks(std::int64_t n, engine::ThreadPool& pool, Body body) {
  pool.for_each((n + kBlock - 1) / kBlock, [&](std::int64_t block) {
    body(block * kBlock, std::min(n, (block + 1) * kBlock));
  });
}

/// a(i, j) <- element(i, j) on and below the diagonal.
template <class Element>
void fill_lower(MatrixView<double> a, engine::ThreadPool& pool, Element element) {
  for_blocks(a.cols, pool, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) {
      for (std::int64_t i = j; i < a.rows; ++i) a(i, j) = element(i, j);
    }
  });
}

/// a(i, j) <- element(i, j).
template <class Element>
void fill_all(MatrixView<double> a, engine::ThreadPool& pool, Element element) {
  for_blocks(a.cols, pool, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) {
      for (std::int64_t i = 0; i < a.rows; ++i) a(i, j) = element(i, j);
    }
  });
}

/// Copies the transpose of the lower triangle into the upper one, through a small buffer: columns
/// whose distance is a power of two evict each other from the caches.
inline void copy_lower_to_upper(MatrixView<double> a, engine::ThreadPool& pool) {
  const std::int64_t n = a.rows;
  for_blocks(n, pool, [&](std::int64_t j0, std::int64_t j1) {
    double square[kBlock][kBlock];
    for (std::int64_t i0 = j0; i0 < n; i0 += kBlock) {
      const std::int64_t i1 = std::min(n, i0 + kBlock);
      for (std::int64_t j = j0; j < j1; ++j) {
        for (std::int64_t i = i0; i < i1; ++i) square[i - i0][j - j0] = a(i, j);
      }
      for (std::int64_t i = i0; i < i1; ++i) {
        for (std::int64_t j = j0; j < std::min(i, j1); ++j) a(j, i) = square[i - i0][j - j0];
      }
    }
  });
}

}  // namespace stepwell::gallery

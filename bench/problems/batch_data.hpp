// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/problems/batch_problem.hpp"
#include "core/buffer.hpp"
#include "engine/threads/thread_pool.hpp"

/// Memory of a batch for the benchmarks.
namespace stepwell::bench {

/// The original systems A x = b (a0, b0), and the copies (a, b) that the measured routines
/// overwrite.
template <class T>
struct BatchData {
  explicit BatchData(const BatchCase& what);

  BatchView<T> matrices() const { return view(a, pa, c.n); }
  BatchView<T> columns() const { return view(b, pb, c.columns); }
  /// Index of element (i, j) of matrix m, which has n rows and 'cols' columns.
  std::int64_t at(std::int64_t m, std::int64_t i, std::int64_t j, std::int64_t cols) const {
    const std::int64_t within = i + j * c.n;
    if (lanes == 0) return m * c.n * cols + within;
    return (m / lanes * c.n * cols + within) * lanes + m % lanes;
  }
  /// Restores A and B. For 'substitute', A keeps the factors.
  void restore();

  /// Calls body(first, last) for chunks of 'chunk' matrices, on all threads.
  template <class Body>
  void in_chunks(std::int64_t chunk, const Body& body) {
    pool.for_each((c.count + chunk - 1) / chunk,
                  [&](std::int64_t k) { body(k * chunk, std::min(c.count, (k + 1) * chunk)); });
  }

  BatchCase c;
  std::int64_t lanes;  ///< matrices in a group of an interleaved batch, else 0
  engine::ThreadPool pool;
  core::Buffer<T> a0, a, b0, b;
  std::vector<T*> pa, pb;  ///< one pointer per matrix; empty for an interleaved batch

 private:
  BatchView<T> view(const core::Buffer<T>& data, const std::vector<T*>& pointers,
                    std::int64_t cols) const;
  void fill();
};

/// The baselines as sides of a contest. The data must outlive them.
template <class T>
Side lapack_loop(const std::shared_ptr<BatchData<T>>& d);
template <class T>
Side mkl_loop(const std::shared_ptr<BatchData<T>>& d);
/// Measures several chunk sizes first and takes the fastest.
template <class T>
Side mkl_compact_side(const std::shared_ptr<BatchData<T>>& d);

}  // namespace stepwell::bench

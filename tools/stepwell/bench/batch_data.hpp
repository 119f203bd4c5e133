// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "batch_problem.hpp"
#include "core/buffer.hpp"
#include "engine/thread_pool.hpp"

/// The memory of a batch, for those who measure it.
namespace stepwell::tool {

/// Systems A x = b as they were made, and where everybody works on them.
template <class T>
struct BatchData {
  explicit BatchData(const BatchCase& what);

  BatchView<T> matrices() const { return view(a, pa, c.n); }
  BatchView<T> columns() const { return view(b, pb, c.columns); }
  /// Where element (i, j) of matrix m of n rows and 'cols' columns is.
  std::int64_t at(std::int64_t m, std::int64_t i, std::int64_t j, std::int64_t cols) const {
    const std::int64_t within = i + j * c.n;
    if (lanes == 0) return m * c.n * cols + within;
    return (m / lanes * c.n * cols + within) * lanes + m % lanes;
  }
  /// A (but of 'substitute', whose factors stay) and B as they were.
  void restore();

  /// Calls body(first, last) for all matrices, 'chunk' at a time, on all threads.
  template <class Body>
  void in_chunks(std::int64_t chunk, const Body& body) {
    pool.for_each((c.count + chunk - 1) / chunk,
                  [&](std::int64_t k) { body(k * chunk, std::min(c.count, (k + 1) * chunk)); });
  }

  BatchCase c;
  std::int64_t lanes;  ///< of an interleaved batch, else 0
  engine::ThreadPool pool;
  core::Buffer<T> a0, a, b0, b;
  std::vector<T*> pa, pb;  ///< to each matrix; of an interleaved batch none

 private:
  BatchView<T> view(const core::Buffer<T>& data, const std::vector<T*>& pointers,
                    std::int64_t cols) const;
  void fill();
};

/// The baselines' sides. The data must outlive them.
template <class T>
Side lapack_loop(const std::shared_ptr<BatchData<T>>& d);
template <class T>
Side mkl_loop(const std::shared_ptr<BatchData<T>>& d);
/// Tries chunks of several sizes first.
template <class T>
Side mkl_compact_side(const std::shared_ptr<BatchData<T>>& d);

}  // namespace stepwell::tool

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/problems/batch_data.hpp"

#include "bench/harness/data.hpp"
#include "core/checked.hpp"
#include "options/requirements.hpp"
#include "stepwell/error.hpp"

namespace stepwell::bench {

template <class T>
BatchData<T>::BatchData(const BatchCase& what)
    : c(what),
      lanes(c.layout == BatchLayout::interleaved ? batch_lanes(c.format) : 0),
      pool(c.threads) {
  const std::int64_t places = lanes == 0 ? c.count : core::round_up(c.count, lanes);
  const std::int64_t size = core::size_product(places, c.n * c.n, "batch");
  const std::int64_t rhs = core::size_product(places, c.n * c.columns, "batch");
  tool::require_memory(core::size_product(2 * size + 2 * rhs, 2 * sizeof(T), "batch"));
  a0 = core::Buffer<T>(size);
  a = core::Buffer<T>(size);
  b0 = core::Buffer<T>(rhs);
  b = core::Buffer<T>(rhs);
  if (lanes == 0) {
    for (std::int64_t m = 0; m < c.count; ++m) {
      pa.push_back(a.data() + at(m, 0, 0, c.n));
      pb.push_back(b.data() + at(m, 0, 0, c.columns));
    }
  }
  fill();
  if (c.operation != BatchOperation::substitute) return;
  std::copy(a0.begin(), a0.end(), a.begin());
  BatchOptions options;
  options.triangle = c.triangle;
  if (!batch_cholesky(matrices(), options).ok()) {
    throw Error(ErrorCode::internal, "the test systems could not be factored");
  }
}

/// Random elements, with a diagonal that makes every matrix positive definite. The last group of an
/// interleaved batch is padded with identity matrices.
template <class T>
void BatchData<T>::fill() {
  const std::int64_t n = c.n, columns = c.columns;
  const auto random = [](std::int64_t k) { return noise(static_cast<std::uint64_t>(k)); };
  in_chunks(256, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t m = first; m < last; ++m) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = j; i < n; ++i) {
          const double e = random((m * n + j) * n + i) + (i == j ? static_cast<double>(n) : 0.0);
          a0[at(m, i, j, n)] = a0[at(m, j, i, n)] = static_cast<T>(e);
        }
      }
      for (std::int64_t k = 0; k < n * columns; ++k) {
        b0[at(m, k % n, k / n, columns)] = static_cast<T>(random(-1 - m * n * columns - k));
      }
    }
  });
  for (std::int64_t m = c.count; lanes != 0 && m < core::round_up(c.count, lanes); ++m) {
    for (std::int64_t i = 0; i < n; ++i) a0[at(m, i, i, n)] = 1;
  }
}

template <class T>
BatchView<T> BatchData<T>::view(const core::Buffer<T>& data, const std::vector<T*>& pointers,
                                std::int64_t cols) const {
  if (lanes != 0) return interleaved(data.data(), c.count, c.n, cols, lanes);
  if (c.layout == BatchLayout::pointers) return batch(pointers.data(), c.count, c.n, cols, c.n);
  return batch(data.data(), c.count, c.n, cols);
}

template <class T>
void BatchData<T>::restore() {
  const auto put_back = [&](const core::Buffer<T>& from, const core::Buffer<T>& to) {
    const std::int64_t threads = pool.size();
    pool.for_each(threads, [&](std::int64_t t) {
      std::copy(from.data() + from.size() * t / threads,
                from.data() + from.size() * (t + 1) / threads, to.data() + to.size() * t / threads);
    });
  };
  if (c.operation != BatchOperation::substitute) put_back(a0, a);
  put_back(b0, b);
}

template struct BatchData<float>;
template struct BatchData<double>;

}  // namespace stepwell::bench

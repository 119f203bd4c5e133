// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness/harness.hpp"
#include "gallery/gallery.hpp"
#include "kernels/table.hpp"
#include "stepwell/view.hpp"

/// Data, checks and names that the kernel benchmarks share.
namespace stepwell::bench {

using gallery::noise;

template <class T>
void fill_noise(MatrixView<T> a, std::uint64_t seed) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      a(i, j) = static_cast<T>(noise((seed << 40) + static_cast<std::uint64_t>(i + j * a.rows)));
    }
  }
}

/// Up to 'count' indices below n, including the first and the last: enough to detect a wrong kernel
/// without computing everything a second time.
std::vector<std::int64_t> sample(std::int64_t n, std::int64_t count = 48);

/// The result of check(). Each element is compared with its bound; NaN fails.
class Verdict {
 public:
  void expect(double value, double reference, double bound, std::int64_t i, std::int64_t j);
  std::string text() const { return text_; }

 private:
  std::string text_;
};

/// A kernel of the table as a candidate.
Side our_side(const char* kernel, core::Isa isa, int threads);
template <class F>
Side our_side(const kernels::Entry<F>& entry, int threads = 1) {
  return our_side(entry.name, entry.isa, threads);
}

/// A routine of the linked BLAS.
Side blas_side(const char* routine, int threads);

/// One of our own reference operations that a kernel is compared with: a sum, a copy, bare
/// instructions.
Side yardstick(const char* name, int threads);

/// A plain vectorised sum, the fastest way to read memory.
double sum_elements(const double* data, std::int64_t count);
std::uint64_t sum_words(const std::uint64_t* data, std::int64_t count);

/// to <- from, and x <- -x, with plain stores and nothing else: the cost of a pass over memory.
void copy_elements(const double* from, double* to, std::int64_t count);
void negate_elements(double* x, std::int64_t count);

/// Keeps the compiler from dropping a result.
template <class T>
void keep(const T& value) {
  __asm__ volatile("" : : "g"(&value) : "memory");
}

}  // namespace stepwell::bench

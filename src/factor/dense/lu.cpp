// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/dense/lu.hpp"

#include <algorithm>
#include <utility>

#include "core/machine/fp_scope.hpp"
#include "kernels/blas/lapack.hpp"

namespace stepwell::factor {
namespace {

constexpr std::int64_t kPanel = 96;   ///< columns of a panel: a multiple of OpenBLAS's own blocks
constexpr std::int64_t kStrip = 192;  ///< columns that a thread updates at a time

class DenseLu {
 public:
  DenseLu(MatrixView<double> a, int* pivots) : a_(a), pivots_(pivots) {}

  std::int64_t run(engine::ThreadPool& pool) {
    const std::int64_t n = a_.cols;
    panel(0);
    for (std::int64_t k = 0; k + kPanel < n; k += kPanel) {
      const std::int64_t next = k + kPanel;
      const std::int64_t rest = std::min(n, next + kPanel);
      const std::int64_t strips = (n - rest + kStrip - 1) / kStrip;
      pool.for_each(1 + strips, [&](std::int64_t s) {
        const core::FpScope fp;
        if (s == 0) {
          update(k, next, rest - next);
          panel(next);
        } else {
          const std::int64_t first = rest + (s - 1) * kStrip;
          update(k, first, std::min(kStrip, n - first));
        }
      });
    }
    for (std::int64_t k = kPanel; k < n; k += kPanel) exchange(k, 0, k);
    return zero_;
  }

 private:
  std::int64_t width(std::int64_t k) const { return std::min(kPanel, a_.cols - k); }

  void panel(std::int64_t k) {
    const std::int64_t zero = kernels::getrf(a_.block(k, k, a_.rows - k, width(k)), pivots_ + k);
    if (zero >= 0 && zero_ < 0) zero_ = k + zero;
    for (std::int64_t i = k; i < k + width(k); ++i) pivots_[i] += static_cast<int>(k);
  }

  /// Updates some columns with the panel at k.
  void update(std::int64_t k, std::int64_t first, std::int64_t count) {
    exchange(k, first, count);
    const std::int64_t below = k + width(k);
    const MatrixView<double> u = a_.block(k, first, width(k), count);
    kernels::solve_unit_lower(a_.block(k, k, width(k), width(k)), u);
    kernels::subtract_product(a_.block(below, k, a_.rows - below, width(k)), u,
                              a_.block(below, first, a_.rows - below, count));
  }

  void exchange(std::int64_t k, std::int64_t first, std::int64_t count) {
    for (std::int64_t c = first; c < first + count; ++c) {
      double* const x = a_.column(c);
      for (std::int64_t i = k; i < k + width(k); ++i) std::swap(x[i], x[pivots_[i] - 1]);
    }
  }

  MatrixView<double> a_;
  int* pivots_;
  std::int64_t zero_ = -1;
};

}  // namespace

std::int64_t dense_lu(engine::ThreadPool& pool, MatrixView<double> a, int* pivots) {
  if (a.rows < kDenseLuForThreads) return kernels::getrf(a, pivots);
  return DenseLu(a, pivots).run(pool);
}

}  // namespace stepwell::factor

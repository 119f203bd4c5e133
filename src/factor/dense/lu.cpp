// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/dense/lu.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "core/machine/fp_scope.hpp"
#include "kernels/kernels.hpp"
#include "kernels/recursive.hpp"

namespace stepwell::factor {
namespace {

constexpr std::int64_t kPanel = 64;         ///< columns of a panel
constexpr std::int64_t kNarrow = 8;         ///< columns of a leaf of its recursion
constexpr std::int64_t kStrip = 96;         ///< columns that a thread updates at a time
constexpr std::int64_t kProductRows = 256;  ///< rows of a product: its left operand stays in L2

/// Right-looking by panels, each factored recursively (Toledo, SIAM J. Matrix Anal. Appl. 18,
/// 1997). Rows of U are solved for and multiplied as columns of U', which the kernels read as
/// vectors.
class DenseLu {
 public:
  DenseLu(MatrixView<double> a, int* pivots)
      : a_(a),
        pivots_(pivots),
        memory_(a.cols * kPanel + 3 * kPanel * kPanel, core::Contents::any) {}

  std::int64_t run(engine::ThreadPool& pool) {
    const core::FpScope fp;
    const std::int64_t n = a_.cols;
    bool good = panel(0, std::min(kPanel, n));
    for (std::int64_t k = 0; good && k + kPanel < n; k += kPanel) {
      const std::int64_t next = k + kPanel;
      const std::int64_t rest = std::min(n, next + kPanel);
      const MatrixView<const double> l = unit_lower(k, kPanel, 1 + k / kPanel % 2);
      pool.for_each(1 + core::ceil_div(n - rest, kStrip), [&](std::int64_t s) {
        const core::FpScope fp_of_thread;
        if (s == 0) {
          update(k, l, next, rest - next);
          good = panel(next, rest - next);
        } else {
          const std::int64_t first = rest + (s - 1) * kStrip;
          update(k, l, first, std::min(kStrip, n - first));
        }
      });
    }
    if (good) exchange_left(pool);
    if (overflow_ >= 0) make_solution_nan();
    return zero_;
  }

 private:
  /// Factors columns k .. k + count, which have been updated with all before them.
  bool panel(std::int64_t k, std::int64_t count) {
    if (count <= kNarrow) return leaf(k, count);
    const std::int64_t half = core::round_up(count / 2, kNarrow);
    if (!panel(k, half)) return false;
    update(k, unit_lower(k, half, 0), k + half, count - half);
    if (!panel(k + half, count - half)) return false;
    exchange(k, half, k + half, k + count);
    return true;
  }

  bool leaf(std::int64_t k, std::int64_t count) {
    std::int64_t rows[kNarrow];
    const kernels::Table& t = kernels::table();
    const kernels::Pivot pivot = t.getrf_fp64.run(a_.block(k, k, a_.rows - k, count), true, rows);
    if (pivot.ok()) {
      for (std::int64_t j = 0; j < count; ++j) pivots_[k + j] = static_cast<int>(k + rows[j] + 1);
      return true;
    }
    (pivot.value == 0 ? zero_ : overflow_) = k + pivot.index;
    return false;
  }

  /// As with dgetrf, where a value has overflowed. Other threads work on the columns to the right
  /// of a panel, so this waits until they have ended.
  void make_solution_nan() {
    const std::int64_t first = overflow_ / kNarrow * kNarrow;  // of the leaf, which has no pivots
    for (std::int64_t j = first; j < a_.cols; ++j) {
      pivots_[j] = static_cast<int>(j + 1);
      a_(j, j) = std::numeric_limits<double>::quiet_NaN();
    }
  }

  /// A copy of L's block at k, with ones on its diagonal, in one of three places: those of two
  /// successive panels are used at the same time, and the recursion has its own.
  MatrixView<const double> unit_lower(std::int64_t k, std::int64_t order, std::int64_t place) {
    double* const at = memory_.data() + (a_.cols + place * kPanel) * kPanel;
    const MatrixView<double> l = view(at, order, order);
    for (std::int64_t j = 0; j < order; ++j) {
      l(j, j) = 1;
      std::copy_n(a_.column(k + j) + k + j + 1, order - j - 1, l.column(j) + j + 1);
    }
    return l;
  }

  /// Updates some columns with those from k on, whose block of L is l.
  void update(std::int64_t k, MatrixView<const double> l, std::int64_t first, std::int64_t count) {
    const kernels::Table& t = kernels::table();
    const std::int64_t below = k + l.rows;
    exchange(first, count, k, below);
    const MatrixView<double> u = a_.block(k, first, l.rows, count);
    const MatrixView<double> columns{memory_.data() + first, count, l.rows, a_.cols};  // U'
    kernels::transpose(t, u, columns);
    kernels::tree_trsm<double>(t, l, columns, kernels::uniform_layers(Rung::fp64), nullptr);
    kernels::transpose(t, columns, u);
    for (std::int64_t i = below; i < a_.rows; i += kProductRows) {
      const std::int64_t rows = std::min(kProductRows, a_.rows - i);
      kernels::update(t, a_.block(i, k, rows, l.rows), columns, a_.block(i, first, rows, count));
    }
  }

  /// Exchanges rows begin .. end of some columns with the rows of their pivots.
  void exchange(std::int64_t first, std::int64_t count, std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = first; c < first + count; ++c) {
      double* const x = a_.column(c);
      for (std::int64_t i = begin; i < end; ++i) std::swap(x[i], x[pivots_[i] - 1]);
    }
  }

  /// Exchanges rows of each panel as those to the right of it have exchanged theirs. The exchanges
  /// together are independent copies; one after the other they took three times as long.
  void exchange_left(engine::ThreadPool& pool) {
    const std::int64_t n = a_.cols;
    pool.for_each((n - 1) / kPanel, [&](std::int64_t panel) {
      const std::int64_t end = (panel + 1) * kPanel;
      std::vector<std::int64_t> from(static_cast<std::size_t>(a_.rows));
      std::iota(from.begin(), from.end(), 0);
      for (std::int64_t i = end; i < n; ++i) std::swap(from[i], from[pivots_[i] - 1]);
      std::vector<double> column(from.size());
      for (std::int64_t c = panel * kPanel; c < end; ++c) {
        double* const x = a_.column(c);
        for (std::int64_t i = end; i < a_.rows; ++i) column[i] = x[from[i]];
        std::copy(column.begin() + end, column.end(), x + end);
      }
    });
  }

  MatrixView<double> a_;
  int* pivots_;
  core::Buffer<double> memory_;  ///< U' of a panel's rows, and three blocks of L
  std::int64_t zero_ = -1;       ///< the first pivot that is zero
  std::int64_t overflow_ = -1;   ///< the first pivot that is not finite
};

}  // namespace

std::int64_t dense_lu(engine::ThreadPool& pool, MatrixView<double> a, int* pivots) {
  return DenseLu(a, pivots).run(pool);
}

}  // namespace stepwell::factor

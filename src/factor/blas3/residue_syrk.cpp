// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/blas3/residue_syrk.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "core/machine/fp_scope.hpp"
#include "factor/blas3/block_gemm.hpp"
#include "factor/setup.hpp"

namespace stepwell::factor {
namespace {

constexpr std::int64_t kRows = 512;  ///< rows of A that a thread multiplies at a time
/// Rows of A that are the right operand at a time.
constexpr std::int64_t kColumns = kResidueColumns;
constexpr std::int64_t kDepth = 512;  ///< columns of A in a block
constexpr std::int64_t kDeep = 8192;  ///< columns of A whose products are added up exactly

class ResidueSyrk {
 public:
  ResidueSyrk(engine::ThreadPool& pool, double alpha, MatrixView<const double> a,
              MatrixView<double> c)
      : pool_(pool), alpha_(alpha), a_(a), c_(c), products_(pool) {}

  /// C's lower triangle times beta.
  void scale(double beta) const {
    pool_.for_each(blocks(), [&](std::int64_t block) {
      const core::FpScope fp;
      for (std::int64_t j = block * kRows; j < std::min((block + 1) * kRows, c_.cols); ++j) {
        for (std::int64_t i = j; i < c_.rows; ++i) c_(i, j) = beta == 0 ? 0 : beta * c_(i, j);
      }
    });
  }

  /// Columns [k, k + kDeep) of A; 'cancelled' is asked now and then.
  template <class Cancelled>
  bool add(std::int64_t k, const Cancelled& cancelled) {
    const MatrixView<const double> deep = a_.block(0, k, a_.rows, std::min(kDeep, a_.cols - k));
    const LeftOperand left(pool_, Products::exact, deep, false, -alpha_);
    for (std::int64_t j = 0; j < c_.cols; j += kColumns) {
      if (cancelled()) return false;
      const std::int64_t columns = std::min(kColumns, c_.cols - j);
      products_.set_right(deep.block(j, 0, columns, deep.cols), kDepth, true);
      // A block of rows has a rectangle left of the diagonal, and one on the diagonal a triangle
      // too.
      const std::int64_t across = core::ceil_div(columns, kRows);
      const std::int64_t below = blocks() - j / kRows;
      products_.subtract(below + across, kRows, [&](std::int64_t index) {
        const bool triangle = index >= below;
        const std::int64_t first = j + (triangle ? index - below : index) * kRows;
        const std::int64_t rows = std::min(kRows, c_.rows - first);
        const std::int64_t before = std::min(first - j, columns);  // columns before the diagonal
        if (triangle) {
          return BlockGemm::Rows{.a = left.rows(first, rows, kDepth),
                                 .c = c_.block(first, first, rows, rows),
                                 .column = before,
                                 .shape = kernels::Shape::lower};
        }
        return BlockGemm::Rows{.a = left.rows(first, rows, kDepth),
                               .c = c_.block(first, j, rows, before)};
      });
    }
    return true;
  }

 private:
  std::int64_t blocks() const { return core::ceil_div(c_.cols, kRows); }

  engine::ThreadPool& pool_;
  double alpha_;
  MatrixView<const double> a_;
  MatrixView<double> c_;
  BlockGemm products_;
};

}  // namespace

std::int64_t residue_syrk_bytes(std::int64_t n, std::int64_t depth, int threads) {
  return BlockGemm::bytes(Products::exact, kRows, std::min(depth, kDeep), std::min(n, kColumns),
                          kDepth, threads);
}

bool residue_syrk(engine::ThreadPool& pool, double alpha, MatrixView<const double> a, double beta,
                  MatrixView<double> c, Progress* progress) {
  ResidueSyrk syrk(pool, alpha, a, c);
  const auto cancelled = [progress] { return progress != nullptr && progress->cancel; };
  announce(progress, core::ceil_div(a.cols, kDeep));
  syrk.scale(beta);
  for (std::int64_t k = 0; k < a.cols && alpha != 0; k += kDeep) {
    if (!syrk.add(k, cancelled)) return false;
    if (progress != nullptr) ++progress->done;
  }
  return true;
}

}  // namespace stepwell::factor

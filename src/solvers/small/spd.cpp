// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "core/clock.hpp"
#include "core/machine/fp_scope.hpp"
#include "engine/runtime.hpp"
#include "factor/dense/cholesky.hpp"
#include "kernels/blas/lapack.hpp"
#include "kernels/kernels.hpp"
#include "kernels/recursive.hpp"
#include "refine/operators/symmetric_product.hpp"
#include "solvers/small/small.hpp"
#include "solvers/small/small_system.hpp"
#include "solvers/systems/square_matrix.hpp"

namespace stepwell::solvers {
namespace {

class SmallSpd : public SmallSystem {
 public:
  SmallSpd(MatrixView<const double> a, const SolveOptions& options, Certificate& c)
      : SmallSystem(a, factor::scale_factors(factor::read_diagonal(a), Scaling::powers_of_two), 1,
                    c),
        pool_(with_threads() ? engine::pool_threads(options.engine.context) : 1),
        product_(pool_, a) {
    if (with_threads()) record_threads(pool_.requested(), options.engine.context, c);
  }

  bool factor() override {
    double* const sums = vectors(0, 1).data;
    std::fill_n(sums, 2 * n_, 0.0);
    kernels::Scan scan;
    load(kernels::Shape::lower, sums, sums + n_, scan);
    for (std::int64_t i = 0; i < n_; ++i) {
      c_.norm = std::max(c_.norm, sums[i] + (sums[n_ + i] - std::abs(a_(i, i))));
    }
    if (!all_finite(scan)) return false;
    const kernels::Table& t = kernels::table();
    kernels::Pivot pivot;
    if (n_ <= kernels::kLeaf) {
      pivot = t.potrf_fp64.run(block_);
    } else {
      const engine::SingleThreadedBlas blas;
      pivot = with_threads()
                  ? factor::dense_cholesky(pool_, block_)
                  : kernels::tree_potrf(t, block_, kernels::uniform_layers(Rung::fp64), nullptr);
    }
    if (pivot.ok() || factor_with_lapack()) return true;
    if (a_(pivot.index, pivot.index) > 0) {
      c_.rungs.push_back(
          {c_.method, false, 0, 1, "pivot " + std::to_string(pivot.index) + " failed", 0});
    }
    c_.outcome = SolveOutcome::not_positive_definite;
    c_.pivot = pivot.index;
    c_.pivot_value = pivot.value;
    return false;
  }

 private:
  bool with_threads() const { return n_ >= factor::kDenseCholeskyForThreads; }

  /// The sign of a pivot that consists of rounding errors alone is arbitrary: dpotrf of the same
  /// scaled matrix decides, and its factor is as good.
  bool factor_with_lapack() {
    kernels::Scan scan;
    load(kernels::Shape::lower, nullptr, nullptr, scan);
    const engine::SingleThreadedBlas blas;
    return kernels::potrf(block_) < 0;
  }

  void substitute(MatrixView<double> v) override {
    const kernels::Table& t = kernels::table();
    kernels::tile_trsv(t, block_, false, v);
    kernels::tile_trsv(t, block_, true, v);
  }

  refine::Product& product() override { return product_; }

  engine::ThreadPool pool_;
  refine::SymmetricProduct product_;
};

}  // namespace

Certificate solve_small_spd(MatrixView<const double> a, MatrixView<const double> b,
                            MatrixView<double> x, const SolveOptions& options) {
  const core::FpScope fp;
  const auto start = core::Clock::now();
  Certificate c = blank_certificate(a.rows, b.cols, Structure::spd, options);
  SmallSpd system(a, options, c);
  solve_small(system, b, x, options, start, c);
  return c;
}

}  // namespace stepwell::solvers

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "core/clock.hpp"
#include "core/machine/fp_scope.hpp"
#include "core/numeric/exponent.hpp"
#include "engine/runtime.hpp"
#include "factor/dense/lu.hpp"
#include "kernels/blas/lapack.hpp"
#include "kernels/kernels.hpp"
#include "refine/operators/general_product.hpp"
#include "solvers/small/small.hpp"
#include "solvers/small/small_system.hpp"
#include "solvers/systems/lapack_factor.hpp"
#include "solvers/systems/square_matrix.hpp"

namespace stepwell::solvers {
namespace {

factor::Scale as_it_is(std::int64_t n) {
  const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
  return {ones, ones, 1};
}

/// A system with A or A', solved with an LU factorization of A as LAPACK's.
class SmallGeneral : public SmallSystem {
 public:
  SmallGeneral(MatrixView<const double> a, const SolveOptions& options, Certificate& c)
      : SmallSystem(a, as_it_is(a.rows), small_batch(static_cast<std::int64_t>(c.columns.size())),
                    c),
        transposed_(options.transposed),
        pool_(n_ < factor::kDenseLuForThreads ? 1 : engine::pool_threads(options.engine.context)),
        product_(pool_, a, transposed_),
        pivots_(static_cast<std::size_t>(a.rows)) {
    if (n_ >= factor::kDenseLuForThreads) {
      record_threads(pool_.requested(), options.engine.context, c);
    }
  }

  bool factor() override {
    double* const sums = vectors(0, 1).data;
    std::fill_n(sums, n_, 0.0);
    kernels::Scan scan;
    load(kernels::Shape::full, transposed_ ? nullptr : sums, transposed_ ? sums : nullptr, scan);
    c_.norm = *std::max_element(sums, sums + n_);
    if (!all_finite(scan)) return false;
    if (const double power = lapack_power(scan.max_abs); power != 1) {
      // Rows and columns get half of the exponent each: neither A times x nor x itself leaves
      // FP64's range.
      const int exponent = core::exponent_of(power);
      const double row = core::power_of_two(exponent / 2);
      std::fill(scale_.row.begin(), scale_.row.end(), row);
      std::fill(scale_.col.begin(), scale_.col.end(), core::power_of_two(exponent - exponent / 2));
      exponents_ = Exponents(scale_.row, scale_.col);
      load(kernels::Shape::full, nullptr, nullptr, scan);
    }
    c_.pivot = factor::dense_lu(pool_, block_, pivots_.data());
    if (c_.pivot < 0 && !has_tiny_pivot()) return true;
    // Whether a tiny pivot is exactly zero depends on the order of sums: LAPACK decides.
    load(kernels::Shape::full, nullptr, nullptr, scan);
    c_.pivot = kernels::getrf(block_, pivots_.data());
    if (c_.pivot < 0) return true;
    c_.rungs.push_back(
        {c_.method, false, 0, 1, "pivot " + std::to_string(c_.pivot) + " is zero", 0});
    c_.outcome = SolveOutcome::singular;
    return false;
  }

 private:
  bool has_tiny_pivot() const {
    double least = HUGE_VAL, most = 0;
    for (std::int64_t k = 0; k < n_; ++k) {
      least = std::min(least, std::abs(block_(k, k)));
      most = std::max(most, std::abs(block_(k, k)));
    }
    return !(least > 0x1p-40 * most);
  }

  void substitute(MatrixView<double> v) override {
    // The BLAS is single-threaded: the thread pool solves blocks of columns in parallel.
    constexpr std::int64_t kColumns = 16;
    pool_.for_each((v.cols + kColumns - 1) / kColumns, [&](std::int64_t k) {
      const core::FpScope fp;
      const std::int64_t first = k * kColumns;
      const std::int64_t count = std::min(kColumns, v.cols - first);
      kernels::getrs(block_, pivots_.data(), transposed_, v.block(0, first, n_, count));
    });
  }

  refine::Product& product() override { return product_; }

  bool transposed_;
  engine::ThreadPool pool_;
  refine::GeneralProduct product_;
  std::vector<int> pivots_;
};

}  // namespace

Certificate solve_small_general(MatrixView<const double> a, MatrixView<const double> b,
                                MatrixView<double> x, const SolveOptions& options) {
  const core::FpScope fp;
  const auto start = core::Clock::now();
  const engine::SingleThreadedBlas blas;
  Certificate c = blank_certificate(a.rows, b.cols, Structure::general, options);
  SmallGeneral system(a, options, c);
  solve_small(system, b, x, options, start, c);
  return c;
}

}  // namespace stepwell::solvers

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "core/numeric/exponent.hpp"
#include "factor/lu/equilibrate.hpp"
#include "kernels/scan.hpp"
#include "refine/operators/general_product.hpp"
#include "solvers/analysis/analysis.hpp"

namespace stepwell::solvers {
namespace {

/// If the row sums of |A|, and its column sums, differ by no more than this factor, A needs no
/// equilibration and no second pass.
constexpr double kEven = 16;

/// Below this ratio of the Frobenius norms of the off-diagonal and the diagonal part, GMRES with
/// the diagonal gains a digit in every product or two, if the off-diagonal elements are spread out:
/// the spectral radius of D^-1 A - I is about twice the ratio for random elements. No factor is as
/// cheap.
constexpr double kNearDiagonal = 0.1;

/// If the mean square of the diagonal elements is at most this multiple of that of all elements,
/// the diagonal does not stand out: A is U diag(s) V' with random bases, or a random matrix. The
/// elements of such matrices grow by n^(2/3), and bf16 takes 40 iterations or hundreds, or 25 where
/// all singular values except one are equal: a bf16 factor is wasted time.
constexpr double kRandomDiagonal = 4;

/// The midpoint of the exponents in a scale.
int middle_of(const std::vector<double>& powers) {
  const auto [low, high] = std::minmax_element(powers.begin(), powers.end());
  return (core::exponent_of(*low) + core::exponent_of(*high)) / 2;
}

/// Moves a power of two from one side to the other so that the exponents of both have the same
/// midpoint: A may be near the end of FP64's range, and neither diag(col) x nor its product with A
/// may overflow.
void balance(factor::Scale& scale) {
  const int shift = (middle_of(scale.row) - middle_of(scale.col)) / 2;
  const auto move = [](double& power, int by) {
    power = core::power_of_two(std::clamp(core::exponent_of(power) + by, -1020, 1020));
  };
  for (double& r : scale.row) move(r, -shift);
  for (double& c : scale.col) move(c, shift);
}

/// A lower bound on ||H||_2 from a few of its columns.
double column_norm(MatrixView<const double> a, const factor::Scale& scale) {
  constexpr std::int64_t kColumns = 16;
  const std::int64_t n = a.rows;
  double largest = 0;
  for (std::int64_t k = 0; k < std::min(n, kColumns); ++k) {
    const std::int64_t j = k * n / std::min(n, kColumns);
    double squares = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double h = (scale.row[static_cast<std::size_t>(i)] * a(i, j)) *
                       scale.col[static_cast<std::size_t>(j)];
      squares += h * h;
    }
    largest = std::max(largest, std::sqrt(squares));
  }
  return largest;
}

/// Finds what the ladder needs to know of the diagonal of an evenly scaled matrix. 'scale_factor'
/// applies to all elements.
void analyze_diagonal(MatrixView<const double> a, double scale_factor, Analysis& analysis) {
  const std::int64_t n = a.rows;
  double squares = 0;
  for (std::int64_t i = 0; i < n; ++i)
    squares += (scale_factor * a(i, i)) * (scale_factor * a(i, i));
  const double whole = scale_factor * kernels::frobenius(analysis.found.scan);
  const double diagonal_fraction = squares / (whole * whole);
  analysis.random_diagonal = diagonal_fraction * static_cast<double>(n) <= kRandomDiagonal;
  if (!(1 - diagonal_fraction <= kNearDiagonal * kNearDiagonal * diagonal_fraction)) return;
  std::vector<double> inverse;
  for (std::int64_t i = 0; i < n; ++i) {
    const double h = scale_factor * a(i, i);
    if (h == 0) return;
    inverse.push_back(1 / h);
  }
  analysis.inverse_diagonal = std::move(inverse);
}

}  // namespace

Analysis analyze_general(engine::ThreadPool& pool, MatrixView<const double> a) {
  Analysis analysis;
  analysis.found = refine::scan_general(pool, a);
  const refine::MatrixScan& found = analysis.found;
  analysis.norm = found.norm_inf;
  analysis.transposed_norm = found.norm_1;
  if (found.scan.non_finite > 0) {
    analysis.outcome = SolveOutcome::non_finite;
    analysis.row = found.scan.bad_row;
    analysis.col = found.scan.bad_col;
    return analysis;
  }
  if (!std::isfinite(analysis.norm)) analysis.norm = found.scan.max_abs;
  if (!std::isfinite(analysis.transposed_norm)) analysis.transposed_norm = found.scan.max_abs;
  const bool even =
      found.norm_inf <= kEven * found.least_row && found.norm_1 <= kEven * found.least_col;
  analysis.scale =
      even ? factor::even_scale(a.rows, found.scan.max_abs) : factor::equilibrate(a, pool).scale;
  balance(analysis.scale);
  analysis.scaled_norm = column_norm(a, analysis.scale);
  if (even) analyze_diagonal(a, analysis.scale.row[0] * analysis.scale.col[0], analysis);
  return analysis;
}

}  // namespace stepwell::solvers

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "core/buffer.hpp"
#include "solvers/analysis/analysis.hpp"

namespace stepwell::solvers {
namespace {

/// If the standard deviation of the eigenvalues, divided by their mean, is below this, CG gains a
/// digit in every product or two, and no factor is as cheap.
constexpr double kNarrowSpectrum = 0.3;

/// If the elements next to the diagonal are on average this many times as large as others, the
/// points of a covariance are sorted.
constexpr double kSorted = 1.25;

/// Reports the first diagonal element that rules out a Cholesky factorization.
void check_diagonal(const factor::Diagonal& diagonal, Analysis& analysis) {
  for (std::size_t i = 0; i < diagonal.value.size(); ++i) {
    const double d = diagonal.value[i];
    if (d > 0 && std::isfinite(d)) continue;
    const auto k = static_cast<std::int64_t>(i);
    if (!std::isfinite(d)) {
      analysis.outcome = SolveOutcome::non_finite;
      analysis.row = analysis.col = k;
    } else {
      analysis.outcome = SolveOutcome::not_positive_definite;
      analysis.pivot = k;
      analysis.pivot_value = d;
    }
    return;
  }
}

/// Reports a non-finite element or asymmetry. Both take precedence over a bad diagonal element.
void check_scan(const refine::MatrixScan& found, std::int64_t n, const SolveOptions& options,
                Analysis& analysis) {
  const kernels::Scan& scan = found.scan;
  if (scan.non_finite > 0) {
    analysis.outcome = SolveOutcome::non_finite;
    analysis.row = scan.bad_row;
    analysis.col = scan.bad_col;
  } else if (options.check_symmetry &&
             !(scan.asymmetry <= 4 * 0x1p-53 * static_cast<double>(n) * scan.max_abs)) {
    analysis.outcome = SolveOutcome::asymmetric;
    analysis.row = scan.asymmetry_row;
    analysis.col = scan.asymmetry_col;
  }
}

/// The inverse of H's diagonal or, where a few eigenvalues dominate, that of the identity in the
/// scale of H, which makes CG work on the unscaled A: scaling would smear clusters of eigenvalues.
std::vector<double> inverse_diagonal(const factor::Diagonal& diagonal, const factor::Scale& scale,
                                     bool clusters) {
  std::vector<double> inverse(diagonal.value.size());
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    const double h = scale.row[i] * diagonal.value[i] * scale.col[i];
    const double identity = scale.row[i] * (scale.row[i] * scale.gain);
    inverse[i] = 1 / (clusters ? identity : h);
  }
  return inverse;
}

}  // namespace

/// A product with a vector w of random signs estimates the Frobenius norm of H: E ||H w||^2 =
/// ||H||_F^2.
Analysis analyze_spd(const factor::Diagonal& diagonal, const SymmetricScan& scan,
                     const SolveOptions& options) {
  Analysis analysis;
  check_diagonal(diagonal, analysis);
  if (analysis.outcome == SolveOutcome::non_finite) return analysis;
  const auto n = std::ssize(diagonal.value);
  analysis.scale = factor::scale_factors(diagonal, Scaling::powers_of_two);
  const factor::Scale& scale = analysis.scale;
  core::Buffer<double> signs(n), product(n);
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  const auto draw = [&state] {
    return state = state * 6364136223846793005U + 1442695040888963407U;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    const double power = scale.col[static_cast<std::size_t>(i)];
    signs[i] = (draw() >> 63) != 0 ? power : -power;
  }
  // In each row the element next to the diagonal and a random one.
  std::vector<refine::Element> elements;
  elements.reserve(static_cast<std::size_t>(2 * n));
  for (std::int64_t i = 1; i < n; ++i) {
    elements.push_back({i, i - 1});
    elements.push_back(
        {i, static_cast<std::int64_t>((draw() >> 33) % static_cast<std::uint64_t>(i))});
  }
  scan(view<const double>(signs.data(), n, 1), view(product.data(), n, 1), analysis.found,
       options.check_symmetry, elements);
  double trace = 0, squares = 0, largest = 0, neighbours = 0, others = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double d = scale.row[k] * diagonal.value[k] * scale.col[k];
    trace += d;
    largest = std::max(largest, d);
    const double h = scale.row[k] * product[i];
    squares += h * h;
    if (i == 0) continue;
    const auto size = [&](const refine::Element& e) {
      return std::abs(scale.row[k] * e.value * scale.col[static_cast<std::size_t>(e.col)]);
    };
    neighbours += size(elements[2 * k - 2]);
    others += size(elements[2 * k - 1]);
  }
  analysis.scaled_norm = std::max(largest, std::sqrt(squares / static_cast<double>(n)));
  analysis.sorted = neighbours > kSorted * others;
  analysis.flatness = trace * trace / (static_cast<double>(n) * squares);
  const double sum = analysis.found.norm_inf;
  analysis.norm = std::isfinite(sum) ? sum : analysis.found.scan.max_abs;
  analysis.transposed_norm = analysis.norm;
  check_scan(analysis.found, n, options, analysis);
  const double spread = std::sqrt(std::max(0.0, 1 / analysis.flatness - 1));
  const bool clusters = analysis.flatness < kClusters;
  if (spread < kNarrowSpectrum || clusters) {
    analysis.inverse_diagonal = inverse_diagonal(diagonal, scale, clusters);
  }
  return analysis;
}

}  // namespace stepwell::solvers

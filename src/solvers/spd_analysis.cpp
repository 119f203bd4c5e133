// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "core/clock.hpp"
#include "solvers/cost.hpp"
#include "solvers/spd.hpp"

/// What one pass over A tells of it, and where on the ladder to start.
namespace stepwell::solvers {
namespace {

using core::Clock;
using core::seconds_since;

/// Eigenvalues within this of their mean (standard deviation by mean): CG gains a digit in every
/// product or two, and no factor is as cheap.
constexpr double kNarrowSpectrum = 0.3;
/// Below this flatness a few eigenvalues carry the matrix: there may be only a few different ones,
/// which CG finds out within as many products.
constexpr double kClusters = 0.125;
/// Below this flatness bf16 breaks down or needs a hundred iterations as a rule (log-uniform
/// spectra from a condition number of 3e3 on: 2 / ln kappa), and its factor is time lost.
constexpr double kTooSteepForBf16 = 0.25;

/// Neighbours in A that are this much larger than other elements on average: sorted points.
constexpr double kSorted = 1.25;

}  // namespace

/// One pass over A: what it holds, and by a product with random signs its Frobenius norm in the
/// scale of H (E ||H w||^2 = ||H||_F^2).
void Spd::analyze(Certificate& c) {
  if (analyzed_) return;
  const auto start = Clock::now();
  if (options_.progress != nullptr) options_.progress->enter(Phase::analysis);
  const std::int64_t n = order();
  core::Buffer<double> signs(n), product(n);
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  const auto draw = [&state] {
    return state = state * 6364136223846793005U + 1442695040888963407U;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    signs[i] = (draw() >> 63) != 0 ? scale_.col[static_cast<std::size_t>(i)]
                                   : -scale_.col[static_cast<std::size_t>(i)];
  }
  std::vector<refine::Element> elements;  // of each row a neighbour of the diagonal, and any other
  elements.reserve(static_cast<std::size_t>(2 * n));
  for (std::int64_t i = 1; i < n; ++i) {
    elements.push_back({i, i - 1});
    elements.push_back(
        {i, static_cast<std::int64_t>((draw() >> 33) % static_cast<std::uint64_t>(i))});
  }
  a_->scan(view<const double>(signs.data(), n, 1), view(product.data(), n, 1), found_,
           options_.check_symmetry, elements);
  double trace = 0;
  double squares = 0;
  double largest = 0;
  double neighbours = 0;
  double others = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double d = scale_.row[k] * diagonal_.value[k] * scale_.col[k];
    trace += d;
    largest = std::max(largest, d);
    const double h = scale_.row[k] * product[i];
    squares += h * h;
    if (i == 0) continue;
    const auto size = [&](const refine::Element& e) {
      return std::abs(scale_.row[k] * e.value * scale_.col[static_cast<std::size_t>(e.col)]);
    };
    neighbours += size(elements[2 * k - 2]);
    others += size(elements[2 * k - 1]);
  }
  side_.scaled_norm = std::max(largest, std::sqrt(squares / static_cast<double>(n)));
  sorted_ = neighbours > kSorted * others;
  flatness_ = trace * trace / (static_cast<double>(n) * squares);
  if (!std::isfinite(found_.norm_inf)) found_.norm_inf = found_.scan.max_abs;
  side_.norm = found_.norm_inf;
  side_.scaled.expect(found_.checksums);
  analyzed_ = true;
  choose_rung();
  c.times.analysis += seconds_since(start);
}

bool Spd::worth_trying_without_factor() const {
  if (options_.map || maps_.size() == 1 || refiner_ != Refiner::cg) return false;
  const double spread = std::sqrt(std::max(0.0, 1 / flatness_ - 1));
  return spread < kNarrowSpectrum || flatness_ < kClusters;
}

bool Spd::few_eigenvalues_carry_it() const {
  return flatness_ < kClusters;
}

/// Where to start, once A has been looked at.
void Spd::choose_rung() {
  if (options_.map || rung_ > 0 || maps_.size() == 1 || ladder()[0] != Rung::bf16) return;
  if (flatness_ < kClusters) {
    maps_[0] = covariance_map();
    maps_.erase(maps_.begin() + 1);  // where that breaks down, uniform bf16x2 does so too
  } else if (flatness_ < kTooSteepForBf16) {
    rung_ = start_ = 1;
  }
}

}  // namespace stepwell::solvers

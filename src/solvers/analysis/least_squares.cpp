// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "core/clock.hpp"
#include "core/numeric/double_double.hpp"
#include "factor/setup.hpp"
#include "factor/tall/column_scan.hpp"
#include "kernels/scan.hpp"
#include "refine/vectors.hpp"
#include "solvers/systems/least_squares.hpp"

/// Products with A' lose all their digits where elements are denormal, and overflow where they are
/// huge. Scaling the vectors can't help if both occur in one matrix: the ratio of 2^1023 to 2^-1074
/// is beyond FP64's range. So if a column of A is not tame, A is scaled as it is read.
namespace stepwell::solvers {
namespace {

kernels::Scan total(const std::vector<kernels::Scan>& column) {
  kernels::Scan all;
  for (std::size_t j = 0; j < column.size(); ++j) {
    kernels::combine(all, column[j], 0, static_cast<std::int64_t>(j));
  }
  return all;
}

}  // namespace

bool is_tame(double size) {
  return size == 0 || (size > 0x1p-300 && size < 0x1p300);
}

/// sqrt(lambda d_j), in the units of A.
double LeastSquares::penalty(std::size_t column) const {
  const double weight = options_.weights.empty() ? 1 : options_.weights[column];
  return std::sqrt(options_.lambda) * std::sqrt(weight);
}

/// Returns true if A has to be scanned again, because it is now read in another scale.
bool LeastSquares::rescale(const std::vector<kernels::Scan>& column) {
  if (known_ || !exponent_.empty()) return false;
  const kernels::Scan all = total(column);
  const auto size_of = [&](std::size_t j) { return std::max(column[j].max_abs, penalty(j)); };
  bool tame = true;
  for (std::size_t j = 0; j < column.size(); ++j) tame = tame && is_tame(size_of(j));
  exponent_.assign(column.size(), 0);
  if (all.non_finite > 0) return false;
  c_.norm = kernels::frobenius(all);
  if (tame) return false;
  for (std::size_t j = 0; j < column.size(); ++j) {
    const double size = size_of(j);
    exponent_[j] = size > 0 ? -std::ilogb(size) : 0;
  }
  a_.scale(exponent_);
  return true;
}

/// Derives the scale of all computations from what the pass over A found. Returns false if A has a
/// non-finite element.
bool LeastSquares::analyze(const std::vector<kernels::Scan>& column) {
  if (known_) return true;
  const kernels::Scan all = total(column);
  if (all.non_finite > 0) {
    c_.outcome = SolveOutcome::non_finite;
    c_.row = all.bad_row;
    c_.col = all.bad_col;
    return false;
  }
  known_ = true;
  const auto n = static_cast<std::size_t>(n_);
  power_.resize(n);
  column_norm_.resize(n);
  double squares = 0;
  for (std::size_t j = 0; j < n; ++j) {
    column_norm_[j] = kernels::frobenius(column[j]);
    const double size = std::hypot(column_norm_[j], std::ldexp(penalty(j), exponent_[j]));
    power_[j] = refine::normalizer(size);
    squares += std::pow(size * power_[j], 2);
  }
  norm_ = std::sqrt(squares);
  if (options_.lambda > 0) set_tail();
  h_ = std::make_unique<refine::NormalProduct>(pool_, a_, power_, tail_, column);
  return true;
}

/// Computes lambda D, rounded once: the relative error is at most u, and that of the square root is
/// half as large.
void LeastSquares::set_tail() {
  double sum = 0;
  bool exact = true;
  for (std::size_t j = 0; j < power_.size(); ++j) {
    int of_lambda = 0, of_weight = 0;
    const double lambda = std::frexp(options_.lambda, &of_lambda);
    const double weight =
        std::frexp(options_.weights.empty() ? 1 : options_.weights[j], &of_weight);
    const core::DoubleDouble product = core::two_product(lambda, weight);
    exact = exact && product.lo == 0;
    tail_.push_back(
        std::ldexp(product.hi, of_lambda + of_weight + 2 * (exponent_[j] + std::ilogb(power_[j]))));
    sum += tail_[j];
  }
  if (!exact) tail_doubt_ = 0x1p-53 * std::sqrt(sum) / norm_;
}

/// Scans the columns of A in a separate pass, and again if they have to be rescaled.
void LeastSquares::scan_columns() {
  const auto start = core::Clock::now();
  std::vector<kernels::Scan> column;
  do {
    column = factor::scan_columns(pool_, a_);
  } while (rescale(column));
  analyze(column);
  c_.times.analysis += core::seconds_since(start);
}

/// The zero columns without a penalty: nothing determines their unknowns.
std::vector<std::int64_t> LeastSquares::empty_columns() const {
  std::vector<std::int64_t> empty;
  for (std::int64_t j = 0; j < n_; ++j) {
    const auto e = static_cast<std::size_t>(j);
    if (column_norm_[e] == 0 && (tail_.empty() || tail_[e] == 0)) empty.push_back(j);
  }
  return empty;
}

}  // namespace stepwell::solvers

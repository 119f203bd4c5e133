// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/uses/determinant.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <string>

#include "core/buffer.hpp"
#include "core/checks.hpp"
#include "core/memory_error.hpp"
#include "core/numeric/hash.hpp"
#include "core/numeric/roundoff.hpp"
#include "factor/lu/lu_data.hpp"
#include "factor/triangular/substitution.hpp"
#include "stepwell/error.hpp"

/// Determinants from a factor.
namespace stepwell {
namespace factor {

namespace {

/// log 2 to 106 bits.
constexpr core::DoubleDouble kLog2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

}  // namespace

/// An exact power of two, and a rest in [0.7, 1.42) whose logarithm is small, and so is its error.
void LogSum::add(double factor, int direction) {
  if (factor < 0) sign_ = -sign_;
  if (factor == 0) sign_ = 0;
  int exponent = 0;
  double rest = std::frexp(std::abs(factor), &exponent);
  if (rest < 0x1.6a09e667f3bcdp-1) {
    rest *= 2;
    --exponent;
  }
  exponents_ += direction * exponent;
  sum_ = sum_ + core::DoubleDouble{direction * std::log(rest), 0};
}

LogDet LogSum::value() const {
  if (sign_ == 0) return {-std::numeric_limits<double>::infinity(), 0};
  const auto exponents = static_cast<double>(exponents_);
  const core::DoubleDouble sum = core::multiply_add(sum_, exponents, kLog2.lo);
  return {core::multiply_add(sum, exponents, kLog2.hi).value(), sign_};
}

std::vector<double> diagonal_of(const tiles::TileMatrix& l) {
  std::vector<double> diagonal;
  for (std::int64_t i = 0; i < l.grid().tiles(); ++i) {
    const MatrixView<const double> tile = tiles::TileIn(l.tile(i, i)).fp64();
    for (std::int64_t k = 0; k < l.grid().size(i); ++k) diagonal.push_back(tile(k, k));
  }
  return diagonal;
}

std::vector<double> row_norms(OpenFactor& f) {
  std::vector<double> norms(static_cast<std::size_t>(f.n()));
  f.pool().for_each(f.grid().tiles(), [&](std::int64_t i) {
    double* const squares = norms.data() + i * f.grid().tile;
    for (std::int64_t j = 0; j <= i; ++j) {
      const MatrixView<const double> tile = tiles::TileIn(f.l().tile(i, j)).fp64();
      for (std::int64_t c = 0; c < tile.cols; ++c) {
        for (std::int64_t r = i == j ? c : 0; r < tile.rows; ++r) {
          squares[r] += tile(r, c) * tile(r, c);
        }
      }
    }
    for (std::int64_t r = 0; r < f.grid().size(i); ++r) squares[r] = std::sqrt(squares[r]);
  });
  const std::vector<double>& earlier = f.data().largest_row_norms;
  for (std::size_t i = 0; i < earlier.size(); ++i) norms[i] = std::max(norms[i], earlier[i]);
  return norms;
}

int sign_of(const std::vector<std::int64_t>& order) {
  std::vector<bool> seen(order.size());
  int sign = 1;
  for (std::size_t k = 0; k < order.size(); ++k) {
    // A cycle of m elements is m - 1 exchanges.
    for (std::size_t i = k; !seen[i]; i = static_cast<std::size_t>(order[i])) {
      seen[i] = true;
      if (static_cast<std::size_t>(order[i]) != k) sign = -sign;
    }
  }
  return sign;
}

namespace {

using core::kUnit;

/// The rounding error of an element of L L', relative to sqrt(h_ii h_jj) and in units of u: its
/// standard deviation, and what all elements may have in common. With exact sums few roundings are
/// left; without, the sums' errors grow like a random walk. The constants make the bound at least
/// 2.2 times the error of 2,000 matrices (factor_attack --kind determinant). A change that rotates
/// k columns takes each row through n + k rotations, whose errors add up like a random walk.
double element_error(const OpenFactor& f) {
  const auto& tiles = f.data().report.tiles;
  const bool exact_sums = tiles[static_cast<std::size_t>(Rung::int8x14)] > 0 ||
                          tiles[static_cast<std::size_t>(Rung::int8x15)] > 0;
  const double of_sums = exact_sums ? 1 : 0.5 + 0.15 * std::sqrt(static_cast<double>(f.n()));
  return of_sums + 0.3 * std::sqrt(f.data().rotations);
}

/// Sizes of M = N H^-1 N, where N = diag(norms).
struct InverseSizes {
  double norm = 0;   ///< || M ||_F
  double trace = 0;  ///< estimated
  double sum = 0;    ///< of all elements
};

/// The norm and the trace are estimated by products with vectors z of random signs, as the means of
/// ||M z||^2 and z'M z. An estimate of the norm is below 0.4 times the norm with a probability of
/// 1e-7 at most (if M has one large singular value: that of a chi-squared distribution with 32
/// degrees of freedom).
constexpr std::int64_t kProbes = 32;
constexpr double kLeastEstimate = 0.4;

InverseSizes inverse_sizes(OpenFactor& f, const std::vector<double>& norms) {
  constexpr std::int64_t kColumns = kProbes + 1;  // the last one has ones
  core::require_memory(substitute_columns_bytes(f.grid(), kColumns, f.pool().size()) +
                           core::size_product(f.n(), 8 * kColumns, "log_det_error: probes"),
                       "log_det_error: probes");
  const core::Buffer<double> memory(f.n() * kColumns, core::Contents::any);
  const MatrixView<double> x = view(memory.data(), f.n(), kColumns);
  const auto probe = [&](std::int64_t i, std::int64_t c) {
    const auto index = static_cast<std::uint64_t>(c * f.n() + i);
    const bool negative = c < kProbes && (core::hash(index) & 1U) != 0;
    const double norm = norms[static_cast<std::size_t>(i)];
    return negative ? -norm : norm;
  };
  for (std::int64_t c = 0; c < kColumns; ++c) {
    for (std::int64_t i = 0; i < f.n(); ++i) x(i, c) = probe(i, c);
  }
  substitute_columns(f.pool(), f.l(), f.l(), Triangles::both, x);
  InverseSizes sizes;
  for (std::int64_t c = 0; c < kColumns; ++c) {
    double squares = 0, product = 0;
    for (std::int64_t i = 0; i < f.n(); ++i) {
      const double element = x(i, c) * norms[static_cast<std::size_t>(i)];
      squares += element * element;
      product += x(i, c) * probe(i, c);
    }
    if (c == kProbes) {
      sizes.sum = std::abs(product);
    } else {
      sizes.norm += squares / kProbes;
      sizes.trace += product / kProbes;
    }
  }
  sizes.norm = std::sqrt(sizes.norm) / kLeastEstimate;
  return sizes;
}

}  // namespace
}  // namespace factor

double Factor::log_det() const try {
  const factor::OpenFactor f(*this, {}, "log_det");
  const std::vector<double> diagonal = factor::diagonal_of(f.l());
  factor::LogSum sum;
  for (std::int64_t k = 0; k < f.n(); ++k) {
    sum.multiply(diagonal[static_cast<std::size_t>(k)]);
    sum.divide(f.scale(k));
  }
  return 2 * sum.value().log;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

/// With H + E = L L', log det H = log det(L L') - trace(H^-1 E) up to second order: a sum of n^2
/// rounding errors. If they are independent, its standard deviation is that of one times the norm
/// of the inverse; those on the diagonal, or all, may have a part in common, as for Toeplitz
/// matrices.
double Factor::log_det_error(const EngineOptions& with) const try {
  factor::OpenFactor f(*this, with, "log_det_error");
  if (f.n() == 0) return 0;
  constexpr double kDeviations = 6;
  const factor::InverseSizes inverse = factor::inverse_sizes(f, factor::row_norms(f));
  const double sum = factor::element_error(f) * factor::kUnit *
                     (kDeviations * inverse.norm + inverse.trace + inverse.sum);
  if (!(sum < 0.5)) return std::numeric_limits<double>::infinity();
  const double logs = 2 * static_cast<double>(f.n()) * factor::LogSum::kTermError;
  return sum / (1 - sum) + logs + 2 * factor::kUnit * std::abs(log_det());
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

LogDet LuFactor::log_det() const try {
  if (!ok()) throw Error(ErrorCode::invalid_argument, "log_det: there is no factor");
  factor::require_fp64(data_->l, "log_det");
  if (data_->butterflies) {
    throw Error(ErrorCode::unsupported, "log_det: not with Pivoting::butterfly");
  }
  const core::FpScope fp;
  const std::vector<double> diagonal = factor::diagonal_of(data_->g);
  factor::LogSum sum;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    sum.multiply(diagonal[k]);
    sum.divide(data_->scale.row[k]);
    sum.divide(data_->scale.col[k]);
  }
  const LogDet found = sum.value();
  return {found.log, found.sign * factor::sign_of(data_->order)};
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell

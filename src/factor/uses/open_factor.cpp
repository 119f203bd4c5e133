// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "factor/uses/open_factor.hpp"

#include <cmath>

#include "core/checks.hpp"
#include "stepwell/error.hpp"

namespace stepwell::factor {
namespace {

const FactorData& data_of(const Factor& factor, const std::string& what) {
  if (!factor.ok()) {
    throw Error(ErrorCode::invalid_argument,
                what + ": there is no factor: " + to_string(factor.report().outcome));
  }
  const FactorData& data = FactorData::of(factor);
  require_fp64(data.l, what);
  return data;
}

}  // namespace

void require_fp64(const tiles::TileMatrix& l, const std::string& what) {
  const Rung coarsest = l.map().coarsest();
  if (coarsest == Rung::fp64) return;
  throw Error(ErrorCode::unsupported, what + ": the factor has tiles at " +
                                          std::string(to_string(coarsest)) +
                                          ", too coarse for this; factor with the map fp64");
}

OpenFactor::OpenFactor(const Factor& factor, const EngineOptions& with, const std::string& what)
    : data_(data_of(factor, what)),
      what_(what),
      progress_(with.progress),
      pool_(engine::pool_threads(with.context)) {
  const double root = std::sqrt(data_.scale.gain);
  for (const double s : data_.scale.row) scale_.push_back(s * root);
}

void OpenFactor::permute(MatrixView<double> x) const {
  if (!permuted()) return;
  std::vector<double> column;
  for (std::int64_t c = 0; c < x.cols; ++c) {
    column.assign(x.column(c), x.column(c) + n());
    for (std::int64_t i = 0; i < n(); ++i) x(i, c) = column[static_cast<std::size_t>(place(i))];
  }
}

void OpenFactor::permute_back(MatrixView<double> x) const {
  if (!permuted()) return;
  std::vector<double> column;
  for (std::int64_t c = 0; c < x.cols; ++c) {
    column.assign(x.column(c), x.column(c) + n());
    for (std::int64_t i = 0; i < n(); ++i) x(place(i), c) = column[static_cast<std::size_t>(i)];
  }
}

void OpenFactor::multiply_by_scale(MatrixView<double> x) const {
  for (std::int64_t c = 0; c < x.cols; ++c) {
    for (std::int64_t i = 0; i < n(); ++i) x(i, c) *= scale(i);
  }
}

void OpenFactor::divide_by_scale(MatrixView<double> x) const {
  for (std::int64_t c = 0; c < x.cols; ++c) {
    for (std::int64_t i = 0; i < n(); ++i) x(i, c) /= scale(i);
  }
}

void OpenFactor::require_rows(MatrixView<const double> b, const std::string& name) const {
  if (b.rows != n() || b.cols < 0) {
    throw Error(ErrorCode::invalid_argument, what_ + ": " + name + " is " + std::to_string(b.rows) +
                                                 " x " + std::to_string(b.cols) +
                                                 "; it must have " + std::to_string(n()) + " rows");
  }
  core::require_view(b.data, b.rows, b.cols, b.ld, what_ + ": " + name);
}

}  // namespace stepwell::factor

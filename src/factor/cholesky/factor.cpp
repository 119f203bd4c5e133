// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stepwell/factor.hpp"

#include <cmath>
#include <new>
#include <vector>

#include "core/memory_error.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "kernels/kernels.hpp"
#include "stepwell/error.hpp"
#include "tiles/operations.hpp"

namespace stepwell {

const char* to_string(FactorOutcome outcome) {
  switch (outcome) {
    case FactorOutcome::ok:
      return "ok";
    case FactorOutcome::not_positive_definite:
      return "not positive definite";
    case FactorOutcome::breakdown:
      return "breakdown";
    case FactorOutcome::singular:
      return "singular";
    case FactorOutcome::non_finite:
      return "non-finite element";
    case FactorOutcome::cancelled:
      return "cancelled";
    case FactorOutcome::corrupted:
      break;
  }
  return "corrupted";
}

Factor::Factor() try : data_(std::make_unique<FactorData>()) {
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}
Factor::Factor(std::unique_ptr<FactorData> data) : data_(std::move(data)) {}
Factor::~Factor() = default;
Factor::Factor(Factor&& other) noexcept = default;
Factor& Factor::operator=(Factor&& other) noexcept = default;

std::int64_t Factor::order() const {
  return data_->n;
}

const FactorReport& Factor::report() const {
  return data_->report;
}

const std::vector<std::int64_t>& Factor::permutation() const {
  return data_->order;
}

void Factor::copy_to(MatrixView<double> l) const try {
  const std::int64_t n = order();
  if (!ok()) throw Error(ErrorCode::invalid_argument, "copy_to: there is no factor to copy");
  if (l.rows != n || l.cols != n || l.ld < n || (n > 0 && l.data == nullptr)) {
    throw Error(ErrorCode::invalid_argument,
                "copy_to: the output must be " + std::to_string(n) + " x " + std::to_string(n));
  }
  const core::FpScope fp;
  std::vector<double> row;
  const double root = std::sqrt(data_->scale.gain);
  for (const double s : data_->scale.row) row.push_back(1 / (s * root));
  const kernels::Table& t = kernels::table();
  const tiles::Grid& grid = data_->l.grid();
  for (std::int64_t j = 0; j < grid.tiles(); ++j) {
    const std::int64_t col = j * grid.tile;
    for (std::int64_t c = col; c < col + grid.size(j); ++c) std::fill_n(l.column(c), col, 0.0);
    for (std::int64_t i = j; i < grid.tiles(); ++i) {
      const std::int64_t first = i * grid.tile;
      tiles::copy_tile(t, data_->l.tile(i, j), {row.data() + first, nullptr},
                       l.block(first, col, grid.size(i), grid.size(j)));
    }
  }
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <new>
#include <vector>

#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "core/checks.hpp"
#include "core/memory_error.hpp"
#include "core/numeric/roundoff.hpp"
#include "factor/changes/changing_factor.hpp"
#include "factor/changes/rotations.hpp"
#include "factor/dense/cholesky.hpp"
#include "factor/triangular/substitution.hpp"
#include "factor/uses/determinant.hpp"

/// Updates and downdates of a factor: A + V V' and A - V V'.
namespace stepwell {
namespace factor {
namespace {

using core::kUnit;

/// S' of S'S = I - P'P. Returns false if the matrix may be indefinite: each element of P'P, which
/// is at most 1 then, has an error of up to n u.
bool factor_rest(engine::ThreadPool& pool, MatrixView<const double> p, MatrixView<double> s) {
  for (std::int64_t c = 0; c < s.cols; ++c) {
    for (std::int64_t i = 0; i < s.rows; ++i) s(i, c) = i == c ? 1 : 0;
  }
  subtract_gram(pool, p, s);
  if (!dense_cholesky(pool, s).ok()) return false;
  const double least = static_cast<double>(p.rows + p.cols) * kUnit;
  for (std::int64_t t = 0; t < s.cols; ++t) {
    if (!(s(t, t) * s(t, t) > least)) return false;
  }
  return true;
}

std::int64_t downdate_bytes(const tiles::Grid& grid, std::int64_t columns, int threads) {
  return substitute_columns_bytes(grid, columns, threads) + RotationTable::bytes(grid.n, columns) +
         core::size_product(columns, columns, 8, "downdate: columns of V");
}

}  // namespace
}  // namespace factor

void Factor::update(MatrixView<const double> v, const EngineOptions& with) try {
  factor::ChangingFactor f(*this, with, "update");
  const core::Buffer<double> memory = f.scaled(v);
  if (v.empty()) return;
  factor::add_columns(f.open().pool(), f.open().l(), view(memory.data(), v.rows, v.cols));
  f.report_change(v.cols);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

bool Factor::downdate(MatrixView<const double> v, const EngineOptions& with) try {
  factor::ChangingFactor f(*this, with, "downdate");
  factor::OpenFactor& open = f.open();
  const core::Buffer<double> memory = f.scaled(v);
  if (v.empty()) return true;
  core::require_memory(factor::downdate_bytes(open.grid(), v.cols, open.pool().size()),
                       "downdate: rotations");
  const MatrixView<double> p = view(memory.data(), v.rows, v.cols);
  factor::substitute_columns(open.pool(), open.l(), open.l(), factor::Triangles::forward, p);
  const core::Buffer<double> rest(v.cols * v.cols, core::Contents::any);
  const MatrixView<double> s = view(rest.data(), v.cols, v.cols);
  if (!factor::factor_rest(open.pool(), p, s)) return false;
  std::vector<double> norms = factor::row_norms(open);
  const factor::RotationTable table = factor::eliminate_rows(p, s);
  factor::subtract_columns(open.pool(), open.l(), table);
  f.data().largest_row_norms = std::move(norms);
  f.report_change(v.cols);
  return true;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell

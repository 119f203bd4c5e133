// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/analysis/lower_triangle_copy.hpp"

#include <algorithm>
#include <utility>

#include "core/checked.hpp"
#include "core/numeric/transpose.hpp"
#include "engine/threads/thread_pool.hpp"
#include "solvers/systems/square_solver.hpp"

namespace stepwell::solvers {

LowerTriangleCopy::LowerTriangleCopy(MatrixView<const double> a, const SolveOptions& options)
    : view_(a) {
  if (options.triangle == Triangle::lower || a.empty()) return;
  const std::int64_t n = a.rows;
  copy_ = core::Buffer<double>(core::size_product(n, n, "a copy of A"), core::Contents::any);
  const MatrixView<double> out = stepwell::view(copy_.data(), n, n);
  view_ = out;
  constexpr std::int64_t kColumns = 32;  // columns of A at a time, as in core::transpose()
  engine::ThreadPool pool(threads_for(n, options.engine.context));
  pool.for_each((n + kColumns - 1) / kColumns, [&](std::int64_t block) {
    const std::int64_t j = block * kColumns, width = std::min(n - j, kColumns);
    if (options.check_symmetry) {
      return core::transpose(a.block(0, j, n, width), out.block(j, 0, width, n));
    }
    // The lower triangle of A must not be read unless the caller asks for a symmetry check.
    core::transpose(a.block(0, j, j, width), out.block(j, 0, width, j));
    core::transpose(a.block(j, j, width, width), out.block(j, j, width, width), core::Part::lower);
  });
}

Certificate LowerTriangleCopy::in_callers_terms(Certificate c) const {
  if (copy_.size() == 0) return c;
  if (!c.in_b) std::swap(c.row, c.col);
  c.peak_bytes += copy_.size() * static_cast<std::int64_t>(sizeof(double));
  return c;
}

std::int64_t LowerTriangleCopy::bytes(std::int64_t n, const SolveOptions& options) {
  return options.triangle == Triangle::lower
             ? 0
             : core::size_product(n, n, sizeof(double), "a copy of A");
}

}  // namespace stepwell::solvers

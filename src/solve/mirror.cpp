// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "solve/mirror.hpp"

#include <algorithm>
#include <utility>

#include "core/checked.hpp"
#include "engine/team.hpp"
#include "solve/solver.hpp"

namespace stepwell::driver {

Mirror::Mirror(MatrixView<const double> a, const SolveOptions& options) : view_(a) {
  if (options.triangle == Triangle::lower || a.empty()) return;
  const std::int64_t n = a.rows;
  copy_ = core::Buffer<double>(core::size_product(n, n, "a copy of A"), core::Contents::any);
  const MatrixView<double> out = stepwell::view(copy_.data(), n, n);
  view_ = out;
  constexpr std::int64_t kBlock = 32;  // of columns and rows: both blocks stay in L1
  engine::Team team(threads_for(n, options.context));
  team.for_each((n + kBlock - 1) / kBlock, [&](std::int64_t block) {
    const std::int64_t j0 = block * kBlock, j1 = std::min(n, j0 + kBlock);
    for (std::int64_t i0 = 0; i0 < n; i0 += kBlock) {
      if (!options.check_symmetry && i0 > j0) break;
      const std::int64_t i1 = std::min(n, i0 + kBlock);
      for (std::int64_t i = i0; i < i1; ++i) {
        // Below the diagonal nothing may be read that was not asked for.
        const std::int64_t first = options.check_symmetry ? j0 : std::max(i, j0);
        for (std::int64_t j = first; j < j1; ++j) out(j, i) = a(i, j);
      }
    }
  });
}

Certificate Mirror::in_callers_terms(Certificate c) const {
  if (copy_.size() == 0) return c;
  if (!c.in_b) std::swap(c.row, c.col);
  c.peak_bytes += copy_.size() * static_cast<std::int64_t>(sizeof(double));
  return c;
}

std::int64_t Mirror::bytes(std::int64_t n, const SolveOptions& options) {
  return options.triangle == Triangle::lower
             ? 0
             : core::size_product(n, n, sizeof(double), "a copy of A");
}

}  // namespace stepwell::driver

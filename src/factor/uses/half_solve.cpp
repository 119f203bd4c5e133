// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <new>
#include <vector>

#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "core/checks.hpp"
#include "core/memory_error.hpp"
#include "factor/triangular/substitution.hpp"
#include "factor/uses/open_factor.hpp"

/// Substitution with an FP64 factor, without refinement: solves, half solves and quadratic forms.
namespace stepwell {
namespace factor {
namespace {

/// X <- L^-1 P B for A = L L', the factor in A's scale; with both triangles X <- A^-1 B.
void substitute_in_place(OpenFactor& f, Triangles triangles, MatrixView<double> b) {
  const bool both = triangles == Triangles::both;
  Chunks chunks;
  chunks.before = [&](std::int64_t, MatrixView<double> x) {
    f.permute(x);
    f.multiply_by_scale(x);
  };
  if (both) {
    chunks.after = [&](std::int64_t, MatrixView<double> x) {
      f.multiply_by_scale(x);
      f.permute_back(x);
    };
  }
  core::require_memory(substitute_columns_bytes(f.grid(), b.cols, f.pool().size()), "substitution");
  substitute_columns(f.pool(), f.l(), f.l(), triangles, b, chunks);
}

/// Columns of B that are copied and solved together.
constexpr std::int64_t kTogether = 2048;
/// Columns that one thread copies or sums at a time.
constexpr std::int64_t kPart = 16;

double sum_of_squares(const double* x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * x[i];
  return sum;
}

}  // namespace
}  // namespace factor

void Factor::solve_unrefined(MatrixView<double> b, const EngineOptions& with) const try {
  factor::OpenFactor f(*this, with, "solve_unrefined");
  f.require_rows(b);
  factor::substitute_in_place(f, factor::Triangles::both, b);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

void Factor::half_solve(MatrixView<double> b, const EngineOptions& with) const try {
  factor::OpenFactor f(*this, with, "half_solve");
  f.require_rows(b);
  factor::substitute_in_place(f, factor::Triangles::forward, b);
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

std::vector<double> Factor::quadratic_forms(MatrixView<const double> b,
                                            const EngineOptions& with) const try {
  factor::OpenFactor f(*this, with, "quadratic_forms");
  f.require_rows(b);
  std::vector<double> forms(static_cast<std::size_t>(b.cols));
  const std::int64_t n = order(), most = std::min(b.cols, factor::kTogether);
  if (n == 0 || most == 0) return forms;
  const std::int64_t size = core::size_product(n, most, "quadratic_forms: columns of B");
  core::require_memory(core::size_product(size, 8, "quadratic_forms: columns of B"),
                       "columns of B");
  const core::Buffer<double> memory(size, core::Contents::any);
  for (std::int64_t first = 0; first < b.cols; first += most) {
    const MatrixView<double> x = view(memory.data(), n, std::min(most, b.cols - first));
    const auto for_columns = [&](const auto& body) {
      f.pool().for_each(core::ceil_div(x.cols, factor::kPart), [&](std::int64_t part) {
        const core::FpScope fp;
        const std::int64_t end = std::min((part + 1) * factor::kPart, x.cols);
        for (std::int64_t c = part * factor::kPart; c < end; ++c) body(c);
      });
    };
    for_columns([&](std::int64_t c) { std::copy_n(b.column(first + c), n, x.column(c)); });
    factor::substitute_in_place(f, factor::Triangles::forward, x);
    for_columns([&](std::int64_t c) {
      forms[static_cast<std::size_t>(first + c)] = factor::sum_of_squares(x.column(c), n);
    });
  }
  return forms;
} catch (const std::bad_alloc&) {
  core::throw_out_of_memory();
}

}  // namespace stepwell

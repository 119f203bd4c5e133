// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "refine/preconditioner.hpp"

#include "factor/substitution.hpp"
#include "refine/vectors.hpp"

namespace stepwell::refine {
namespace {

/// Where the factor is coarser than this, substitution in fp32 adds nothing to its error.
constexpr double kNarrow = 0x1p-20;

}  // namespace

FactorPreconditioner::FactorPreconditioner(engine::Team& team, const FactorData& factor,
                                           const std::vector<double>& row,
                                           const std::vector<double>& col,
                                           Substitution substitution)
    : team_(team),
      factor_(factor),
      before_(row.size()),
      after_(row.size()),
      narrow_(substitution == Substitution::as_factor && factor.report.unit_roundoff > kNarrow &&
              !factor.l.map().uses(Rung::fp64)) {
  for (std::size_t k = 0; k < row.size(); ++k) {
    const std::size_t i = factor.order.empty() ? k : static_cast<std::size_t>(factor.order[k]);
    before_[k] = factor.scale.row[k] / row[i];
    after_[k] = factor.scale.col[k] / col[i];
  }
}

template <class V>
void FactorPreconditioner::apply_in(core::Buffer<V>& memory, MatrixView<const double> r,
                                    MatrixView<double> z) {
  const std::int64_t n = r.rows;
  if (memory.size() < n * r.cols) memory = core::Buffer<V>(n * r.cols);
  const MatrixView<V> x = view(memory.data(), n, r.cols);
  std::vector<double> size(static_cast<std::size_t>(r.cols));
  for (std::int64_t c = 0; c < r.cols; ++c) {
    const double s = normalizer(max_abs(n, r.column(c)));
    size[static_cast<std::size_t>(c)] = s;
    const double* const from = r.column(c);
    for (std::int64_t k = 0; k < n; ++k) {
      x(k, c) = static_cast<V>(from[place(k)] * s * before_[static_cast<std::size_t>(k)]);
    }
  }
  factor::substitute(team_, factor_.l, x);
  for (std::int64_t c = 0; c < r.cols; ++c) {
    double* const to = z.column(c);
    const double back = 1 / size[static_cast<std::size_t>(c)];
    for (std::int64_t k = 0; k < n; ++k) {
      to[place(k)] = static_cast<double>(x(k, c)) * after_[static_cast<std::size_t>(k)] * back;
    }
  }
}

void FactorPreconditioner::apply(MatrixView<const double> r, MatrixView<double> z) {
  if (narrow_) {
    apply_in(fp32_, r, z);
  } else {
    apply_in(fp64_, r, z);
  }
}

void DiagonalPreconditioner::apply(MatrixView<const double> r, MatrixView<double> z) {
  for (std::int64_t c = 0; c < r.cols; ++c) {
    for (std::int64_t i = 0; i < r.rows; ++i) {
      z(i, c) = inverse_[static_cast<std::size_t>(i)] * r(i, c);
    }
  }
}

}  // namespace stepwell::refine

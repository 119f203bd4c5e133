// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "core/buffer.hpp"
#include "engine/team.hpp"
#include "factor/factor_data.hpp"
#include "refine/operator.hpp"

namespace stepwell::refine {

/// The precision of the vectors in substitution: fp64, or fp32 where the factor is coarser, which
/// reads nothing but L and is half the work with many columns.
enum class Substitution : unsigned char { as_factor, fp64 };

/// The factor of A as a preconditioner of H = diag(row) A diag(col).
class FactorPreconditioner : public Preconditioner {
 public:
  FactorPreconditioner(engine::Team& team, const FactorData& factor, const std::vector<double>& row,
                       const std::vector<double>& col,
                       Substitution substitution = Substitution::as_factor);
  void apply(MatrixView<const double> r, MatrixView<double> z) override;

 private:
  /// Where the vectors have what the factor has at k.
  std::int64_t place(std::int64_t k) const {
    return factor_.order.empty() ? k : factor_.order[static_cast<std::size_t>(k)];
  }
  template <class V>
  void apply_in(core::Buffer<V>& memory, MatrixView<const double> r, MatrixView<double> z);

  engine::Team& team_;
  const FactorData& factor_;
  std::vector<double> before_, after_;  ///< H^-1 = P' diag(after) (L L')^-1 diag(before) P
  bool narrow_;
  core::Buffer<float> fp32_;
  core::Buffer<double> fp64_;
};

/// No factor: a diagonal. The bottom of the ladder.
class DiagonalPreconditioner : public Preconditioner {
 public:
  /// inverse: the reciprocals.
  explicit DiagonalPreconditioner(std::vector<double> inverse) : inverse_(std::move(inverse)) {}
  void apply(MatrixView<const double> r, MatrixView<double> z) override;

 private:
  std::vector<double> inverse_;
};

}  // namespace stepwell::refine

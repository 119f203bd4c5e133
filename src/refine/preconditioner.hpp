// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "core/buffer.hpp"
#include "engine/threads/thread_pool.hpp"
#include "factor/cholesky/factor_data.hpp"
#include "factor/distributed/substitution.hpp"
#include "factor/lu/lu_data.hpp"
#include "factor/triangular/substitution.hpp"
#include "refine/operators/operator.hpp"

namespace stepwell::refine {

/// Precision of the vectors in substitution: fp64, or (as_factor) fp32 where the factor is coarser,
/// which reads nothing but L and halves the work with many columns.
enum class Substitution : unsigned char { as_factor, fp64 };

/// A factor of A as a preconditioner of H = diag(row) A diag(col). With 'ranks' its tiles are
/// distributed over them: apply() is then collective, and every rank has all elements of r and z.
class FactorPreconditioner : public Preconditioner {
 public:
  FactorPreconditioner(engine::ThreadPool& pool, const FactorData& factor,
                       const std::vector<double>& row, const std::vector<double>& col,
                       Substitution substitution = Substitution::as_factor,
                       engine::Communicator* ranks = nullptr);
  /// A preconditioner of H' if 'transposed'.
  FactorPreconditioner(engine::ThreadPool& pool, const LuData& factor,
                       const std::vector<double>& row, const std::vector<double>& col,
                       bool transposed, Substitution substitution = Substitution::as_factor);
  void apply(MatrixView<const double> r, MatrixView<double> z) override;
  /// The same in place for many columns with a factor at fp64 on one rank, without normalization:
  /// factor::substitute_columns(). 'chunks' sees vectors in the scale of H.
  void apply_columns(MatrixView<double> x, const factor::Chunks& chunks);

 private:
  void to_factor(double* x) const;
  void from_factor(double* x) const;
  FactorPreconditioner(engine::ThreadPool& pool, const tiles::TileMatrix& forward,
                       const tiles::TileMatrix& backward, double unit_roundoff,
                       Substitution substitution);
  template <class V>
  void apply_in(core::Buffer<V>& memory, MatrixView<const double> r, MatrixView<double> z);

  engine::ThreadPool& pool_;
  const tiles::TileMatrix& forward_;
  const tiles::TileMatrix& backward_;
  /// Set if the tiles are distributed.
  std::optional<factor::DistributedSubstitution> distributed_;
  bool narrow_;
  /// Element k of the factor's vectors is element from[k] of r and to[k] of z; empty: element k.
  const std::vector<std::int64_t>* from_ = nullptr;
  const std::vector<std::int64_t>* to_ = nullptr;
  std::vector<double> before_, after_;        ///< scale factors before and after substitution
  const factor::Butterfly* first_ = nullptr;  ///< its transpose is applied first, if not null
  const factor::Butterfly* last_ = nullptr;   ///< applied last, if not null
  core::Buffer<float> fp32_;
  core::Buffer<double> fp64_;
};

/// A diagonal matrix instead of a factor: the bottom of the ladder.
class DiagonalPreconditioner : public Preconditioner {
 public:
  /// inverse: the reciprocals of the diagonal.
  explicit DiagonalPreconditioner(std::vector<double> inverse) : inverse_(std::move(inverse)) {}
  void apply(MatrixView<const double> r, MatrixView<double> z) override;

 private:
  std::vector<double> inverse_;
};

}  // namespace stepwell::refine

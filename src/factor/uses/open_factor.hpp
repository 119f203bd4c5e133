// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "core/machine/fp_scope.hpp"
#include "engine/runtime.hpp"
#include "engine/threads/thread_pool.hpp"
#include "factor/cholesky/factor_data.hpp"

namespace stepwell::factor {

/// Throws Error(unsupported) unless every tile is at fp64. 'what' is the name of the call.
void require_fp64(const tiles::TileMatrix& l, const std::string& what);

/// A Cholesky factor at fp64 during a call that uses it: A = P' D^-1 L L' D^-1 P with the stored
/// tiles L and D = diag(scale), and the threads that work with it. The BLAS is set to one thread.
class OpenFactor {
 public:
  /// Throws Error(invalid_argument) if there is no factor, and as require_fp64().
  OpenFactor(const Factor& factor, const EngineOptions& with, const std::string& what);

  std::int64_t n() const { return data_.n; }
  const tiles::TileMatrix& l() const { return data_.l; }
  const tiles::Grid& grid() const { return data_.l.grid(); }
  const FactorData& data() const { return data_; }
  engine::ThreadPool& pool() { return pool_; }
  Progress* progress() const { return progress_; }

  double scale(std::int64_t i) const { return scale_[static_cast<std::size_t>(i)]; }
  /// The row of A that is row i of P A.
  std::int64_t place(std::int64_t i) const {
    return data_.order.empty() ? i : data_.order[static_cast<std::size_t>(i)];
  }
  bool permuted() const { return !data_.order.empty(); }

  /// X <- P X and X <- P' X, columns of length n.
  void permute(MatrixView<double> x) const;
  void permute_back(MatrixView<double> x) const;
  /// X <- D X and X <- D^-1 X.
  void multiply_by_scale(MatrixView<double> x) const;
  void divide_by_scale(MatrixView<double> x) const;

  /// Throws Error(invalid_argument) unless the matrix has n rows and is a valid view.
  void require_rows(MatrixView<const double> b, const std::string& name = "B") const;

 private:
  const FactorData& data_;
  const std::string what_;
  Progress* const progress_;
  engine::ThreadPool pool_;
  std::vector<double> scale_;
  const core::FpScope fp_;
  const engine::SingleThreadedBlas blas_;
};

}  // namespace stepwell::factor

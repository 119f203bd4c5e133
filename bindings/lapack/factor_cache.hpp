// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "call_log.hpp"
#include "core/buffer.hpp"
#include "core/numeric/transpose.hpp"
#include "stepwell/solve.hpp"

/// The last system that dposv or dgesv was taken for. Where LAPACK leaves a factor in A we leave
/// NaNs that name it: the routines which LAPACK's users call next find it by them, and everything
/// else that reads A gets NaN.
namespace stepwell::lapack {

using core::Part;  ///< what a factor was made of

struct CachedFactor {
  CachedFactor(core::Buffer<double> matrix, std::int64_t n, Part of);

  core::Buffer<double> matrix;  ///< in FP64; of a triangle the lower one
  std::int64_t order;
  Part part;
  std::uint64_t id;
  std::mutex in_use;  ///< a Solver is for one thread at a time
  Solver solver;

  MatrixView<const double> view() const { return {matrix.data(), order, order, order}; }
};

/// Fills that part of A, m x n, with the quiet NaN that names a factor; 0 names one that nobody
/// remembers.
void mark(MatrixView<double> a, Part part, std::uint64_t id);

/// Whether A's diagonal begins and ends with the NaN of a factor of ours.
bool is_marked(MatrixView<const double> a);

/// Solves A X = B, leaves X in B and NaNs in A, and remembers A's factor in place of the last one.
/// When the certificate does not say 'converged', A and B are as they were.
Certificate solve_and_cache(MatrixView<double> a, Part part, MatrixView<double> b);

/// The factor that A's elements name, if it is remembered and of that kind: which triangle does not
/// matter, SciPy's solve() asks for the wrong one. Otherwise null, and the call is counted as
/// forwarded; a factor that is gone is complained about, once. A is looked at only where the
/// arguments are valid.
std::shared_ptr<CachedFactor> factor_for(Call& call, bool valid, MatrixView<const double> a,
                                         Part part);

/// Solves with the factor; X is left in B where that converged, which is as it was otherwise.
Certificate solve_with(CachedFactor& factor, bool transposed, MatrixView<double> b);

/// 1 / (anorm ||A^-1||) in the one-norm, or the infinity norm; 'converged' if it could be found.
Certificate condition_with(CachedFactor& factor, bool one_norm, double anorm, double& rcond);

/// The norm of the remembered matrix, for callers who took it of the NaNs that we left in A: R's
/// solve() of a matrix of integers takes it of LAPACK's factor.
double norm_of(const CachedFactor& factor, bool one_norm);

/// LAPACK's own factor of the remembered matrix, for what Stepwell has no answer to: systems that
/// are not finite, memory that is short. False: LAPACK has none either.
template <class Int>
struct Restored {
  core::Buffer<double> factor;
  std::vector<Int> pivots;
};
template <class Int>
std::optional<Restored<Int>> restore(const CachedFactor& from) noexcept;

}  // namespace stepwell::lapack

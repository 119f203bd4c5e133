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

/// Cache of the last system that dposv or dgesv solved with Stepwell. Where LAPACK stores a factor
/// in A, Stepwell stores NaNs that identify its cached factor: the routines that users of LAPACK
/// call next find the factor by these NaNs, and everything else that reads A gets NaN.
namespace stepwell::lapack {

using core::Part;  ///< the part of A that was factored

struct CachedFactor {
  CachedFactor(core::Buffer<double> matrix, std::int64_t n, Part of);

  core::Buffer<double> matrix;  ///< A in FP64; if symmetric, its lower triangle
  std::int64_t order;
  Part part;
  std::uint64_t id;
  std::mutex in_use;  ///< only one thread at a time may use a Solver
  Solver solver;

  MatrixView<const double> view() const { return {matrix.data(), order, order, order}; }
};

/// Fills the given part of A, m x n, with the quiet NaN that identifies a factor; id 0 stands for a
/// factor that is not cached.
void mark(MatrixView<double> a, Part part, std::uint64_t id);

/// Whether the first and last diagonal elements of A are the NaN of a factor of Stepwell.
bool is_marked(MatrixView<const double> a);

/// Solves A X = B, stores X in B and NaNs in A, and caches A's factor in place of the last one. If
/// the certificate does not say 'converged', A and B are unchanged.
Certificate solve_and_cache(MatrixView<double> a, Part part, MatrixView<double> b);

/// The factor that A's elements identify, if it is cached and of the kind that 'part' says; which
/// triangle does not matter, since SciPy's solve() asks for the wrong one. Otherwise returns null
/// and counts the call as forwarded; for a factor that is no longer cached a message is printed
/// once. A is read only if 'valid': the arguments are valid.
std::shared_ptr<CachedFactor> factor_for(Call& call, bool valid, MatrixView<const double> a,
                                         Part part);

/// Solves with the factor; B is overwritten by X if that converged and unchanged otherwise.
Certificate solve_with(CachedFactor& factor, bool transposed, MatrixView<double> b);

/// rcond = 1 / (anorm ||A^-1||) in the one-norm or the infinity norm; the outcome is 'converged' if
/// it could be computed.
Certificate condition_with(CachedFactor& factor, bool one_norm, double anorm, double& rcond);

/// The norm of the cached matrix, for callers that computed it from the NaNs in A: R's solve() of a
/// matrix of integers computes it from LAPACK's factor.
double norm_of(const CachedFactor& factor, bool one_norm);

/// LAPACK's own factor of the cached matrix, for cases that Stepwell can't solve: non-finite
/// systems or too little memory. Empty: LAPACK has no factor either.
template <class Int>
struct Restored {
  core::Buffer<double> factor;
  std::vector<Int> pivots;
};
template <class Int>
std::optional<Restored<Int>> restore(const CachedFactor& from) noexcept;

}  // namespace stepwell::lapack

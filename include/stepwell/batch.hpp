// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "stepwell/export.hpp"
#include "stepwell/options.hpp"
#include "stepwell/rung.hpp"
#include "stepwell/view.hpp"

/// Batches of small symmetric positive definite systems (Kurzak, Anzt, Gates & Dongarra). Groups of
/// as many matrices as a vector register has lanes are interleaved into the cache, factored and
/// solved there, and written back.
namespace stepwell {

/// The largest order of the matrices in a batch; use solve_spd() for larger ones.
inline constexpr std::int64_t kBatchOrder = 128;

/// A non-owning view of 'count' column-major matrices of the same shape. Element (i, j) of matrix m
/// is
///   data[m * stride + i + j * ld]                                 in a strided array,
///   pointers[m][i + j * ld]                                       with an array of pointers,
///   data[((m / lanes) * stride + i + j * ld) * lanes + m % lanes] interleaved in groups of 'lanes'
///     matrices, the layout of oneMKL's compact routines. Memory for the last group must be
///     complete even if 'count' is not a multiple of 'lanes'.
/// A view checks nothing; the functions that take it do.
template <class T>
struct BatchView {
  T* data = nullptr;
  T* const* pointers = nullptr;
  std::int64_t count = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;
  std::int64_t stride = 0;  ///< from a matrix (or group) to the next, in elements of one matrix
  std::int64_t lanes = 0;   ///< 0: not interleaved

  operator BatchView<const T>() const requires(!std::is_const_v<T>) {
    return {data, pointers, count, rows, cols, ld, stride, lanes};
  }
};

/// Contiguous matrices: ld = rows, stride = rows * cols.
template <class T>
BatchView<T> batch(T* data, std::int64_t count, std::int64_t rows, std::int64_t cols) {
  return {data, nullptr, count, rows, cols, rows > 0 ? rows : 1, rows * cols, 0};
}

/// Matrices with a given leading dimension and stride.
template <class T>
BatchView<T> batch(T* data, std::int64_t count, std::int64_t rows, std::int64_t cols,
                   std::int64_t ld, std::int64_t stride) {
  return {data, nullptr, count, rows, cols, ld, stride, 0};
}

/// Matrices at arbitrary addresses.
template <class T>
BatchView<T> batch(T* const* pointers, std::int64_t count, std::int64_t rows, std::int64_t cols,
                   std::int64_t ld) {
  return {nullptr, pointers, count, rows, cols, ld, 0, 0};
}

/// Contiguous interleaved matrices.
template <class T>
BatchView<T> interleaved(T* data, std::int64_t count, std::int64_t rows, std::int64_t cols,
                         std::int64_t lanes) {
  return {data, nullptr, count, rows, cols, rows > 0 ? rows : 1, rows * cols, lanes};
}

/// The number of matrices that are processed in the lanes of this machine's vector registers: the
/// best 'lanes' for an interleaved batch. format: fp32 or fp64.
STEPWELL_API int batch_lanes(Format format);

/// Kernel parameters of a batch. They change the time, never the bits of the results.
struct BatchTuning {
  int rows = 4;      ///< rows of the register block
  int cols = 4;      ///< columns of the register block: the panel width NB
  int vectors = 1;   ///< vector registers per element: 1 or 2
  int prefetch = 1;  ///< cache lines of the next matrices prefetched per step of a sum: 0 to 2
  friend bool operator==(const BatchTuning&, const BatchTuning&) = default;
};

/// The tunings that are compiled in; any other value is an error.
STEPWELL_API std::span<const BatchTuning> batch_tunings(Format format);

/// The tuning used for matrices of order n: the one that `stepwell tune batch` measured on this
/// machine, otherwise the shipped default.
STEPWELL_API BatchTuning batch_tuning(std::int64_t n, Format format);

/// Options of the functions below.
struct BatchOptions {
  Triangle triangle = Triangle::lower;
  /// batch_cholesky() and batch_factor_solve(): also write the transpose of the factor into the
  /// other triangle (section 4.2 of the paper).
  bool both_triangles = false;
  /// batch_solve() with fp64 systems: factor in fp32 and refine x in fp64. A system that does not
  /// provably reach the tolerance this way is factored in fp64; its backward error may then exceed
  /// the tolerance.
  bool mixed = false;
  double tolerance = 0;  ///< for 'mixed': backward error; 0: sqrt(n) 2^-53
  /// Compute reciprocal square roots by an approximation and Newton steps instead of the IEEE
  /// square root and division. Results differ by a few units in the last place, and between
  /// instruction sets.
  bool fast = false;
  std::optional<BatchTuning> tuning;  ///< none: batch_tuning()
  EngineOptions engine;               ///< progress counts groups of matrices
};

/// Optional arrays for results per system: each is empty or has one element per system.
struct BatchOutputs {
  /// The first pivot, from 0, that is not positive and finite; -1: none. LAPACK's info is one
  /// larger.
  std::span<std::int32_t> pivots;
  std::span<double> log_determinants;  ///< log det(A); NaN where a pivot fails
  /// ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity norm, for the worst right-hand side; NaN
  /// where a pivot fails. For batch_solve() and batch_factor_solve(); computed only if the array is
  /// given, or with 'mixed'. The residual is summed in fp64, with an error of at most n + 3
  /// roundings; with 'mixed' it is summed in double-double, and the result is never less than the
  /// true backward error.
  std::span<double> backward_errors;
  std::span<std::int32_t> iterations;  ///< with 'mixed': refinement steps; -1: solved in fp64
};

/// The result of a batch call. Plain data.
struct [[nodiscard]] BatchReport {
  std::vector<std::int64_t> failures;  ///< the systems with a failing pivot, ascending
  std::int64_t solved_in_fp64 = 0;     ///< with 'mixed': systems that were factored in fp64
  double backward_error = 0;           ///< the largest, if backward errors were computed
  double tolerance = 0;                ///< with 'mixed': the tolerance used
  bool cancelled = false;              ///< the call was cancelled: some systems are untouched
  BatchTuning tuning;                  ///< the tuning used
  int threads = 1;                     ///< number of threads used
  std::int64_t bytes = 0;              ///< workspace that the library allocated

  bool ok() const { return failures.empty() && !cancelled; }
};

/// Factors each matrix of a batch by Cholesky: LAPACK's potrf.
/// Entry: a holds matrices of order n <= kBatchOrder in the triangle that the options select; the
/// other triangle is neither read nor written (except with both_triangles).
/// Exit: the triangle holds the factor. A matrix with a failing pivot is left unchanged and does
/// not affect the others. The bits of a factor depend only on its matrix: not on the batch, its
/// position in it, the number of threads or the tuning. Throws Error for misuse and for lack of
/// memory; a numerical failure never throws.
/// Cost: n^3/3 flop per matrix; its triangle is read and written once.
/// Workspace: of the order of 100 KiB per thread.
STEPWELL_API BatchReport batch_cholesky(BatchView<double> a, const BatchOptions& options = {},
                                        const BatchOutputs& outputs = {});
STEPWELL_API BatchReport batch_cholesky(BatchView<float> a, const BatchOptions& options = {},
                                        const BatchOutputs& outputs = {});

/// Solves A X = B for each system in one pass, without storing the factors.
/// Entry: a as for batch_cholesky(), b holds the right-hand sides B, n x columns each.
/// Exit: b holds X; a system with a failing pivot keeps its B. A is read once and not written.
/// Errors as batch_cholesky().
/// Cost: n^3/3 + 2 n^2 columns flop per system.
/// Workspace: as batch_cholesky(), plus the right-hand sides of one group of matrices per thread.
STEPWELL_API BatchReport batch_solve(BatchView<const double> a, BatchView<double> b,
                                     const BatchOptions& options = {},
                                     const BatchOutputs& outputs = {});
STEPWELL_API BatchReport batch_solve(BatchView<const float> a, BatchView<float> b,
                                     const BatchOptions& options = {},
                                     const BatchOutputs& outputs = {});

/// Factors and solves in one pass: LAPACK's posv. Entry, cost and workspace as batch_solve(). Exit:
/// a holds the factors and b holds X; a system with a failing pivot keeps its A and B.
STEPWELL_API BatchReport batch_factor_solve(BatchView<double> a, BatchView<double> b,
                                            const BatchOptions& options = {},
                                            const BatchOutputs& outputs = {});
STEPWELL_API BatchReport batch_factor_solve(BatchView<float> a, BatchView<float> b,
                                            const BatchOptions& options = {},
                                            const BatchOutputs& outputs = {});

/// Solves with factors from batch_cholesky(): LAPACK's potrs.
/// Entry: factor holds the factors in the triangle that the options select, b the right-hand sides.
/// Exit: b holds X, with the same bits as from batch_factor_solve(). A factor with a diagonal
/// element that is not positive and finite counts as a failure, and its B is kept. Of the outputs,
/// pivots and log_determinants are supported.
/// Cost: 2 n^2 columns flop per system. Workspace: as batch_solve().
STEPWELL_API BatchReport batch_substitute(BatchView<const double> factor, BatchView<double> b,
                                          const BatchOptions& options = {},
                                          const BatchOutputs& outputs = {});
STEPWELL_API BatchReport batch_substitute(BatchView<const float> factor, BatchView<float> b,
                                          const BatchOptions& options = {},
                                          const BatchOutputs& outputs = {});

}  // namespace stepwell

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "stepwell/context.hpp"
#include "stepwell/export.hpp"
#include "stepwell/format.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/view.hpp"

/// Many small symmetric positive definite systems at once (Kurzak, Anzt, Gates & Dongarra). As many
/// matrices as a vector register has lanes are read side by side into the cache, factored and
/// solved there, and written back.
namespace stepwell {

/// The order of a batch's matrices is at most this; larger ones are solve_spd()'s.
inline constexpr std::int64_t kBatchOrder = 128;

/// 'count' matrices of one shape that somebody else owns, each column-major. Element (i, j) of
/// matrix m is
///   data[m * stride + i + j * ld]                                 a plain array,
///   pointers[m][i + j * ld]                                       an array of pointers,
///   data[((m / lanes) * stride + i + j * ld) * lanes + m % lanes] interleaved: 'lanes' matrices
///     side by side, the layout of oneMKL's compact routines. The last group is whole in memory.
/// A view checks nothing; the entry points do.
template <class T>
struct BatchView {
  T* data = nullptr;
  T* const* pointers = nullptr;
  std::int64_t count = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;
  std::int64_t stride = 0;  ///< between matrices, or between groups of them, in elements of one
  std::int64_t lanes = 0;   ///< 0: not interleaved

  operator BatchView<const T>() const requires(!std::is_const_v<T>) {
    return {data, pointers, count, rows, cols, ld, stride, lanes};
  }
};

/// Matrices without gaps: ld = rows, stride = rows * cols.
template <class T>
BatchView<T> batch(T* data, std::int64_t count, std::int64_t rows, std::int64_t cols) {
  return {data, nullptr, count, rows, cols, rows > 0 ? rows : 1, rows * cols, 0};
}

/// Matrices at a distance.
template <class T>
BatchView<T> batch(T* data, std::int64_t count, std::int64_t rows, std::int64_t cols,
                   std::int64_t ld, std::int64_t stride) {
  return {data, nullptr, count, rows, cols, ld, stride, 0};
}

/// Matrices anywhere.
template <class T>
BatchView<T> batch(T* const* pointers, std::int64_t count, std::int64_t rows, std::int64_t cols,
                   std::int64_t ld) {
  return {nullptr, pointers, count, rows, cols, ld, 0, 0};
}

/// Matrices that are kept interleaved, without gaps.
template <class T>
BatchView<T> interleaved(T* data, std::int64_t count, std::int64_t rows, std::int64_t cols,
                         std::int64_t lanes) {
  return {data, nullptr, count, rows, cols, rows > 0 ? rows : 1, rows * cols, lanes};
}

/// The number of matrices side by side that this machine's registers hold: the best 'lanes' of an
/// interleaved batch. Format fp32 or fp64.
STEPWELL_API int batch_lanes(Format format);

/// How a batch is worked on. Choices change the time alone, never the bits.
struct BatchTuning {
  int rows = 4;      ///< of the register block
  int cols = 4;      ///< of the register block: the panel width NB
  int vectors = 1;   ///< registers side by side for one element: 1 or 2
  int prefetch = 1;  ///< cache lines of the next matrices fetched with each step of a sum: 0 to 2
  friend bool operator==(const BatchTuning&, const BatchTuning&) = default;
};

/// What batch_tuning() chooses among; other values are refused.
STEPWELL_API std::span<const BatchTuning> batch_tunings(Format format);

/// The tuning of an order: as `stepwell tune batch` measured it on this machine, else as shipped.
STEPWELL_API BatchTuning batch_tuning(std::int64_t n, Format format);

struct BatchOptions {
  Triangle triangle = Triangle::lower;
  /// Also write the factor's transpose into the other triangle: of batch_cholesky() and
  /// batch_factor_solve() (section 4.2 of the paper).
  bool both_triangles = false;
  /// Factor in fp32, refine x in fp64: of batch_solve() with fp64 systems. A system for which that
  /// does not provably reach the tolerance is factored in fp64, and may stay above it.
  bool mixed = false;
  double tolerance = 0;  ///< of 'mixed': backward error; 0: sqrt(n) 2^-53
  /// Reciprocal square roots from an approximation and Newton steps instead of IEEE's square root
  /// and division: a few units in the last place, and other bits on other instruction sets.
  bool fast = false;
  std::optional<BatchTuning> tuning;  ///< none: batch_tuning()
  Context* context = nullptr;         ///< null: as many threads as allowed
  Progress* progress = nullptr;       ///< null: nobody watches; counts groups of matrices
};

/// Where results of single systems go: each empty, or with one element a system.
struct BatchOutputs {
  /// The first pivot, from 0, that is not positive and finite; -1: there is none. LAPACK's info is
  /// one more.
  std::span<std::int32_t> pivots;
  std::span<double> log_determinants;  ///< of A; NaN where a pivot fails
  /// ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity norm, the worst right-hand side's; NaN
  /// where a pivot fails. Of batch_solve() and batch_factor_solve(); computed only if asked for, or
  /// mixed. Summed in fp64: off by n + 3 roundings at most; mixed: in double-double, and never less
  /// than the true one.
  std::span<double> backward_errors;
  std::span<std::int32_t> iterations;  ///< of 'mixed': refinement steps; -1: solved in fp64
};

/// What comes back. Plain data.
struct BatchReport {
  std::vector<std::int64_t> failures;  ///< the systems with a failing pivot, ascending
  std::int64_t solved_in_fp64 = 0;     ///< of 'mixed'
  double backward_error = 0;           ///< the worst, where they were computed
  double tolerance = 0;                ///< of 'mixed'
  bool cancelled = false;              ///< then part of the batch is as it was
  BatchTuning tuning;                  ///< that was used
  int threads = 1;                     ///< that worked
  std::int64_t bytes = 0;              ///< of memory beside the caller's

  bool ok() const { return failures.empty() && !cancelled; }
};

/// A -> its Cholesky factor, in the triangle of the options, for each matrix; the other triangle is
/// neither read nor written. A matrix with a failing pivot stays as it was, and its neighbours do
/// not notice. The bits of a factor depend on its matrix alone: not on the batch, the place in it,
/// the number of threads or the tuning.
///
/// Throws Error for misuse and for lack of memory; a numerical failure never throws.
/// Cost: n^3/3 flop a matrix; its triangle is read and written once. Memory: some 100 KiB a thread.
STEPWELL_API BatchReport batch_cholesky(BatchView<double> a, const BatchOptions& options = {},
                                        const BatchOutputs& outputs = {});
STEPWELL_API BatchReport batch_cholesky(BatchView<float> a, const BatchOptions& options = {},
                                        const BatchOutputs& outputs = {});

/// B -> X with A X = B for each system, in one pass that keeps no factor: A is read once and not
/// written. B: n x columns. A system with a failing pivot keeps its B.
STEPWELL_API BatchReport batch_solve(BatchView<const double> a, BatchView<double> b,
                                     const BatchOptions& options = {},
                                     const BatchOutputs& outputs = {});
STEPWELL_API BatchReport batch_solve(BatchView<const float> a, BatchView<float> b,
                                     const BatchOptions& options = {},
                                     const BatchOutputs& outputs = {});

/// Both in one pass: A -> its factor, B -> X. LAPACK's posv.
STEPWELL_API BatchReport batch_factor_solve(BatchView<double> a, BatchView<double> b,
                                            const BatchOptions& options = {},
                                            const BatchOutputs& outputs = {});
STEPWELL_API BatchReport batch_factor_solve(BatchView<float> a, BatchView<float> b,
                                            const BatchOptions& options = {},
                                            const BatchOutputs& outputs = {});

/// B -> X with factors that batch_cholesky() made: LAPACK's potrs. The same bits as
/// batch_factor_solve()'s. A factor with a diagonal element that is not positive and finite counts
/// as failing. outputs: pivots and log_determinants.
STEPWELL_API BatchReport batch_substitute(BatchView<const double> factor, BatchView<double> b,
                                          const BatchOptions& options = {},
                                          const BatchOutputs& outputs = {});
STEPWELL_API BatchReport batch_substitute(BatchView<const float> factor, BatchView<float> b,
                                          const BatchOptions& options = {},
                                          const BatchOutputs& outputs = {});

}  // namespace stepwell

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "stepwell/export.hpp"
#include "stepwell/options.hpp"
#include "stepwell/view.hpp"

/// One half step of alternating least squares (ALS): for each user, a small ridge system is
/// gathered, formed, factored and solved in one pass.
namespace stepwell {

/// A non-owning view of a sparse matrix in CSR format: row u has values[e] in column columns[e] for
/// starts[u] <= e < starts[u + 1]. All of 'starts' and 'columns' is checked before use.
struct SparseRows {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  const std::int64_t* starts = nullptr;   ///< rows + 1 offsets, starting at 0 and not decreasing
  const std::int32_t* columns = nullptr;  ///< each from 0 to cols - 1
  const float* values = nullptr;
};

/// What a rating says, and the loss that follows from it.
enum class Feedback : unsigned char {
  explicit_ratings,  ///< minimise sum over ratings (r_ui - x_u'y_i)^2 + lambda ||x_u||^2
  implicit_counts    ///< Hu, Koren & Volinsky: preference 1 with confidence 1 + alpha r_ui
};

/// Options of als_step() and als_loss().
struct AlsOptions {
  Feedback feedback = Feedback::explicit_ratings;
  float lambda = 0.1f;    ///< at least 0
  bool weighted = false;  ///< multiply lambda by the user's number of ratings (ALS-WR)
  float alpha = 40;       ///< for implicit_counts; at least 0
  EngineOptions engine;   ///< progress counts rows
};

/// The result of als_step(). Plain data.
struct [[nodiscard]] AlsReport {
  /// Rows whose system is not positive definite or whose solution is not finite, ascending.
  std::vector<std::int64_t> failures;
  bool cancelled = false;  ///< the call was cancelled: some rows were not updated
  int threads = 1;         ///< number of threads used
  std::int64_t bytes = 0;  ///< workspace that the library allocated

  bool ok() const { return failures.empty() && !cancelled; }
};

/// Computes, for each row u of 'ratings', the vector x_u that minimises the loss with the items'
/// vectors held fixed:
///   explicit: (sum_i y_i y_i' + lambda I) x_u = sum_i r_ui y_i
///   implicit: (Y'Y + sum_i alpha r_ui y_i y_i' + lambda I) x_u = sum_i (1 + alpha r_ui) y_i
/// Entry: items is k x ratings.cols with one column per item; users is k x ratings.rows;
/// 1 <= k <= kBatchOrder. users and items must not overlap. A column may occur more than once in a
/// row; each occurrence is then a separate rating. For the other half step, pass the transpose of
/// 'ratings' and exchange users and items.
/// Exit: users holds the vectors x_u. A row without ratings gets zero. A row whose system fails
/// keeps its vector and is listed in the report. The bits of a row depend only on its ratings and
/// on the items, not on the number of threads. Throws Error for misuse (including an index out of
/// range) and for lack of memory.
/// Cost: k^2 flop per rating and k^3/3 per user, in fp32; implicit counts add k^2 per item.
/// Workspace: a few hundred KiB per thread.
STEPWELL_API AlsReport als_step(const SparseRows& ratings, MatrixView<const float> items,
                                MatrixView<float> users, const AlsOptions& options = {});

/// A CSR matrix that owns its arrays.
struct OwnedSparseRows {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> columns;
  std::vector<float> values;

  SparseRows view() const { return {rows, cols, starts.data(), columns.data(), values.data()}; }
};

/// The transpose of a CSR matrix; the entries of each row are in ascending order of column. Throws
/// Error for misuse, for more than 2^31 rows or columns (too_large) and for lack of memory. Cost:
/// one pass over the entries on one thread. Workspace: 8 bytes per column of 'a'.
[[nodiscard]] STEPWELL_API OwnedSparseRows transpose(const SparseRows& a);

/// The loss that als_step() minimises, including both regularisation terms, computed in FP64. The
/// sum of squares runs over all ratings; for implicit counts it runs over all pairs of a user and
/// an item. The bits do not depend on the number of threads. Throws Error as als_step() does.
/// Cost: 2 k flop per rating; implicit counts add k^2 per user and per item.
[[nodiscard]] STEPWELL_API double als_loss(const SparseRows& ratings, MatrixView<const float> users,
                                           MatrixView<const float> items,
                                           const AlsOptions& options = {});

}  // namespace stepwell

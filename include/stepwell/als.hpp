// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "stepwell/context.hpp"
#include "stepwell/export.hpp"
#include "stepwell/progress.hpp"
#include "stepwell/view.hpp"

/// One half step of alternating least squares: a small ridge system for each user, gathered,
/// formed, factored and solved in one pass.
namespace stepwell {

/// A sparse matrix by rows (CSR): row u has values[e] in column columns[e] for starts[u] <= e <
/// starts[u + 1]. Somebody else owns the arrays. All of starts and columns is checked before use.
struct SparseRows {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  const std::int64_t* starts = nullptr;   ///< rows + 1 numbers, ascending from 0
  const std::int32_t* columns = nullptr;  ///< each from 0 to cols - 1
  const float* values = nullptr;
};

enum class Feedback : unsigned char {
  explicit_ratings,  ///< minimise sum over ratings (r_ui - x_u'y_i)^2 + lambda ||x_u||^2
  implicit_counts    ///< Hu, Koren & Volinsky: confidence 1 + alpha r_ui in a preference of 1
};

struct AlsOptions {
  Feedback feedback = Feedback::explicit_ratings;
  float lambda = 0.1f;           ///< at least 0
  bool weighted = false;         ///< lambda times the number of a user's ratings (ALS-WR)
  float alpha = 40;              ///< of implicit_counts; at least 0
  Context* context = nullptr;    ///< null: as many threads as allowed
  Progress* progress = nullptr;  ///< null: nobody watches; counts rows
};

struct AlsReport {
  /// Rows whose system is not positive definite, or whose vector is not finite; ascending.
  std::vector<std::int64_t> failures;
  bool cancelled = false;  ///< then part of the rows are as they were
  int threads = 1;         ///< that worked
  std::int64_t bytes = 0;  ///< of memory beside the caller's

  bool ok() const { return failures.empty() && !cancelled; }
};

/// For each row u of 'ratings' the vector x_u that minimises the loss with the items' vectors held:
///   explicit: (sum_i y_i y_i' + lambda I) x_u = sum_i r_ui y_i
///   implicit: (Y'Y + sum_i alpha r_ui y_i y_i' + lambda I) x_u = sum_i (1 + alpha r_ui) y_i
/// items: k x ratings.cols, one column an item; users: k x ratings.rows, written; k <= kBatchOrder.
/// A row without ratings gets zero. A failing row keeps its vector, and is in the report. The bits
/// of a row depend on its ratings and the items alone, not on the number of threads. A column may
/// occur more than once in a row; its ratings then count one by one. users and items do not
/// overlap. For the other half step give the transpose's rows and exchange the two.
///
/// Throws Error for misuse (an index out of range included) and for lack of memory.
/// Cost: k^2 flop a rating and k^3/3 a user, in fp32; of implicit counts k^2 an item, too.
/// Memory: some hundred KiB a thread.
STEPWELL_API AlsReport als_step(const SparseRows& ratings, MatrixView<const float> items,
                                MatrixView<float> users, const AlsOptions& options = {});

/// The transpose of a CSR matrix, its arrays owned.
struct OwnedSparseRows {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> columns;
  std::vector<float> values;

  SparseRows view() const { return {rows, cols, starts.data(), columns.data(), values.data()}; }
};
/// Entries of a row are in the order of the columns they come from.
STEPWELL_API OwnedSparseRows transpose(const SparseRows& a);

/// The loss that als_step() lowers, both regularisation terms included, in FP64: the squares of all
/// ratings, of implicit counts of all pairs of a user and an item. The same bits for any number of
/// threads. Cost: 2 k flop a rating; of implicit counts k^2 a user and an item, too.
STEPWELL_API double als_loss(const SparseRows& ratings, MatrixView<const float> users,
                             MatrixView<const float> items, const AlsOptions& options = {});

}  // namespace stepwell

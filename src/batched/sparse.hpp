// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/thread_pool.hpp"
#include "stepwell/als.hpp"

/// What the entry points for sparse rows share.
namespace stepwell::batched {

/// Throws Error(invalid_argument) that names 'what' unless the sizes, the pointers and all of the
/// starts are right. Returns the number of entries.
std::int64_t check_starts(const SparseRows& a, const std::string& what);

/// The same for all of the columns.
void check_columns(const SparseRows& a, const std::string& what, engine::ThreadPool& pool);

/// Throws Error(invalid_argument) unless the vectors of rows (k x a.rows) and of columns
/// (k x a.cols) fit 'a', and k is at most kBatchOrder.
void check_vectors(const SparseRows& a, MatrixView<const float> of_rows,
                   MatrixView<const float> of_cols, const std::string& row_name,
                   const std::string& col_name);

/// Throws Error(invalid_argument) for a lambda or an alpha that is no weight.
void check_options(const AlsOptions& options);

/// Cuts the rows into runs of about 'cost' entries, where a row counts for 'overhead' of them: the
/// first row of each run, then the number of rows.
std::vector<std::int64_t> cut_rows(const SparseRows& a, double overhead, double cost);

}  // namespace stepwell::batched

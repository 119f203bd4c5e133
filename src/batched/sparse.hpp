// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/threads/thread_pool.hpp"
#include "stepwell/als.hpp"

/// Checks and helpers shared by the entry points for sparse rows.
namespace stepwell::batched {

/// Throws Error(invalid_argument) that names 'what' unless the sizes, the pointers and all starts
/// are valid. Returns the number of entries.
std::int64_t check_starts(const SparseRows& a, const std::string& what);

/// The same for all column indices.
void check_columns(const SparseRows& a, const std::string& what, engine::ThreadPool& pool);

/// Throws Error(invalid_argument) unless the vectors of rows (k x a.rows) and of columns
/// (k x a.cols) fit 'a', and k is at most kBatchOrder.
void check_vectors(const SparseRows& a, MatrixView<const float> of_rows,
                   MatrixView<const float> of_cols, const std::string& row_name,
                   const std::string& col_name);

/// Throws Error(invalid_argument) for a lambda or an alpha that is negative or not finite.
void check_options(const AlsOptions& options);

/// Divides the rows into runs of about 'cost' entries, where each row counts as 'overhead' further
/// entries. Returns the first row of each run, then the number of rows.
std::vector<std::int64_t> cut_rows(const SparseRows& a, double overhead, double cost);

}  // namespace stepwell::batched

// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/row_block.hpp"
#include "engine/threads/thread_pool.hpp"
#include "kernels/signatures.hpp"

namespace stepwell::factor {

/// Columns that are scanned together: 32 of 4096 rows are 1 MiB, read once and kept in L2.
inline constexpr std::int64_t kColumnGroup = 32;

/// Scans of the columns of a group. An array, because an allocation might fail on one of several
/// threads that wait for each other.
using ColumnScans = std::array<kernels::Scan, kColumnGroup>;

/// Columns [j, j + w) of some rows, stored by columns: in place, or in 'scratch', w columns with
/// leading dimension 'ld'.
MatrixView<const double> by_columns(const core::RowBlock& rows, std::int64_t j, std::int64_t w,
                                    double* scratch, std::int64_t ld);

/// Scans each column of a block of rows that is stored by columns.
void scan_columns(MatrixView<const double> a, ColumnScans& found);

/// Scans each column of A, in one pass; bad_row is a row of A. The bits are the same for any number
/// of threads.
std::vector<kernels::Scan> scan_columns(engine::ThreadPool& pool, core::RowReader& a);

}  // namespace stepwell::factor

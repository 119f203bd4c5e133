// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/row_block.hpp"
#include "engine/thread_pool.hpp"
#include "kernels/signatures.hpp"

namespace stepwell::factor {

/// Columns that are looked at together: 32 of 4096 rows are 1 MiB, read once and kept in L2.
inline constexpr std::int64_t kColumnGroup = 32;

/// Of the columns of a group. Threads that wait for each other can't have one that gets no memory.
using ColumnScans = std::array<kernels::Scan, kColumnGroup>;

/// Columns [j, j + w) of some rows, by columns: where they are, or in scratch, w columns of 'ld'.
MatrixView<const double> by_columns(const core::RowBlock& rows, std::int64_t j, std::int64_t w,
                                    double* scratch, std::int64_t ld);

/// What each column of a block of rows, by columns, holds.
void scan_columns(MatrixView<const double> a, ColumnScans& found);

/// What each column of A holds, in one pass; bad_row is a row of A. The same bits for any number of
/// threads.
std::vector<kernels::Scan> scan_columns(engine::ThreadPool& pool, core::RowReader& a);

}  // namespace stepwell::factor

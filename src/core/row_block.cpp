// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/row_block.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace stepwell::core {

RowBlock RowReader::rows_as_given(std::int64_t first, std::int64_t count, double* scratch) {
  if (a_.data != nullptr) return rows_of(a_, first, count);
  {
    const std::scoped_lock lock(mutex_);
    if (!failed()) error_.attempt([&] { a_.read(first, count, scratch); });
  }
  if (failed()) std::fill_n(scratch, count * a_.cols, 0.0);
  return {{scratch, a_.cols, count, a_.cols}, true};
}

void RowReader::scale(const std::vector<int>& exponent) {
  power_.clear();
  // Two factors, because 2^exponent itself may overflow or underflow.
  for (const int e : exponent)
    power_.push_back({std::ldexp(1.0, e / 2), std::ldexp(1.0, e - e / 2)});
}

RowBlock RowReader::read(std::int64_t first, std::int64_t count, double* scratch) {
  const RowBlock given = rows_as_given(first, count, scratch);
  if (power_.empty()) return given;
  const MatrixView<const double> from = given.stored;
  const MatrixView<double> to = view(scratch, from.rows, from.cols);
  for (std::int64_t j = 0; j < from.cols; ++j) {
    for (std::int64_t i = 0; i < from.rows; ++i) {
      const auto& power = power_[static_cast<std::size_t>(given.by_rows ? i : j)];
      to(i, j) = from(i, j) * power[0] * power[1];
    }
  }
  return {to, given.by_rows};
}

void RowReader::expect(std::int64_t first, std::int64_t count) const {
  count = std::min(count, a_.rows - first);
  if (a_.data == nullptr || !by_rows() || count <= 0) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(a_.data + first * a_.row_stride);
  const auto end = reinterpret_cast<std::uintptr_t>(a_.data + (first + count - 1) * a_.row_stride);
  const std::uintptr_t start = begin / page * page;
  // Only a hint; it has no effect on memory that is not mapped from a file.
  madvise(reinterpret_cast<void*>(start), end - start, MADV_WILLNEED);
}

}  // namespace stepwell::core

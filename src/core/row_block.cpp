// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/row_block.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace stepwell::core {

RowBlock RowReader::read(std::int64_t first, std::int64_t count, double* scratch) {
  if (a_.data != nullptr) return rows_of(a_, first, count);
  {
    const std::scoped_lock lock(mutex_);
    try {
      if (!failed_) a_.read(first, count, scratch);
    } catch (...) {
      error_ = std::current_exception();
      failed_ = true;
    }
  }
  if (failed_) std::fill_n(scratch, count * a_.cols, 0.0);
  return {{scratch, a_.cols, count, a_.cols}, true};
}

void RowReader::expect(std::int64_t first, std::int64_t count) const {
  count = std::min(count, a_.rows - first);
  if (a_.data == nullptr || !by_rows() || count <= 0) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(a_.data + first * a_.row_stride);
  const auto end = reinterpret_cast<std::uintptr_t>(a_.data + (first + count - 1) * a_.row_stride);
  const std::uintptr_t start = begin / page * page;
  // A hint, of which memory that is no file knows nothing.
  madvise(reinterpret_cast<void*>(start), end - start, MADV_WILLNEED);
}

void RowReader::rethrow() const {
  if (failed_) std::rethrow_exception(error_);
}

}  // namespace stepwell::core

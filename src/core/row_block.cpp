// SPDX-FileCopyrightText: 2026 The Stepwell authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/row_block.hpp"

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

void RowReader::rethrow() const {
  if (failed_) std::rethrow_exception(error_);
}

}  // namespace stepwell::core
